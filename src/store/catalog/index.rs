//! The index in its file: what every session comes to, every message's text, and the grams
//! that they are found by. All of it can be read from the logs again.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{
    Connection, OpenFlags, OptionalExtension as _, Row, Statement, Transaction,
    TransactionBehavior, params,
};

use super::{
    digest::{Digest, Marks, Node, Nodes, Speaker, looked_up_by},
    folder::Seen,
};
use crate::store::SessionId;

/// What the tables look like. An index of another version is built anew.
const VERSION: i64 = 1;
/// How long another window may write before this one is told that it must wait.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often it is asked then whether it still does, and how long after each other.
const TRIES: u32 = 4;
const BETWEEN_TRIES: Duration = Duration::from_millis(25);

// A message's row is its session's row, shifted, and its node's number: a session's messages
// are a range, in order. `grams` holds no text, only in which column of which message a gram
// stands: that is small, and quick to build and to ask.
const SCHEMA: &str = r#"
CREATE TABLE session (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    len INTEGER NOT NULL, mtime INTEGER NOT NULL, inode INTEGER NOT NULL,
    read INTEGER NOT NULL, head INTEGER NOT NULL, tail INTEGER NOT NULL, in_trash INTEGER NOT NULL,
    title TEXT NOT NULL, imported TEXT NOT NULL, first_line TEXT NOT NULL,
    preview TEXT NOT NULL, model TEXT NOT NULL, marks INTEGER NOT NULL,
    created INTEGER NOT NULL, updated INTEGER NOT NULL,
    leaf INTEGER, messages INTEGER NOT NULL, last_n INTEGER, last_sum INTEGER
);
CREATE TABLE message (
    row INTEGER PRIMARY KEY,
    place INTEGER NOT NULL, speaker INTEGER NOT NULL, time INTEGER NOT NULL,
    depth INTEGER NOT NULL, open_part INTEGER, text TEXT NOT NULL, calls TEXT NOT NULL
);
CREATE VIRTUAL TABLE grams USING fts5(
    text, calls, content='', contentless_delete=1, detail=column,
    tokenize="trigram case_sensitive 1"
);
"#;

// Fewer and larger pieces, merged less often: a quarter less time to build.
const TUNING: &str = "
INSERT INTO grams(grams, rank) VALUES('hashsize', 8000000);
INSERT INTO grams(grams, rank) VALUES('automerge', 8);
INSERT INTO grams(grams, rank) VALUES('pgsz', 16000);
";

/// The open index.
pub(super) struct Index {
    pub(super) db: Connection,
    /// Which file it is in; 0 in memory.
    file: u64,
}

/// What is stored of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    /// Its row; messages' rows are made from it.
    pub(super) row: i64,
    pub(super) log: Read,
    pub(super) digest: Digest,
}

/// How far a log was read, and which one that was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Read {
    /// The file as it was when all of it was read.
    pub(super) seen: Seen,
    /// Where what was not read yet begins.
    pub(super) read: u64,
    /// Sums of its first bytes, and of the last ones that were read.
    pub(super) head: u32,
    pub(super) tail: u32,
    /// Is the session in the trash?
    pub(super) is_in_trash: bool,
}

