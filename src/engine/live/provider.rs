//! Where replies come from.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use tokio::sync::mpsc::Sender;

use crate::{
    model::{Output, ToolResult, stream::StreamEvent},
    presenter::{Call, Outcome, Touch},
    wire::{
        Endpoint, Http, Request, Timeouts, attempt,
        demo::{self, Pace},
    },
};

/// Where replies come from.
#[derive(Clone, Debug)]
pub enum Provider {
    /// A server.
    Endpoint(Arc<Endpoint>),
    /// Recordings that are part of the program.
    Demo(Pace),
}

impl Provider {
    /// It plays recordings, which has to be said on screen.
    #[must_use]
    pub fn is_demo(&self) -> bool {
        matches!(self, Self::Demo(_))
    }

    /// What answers the calls of its replies.
    pub(super) fn answers(&self) -> Answers {
        match self {
            Self::Endpoint(_) => Answers::None,
            Self::Demo(_) => Answers::Recorded,
        }
    }

    /// Sends a request once; everything that comes goes into `events`.
    pub(super) async fn attempt(
        self,
        http: Http,
        request: Request,
        timeouts: Timeouts,
        events: Sender<StreamEvent>,
    ) {
        let _end = match self {
            Self::Endpoint(endpoint) => {
                attempt(&http, &endpoint, &request, &timeouts, &events).await
            }
            Self::Demo(pace) => demo::play(&request, pace, &events).await,
        };
    }
}

/// What answers the calls of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Answers {
    /// Nothing: there are no tools, and the model is told so.
    #[default]
    None,
    /// The recording that holds the call holds its result too. Nothing is run.
    Recorded,
}

impl Answers {
    pub(super) fn tools(self) -> BTreeMap<Arc<str>, Touch> {
        match self {
            Self::None => BTreeMap::new(),
            Self::Recorded => BTreeMap::from([(demo::RECORDED_TOOL.into(), Touch::Nothing)]),
        }
    }

    pub(super) fn run(self, call: &Call) -> Outcome {
        match self {
            Self::None => Outcome::Failed("no tool of this name is available".into()),
            Self::Recorded => Outcome::Finished(Arc::new(ToolResult {
                call_id: Arc::clone(&call.id),
                tool_name: Arc::clone(&call.name),
                is_error: false,
                output: Output::plain(demo::RECORDED_RESULT),
                images: Vec::new(),
                details: Value::Null,
            })),
        }
    }
}
