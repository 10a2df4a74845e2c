//! The answer as text, for people and pipes.

use std::io::{self, Write};

use super::{Printer, told::Told};
use crate::{app::export::visible::visible, model::Snapshot};

/// Writes the texts of the answer as they come, and nothing else.
pub(super) struct Plain {
    is_terminal: bool,
    /// Something was written, and it did not end its line.
    is_open: bool,
    has_begun: bool,
}

impl Plain {
    /// On a terminal control characters become visible, so that a model cannot speak to it.
    pub(super) fn new(is_terminal: bool) -> Self {
        Self { is_terminal, is_open: false, has_begun: false }
    }
}

impl Printer for Plain {
    fn tell(&mut self, told: &Told<'_>, out: &mut dyn Write) -> io::Result<()> {
        let (delta, is_first) = match told {
            Told::Text { delta, is_first } => (delta, is_first),
            // What is said about calls stands on lines of its own.
            Told::Call(_) if self.is_terminal && std::mem::take(&mut self.is_open) => {
                return out.write_all(b"\n").and_then(|()| out.flush());
            }
            Told::Call(_) | Told::Reasoning { .. } | Told::Result(..) | Told::Warning(_) => {
                return Ok(());
            }
        };
        if *is_first && self.has_begun {
            out.write_all(if self.is_open { b"\n\n" } else { b"\n" })?;
        }
        self.has_begun = true;
        self.is_open = !delta.ends_with('\n');
        if self.is_terminal {
            out.write_all(visible(delta).as_bytes())
        } else {
            out.write_all(delta.as_bytes())
        }
    }

    fn end(&mut self, _last: &Snapshot, out: &mut dyn Write) -> io::Result<()> {
        if self.is_open { out.write_all(b"\n") } else { Ok(()) }
    }
}
