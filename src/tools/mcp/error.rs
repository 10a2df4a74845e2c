//! Why a request came to nothing.

use std::{fmt, sync::Arc, time::Duration};

use super::launch::Acceptance;

/// Why a request came to nothing. Its words are for the user and for the model.
#[derive(Clone, Debug, PartialEq)]
pub enum CallError {
    /// No server of this name is configured, or it is disabled.
    UnknownServer(Arc<str>),
    /// No tool of this name is offered.
    UnknownTool(Arc<str>),
    /// The server was not started, because the user has not accepted what would be started.
    NotAccepted(Arc<Acceptance>),
    /// The tool is not the one that was accepted.
    ToolNotAccepted {
        /// The tool's own name.
        tool: Arc<str>,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The arguments are no object.
    BadArguments,
    /// The server does not run.
    NotRunning(Arc<str>),
    /// The server ended, or its connection did, while the request ran.
    Ended(Arc<str>),
    /// The server answered with an error of the protocol.
    Refused {
        /// The code of JSON-RPC.
        code: i32,
        /// The server's words.
        message: Arc<str>,
    },
    /// The request could not be sent, or the connection failed before its answer came.
    NotSent(Arc<str>),
    /// The server said nothing for this long.
    Silent(Duration),
    /// The request took longer than any may.
    TooLong(Duration),
    /// The answer is not what the protocol says.
    BadAnswer(Arc<str>),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownServer(name) => write!(f, "no server is called {name}"),
            Self::UnknownTool(name) => write!(f, "no tool is called {name}"),
            Self::NotAccepted(acceptance) => write!(
                f,
                "the server {} was not started: the user has not accepted it",
                acceptance.launch.server
            ),
            Self::ToolNotAccepted { tool, why } => {
                write!(f, "the tool {tool} was not called: {why}")
            }
            Self::BadArguments => f.write_str("the arguments are not an object"),
            Self::NotRunning(why) => write!(f, "the server does not run: {why}"),
            Self::Ended(why) => write!(f, "the server ended before it answered: {why}"),
            Self::Refused { code, message } => write!(f, "the server refused: {message} ({code})"),
            Self::NotSent(why) => write!(f, "the request could not be sent: {why}"),
            Self::Silent(time) => write!(f, "the server said nothing for {} s", seconds(*time)),
            Self::TooLong(time) => write!(f, "the request took longer than {} s", seconds(*time)),
            Self::BadAnswer(why) => write!(f, "the server's answer cannot be read: {why}"),
        }
    }
}

impl std::error::Error for CallError {}

fn seconds(time: Duration) -> f64 {
    // Tenths are enough for a reader.
    (time.as_secs_f64() * 10.0).round() / 10.0
}
