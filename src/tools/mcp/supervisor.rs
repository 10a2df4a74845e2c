//! One task a server: starts it when it is needed, sees it end, starts it again.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{Instant, sleep},
};

use super::{
    connection::Connection, entry::Entry, error::CallError, launch::Start, life::Life,
    log::LogSource, state::ServerState,
};

/// Those who wait for a server to answer.
const MAX_WAITING: usize = 256;
/// Between two looks at tools that are said to change all the time.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Gets the connection, or why there is none.
pub(super) type Waiter = oneshot::Sender<Result<Arc<Connection>, CallError>>;

/// What a supervisor is told.
pub(super) enum Order {
    /// The server is needed.
    Start(Waiter),
    /// It is not; answered when it has ended.
    Stop(oneshot::Sender<()>),
}

/// Sees to one server. Ends, and ends the server, when nobody can give orders any more.
pub(super) struct Supervisor {
    entry: Arc<Entry>,
    orders: mpsc::Receiver<Order>,
    /// When the server ended by itself, within the time that counts.
    ends: VecDeque<Instant>,
    waiting: Vec<Waiter>,
}

/// How a start went.
enum Started {
    Up(Box<Life>, Arc<Connection>),
    /// It has to be accepted first.
    Unaccepted(CallError),
    Failed(Arc<str>),
    Stopped,
}

impl Supervisor {
    pub(super) fn new(entry: Arc<Entry>, orders: mpsc::Receiver<Order>) -> Self {
        Self { entry, orders, ends: VecDeque::new(), waiting: Vec::new() }
    }

    pub(super) async fn run(mut self) {
        while let Some(order) = self.orders.recv().await {
            match order {
                Order::Start(waiter) => {
                    self.wait(waiter);
                    self.live().await;
                }
                Order::Stop(done) => self.stopped(Some(done)),
            }
        }
    }

    fn wait(&mut self, waiter: Waiter) {
        self.waiting.retain(|waiter| !waiter.is_closed());
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push(waiter);
        } else {
            answer(waiter, Err(CallError::NotRunning("too many wait for it".into())));
        }
    }

    fn answer_all(&mut self, result: &Result<Arc<Connection>, CallError>) {
        for waiter in self.waiting.drain(..) {
            answer(waiter, result.clone());
        }
    }

    /// The user stopped it: what happened before does not count any more.
    fn stopped(&mut self, done: Option<oneshot::Sender<()>>) {
        self.ends.clear();
        self.entry.set_state(ServerState::Stopped);
        self.answer_all(&Err(CallError::NotRunning("it was stopped".into())));
        if let Some(done) = done {
            // Whoever asked may not wait for the answer.
            done.send(()).ok();
        }
    }

    fn failed(&mut self, why: &Arc<str>) {
        self.entry.log.push(LogSource::Note, why);
        self.entry.set_state(ServerState::Failed(Arc::clone(why)));
        self.answer_all(&Err(CallError::NotRunning(Arc::clone(why))));
    }

    /// From the first need to a stop or a failure, over all restarts between.
    async fn live(&mut self) {
        if let Some(why) = self.exhausted() {
            return self.failed(&why);
        }
        let mut is_first = true;
        loop {
            let why = match self.start().await {
                Started::Up(life, connection) => {
                    self.answer_all(&Ok(Arc::clone(&connection)));
                    match self.serve(life, connection).await {
                        Some(why) => why,
                        None => return,
                    }
                }
                Started::Unaccepted(error) => return self.answer_all(&Err(error)),
                Started::Failed(why) if is_first => return self.failed(&why),
                Started::Failed(why) => why,
                Started::Stopped => return,
            };
            is_first = false;
            self.ends.push_back(Instant::now());
            if !self.pause(why).await {
                return;
            }
        }
    }

    /// Why it may not start again, when it ended too often.
    fn exhausted(&mut self) -> Option<Arc<str>> {
        let limits = &self.entry.shared.limits;
        let counts = |end: &Instant| end.elapsed() < limits.restart_window;
        self.ends.retain(counts);
        (self.ends.len() > limits.restarts).then(|| {
            let minutes = limits.restart_window.as_secs().div_ceil(60);
            let last = self.entry.log.last_error().map(|last| format!(": {last}"));
            let last = last.unwrap_or_default();
            format!("it ended {} times within {minutes} minutes{last}", self.ends.len()).into()
        })
    }

    async fn start(&mut self) -> Started {
        let entry = Arc::clone(&self.entry);
        let mut work = Box::pin(bring_up(&entry));
        loop {
            tokio::select! {
                started = &mut work => return started,
                order = self.orders.recv() => match order {
                    Some(Order::Start(waiter)) => self.wait(waiter),
                    Some(Order::Stop(done)) => {
                        drop(work);
                        self.stopped(Some(done));
                        return Started::Stopped;
                    }
                    None => return Started::Stopped,
                },
            }
        }
    }

    /// While it runs. Gives why it ended; none when it was stopped.
    async fn serve(
        &mut self,
        mut life: Box<Life>,
        connection: Arc<Connection>,
    ) -> Option<Arc<str>> {
        let entry = Arc::clone(&self.entry);
        let mut looking = Box::pin(keep_looking(&entry, &connection));
        loop {
            tokio::select! {
                why = life.ended(&entry) => {
                    entry.log.push(LogSource::Note, &why);
                    return Some(why);
                }
                () = &mut looking => {}
                order = self.orders.recv() => match order {
                    Some(Order::Start(waiter)) => answer(waiter, Ok(Arc::clone(&connection))),
                    Some(Order::Stop(done)) => {
                        life.stop().await;
                        self.stopped(Some(done));
                        return None;
                    }
                    None => {
                        life.stop().await;
                        return None;
                    }
                },
            }
        }
    }

    /// Waits before a restart. False when there will be none.
    async fn pause(&mut self, why: Arc<str>) -> bool {
        if let Some(too_often) = self.exhausted() {
            self.failed(&too_often);
            return false;
        }
        let limits = self.entry.shared.limits;
        let doublings = u32::try_from(self.ends.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let after = limits.first_restart.saturating_mul(2_u32.saturating_pow(doublings));
        let after = after.min(limits.longest_restart);
        self.entry.set_state(ServerState::Restarting { why, after });
        let mut over = Box::pin(sleep(after));
        loop {
            tokio::select! {
                () = &mut over => return true,
                order = self.orders.recv() => match order {
                    Some(Order::Start(waiter)) => self.wait(waiter),
                    Some(Order::Stop(done)) => {
                        self.stopped(Some(done));
                        return false;
                    }
                    None => return false,
                },
            }
        }
    }
}