impl Index {
    /// Opens the index in a file; one that is missing, damaged or of another version is made
    /// anew.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let bad = inode(path);
        match patiently(|| Self::open_as_it_is(path)) {
            Err(Failure::Unusable(why)) => {
                tracing::warn!("the index of sessions is made anew: {why}");
                Self::renew(path, bad)
            }
            opened => opened,
        }
    }

    /// An index that is gone with the program.
    pub(super) fn in_memory() -> Result<Self, Failure> {
        let mut index = Self { db: Connection::open_in_memory()?, file: 0 };
        index.prepare()?;
        Ok(index)
    }

    /// Which file it is in; none when it is kept in memory.
    pub(super) fn file(&self) -> Option<u64> {
        self.db.path().is_some_and(|path| !path.is_empty()).then_some(self.file)
    }

    /// Puts an empty index in the place of the bad one, unless another window has done so.
    pub(super) fn renew(path: &Path, bad: Option<u64>) -> Result<Self, Failure> {
        let lock = private(&beside(path, ".lock"))?;
        patiently(|| match lock.try_lock() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(Failure::Busy),
            Err(TryLockError::Error(error)) => Err(error.into()),
        })?;
        if inode(path) != bad
            && let Ok(index) = Self::open_as_it_is(path)
        {
            return Ok(index);
        }
        for end in ["-wal", "-shm", "-journal", ""] {
            match fs::remove_file(beside(path, end)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                Ok(()) | Err(_) => {}
            }
        }
        Self::open_as_it_is(path)
    }

    fn open_as_it_is(path: &Path) -> Result<Self, Failure> {
        private(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(path, flags)?;
        let mut index = Self { db, file: inode(path).unwrap_or(0) };
        index.prepare()?;
        Ok(index)
    }

    fn prepare(&mut self) -> Result<(), Failure> {
        self.db.busy_timeout(PATIENCE)?;
        self.db.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = FAST;
             PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY;
             PRAGMA journal_size_limit = 16000000;",
        )?;
        if self.version()? == 0 {
            let change = self.begin()?;
            if change.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))? == 0 {
                change.execute_batch(SCHEMA)?;
                change.execute_batch(TUNING)?;
                change.pragma_update(None, "user_version", VERSION)?;
            }
            change.commit()?;
        }
        if self.version()? != VERSION {
            return Err(Failure::Unusable("it is of another version".into()));
        }
        // Which grams there are that begin so; it is no table of its own.
        self.db.execute_batch(
            "CREATE VIRTUAL TABLE temp.gram USING fts5vocab('main', 'grams', 'row')",
        )?;
        Ok(())
    }

    fn version(&self) -> rusqlite::Result<i64> {
        self.db.query_row("PRAGMA user_version", [], |row| row.get(0))
    }

    /// Begins a change; no other window makes one until it ends.
    pub(super) fn begin(&mut self) -> rusqlite::Result<Transaction<'_>> {
        self.db.transaction_with_behavior(TransactionBehavior::Immediate)
    }

    /// Every session that is stored.
    pub(super) fn sessions(&self) -> rusqlite::Result<Vec<(SessionId, Stored)>> {
        let mut query = self.db.prepare("SELECT * FROM session")?;
        let rows = query.query_map([], |row| Ok((row.get::<_, String>(1)?, stored(row)?)))?;
        let named = rows.map(|row| row.map(|(id, row)| Some((SessionId::new(&id)?, row))));
        named.filter_map(Result::transpose).collect()
    }
}

/// Statements of one change.
pub(super) struct Pen<'c> {
    change: &'c Transaction<'c>,
    find: Statement<'c>,
    write: Statement<'c>,
    write_grams: Statement<'c>,
    keep: Statement<'c>,
}

impl<'c> Pen<'c> {
    pub(super) fn new(change: &'c Transaction<'c>) -> rusqlite::Result<Self> {
        let find = "SELECT place, speaker, time, depth, open_part, text, calls FROM message \
                    WHERE row = ?1";
        let write = "REPLACE INTO message VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let write_grams = "REPLACE INTO grams(rowid, text, calls) VALUES (?1, ?2, ?3)";
        let keep = "REPLACE INTO session VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, \
                    ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)";
        Ok(Self {
            change,
            find: change.prepare(find)?,
            write: change.prepare(write)?,
            write_grams: change.prepare(write_grams)?,
            keep: change.prepare(keep)?,
        })
    }

    /// What is stored of a session, as it is now: another window may have been quicker.
    pub(super) fn session(&self, id: &SessionId) -> rusqlite::Result<Option<Stored>> {
        let sql = "SELECT * FROM session WHERE id = ?1";
        self.change.query_row(sql, [id.as_str()], stored).optional()
    }

    /// A row for a session that has none.
    pub(super) fn free_row(&self) -> rusqlite::Result<i64> {
        let sql = "SELECT coalesce(max(row), 0) + 1 FROM session";
        self.change.query_row(sql, [], |row| row.get(0))
    }

