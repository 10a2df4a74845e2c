//! The thread that owns a file which is being written: it reads on where it ends, and opens
//! it anew when it is no longer the same.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    Growing,
    loader::{Loader, Open},
    mailbox::{Edition, Wish, Work},
    recent::{self, Recent},
};
use crate::{
    engine::{
        clock,
        watch::{self, Watch, Watched},
    },
    model::{
        Progress,
        activity::{Link, Outline},
    },
    perf,
    transcript::{Changes, Extent, Grown, Growth, OpenError, Standing, Transcript},
};

/// Between two looks at a file: what is appended meanwhile is taken together.
const REST: Duration = Duration::from_millis(8);
/// A look that took long is rested for as long, up to this.
const REST_MAX: Duration = Duration::from_millis(100);
/// Between two tries to open what is not there.
const RETRY_REST: Duration = Duration::from_millis(50);
/// Building anew is rested for so many times what it took.
const REBUILD_REST: u32 = 4;
/// A last line without its end that has not grown for so long is shown as it is.
const TORN_AFTER: Duration = Duration::from_secs(10);
/// Read between two looks at whether anybody still waits.
const STEP_BYTES: usize = 4 * 1024 * 1024;
/// A window that was widened for the reader is not widened beyond this; then all is indexed.
const WINDOW_MAX: u64 = 64 * 1024 * 1024;

/// Follows one source.
pub(super) struct Follower {
    loader: Loader,
    open: Open,
    how: Growing,
    /// How much of the end is indexed; none for all.
    window: Option<u64>,
    link: Link,
    project: Option<Arc<str>>,
    /// What is added to the lines that the index has read to get all that were.
    lines_before: i64,
    watched: Option<Watched>,
}

/// One file, as long as it stays the same.
struct Stand {
    transcript: Transcript,
    growth: Growth,
    edition: Edition,
    recent: Recent,
    /// What was looked at last.
    extent: Extent,
    /// The index takes no more: it has to be built anew, not before this.
    rebuild_at: Option<Instant>,
    rebuild_rest: Duration,
    /// When a last line without its end is shown as it is.
    torn_at: Option<Instant>,
    /// That was done: what follows does not fit the index.
    gave_up: bool,
}

/// What to do after a look.
enum Next {
    Stay,
    /// Another file stands here, or another content.
    Other(Transcript),
    /// Nobody is there any more.
    End,
}

impl Follower {
    pub(super) fn new(loader: Loader, open: Open, how: Growing) -> Self {
        Self {
            window: how.window_bytes,
            loader,
            open,
            how,
            link: Link::Live,
            project: None,
            lines_before: 0,
            watched: None,
        }
    }

    pub(super) fn run(mut self) {
        if let Some(path) = &self.how.path {
            let mailbox = Arc::clone(&self.loader.mailbox);
            let changed: watch::Changed = Arc::new(move |_| mailbox.look());
            self.watched = Some(Watch::shared(self.how.notice).file(path, changed));
        }
        let mut opened = self.first();
        while let Some(transcript) = opened {
            opened = self.follow(transcript);
        }
    }

    /// Waits until there is something to read.
    fn first(&mut self) -> Option<Transcript> {
        loop {
            match (self.open)() {
                Ok(transcript) => return Some(transcript),
                Err(error) => self.lose_unopened(error),
            }
            if !self.rest(RETRY_REST) {
                return None;
            }
        }
    }

    fn lose_unopened(&mut self, error: OpenError) {
        self.lose(&reason(&error));
        self.loader.mailbox.failed(error);
        (self.loader.waker)();
    }

    /// Waits for a change, and then for a moment more. False when nobody is there any more.
    fn rest(&self, least: Duration) -> bool {
        loop {
            match self.loader.mailbox.wait_for_work(None) {
                Work::Look => break,
                Work::Serve(_) | Work::Time | Work::Rebase(_) => {}
                Work::End => return false,
            }
        }
        let until = perf::now() + least;
        loop {
            match self.loader.mailbox.wait_for_work(Some(until)) {
                Work::Time => return true,
                Work::Serve(_) | Work::Look | Work::Rebase(_) => {}
                Work::End => return false,
            }
            if perf::now() >= until {
                return true;
            }
        }
    }

