//! When a piece of a reply is written down that is still arriving, and what of it is new.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use crate::{
    engine::live::composition::{Composition, Content},
    model::record::Delta,
};

/// How old what arrived may get. A little less than the second that is promised.
const AGE: Duration = Duration::from_millis(800);
/// How much may have arrived, in bytes: less than the 32 KiB that are promised, because it
/// comes in pieces.
const BYTES: usize = 16 * 1024;
/// Arguments of calls up to this size are written anew with each piece, because they change
/// in the middle, too.
const ARGUMENTS: usize = 32 * 1024;

/// What was written of the reply that is arriving.
#[derive(Debug, Default)]
pub(in crate::engine::live) struct Partials {
    /// Bytes of each row.
    written: BTreeMap<u32, Written>,
    /// Bytes that there were then.
    shown: usize,
    /// Since when there is something that was not written.
    since: Option<Instant>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Written {
    bytes: usize,
    is_closed: bool,
}

impl Partials {
    /// There are so many bytes of it now.
    pub(in crate::engine::live) fn note(&mut self, shown: usize, now: Instant) {
        if shown > self.shown {
            self.since.get_or_insert(now);
        }
    }

    /// When the next piece has to be written.
    pub(in crate::engine::live) fn due(&self) -> Option<Instant> {
        self.since.map(|since| since + AGE)
    }

    pub(in crate::engine::live) fn is_due(&self, shown: usize, now: Instant) -> bool {
        let Some(due) = self.due() else { return false };
        now >= due || shown.saturating_sub(self.shown) >= BYTES
    }

    /// What has come since the last time.
    pub(in crate::engine::live) fn take<'a>(
        &mut self,
        composition: &'a Composition,
    ) -> Vec<(u32, Delta<'a>)> {
        (self.shown, self.since) = (composition.bytes(), None);
        let mut deltas = Vec::new();
        for (ordinal, content) in composition.contents() {
            let written = self.written.entry(ordinal).or_default();
            match content {
                Content::Text(text) => {
                    deltas.extend(added(text, written).map(|add| (ordinal, Delta::Text(add))));
                }
                Content::Reasoning(text) => {
                    deltas.extend(added(text, written).map(|add| (ordinal, Delta::Thinking(add))));
                }
                Content::Call { call, bytes, is_closed } => {
                    let has_grown = bytes > written.bytes
                        && (bytes <= ARGUMENTS || bytes >= written.bytes.saturating_mul(2));
                    let is_new = written.bytes == 0;
                    if is_new || has_grown || (is_closed && !written.is_closed) {
                        *written = Written { bytes: bytes.max(1), is_closed };
                        deltas.push((ordinal, Delta::Call(call)));
                    }
                }
            }
        }
        deltas
    }
}

/// What a text has more than was written. One that was shortened meanwhile keeps what was
/// written of it: too much is better than too little.
fn added<'a>(text: &'a str, written: &mut Written) -> Option<&'a str> {
    let from = text.floor_char_boundary(written.bytes);
    let add = text.get(from..).filter(|add| !add.is_empty());
    written.bytes = text.len();
    add
}
