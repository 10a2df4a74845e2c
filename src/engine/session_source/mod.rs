//! A conversation that goes on behind what stands in its log, as the view asks for it.

mod reading;
mod stored;

use std::{fmt, ops::Range, sync::Arc, time::Instant};

use self::reading::Joined;
pub use self::stored::{Open, Stored};
use super::{Waker, live::LiveSource};
use crate::model::{
    Census, Fork, Keeping, Message, MessageId, Progress, Reading, RowInfo, Snapshot, Source,
};

/// Parts of the log that may be wanted one after the other before the first is there.
const ON_THE_WAY: usize = 8;

/// A conversation: first the messages that stand in its log, then those that are in memory.
/// For one without a log these are all there are.
///
/// At every poll each message of the conversation is there exactly once. When another part
/// of the log comes to stand before what is in memory, as it is after going to another
/// branch, the rows stay what they were until those of that part are known, and then all of
/// them change together.
pub struct SessionSource {
    live: LiveSource,
    open: Box<Open>,
    stored: Option<Box<dyn Stored>>,
    /// The conversation whose rows these are; that of `live` may be newer.
    shown: Arc<Snapshot>,
    /// The newest conversation behind each part of the log that was wanted.
    on_the_way: Vec<Arc<Snapshot>>,
    /// Why the log cannot be read.
    failure: Option<Arc<str>>,
    /// What the log said of itself last.
    stored_version: u64,
    version: u64,
}

impl SessionSource {
    /// A conversation whose log is opened by `open` as soon as there is something of it to
    /// show.
    #[must_use]
    pub fn new(live: LiveSource, open: Box<Open>) -> Self {
        let shown = Arc::clone(live.snapshot());
        let mut source = Self {
            live,
            open,
            stored: None,
            shown,
            on_the_way: Vec::new(),
            failure: None,
            stored_version: 0,
            version: 0,
        };
        source.turn_to_base();
        source
    }

    /// A conversation whose log is a file, which is read first around the message that is
    /// `near`.
    pub(super) fn of_file(live: LiveSource, waker: Waker, near: Option<MessageId>) -> Self {
        Self::new(live, stored::of_file(waker, near))
    }

    /// The conversation as it stood at the last [`Source::poll`]. Its entries are the last
    /// rows, except for the moment in which another part of the log is being read.
    #[must_use]
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        self.live.snapshot()
    }

    /// Why the part of the conversation that stands in the log cannot be shown.
    #[must_use]
    pub fn failure(&self) -> Option<Arc<str>> {
        let has_base = self.shown.base.is_some();
        let told = self.stored.as_deref().filter(|_| has_base).and_then(Stored::failure);
        self.failure.clone().or(told)
    }

    /// Lets the log show what stands before the newest entries.
    fn turn_to_base(&mut self) {
        let newest = Arc::clone(self.live.snapshot());
        let Some(base) = &newest.base else { return };
        if self.stored.is_none() && self.failure.is_none() {
            let is_followed = matches!(newest.keeping, Keeping::ReadOnly(_));
            match (self.open)(base, is_followed) {
                Ok(stored) => self.stored = Some(stored),
                Err(error) => self.failure = Some(error.to_string().into()),
            }
        }
        if let Some(stored) = &mut self.stored {
            stored.turn_to(base);
        }
        self.on_the_way.retain(|snapshot| snapshot.base != newest.base);
        if self.on_the_way.len() >= ON_THE_WAY {
            self.on_the_way.remove(0);
        }
        self.on_the_way.push(newest);
    }

    /// The conversation that stands behind the rows of the log.
    fn next_shown(&self) -> Option<&Arc<Snapshot>> {
        let newest = self.live.snapshot();
        let at = self.stored.as_ref().filter(|stored| stored.failure().is_none());
        let Some(stored) = at.filter(|_| newest.base.is_some()) else { return Some(newest) };
        match stored.at() {
            Some(at) if newest.base.as_ref() == Some(at) => Some(newest),
            // It came to a part that was wanted before, and goes on from there.
            Some(at) if self.shown.base.is_some() && self.shown.base.as_ref() != Some(at) => {
                self.on_the_way.iter().find(|snapshot| snapshot.base.as_ref() == Some(at))
            }
            Some(_) | None => Some(newest).filter(|newest| newest.base == self.shown.base),
        }
    }

    /// What stands in the log before the rows in memory.
    fn base(&self) -> Option<&dyn Source> {
        self.stored.as_deref().filter(|_| self.shown.base.is_some()).map(Stored::rows)
    }

    /// Rows that stand in the log.
    fn before(&self) -> usize {
        self.base().map_or(0, Source::len)
    }

    /// The part of a range of rows that stands in the log, and the part that is in memory.
    fn split(&self, rows: &Range<usize>) -> (Range<usize>, Range<usize>) {
        let before = self.before();
        let behind = |row: usize| row.saturating_sub(before);
        let stored = rows.start.min(before)..rows.end.min(before);
        (stored, behind(rows.start)..behind(rows.end).min(self.shown.len()))
    }

    fn live_row(&self, index: usize) -> RowInfo {
        let entry = self.shown.entry(index);
        let row = entry.expect("a row is below the length").row;
        RowInfo { forks: self.is_left_behind(index), ..row }
    }

    /// Does another path leave behind a message in memory?
    fn is_left_behind(&self, index: usize) -> bool {
        let is_fork = |index: usize| {
            let entry = self.shown.entry(index);
            entry.is_some_and(|entry| is_fork(&self.shown.forks, entry.message.id))
        };
        // What leaves at the very beginning leaves at the first message.
        is_fork(index + 1) || (index == 0 && self.shown.base.is_none() && is_fork(0))
    }

    fn live_rows(&self, rows: Range<usize>) -> impl Iterator<Item = RowInfo> {
        rows.map(|row| self.live_row(row))
    }
}

