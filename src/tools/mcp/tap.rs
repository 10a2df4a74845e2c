//! Stands between a transport and the protocol: takes out what floods, and what has to be
//! seen in order.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use rmcp::{
    RoleClient,
    model::{
        GetExtensions as _, GetMeta as _, JsonRpcMessage, ProgressNotificationParam, ProgressToken,
        ServerNotification,
    },
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::sync::watch;

use super::{
    environment::Redactor,
    exchange::{Progress, Route},
    log::{Log, LogSource, clip},
};

/// Requests of a server that may wait for our answer.
const MAX_ASKED: usize = 64;
/// Bytes of a progress message.
const MAX_MESSAGE: usize = 1024;

/// What the tap has seen, shared with the connection.
pub(super) struct Seen {
    routes: Mutex<HashMap<ProgressToken, Route>>,
    /// How often a list of tools was said to have changed.
    pub(super) tools_changed: watch::Sender<u64>,
    /// Nothing more comes.
    is_over: watch::Sender<bool>,
    /// What was said last, when that was an error about no request in particular.
    last_words: Mutex<Option<Arc<str>>>,
    log: Arc<Log>,
    redactor: Redactor,
}

impl Seen {
    pub(super) fn new(log: Arc<Log>, redactor: Redactor) -> Arc<Self> {
        Arc::new(Self {
            routes: Mutex::default(),
            tools_changed: watch::Sender::new(0),
            is_over: watch::Sender::new(false),
            last_words: Mutex::default(),
            log,
            redactor,
        })
    }

    /// Waits until nothing more comes.
    pub(super) async fn over(&self) {
        // It never fails: the sender is ours.
        self.is_over.subscribe().wait_for(|is_over| *is_over).await.ok();
    }

    pub(super) fn last_words(&self) -> Option<Arc<str>> {
        self.last_words.lock().clone()
    }

    /// The request with this token has ended.
    pub(super) fn forget(&self, token: &ProgressToken) {
        self.routes.lock().remove(token);
    }

    /// Takes a notification that goes no further.
    #[expect(deprecated, reason = "servers log all the same")]
    fn takes(&self, notification: &ServerNotification) -> bool {
        match notification {
            ServerNotification::ProgressNotification(progress) => self.progress(&progress.params),
            ServerNotification::ToolListChangedNotification(_) => {
                self.tools_changed.send_modify(|times| *times += 1);
            }
            ServerNotification::LoggingMessageNotification(message) => {
                let data = &message.params.data;
                let text = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
                self.log.push(LogSource::Message, &self.redactor.clean(&text));
            }
            // Its peer may take back what it asked for, which the protocol sees to.
            ServerNotification::CancelledNotification(_) => return false,
            _ => {}
        }
        true
    }

    fn progress(&self, params: &ProgressNotificationParam) {
        let Some(Route(route)) = self.routes.lock().get(&params.progress_token).cloned() else {
            return;
        };
        let message = params.message.as_deref().map(|text| clip(text, MAX_MESSAGE).into());
        let progress = Progress { done: params.progress, total: params.total, message };
        route.send_replace(Some(progress));
    }
}

/// A transport with a tap.
pub(super) struct Tap<T> {
    inner: T,
    seen: Arc<Seen>,
    /// Requests of the server that were passed on and not answered yet.
    asked: usize,
    /// An error about no request in particular ends the connection.
    is_fragile: bool,
}

impl<T> Tap<T> {
    pub(super) fn new(inner: T, seen: Arc<Seen>) -> Self {
        Self { inner, seen, asked: 0, is_fragile: false }
    }

    /// Over HTTP an error about no request in particular is the answer to one all the same, and
    /// nobody can say to which: servers that forgot the session answer like that.
    pub(super) fn fragile(mut self) -> Self {
        self.is_fragile = true;
        self
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Tap<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        match &message {
            JsonRpcMessage::Request(request) => {
                // Before the request leaves, so that no progress is missed.
                let route = request.request.extensions().get::<Route>().cloned();
                let token = request.request.get_meta().get_progress_token();
                if let (Some(route), Some(token)) = (route, token) {
                    self.seen.routes.lock().insert(token, route);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {
                self.asked = self.asked.saturating_sub(1);
            }
            JsonRpcMessage::Notification(_) => {}
        }
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let Some(message) = self.inner.receive().await else {
                self.seen.is_over.send_replace(true);
                return None;
            };
            match &message {
                JsonRpcMessage::Notification(notification)
                    if self.seen.takes(&notification.notification) => {}
                JsonRpcMessage::Request(_) if self.asked >= MAX_ASKED => {
                    self.seen.log.push(
                        LogSource::Note,
                        "it asks faster than it reads: a question of it was dropped",
                    );
                }
                JsonRpcMessage::Request(_) => {
                    self.asked += 1;
                    return Some(message);
                }
                JsonRpcMessage::Error(error) if error.id.is_none() => {
                    let words = clip(&error.error.message, MAX_MESSAGE);
                    let words = format!("it answered: {}", self.seen.redactor.clean(&words));
                    self.seen.log.push(LogSource::Note, &words);
                    if self.is_fragile {
                        *self.seen.last_words.lock() = Some(words.into());
                        self.seen.is_over.send_replace(true);
                        return None;
                    }
                }
                JsonRpcMessage::Notification(_)
                | JsonRpcMessage::Response(_)
                | JsonRpcMessage::Error(_) => return Some(message),
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

impl<T> Drop for Tap<T> {
    fn drop(&mut self) {
        self.seen.is_over.send_replace(true);
    }
}
