//! Secrets that are known, taken out of a text in whichever spelling they stand there.

use std::{borrow::Cow, collections::BTreeSet, fmt, fmt::Write as _};

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use memchr::memmem::Finder;

/// What stands in the place of a secret.
pub const REDACTED: &str = "[secret]";
/// Shorter ones are words such as "none" or "ollama", which local servers take for a key.
const SHORTEST: usize = 8;
/// Spellings of base64 that are shorter would be found by chance.
const SHORTEST_ENCODED: usize = 8;

/// Takes known secrets out of texts: as they are, and in base64, percent-encoded, and escaped
/// as in JSON. Its `Debug` shows none of them.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Longest first, so that no spelling leaves the rest of a longer one behind.
    spellings: Vec<Finder<'static>>,
}

impl Redactor {
    /// Knows nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { spellings: Vec::new() }
    }

    /// Knows one secret more. What is shorter than eight bytes is none.
    pub fn learn(&mut self, secret: &str) {
        let secret = secret.trim();
        if secret.len() < SHORTEST || self.knows(secret) {
            return;
        }
        let known: BTreeSet<Vec<u8>> =
            self.spellings.iter().map(|spelling| spelling.needle().to_vec()).collect();
        let new = spellings(secret).into_iter().map(String::into_bytes);
        let new = new.filter(|spelling| !known.contains(spelling));
        self.spellings.extend(new.map(|spelling| Finder::new(&spelling).into_owned()));
        self.spellings.sort_by_key(|spelling| std::cmp::Reverse(spelling.needle().len()));
    }

    /// True when it would take out this very text.
    #[must_use]
    pub fn knows(&self, secret: &str) -> bool {
        self.spellings.iter().any(|spelling| spelling.needle() == secret.as_bytes())
    }

    /// The text without the secrets.
    #[must_use]
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for spelling in &self.spellings {
            if spelling.find(text.as_bytes()).is_some() {
                text = Cow::Owned(without(spelling, &text));
            }
        }
        text
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({})", self.spellings.len())
    }
}

/// A spelling is whole characters, so what is left is, too.
fn without(spelling: &Finder<'_>, text: &str) -> String {
    let mut left = String::with_capacity(text.len());
    let mut from = 0;
    for at in spelling.find_iter(text.as_bytes()) {
        left.push_str(text.get(from..at).unwrap_or_default());
        left.push_str(REDACTED);
        from = at + spelling.needle().len();
    }
    left.push_str(text.get(from..).unwrap_or_default());
    left
}

fn spellings(secret: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::from([secret.to_owned()]);
    found.extend(percent(secret));
    found.extend(escaped(secret));
    found.extend(base64(secret));
    found.retain(|spelling| spelling.len() >= SHORTEST);
    found
}

/// Percent-encoded as in a path, as in a query and as in a form, with large and small digits.
fn percent(secret: &str) -> Vec<String> {
    let encode = |keeps: &str, blank: &str, small: bool| {
        let mut text = String::new();
        for byte in secret.bytes() {
            let sign = char::from(byte);
            // Writing into a string cannot fail.
            let _infallible = match byte {
                b' ' => write!(text, "{blank}"),
                _ if byte.is_ascii_alphanumeric() || keeps.contains(sign) => write!(text, "{sign}"),
                _ if small => write!(text, "%{byte:02x}"),
                _ => write!(text, "%{byte:02X}"),
            };
        }
        text
    };
    let ways =
        [("-_.~", "%20"), ("-_.!~*'()", "%20"), ("*-._", "+"), ("-_.~!$&'()*+,;=:@/", "%20")];
    ways.iter()
        .flat_map(|(keeps, blank)| [false, true].map(|small| encode(keeps, blank, small)))
        .collect()
}

/// As in a string of JSON, with and without escaped slashes, and as Rust writes it.
fn escaped(secret: &str) -> Vec<String> {
    let inside = |text: String| {
        let text = text.strip_prefix('"').unwrap_or(&text);
        text.strip_suffix('"').unwrap_or(text).to_owned()
    };
    let json = inside(serde_json::Value::from(secret).to_string());
    vec![json.replace('/', "\\/"), json, inside(format!("{secret:?}"))]
}

/// In base64 of both alphabets, wherever the secret begins in what was encoded: alone, behind
/// a user's name, behind "Bearer ". What depends on its neighbours is left out.
fn base64(secret: &str) -> Vec<String> {
    let at = |before: usize| {
        let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(secret.bytes()).collect();
        // Six bits a sign: the first whole sign of the secret's own, and the last.
        let (from, to) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)]
            .map(|text| text.get(from..to).unwrap_or_default().to_owned())
    };
    let all = (0..3).flat_map(at);
    all.filter(|text| text.len() >= SHORTEST_ENCODED).collect()
}
