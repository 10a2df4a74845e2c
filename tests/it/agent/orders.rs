//! Ten thousand random orders of events.
//!
//! A model in this process makes calls of all kinds, tools end well, badly, late or never, and
//! the user answers, rejects, stops and talks in between. Whatever the order: every call has
//! one result, nothing runs that was not approved, nothing runs twice, and in the end the
//! conversation rests and can go on.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use letterpress::{
    engine::live::{
        Backend, Config, Engine, Limits, Provider, Session,
        workbench::{Later, Permit, Question, Said, Terms, Tool, Weighed, Workbench},
    },
    model::{
        Approval, Command, Decision, Draft, Fate, Offer, Output, Part, Scope, Settings, Snapshot,
        StopReason, Ticket, ToolCall, ToolResult, ToolState, ToolUse,
        stream::{Close, EndState, Interruption, ReplyBlock, ReplyKind, Retry, StreamEvent, Wire},
    },
    presenter::{Call, Touch},
    tools::Stop,
    wire::{Endpoint, Request, ToolSpec, body},
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{sync::mpsc::Sender, task::yield_now, time::timeout};

use crate::live::{
    bench::{last, prose},
    server::Chance,
};

const ORDERS: u64 = 10_000;
/// Conversations at the same time.
const CROWD: usize = 50;
/// Looks at one conversation before it counts as stuck.
const LOOKS: usize = 5_000;

/// What happened in one conversation.
#[derive(Debug, Default)]
struct World {
    chance: Mutex<Option<Chance>>,
    /// Names of calls that were allowed without a question, or that the user let run.
    allowed: Mutex<BTreeSet<String>>,
    /// How often each ran.
    ran: Mutex<BTreeMap<String, usize>>,
    running: AtomicUsize,
    replies: Mutex<VecDeque<Vec<StreamEvent>>>,
    requests: Mutex<Vec<Request>>,
}

impl std::fmt::Debug for Chance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Chance({})", self.0)
    }
}

impl World {
    fn below(&self, limit: usize) -> usize {
        self.chance.lock().as_mut().unwrap().below(limit)
    }

    async fn dawdle(&self) {
        for _ in 0..self.below(4) {
            yield_now().await;
        }
    }
}

/// The model: says what is written, then that it is done.
#[derive(Clone, Debug)]
struct Model(Arc<World>);

impl Backend for Model {
    fn attempt(&self, request: Request, events: Sender<StreamEvent>) -> Later<()> {
        let world = Arc::clone(&self.0);
        Box::pin(async move {
            world.requests.lock().push(request);
            let reply = world.replies.lock().pop_front();
            for event in reply.unwrap_or_else(done) {
                world.dawdle().await;
                if events.send(event).await.is_err() {
                    return;
                }
            }
        })
    }
}

fn text(block: u32, words: &str) -> Vec<StreamEvent> {
    let block = ReplyBlock(block);
    vec![
        StreamEvent::BlockOpen { block, kind: ReplyKind::Text },
        StreamEvent::Text { block, delta: words.to_owned() },
        StreamEvent::BlockClose { block, close: Close::AsStreamed },
    ]
}

fn complete(reason: StopReason) -> StreamEvent {
    let tools_may_run = reason == StopReason::ToolUse;
    StreamEvent::End(EndState::Complete { reason, tools_may_run })
}

fn done() -> Vec<StreamEvent> {
    let mut events = text(0, "Done.");
    events.push(complete(StopReason::Stop));
    events
}

