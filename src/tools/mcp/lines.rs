//! Lines of any length, within bounds.

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// Bytes kept of each end of a line that is too long.
const ENDS: usize = 1024;

/// Reads lines. A reading that is given up loses nothing: the next one goes on.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    max: usize,
    /// The line at hand is longer than `max`: what of it is kept.
    long: Option<LongLine>,
}

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line without its end.
    Whole(Vec<u8>),
    /// A line that is too long to hold.
    Long(LongLine),
    /// Nothing more comes. What stood behind the last line's end is dropped.
    End,
}

/// Both ends of a line that is too long to hold.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LongLine {
    pub(super) head: Vec<u8>,
    pub(super) tail: Vec<u8>,
    pub(super) bytes: u64,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, max: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(64 * 1024, reader),
            line: Vec::new(),
            max,
            long: None,
        }
    }

    pub(super) async fn next(&mut self) -> Line {
        loop {
            // An error and an end are the same to whoever reads: nothing more comes.
            let Ok(available) = self.reader.fill_buf().await else { return Line::End };
            if available.is_empty() {
                return Line::End;
            }
            let end = memchr::memchr(b'\n', available);
            let (piece, _) = available.split_at(end.unwrap_or(available.len()));
            let taken = piece.len() + usize::from(end.is_some());
            match &mut self.long {
                Some(long) => long.push(piece),
                None if self.line.len() + piece.len() > self.max => {
                    let mut long = LongLine::default();
                    long.push(&self.line);
                    long.push(piece);
                    self.line = Vec::new();
                    self.long = Some(long);
                }
                None => self.line.extend_from_slice(piece),
            }
            self.reader.consume(taken);
            if end.is_some() {
                return match self.long.take() {
                    Some(long) => Line::Long(long),
                    None => Line::Whole(std::mem::take(&mut self.line)),
                };
            }
        }
    }
}

impl LongLine {
    fn push(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        let room = ENDS.saturating_sub(self.head.len()).min(piece.len());
        let (head, rest) = piece.split_at(room);
        self.head.extend_from_slice(head);
        let (_, tail) = rest.split_at(rest.len().saturating_sub(ENDS));
        self.tail.extend_from_slice(tail);
        let extra = self.tail.len().saturating_sub(ENDS);
        self.tail.drain(..extra);
    }
}

/// The id of the response that a line is, when it can be told from its ends: an object's first
/// or last members are read, as far as they are simple.
pub(super) fn response_id(head: &[u8], tail: &[u8]) -> Option<i64> {
    let head = String::from_utf8_lossy(head);
    let tail = String::from_utf8_lossy(tail);
    // A request or a notification has a method, and nobody waits for it here.
    let outer = head.match_indices(['{', '[']).nth(1).map_or(head.len(), |(at, _)| at);
    if head.get(..outer).is_some_and(|outer| outer.contains("\"method\"")) {
        return None;
    }
    id_in_head(&head).or_else(|| id_in_tail(&tail))
}

fn id_in_head(head: &str) -> Option<i64> {
    let (before, after) = head.split_once("\"id\"")?;
    // Behind the first opened value the id would be another's.
    let is_outer = before.matches(['{', '[']).count() == 1;
    let number = after.trim_start().strip_prefix(':')?.trim_start();
    let (number, _) = number.split_once([',', '}'])?;
    is_outer.then(|| number.trim().parse().ok()).flatten()
}

fn id_in_tail(tail: &str) -> Option<i64> {
    let (_, after) = tail.trim_end().strip_suffix('}')?.rsplit_once("\"id\"")?;
    let number = after.trim_start().strip_prefix(':')?.trim_start();
    // Only simple members may follow, so nothing that closes.
    if number.contains(['}', ']', '{', '[']) {
        return None;
    }
    let number = number.split(',').next().unwrap_or_default();
    number.trim().parse().ok()
}
