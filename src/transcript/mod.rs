//! Other applications' files: told apart by content, indexed by position, read on demand.
//!
//! A file is never loaded whole, never mapped and never written. [`Transcript::tail`]
//! indexes its newest part at once, [`Transcript::indexer`] the whole of it in steps, and
//! [`Transcript::message`] reads and parses the records of one row. Reading never fails:
//! what cannot be understood is a raw row and a [`Warning`].
//!
//! How records become rows:
//! - results stand inside the calls they answer; a result without a call is a row of its
//!   own;
//! - the lines of one API message are one row;
//! - records that only the host program needs fold with their neighbours into one notice.
//!   It stands behind what the model says in one go, so that it never interrupts a group;
//! - the messages of a sub-agent fold into one notice where the first of them stands;
//! - a record whose parent is not in the file continues the record before it, so that a
//!   damaged line costs only itself. The newest leaf's path is shown; other paths are
//!   [`Branch`]es. In Claude Code files only rewritten prompts and repeated replies make
//!   a branch: parallel calls fork the tree too and stay in file order.

mod assemble;
mod claude;
mod file;
mod glance;
mod housekeeping;
mod index;
mod indexer;
mod json;
mod lines;
mod links;
mod mend;
mod open;
mod parts;
mod pi;
mod read;
mod record;
mod rows;
mod scan;
mod select;
mod squeeze;
mod sweep;
mod time;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::model::{Message, Warning};

use file::PositionedFile;

pub use index::{Branch, Index};
pub use indexer::Indexer;
pub use open::{OpenError, open, open_bytes, sniff};

/// A window with fewer rows is widened, but not beyond about [`WIDEST_WINDOW`].
const FEWEST_ROWS: usize = 8;
const WIDEST_WINDOW: u64 = 32 * 1024 * 1024;

/// The formats that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// A session of the pi coding agent, version 1, 2 or 3.
    Pi,
    /// A session of Claude Code or of one of its sub-agents.
    ClaudeCode,
}

impl Format {
    /// The name used by exports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pi => "pi",
            Self::ClaudeCode => "claude-code",
        }
    }
}

/// An open transcript. It may be shared between threads: every read names its position.
#[derive(Debug)]
pub struct Transcript {
    path: PathBuf,
    format: Format,
    file: Arc<PositionedFile>,
    len: u64,
    /// All of it belongs to a sub-agent.
    agent_file: bool,
}

impl Transcript {
    /// Where it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which program wrote it.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Its length when it was opened, in bytes.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.len
    }

    /// The index of the newest `window_bytes`, from the first line that begins in them; of
    /// the whole file when it is not longer. A window of a handful of rows, which would fill
    /// no screen, is widened.
    ///
    /// What cannot be told without the part before is left out of a window: results and
    /// continued messages whose beginning lies before it. Costs a few milliseconds a
    /// megabyte; more when the last line alone is longer than the window.
    #[must_use]
    pub fn tail(&self, window_bytes: u64) -> Index {
        let mut window = window_bytes.max(1);
        loop {
            let start = open::tail_start(&self.file, self.len, window);
            let index = Indexer::new(self, start..self.len).run(self);
            if index.len() >= FEWEST_ROWS || start == 0 || window > WIDEST_WINDOW {
                return index;
            }
            window = window.max(self.len - start).saturating_mul(4);
        }
    }

    /// An indexer at the start of the file.
    #[must_use]
    pub fn indexer(&self) -> Indexer {
        Indexer::new(self, 0..self.len)
    }

    /// Reads and parses one row: its record, the records that continue it and the results
    /// of its calls. A row that is not there, or a file that changed, gives a raw row.
    #[must_use]
    pub fn message(&self, index: &Index, row: usize) -> (Message, Vec<Warning>) {
        read::message(self, index, row)
    }
}
