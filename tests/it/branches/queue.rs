//! What waits to be said, and saying it.

use std::sync::Arc;

use egui::{Event, Key, Modifiers, Role};
use egui_kittest::kittest::Queryable as _;
use letterpress::{
    model::{
        Command, Delivery, Fate, MessageId, QueueChange, Receipt, StopReason, Ticket,
        stream::EndState,
    },
    view::composer::SendKey,
};

use super::bed::{Bed, answer, bed, focus_box, has, key, press, prompt, write};

const NEXT: Delivery = Delivery::Next;
const STEER: Delivery = Delivery::Steer;

fn busy() -> Bed {
    let mut bed = bed(vec![prompt(1, "Question"), answer(2, "Half an ans")]);
    bed.state_mut().become_busy();
    bed.run_steps(2);
    bed
}

fn waiting(queued: &[(u64, &str, Delivery)]) -> Bed {
    let mut bed = busy();
    bed.state_mut().wait(queued);
    bed.run_steps(3);
    bed
}

fn three() -> Bed {
    waiting(&[(101, "First", NEXT), (102, "Second", STEER), (103, "Third", NEXT)])
}

fn composed(bed: &Bed) -> &str {
    &bed.state().composer.text
}

/// Tells the composer what became of what it sent.
fn receipt(bed: &mut Bed, ticket: Ticket, fate: Fate) {
    let state = bed.state_mut();
    let receipts = state.snapshot.receipts.iter().cloned();
    state.snapshot.receipts = receipts.chain([Receipt { ticket, fate }]).collect();
    bed.run_steps(3);
}

/// While a turn goes on there are two ways of saying something, by button and by key.
#[test]
fn queueing_and_steering_are_two_named_actions() {
    let expected = [
        (SendKey::Enter, Modifiers::NONE, NEXT),
        (SendKey::Enter, Modifiers::COMMAND, STEER),
        (SendKey::Enter, Modifiers::ALT, STEER),
        (SendKey::CtrlEnter, Modifiers::COMMAND, NEXT),
        (SendKey::CtrlEnter, Modifiers::ALT, STEER),
    ];
    for (send_key, modifiers, delivery) in expected {
        let mut bed = busy();
        bed.state_mut().composer.send_key = send_key;
        assert!(has(&bed, "Stop") && !has(&bed, "Queue"), "there is nothing to say yet");
        write(&mut bed, "Also this");
        assert!(has(&bed, "Queue") && has(&bed, "Steer") && has(&bed, "Stop"));
        key(&mut bed, modifiers, Key::Enter);
        let told = bed.state_mut().told();
        let [command] = told.as_slice() else { panic!("{send_key:?} {modifiers:?}: {told:?}") };
        let (said, how) = match command {
            Command::Send(draft) => (draft, NEXT),
            Command::Steer(draft) => (draft, STEER),
            other => panic!("{other:?}"),
        };
        assert_eq!((&*said.text, how), ("Also this", delivery), "{send_key:?} {modifiers:?}");
        assert_eq!(composed(&bed), "Also this", "it leaves the box when the engine has it");
        let ticket = said.ticket;
        receipt(&mut bed, ticket, Fate::Queued);
        assert_eq!(composed(&bed), "");
    }
}

#[test]
fn the_other_keys_break_the_line() {
    for (send_key, modifiers) in
        [(SendKey::Enter, Modifiers::SHIFT), (SendKey::CtrlEnter, Modifiers::NONE)]
    {
        let mut bed = busy();
        bed.state_mut().composer.send_key = send_key;
        write(&mut bed, "One");
        key(&mut bed, modifiers, Key::Enter);
        assert!(bed.state_mut().told().is_empty(), "{send_key:?}");
        assert_eq!(composed(&bed), "One\n", "{send_key:?}");
    }
}

/// What is typed while the engine has not answered stays.
#[test]
fn what_is_typed_meanwhile_is_not_lost() {
    let mut bed = busy();
    write(&mut bed, "Also this");
    key(&mut bed, Modifiers::NONE, Key::Enter);
    let told = bed.state_mut().told();
    let [Command::Send(draft)] = told.as_slice() else { panic!("{told:?}") };
    let ticket = draft.ticket;
    write(&mut bed, " and that");
    receipt(&mut bed, ticket, Fate::Queued);
    assert_eq!(composed(&bed), " and that");
}