/// A call, or the beginning of one.
fn call(world: &World, block: u32, name: &str) -> Vec<StreamEvent> {
    let pick = |of: &[&'static str]| of[world.below(of.len())];
    let tool = pick(&["look", "change", "change", "nothing"]);
    let arguments = json!({
        "name": name,
        "weigh": pick(&["allow", "ask", "ask", "ask", "deny"]),
        "ends": pick(&["well", "well", "well", "badly", "never", "bang"]),
    });
    let block = ReplyBlock(block);
    let written = arguments.to_string();
    let cut = world.below(written.len());
    let (one, two) = written.split_at(if written.is_char_boundary(cut) { cut } else { 0 });
    let pieces = [one, two].into_iter().filter(|piece| !piece.is_empty());
    let mut events =
        vec![StreamEvent::ToolOpen { block, id: format!("id-{name}").into(), name: tool.into() }];
    events.extend(pieces.map(|delta| StreamEvent::ToolArgs { block, delta: delta.to_owned() }));
    if world.below(20) > 0 {
        events.push(StreamEvent::BlockClose { block, close: Close::Arguments(Ok(arguments)) });
    }
    events
}

/// A reply with texts and calls, one after the other or mixed, that ends in some way.
fn reply(world: &World, round: usize) -> Vec<StreamEvent> {
    let mut blocks: Vec<VecDeque<StreamEvent>> = Vec::new();
    for block in 0..=u32::try_from(world.below(5)).unwrap() {
        let events = match world.below(3) {
            0 => text(block, "Let me see."),
            _ => call(world, block, &format!("{round}-{block}")),
        };
        blocks.push(events.into());
    }
    let mixes = world.below(4) == 0;
    let mut events = Vec::new();
    while let Some(open) =
        (!blocks.is_empty()).then(|| if mixes { world.below(blocks.len()) } else { 0 })
    {
        events.extend(blocks[open].pop_front());
        blocks.retain(|block| !block.is_empty());
    }
    match world.below(12) {
        0 => events.push(complete(StopReason::Length)),
        1 => events.push(StreamEvent::End(EndState::Incomplete)),
        2 => {
            let cause = Interruption::Io("reset".into());
            events.push(StreamEvent::End(EndState::Interrupted { cause, retry: Retry::Never }));
        }
        3 => events.truncate(world.below(events.len() + 1)),
        _ => {}
    }
    if !matches!(events.last(), Some(StreamEvent::End(_))) {
        events.push(complete(StopReason::ToolUse));
    }
    events
}

/// Tools that do as the arguments say.
#[derive(Clone, Debug)]
struct Bench(Arc<World>);

struct Scheduled {
    world: Arc<World>,
    call: Arc<Call>,
}

impl Scheduled {
    fn name(&self) -> String {
        self.call.arguments["name"].as_str().unwrap_or("?").to_owned()
    }
}

/// Counts down however a run ends.
struct Counted(Arc<World>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Workbench for Bench {
    fn tools(&self) -> Vec<Tool> {
        let tool = |name: &str, touch| {
            let spec = ToolSpec {
                name: name.into(),
                description: "x".into(),
                parameters: json!({"type": "object"}),
            };
            Tool { spec, touch }
        };
        vec![tool("look", Touch::Nothing), tool("change", Touch::Anything)]
    }

    fn weigh(&self, call: Arc<Call>, _terms: Terms) -> Later<Weighed> {
        let world = Arc::clone(&self.0);
        Box::pin(async move {
            world.dawdle().await;
            let weighed = call.arguments["weigh"].as_str().unwrap_or("deny").to_owned();
            let scheduled = Box::new(Scheduled { world: Arc::clone(&world), call });
            if world.below(300) == 0 {
                resume_unwind(Box::new("weighing fails inside"));
            }
            match weighed.as_str() {
                "allow" => {
                    world.allowed.lock().insert(scheduled.name());
                    Weighed::Allowed(scheduled)
                }
                "ask" => {
                    let offer = Offer { scope: Scope::Session, words: "always".into() };
                    let what = scheduled.name().into();
                    let approval = Approval { what, offers: [offer].into(), ..Approval::default() };
                    Weighed::Asked(approval, scheduled)
                }
                _ => Weighed::Denied("a rule forbids it".into()),
            }
        })
    }

    fn checkpoint(&self) -> Option<Later<Result<Arc<str>, Arc<str>>>> {
        let world = Arc::clone(&self.0);
        match world.below(4) {
            0 => None,
            made => Some(Box::pin(async move {
                world.dawdle().await;
                if made == 1 { Err("the disk is full".into()) } else { Ok("c1".into()) }
            })),
        }
    }
}

impl Question for Scheduled {
    fn answer(self: Box<Self>, decision: Decision) -> Option<Box<dyn Permit>> {
        (decision != Decision::Reject).then_some(self as Box<dyn Permit>)
    }
}

impl Permit for Scheduled {
    fn run(self: Box<Self>, mut stop: Stop, said: Sender<Said>) -> Later<ToolResult> {
        let Self { world, call } = *self;
        Box::pin(async move {
            let name = call.arguments["name"].as_str().unwrap_or("?").to_owned();
            *world.ran.lock().entry(name).or_default() += 1;
            world.running.fetch_add(1, Ordering::SeqCst);
            let _counted = Counted(Arc::clone(&world));
            for _ in 0..world.below(3) {
                said.send(Said::Output(b"a line\n".to_vec())).await.ok();
                world.dawdle().await;
            }
            let ends = call.arguments["ends"].as_str().unwrap_or_default().to_owned();
            match ends.as_str() {
                "never" => stop.due().await,
                "bang" if world.below(4) == 0 => resume_unwind(Box::new("a tool fails inside")),
                _ => world.dawdle().await,
            }
            ToolResult {
                call_id: Arc::clone(&call.id),
                tool_name: Arc::clone(&call.name),
                is_error: ends != "well",
                output: Output::plain("done"),
                told: None,
                images: Vec::new(),
                details: Value::Null,
            }
        })
    }
}

/// A user who does anything at any time.
struct User {
    world: Arc<World>,
    session: Session,
    tickets: u64,
}

impl User {
    fn send(&self, command: Command) {
        // One that finds no room was not said.
        self.session.send(command).ok();
    }

    fn draft(&mut self, words: &str) -> Draft {
        self.tickets += 1;
        Draft::text(Ticket(self.tickets), words)
    }

    fn act(&mut self, snapshot: &Snapshot) {
        if let Some(asked) = &snapshot.question {
            return self.answer(asked);
        }
        let running = calls_of(snapshot).find(|(_, call)| call.state == ToolState::Running);
        match (self.world.below(60), running) {
            (0, _) => self.send(Command::Stop),
            (1, _) => {
                let draft = self.draft("and this");
                self.send(Command::Send(draft));
            }
            (2, _) => self.send(Command::Retry),
            (3, _) => {
                let draft = self.draft("rather this");
                self.send(Command::EditLast(draft));
            }
            (4, _) => self.send(Command::SetTools(ToolUse::Auto)),
            (5..20, Some((message, call))) => {
                let call_id = Arc::clone(&call.id);
                self.send(Command::StopCall { message, call_id });
            }
            _ => {}
        }
    }

    fn answer(&mut self, asked: &Approval) {
        let decision = match self.world.below(10) {
            0..=3 => Decision::Once,
            4 => Decision::Offer(self.world.below(3)),
            5 | 6 => Decision::Reject,
            7 => {
                let draft = self.draft("not that");
                return self.send(Command::Send(draft));
            }
            8 if self.world.below(3) == 0 => return self.send(Command::Stop),
            _ => return,
        };
        if decision != Decision::Reject {
            self.world.allowed.lock().insert(asked.what.to_string());
        }
        let feedback = (self.world.below(4) == 0).then(|| self.draft("mind the tabs"));
        for _ in 0..=self.world.below(2) {
            let feedback = feedback.clone();
            self.send(Command::Decide { approval: asked.id, decision, feedback });
        }
    }

    /// Acts until nothing goes on any more.
    async fn converse(&mut self, seed: u64) -> Arc<Snapshot> {
        for _ in 0..LOOKS {
            let snapshot = self.session.snapshot();
            let is_decided = snapshot.fate(Ticket(1)).is_some_and(|fate| *fate != Fate::Queued);
            if is_decided && !snapshot.phase.is_busy() {
                return snapshot;
            }
            self.act(&snapshot);
            drop(timeout(Duration::from_millis(2), self.session.changed()).await);
        }
        panic!("order {seed} is stuck: {:?}", self.session.snapshot());
    }
}

fn calls_of(
    snapshot: &Snapshot,
) -> impl Iterator<Item = (letterpress::model::MessageId, Arc<ToolCall>)> + '_ {
    let call = |part: &Part| match part {
        Part::ToolCall(call) => Some(Arc::clone(call)),
        _ => None,
    };
    let aside = snapshot.aside.iter().flat_map(|aside| aside.entries.iter());
    let messages = snapshot.messages().chain(aside.map(|entry| &entry.message));
    messages.flat_map(move |m| m.parts.iter().filter_map(call).map(|call| (m.id, call)))
}

async fn order(engine: &Engine, seed: u64) -> usize {
    let world = Arc::new(World {
        chance: Mutex::new(Some(Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)))),
        ..World::default()
    });
    let replies = (0..=world.below(3)).map(|round| reply(&world, round)).collect();
    *world.replies.lock() = replies;
    let name: Arc<str> = format!("model-{seed}").into();
    engine.set_provider(Arc::clone(&name), Provider::Backend(Arc::new(Model(Arc::clone(&world)))));
    let settings =
        Settings { provider: name, model: "m".into(), tools: ToolUse::Ask, ..Settings::default() };
    let bench: Arc<dyn Workbench> = Arc::new(Bench(Arc::clone(&world)));
    let session = engine.session_at(Some(bench), settings, Arc::new(|| {}));
    let mut user = User { world: Arc::clone(&world), session, tickets: 0 };
    let draft = user.draft("go");
    user.send(Command::Send(draft));
    user.converse(seed).await;

    // No lock is stuck: what is said now is answered.
    world.replies.lock().clear();
    let draft = user.draft("still there?");
    let ticket = draft.ticket;
    user.session.send(Command::Send(draft)).unwrap();
    let settled = timeout(Duration::from_secs(60), user.session.settled(ticket)).await;
    let end = settled.unwrap_or_else(|_| panic!("order {seed} cannot go on"));
    assert_eq!(prose(last(&end)), "Done.", "order {seed}");
    check(&world, &end, seed);
    calls_of(&end).count()
}

