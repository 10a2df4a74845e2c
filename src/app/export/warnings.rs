//! What was met on the way, by line, each thing once.

use std::collections::BTreeSet;

use crate::model::{SourceLine, Warning};

/// The index and the reader of a message may both meet the same thing.
#[derive(Default)]
pub(super) struct Warnings {
    met: BTreeSet<(u64, String)>,
    left_out: u64,
}

const WARNINGS_MAX: usize = 10_000;

impl Warnings {
    pub(super) fn extend(&mut self, more: impl IntoIterator<Item = Warning>) {
        for Warning { line, message } in more {
            let warning = (line.0, message);
            if self.met.len() < WARNINGS_MAX || self.met.contains(&warning) {
                self.met.insert(warning);
            } else {
                self.left_out += 1;
            }
        }
    }

    pub(super) fn into_list(self) -> Vec<Warning> {
        let note = (self.left_out > 0).then(|| Warning {
            line: SourceLine(0),
            message: format!("{} further warnings are left out", self.left_out),
        });
        let met = self.met.into_iter();
        met.map(|(line, message)| Warning { line: SourceLine(line), message }).chain(note).collect()
    }
}
