//! One connection to a server: what it can, and requests that end.

use std::{sync::Arc, time::Duration};

use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        CancelledNotificationParam, ClientCapabilities, ClientConfig, ClientRequest, CustomRequest,
        CustomResult, ElicitRequestParams, ElicitResult, ErrorCode, Implementation, ProgressToken,
        ProtocolVersion, RequestId, ServerPeerInfo, ServerResult,
    },
    service::{Peer, PeerRequestOptions, RequestContext, ServiceError},
};
use serde_json::{Map, Value, json};
use tokio::{
    runtime::Handle,
    sync::{Semaphore, oneshot, watch},
    time::{Instant, sleep_until, timeout},
};

use super::{
    content::{CallOutcome, Content},
    environment::Redactor,
    error::CallError,
    exchange::{Limits, Patience, Progress, Route},
    http,
    log::clip,
    prompts::PromptMessage,
    state::ServerInfo,
    stdio::BROKEN,
    tap::Seen,
};

/// Requests that may run at one server.
pub(super) const MAX_RUNNING: usize = 64;
/// For the word that a request is not wanted any more.
const CANCELLING: Duration = Duration::from_secs(2);
/// For the reason of an end, once the end is known.
const REASON: Duration = Duration::from_secs(3);
/// Bytes of a server's words in an error.
const MAX_WORDS: usize = 4 * 1024;

/// A connection to a server, until it ends.
pub(super) struct Connection {
    pub(super) info: Arc<ServerInfo>,
    pub(super) seen: Arc<Seen>,
    can: Abilities,
    peer: Peer<RoleClient>,
    running: Semaphore,
    ended: watch::Receiver<Option<Arc<str>>>,
    redactor: Redactor,
    limits: Limits,
}

/// What a server says that it can. What it cannot, it is not asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Abilities {
    pub(super) tools: bool,
    pub(super) resources: bool,
    pub(super) prompts: bool,
}

/// What a connection is made of.
pub(super) struct Parts {
    pub(super) peer: Peer<RoleClient>,
    pub(super) seen: Arc<Seen>,
    pub(super) ended: watch::Receiver<Option<Arc<str>>>,
    pub(super) redactor: Redactor,
    pub(super) limits: Limits,
}

impl Connection {
    pub(super) fn new(parts: Parts) -> Self {
        let Parts { peer, seen, ended, redactor, limits } = parts;
        let (info, can) = peer.peer_info().as_deref().map(about).unwrap_or_default();
        let running = Semaphore::new(MAX_RUNNING);
        Self { info: Arc::new(info), seen, can, peer, running, ended, redactor, limits }
    }

    pub(super) fn can(&self) -> Abilities {
        self.can
    }

