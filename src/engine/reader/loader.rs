//! The thread that owns a file: newest messages first, then the index behind them.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use super::{
    Growing, Waker,
    follower::Follower,
    mailbox::{Changed, Edition, Mailbox, Page, Wish, Work},
    sums::Sums,
};
use crate::{
    engine::prepare,
    model::{Base, Message, MessageId, Part, Progress, Raw, Role, SourceLine, Warning},
    perf,
    transcript::{CHANGED_WORDS, Changes, Index, Indexer, OpenError, Print, Transcript},
};

/// A file up to this size is indexed at once: about 20 ms.
pub(super) const WHOLE_MAX: u64 = 16 * 1024 * 1024;
/// The window over the end of a larger file that is indexed first.
const FIRST_WINDOW: u64 = 1024 * 1024;
/// When it is too small to fill a screen, because its lines are long, it grows by this.
const GROWTH: u64 = 8;
/// A file whose last lines fill such a window is indexed at once up to this size: that
/// is sooner done than trying further windows.
const LONG_LINES_MAX: u64 = 256 * 1024 * 1024;
/// It doubles up to this size while the reader is near its top; then the full index is
/// waited for.
const LAST_WINDOW: u64 = 64 * 1024 * 1024;
/// Bytes indexed between two looks at what is wished for: about 10 ms.
const STEP_BYTES: usize = 4 * 1024 * 1024;
/// The first screen: rows from the end until they hold this many lines of text.
const FIRST_LINES: usize = 160;
const FIRST_ROWS_MAX: usize = 64;
/// Rows before the first that is shown that are read with it.
const ROWS_BEFORE_FIRST: usize = 4;
/// Messages between two wakes of the other side.
const WAKE_EVERY: usize = 8;
/// Rows of a wish that are read before anything new in the file.
const ROWS_BEFORE_NEWS: usize = 16;

/// How the thread gets at the transcript: at first, and again when another one stands in
/// its place.
pub(super) type Open = Box<dyn Fn() -> Result<Transcript, OpenError> + Send>;

/// Starts the thread. It ends when the mailbox is closed.
///
/// # Errors
/// When the system gives no further thread.
pub(super) fn start(
    open: Open,
    growing: Option<Growing>,
    mailbox: Arc<Mailbox>,
    waker: Waker,
) -> io::Result<()> {
    let name = "letterpress-reader".to_owned();
    let loader = Loader::new(mailbox, waker);
    std::thread::Builder::new().name(name).spawn(move || match growing {
        None => loader.read_once(open()),
        Some(growing) => Follower::new(loader, open, growing).run(),
    })?;
    Ok(())
}

/// What is known while the index is built: an edition and the window it covers.
pub(super) struct Tail {
    pub(super) edition: Edition,
    window: u64,
}

/// True when the last rows hold enough text for a first screen, or there are no others.
fn fills_a_screen(index: &Index) -> bool {
    let rows = (0..index.len()).rev().take(FIRST_ROWS_MAX);
    let lines: usize = rows.map(|row| usize::from(index.row(row).lines)).sum();
    index.is_complete() || lines >= FIRST_LINES / 2
}

/// The reading side: what is read, and how it is handed over.
pub(super) struct Loader {
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) waker: Waker,
    editions: u32,
    /// How many other files stood in this place before.
    pub(super) generation: u16,
    /// Of a file that may change: by what, and how much of it, it is known again.
    pub(super) print: Option<(Print, u64)>,
    /// What of a log is read.
    pub(super) base: Option<Arc<Base>>,
}

impl Loader {
    pub(super) fn new(mailbox: Arc<Mailbox>, waker: Waker) -> Self {
        Self { mailbox, waker, editions: 0, generation: 0, print: None, base: None }
    }

    /// Reads a file that does not change.
    fn read_once(mut self, opened: Result<Transcript, OpenError>) {
        let transcript = match opened {
            Ok(transcript) => transcript,
            Err(error) => {
                self.mailbox.failed(error);
                return (self.waker)();
            }
        };
        self.mailbox.opened(&transcript);
        let tail = self.open_tail(&transcript);
        let is_shown = tail.is_some();
        let indexer = transcript.indexer();
        let Some(indexer) = self.index_behind(&transcript, indexer, tail) else { return };
        let full = self.publish(indexer.finish(), None);
        self.complete(&transcript, &full, if is_shown { full.index.len() } else { 0 });
        loop {
            match self.mailbox.wait_for_work(None) {
                Work::Serve(wish) => self.serve(&transcript, &wish),
                Work::Look | Work::Time | Work::Rebase(_) => {}
                Work::End => return,
            }
        }
    }