    /// Follows a file until another stands in its place. None at the end.
    fn follow(&mut self, transcript: Transcript) -> Option<Transcript> {
        self.loader.mailbox.opened(&transcript);
        self.project = transcript.working_folder().as_deref().and_then(last_part);
        let mut stand = self.begin(transcript)?;
        // What was written between opening and watching gave no notice.
        let mut look = true;
        let mut rest_until = perf::now();
        loop {
            let now = perf::now();
            if look && now >= rest_until {
                look = false;
                match self.look(&mut stand) {
                    Next::Stay => {}
                    Next::Other(next) => {
                        self.lines_before += stand.growth.lines_read() as i64;
                        return Some(next);
                    }
                    Next::End => return None,
                }
                let took = perf::now().saturating_duration_since(now);
                rest_until = perf::now() + took.clamp(REST, REST_MAX);
            }
            self.due(&mut stand)?;
            let deadlines = [look.then_some(rest_until), stand.rebuild_at, stand.torn_at];
            match self.loader.mailbox.wait_for_work(deadlines.into_iter().flatten().min()) {
                Work::Look => look = true,
                Work::Serve(wish) => self.serve(&mut stand, &wish),
                Work::Time | Work::Rebase(_) => {}
                Work::End => return None,
            }
        }
    }

    /// Indexes a file for the first time.
    fn begin(&mut self, transcript: Transcript) -> Option<Stand> {
        let extent = transcript.extent();
        let tail = match self.window {
            None => self.loader.open_tail(&transcript),
            Some(_) => None,
        };
        let is_shown = tail.is_some();
        let growth = match self.window {
            Some(window) => transcript.growing_tail(window),
            None => {
                let indexer = transcript.growing_indexer();
                self.loader.index_behind(&transcript, indexer, tail)?.finish_growing()
            }
        };
        let edition = self.loader.publish(growth.index(), None);
        self.remember(&transcript, &growth);
        let mut stand = Stand {
            transcript,
            growth,
            edition,
            recent: Recent::default(),
            extent,
            rebuild_at: None,
            rebuild_rest: Duration::ZERO,
            torn_at: None,
            gave_up: false,
        };
        self.set_link(Link::Live);
        self.await_line_end(&mut stand, !was_written_lately(&extent));
        self.tell(&mut stand);
        let shown_rows = match (is_shown, self.how.outline) {
            (true, _) => stand.edition.index.len(),
            (false, true) => recent::ROWS,
            (false, false) => 0,
        };
        self.loader.complete(&stand.transcript, &stand.edition, shown_rows);
        Some(stand)
    }

    /// Looks what became of the file, and reads what was appended.
    fn look(&mut self, stand: &mut Stand) -> Next {
        let standing = stand.transcript.standing();
        let extent = match standing {
            Standing::There(extent) => extent,
            // What was written to it before is still read.
            Standing::Replaced | Standing::Gone(_) => stand.transcript.extent(),
        };
        if !self.loader.is_intact(&stand.transcript) {
            if let Ok(other) = (self.open)() {
                self.loader.generation = self.loader.generation.wrapping_add(1);
                return Next::Other(other);
            }
            return self.settle(standing);
        }
        let has_more = extent.len > stand.growth.read_to();
        let has_less = stand.growth.start() < stand.transcript.first_byte();
        if extent != stand.extent || has_more || has_less {
            stand.extent = extent;
            if !self.read_on(stand, extent.len) {
                return Next::End;
            }
        }
        self.settle(standing)
    }

    /// Notes whether the file is there, and goes over to another in its place.
    fn settle(&mut self, standing: Standing) -> Next {
        match standing {
            Standing::There(_) => self.set_link(Link::Live),
            Standing::Gone(why) => self.lose(&why),
            Standing::Replaced => match (self.open)() {
                Ok(next) => {
                    // A program that writes a file anew and renames it goes on with the same.
                    if !self.loader.is_intact(&next) {
                        self.loader.generation = self.loader.generation.wrapping_add(1);
                    }
                    return Next::Other(next);
                }
                // It was only just created.
                Err(OpenError::Empty(_)) => self.set_link(Link::Live),
                Err(error) => self.lose(&reason(&error)),
            },
        }
        Next::Stay
    }

