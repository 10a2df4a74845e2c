//! Choosing whole messages.

use egui::{Key, Modifiers, PointerButton, Pos2};
use letterpress::{model::MessageId, view::ViewCommand};

use super::bed::{Bed, answer, bed, copied, has, hover, key, press, prompt};
use egui_kittest::kittest::Queryable as _;

fn talk() -> Bed {
    let messages = (1..=8).map(|i| match i % 2 {
        1 => prompt(i, &format!("Question {i}")),
        _ => answer(i, &format!("Answer {i}")),
    });
    let mut bed = bed(messages.collect());
    hover(&mut bed, 3);
    press(&mut bed, "More for this message");
    press(&mut bed, "Select messages…");
    bed
}

fn click(bed: &mut Bed, id: u64, modifiers: Modifiers) {
    let placed = bed.state().view().visible().placed.iter();
    let mut placed = placed.filter(|place| place.id.message == MessageId(id));
    let place = placed.next_back().expect("it is on screen");
    let pos = Pos2::new(500.0, place.y + place.height - 6.0);
    bed.event_modifiers(egui::Event::PointerMoved(pos), modifiers);
    for pressed in [true, false] {
        let button = PointerButton::Primary;
        let event = egui::Event::PointerButton { pos, button, pressed, modifiers };
        bed.event_modifiers(event, modifiers);
    }
    bed.run_steps(3);
}

fn chosen(bed: &Bed) -> Vec<u64> {
    bed.state().view().chosen().iter().map(|id| id.0).collect()
}

#[test]
fn clicks_choose_and_shift_chooses_all_between() {
    let mut bed = talk();
    assert_eq!(chosen(&bed), [3]);
    assert!(has(&bed, "1 message"));
    click(&mut bed, 6, Modifiers::SHIFT);
    assert_eq!(chosen(&bed), [3, 4, 5, 6]);
    click(&mut bed, 5, Modifiers::COMMAND);
    click(&mut bed, 1, Modifiers::NONE);
    assert_eq!(chosen(&bed), [1, 3, 4, 6]);
    assert!(has(&bed, "4 messages"));
    let text = copied(&mut bed, |bed| bed.get_by_label("Copy").click());
    let expected = "## You\n\nQuestion 1\n\n## You\n\nQuestion 3\n\n## Assistant\n\nAnswer 4\n\n## Assistant\n\nAnswer 6";
    assert_eq!(text.as_deref(), Some(expected));
    press(&mut bed, "Export…");
    let messages = [1, 3, 4, 6].map(MessageId).into();
    assert_eq!(bed.state().commands, [ViewCommand::Export { messages }]);
    key(&mut bed, Modifiers::COMMAND, Key::A);
    assert_eq!(chosen(&bed).len(), 8);
    key(&mut bed, Modifiers::NONE, Key::Escape);
    assert!(!bed.state().view().is_choosing());
    assert!(!has(&bed, "Export…"));
}

/// A click that chooses does nothing else, and Escape does not stop an answer.
#[test]
fn while_choosing_clicks_and_escape_do_nothing_else() {
    let mut bed = talk();
    bed.state_mut().become_busy();
    click(&mut bed, 2, Modifiers::NONE);
    assert!(!has(&bed, "Copy message"), "there is no strip meanwhile");
    key(&mut bed, Modifiers::NONE, Key::Escape);
    assert!(bed.state_mut().told().is_empty());
    assert!(!bed.state().view().is_choosing());
}
