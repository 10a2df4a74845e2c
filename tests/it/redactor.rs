//! Known secrets, taken out of texts in every spelling.

use std::io::Write as _;

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE},
};
use letterpress::{
    app::secrecy::{self, Redacting},
    model::Redactor,
};

const SECRET: &str = "sk-Ab+/cd==\"é 0123456789~x";

/// Percent-encoded with small digits, as some write it.
fn small_digits(text: &str) -> String {
    let mut pieces = text.split('%');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| {
        let (digits, rest) = piece.split_at(2);
        text + "%" + &digits.to_lowercase() + rest
    })
}

fn redactor() -> Redactor {
    let mut redactor = Redactor::new();
    redactor.learn(SECRET);
    redactor
}

#[test]
fn every_spelling_is_taken_out() {
    let redactor = redactor();
    let query: String = url::form_urlencoded::byte_serialize(SECRET.as_bytes()).collect();
    let mut address = url::Url::parse("https://host.example/").unwrap();
    address.set_query(Some(SECRET));
    address.set_path(SECRET);
    assert!(address.set_password(Some(SECRET)).is_ok());
    let json = serde_json::Value::from(SECRET).to_string();
    let mut spellings = vec![
        SECRET.to_owned(),
        query.clone(),
        small_digits(&query),
        json.trim_matches('"').to_owned(),
        json.replace('/', "\\/"),
        format!("{SECRET:?}"),
    ];
    for before in ["", "x", "me:", "Bearer ", "user:"] {
        for after in ["", "y", "yz"] {
            let whole = format!("{before}{SECRET}{after}");
            spellings.push(STANDARD.encode(&whole));
            spellings.push(URL_SAFE.encode(&whole));
        }
    }
    for spelling in spellings {
        let text = format!("before {spelling} after {spelling}");
        let clean = redactor.redact(&text);
        assert!(clean.matches("[secret]").count() >= 2, "{spelling}: {clean}");
        assert!(!clean.contains("0123456789") && clean.starts_with("before "), "{clean}");
    }
}

#[test]
fn what_is_no_secret_stays() {
    let mut redactor = redactor();
    redactor.learn("ollama");
    redactor.learn("  none   ");
    for text in ["", "ollama and none", "sk-Ab", "é 012345678"] {
        assert_eq!(redactor.redact(text), text);
    }
    assert!(redactor.knows(SECRET) && !format!("{redactor:?}").contains("sk-"));
}

#[test]
fn a_secret_within_another_leaves_no_rest() {
    let mut redactor = Redactor::new();
    redactor.learn("secret-token");
    redactor.learn("my-secret-token-longer");
    assert_eq!(redactor.redact("a my-secret-token-longer b"), "a [secret] b");
}

#[test]
fn log_lines_pass_without_secrets_of_either_kind() {
    secrecy::learn("canary-of-the-log-0123");
    let mut written = Vec::new();
    let line = "TRACE key=canary-of-the-log-0123 and ghp_0123456789abcdefghijABCDEFGHIJ012345\n";
    Redacting(&mut written).write_all(line.as_bytes()).unwrap();
    let written = String::from_utf8(written).unwrap();
    assert!(
        !written.contains("canary-of") && !written.contains("0123456789abcdefghij"),
        "{written}"
    );
    assert!(written.starts_with("TRACE key="), "{written}");
}

/// Ordinary words of the program are not taken for secrets.
#[test]
fn errors_of_the_program_stay_whole() {
    for words in [
        "letterpress: OpenAI needs a key: set OPENAI_API_KEY, or keep one with `letterpress keys set openai`",
        "letterpress: a key is not sent over plain http to a public host: llm.example.com",
        "openai  OPENAI_API_KEY is set  https://api.openai.com/v1",
        "letterpress: the system's keyring cannot be reached: no Secret Service answers; nothing was kept. `letterpress keys set openai --file` keeps it in a file instead, stored unencrypted: openai",
        "config.toml line 3: providers.a.key does not belong here: write key = \"keyring\" and `letterpress keys set`",
    ] {
        assert_eq!(secrecy::redact(words), words);
    }
}
