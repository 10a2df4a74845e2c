//! Keys of providers that are kept: in the system's keyring, or, where the user says so, in
//! a file that is stored unencrypted.
//!
//! ```text
//! letterpress keys set openai ─▶ keyring            names of those there ─┐
//!                      --file ─▶ state/keys/keys.toml ◀────────────────────┘
//! ```
//!
//! The keyring is asked only for names that are known to be there, when a key is wanted, and
//! once: it may be locked, and then it asks the user.

mod command;
mod file;
mod secret;
mod terminal;
mod vault;

use std::{collections::BTreeMap, fmt, path::Path, sync::Arc};

use parking_lot::Mutex;

use self::file::KeyFile;
pub use self::{
    command::run,
    secret::Secret,
    vault::{Keyring, Vault, VaultError},
};
use super::{places::Places, secrecy};
use crate::wire::PRESETS;

/// Where a key is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In the system's keyring.
    Keyring,
    /// In a file.
    File,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keyring => "in the keyring",
            Self::File => "in a file, stored unencrypted",
        })
    }
}

/// Why a key cannot be read or kept. Says nothing of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// The keyring cannot be reached: why.
    Keyring(Arc<str>),
    /// The file cannot be read or written: why, and which.
    File(Arc<str>),
    /// It is not known where keys are kept.
    Nowhere,
    /// It is empty, or holds what no key holds.
    NoKey,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keyring(why) => write!(f, "the system's keyring cannot be reached: {why}"),
            Self::File(why) => write!(f, "the file of keys {why}"),
            Self::Nowhere => f.write_str("it is not known where keys are kept"),
            Self::NoKey => f.write_str("that is no key: it is empty, or has more than one line"),
        }
    }
}

impl std::error::Error for KeyError {}

/// The keys that are kept. Cheap to clone; all clones are one.
#[derive(Clone, Default)]
pub struct Keys(Option<Arc<Shelf>>);

struct Shelf {
    file: KeyFile,
    vault: Arc<dyn Vault>,
    /// What the keyring said, by name.
    read: Mutex<BTreeMap<String, Result<Option<Secret>, KeyError>>>,
}

impl Keys {
    /// The keys of this user.
    #[must_use]
    pub fn of_user(places: &Places) -> Self {
        Self::at(places, Arc::new(Keyring::new()))
    }

    /// Keys with their file at these places, and a keyring.
    #[must_use]
    pub fn at(places: &Places, vault: Arc<dyn Vault>) -> Self {
        let file = KeyFile::in_folder(&places.state.join("keys"));
        Self(Some(Arc::new(Shelf { file, vault, read: Mutex::default() })))
    }

