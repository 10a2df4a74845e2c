//! Random orders of events, ends of the program among them: what is shown is what the log
//! says, nothing is there twice, nothing runs twice, and the model reads what is shown.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use letterpress::{
    engine::SessionSource,
    model::{
        Command, Delivery, Message, MessageId, Progress, QueueChange, Role, Snapshot, Source as _,
        StopReason, Ticket,
        stream::{EndState, Interruption, Retry, StreamEvent},
    },
};
use serde_json::{Value, json};

use super::{
    bench::{Desk, Step, calls, end, open, says, shut, text},
    told::{Log, plain, words},
};
use crate::live::server::Chance;

const ORDERS: u64 = 60;
/// Things that happen in each.
const EVENTS: usize = 40;

/// A reply that ends in some way.
fn reply(chance: &mut Chance, n: usize) -> Vec<Step> {
    let cause = Interruption::Io("reset".into());
    let lost = StreamEvent::End(EndState::Interrupted { cause, retry: Retry::Never });
    let half = |last: StreamEvent| vec![open(), text(&format!("half {n}")), Step::Event(last)];
    match chance.below(9) {
        0 => half(lost),
        1 => half(StreamEvent::End(EndState::Incomplete)),
        2 => vec![open(), text(&format!("never ends {n}")), Step::Hang],
        3 => calls(&n.to_string(), &json!({"gives": format!("result {n}")})),
        4 => calls(&n.to_string(), &json!({"hangs": true})),
        5 => vec![
            Step::Sleep(3),
            open(),
            text(&"long ".repeat(9_000)),
            shut(),
            end(StopReason::Length),
        ],
        _ => says(&format!("answer {n}")),
    }
}

struct Player {
    desk: Desk,
    chance: Chance,
    replies: usize,
    /// Every message that was ever seen.
    seen: BTreeSet<MessageId>,
    tickets: Vec<Ticket>,
    prompts: usize,
    restarts: usize,
}

impl Player {
    fn new(seed: u64) -> Self {
        Self {
            desk: Desk::new(Vec::new()),
            chance: Chance(seed),
            replies: 0,
            seen: BTreeSet::new(),
            tickets: Vec::new(),
            prompts: 0,
            restarts: 0,
        }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.chance.below(limit)
    }

    fn draft(&mut self) -> letterpress::model::Draft {
        self.prompts += 1;
        let draft = self.desk.draft(&format!("prompt {}", self.prompts));
        self.tickets.push(draft.ticket);
        draft
    }

    fn message(&mut self) -> Option<MessageId> {
        let at = self.below(self.seen.len().max(1));
        self.seen.iter().nth(at).copied()
    }

    fn ticket(&mut self) -> Ticket {
        let at = self.below(self.tickets.len().max(1));
        self.tickets.get(at).copied().unwrap_or_default()
    }

    fn look(&mut self) {
        let snapshot = self.desk.session().snapshot();
        self.seen.extend(snapshot.messages().map(|message| message.id));
        self.seen.extend(snapshot.forks.iter().flat_map(|fork| fork.siblings.iter().copied()));
    }

    fn act(&mut self) {
        self.look();
        if self.desk.world.replies.lock().len() < 3 {
            let reply = reply(&mut self.chance, self.replies);
            self.replies += 1;
            self.desk.world.replies.lock().push_back(reply);
        }
        let command = match self.below(16) {
            0..=3 => Some(Command::Send(self.draft())),
            4 => Some(Command::Steer(self.draft())),
            5 | 6 => Some(Command::Stop),
            7 => Some(Command::Retry),
            8 => Some(Command::EditLast(self.draft())),
            9 => {
                let draft = self.draft();
                self.message().map(|message| Command::Edit { message, draft })
            }
            10 => self.message().map(|message| Command::Regenerate { message }),
            11 | 12 => self.message().map(|message| Command::Choose { message }),
            13 => Some(Command::Queue(self.change())),
            14 => {
                std::thread::sleep(Duration::from_millis(self.below(30) as u64));
                None
            }
            _ => {
                self.restart();
                None
            }
        };
        if let Some(command) = command {
            // One that finds no room was not said.
            self.desk.session().send(command).ok();
        }
        if self.below(3) > 0 {
            std::thread::sleep(Duration::from_millis(self.below(6) as u64));
        }
    }

