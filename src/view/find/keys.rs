//! Keys of finding.

use egui::{Event, Key, Modifiers, Popup, Ui};

use super::{Bar, Find, stepping::Way};
use crate::view::transcript::TranscriptView;

/// Takes the keys that belong to finding.
pub(crate) fn keys(view: &mut TranscriptView, ui: &Ui) {
    let find = &mut view.find;
    // A dialog has the keys while it is open.
    if find.bar == Bar::Forbidden || ui.ctx().memory(|memory| memory.top_modal_layer().is_some()) {
        return;
    }
    let pressed =
        |modifiers: Modifiers, key: Key| ui.input_mut(|input| input.consume_key(modifiers, key));
    if pressed(Modifiers::COMMAND, Key::F) {
        find.wishes.open = true;
    }
    for (modifiers, key, way) in STEPS {
        if pressed(*modifiers, *key) {
            find.step(*way);
        }
    }
    if !find.is_open() {
        return;
    }
    let is_composing = ui.input(|input| input.events.iter().any(|e| matches!(e, Event::Ime(_))));
    let is_menu_open = Popup::is_any_open(ui.ctx());
    if !is_composing && !is_menu_open && pressed(Modifiers::NONE, Key::Escape) {
        find.wishes.close = true;
    }
    let has_focus = find.focus.field.is_some_and(|field| ui.ctx().memory(|m| m.has_focus(field)));
    if !has_focus || is_composing {
        return;
    }
    // Shift first: without it the key matches either way.
    for (modifiers, way) in [(Modifiers::SHIFT, Way::Backward), (Modifiers::NONE, Way::Forward)] {
        if pressed(modifiers, Key::Enter) {
            find.step(way);
        }
    }
    let needle = &mut find.needle;
    let toggles = [
        (Key::C, &mut needle.match_case),
        (Key::W, &mut needle.whole_word),
        (Key::R, &mut needle.regex),
    ];
    for (key, on) in toggles {
        if pressed(Modifiers::ALT, key) {
            *on = !*on;
            // Some keyboards write a letter with this key.
            ui.input_mut(|input| input.events.retain(|event| !matches!(event, Event::Text(_))));
        }
    }
}

const STEPS: &[(Modifiers, Key, Way)] = &[
    (Modifiers::SHIFT, Key::F3, Way::Backward),
    (Modifiers::NONE, Key::F3, Way::Forward),
    (Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::G, Way::Backward),
    (Modifiers::COMMAND, Key::G, Way::Forward),
];

impl Find {
    /// Wants the next hit or the one before; with a closed bar and nothing to look for, the
    /// bar.
    fn step(&mut self, way: Way) {
        if self.needle.text.is_empty() {
            self.wishes.open = true;
        } else {
            self.wishes.step = Some(way);
        }
    }
}