    /// Says that everything is indexed, with the newest messages but for those that are
    /// shown already.
    pub(super) fn complete(&self, transcript: &Transcript, full: &Edition, shown_rows: usize) {
        self.serve_first(transcript, full, shown_rows);
        self.mailbox.progress(Progress::Complete);
        (self.waker)();
    }

    /// Shows the end of the file: a window that is wide enough to fill a screen. None when
    /// the index of the whole file is there as soon.
    pub(super) fn open_tail(&mut self, transcript: &Transcript) -> Option<Tail> {
        let len = transcript.len_bytes();
        if len <= WHOLE_MAX {
            return None;
        }
        perf::scope!("open_tail");
        let mut window = FIRST_WINDOW;
        let mut index = transcript.tail(window);
        while !fills_a_screen(&index) && window < LAST_WINDOW {
            if index.is_empty() && len <= LONG_LINES_MAX {
                return None;
            }
            window *= GROWTH;
            index = transcript.tail(window);
        }
        let edition = self.publish(index, None);
        self.serve_first(transcript, &edition, 0);
        Some(Tail { edition, window })
    }

    /// Indexes the whole file in steps. None when nobody waits for it any more.
    pub(super) fn index_behind(
        &mut self,
        transcript: &Transcript,
        mut indexer: Indexer,
        mut tail: Option<Tail>,
    ) -> Option<Indexer> {
        let mut shown_percent = 0;
        let mut step = || {
            perf::scope!("index");
            indexer.step(transcript, STEP_BYTES)
        };
        while let Progress::Indexing { done, total } = step() {
            if self.mailbox.is_closed() || self.mailbox.is_rebase_wanted() {
                return None;
            }
            if let Some(wish) = self.mailbox.wish() {
                if let Some(tail) = &mut tail {
                    self.widen(transcript, tail, &wish);
                }
                self.serve(transcript, &wish);
            }
            self.mailbox.progress(Progress::Indexing { done, total });
            let percent = done * 100 / total.max(1);
            if percent != shown_percent {
                shown_percent = percent;
                (self.waker)();
            }
        }
        (!self.mailbox.is_closed()).then_some(indexer)
    }

    /// Doubles the window while the reader is near its top. A wish of an older edition
    /// says nothing about the newest one's top.
    fn widen(&mut self, transcript: &Transcript, tail: &mut Tail, wish: &Wish) {
        let is_newest = wish.edition.number == tail.edition.number;
        if !(wish.earlier && is_newest && tail.window < LAST_WINDOW) {
            return;
        }
        tail.window *= 2;
        let index = transcript.tail(tail.window);
        tail.edition = self.publish(index, None);
        (self.waker)();
    }

    /// Hands over an index: one that is other altogether, or one that grew from an edition.
    pub(super) fn publish(&mut self, index: Index, grown: Option<(&Edition, &Changes)>) -> Edition {
        self.editions += 1;
        let mut edition = Edition {
            sums: Arc::default(),
            index: Arc::new(index),
            number: self.editions,
            generation: self.generation,
            changed: Changed::All,
            base: self.base.clone(),
        };
        let len = edition.index.len();
        let row = |row| edition.index.row(row);
        edition.sums = Arc::new(match grown {
            None => Sums::of((0..len).map(row)),
            Some((before, changes)) => before.sums.changed(changes.from_row, row, len),
        });
        if let Some((_, changes)) = grown {
            let ids = changes.messages.iter().map(|id| edition.outer(*id));
            edition.changed = Changed::Only(ids.collect());
        }
        self.mailbox.publish(edition.clone());
        edition
    }

    /// Hands over the index of another part of the same log, in which all messages that both
    /// have are the same but for `changed`.
    pub(super) fn publish_same(&mut self, index: Index, changed: Vec<MessageId>) -> Edition {
        self.editions += 1;
        let row = |row| index.row(row);
        let edition = Edition {
            sums: Arc::new(Sums::of((0..index.len()).map(row))),
            index: Arc::new(index),
            number: self.editions,
            generation: self.generation,
            changed: Changed::Only(changed),
            base: self.base.clone(),
        };
        self.mailbox.publish(edition.clone());
        edition
    }

    /// Reads what the first screen shows when it begins with a row.
    pub(super) fn serve_from(&self, transcript: &Transcript, edition: &Edition, first: usize) {
        let mut lines = 0;
        let len = edition.index.len();
        let before = (first.saturating_sub(ROWS_BEFORE_FIRST)..first).rev();
        for row in (first..len).take(FIRST_ROWS_MAX) {
            if self.mailbox.is_closed() || !self.read(transcript, edition, row) {
                return (self.waker)();
            }
            lines += usize::from(edition.index.row(row).lines).max(1);
            if lines > FIRST_LINES {
                break;
            }
        }
        for row in before {
            if self.mailbox.is_closed() || !self.read(transcript, edition, row) {
                break;
            }
        }
        (self.waker)();
    }

