//! Messages that no program should have to show, and some have to.

use std::io::{self, Write};

use serde_json::json;
use tempfile::NamedTempFile;

use super::case::temporary;
use crate::app::{error::Result, synth};

/// A conversation that is next to nothing but one giant.
pub(super) struct Giant {
    /// Its name in reports.
    pub(super) name: &'static str,
    write: fn(&mut dyn Write, usize) -> io::Result<()>,
    /// How many times as large as was asked for.
    times: usize,
}

/// One message of mixed markdown, and one tool's result of log lines, ten times as long.
pub(super) const ALL: [Giant; 2] = [
    Giant { name: "giant-message", write: message, times: 1 },
    Giant { name: "giant-result", write: result, times: 10 },
];

impl Giant {
    /// The giant in a file, made of `bytes` of text or a multiple of them.
    pub(super) fn file(&self, bytes: usize) -> Result<NamedTempFile> {
        temporary(|out| (self.write)(out, bytes.saturating_mul(self.times)))
    }
}

fn message(out: &mut dyn Write, bytes: usize) -> io::Result<()> {
    begin(out, "Write it all down.")?;
    write!(
        out,
        r#"{{"type":"message","id":"00000002","parentId":"00000001","timestamp":"{AT}","message":{{"role":"assistant","content":[{{"type":"text","text":"#
    )?;
    serde_json::to_writer(&mut *out, &synth::reply(bytes))?;
    writeln!(out, "}}],{ANSWERED}}}}}")
}

/// The result is written line by line: as one string it would be in memory twice.
fn result(out: &mut dyn Write, bytes: usize) -> io::Result<()> {
    begin(out, "Show me the log.")?;
    let call = json!({"type": "toolCall", "id": "call_1", "name": "bash", "arguments": {"command": "cat service.log"}});
    writeln!(
        out,
        r#"{{"type":"message","id":"00000002","parentId":"00000001","timestamp":"{AT}","message":{{"role":"assistant","content":[{call}],{CALLED}}}}}"#
    )?;
    write!(
        out,
        r#"{{"type":"message","id":"00000003","parentId":"00000002","timestamp":"{AT}","message":{{"role":"toolResult","toolCallId":"call_1","toolName":"bash","content":[{{"type":"text","text":""#
    )?;
    let (mut written, mut line) = (0, 0_u64);
    while written < bytes {
        // No sign in it needs an escape but the line's end.
        let log = format!(
            "2026-01-05T09:{:02}:{:02}Z INFO worker-{}: request {line:08} served in {} ms\\n",
            line / 60 % 60,
            line % 60,
            line % 16,
            line * 7919 % 997,
        );
        out.write_all(log.as_bytes())?;
        written += log.len() - 1;
        line += 1;
    }
    writeln!(out, r#""}}],"isError":false,"timestamp":1767603600000}}}}"#)
}

const AT: &str = "2026-01-05T09:00:00.000Z";
const ANSWERED: &str = r#""api":"synthetic","provider":"synthetic","model":"synthetic-large-1","stopReason":"stop","timestamp":1767603600000"#;
const CALLED: &str = r#""api":"synthetic","provider":"synthetic","model":"synthetic-large-1","stopReason":"toolUse","timestamp":1767603600000"#;

fn begin(out: &mut dyn Write, prompt: &str) -> io::Result<()> {
    let header = json!({"type": "session", "version": 3, "id": "5e550000-0000-4000-8000-000000000001", "timestamp": AT, "cwd": "/work/orchard"});
    let message = json!({"role": "user", "content": prompt, "timestamp": 1_767_603_600_000_u64});
    let entry = json!({"type": "message", "id": "00000001", "parentId": null, "timestamp": AT, "message": message});
    writeln!(out, "{header}\n{entry}")
}
