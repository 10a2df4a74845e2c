//! The PIN of a kiosk: kept as a salted hash, compared in constant time, locked after a few
//! wrong tries.

use std::{
    hash::{BuildHasher as _, Hasher as _, RandomState},
    path::Path,
};

use sha2::{Digest as _, Sha256};

use crate::app::error::{Error, Result};

/// Wrong tries until the lock.
pub const TRIES: u32 = 5;
/// How long the lock stays, in seconds.
pub const LOCK_SECS: f64 = 60.0;
/// Rounds of hashing: a few milliseconds a try, which nobody who types notices.
const ROUNDS: u32 = 20_000;
/// Fewest and most digits.
const DIGITS: std::ops::RangeInclusive<usize> = 4..=12;
/// The variable that holds the PIN where no file does.
const VARIABLE: &str = "LETTERPRESS_KIOSK_PIN";

/// A PIN that can be compared with and not be read.
#[derive(Clone)]
pub struct Pin {
    salt: [u8; 16],
    hash: [u8; 32],
}

impl Pin {
    /// Takes a PIN of 4 to 12 digits; none for anything else.
    #[must_use]
    pub fn new(digits: &str) -> Option<Self> {
        let valid = DIGITS.contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        let salt = salt();
        valid.then(|| Self { salt, hash: hash(&salt, digits) })
    }

    /// Compares in a time that does not depend on where the difference is.
    #[must_use]
    pub fn is(&self, digits: &str) -> bool {
        let other = hash(&self.salt, digits);
        self.hash.iter().zip(other).fold(0, |unlike, (a, b)| unlike | (a ^ b)) == 0
    }
}

impl std::fmt::Debug for Pin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pin")
    }
}

fn hash(salt: &[u8; 16], digits: &str) -> [u8; 32] {
    let mut hash: [u8; 32] =
        Sha256::new().chain_update(salt).chain_update(digits).finalize().into();
    for _ in 0..ROUNDS {
        hash = Sha256::new().chain_update(hash).chain_update(salt).finalize().into();
    }
    hash
}

/// The keys of the standard library's hash maps are the system's random numbers.
fn salt() -> [u8; 16] {
    let random = || RandomState::new().build_hasher().finish().to_le_bytes();
    let mut salt = [0; 16];
    salt.iter_mut().zip(random().into_iter().chain(random())).for_each(|(to, from)| *to = from);
    salt
}

/// What became of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was the PIN.
    Right,
    /// It was not.
    Wrong,
    /// Nothing is compared before the lock opens.
    Locked,
}

/// A PIN behind a lock.
#[derive(Debug)]
pub struct PinLock {
    pin: Pin,
    wrong: u32,
    locked_until_secs: f64,
}

impl PinLock {
    /// A lock that is open for tries.
    #[must_use]
    pub fn new(pin: Pin) -> Self {
        Self { pin, wrong: 0, locked_until_secs: 0.0 }
    }

    /// Seconds until tries are taken again; 0 while they are.
    #[must_use]
    pub fn locked_secs(&self, now_secs: f64) -> f64 {
        (self.locked_until_secs - now_secs).max(0.0)
    }

    /// Tries digits.
    pub fn try_digits(&mut self, digits: &str, now_secs: f64) -> Verdict {
        if self.locked_secs(now_secs) > 0.0 {
            return Verdict::Locked;
        }
        if self.pin.is(digits) {
            self.wrong = 0;
            return Verdict::Right;
        }
        self.wrong += 1;
        if self.wrong >= TRIES {
            self.wrong = 0;
            self.locked_until_secs = now_secs + LOCK_SECS;
        }
        Verdict::Wrong
    }
}

/// Reads the PIN from a file that only its owner can read, else from the environment; none
/// when neither holds one.
///
/// # Errors
/// A file that cannot be read, that others can read, or that holds no PIN.
pub(super) fn read(file: Option<&Path>) -> Result<Option<Pin>> {
    let (words, place) = match file {
        Some(path) => (read_file(path)?, path.display().to_string()),
        None => match std::env::var(VARIABLE) {
            Ok(words) => (words, VARIABLE.to_owned()),
            Err(_not_set) => return Ok(None),
        },
    };
    match Pin::new(words.trim()) {
        Some(pin) => Ok(Some(pin)),
        None => Err(Error::failed("a PIN is 4 to 12 digits", place)),
    }
}

fn read_file(path: &Path) -> Result<String> {
    let failed = |error: std::io::Error| Error::io("cannot read the PIN", &error, path);
    let about = std::fs::metadata(path).map_err(failed)?;
    if !is_private(&about) {
        let place = path.display().to_string();
        return Err(Error::failed("others can read the PIN; it must have mode 0600", place));
    }
    if about.len() > 64 {
        return Err(Error::failed("a PIN is 4 to 12 digits", path.display().to_string()));
    }
    std::fs::read_to_string(path).map_err(failed)
}

#[cfg(unix)]
fn is_private(about: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    about.is_file() && about.permissions().mode() & 0o077 == 0
}

#[cfg(not(unix))]
fn is_private(about: &std::fs::Metadata) -> bool {
    about.is_file()
}