fn answer(waiter: Waiter, result: Result<Arc<Connection>, CallError>) {
    // Whoever asked may have given up.
    waiter.send(result).ok();
}

/// Finds out what would be started, and starts it when that was accepted.
async fn bring_up(entry: &Arc<Entry>) -> Started {
    let preparing = Arc::clone(entry);
    // It reads whole programs.
    let prepared = tokio::task::spawn_blocking(move || {
        Start::prepare(&preparing.config, &preparing.shared.environment)
    });
    let start = match prepared.await {
        Ok(Ok(start)) => start,
        Ok(Err(why)) => return Started::Failed(why.into()),
        Err(error) => return Started::Failed(error.to_string().into()),
    };
    if let Some(acceptance) = entry.missing_acceptance(&start) {
        let acceptance = Arc::new(acceptance);
        entry.set_state(ServerState::NeedsAcceptance(Arc::clone(&acceptance)));
        return Started::Unaccepted(CallError::NotAccepted(acceptance));
    }
    entry.set_state(ServerState::Starting);
    let (life, connection) = match Life::begin(&start, entry).await {
        Ok(begun) => begun,
        Err(why) => return Started::Failed(why.into()),
    };
    if let Err(error) = entry.refresh(&connection).await {
        // It answers, so it may still have resources and prompts.
        entry.log.push(LogSource::Note, &format!("its tools are not known: {error}"));
    }
    entry.shared.board.update(entry.index, |status| {
        status.info = Some(Arc::clone(&connection.info));
        status.state = ServerState::Ready;
    });
    Started::Up(Box::new(life), connection)
}

/// Looks at the tools again whenever they are said to have changed. Never ends.
async fn keep_looking(entry: &Entry, connection: &Connection) {
    let mut changed: watch::Receiver<u64> = connection.seen.tools_changed.subscribe();
    loop {
        // It never fails: the connection holds the sender.
        changed.changed().await.ok();
        sleep(BETWEEN_LOOKS).await;
        changed.mark_unchanged();
        if let Err(error) = entry.refresh(connection).await {
            entry.log.push(LogSource::Note, &format!("its tools are not known: {error}"));
        }
    }
}
