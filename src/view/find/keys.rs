//! Keys of finding.

use egui::{Event, Key, Modifiers, Popup, Ui};

use super::Find;
use crate::view::transcript::TranscriptView;

/// Takes the keys that belong to finding.
pub(crate) fn keys(view: &mut TranscriptView, ui: &Ui) {
    let find = &mut view.find;
    // A dialog has the keys while it is open.
    if ui.ctx().memory(|memory| memory.top_modal_layer().is_some()) {
        return;
    }
    let pressed =
        |modifiers: Modifiers, key: Key| ui.input_mut(|input| input.consume_key(modifiers, key));
    if pressed(Modifiers::COMMAND, Key::F) {
        find.wishes.open = true;
    }
    for (modifiers, key, forward) in STEPS {
        if pressed(*modifiers, *key) {
            find.step(*forward);
        }
    }
    if !find.is_open {
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
    for (modifiers, forward) in [(Modifiers::SHIFT, false), (Modifiers::NONE, true)] {
        if pressed(modifiers, Key::Enter) {
            find.step(forward);
        }
    }
    for (key, toggle) in TOGGLES {
        if pressed(Modifiers::ALT, *key) {
            toggle(find);
            // Some keyboards write a letter with this key.
            ui.input_mut(|input| input.events.retain(|event| !matches!(event, Event::Text(_))));
        }
    }
}

const STEPS: &[(Modifiers, Key, bool)] = &[
    (Modifiers::SHIFT, Key::F3, false),
    (Modifiers::NONE, Key::F3, true),
    (Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::G, false),
    (Modifiers::COMMAND, Key::G, true),
];

const TOGGLES: &[(Key, fn(&mut Find))] = &[
    (Key::C, |find| find.needle.match_case ^= true),
    (Key::W, |find| find.needle.whole_word ^= true),
    (Key::R, |find| find.needle.regex ^= true),
];

impl Find {
    /// Wants the next hit or the one before; with a closed bar and nothing to look for, the
    /// bar.
    fn step(&mut self, forward: bool) {
        if self.needle.text.is_empty() {
            self.wishes.open = true;
        } else {
            self.wishes.step = Some(forward);
        }
    }
}
