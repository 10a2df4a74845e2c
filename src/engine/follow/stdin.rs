//! Standard input, or whatever else comes once and in order.

use std::io::{self, Read};

use crate::{
    engine::{clock, reader::Arrivals},
    model::activity::Link,
    transcript::Spool,
};

const READ_BYTES: usize = 64 * 1024;

/// Starts the thread that reads. Nothing can wake it from waiting for input: it ends with
/// the input, or with the first that comes when nobody listens any more.
///
/// # Errors
/// When the system gives no further thread.
pub(super) fn start(
    input: Box<dyn Read + Send>,
    spool: Spool,
    arrivals: Arrivals,
) -> io::Result<()> {
    let thread = std::thread::Builder::new().name("letterpress-input".to_owned());
    thread.spawn(move || read(input, &spool, &arrivals))?;
    Ok(())
}

fn read(mut input: Box<dyn Read + Send>, spool: &Spool, arrivals: &Arrivals) {
    let mut lines = Lines { partial: Vec::new(), left_out: false, line_max: spool.line_max() };
    let mut buffer = vec![0; READ_BYTES];
    let why = loop {
        match input.read(&mut buffer) {
            Ok(0) => break "the input ended".to_owned(),
            Ok(count) => lines.take(buffer.get(..count).unwrap_or(&[]), spool),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break format!("the input cannot be read ({error})"),
        }
        if !arrivals.arrived() {
            return;
        }
    };
    lines.end(spool);
    arrivals.arrived();
    arrivals.link(Link::Lost { since_ms: clock::now_ms(), why: why.into() });
}

/// Cuts what comes into lines.
struct Lines {
    partial: Vec<u8>,
    /// The line is too long: the rest of it is passed over.
    left_out: bool,
    line_max: usize,
}

impl Lines {
    fn take(&mut self, mut bytes: &[u8], spool: &Spool) {
        while let Some(at) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(at);
            self.keep(line);
            self.end(spool);
            bytes = rest.get(1..).unwrap_or(&[]);
        }
        self.keep(bytes);
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.left_out |= self.partial.len() + bytes.len() > self.line_max;
        if self.left_out {
            self.partial = Vec::new();
        } else {
            self.partial.extend_from_slice(bytes);
        }
    }

    fn end(&mut self, spool: &Spool) {
        if std::mem::take(&mut self.left_out) {
            spool.append_left_out();
        } else if !self.partial.trim_ascii().is_empty() {
            spool.append(self.partial.trim_ascii_end());
        }
        self.partial.clear();
    }
}
