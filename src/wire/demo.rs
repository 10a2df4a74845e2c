//! The demo provider: recorded replies, read like any other, at a natural pace.
//!
//! It shows the program at its work without a key and without a network. Whoever shows it
//! says so on screen.

use std::time::Duration;

use tokio::{sync::mpsc::Sender, time::sleep};

use super::{
    draft::BodyEnd,
    head::Head,
    http::seed,
    reply::{Reply, ReplySource},
    request::Request,
};
use crate::model::{
    Part, Role,
    stream::{EndState, StreamEvent, Wire},
};

/// The name of the provider, of its host, and of its model.
pub const NAME: &str = "demo";

/// How fast a recording is played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// As a quick model would write.
    #[default]
    Natural,
    /// At once, for measuring and testing.
    AtOnce,
}

/// A recorded reply.
#[derive(Clone, Copy, Debug)]
pub struct Recording {
    /// The language it was recorded in.
    pub wire: Wire,
    /// The body of the response.
    pub body: &'static [u8],
}

/// Calls a tool to look at the folder.
pub const LOOK: Recording = Recording {
    wire: Wire::Anthropic,
    body: include_bytes!("../../assets/demo/look.anthropic.sse"),
};
/// Answers after the look: a table and code.
pub const ANSWER: Recording = Recording {
    wire: Wire::Anthropic,
    body: include_bytes!("../../assets/demo/answer.anthropic.sse"),
};
/// A long answer.
pub const LONG: Recording =
    Recording { wire: Wire::Chat, body: include_bytes!("../../assets/demo/long.openai.sse") };
/// A short answer, with reasoning.
pub const SHORT: Recording =
    Recording { wire: Wire::Ollama, body: include_bytes!("../../assets/demo/short.ollama.ndjson") };

/// The name that the recorded call has where there is no tool to list a folder.
pub const RECORDED_TOOL: &str = "ls";
/// Names by which a tool that lists a folder may go.
const LISTING_TOOLS: [&str; 6] = ["ls", "list", "list_dir", "list_directory", "list_files", "LS"];

/// What the recorded call is answered where there is no tool to run it.
pub const RECORDED_RESULT: &str = "Cargo.toml\nREADME.md\nassets/\nshaders/\nsrc/\ntests/";

/// The recording that answers a request: a look around and an answer first, then a long
/// answer, then a short one, and round again.
#[must_use]
pub fn recording(request: &Request) -> Recording {
    let Some(last) = request.turns.last() else { return LOOK };
    let has_call = last.message.parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
    if last.message.role == Role::Assistant && has_call {
        return ANSWER;
    }
    let asked = request.turns.iter().filter(|turn| turn.message.role == Role::User).count();
    [SHORT, LOOK, LONG][asked % 3]
}

/// Plays the reply to a request, and returns how it ended. Dropping the future stops it.
/// None when nobody listens to `events` any more.
pub async fn play(request: &Request, pace: Pace, events: &Sender<StreamEvent>) -> Option<EndState> {
    let recording = recording(request);
    let body = with_tool_of(request, recording.body);
    let source = ReplySource { wire: recording.wire, host: NAME.into(), seed: seed() };
    let mut reply = Reply::new(&source, Head { status: 200, ..Head::default() });
    let mut batch = Vec::new();
    pause(pace, Duration::from_millis(450)).await;
    for (index, piece) in body.split_inclusive(|byte| *byte == b'\n').enumerate() {
        reply.feed(piece, &mut batch);
        if !batch.is_empty() {
            if let Some(end) = pass(&mut batch, events).await? {
                return Some(end);
            }
            pause(pace, beat(index)).await;
        }
    }
    reply.finish(BodyEnd::Eof, &mut batch);
    pass(&mut batch, events).await?
}

/// Hands over events; the inner value is the end, when it is among them.
async fn pass(
    batch: &mut Vec<StreamEvent>,
    events: &Sender<StreamEvent>,
) -> Option<Option<EndState>> {
    for event in batch.drain(..) {
        let end = match &event {
            StreamEvent::End(end) => Some(end.clone()),
            _ => None,
        };
        if events.send(event).await.is_err() {
            return None;
        }
        if end.is_some() {
            return Some(end);
        }
    }
    Some(None)
}

/// The recording with the name of the tool that is there to list a folder.
fn with_tool_of(request: &Request, body: &'static [u8]) -> Vec<u8> {
    let tools = request.tools.iter().map(|tool| &*tool.name);
    let tool = tools.into_iter().find(|name| LISTING_TOOLS.contains(name));
    let text = String::from_utf8_lossy(body);
    let from = format!("\"name\":\"{RECORDED_TOOL}\"");
    let to = format!("\"name\":\"{}\"", tool.unwrap_or(RECORDED_TOOL));
    text.replace(&from, &to).into_bytes()
}

/// The time between two events: about seventy a second, not quite even.
fn beat(index: usize) -> Duration {
    let spread = (index.wrapping_mul(2_654_435_761) >> 7) % 15;
    Duration::from_millis(7 + spread as u64)
}

async fn pause(pace: Pace, time: Duration) {
    if pace == Pace::Natural {
        sleep(time).await;
    }
}