    /// Forgets the messages of a session.
    pub(super) fn forget_messages(&self, session: i64) -> rusqlite::Result<()> {
        let range = [first_row(session), first_row(session + 1) - 1];
        let sql = "DELETE FROM grams WHERE rowid IN \
                   (SELECT row FROM message WHERE row BETWEEN ?1 AND ?2)";
        self.change.execute(sql, range)?;
        self.change.execute("DELETE FROM message WHERE row BETWEEN ?1 AND ?2", range)?;
        Ok(())
    }

    /// Forgets a session.
    pub(super) fn forget(&self, id: &SessionId) -> rusqlite::Result<()> {
        if let Some(stored) = self.session(id)? {
            self.forget_messages(stored.row)?;
            self.change.execute("DELETE FROM session WHERE row = ?1", [stored.row])?;
        }
        Ok(())
    }

    /// Stores what a session comes to.
    pub(super) fn keep(&mut self, id: &SessionId, stored: &Stored) -> rusqlite::Result<()> {
        let Stored { row, log, digest } = stored;
        let Seen { len, mtime, inode } = log.seen;
        let Marks { pinned, archived, deleted } = digest.marks;
        let marks = u8::from(pinned) | u8::from(archived) << 1 | u8::from(deleted) << 2;
        let (last_n, last_sum) = digest.last.unzip();
        self.keep.execute(params![
            row,
            id.as_str(),
            len.cast_signed(),
            mtime,
            inode.cast_signed(),
            log.read.cast_signed(),
            log.head,
            log.tail,
            log.is_in_trash,
            digest.title,
            digest.imported,
            digest.first_line,
            digest.preview,
            digest.model,
            marks,
            digest.created_ms,
            digest.updated_ms,
            digest.leaf,
            digest.messages,
            last_n.map(u64::cast_signed),
            last_sum,
        ])?;
        Ok(())
    }

    fn find(&mut self, row: i64) -> rusqlite::Result<Option<Node>> {
        self.find.query_row([row], node).optional()
    }

    fn write(&mut self, row: i64, node: &Node, has_grams: bool) -> rusqlite::Result<()> {
        let Node { offset, speaker, time_ms, depth, open_part, text, calls } = node;
        let speaker = speaker_number(*speaker);
        let place = offset.cast_signed();
        self.write.execute(params![row, place, speaker, time_ms, depth, open_part, text, calls])?;
        if has_grams || !text.is_empty() || !calls.is_empty() {
            let (text, calls) = (looked_up_by(text), looked_up_by(calls));
            self.write_grams.execute(params![row, text, calls])?;
        }
        Ok(())
    }
}

/// The nodes of one session, as far as a change needs them.
pub(super) struct Sheaf<'p, 'c> {
    pen: &'p mut Pen<'c>,
    session: i64,
    held: std::collections::BTreeMap<u32, Held>,
}

#[derive(Default)]
struct Held {
    node: Option<Node>,
    stored: Option<Node>,
}

impl<'p, 'c> Sheaf<'p, 'c> {
    pub(super) fn new(pen: &'p mut Pen<'c>, session: i64) -> Self {
        Self { pen, session, held: Default::default() }
    }

    /// Writes what became of them.
    pub(super) fn write(self) -> rusqlite::Result<()> {
        let Self { pen, session, held } = self;
        for (n, Held { node, stored }) in held {
            if let Some(node) = node.filter(|node| stored.as_ref() != Some(node)) {
                pen.write(first_row(session) + i64::from(n), &node, stored.is_some())?;
            }
        }
        Ok(())
    }

    fn hold(&mut self, n: u32) -> rusqlite::Result<&mut Held> {
        if !self.held.contains_key(&n) {
            let stored = self.pen.find(first_row(self.session) + i64::from(n))?;
            self.held.insert(n, Held { node: stored.clone(), stored });
        }
        Ok(self.held.entry(n).or_default())
    }
}

impl Nodes for Sheaf<'_, '_> {
    type Error = rusqlite::Error;