    fn lose(&mut self, why: &str) {
        let since_ms = match &self.link {
            Link::Lost { since_ms, .. } => *since_ms,
            Link::Live => clock::now_ms(),
        };
        self.set_link(Link::Lost { since_ms, why: why.into() });
    }

    /// Of what arrives from elsewhere, its sender says whether more can come.
    fn set_link(&mut self, link: Link) {
        if self.how.path.is_some() && self.link != link {
            self.link = link;
            self.loader.mailbox.link(self.link.clone());
            (self.loader.waker)();
        }
    }

    /// Adds what was appended. False when nobody is there any more.
    fn read_on(&mut self, stand: &mut Stand, len: u64) -> bool {
        let has_more = len > stand.growth.read_to();
        if stand.gave_up && has_more {
            stand.plan_rebuild();
        }
        let mut told = false;
        while stand.rebuild_at.is_none() {
            let (grown, progress) = stand.growth.extend(&stand.transcript, len, STEP_BYTES);
            match grown {
                Grown::Not => {}
                Grown::Rows(changes) => {
                    self.publish(stand, &changes);
                    told = true;
                }
                Grown::Unusual => stand.plan_rebuild(),
                // The next look finds out why.
                Grown::Cut => {
                    stand.plan_rebuild();
                    self.loader.mailbox.look();
                }
            }
            if self.loader.mailbox.is_closed() {
                return false;
            }
            if progress == Progress::Complete {
                break;
            }
        }
        self.remember(&stand.transcript, &stand.growth);
        if has_more {
            self.await_line_end(stand, false);
        }
        self.slide(stand);
        if told || has_more {
            self.tell(stand);
        }
        true
    }

    /// Notes by what the file is known again.
    fn remember(&mut self, transcript: &Transcript, growth: &Growth) {
        let len = growth.read_to();
        self.loader.print = Some((transcript.print(len), len));
    }

    fn publish(&mut self, stand: &mut Stand, changes: &Changes) {
        let index = stand.growth.index();
        stand.edition = self.loader.publish(index, Some((&stand.edition, changes)));
        stand.recent.forget(&changes.messages);
    }

    /// Does what is due at a time.
    fn due(&mut self, stand: &mut Stand) -> Option<()> {
        let now = perf::now();
        if stand.torn_at.is_some_and(|at| at <= now) {
            stand.torn_at = None;
            stand.gave_up = true;
            match stand.growth.give_up_last_line() {
                Grown::Rows(changes) => self.publish(stand, &changes),
                Grown::Unusual => stand.plan_rebuild(),
                Grown::Not | Grown::Cut => {}
            }
            self.tell(stand);
        }
        if stand.rebuild_at.is_some_and(|at| at <= now) {
            let earlier = stand.growth.read_to();
            self.rebuild(stand, earlier)?;
            // What came meanwhile.
            self.loader.mailbox.look();
        }
        Some(())
    }

    /// Builds the index anew, up to `len`, of the same file.
    fn rebuild(&mut self, stand: &mut Stand, len: u64) -> Option<()> {
        let began = perf::now();
        let lines = self.lines_before + stand.growth.lines_read() as i64;
        let transcript = stand.transcript.at_len(len);
        stand.growth = match self.window {
            Some(window) => transcript.growing_tail(window),
            None => {
                let indexer = transcript.growing_indexer();
                self.loader.index_behind(&transcript, indexer, None)?.finish_growing()
            }
        };
        self.lines_before = lines - stand.growth.lines_read() as i64;
        stand.transcript = transcript;
        stand.gave_up = false;
        stand.edition = self.loader.publish(stand.growth.index(), None);
        stand.recent = Recent::default();
        self.remember(&stand.transcript, &stand.growth);
        stand.rebuild_at = None;
        stand.rebuild_rest = perf::now().saturating_duration_since(began) * REBUILD_REST;
        self.await_line_end(stand, false);
        self.tell(stand);
        self.loader.mailbox.progress(Progress::Complete);
        (self.loader.waker)();
        Some(())
    }

