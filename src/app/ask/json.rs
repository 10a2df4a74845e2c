//! The answer as one JSON object a line, for programs.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use super::{Printer, told::Told};
use crate::{
    app::export::wire::{Message, Usage},
    model::{
        self, Role, Snapshot,
        stream::{EndState, Interruption, StreamError},
    },
};

/// Writes one object a line.
pub(super) struct Json;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event<'a> {
    Text { delta: &'a str },
    Reasoning { delta: &'a str },
    ToolCall { id: &'a str, name: &'a str, arguments: &'a Value },
    ToolResult { id: &'a str, is_error: bool, text: &'a str },
    Warning { code: &'a str },
    End(Box<End<'a>>),
}

#[derive(Serialize)]
struct End<'a> {
    state: &'a str,
    reason: Option<&'a str>,
    error: Option<Failure<'a>>,
    message: Option<Message<'a>>,
    usage: Option<Usage>,
}

#[derive(Serialize)]
struct Failure<'a> {
    class: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
}

impl Printer for Json {
    fn tell(&mut self, told: &Told<'_>, out: &mut dyn Write) -> io::Result<()> {
        let event = match told {
            Told::Text { delta, .. } => Event::Text { delta },
            Told::Reasoning { delta } => Event::Reasoning { delta },
            Told::Call(call) => {
                Event::ToolCall { id: &call.id, name: &call.name, arguments: &call.arguments }
            }
            Told::Result(call, result) => Event::ToolResult {
                id: &call.id,
                is_error: result.is_error,
                text: &result.output.source,
            },
            Told::Warning(code) => Event::Warning { code: code.name() },
        };
        line(&event, out)
    }

    fn end(&mut self, last: &Snapshot, out: &mut dyn Write) -> io::Result<()> {
        let end = last.end.as_deref();
        let (reason, error) = end.map_or((None, None), reason);
        let spoken = last.messages().rev().find(|message| message.role == Role::Assistant);
        let event = End {
            // Without an end the prompt was not even taken.
            state: end.map_or("failed", EndState::name),
            reason,
            error,
            message: spoken.map(|message| Message::from(&**message)),
            usage: (last.usage != model::Usage::default()).then(|| last.usage.into()),
        };
        line(&Event::End(Box::new(event)), out)
    }
}

fn reason(end: &EndState) -> (Option<&str>, Option<Failure<'_>>) {
    match end {
        EndState::Complete { reason, .. } => (Some(reason.name()), None),
        EndState::Incomplete => (Some("eof"), None),
        EndState::Interrupted { cause: Interruption::Io(words), .. } => {
            (Some("io"), Some(Failure::new("io", words)))
        }
        EndState::Interrupted { cause: Interruption::Stalled, .. } => {
            (Some("stalled"), Some(Failure::new("stalled", "nothing came for too long")))
        }
        EndState::Failed(error) => (Some(error.class.name()), Some(Failure::of(error))),
        EndState::Cancelled => (None, None),
    }
}

impl<'a> Failure<'a> {
    fn new(class: &'a str, message: &'a str) -> Self {
        Self { class, message, status: None, code: None, request_id: None }
    }

    fn of(error: &'a StreamError) -> Self {
        Self {
            class: error.class.name(),
            message: &error.message,
            status: error.status,
            code: error.code.as_deref(),
            request_id: error.request_id.as_deref(),
        }
    }
}

fn line(event: &Event<'_>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, event)?;
    out.write_all(b"\n")
}