/// Of a slow frame, what was typed before the key is said, and what was typed behind it is not.
#[test]
fn one_frame_may_hold_words_the_key_and_more_words() {
    let mut bed = busy();
    write(&mut bed, "Also");
    let typed = |words: &str| Event::Text(words.to_owned());
    let enter = |pressed| Event::Key {
        key: Key::Enter,
        physical_key: None,
        pressed,
        repeat: false,
        modifiers: Modifiers::NONE,
    };
    let events =
        [typed(" th"), typed("is"), enter(true), enter(false), typed("and "), typed("that")];
    bed.input_mut().events.extend(events);
    bed.run_steps(3);
    let told = bed.state_mut().told();
    let [Command::Send(draft)] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(&*draft.text, "Also this");
    let ticket = draft.ticket;
    receipt(&mut bed, ticket, Fate::Queued);
    assert_eq!(composed(&bed), "and that");
}

#[test]
fn rows_say_their_order_and_how_they_are_said() {
    let mut bed = three();
    for row in ["Waits as number 1: First", "Waits as number 2: Second", "Waits as number 3: Third"]
    {
        assert!(has(&bed, row), "{row}");
    }
    press(&mut bed, "Number 1 after this turn");
    press(&mut bed, "Number 2 steers");
    press(&mut bed, "Move down 1");
    press(&mut bed, "Move up 3");
    press(&mut bed, "Move down 2");
    let t = Ticket;
    let moved = |ticket, before| QueueChange::Move { ticket: t(ticket), before };
    assert_eq!(
        bed.state_mut().changes(),
        [
            QueueChange::SetDelivery(t(101), STEER),
            QueueChange::SetDelivery(t(102), NEXT),
            moved(101, Some(t(103))),
            moved(103, Some(t(102))),
            moved(102, None),
        ]
    );
    press(&mut bed, "Move up 1");
    press(&mut bed, "Move down 3");
    assert!(bed.state_mut().changes().is_empty(), "there is no further");
}

/// A row is dragged to where it shall stand.
#[test]
fn a_row_is_dragged_to_its_place() {
    let mut bed = three();
    let from = bed.get_by_label("Waits as number 3: Third").rect();
    let to = bed.get_by_label("Waits as number 1: First").rect();
    let x = from.center().x;
    bed.drag_at(egui::pos2(x, from.center().y));
    bed.run_steps(2);
    for y in [from.top() - 8.0, to.center().y, to.top() + 4.0] {
        bed.hover_at(egui::pos2(x, y));
        bed.run_steps(2);
    }
    bed.drop_at(egui::pos2(x, to.top() + 4.0));
    bed.run_steps(3);
    let (ticket, before) = (Ticket(103), Some(Ticket(101)));
    assert_eq!(bed.state_mut().changes(), [QueueChange::Move { ticket, before }]);
}

/// What is edited is held first, and released with its new words.
#[test]
fn what_waits_is_held_while_it_is_edited() {
    let mut bed = three();
    write(&mut bed, "Half a thought");
    press(&mut bed, "Edit waiting 2");
    assert_eq!(bed.state_mut().changes(), [QueueChange::Hold(Ticket(102))]);
    assert_eq!(composed(&bed), "Second");
    let says = |bed: &Bed| bed.query_by_label_contains("Editing a message that waits").is_some();
    assert!(says(&bed));
    write(&mut bed, " in another way");
    key(&mut bed, Modifiers::NONE, Key::Enter);
    let changes = bed.state_mut().changes();
    let [QueueChange::Release(Ticket(102), Some(draft))] = changes.as_slice() else {
        panic!("{changes:?}")
    };
    assert_eq!(&*draft.text, "Second in another way");
    let ticket = draft.ticket;
    receipt(&mut bed, ticket, Fate::Queued);
    assert_eq!(composed(&bed), "Half a thought", "what was being written comes back");
    assert!(!says(&bed));
}

#[test]
fn escape_releases_it_unchanged_and_does_not_stop() {
    let mut bed = three();
    press(&mut bed, "Edit waiting 1");
    bed.state_mut().told();
    write(&mut bed, " changed");
    key(&mut bed, Modifiers::NONE, Key::Escape);
    assert_eq!(bed.state_mut().told(), [Command::Queue(QueueChange::Release(Ticket(101), None))]);
    assert_eq!(composed(&bed), "");
    key(&mut bed, Modifiers::NONE, Key::Escape);
    assert_eq!(bed.state_mut().told(), [Command::Stop]);
}

/// It may have been said before it could be held: that is told, and no word is lost.
#[test]
fn what_was_said_before_it_could_be_held_is_told() {
    for (typed, left) in [("", ""), (" and more", "First and more")] {
        let mut bed = three();
        press(&mut bed, "Edit waiting 1");
        write(&mut bed, typed);
        bed.state_mut().wait(&[(102, "Second", STEER)]);
        receipt(&mut bed, Ticket(101), Fate::Accepted(MessageId(9)));
        assert!(has(&bed, "It was sent before it could be changed."));
        assert_eq!(composed(&bed), left);
    }
}

