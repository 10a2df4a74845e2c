//! What the user has accepted of servers, in a file.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::{
    app::{error::io_words, private_file},
    tools::mcp::Pins,
};

/// Bytes of what is kept: definitions of tools may be long.
const MAX_PINS: u64 = 64 << 20;

/// Keeps what the user accepts of servers.
#[derive(Clone, Debug)]
pub struct PinFile {
    path: PathBuf,
}

impl PinFile {
    /// The file in this folder, and what it holds. What cannot be read was accepted by nobody,
    /// which is said; it is kept under another name once something is accepted anew.
    pub(super) fn read(folder: &Path) -> (Self, Pins, Option<String>) {
        let file = Self { path: folder.join("mcp-pins.json") };
        let why = match private_file::read(&file.path, MAX_PINS) {
            Ok(None) => return (file, Pins::default(), None),
            Ok(Some(text)) => match serde_json::from_str(&text) {
                Ok(pins) => return (file, pins, None),
                Err(error) => error.to_string(),
            },
            Err(error) => io_words(&error),
        };
        let place = file.path.display();
        let words = format!(
            "What was accepted of servers cannot be read, so it has to be accepted again: {place}: {why}."
        );
        (file, Pins::default(), Some(words))
    }

    /// Keeps this in the place of what was kept before. Writes a file: not for the UI thread.
    ///
    /// # Errors
    /// When it cannot be written; then what was kept before still is.
    pub fn keep(&self, pins: &Pins) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(pins)?;
        self.put_aside_what_is_broken()?;
        private_file::replace(&self.path, &text)
    }

    fn put_aside_what_is_broken(&self) -> io::Result<()> {
        let is_broken = match private_file::read(&self.path, MAX_PINS) {
            Ok(None) => false,
            Ok(Some(text)) => serde_json::from_str::<Pins>(&text).is_err(),
            Err(_unreadable) => true,
        };
        if is_broken {
            std::fs::rename(&self.path, self.path.with_extension("broken"))
        } else {
            Ok(())
        }
    }
}