    /// The file; none when it is not known where.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        Some(self.0.as_ref()?.file.path())
    }

    /// Where the key of a provider is kept, as far as is known without asking the keyring.
    #[must_use]
    pub fn place(&self, provider: &str) -> Option<Place> {
        let shelf = self.0.as_ref()?;
        let kept = shelf.file.read().ok()?;
        let account = account(provider);
        let in_keyring = kept.in_keyring.contains(account).then_some(Place::Keyring);
        in_keyring.or_else(|| kept.keys.contains_key(account).then_some(Place::File))
    }

    /// The key of a provider, and where it was. The keyring is asked once. May wait for it.
    ///
    /// # Errors
    /// When the key should be in the keyring and that cannot be reached, and there is none in
    /// the file; or when the file cannot be read.
    pub fn get(&self, provider: &str) -> Result<Option<(Secret, Place)>, KeyError> {
        let Some(shelf) = &self.0 else { return Ok(None) };
        let kept = shelf.file.read()?;
        let account = account(provider);
        let in_file = kept.keys.get(account).cloned().map(|secret| (secret, Place::File));
        if !kept.in_keyring.contains(account) {
            return Ok(in_file);
        }
        match (shelf.ask(account), in_file) {
            (Ok(Some(secret)), _) => Ok(Some((secret, Place::Keyring))),
            (Ok(None), in_file) => Ok(in_file),
            // The user has put one there, too: that is no silent fallback, and it is said.
            (Err(error), Some(in_file)) => {
                tracing::warn!(%error, "a key of the file is used, which is stored unencrypted");
                Ok(Some(in_file))
            }
            (Err(error), None) => Err(error),
        }
    }

    /// The key of a provider whose settings say that it is in the keyring. May wait for it.
    ///
    /// # Errors
    /// When the keyring cannot be reached.
    pub fn in_keyring_of(&self, provider: &str) -> Result<Option<Secret>, KeyError> {
        self.0.as_ref().map_or(Err(KeyError::Nowhere), |shelf| shelf.ask(account(provider)))
    }

    /// Keeps a key in the place of one that was there. May wait for the user, who may have to
    /// unlock the keyring.
    ///
    /// # Errors
    /// When it cannot be kept there: then nothing is kept anywhere else.
    pub fn set(&self, provider: &str, secret: &Secret, place: Place) -> Result<(), KeyError> {
        let shelf = self.0.as_ref().ok_or(KeyError::Nowhere)?;
        let account = account(provider);
        match place {
            Place::Keyring => {
                shelf.vault.set(account, secret)?;
                shelf.file.change(|kept| {
                    // A copy that is not encrypted would be the worse half of both.
                    kept.keys.remove(account);
                    kept.in_keyring.insert(account.to_owned());
                })?;
            }
            Place::File => shelf.file.change(|kept| {
                kept.keys.insert(account.to_owned(), secret.clone());
            })?,
        }
        shelf.read.lock().remove(account);
        Ok(())
    }

    /// Takes the key of a provider out of every place, and says which.
    ///
    /// # Errors
    /// When it cannot be taken out of one of them.
    pub fn remove(&self, provider: &str) -> Result<Vec<Place>, KeyError> {
        let shelf = self.0.as_ref().ok_or(KeyError::Nowhere)?;
        let account = account(provider);
        let kept = shelf.file.read()?;
        let mut places = Vec::new();
        if kept.in_keyring.contains(account) {
            shelf.vault.remove(account)?;
            places.push(Place::Keyring);
        }
        places.extend(kept.keys.contains_key(account).then_some(Place::File));
        if !places.is_empty() {
            shelf.file.change(|kept| {
                kept.keys.remove(account);
                kept.in_keyring.remove(account);
            })?;
        }
        shelf.read.lock().remove(account);
        Ok(places)
    }

    /// Every name with a key, and where that is.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn list(&self) -> Result<Vec<(String, Place)>, KeyError> {
        let Some(shelf) = &self.0 else { return Ok(Vec::new()) };
        let kept = shelf.file.read()?;
        let keyring = kept.in_keyring.iter().map(|name| (name.clone(), Place::Keyring));
        let file = kept.keys.keys().map(|name| (name.clone(), Place::File));
        let mut all: Vec<_> = keyring.chain(file).collect();
        all.sort();
        Ok(all)
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Keys").field(&self.path()).finish()
    }
}

impl Shelf {
    /// Asks the keyring, once.
    fn ask(&self, account: &str) -> Result<Option<Secret>, KeyError> {
        // Two who ask at once wait for one answer, and the user is asked once.
        let mut read = self.read.lock();
        if let Some(known) = read.get(account) {
            return known.clone();
        }
        let answer = self.vault.get(account).map_err(KeyError::from);
        if let Ok(Some(secret)) = &answer {
            secrecy::learn(secret.expose());
        }
        read.insert(account.to_owned(), answer.clone());
        answer
    }
}

/// The name that a provider's key is kept under: providers that take the same key share it,
/// and the variable of a key names it, too.
#[must_use]
pub fn account(provider: &str) -> &str {
    let known = PRESETS
        .iter()
        .find(|preset| preset.name == provider || preset.key_variables.contains(&provider));
    let Some(known) = known.filter(|preset| !preset.key_variables.is_empty()) else {
        return provider;
    };
    let first = PRESETS.iter().find(|preset| preset.key_variables == known.key_variables);
    first.map_or(provider, |preset| preset.name)
}