#[test]
fn alt_up_takes_the_newest_back_and_then_the_one_before() {
    let mut bed = three();
    focus_box(&mut bed);
    key(&mut bed, Modifiers::ALT, Key::ArrowUp);
    assert_eq!(composed(&bed), "Third");
    key(&mut bed, Modifiers::ALT | Modifiers::SHIFT, Key::ArrowUp);
    key(&mut bed, Modifiers::ALT, Key::ArrowUp);
    assert_eq!(composed(&bed), "Second");
    let t = Ticket;
    assert_eq!(
        bed.state_mut().changes(),
        [
            QueueChange::Hold(t(103)),
            QueueChange::Move { ticket: t(103), before: Some(t(102)) },
            QueueChange::Release(t(103), None),
            QueueChange::Hold(t(102)),
        ]
    );
}

/// What is taken out goes back into the box, or can be put there.
#[test]
fn what_is_taken_out_is_not_lost() {
    let mut bed = three();
    press(&mut bed, "Take out 1");
    assert_eq!(bed.state_mut().changes(), [QueueChange::Remove(Ticket(101))]);
    assert_eq!(composed(&bed), "First");
    press(&mut bed, "Take out 3");
    assert_eq!(composed(&bed), "First");
    assert!(has(&bed, "Taken out: Third"));
    press(&mut bed, "Put it into the text");
    assert_eq!(composed(&bed), "First\n\nThird");
}

#[test]
fn a_paused_queue_says_so_and_resumes() {
    let mut bed = three();
    assert!(!has(&bed, "Resume"));
    bed.state_mut().snapshot.is_queue_paused = true;
    bed.run_steps(3);
    assert!(bed.query_by_label_contains("Paused: nothing of it is sent").is_some());
    press(&mut bed, "Resume");
    assert_eq!(bed.state_mut().changes(), [QueueChange::Resume]);
}

/// A long queue scrolls: the box below it stays on screen.
#[test]
fn sixteen_that_wait_scroll() {
    let words: Vec<String> = (1..=16).map(|i| format!("Number {i}")).collect();
    let queued = words.iter().zip(101..).map(|(words, ticket)| (ticket, words.as_str(), NEXT));
    let bed = waiting(&queued.collect::<Vec<_>>());
    let text = bed.get_by_role(Role::MultilineTextInput).rect();
    assert!(text.top() > 500.0 && text.bottom() < 760.0, "{text:?}");
    let first = bed.get_by_label("Waits as number 1: Number 1").rect();
    assert!(text.top() - first.top() < 200.0, "{first:?} above {text:?}");
}

/// What is read does not move when something is queued or said.
#[test]
fn nothing_that_is_read_moves_with_the_queue() {
    let long: String = (0..80).map(|i| format!("Line {i}.\n\n")).collect();
    let mut bed = bed(vec![prompt(1, "Question"), answer(2, &long)]);
    bed.state_mut().view.as_mut().expect("a view").scroll_by(-600.0);
    bed.state_mut().become_busy();
    bed.run_steps(3);
    let first = |bed: &Bed| bed.state().view().visible().placed.first().map(|p| (p.id, p.y));
    let before = first(&bed);
    bed.state_mut().wait(&[(101, "First", NEXT), (102, "Second", NEXT)]);
    bed.run_steps(3);
    assert_eq!(first(&bed), before);
    bed.state_mut().wait(&[]);
    bed.run_steps(3);
    assert_eq!(first(&bed), before);
}

/// A turn that broke off can be tried again, or go on from where it stands.
#[test]
fn a_turn_that_broke_off_can_go_on() {
    let ends = [
        (EndState::Incomplete, true),
        (EndState::Cancelled, true),
        (EndState::Complete { reason: StopReason::Length, tools_may_run: false }, true),
        (EndState::Complete { reason: StopReason::Stop, tools_may_run: false }, false),
    ];
    for (end, offers) in ends {
        let mut bed = bed(vec![prompt(1, "Question")]);
        let half = Arc::new(answer(2, "Half an ans"));
        bed.state_mut().snapshot.entries.push(super::bed::entry(half));
        bed.state_mut().snapshot.end = Some(Arc::new(end.clone()));
        bed.run_steps(3);
        assert_eq!(has(&bed, "Retry"), offers, "{end:?}");
        assert_eq!(has(&bed, "Continue from here"), offers, "{end:?}");
        if offers {
            press(&mut bed, "Continue from here");
            let told = bed.state_mut().told();
            let [Command::Send(draft)] = told.as_slice() else { panic!("{told:?}") };
            assert_eq!(&*draft.text, "Continue where you stopped.");
        }
    }
}