    fn find(&mut self, n: u32) -> Result<Option<&mut Node>, Self::Error> {
        Ok(self.hold(n)?.node.as_mut())
    }

    fn put(&mut self, n: u32, node: Node) {
        self.held.entry(n).or_default().node = Some(node);
    }
}

/// The first row that a session's messages may have.
pub(super) const fn first_row(session: i64) -> i64 {
    session << 32
}

/// The session that a message's row belongs to.
pub(super) const fn session_of(message: i64) -> i64 {
    message >> 32
}

fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    // By the places of the columns: looking for names costs more than reading values.
    let number = |at: usize| row.get::<_, i64>(at).map(i64::cast_unsigned);
    let seen = Seen { len: number(2)?, mtime: row.get(3)?, inode: number(4)? };
    let log = Read {
        seen,
        read: number(5)?,
        head: row.get(6)?,
        tail: row.get(7)?,
        is_in_trash: row.get(8)?,
    };
    let marks: u8 = row.get(14)?;
    let is_marked = |bit: u8| marks & (1 << bit) != 0;
    let last_n: Option<i64> = row.get(19)?;
    let digest = Digest {
        title: row.get(9)?,
        imported: row.get(10)?,
        first_line: row.get(11)?,
        preview: row.get(12)?,
        model: row.get(13)?,
        marks: Marks { pinned: is_marked(0), archived: is_marked(1), deleted: is_marked(2) },
        created_ms: row.get(15)?,
        updated_ms: row.get(16)?,
        leaf: row.get(17)?,
        messages: row.get(18)?,
        last: last_n.map(i64::cast_unsigned).zip(row.get(20)?),
    };
    Ok(Stored { row: row.get(0)?, log, digest })
}

/// A node from the columns of a message behind its row.
pub(super) fn node(row: &Row<'_>) -> rusqlite::Result<Node> {
    Ok(Node {
        offset: row.get::<_, i64>(0)?.cast_unsigned(),
        speaker: speaker_of(row.get(1)?),
        time_ms: row.get(2)?,
        depth: row.get(3)?,
        open_part: row.get(4)?,
        text: row.get(5)?,
        calls: row.get(6)?,
    })
}

const fn speaker_number(speaker: Speaker) -> u8 {
    match speaker {
        Speaker::Nobody => 0,
        Speaker::User => 1,
        Speaker::Model => 2,
    }
}

const fn speaker_of(number: u8) -> Speaker {
    match number {
        1 => Speaker::User,
        2 => Speaker::Model,
        _ => Speaker::Nobody,
    }
}

/// Opens a file of the user's alone, and makes it where it is not there.
fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

/// Which file stands there; none when there is none.
fn inode(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|meta| Seen::of(&meta).inode)
}

/// Asks again for a while when another window is in the way.
fn patiently<T>(mut ask: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    for _ in 0..TRIES {
        match ask() {
            Err(Failure::Busy) => std::thread::park_timeout(BETWEEN_TRIES),
            answer => return answer,
        }
    }
    ask()
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Why the index did not do what it was asked.
#[derive(Debug)]
pub(super) enum Failure {
    /// Another window is writing; it may be asked again.
    Busy,
    /// What is in the file is of no use.
    Unusable(String),
    /// The file cannot be had, or not be written.
    NoPlace(String),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let words = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(
                ErrorCode::CannotOpen
                | ErrorCode::DiskFull
                | ErrorCode::PermissionDenied
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::OutOfMemory
                | ErrorCode::NoLargeFileSupport,
            ) => Self::NoPlace(words),
            // A file that was put away under our hands is read-only, too.
            Some(ErrorCode::ReadOnly) if is_moved(&error) => Self::Unusable(words),
            Some(ErrorCode::ReadOnly) => Self::NoPlace(words),
            _ => Self::Unusable(words),
        }
    }
}

fn is_moved(error: &rusqlite::Error) -> bool {
    let moved = rusqlite::ffi::SQLITE_READONLY_DBMOVED;
    error.sqlite_error().is_some_and(|error| error.extended_code == moved)
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::NoPlace(error.to_string())
    }
}
