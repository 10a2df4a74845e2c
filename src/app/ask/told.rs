//! What is new in a snapshot, for those who write it down once and for all.

use std::collections::BTreeMap;

use crate::model::{
    Entry, MessageId, Part, Role, Snapshot, ToolCall, ToolResult, ToolState, stream::WarningCode,
};

/// Something new.
#[derive(Debug)]
pub(super) enum Told<'a> {
    /// More of a text. The first piece of a text says so.
    Text { delta: &'a str, is_first: bool },
    /// More reasoning.
    Reasoning { delta: &'a str },
    /// A call is complete.
    Call(&'a ToolCall),
    /// A call was answered.
    Result(&'a ToolCall, &'a ToolResult),
    /// Something was met and survived.
    Warning(WarningCode),
}

/// Remembers what was told. Snapshots may be left out: the next one holds what they held.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// By message and by the key of the part.
    parts: BTreeMap<(MessageId, u32), Progress>,
    warnings: usize,
    /// Messages before this one are told in full.
    from: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    bytes: usize,
    has_call: bool,
    has_result: bool,
}

impl Reader {
    /// What is new since the last call.
    pub(super) fn read<'a>(&mut self, snapshot: &'a Snapshot) -> Vec<Told<'a>> {
        let mut told = Vec::new();
        for index in self.from..snapshot.len() {
            if let Some(entry) = snapshot.entry(index) {
                self.read_entry(entry, &mut told);
            }
        }
        let warnings = snapshot.warnings.iter().skip(self.warnings);
        told.extend(warnings.map(|warning| Told::Warning(warning.code)));
        self.warnings = snapshot.warnings.len();
        self.from = snapshot.entries.len();
        told
    }

    fn read_entry<'a>(&mut self, entry: &'a Entry, told: &mut Vec<Told<'a>>) {
        if entry.message.role != Role::Assistant {
            return;
        }
        for (part, key) in entry.message.parts.iter().zip(entry.keys.iter()) {
            let known = self.parts.entry((entry.message.id, *key)).or_default();
            known.read(part, told);
        }
    }
}

impl Progress {
    fn read<'a>(&mut self, part: &'a Part, told: &mut Vec<Told<'a>>) {
        match part {
            Part::Text(text) => {
                let is_first = self.bytes == 0;
                if let Some(delta) = self.more(&text.source) {
                    told.push(Told::Text { delta, is_first });
                }
            }
            Part::Thinking(thinking) => {
                if let Some(delta) = self.more(&thinking.text.source) {
                    told.push(Told::Reasoning { delta });
                }
            }
            Part::ToolCall(call) => self.read_call(call, told),
            Part::Image(_) | Part::ToolResult(_) | Part::Notice(_) | Part::Raw(_) => {}
        }
    }

    /// What follows the part of a text that was told already. A text that lost some of its
    /// end has nothing new.
    fn more<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let delta = text.get(self.bytes..).filter(|delta| !delta.is_empty())?;
        self.bytes = text.len();
        Some(delta)
    }

    fn read_call<'a>(&mut self, call: &'a ToolCall, told: &mut Vec<Told<'a>>) {
        if call.state == ToolState::Receiving {
            return;
        }
        if !std::mem::replace(&mut self.has_call, true) {
            told.push(Told::Call(call));
        }
        // What there is of a result before the end is output of a call that runs.
        let has_ended = !matches!(call.state, ToolState::Waiting | ToolState::Running);
        if let Some(result) = call.result.as_ref().filter(|_| has_ended)
            && !std::mem::replace(&mut self.has_result, true)
        {
            told.push(Told::Result(call, result));
        }
    }
}
