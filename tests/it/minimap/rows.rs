//! Conversations of any length that exist only as a rule.

use std::{ops::Range, sync::Arc};

use letterpress::model::{
    Census, Censuses, GroupPlace, Message, MessageId, Progress, Role, RowInfo, RowKind, Source,
    ToolTally,
};

use crate::bed::{message, text};

/// A source whose rows are made when they are asked for.
pub(super) struct Made {
    make: Box<dyn Fn(usize) -> RowInfo>,
    censuses: Censuses,
    len: usize,
    version: u64,
    /// Its messages never arrive, so that all heights stay estimates.
    pub(super) bare: bool,
}

impl Made {
    pub(super) fn new(len: usize, make: impl Fn(usize) -> RowInfo + 'static) -> Self {
        let mut made = Self {
            make: Box::new(make),
            censuses: Censuses::default(),
            len: 0,
            version: 0,
            bare: false,
        };
        made.grow(len);
        made
    }

    pub(super) fn grow(&mut self, rows: usize) {
        for row in self.len..self.len + rows {
            self.censuses.push(&(self.make)(row));
        }
        self.len += rows;
        self.version += 1;
    }
}

/// A plain row of a kind.
pub(super) fn row(number: usize, kind: RowKind, lines: u16) -> RowInfo {
    RowInfo {
        id: MessageId(number as u64 + 1),
        kind,
        lines,
        group: GroupPlace::Alone,
        tally: ToolTally::default(),
        calls: 0,
        thinks: false,
        forks: false,
        failed: false,
        time_secs: 1_777_000_000 + number as u32,
    }
}

/// Rows of several kinds and heights, by their number.
pub(super) fn mixed(number: usize) -> RowInfo {
    let kind = match number % 5 {
        0 => RowKind::User,
        4 => RowKind::Notice,
        _ => RowKind::Assistant,
    };
    let info = row(number, kind, (1 + number * 7 % 13) as u16);
    RowInfo { thinks: number % 5 == 1, calls: u8::from(number % 5 == 2), ..info }
}

impl Source for Made {
    fn poll(&mut self) -> u64 {
        self.version
    }

    fn len(&self) -> usize {
        self.len
    }

    fn row(&self, index: usize) -> RowInfo {
        (self.make)(index)
    }

    fn index_of(&self, id: MessageId) -> Option<usize> {
        (id.0 as usize).checked_sub(1).filter(|row| *row < self.len)
    }

    fn prompt_before(&self, index: usize) -> Option<usize> {
        (0..=index).rev().find(|row| self.row(*row).kind == RowKind::User)
    }

    /// Its height is not what the row says: estimates never are what is measured.
    fn message(&mut self, index: usize) -> Option<Arc<Message>> {
        if self.bare {
            return None;
        }
        let info = self.row(index);
        let role = if info.kind == RowKind::User { Role::User } else { Role::Assistant };
        let lines = 1 + index * 11 % 17;
        let words = (0..lines).map(|line| format!("Message {index}, line {line}.\n\n"));
        Some(Arc::new(message(info.id.0, role, vec![text(&words.collect::<String>())])))
    }

    fn want(&mut self, _rows: Range<usize>) {}

    fn estimate(&self, rows: Range<usize>) -> (u64, u64) {
        let census = self.census(rows);
        (u64::from(census.shown), census.all_lines())
    }

    fn census(&self, rows: Range<usize>) -> Census {
        self.censuses.of(rows, |row| (self.make)(row))
    }

    fn progress(&self) -> Progress {
        Progress::Complete
    }
}