    /// Lets go of the beginning of a window that has grown to twice its size, unless the
    /// reader is there.
    fn slide(&mut self, stand: &mut Stand) {
        let Some(least) = self.how.window_bytes else { return };
        if stand.rebuild_at.is_some() {
            return;
        }
        let (start, end) = (stand.growth.start(), stand.growth.read_to());
        let is_wide = end - start > least.saturating_mul(2).max(least + MARGIN);
        let shown_from = self.loader.mailbox.shown_from().unwrap_or(end);
        let may_go = shown_from >= end.saturating_sub(least) || end - start > 2 * WINDOW_MAX;
        if is_wide && may_go {
            self.window = Some(least);
            stand.rebuild_at = Some(perf::now());
        } else if start < stand.transcript.first_byte() {
            stand.plan_rebuild();
        }
    }

    fn serve(&mut self, stand: &mut Stand, wish: &Wish) {
        let is_newest = wish.edition.number == stand.edition.number;
        if wish.earlier && is_newest && !stand.edition.index.is_complete() {
            let wider = self.window.map(|window| window.saturating_mul(2));
            self.window = wider.filter(|window| *window <= WINDOW_MAX);
            stand.rebuild_at = Some(perf::now());
        }
        if self.loader.is_intact(&stand.transcript) {
            self.loader.serve(&stand.transcript, wish);
        } else {
            // What is shown stays, and what is not there will come from the new content.
            self.loader.mailbox.look();
        }
    }

    /// Waits for the end of a last line that has none, or not any more.
    fn await_line_end(&self, stand: &mut Stand, is_old: bool) {
        let wait = if is_old { Duration::ZERO } else { TORN_AFTER };
        stand.torn_at = stand.growth.is_inside_line().then(|| perf::now() + wait);
    }

    /// Says what is known of the conversation beside its rows.
    fn tell(&self, stand: &mut Stand) {
        let mut outline = Outline::default();
        if self.how.outline {
            let Stand { recent, transcript, edition, .. } = stand;
            outline = recent.outline(&self.loader, transcript, edition);
            let latest_ms = edition.index.latest_ms().or_else(|| stand.extent.written_ms());
            if let Some(latest_ms) = latest_ms {
                outline.note_event(latest_ms);
            }
        }
        let lines = self.lines_before + stand.growth.lines_read() as i64;
        self.loader.mailbox.pulse(super::mailbox::Pulse {
            outline,
            lines_read: u64::try_from(lines).unwrap_or(0),
            project: self.project.clone(),
        });
        (self.loader.waker)();
    }
}

/// A window is not let go of for less than this.
const MARGIN: u64 = 256 * 1024;

impl Stand {
    fn plan_rebuild(&mut self) {
        if self.rebuild_at.is_none() {
            self.rebuild_at = Some(perf::now() + self.rebuild_rest);
        }
    }
}

fn was_written_lately(extent: &Extent) -> bool {
    let long_ms = TORN_AFTER.as_millis() as i64;
    extent.written_ms().is_none_or(|at_ms| clock::now_ms().saturating_sub(at_ms) < long_ms)
}

/// Why a source cannot be opened, without its place.
fn reason(error: &OpenError) -> String {
    match error {
        OpenError::NotFound(_) => "there is no such file".to_owned(),
        OpenError::Folder(_) => "it is a folder".to_owned(),
        OpenError::Empty(_) => "it is empty so far".to_owned(),
        OpenError::Permission(_) => "no permission to read it".to_owned(),
        OpenError::NotTranscript(_) => "it is no transcript".to_owned(),
        OpenError::Io(_, error) => format!("it cannot be read ({error})"),
    }
}

fn last_part(folder: &str) -> Option<Arc<str>> {
    let parts = folder.trim_end_matches(['/', '\\']);
    let last = parts.rsplit(['/', '\\']).next()?;
    (!last.is_empty()).then(|| last.into())
}
