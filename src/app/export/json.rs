//! JSON, one object with all messages in an array, and JSON Lines, one message a line.

use std::io::{self, Write};

use super::{
    Images,
    sheet::{Head, Sheet},
    wire,
};
use crate::model::{Message, Warning};

/// One JSON object. The messages are streamed, so its size knows no bound.
#[derive(Debug)]
pub(super) struct Json {
    begun: bool,
    images: Images,
}

impl Json {
    pub(super) fn new(images: Images) -> Self {
        Self { begun: false, images }
    }
}

/// One message a line.
#[derive(Debug)]
pub(super) struct JsonLines {
    pub(super) images: Images,
}

impl Sheet for Json {
    fn begin(&mut self, head: &Head<'_>, out: &mut dyn Write) -> io::Result<()> {
        let source = wire::Source { format: head.format, path: head.path };
        out.write_all(b"{\"source\":")?;
        serde_json::to_writer(&mut *out, &source)?;
        out.write_all(b",\"title\":")?;
        serde_json::to_writer(&mut *out, &head.title)?;
        out.write_all(b",\"branches\":")?;
        serde_json::to_writer(&mut *out, head.branches)?;
        if head.is_excerpt {
            out.write_all(b",\"excerpt\":true")?;
        }
        out.write_all(b",\"messages\":[")
    }

    fn message(&mut self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        let separator: &[u8] = if self.begun { b",\n" } else { b"\n" };
        self.begun = true;
        out.write_all(separator)?;
        serde_json::to_writer(out, &wire::Message::new(message, self.images))?;
        Ok(())
    }

    fn end(&mut self, warnings: &[Warning], out: &mut dyn Write) -> io::Result<()> {
        let warnings: Vec<wire::Warning<'_>> = warnings.iter().map(wire::Warning::from).collect();
        out.write_all(b"\n],\"warnings\":")?;
        serde_json::to_writer(&mut *out, &warnings)?;
        out.write_all(b"}\n")
    }
}

impl Sheet for JsonLines {
    fn begin(&mut self, _head: &Head<'_>, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn message(&mut self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, &wire::Message::new(message, self.images))?;
        out.write_all(b"\n")
    }

    fn end(&mut self, _warnings: &[Warning], _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}
