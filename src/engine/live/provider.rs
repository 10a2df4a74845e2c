//! Where replies come from.

use std::{fmt, sync::Arc};

use tokio::sync::mpsc::Sender;

use super::{
    recorded::Recorded,
    workbench::{Later, Workbench},
};
use crate::{
    model::stream::StreamEvent,
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
    /// Something in this process that speaks.
    Backend(Arc<dyn Backend>),
}

/// Something in this process that speaks.
pub trait Backend: fmt::Debug + Send + Sync {
    /// Answers a request: everything that comes goes into `events`, the end last. Dropping the
    /// future ends it.
    fn attempt(&self, request: Request, events: Sender<StreamEvent>) -> Later<()>;
}

impl Provider {
    /// It plays recordings, which has to be said on screen.
    #[must_use]
    pub fn is_demo(&self) -> bool {
        matches!(self, Self::Demo(_))
    }

    /// What answers the calls of its replies, where that is not the conversation's own.
    pub(super) fn bench(&self) -> Option<Arc<dyn Workbench>> {
        match self {
            Self::Endpoint(_) | Self::Backend(_) => None,
            Self::Demo(_) => Some(Arc::new(Recorded)),
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
        // The end is among the events.
        match self {
            Self::Endpoint(endpoint) => {
                attempt(&http, &endpoint, &request, &timeouts, &events).await;
            }
            Self::Demo(pace) => {
                demo::play(&request, pace, &events).await;
            }
            Self::Backend(backend) => backend.attempt(request, events).await,
        }
    }
}
