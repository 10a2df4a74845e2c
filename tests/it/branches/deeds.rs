//! What can be done with a message: strip, menu and keys.

use egui::{Key, Modifiers};
use letterpress::{
    model::{Keeping, MessageId},
    view::{Hands, ViewCommand},
};

use super::bed::{Bed, answer, bed, copied, has, hover, key, places, press, prompt};
use egui_kittest::kittest::Queryable as _;

fn talk() -> Bed {
    bed(vec![
        prompt(1, "How **fast** is it?"),
        answer(2, "Very:\n\n- one `tick`\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
        prompt(3, "And now?"),
        answer(4, "Faster."),
    ])
}

#[test]
fn the_strip_comes_with_the_pointer_and_moves_nothing() {
    let mut bed = talk();
    bed.remove_cursor();
    bed.run_steps(3);
    let before = places(&bed);
    let set = bed.state().view().laid_out();
    assert!(!has(&bed, "Copy message"));
    hover(&mut bed, 1);
    assert!(has(&bed, "Copy message") && has(&bed, "Edit message"));
    assert!(!has(&bed, "Answer anew"), "a prompt is not answered anew");
    hover(&mut bed, 2);
    assert!(has(&bed, "Copy message") && has(&bed, "Answer anew"));
    assert!(!has(&bed, "Edit message"), "an answer is not edited");
    assert_eq!(places(&bed), before);
    assert_eq!(bed.state().view().laid_out(), set, "nothing is set for it");
    bed.remove_cursor();
    bed.run_steps(3);
    assert!(!has(&bed, "Copy message"));
    assert_eq!(places(&bed), before);
}

/// The pointer can go from the words to the strip without losing it, past other messages.
#[test]
fn the_strip_stays_while_the_pointer_is_on_it() {
    let mut bed = talk();
    hover(&mut bed, 1);
    let lowest = bed.get_by_label("More for this message").rect().center();
    bed.hover_at(lowest);
    bed.run_steps(3);
    assert!(has(&bed, "Edit message"), "it is still the prompt's");
}

#[test]
fn a_message_is_copied_as_it_was_written_and_as_it_reads() {
    let mut bed = talk();
    hover(&mut bed, 2);
    let text = copied(&mut bed, |bed| bed.get_by_label("Copy message").click());
    let source = "Very:\n\n- one `tick`\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |";
    assert_eq!(text.as_deref(), Some(source));
    bed.run_steps(3);
    press(&mut bed, "More for this message");
    let text = copied(&mut bed, |bed| bed.get_by_label("Copy as plain text").click());
    assert_eq!(text.as_deref(), Some("Very:\n\n• one tick\n• two\n\na\tb\n1\t2"));
    press(&mut bed, "More for this message");
    let record = copied(&mut bed, |bed| bed.get_by_label("Copy as JSON").click());
    let record: serde_json::Value =
        serde_json::from_str(&record.expect("it is copied")).expect("it is JSON");
    assert_eq!(record["parts"][0]["text"], source);
    let last = copied(&mut bed, |bed| {
        bed.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::C);
    });
    assert_eq!(last.as_deref(), Some("Faster."));
}

#[test]
fn any_prompt_can_be_edited_and_any_answer_made_anew() {
    let mut bed = talk();
    hover(&mut bed, 1);
    press(&mut bed, "Edit message");
    hover(&mut bed, 2);
    press(&mut bed, "Answer anew");
    key(&mut bed, Modifiers::COMMAND, Key::R);
    let message = MessageId;
    assert_eq!(
        bed.state().commands,
        [
            ViewCommand::Edit { message: message(1) },
            ViewCommand::Regenerate { message: message(2) },
            ViewCommand::Regenerate { message: message(4) },
        ]
    );
}

#[test]
fn the_menu_opens_under_the_pointer_and_by_key() {
    let mut bed = talk();
    hover(&mut bed, 4);
    let pos = bed.get_by_label("Faster.").rect().center();
    for pressed in [true, false] {
        let button = egui::PointerButton::Secondary;
        let modifiers = Modifiers::NONE;
        bed.event(egui::Event::PointerButton { pos, button, pressed, modifiers });
    }
    bed.run_steps(3);
    press(&mut bed, "Quote");
    let quote = ViewCommand::Quote { text: "Faster.".into() };
    assert_eq!(bed.state().commands, [quote]);
    bed.remove_cursor();
    bed.ctx.memory_mut(|memory| memory.stop_text_input());
    key(&mut bed, Modifiers::SHIFT, Key::F10);
    assert!(has(&bed, "Copy as Markdown"));
    key(&mut bed, Modifiers::NONE, Key::Escape);
    assert!(!has(&bed, "Copy as Markdown"));
}

/// Where nothing may be changed, nothing that changes is offered.
#[test]
fn who_only_reads_is_offered_nothing_that_changes() {
    let mut bed = talk();
    bed.state_mut().hands = Hands::Reading;
    hover(&mut bed, 1);
    assert!(has(&bed, "Copy message") && !has(&bed, "Edit message"));
    hover(&mut bed, 2);
    assert!(!has(&bed, "Answer anew"));
    press(&mut bed, "More for this message");
    assert!(has(&bed, "Quote") && has(&bed, "Select messages…"));
    assert!(!has(&bed, "Answer anew"));
    key(&mut bed, Modifiers::COMMAND, Key::R);
    assert!(bed.state().commands.is_empty());
}

#[test]
fn a_conversation_that_somebody_else_writes_says_so_in_the_place_of_the_box() {
    let mut bed = talk();
    bed.state_mut().snapshot.keeping = Keeping::ReadOnly("Another window writes it.".into());
    bed.run_steps(3);
    assert!(has(&bed, "Another window writes it."));
    assert!(!has(&bed, "Send"));
    assert!(bed.query_by_role(egui::Role::MultilineTextInput).is_none());
}

/// Idle means no frames, also with the strip on screen.
#[test]
fn the_strip_asks_for_no_frames() {
    let mut bed = talk();
    hover(&mut bed, 2);
    bed.ctx.memory_mut(|memory| memory.stop_text_input());
    bed.run_steps(20);
    let delay = bed.output().viewport_output.values().map(|out| out.repaint_delay).min();
    assert!(delay.is_none_or(|delay| delay.as_secs() >= 1), "{delay:?}");
}
