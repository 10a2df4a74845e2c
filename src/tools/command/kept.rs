//! What is kept of a program's output: its head, its tail, and all of it in a file.

use std::{collections::VecDeque, io::Write, sync::Arc};

use crate::tools::{
    output::{OutputPart, Spilled, Stream},
    spill::Spill,
};

/// Bytes of the head that are kept.
pub(super) const HEAD: usize = 64 * 1024;
/// Bytes of the tail that are kept.
pub(super) const TAIL: usize = 64 * 1024;
/// Bytes that go into the file.
pub(super) const SPILL: u64 = 100 * 1024 * 1024;
/// Changes between the two streams that are remembered in the tail.
const MAX_RUNS: usize = 4096;

/// A stretch of output of one stream.
struct Run {
    stream: Stream,
    bytes: usize,
}

/// Output, kept in part.
pub(super) struct Kept {
    head: Vec<u8>,
    head_runs: Vec<Run>,
    tail: VecDeque<u8>,
    tail_runs: VecDeque<Run>,
    total: u64,
    spill: Spilling,
}

enum Spilling {
    /// Nobody gives a file, or the one there was failed.
    No,
    /// A file is opened once it is needed.
    NotYet(Arc<dyn Spill>, String),
    To {
        file: Box<dyn Write + Send>,
        place: Arc<str>,
        bytes: u64,
    },
    /// The file could not be written to its end.
    Broken {
        place: Arc<str>,
        bytes: u64,
    },
}

impl Kept {
    pub(super) fn new(spill: Option<(Arc<dyn Spill>, &str)>) -> Self {
        Self {
            head: Vec::new(),
            head_runs: Vec::new(),
            tail: VecDeque::new(),
            tail_runs: VecDeque::new(),
            total: 0,
            spill: match spill {
                Some((spill, id)) => Spilling::NotYet(spill, id.to_owned()),
                None => Spilling::No,
            },
        }
    }

    pub(super) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        let is_over = self.total as usize + bytes.len() > HEAD + TAIL;
        if is_over && let Spilling::NotYet(..) = self.spill {
            self.open_spill();
        }
        self.spill(bytes);
        self.total += bytes.len() as u64;
        let room = HEAD - self.head.len();
        let (head, tail) = bytes.split_at(room.min(bytes.len()));
        if !head.is_empty() {
            self.head.extend(head);
            push_run(&mut self.head_runs, stream, head.len());
        }
        if !tail.is_empty() {
            self.push_tail(stream, tail);
        }
    }

    fn push_tail(&mut self, stream: Stream, bytes: &[u8]) {
        let kept = bytes.get(bytes.len().saturating_sub(TAIL)..).unwrap_or_default();
        self.forget((self.tail.len() + kept.len()).saturating_sub(TAIL));
        self.tail.extend(kept);
        let is_full = self.tail_runs.len() >= MAX_RUNS;
        match self.tail_runs.back_mut() {
            // With too many changes the last ones run together.
            Some(run) if run.stream == stream || is_full => run.bytes += kept.len(),
            _ => self.tail_runs.push_back(Run { stream, bytes: kept.len() }),
        }
    }

    fn forget(&mut self, mut count: usize) {
        self.tail.drain(..count.min(self.tail.len()));
        while let Some(run) = self.tail_runs.front_mut().filter(|_| count > 0) {
            let gone = run.bytes.min(count);
            (run.bytes, count) = (run.bytes - gone, count - gone);
            if run.bytes == 0 {
                self.tail_runs.pop_front();
            }
        }
    }

    /// Opens the file, and writes what is kept so far: until now that is everything.
    fn open_spill(&mut self) {
        let Spilling::NotYet(spill, id) = &self.spill else { return };
        let opened = spill.open(id);
        self.spill = match opened {
            Ok((file, place)) => Spilling::To { file, place, bytes: 0 },
            // The output says that it is kept in part.
            Err(_no_file) => Spilling::No,
        };
        let head = std::mem::take(&mut self.head);
        self.spill(&head);
        self.head = head;
        let tail = std::mem::take(&mut self.tail);
        let (first, second) = tail.as_slices();
        self.spill(first);
        self.spill(second);
        self.tail = tail;
    }

    fn spill(&mut self, bytes: &[u8]) {
        let Spilling::To { file, place, bytes: written } = &mut self.spill else { return };
        let room = usize::try_from(SPILL - *written).unwrap_or(usize::MAX);
        let bytes = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        if file.write_all(bytes).is_ok() {
            *written += bytes.len() as u64;
        } else {
            self.spill = Spilling::Broken { place: Arc::clone(place), bytes: *written };
        }
    }

    /// The parts, the bytes that are in none, and the file.
    pub(super) fn finish(mut self) -> (Vec<OutputPart>, u64, Option<Spilled>) {
        let omitted = self.total - (self.head.len() + self.tail.len()) as u64;
        let mut parts = Vec::new();
        let tail = self.tail.make_contiguous();
        if omitted == 0 {
            // Nothing is missing, so a character may lie across the two.
            self.head.extend_from_slice(tail);
            for run in self.tail_runs {
                push_run(&mut self.head_runs, run.stream, run.bytes);
            }
            push_parts(&self.head, self.head_runs.iter(), &mut parts);
        } else {
            push_parts(&self.head, self.head_runs.iter(), &mut parts);
            parts.push(OutputPart::Gap(omitted));
            push_parts(tail, self.tail_runs.iter(), &mut parts);
        }
        let total = self.total;
        let spill = match self.spill {
            Spilling::To { mut file, place, bytes } => {
                let is_whole = file.flush().is_ok() && bytes == total;
                Some(Spilled { place, bytes, is_whole })
            }
            Spilling::Broken { place, bytes } => Some(Spilled { place, bytes, is_whole: false }),
            Spilling::No | Spilling::NotYet(..) => None,
        };
        (parts, omitted, spill)
    }
}

fn push_run(runs: &mut Vec<Run>, stream: Stream, bytes: usize) {
    let is_full = runs.len() >= MAX_RUNS;
    match runs.last_mut() {
        Some(run) if run.stream == stream || is_full => run.bytes += bytes,
        _ => runs.push(Run { stream, bytes }),
    }
}

fn push_parts<'a>(
    mut bytes: &[u8],
    runs: impl Iterator<Item = &'a Run>,
    parts: &mut Vec<OutputPart>,
) {
    for run in runs {
        let (piece, rest) = bytes.split_at(run.bytes.min(bytes.len()));
        bytes = rest;
        let text = String::from_utf8_lossy(piece);
        parts.push(OutputPart::Text { stream: run.stream, text: text.as_ref().into() });
    }
}