    /// Reads what the first screen shows, before anybody could have asked for it.
    pub(super) fn serve_first(
        &self,
        transcript: &Transcript,
        edition: &Edition,
        shown_rows: usize,
    ) {
        let mut lines = 0;
        for (count, row) in (0..edition.index.len()).rev().take(FIRST_ROWS_MAX).enumerate() {
            let is_shown = count < shown_rows;
            if self.mailbox.is_closed() || !is_shown && !self.read(transcript, edition, row) {
                break;
            }
            lines += usize::from(edition.index.row(row).lines).max(1);
            if lines > FIRST_LINES {
                break;
            }
        }
        (self.waker)();
    }

    pub(super) fn serve(&self, transcript: &Transcript, wish: &Wish) {
        for (count, row) in wish.rows.iter().enumerate() {
            let has_news = count >= ROWS_BEFORE_NEWS && self.mailbox.is_look_wanted();
            if has_news
                || self.mailbox.is_stale(wish.ticket)
                || !self.read(transcript, &wish.edition, *row)
            {
                break;
            }
            if count % WAKE_EVERY == 0 {
                (self.waker)();
            }
        }
        self.mailbox.served(wish.ticket);
        (self.waker)();
    }

    /// Reads one message and hands it over. False when there was no room for it.
    fn read(&self, transcript: &Transcript, edition: &Edition, row: usize) -> bool {
        // The wish may be from before another file came to stand in this place.
        if row >= edition.index.len() || edition.generation != self.generation {
            return true;
        }
        let (message, warnings) = read_message(transcript, &edition.index, row, prepare);
        self.deliver(transcript, edition, Arc::new(message), warnings)
    }

    /// True while the file still holds what was indexed of it.
    pub(super) fn is_intact(&self, transcript: &Transcript) -> bool {
        let Some((print, len)) = &self.print else { return true };
        transcript.extent().len >= *len && transcript.matches(print)
    }

    /// Hands over a message that was read. False when there was no room for it.
    pub(super) fn deliver(
        &self,
        transcript: &Transcript,
        edition: &Edition,
        message: Arc<Message>,
        warnings: Vec<Warning>,
    ) -> bool {
        let has_changed = warnings.iter().any(|warning| warning.message == CHANGED_WORDS);
        if has_changed && !self.is_intact(transcript) {
            // What is shown of it stays until the new content is known.
            self.mailbox.look();
            return true;
        }
        let mut message = message;
        let id = edition.outer(message.id);
        if id != message.id {
            Arc::make_mut(&mut message).id = id;
        }
        self.mailbox.deliver(Page::new(message, warnings, edition.number))
    }
}

/// Reads one message and finishes it, with [`prepare()`] or otherwise. A message that makes
/// either panic costs only itself: it becomes a row that says so.
pub fn read_message(
    transcript: &Transcript,
    index: &Index,
    row: usize,
    finish: impl FnOnce(Message) -> Message,
) -> (Message, Vec<Warning>) {
    perf::scope!("read_message");
    let read = || {
        let (message, warnings) = transcript.message(index, row);
        (finish(message), warnings)
    };
    guarded(read).unwrap_or_else(|| {
        let message = unreadable(index, row);
        let warning = Warning { line: message.line, message: UNREADABLE.to_owned() };
        (message, vec![warning])
    })
}

const UNREADABLE: &str = "this message could not be read";

/// What `read` gives, or none when it panics. Nothing it touches is used afterwards in a
/// half-changed state: it only reads.
fn guarded<T>(read: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(read)).ok()
}

fn unreadable(index: &Index, row: usize) -> Message {
    let info = index.row(row);
    Message {
        id: info.id,
        key: "".into(),
        role: Role::System,
        timestamp_ms: (info.time_secs > 0).then(|| i64::from(info.time_secs) * 1000),
        model: None,
        parts: vec![Part::Raw(Raw {
            label: UNREADABLE.into(),
            text: format!("The record begins at byte {} of the file.", info.id.0).into(),
            line: SourceLine(0),
        })],
        stop: None,
        error: None,
        usage: None,
        line: SourceLine(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_costs_only_its_message() {
        assert_eq!(guarded(|| 1), Some(1));
        assert_eq!(guarded(|| -> u8 { panic!("planted") }), None);
    }
}
