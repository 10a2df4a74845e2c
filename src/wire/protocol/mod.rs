//! The state machines of the wires: JSON values in, a draft written on.

mod anthropic;
mod chat;
mod gemini;
mod ollama;
mod responses;

use serde_json::Value;

use super::{calls::Mint, draft::Draft};
use crate::model::stream::Wire;

/// What a value means for the rest of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// More may follow.
    Continue,
    /// This was the last one: the reply is over whatever else is sent.
    Over,
}

/// One wire's reading of a stream.
pub(super) trait Protocol: Send {
    /// Takes one value. `event` is the name of the server-sent event, or `message`.
    fn value(&mut self, event: &str, value: Value, draft: &mut Draft) -> Next;

    /// Closes every block that is still open.
    fn close(&mut self, draft: &mut Draft);
}

/// The machine of a wire.
pub(super) fn of(wire: Wire, mint: Mint) -> Box<dyn Protocol> {
    match wire {
        Wire::Chat => Box::new(chat::Chat::new(mint)),
        Wire::Responses => Box::new(responses::Responses::new(mint)),
        Wire::Anthropic => Box::new(anthropic::Anthropic::new(mint)),
        Wire::Ollama => Box::new(ollama::Ollama::new(mint)),
        Wire::Gemini => Box::new(gemini::Gemini::new(mint)),
    }
}
