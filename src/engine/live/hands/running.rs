//! A call that runs, and the last of what it said.

use std::sync::Arc;

use serde_json::Value;

use super::super::workbench::Said;
use crate::{
    model::{Output, ToolResult},
    presenter::Call,
    tools::Stopper,
};

/// Bytes of output that are shown while a call runs. All of it is looked at for each frame
/// in which it changed.
const SHOWN: usize = 16 * 1024;

/// A call that runs.
#[derive(Debug)]
pub(in crate::engine::live) struct Running {
    pub(in crate::engine::live) call: Arc<Call>,
    stopper: Stopper,
    /// The end of the output, and up to as much again before it.
    tail: Vec<u8>,
    /// Bytes before it.
    passed: u64,
    note: Option<Arc<str>>,
    has_changed: bool,
}

impl Running {
    pub(super) fn new(call: Arc<Call>, stopper: Stopper) -> Self {
        let (tail, note) = (Vec::new(), None);
        Self { call, stopper, tail, passed: 0, note, has_changed: false }
    }

    /// Takes what it said. True when that can be seen.
    pub(super) fn hear(&mut self, said: Said) -> bool {
        match said {
            Said::Output(bytes) if bytes.is_empty() => return false,
            Said::Output(bytes) => {
                self.tail.extend_from_slice(&bytes);
                if self.tail.len() > 2 * SHOWN {
                    let passed = self.tail.len() - SHOWN;
                    self.tail.drain(..passed);
                    self.passed += passed as u64;
                }
            }
            Said::Note(note) => self.note = Some(note),
        }
        self.has_changed = true;
        true
    }

    pub(in crate::engine::live) fn stop(&self) {
        self.stopper.stop();
    }

    /// What is shown of its output, if that is not what was shown before.
    pub(in crate::engine::live) fn look(&mut self) -> Option<ToolResult> {
        if !std::mem::take(&mut self.has_changed) {
            return None;
        }
        let over = self.tail.len().saturating_sub(SHOWN);
        // From the start of a line, so that no colour code is cut in two.
        let start = match memchr::memchr(b'\n', self.tail.get(over..)?) {
            Some(end) if over > 0 => over + end + 1,
            _ => over,
        };
        let mut text = String::from_utf8_lossy(self.tail.get(start..)?).into_owned();
        if let Some(note) = &self.note {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(note);
        }
        let omitted = self.passed + start as u64;
        Some(ToolResult {
            call_id: Arc::clone(&self.call.id),
            tool_name: Arc::clone(&self.call.name),
            is_error: false,
            output: Output { omitted, ..Output::plain(text) },
            told: None,
            images: Vec::new(),
            details: Value::Null,
        })
    }
}
