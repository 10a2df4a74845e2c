//! Keys of the composer.
//!
//! They are taken before the box sees them, and with exactly the modifiers they are named
//! with: Shift+Enter is not Enter.

use egui::{Event, InputState, Key, Modifiers, Ui};

use super::{Composer, SendKey, Wish};
use crate::{
    model::{Command, Snapshot},
    perf::Reason,
    view::governor,
};

/// How what was written is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// At once, or when the turn is over.
    Send,
    /// In the turn that goes on.
    Steer,
}

impl Composer {
    /// Takes the keys of the box while it has them. Gives how what is written is to be handed
    /// over, once the box has taken what was typed before that key.
    pub(super) fn keys(
        &mut self,
        ui: &Ui,
        snapshot: &Snapshot,
        wishes: &mut Vec<Wish>,
    ) -> Option<How> {
        let has_focus = self.text_id.is_some_and(|id| ui.memory(|memory| memory.has_focus(id)));
        // While an input method composes, Enter and Escape are its own.
        if !has_focus || is_composing(ui) {
            return None;
        }
        let how = self.take_enter(ui);
        self.queue_keys(ui, snapshot, wishes);
        if !self.text.is_empty() || self.editing.is_some() || how.is_some() {
            return how;
        }
        let pressed = |modifiers, key| ui.input_mut(|input| consume(input, modifiers, key));
        if pressed(Modifiers::NONE, Key::ArrowUp) {
            wishes.push(Wish::EditLast);
        }
        for (key, is_next) in [(Key::ArrowLeft, false), (Key::ArrowRight, true)] {
            if pressed(Modifiers::ALT, key) {
                wishes.push(Wish::Version { is_next });
            }
        }
        None
    }

    /// Takes the first key that hands over. Of a slow frame, what was typed before it is part
    /// of what is handed over, and what was typed behind it is the box's in the next frame.
    fn take_enter(&mut self, ui: &Ui) -> Option<How> {
        let held = std::mem::take(&mut self.held);
        ui.input_mut(|input| {
            input.events.splice(..0, held);
            let found = input.events.iter().position(|event| self.hands_over(event).is_some())?;
            let behind = input.events.split_off(found);
            let mut behind = behind.into_iter();
            let how = behind.next().and_then(|key| self.hands_over(&key));
            let (typed, rest) = behind.partition(is_typed);
            self.held = typed;
            input.events.extend::<Vec<_>>(rest);
            how
        })
        .inspect(|_| {
            if !self.held.is_empty() {
                governor::wake(ui, Reason::Input);
            }
        })
    }

    fn hands_over(&self, event: &Event) -> Option<How> {
        let Event::Key { key: Key::Enter, pressed: true, modifiers, .. } = event else {
            return None;
        };
        let (send, steer) = match self.send_key {
            SendKey::Enter => (Modifiers::NONE, Modifiers::COMMAND),
            SendKey::CtrlEnter => (Modifiers::COMMAND, Modifiers::ALT),
        };
        // Alt+Enter steers in both, for who changes between them.
        if is_exactly(*modifiers, steer) || is_exactly(*modifiers, Modifiers::ALT) {
            Some(How::Steer)
        } else {
            is_exactly(*modifiers, send).then_some(How::Send)
        }
    }

    /// Hands over what was written.
    pub(super) fn send(&mut self, how: How, snapshot: &Snapshot, wishes: &mut Vec<Wish>) {
        if self.sending.is_some() || self.is_blank() {
            return;
        }
        if self.editing.is_some() {
            return self.send_edited(wishes);
        }
        let is_busy = snapshot.phase.is_busy();
        let draft = self.take_draft();
        wishes.push(Wish::Tell(match how {
            How::Steer if is_busy => Command::Steer(draft),
            How::Send | How::Steer => Command::Send(draft),
        }));
    }

    /// Escape leaves what is edited, else it stops, wherever the focus is: a text box loses
    /// it by the same key.
    pub(super) fn escape(&mut self, ui: &Ui, snapshot: &Snapshot, wishes: &mut Vec<Wish>) {
        let dialog = ui.memory(|memory| memory.top_modal_layer().is_some());
        if is_composing(ui) || dialog || egui::Popup::is_any_open(ui.ctx()) {
            return;
        }
        if !ui.input(|input| input.key_pressed(Key::Escape)) {
            return;
        }
        if self.leave_editing(wishes) {
            // The key has done its work.
            ui.input_mut(|input| consume(input, Modifiers::NONE, Key::Escape));
        } else if snapshot.phase.is_busy() {
            wishes.push(Wish::Tell(Command::Stop));
        }
    }
}

/// Is it something for the box?
fn is_typed(event: &Event) -> bool {
    matches!(event, Event::Text(_) | Event::Paste(_) | Event::Cut | Event::Key { .. })
}

fn is_composing(ui: &Ui) -> bool {
    ui.input(|input| input.events.iter().any(|event| matches!(event, Event::Ime(_))))
}

/// Takes a key that is pressed with these modifiers and no others.
pub(super) fn consume(input: &mut InputState, modifiers: Modifiers, wanted: Key) -> bool {
    let before = input.events.len();
    input.events.retain(|event| {
        !matches!(event, Event::Key { key, pressed: true, modifiers: with, .. }
            if *key == wanted && is_exactly(*with, modifiers))
    });
    input.events.len() < before
}

fn is_exactly(with: Modifiers, wanted: Modifiers) -> bool {
    with.alt == wanted.alt && with.shift == wanted.shift && with.cmd_ctrl_matches(wanted)
}
