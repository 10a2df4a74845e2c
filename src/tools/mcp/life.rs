//! From a start to an end: a program or an address, and the connection to it.

use std::{sync::Arc, time::Duration};

use rmcp::{
    RoleClient, ServiceExt as _,
    service::{ClientInitializeError, RunningService},
    transport::Transport,
};
use tokio::{
    sync::watch,
    time::{error::Elapsed, timeout},
};

use super::{
    connection::{Client, Connection, Parts},
    entry::Entry,
    http,
    launch::{How, Start},
    log::clip,
    process::{Process, Program, exit_words},
    stdio::Stdio,
    tap::{Seen, Tap},
};

/// For what was written before an end to be read.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A server that runs. Dropping it ends it at once.
pub(super) struct Life {
    service: RunningService<RoleClient, Client>,
    process: Option<Process>,
    seen: Arc<Seen>,
    ended: watch::Sender<Option<Arc<str>>>,
    parting: Duration,
}

impl Life {
    /// Starts a server and greets it.
    ///
    /// # Errors
    /// Why it does not answer.
    pub(super) async fn begin(
        start: &Start,
        entry: &Entry,
    ) -> Result<(Self, Arc<Connection>), String> {
        let Start { how, redactor, .. } = start;
        let seen = Seen::new(Arc::clone(&entry.log), redactor.clone());
        let limit = entry.shared.limits.start;
        let (service, process) = match how {
            How::Program { path, args, env, cwd } => {
                let program = Program { path, args, env, cwd: cwd.as_deref() };
                let environment = &entry.shared.environment;
                let (mut process, stdin, stdout) =
                    Process::start(&program, environment, &entry.log, redactor)
                        .map_err(|error| format!("{} cannot be run: {error}", path.display()))?;
                let stdio = Stdio::new(stdout, stdin, Arc::clone(&entry.log), redactor.clone());
                let greeted = timeout(limit, greet(Tap::new(stdio, Arc::clone(&seen)))).await;
                let is_late = greeted.is_err();
                match greeting(greeted, limit, start) {
                    Ok(service) => (service, Some(process)),
                    Err(why) if is_late => return Err(why),
                    // Why a program ended says more than that it did not answer.
                    Err(why) => match timeout(LAST_WORDS, process.ended()).await {
                        Ok(status) => return Err(exit_words(status, &entry.log)),
                        Err(_) => return Err(why),
                    },
                }
            }
            How::Address { url, headers } => {
                let transport = http::transport(url, headers, &entry.shared.network)?;
                let greeted =
                    timeout(limit, greet(Tap::new(transport, Arc::clone(&seen)).fragile())).await;
                (greeting(greeted, limit, start)?, None)
            }
        };
        let (ended, reasons) = watch::channel(None);
        let connection = Connection::new(Parts {
            peer: service.peer().clone(),
            seen: Arc::clone(&seen),
            ended: reasons,
            redactor: redactor.clone(),
            limits: entry.shared.limits,
        });
        let parting = entry.shared.limits.parting;
        Ok((Self { service, process, seen, ended, parting }, Arc::new(connection)))
    }

    /// Waits for the server's own end, and tells everybody who waits for an answer. Giving up
    /// the future leaves the server as it is.
    pub(super) async fn ended(&mut self, entry: &Entry) -> Arc<str> {
        let seen = Arc::clone(&self.seen);
        let why: Arc<str> = match &mut self.process {
            None => {
                seen.over().await;
                seen.last_words().unwrap_or_else(|| "the connection was closed".into())
            }
            Some(process) => {
                let status = tokio::select! {
                    status = process.ended() => status,
                    () = seen.over() => process.end(self.parting).await,
                };
                timeout(LAST_WORDS, seen.over()).await.ok();
                exit_words(status, &entry.log).into()
            }
        };
        self.ended.send_replace(Some(Arc::clone(&why)));
        why
    }

    /// Ends the server in good order.
    pub(super) async fn stop(mut self) {
        self.ended.send_replace(Some("it was stopped".into()));
        // Closes the program's input, or ends the session at the address.
        self.service.close_with_timeout(self.parting).await.ok();
        if let Some(mut process) = self.process.take() {
            process.end(self.parting).await;
        }
    }
}

type Greeted = Result<RunningService<RoleClient, Client>, ClientInitializeError>;

async fn greet<T: Transport<RoleClient> + 'static>(tap: Tap<T>) -> Greeted {
    Client.serve(tap).await
}

fn greeting(
    greeted: Result<Greeted, Elapsed>,
    limit: Duration,
    start: &Start,
) -> Result<RunningService<RoleClient, Client>, String> {
    let error = match greeted {
        Ok(Ok(service)) => return Ok(service),
        Ok(Err(error)) => error,
        Err(_elapsed) => return Err(format!("it did not answer within {} s", limit.as_secs())),
    };
    let words = match &error {
        ClientInitializeError::TransportError { error, .. } => {
            return Err(http::words(error.error.as_ref(), &start.redactor).as_ref().to_owned());
        }
        ClientInitializeError::JsonRpcError(error) => {
            format!("it refused to begin: {} ({})", error.message, error.code.0)
        }
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection".to_owned(),
        // The others print what they got, which may be anything.
        _ => "it does not speak the protocol".to_owned(),
    };
    Err(start.redactor.clean(&clip(&words, 1024)))
}