    fn change(&mut self) -> QueueChange {
        let ticket = self.ticket();
        match self.below(6) {
            0 => QueueChange::Remove(ticket),
            1 => QueueChange::Hold(ticket),
            2 => QueueChange::Release(ticket, None),
            3 => QueueChange::Move { ticket, before: Some(self.ticket()) },
            4 => QueueChange::SetDelivery(ticket, Delivery::Steer),
            _ => QueueChange::Resume,
        }
    }

    fn restart(&mut self) {
        if self.restarts < 3 {
            self.restarts += 1;
            if self.below(2) == 0 {
                self.desk.session = None;
            }
            self.desk.restart();
            check(&Log::read(&self.desk.path()));
        }
    }

    /// Lets it come to rest.
    fn rest(&mut self) -> Arc<Snapshot> {
        for _ in 0..40 {
            self.desk.world.replies.lock().clear();
            self.desk.session().send(Command::Stop).ok();
            for ticket in self.tickets.clone() {
                self.desk.session().send(Command::Queue(QueueChange::Remove(ticket))).ok();
                std::thread::sleep(Duration::from_micros(300));
            }
            std::thread::sleep(Duration::from_millis(5));
            let now = self.desk.session().snapshot();
            if !now.phase.is_busy() && now.queued.is_empty() {
                break;
            }
        }
        self.desk.rests()
    }
}

/// Nothing is in a log twice.
fn check(log: &Log) {
    let mut prompts = BTreeSet::new();
    for told in log.messages.values().filter(|told| told.role == Role::User) {
        assert!(prompts.insert(words(&told.message)), "{} twice", words(&told.message));
    }
}

/// What a message says, without when.
fn timeless(message: &Message) -> Value {
    let mut plain = plain(message);
    plain["body"].as_object_mut().unwrap().remove("at");
    plain
}

/// All rows of a conversation, once the log was read and they are these.
fn rows(source: &mut SessionSource, ids: &[u64]) -> Vec<Arc<Message>> {
    for _ in 0..2_000 {
        source.poll();
        let now = (0..source.len()).map(|row| source.row(row).id.0);
        if now.eq(ids.iter().copied()) && source.progress() == Progress::Complete {
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(source.failure(), None);
    let reading = source.reading().expect("it can be read");
    (0..reading.len()).map(|row| reading.message(row)).collect()
}

fn order(seed: u64) -> usize {
    let mut player = Player::new(seed);
    let mut source = player.desk.session().source();
    for _ in 0..EVENTS {
        let before = player.restarts;
        player.act();
        if player.restarts != before {
            source = player.desk.session().source();
        }
        source.poll();
        let ids: Vec<_> = (0..source.len()).map(|row| source.row(row).id).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{seed}: {ids:?}");
        assert!(ids.is_sorted(), "{seed}: {ids:?}");
    }
    let end = player.rest();
    let log = Log::read(&player.desk.path());
    check(&log);
    let path = log.path();
    // The rows that the view has seen all along, and those that it sees if it looks anew.
    for mut source in [source, player.desk.session().source()] {
        let ids: Vec<_> = path.iter().map(|told| told.offset).collect();
        let rows = rows(&mut source, &ids);
        let shown: Vec<_> = rows.iter().map(|m| (m.id.0, timeless(m))).collect();
        let told: Vec<_> = path.iter().map(|t| (t.offset, timeless(&t.message))).collect();
        assert_eq!(shown, told, "{seed}");
    }
    let live: Vec<_> = end.messages().map(|message| message.id.0).collect();
    assert!(path.iter().map(|told| told.offset).collect::<Vec<_>>().ends_with(&live), "{seed}");
    let mut ran = player.desk.world.ran.lock().clone();
    ran.sort();
    assert!(ran.windows(2).all(|pair| pair[0] != pair[1]), "{seed}: {ran:?}");
    // It goes on, and the model reads what is shown.
    let expected: Vec<_> = log.words();
    player.desk.world.replies.lock().clear();
    player.desk.ask("the last");
    let request = player.desk.world.requests.lock().last().unwrap().clone();
    let mut said: Vec<_> = request.turns.iter().map(|turn| words(&turn.message)).collect();
    assert_eq!(said.pop().as_deref(), Some("user: the last"), "{seed}");
    assert_eq!(said, expected, "{seed}");
    path.len()
}

#[test]
fn in_any_order_what_is_shown_is_what_the_log_says() {
    let longest = (0..ORDERS).map(order).max();
    assert!(longest > Some(8), "{longest:?}");
}
