//! Keys that sing when they get out: they are given to every provider in every way, the
//! program meets every failure at full log level, and nothing that it leaves behind holds one.

#![expect(clippy::unwrap_used, reason = "tests: a panic is a failure")]

mod ground;
mod panics;
mod runs;
mod window;

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};

/// The word that every canary holds. It is searched for by itself, so that no half of a key
/// passes either.
const WORD: &str = "CANARY";

/// The key of a provider: with signs that each way of writing spells in its own way.
fn canary(provider: &str) -> String {
    format!("sk-{WORD}/{provider}+0123456789=~{WORD}")
}

/// The spellings of a canary, as a hostile server would send it back.
fn spellings(key: &str) -> Vec<String> {
    let form: String = url::form_urlencoded::byte_serialize(key.as_bytes()).collect();
    vec![
        key.to_owned(),
        form,
        STANDARD_NO_PAD.encode(key),
        STANDARD_NO_PAD.encode(format!("user:{key}")),
        STANDARD_NO_PAD.encode(format!("Bearer {key}")),
        key.replace('/', "\\/"),
    ]
}

/// What of a canary stands in some bytes: the word itself, or in base64 wherever it begins.
fn songs(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut found: Vec<_> = text.match_indices(WORD).map(|(at, _)| around(&text, at)).collect();
    for before in 0..3 {
        let encoded = STANDARD_NO_PAD.encode([&vec![b'x'; before], WORD.as_bytes()].concat());
        // The signs that depend on nothing but the word.
        let (from, to) = ((before * 8_usize).div_ceil(6), (before + WORD.len()) * 8 / 6);
        let inner = encoded.get(from..to).unwrap();
        found.extend(text.match_indices(inner).map(|(at, _)| around(&text, at)));
    }
    found
}

fn around(text: &str, at: usize) -> String {
    let begin = text.floor_char_boundary(at.saturating_sub(80));
    let end = text.ceil_char_boundary((at + 80).min(text.len()));
    text.get(begin..end).unwrap().to_owned()
}

#[test]
fn a_canary_is_heard_in_every_spelling() {
    for spelling in spellings(&canary("openai")) {
        assert!(!songs(format!("before {spelling} after").as_bytes()).is_empty(), "{spelling}");
    }
    assert_eq!(songs(b"nothing sings here, in no CANAL"), Vec::<String>::new());
}
