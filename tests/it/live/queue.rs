//! What waits to be said: in its order, steered, held, paused.

use std::sync::Arc;

use letterpress::model::{
    Command, Delivery, Draft, Fate, QueueChange, Refusal, Role, Snapshot, Ticket,
};
use tokio::sync::Notify;

use super::{
    bench::{Bench, is_settled, prose},
    server::{Act, call, finish, sse, text, whole},
};

/// A reply that ends when the gate opens.
fn gated(gate: &Arc<Notify>, words: &str) -> Vec<Act> {
    let end = [Act::Await(Arc::clone(gate)), Act::Send(finish("stop")), Act::Finish];
    [vec![sse(), Act::Send(text(words))], end.to_vec()].concat()
}

/// A reply that calls a tool that does not exist when the gate opens, and so asks again.
fn gated_call(gate: &Arc<Notify>) -> Vec<Act> {
    vec![
        sse(),
        Act::Send(call(0, Some("x"), "{}")),
        Act::Await(Arc::clone(gate)),
        Act::Send(finish("tool_calls")),
        Act::Finish,
    ]
}

fn hung() -> Vec<Act> {
    vec![sse(), Act::Send(text("a")), Act::AwaitClose]
}

fn said(snapshot: &Snapshot) -> Vec<String> {
    snapshot.messages().map(|m| format!("{}: {}", m.role.name(), prose(m))).collect()
}

fn waiting(snapshot: &Snapshot) -> Vec<(&str, Delivery, bool)> {
    snapshot.queued.iter().map(|q| (&*q.draft.text, q.delivery, q.is_held)).collect()
}

impl Bench {
    fn steer(&mut self, words: &str) -> Ticket {
        let ticket = self.ticket();
        self.command(Command::Steer(Draft::text(ticket, words)));
        ticket
    }

    /// Puts something into the queue, by either command.
    fn queue(&mut self, words: &str, delivery: Delivery) -> Ticket {
        let ticket = match delivery {
            Delivery::Next => self.say(words),
            Delivery::Steer => self.steer(words),
        };
        self.until(|s| s.fate(ticket) == Some(&Fate::Queued));
        ticket
    }

    fn change(&self, change: QueueChange) {
        self.command(Command::Queue(change));
    }
}

#[test]
fn a_word_that_steers_stands_between_two_replies_and_one_that_waits_behind_the_last() {
    let gate = Arc::new(Notify::new());
    let mut bench = Bench::new(vec![gated_call(&gate), whole(&["done"]), whole(&["more"])]);
    bench.say("go");
    bench.until(|s| s.arriving.is_some());
    let next = bench.queue("and then?", Delivery::Next);
    let steer = bench.queue("rather not", Delivery::Steer);
    let snapshot = bench.session.snapshot();
    assert_eq!(
        waiting(&snapshot),
        [("and then?", Delivery::Next, false), ("rather not", Delivery::Steer, false)]
    );
    gate.notify_one();
    let between = bench.until(|s| matches!(s.fate(steer), Some(Fate::Accepted(_))));
    assert_eq!(between.fate(next), Some(&Fate::Queued), "the turn is not over");
    let end = bench.until(|s| is_settled(s, next));
    let expected = [
        "user: go",
        "assistant: ",
        "user: rather not",
        "assistant: done",
        "user: and then?",
        "assistant: more",
    ];
    assert_eq!(said(&end), expected);
    bench.server.request();
    let second = bench.server.request();
    assert_eq!(second["messages"][3]["content"], "rather not");
    assert_eq!(second["messages"].as_array().unwrap().len(), 4);
}

#[test]
fn a_word_that_steers_a_turn_that_ends_is_said_next_and_first() {
    let gate = Arc::new(Notify::new());
    let mut bench = Bench::new(vec![gated(&gate, "one"), whole(&["two"])]);
    bench.say("go");
    bench.until(|s| s.arriving.is_some());
    bench.queue("then this", Delivery::Next);
    let steer = bench.queue("this first", Delivery::Steer);
    gate.notify_one();
    let end = bench.until(|s| is_settled(s, steer));
    let expected =
        ["user: go", "assistant: one", "user: this first", "user: then this", "assistant: two"];
    assert_eq!(said(&end), expected);
}

