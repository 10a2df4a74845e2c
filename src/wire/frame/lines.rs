//! Lines over chunks of bytes.

use super::{LINE_LIMIT, TooLarge};

/// Which bytes end a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnds {
    /// CRLF, LF or CR, as server-sent events have it. A CR ends the line at once.
    Any,
    /// LF; a CR before it is dropped.
    Lf,
}

/// Cuts chunks of bytes into lines.
///
/// Works on bytes: CR and LF are never part of a longer UTF-8 sequence, so a character
/// that two chunks share stays whole without further care.
#[derive(Debug)]
pub struct Lines {
    ends: LineEnds,
    /// The line so far, without its end.
    partial: Vec<u8>,
    /// The last byte was a CR that ended a line: an LF right behind it belongs to it.
    after_cr: bool,
}

impl Lines {
    /// A splitter at the start of a body.
    #[must_use]
    pub fn new(ends: LineEnds) -> Self {
        Self { ends, partial: Vec::new(), after_cr: false }
    }

    /// Calls `each` with every line that is complete now, without its end.
    ///
    /// # Errors
    /// When a line grows over the limit.
    pub fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(&[u8])) -> Result<(), TooLarge> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(at) = self.end_in(bytes) else {
                return self.keep(bytes);
            };
            self.after_cr = bytes[at] == b'\r';
            let (head, rest) = (&bytes[..at], &bytes[at + 1..]);
            if self.partial.is_empty() {
                check(head.len())?;
                each(self.trim(head));
            } else {
                self.keep(head)?;
                each(self.trim(&self.partial));
                self.partial.clear();
            }
            bytes = rest;
        }
        Ok(())
    }

    /// The line that the end of the body cut off, if there is one.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.partial);
        (!line.is_empty()).then(|| self.trim(&line).to_vec())
    }

    fn end_in(&self, bytes: &[u8]) -> Option<usize> {
        match self.ends {
            LineEnds::Any => memchr::memchr2(b'\n', b'\r', bytes),
            LineEnds::Lf => memchr::memchr(b'\n', bytes),
        }
    }

    fn trim<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        match self.ends {
            LineEnds::Any => line,
            LineEnds::Lf => line.strip_suffix(b"\r").unwrap_or(line),
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), TooLarge> {
        check(self.partial.len() + bytes.len())?;
        self.partial.extend_from_slice(bytes);
        Ok(())
    }
}

fn check(len: usize) -> Result<(), TooLarge> {
    if len > LINE_LIMIT { Err(TooLarge) } else { Ok(()) }
}
