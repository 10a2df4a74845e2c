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
mod growth;
mod housekeeping;
mod index;
mod indexer;
mod json;
mod letterpress;
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
mod spool;
mod squeeze;
mod standing;
mod sweep;
mod time;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::model::{Message, MessageId, Warning};

use assemble::{Assembled, Leaf};
use file::PositionedFile;
use indexer::Lines;

pub use growth::{Changes, Grown, Growth};
pub use index::{Branch, Index};
pub use indexer::{Indexer, LastLine};
pub use open::{OpenError, open, open_bytes, open_log, record_id, sniff};
pub use read::CHANGED_WORDS;
pub use spool::Spool;
pub use standing::{Extent, Print, Standing, is_same_file};

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
    /// A session of this program: its log.
    Letterpress,
}

impl Format {
    /// The name used by exports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pi => "pi",
            Self::ClaudeCode => "claude-code",
            Self::Letterpress => "letterpress",
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

    /// The path of a file; none for what stands in memory.
    pub(self) fn on_disk(&self) -> Option<&Path> {
        matches!(&*self.file, PositionedFile::File(..)).then_some(&*self.path)
    }

    /// Its length when it was opened, in bytes.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.len
    }

    /// The same, as long as it is by now.
    #[must_use]
    pub fn at_len(&self, len: u64) -> Self {
        Self { path: self.path.clone(), file: Arc::clone(&self.file), len, ..*self }
    }

    /// The folder that the agent works in, when one of its first records says.
    #[must_use]
    pub fn working_folder(&self) -> Option<String> {
        open::working_folder(&self.file)
    }

    /// The first byte that can be read: not 0 when a [`Spool`] dropped some.
    #[must_use]
    pub fn first_byte(&self) -> u64 {
        self.file.first()
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
        self.window(window_bytes, LastLine::Taken).0.chosen.index
    }

    /// The index of about `window_bytes` around the message at `id`: the newest path through
    /// it, as far as the window tells. None when no message of a log of this program begins
    /// there.
    #[must_use]
    pub fn around(&self, id: MessageId, window_bytes: u64) -> Option<Index> {
        self.around_leaf(id, window_bytes, Leaf::Through(id.0))
    }

    /// The same around the message of a source's id, on the path that it ends.
    #[must_use]
    pub fn around_end(&self, leaf: &str, window_bytes: u64) -> Option<Index> {
        let number = leaf.strip_prefix('m')?.parse().ok()?;
        let offset = open::find_record(&self.file, self.len, number)?;
        let leaf = Leaf::Named(glance::hash(leaf.as_bytes()));
        self.around_leaf(MessageId(offset), window_bytes, leaf)
    }

    fn around_leaf(&self, id: MessageId, window_bytes: u64, leaf: Leaf) -> Option<Index> {
        if self.format != Format::Letterpress || id.0 >= self.len {
            return None;
        }
        let mut window = window_bytes.max(1);
        loop {
            let start = match id.0 <= window / 2 {
                true => 0,
                false => open::tail_start(&self.file, id.0.saturating_add(1), window / 2),
            };
            let end = id.0.saturating_add(window / 2).min(self.len);
            let indexer = Indexer::new(self, start..end, LastLine::Awaited);
            let index = indexer.run(self, leaf).0.chosen.index;
            let is_all = start == 0 && end == self.len;
            let is_found = index.index_of(id).is_some();
            if is_found && index.len() >= FEWEST_ROWS || is_all || window > WIDEST_WINDOW {
                return is_found.then_some(index);
            }
            window = window.saturating_mul(4);
        }
    }

    /// Bytes read from the file so far, through whichever handle of it.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.file.bytes_read()
    }

    /// The same, which goes on growing with the file from there.
    #[must_use]
    pub fn growing_tail(&self, window_bytes: u64) -> Growth {
        let (assembled, lines) = self.window(window_bytes, LastLine::Awaited);
        Growth::new(assembled, lines)
    }

    fn window(&self, window_bytes: u64, last_line: LastLine) -> (Assembled, Lines<()>) {
        let mut window = window_bytes.max(1);
        loop {
            let first = self.file.first();
            let start = match self.len.saturating_sub(first) <= window {
                true => first,
                false => open::tail_start(&self.file, self.len, window),
            };
            let found = Indexer::new(self, start..self.len, last_line).run(self, Leaf::Newest);
            let rows = found.0.chosen.index.len();
            if rows >= FEWEST_ROWS || start <= first || window > WIDEST_WINDOW {
                return found;
            }
            window = window.max(self.len - start).saturating_mul(4);
        }
    }

    /// An indexer at the start of the file.
    #[must_use]
    pub fn indexer(&self) -> Indexer {
        Indexer::new(self, self.file.first()..self.len, LastLine::Taken)
    }

    /// An indexer at the start of a file that is being written: see
    /// [`Indexer::finish_growing`].
    #[must_use]
    pub fn growing_indexer(&self) -> Indexer {
        Indexer::new(self, self.file.first()..self.len, LastLine::Awaited)
    }

    /// Reads and parses one row: its record, the records that continue it and the results
    /// of its calls. A row that is not there, or a file that changed, gives a raw row.
    #[must_use]
    pub fn message(&self, index: &Index, row: usize) -> (Message, Vec<Warning>) {
        read::message(self, index, row)
    }
}