#[test]
fn what_is_edited_is_not_said_and_holds_up_nothing() {
    let gate = Arc::new(Notify::new());
    let answers = vec![gated(&gate, "one"), whole(&["two"]), whole(&["three"])];
    let mut bench = Bench::new(answers);
    bench.say("go");
    bench.until(|s| s.arriving.is_some());
    let held = bench.queue("half writ", Delivery::Next);
    bench.change(QueueChange::Hold(held));
    let other = bench.queue("whole", Delivery::Next);
    gate.notify_one();
    let rests = bench.until(|s| is_settled(s, other));
    assert_eq!(waiting(&rests), [("half writ", Delivery::Next, true)]);
    assert!(!rests.is_queue_paused);
    assert_eq!(bench.server.connections(), 2);
    // It is said as soon as it is ready, under its new name.
    let better = bench.ticket();
    let draft = Draft::text(better, "half written no more");
    bench.change(QueueChange::Release(held, Some(draft)));
    let end = bench.until(|s| is_settled(s, better));
    let expected = [
        "user: go",
        "assistant: one",
        "user: whole",
        "assistant: two",
        "user: half written no more",
        "assistant: three",
    ];
    assert_eq!(said(&end), expected);
    assert!(end.queued.is_empty());
}

#[test]
fn what_steers_is_not_said_while_it_is_edited_either() {
    let gate = Arc::new(Notify::new());
    let mut bench = Bench::new(vec![gated_call(&gate), gated(&gate, "done"), whole(&["ok"])]);
    bench.say("go");
    bench.until(|s| s.arriving.is_some());
    let steer = bench.queue("rather", Delivery::Steer);
    bench.change(QueueChange::Hold(steer));
    bench.until(|s| s.queued.iter().any(|queued| queued.is_held));
    gate.notify_one();
    bench.until(|s| s.messages().count() == 3);
    bench.change(QueueChange::Release(steer, None));
    gate.notify_one();
    let end = bench.until(|s| is_settled(s, steer));
    assert_eq!(
        said(&end),
        ["user: go", "assistant: ", "assistant: done", "user: rather", "assistant: ok"]
    );
}

#[test]
fn stopping_pauses_the_queue_and_loses_nothing() {
    let mut bench = Bench::new(vec![hung(), whole(&["two"])]);
    bench.say("first");
    bench.until(|s| s.arriving.is_some());
    let second = bench.queue("second", Delivery::Next);
    let third = bench.queue("third", Delivery::Steer);
    bench.command(Command::Stop);
    let rests = bench.until(|s| !s.phase.is_busy());
    assert!(rests.is_queue_paused);
    assert_eq!(rests.queued.len(), 2);
    assert_eq!(rests.fate(second), Some(&Fate::Queued));
    // Nothing else lets it go on.
    bench.change(QueueChange::SetDelivery(third, Delivery::Next));
    bench.change(QueueChange::Move { ticket: third, before: Some(second) });
    let moved = bench.until(|s| s.queued[0].draft.ticket == third);
    assert!(moved.is_queue_paused && !moved.phase.is_busy());
    bench.change(QueueChange::Resume);
    let end = bench.until(|s| is_settled(s, second));
    assert_eq!(
        said(&end),
        ["user: first", "assistant: a", "user: third", "user: second", "assistant: two"]
    );
    assert!(!end.is_queue_paused && end.queued.is_empty());
}

#[test]
fn the_next_prompt_goes_first_and_then_what_was_paused() {
    let mut bench = Bench::new(vec![hung(), whole(&["two"]), whole(&["three"])]);
    bench.say("first");
    bench.until(|s| s.arriving.is_some());
    let paused = bench.queue("paused", Delivery::Next);
    bench.command(Command::Stop);
    bench.until(|s| !s.phase.is_busy());
    bench.say("now");
    let end = bench.until(|s| is_settled(s, paused));
    assert_eq!(
        said(&end),
        [
            "user: first",
            "assistant: a",
            "user: now",
            "assistant: two",
            "user: paused",
            "assistant: three"
        ]
    );
}