    /// Calls a tool by its own name.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        patience: Patience,
        progress: watch::Sender<Option<Progress>>,
    ) -> Result<CallOutcome, CallError> {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.request("tools/call", params, patience, progress).await?;
        CallOutcome::read(answer).map_err(|why| CallError::BadAnswer(why.into()))
    }

    pub(super) async fn read_resource(&self, uri: &str) -> Result<Vec<Content>, CallError> {
        let mut answer = self.ask("resources/read", json!({ "uri": uri })).await?;
        match answer.get_mut("contents").map(Value::take) {
            Some(Value::Array(contents)) => Ok(Content::read_resources(contents).0),
            _ => Err(CallError::BadAnswer("it has no contents".into())),
        }
    }

    pub(super) async fn get_prompt(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Vec<PromptMessage>, CallError> {
        let params = json!({ "name": name, "arguments": arguments });
        let answer = self.ask("prompts/get", params).await?;
        PromptMessage::read_all(answer).map_err(|why| CallError::BadAnswer(why.into()))
    }

    /// Asks something that is answered soon.
    pub(super) async fn ask(
        &self,
        method: &'static str,
        params: Value,
    ) -> Result<Value, CallError> {
        let limit = self.limits.question;
        let patience = Patience { silence: limit, total: limit };
        self.request(method, params, patience, watch::Sender::new(None)).await
    }

    /// Asks, and waits for the answer, the deadline, or the end of the server. Giving up the
    /// future tells the server.
    async fn request(
        &self,
        method: &'static str,
        params: Value,
        patience: Patience,
        progress: watch::Sender<Option<Progress>>,
    ) -> Result<Value, CallError> {
        let total = Instant::now() + patience.total;
        tokio::select! {
            biased;
            answer = self.exchange(method, params, patience, progress) => match answer {
                // The connection knows of its end before anyone knows why.
                Err(CallError::Ended(_)) => Err(CallError::Ended(self.reason_soon().await)),
                other => other,
            },
            why = self.reason() => Err(CallError::Ended(why)),
            () = sleep_until(total) => Err(CallError::TooLong(patience.total)),
        }
    }

    async fn exchange(
        &self,
        method: &'static str,
        params: Value,
        patience: Patience,
        progress: watch::Sender<Option<Progress>>,
    ) -> Result<Value, CallError> {
        // The semaphore is never closed.
        let _permit = self.running.acquire().await.ok();
        let mut heard = progress.subscribe();
        let mut request = CustomRequest::new(method, Some(params));
        request.extensions.insert(Route(progress.clone()));
        let request = ClientRequest::CustomRequest(request);
        let options = PeerRequestOptions::no_options();
        let sent = self.peer.send_request_with_option(request, options).await;
        let mut handle = sent.map_err(|error| self.failure(&error))?;
        let mut pending = Pending {
            peer: &self.peer,
            seen: &self.seen,
            id: Some(handle.id.clone()),
            token: handle.progress_token.clone(),
        };
        loop {
            let silent = Instant::now() + patience.silence;
            tokio::select! {
                biased;
                answer = &mut handle.rx => {
                    pending.id = None;
                    return self.answer(answer);
                }
                // It never fails: `progress` is ours.
                _ = heard.changed() => {}
                () = sleep_until(silent) => return Err(CallError::Silent(patience.silence)),
            }
        }
    }

    fn answer(
        &self,
        answer: Result<Result<ServerResult, ServiceError>, oneshot::error::RecvError>,
    ) -> Result<Value, CallError> {
        let value = match answer {
            Ok(Ok(ServerResult::CustomResult(CustomResult(value)))) => value,
            Ok(Ok(result)) => serde_json::to_value(result)
                .map_err(|error| CallError::BadAnswer(error.to_string().into()))?,
            Ok(Err(error)) => return Err(self.failure(&error)),
            Err(_closed) => return Err(CallError::Ended("".into())),
        };
        match value.get("resultType").and_then(Value::as_str) {
            None | Some("complete") => Ok(value),
            Some("input_required") => {
                Err(CallError::BadAnswer("it asks for input, which it cannot get here".into()))
            }
            Some(_) => Err(CallError::BadAnswer("it is of a kind that was not asked for".into())),
        }
    }

    fn failure(&self, error: &ServiceError) -> CallError {
        match error {
            ServiceError::McpError(error) => {
                let message = self.redactor.clean(&clip(&error.message, MAX_WORDS)).into();
                match error.code.0 {
                    BROKEN => CallError::BadAnswer(message),
                    code => CallError::Refused { code, message },
                }
            }
            ServiceError::TransportSend(error) => {
                CallError::NotSent(http::words(error.error.as_ref(), &self.redactor))
            }
            ServiceError::TransportClosed => CallError::Ended("".into()),
            other => CallError::BadAnswer(self.redactor.clean(&other.to_string()).into()),
        }
    }

    /// Why the connection ended, once it has.
    async fn reason(&self) -> Arc<str> {
        let mut ended = self.ended.clone();
        let why = ended.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
        why.unwrap_or_else(|| "the connection was closed".into())
    }

    async fn reason_soon(&self) -> Arc<str> {
        let why = timeout(REASON, self.reason()).await.ok();
        why.unwrap_or_else(|| "the connection was closed".into())
    }
}

/// A request that the server works on. Dropping it tells the server to stop.
struct Pending<'a> {
    peer: &'a Peer<RoleClient>,
    seen: &'a Seen,
    /// None once it was answered.
    id: Option<RequestId>,
    token: ProgressToken,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.seen.forget(&self.token);
        let (Some(id), Ok(runtime)) = (self.id.take(), Handle::try_current()) else { return };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let reason = Some("it is not wanted any more".to_owned());
            let cancelled = CancelledNotificationParam::new(Some(id), reason);
            // A server that has ended needs no telling.
            timeout(CANCELLING, peer.notify_cancelled(cancelled)).await.ok();
        });
    }
}

fn about(peer: &ServerPeerInfo) -> (ServerInfo, Abilities) {
    let server = peer.server_info.as_ref();
    let short = |text: &str| clip(text, MAX_WORDS);
    let info = ServerInfo {
        name: server.map(|server| short(&server.name)).unwrap_or_default(),
        title: server.and_then(|server| server.title.as_deref()).map(short),
        version: server.map(|server| short(&server.version)).unwrap_or_default(),
        protocol: peer.protocol_version.to_string(),
        instructions: peer.instructions.as_deref().map(|text| clip(text, 64 * 1024)),
    };
    let can = &peer.capabilities;
    let abilities = Abilities {
        tools: can.tools.is_some(),
        resources: can.resources.is_some(),
        prompts: can.prompts.is_some(),
    };
    (info, abilities)
}

/// What we are to a server. It may ask for nothing: sampling, elicitation and roots are not
/// among our abilities, and are refused when it asks all the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Client;

fn refused() -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "this client answers no such request", None)
}

#[expect(deprecated, reason = "servers ask for roots all the same")]
impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("letterpress", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::ListRootsResult, ErrorData> {
        Err(refused())
    }

    async fn create_elicitation(
        &self,
        _request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Err(refused())
    }
}
