//! Tools of servers among the others.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::{mpsc, watch};

use crate::{
    engine::live::workbench::Tool,
    model::ImageData,
    presenter::Touch,
    tools::{
        OutputPart, Progress, Stop, Stream, ToolOutput, clipped,
        mcp::{self, CallOutcome, Content, Permission, Servers},
        plain_text,
        policy::Rule,
        remote::{Remote, RemoteCall},
    },
    wire,
};

/// The tools that servers offer now.
pub(super) fn tools(servers: &Servers) -> impl Iterator<Item = Tool> + use<> {
    servers.tools().into_iter().map(|offered| Tool {
        spec: wire::ToolSpec {
            name: offered.name,
            description: offered.description.into(),
            parameters: offered.input_schema,
        },
        touch: Touch::Anything,
    })
}

/// What the configuration lets run without a question. A tool that hides something in its
/// definition is always asked about.
pub(super) fn rules(servers: &Servers) -> impl Iterator<Item = Rule> + use<> {
    let is_free = |offered: &mcp::OfferedTool| {
        offered.permission == Some(Permission::Allow) && offered.hidden == 0
    };
    let free = servers.tools().into_iter().filter(is_free);
    free.map(|offered| Rule::for_arguments(&offered.name, None))
}

/// Calls the tools of servers.
pub(super) struct Remotes(pub(super) Servers);

impl Remote for Remotes {
    fn call(
        &self,
        tool: String,
        arguments: Value,
        stop: Stop,
        progress: mpsc::Sender<Progress>,
    ) -> RemoteCall<'_> {
        Box::pin(call(self.0.clone(), tool, arguments, stop, progress))
    }
}

async fn call(
    servers: Servers,
    tool: String,
    arguments: Value,
    mut stop: Stop,
    progress: mpsc::Sender<Progress>,
) -> ToolOutput {
    let (newest, mut changes) = watch::channel(None::<mcp::Progress>);
    let calling = servers.call(&tool, arguments, newest);
    let telling = async {
        while changes.changed().await.is_ok() {
            let note = changes.borrow_and_update().as_ref().map(words);
            if let Some(note) = note {
                // When nobody listens any more, the call was told to stop.
                drop(progress.send(Progress::Note(note.into())).await);
            }
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        () = stop.due() => ToolOutput::error("[stopped by the user]"),
        outcome = calling => match outcome {
            Ok(outcome) => output(outcome),
            Err(error) => ToolOutput::error(&error.to_string()),
        },
        () = telling => ToolOutput::error("[nothing came of it]"),
    }
}

/// How far a server is, as it says.
fn words(progress: &mcp::Progress) -> String {
    let part = match progress.total {
        Some(total) => format!("{} of {total}", progress.done),
        None => progress.done.to_string(),
    };
    match &progress.message {
        Some(message) => format!("{part} · {}", mcp::reveal(message).text),
        None => part,
    }
}

fn output(outcome: CallOutcome) -> ToolOutput {
    let shown = outcome.text();
    let told = clipped(&plain_text(&shown));
    let pictures = outcome.content.into_iter().filter_map(|content| match content {
        Content::Image(image) => match image.data {
            ImageData::Bytes(bytes) => {
                Some(OutputPart::Image { media_type: image.media_type, bytes })
            }
            ImageData::Address(_) | ImageData::Unusable(_) => None,
        },
        _ => None,
    });
    let text = OutputPart::Text { stream: Stream::Out, text: shown.into() };
    let parts: Vec<_> = std::iter::once(text).chain(pictures).collect();
    let is_silent = told.trim().is_empty();
    let text: Arc<str> = if is_silent { "(no text)".into() } else { told.into() };
    ToolOutput { text, parts, is_error: outcome.is_error, ..ToolOutput::default() }
}