#[test]
fn an_empty_queue_does_not_rest() {
    let mut bench = Bench::new(vec![hung(), whole(&["two"])]);
    bench.say("first");
    bench.until(|s| s.arriving.is_some());
    bench.command(Command::Stop);
    let rests = bench.until(|s| !s.phase.is_busy());
    assert!(!rests.is_queue_paused);
    let mut bench = Bench::new(vec![hung()]);
    bench.say("first");
    bench.until(|s| s.arriving.is_some());
    let only = bench.queue("only", Delivery::Next);
    bench.command(Command::Stop);
    bench.until(|s| s.is_queue_paused);
    bench.change(QueueChange::Remove(only));
    let gone = bench.until(|s| s.queued.is_empty());
    assert!(!gone.is_queue_paused);
}

#[test]
fn what_is_taken_out_goes_back_to_its_writer() {
    let mut bench = Bench::new(vec![hung()]);
    bench.say("first");
    bench.until(|s| s.arriving.is_some());
    let second = bench.queue("second", Delivery::Next);
    bench.change(QueueChange::Remove(second));
    let end = bench.until(|s| s.queued.is_empty());
    let Some(Fate::Refused(Refusal::Removed, draft)) = end.fate(second) else {
        panic!("{:?}", end.receipts)
    };
    assert_eq!(&*draft.text, "second");
    // A draft of something that was said meanwhile is not lost.
    let late = bench.ticket();
    bench.change(QueueChange::Release(second, Some(Draft::text(late, "too late"))));
    let end = bench.until(|s| s.fate(late).is_some());
    assert!(matches!(end.fate(late), Some(Fate::Refused(Refusal::Removed, _))));
}

#[test]
fn it_is_said_in_the_order_that_it_was_put_in() {
    let gate = Arc::new(Notify::new());
    let mut bench = Bench::new(vec![gated(&gate, "one"), whole(&["two"])]);
    bench.say("go");
    bench.until(|s| s.arriving.is_some());
    let [a, b, c] = ["a", "b", "c"].map(|words| bench.queue(words, Delivery::Next));
    bench.change(QueueChange::Move { ticket: c, before: Some(a) });
    bench.change(QueueChange::Move { ticket: a, before: None });
    bench.change(QueueChange::Move { ticket: b, before: Some(b) });
    bench.change(QueueChange::Move { ticket: Ticket(99), before: None });
    bench.until(|s| s.queued.last().is_some_and(|queued| queued.draft.ticket == a));
    gate.notify_one();
    let end = bench.until(|s| is_settled(s, a));
    let prompts = end.messages().filter(|m| m.role == Role::User).map(|m| prose(m));
    assert_eq!(prompts.collect::<Vec<_>>(), ["go", "c", "b", "a"]);
}

#[test]
fn a_draft_that_says_nothing_does_not_take_the_place_of_one_that_does() {
    let gate = Arc::new(Notify::new());
    let mut bench = Bench::new(vec![gated(&gate, "one"), whole(&["two"])]);
    bench.say("go");
    bench.until(|s| s.arriving.is_some());
    let old = bench.queue("old", Delivery::Next);
    bench.change(QueueChange::Hold(old));
    let blank = bench.ticket();
    bench.change(QueueChange::Release(old, Some(Draft::text(blank, " "))));
    let back = bench.until(|s| s.fate(blank).is_some());
    assert!(matches!(back.fate(blank), Some(Fate::Refused(Refusal::Blank, _))));
    gate.notify_one();
    let end = bench.until(|s| is_settled(s, old));
    assert_eq!(said(&end)[2], "user: old");
}

#[test]
fn editing_the_last_prompt_in_a_turn_lets_the_queue_go_on() {
    let mut bench = Bench::new(vec![hung(), whole(&["right"]), whole(&["more"])]);
    bench.say("helo");
    bench.until(|s| s.arriving.is_some());
    let queued = bench.queue("and more", Delivery::Next);
    let edit = bench.ticket();
    bench.command(Command::EditLast(Draft::text(edit, "hello")));
    let end = bench.until(|s| is_settled(s, queued));
    let expected = ["user: hello", "assistant: right", "user: and more", "assistant: more"];
    assert_eq!(said(&end), expected);
}
