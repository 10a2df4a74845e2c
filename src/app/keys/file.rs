//! The file of keys: those that are stored in it, unencrypted, and the names of those in the
//! keyring, which cannot be asked for them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use toml_edit::{Array, DocumentMut, Item};

use super::{KeyError, Secret};
use crate::app::{error::io_words, private_file};

/// Bytes of the file.
const MAX_FILE: u64 = 1 << 20;
const HEAD: &str =
    "# Written by `letterpress keys`. What stands under [file] is stored unencrypted.\n";

/// What the file holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    /// Names of keys that are in the keyring.
    pub(super) in_keyring: BTreeSet<String>,
    /// Keys that are in the file, by name.
    pub(super) keys: BTreeMap<String, Secret>,
}

#[derive(Debug)]
pub(super) struct KeyFile {
    path: PathBuf,
    /// Changes come one after the other.
    changing: Mutex<()>,
}

impl KeyFile {
    /// The file in a folder that holds nothing else.
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join("keys.toml"), changing: Mutex::new(()) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What the file holds. One that others may read is closed to them, and that is said.
    pub(super) fn read(&self) -> Result<Kept, KeyError> {
        let text = private_file::read(&self.path, MAX_FILE)
            .map_err(|error| self.fails("cannot be read", &io_words(&error)))?;
        let Some(text) = text else { return Ok(Kept::default()) };
        if let Err(error) = private_file::close(&self.path) {
            tracing::warn!(%error, "others may be able to read the file of keys");
        }
        // What the parser says of a text holds the text.
        let document: DocumentMut =
            text.parse().map_err(|_holds_keys| self.fails("cannot be read", "it is no TOML"))?;
        Ok(kept(&document))
    }

    /// Changes the file, whole or not at all.
    pub(super) fn change(&self, change: impl FnOnce(&mut Kept)) -> Result<(), KeyError> {
        let _others_wait = self.changing.lock();
        let mut kept = self.read()?;
        change(&mut kept);
        let write = || {
            if let Some(folder) = self.path.parent() {
                private_file::make_folder(folder)?;
                private_file::close(folder)?;
            }
            private_file::replace(&self.path, text(&kept).as_bytes())
        };
        write().map_err(|error| self.fails("cannot be written", &io_words(&error)))
    }

    fn fails(&self, what: &str, why: &str) -> KeyError {
        let words: Arc<str> = format!("{what}: {why}: {}", self.path.display()).into();
        KeyError::File(words)
    }
}

fn kept(document: &DocumentMut) -> Kept {
    let names = document.get("keyring").and_then(Item::as_array).into_iter().flatten();
    let in_keyring = names.filter_map(|name| Some(name.as_str()?.to_owned())).collect();
    let table = document.get("file").and_then(Item::as_table_like);
    let entries = table.into_iter().flat_map(|table| table.iter());
    let keys =
        entries.filter_map(|(name, item)| Some((name.to_owned(), Secret::new(item.as_str()?)?)));
    Kept { in_keyring, keys: keys.collect() }
}

fn text(kept: &Kept) -> String {
    let mut document = DocumentMut::new();
    document.insert("keyring", toml_edit::value(kept.in_keyring.iter().collect::<Array>()));
    let mut keys = toml_edit::Table::new();
    for (name, secret) in &kept.keys {
        keys.insert(name, toml_edit::value(secret.expose()));
    }
    document.insert("file", Item::Table(keys));
    format!("{HEAD}{document}")
}