fn check(world: &World, end: &Snapshot, seed: u64) {
    assert!(end.question.is_none() && end.arriving.is_none(), "order {seed}");
    assert!(!end.phase.is_busy() && end.queued.is_empty(), "order {seed}");
    let open = [ToolState::Receiving, ToolState::Waiting, ToolState::Running];
    for (_, call) in calls_of(end) {
        assert!(!open.contains(&call.state), "order {seed}: {call:?}");
        let has_result = call.result.is_some() || call.state == ToolState::Aborted;
        assert!(has_result, "order {seed}: {call:?}");
    }
    let (ran, allowed) = (world.ran.lock(), world.allowed.lock());
    for (name, times) in ran.iter() {
        assert_eq!(*times, 1, "order {seed}: {name}");
        assert!(allowed.contains(name), "order {seed}: {name} was not allowed");
    }
    // The model gets one result for each of its calls, and none for others.
    let endpoint = Endpoint::new("test", Wire::Chat, "http://127.0.0.1:9").unwrap();
    let requests = world.requests.lock();
    let sent = body(requests.last().unwrap(), &endpoint);
    let messages = sent["messages"].as_array().unwrap();
    let made = messages.iter().flat_map(|m| m["tool_calls"].as_array().into_iter().flatten());
    let mut made: Vec<_> = made.map(|call| call["id"].to_string()).collect();
    let answered = messages.iter().filter(|m| m["role"] == "tool");
    let mut answered: Vec<_> = answered.map(|m| m["tool_call_id"].to_string()).collect();
    made.sort();
    answered.sort();
    assert_eq!(made, answered, "order {seed}");
}

#[test]
fn in_any_order_every_call_ends_once_and_nothing_runs_unasked() {
    let limits = Limits { frame: Duration::from_millis(1), ..Limits::default() };
    let engine = Engine::start(Config { limits, ..Config::new(|| 1000) }).unwrap();
    let engine = Arc::new(engine);
    let calls = Arc::new(AtomicUsize::new(0));
    let next = Arc::new(AtomicUsize::new(0));
    let (done, finished) = std::sync::mpsc::sync_channel(CROWD);
    for _ in 0..CROWD {
        let (calls, next) = (Arc::clone(&calls), Arc::clone(&next));
        let (again, done) = (Arc::downgrade(&engine), done.clone());
        engine.spawn(async move {
            loop {
                let seed = next.fetch_add(1, Ordering::SeqCst) as u64;
                let Some(engine) = again.upgrade().filter(|_| seed < ORDERS) else { break };
                calls.fetch_add(order(&engine, seed).await, Ordering::SeqCst);
            }
            done.send(()).unwrap();
        });
    }
    drop(done);
    // One that panics sends nothing.
    assert_eq!(finished.iter().count(), CROWD);
    assert!(calls.load(Ordering::SeqCst) > ORDERS as usize, "{calls:?}");
}