impl Source for SessionSource {
    fn poll(&mut self) -> u64 {
        self.live.poll();
        // Before its rows change, so that they change to what is wanted now.
        self.turn_to_base();
        if let Some(stored) = &mut self.stored {
            let version = stored.rows_mut().poll();
            if version != self.stored_version {
                self.stored_version = version;
                self.version += 1;
            }
        }
        let next = self.next_shown().filter(|next| next.version != self.shown.version).cloned();
        if let Some(next) = next {
            self.shown = next;
            self.version += 1;
        }
        self.version
    }

    fn len(&self) -> usize {
        self.before() + self.shown.len()
    }

    fn row(&self, index: usize) -> RowInfo {
        let before = self.before();
        let Some(stored) = self.base().filter(|_| index < before) else {
            return self.live_row(index - before);
        };
        let row = stored.row(index);
        let first = self.shown.entry(0).filter(|_| index + 1 == before);
        let parts = first.is_some_and(|entry| is_fork(&self.shown.forks, entry.message.id));
        RowInfo { forks: row.forks || parts, ..row }
    }

    fn index_of(&self, id: MessageId) -> Option<usize> {
        match self.shown.index_of(id) {
            Some(index) => Some(self.before() + index),
            None => self.base()?.index_of(id),
        }
    }

    fn prompt_before(&self, index: usize) -> Option<usize> {
        let before = self.before();
        let is_prompt = |row: &usize| self.row(*row).kind == crate::model::RowKind::User;
        let end = (index + 1).min(self.len());
        let live = (before..end).rev().find(is_prompt);
        live.or_else(|| self.base()?.prompt_before(index.min(before.checked_sub(1)?)))
    }

    fn prompt_after(&self, index: usize) -> Option<usize> {
        let before = self.before();
        let stored = self.base().filter(|_| index < before);
        let is_prompt = |row: &usize| self.row(*row).kind == crate::model::RowKind::User;
        let found = stored.and_then(|stored| stored.prompt_after(index));
        found.or_else(|| (index.max(before)..self.len()).find(is_prompt))
    }

    fn message(&mut self, index: usize) -> Option<Arc<Message>> {
        let before = self.before();
        match &mut self.stored {
            Some(stored) if index < before => stored.rows_mut().message(index),
            _ => self.shown.entry(index - before).map(|entry| Arc::clone(&entry.message)),
        }
    }

    fn want(&mut self, rows: Range<usize>) {
        let (stored_rows, _) = self.split(&rows);
        let has_base = self.shown.base.is_some();
        if let Some(stored) = self.stored.as_mut().filter(|_| has_base) {
            stored.rows_mut().want(stored_rows);
        }
    }

    fn estimate(&self, rows: Range<usize>) -> (u64, u64) {
        let (stored_rows, live_rows) = self.split(&rows);
        let stored = self.base().map_or((0, 0), |stored| stored.estimate(stored_rows));
        self.live_rows(live_rows)
            .filter(|row| !matches!(row.group, crate::model::GroupPlace::Follows { .. }))
            .fold(stored, |(shown, lines), row| (shown + 1, lines + u64::from(row.lines)))
    }

    fn running_since(&self) -> Option<Instant> {
        self.shown.running_since
    }

    fn census(&self, rows: Range<usize>) -> Census {
        let (stored_rows, live_rows) = self.split(&rows);
        let stored = self.base().map(|stored| stored.census(stored_rows));
        let mut census = stored.unwrap_or_default();
        self.live_rows(live_rows).for_each(|row| census.add(&Census::of(&row)));
        census
    }

    fn forks(&self) -> Option<&Arc<[Fork]>> {
        Some(&self.shown.forks)
    }

    fn progress(&self) -> Progress {
        self.base().map_or(Progress::Complete, Source::progress)
    }

    fn reading(&self) -> Option<Arc<dyn Reading>> {
        let stored = match self.base() {
            Some(stored) => Some(stored.reading()?),
            None => None,
        };
        Some(Arc::new(Joined::new(stored, Arc::clone(&self.shown), self.version)))
    }
}

fn is_fork(forks: &[Fork], id: MessageId) -> bool {
    forks.binary_search_by_key(&id, |fork| fork.message).is_ok()
}

impl fmt::Debug for SessionSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionSource")
            .field("before", &self.before())
            .field("live", &self.shown.len())
            .field("base", &self.shown.base)
            .finish_non_exhaustive()
    }
}
