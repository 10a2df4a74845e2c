//! A transcript that arrives and cannot be read again: its newest lines, in memory.

use std::{collections::VecDeque, io, path::Path, sync::Arc};

use parking_lot::Mutex;

use super::{Format, OpenError, Transcript, file::PositionedFile, letterpress, open};

/// The newest lines of a source that cannot be read again.
///
/// Every line has a place as in a file of all lines. Of more than the limit the oldest
/// lines go, and a record in their place says so. Clones are the same spool.
#[derive(Clone, Debug)]
pub struct Spool {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    limit_bytes: usize,
    format: Option<Format>,
    /// Lines and where they begin, in order and without gaps.
    lines: VecDeque<(u64, Box<[u8]>)>,
    bytes: usize,
    len: u64,
    /// Bytes and lines that are no longer there.
    dropped: (u64, u64),
    /// The first line is the record that says so.
    says_so: bool,
}

/// What a line costs beside its bytes.
const LINE_BYTES: usize = size_of::<(u64, Box<[u8]>)>() + 16;

impl Spool {
    /// An empty one that keeps about so many bytes, at least 64 KiB.
    #[must_use]
    pub fn new(limit_bytes: usize) -> Self {
        let limit_bytes = limit_bytes.max(64 * 1024);
        let state = State {
            limit_bytes,
            format: None,
            lines: VecDeque::new(),
            bytes: 0,
            len: 0,
            dropped: (0, 0),
            says_so: false,
        };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// The longest line that is kept; a longer one is replaced by a record that says so.
    #[must_use]
    pub fn line_max(&self) -> usize {
        self.state.lock().limit_bytes / 2
    }

    /// Appends a line; `line` comes without its end.
    pub fn append(&self, line: &[u8]) {
        let mut state = self.state.lock();
        if line.len() > state.limit_bytes / 2 {
            state.push_left_out();
        } else {
            state.push(line);
        }
        if state.bytes > state.limit_bytes {
            state.sniff();
            state.drop_oldest();
        }
    }

    /// Notes that a line was too long to be kept.
    pub fn append_left_out(&self) {
        self.state.lock().push_left_out();
    }

    /// Bytes that came in all.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.state.lock().len
    }

    /// Bytes that are kept.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.state.lock().bytes
    }

    /// Bytes and lines that came and are no longer kept.
    #[must_use]
    pub fn dropped(&self) -> (u64, u64) {
        self.state.lock().dropped
    }

    /// Opens what is there, under a name. It grows as the spool does.
    ///
    /// # Errors
    /// When there is nothing yet, or it is no transcript.
    pub fn open(&self, name: &Path) -> Result<Transcript, OpenError> {
        let mut state = self.state.lock();
        if state.len == 0 {
            return Err(OpenError::Empty(name.to_owned()));
        }
        state.sniff();
        let format = state.format.ok_or_else(|| OpenError::NotTranscript(name.to_owned()))?;
        let agent_file = format == Format::ClaudeCode && open::begins_in_sidechain(&state.head());
        Ok(Transcript {
            path: name.to_owned(),
            format,
            len: state.len,
            file: Arc::new(PositionedFile::Spool(self.clone())),
            agent_file,
        })
    }

    /// Where the first line that is kept begins.
    pub(super) fn first(&self) -> u64 {
        let state = self.state.lock();
        state.lines.front().map_or(state.len, |(at, _)| *at)
    }

    pub(super) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let state = self.state.lock();
        let next = state.lines.partition_point(|(at, _)| *at <= offset);
        let Some((at, line)) = next.checked_sub(1).and_then(|line| state.lines.get(line)) else {
            return Ok(0);
        };
        let rest = line.get((offset - at) as usize..).unwrap_or(&[]);
        let count = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..count), rest.get(..count)) {
            to.copy_from_slice(from);
        }
        Ok(count)
    }
}

impl State {
    fn push(&mut self, line: &[u8]) {
        let mut kept = Vec::with_capacity(line.len() + 1);
        // A line end inside would make two of it.
        kept.extend(line.iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }));
        kept.push(b'\n');
        self.bytes += kept.len() + LINE_BYTES;
        self.lines.push_back((self.len, kept.into_boxed_slice()));
        self.len += line.len() as u64 + 1;
    }

    fn push_left_out(&mut self) {
        self.sniff();
        let record = self.record("A line was too long to be kept.");
        self.push(&record);
    }

    /// Tells the format, as long as its first lines are there.
    fn sniff(&mut self) {
        if self.format.is_none() {
            self.format = open::sniff(&self.head());
        }
    }

    /// Makes room for a quarter, and notes what went in a record at its end.
    fn drop_oldest(&mut self) {
        let down_to = self.limit_bytes / 4 * 3;
        let mut room = 0;
        while self.lines.len() > 1 {
            let record = self.record(&self.dropped_words());
            if self.bytes <= down_to && room > record.len() {
                self.put_first(&record);
                return;
            }
            let Some((_, line)) = self.lines.pop_front() else { return };
            self.bytes -= line.len() + LINE_BYTES;
            room += line.len();
            if !std::mem::take(&mut self.says_so) {
                self.dropped.0 += line.len() as u64;
                self.dropped.1 += 1;
            }
        }
    }

    fn dropped_words(&self) -> String {
        let (bytes, lines) = self.dropped;
        format!("{lines} earlier lines ({}) are no longer kept.", size(bytes))
    }

    fn put_first(&mut self, record: &[u8]) {
        let Some(start) = self.lines.front().map(|(at, _)| *at) else { return };
        self.says_so = true;
        let mut line = record.to_vec();
        line.push(b'\n');
        self.bytes += line.len() + LINE_BYTES;
        self.lines.push_front((start.saturating_sub(line.len() as u64), line.into_boxed_slice()));
    }

    /// A record of the conversation's own format that says something to the reader.
    fn record(&self, words: &str) -> Vec<u8> {
        let words = serde_json::Value::from(words);
        let record = match self.format {
            Some(Format::Letterpress) => letterpress::note(&words),
            Some(Format::Pi) | None => format!(
                "{{\"type\":\"custom_message\",\"customType\":\"letterpress\",\"display\":true,\"content\":{words}}}"
            ),
            Some(Format::ClaudeCode) => format!(
                "{{\"type\":\"system\",\"subtype\":\"informational\",\"level\":\"info\",\"content\":{words}}}"
            ),
        };
        record.into_bytes()
    }

    /// The first lines, enough to tell a format.
    fn head(&self) -> Vec<u8> {
        let mut head = Vec::new();
        for (_, line) in &self.lines {
            head.extend_from_slice(line);
            if head.len() >= open::HEAD_BYTES {
                break;
            }
        }
        head
    }
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10),
    }
}
