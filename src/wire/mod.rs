//! Providers: the only module that knows HTTP.
//!
//! Bytes become frames ([`frame`]), frames become JSON values, and one state machine a wire
//! turns those into [`StreamEvent`](crate::model::stream::StreamEvent)s. All of that is free
//! of IO and lives in [`Reply`]; [`attempt`] feeds it from a socket, and [`demo`] from
//! recorded bytes.
//!
//! The other way, a [`Request`] becomes the JSON that an [`Endpoint`] understands. Whether a
//! failed request is sent again is decided by [`plan`], which knows no clock.

pub mod demo;
pub mod frame;

mod calls;
mod draft;
mod encoding;
mod endpoint;
mod error;
mod feed;
mod head;
mod http;
mod image;
mod json;
mod models;
mod page;
mod presets;
mod protocol;
mod reconnect;
mod reply;
mod request;
mod retry;
mod time;

pub use draft::BodyEnd;
pub use endpoint::{AddressError, CallIds, Endpoint, Key, Quirks, ReasoningBack, TokenLimitName};
pub use error::LONGEST_WAIT;
pub use feed::{FeedEvent, FeedLimits, feed};
pub use head::Head;
pub use http::{Http, HttpConfig, Timeouts, attempt};
pub use models::{ModelInfo, models, read_models};
pub use page::{IsPrivate, Page, PageError, Pages};
pub use presets::{PRESETS, Preset};
pub use reconnect::{Ended, Reconnect};
pub use reply::{Reply, ReplySource};
pub use request::{Request, ThinkingLevel, ToolSpec, Turn, body};
pub use retry::{Plan, TRIES, plan};
