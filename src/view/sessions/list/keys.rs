//! The keyboard in the list: one place for all rows.

use egui::{EventFilter, Id, Key, Modifiers, Rect, Role, Sense, Ui, WidgetInfo, vec2};

use super::{ListWish, SessionList, Shown, list_id};
use crate::view::sessions::{Line, Lines, Listed, SessionId, Shelf, rename::Renaming};

/// Rows that a page moves by.
const PAGE: isize = 10;

impl SessionList {
    /// One place for the keyboard, for all rows.
    pub(super) fn focus_ui(&self, ui: &Ui, id: Id, height: f32) -> bool {
        let min = ui.cursor().min;
        let rect = Rect::from_min_size(min, vec2(ui.available_width(), height));
        let response = ui.interact(rect, id, Sense::focusable_noninteractive());
        response.widget_info(|| WidgetInfo::labeled(Role::Group, true, "Conversations"));
        let focus = response.has_focus() && self.renaming.is_none();
        if focus {
            let filter = EventFilter { vertical_arrows: true, ..EventFilter::default() };
            ui.ctx().memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
        }
        focus
    }

    pub(super) fn keys(
        &mut self,
        ui: &Ui,
        focus: bool,
        shown: &Shown<'_>,
        lines: &Lines,
        wishes: &mut Vec<ListWish>,
    ) {
        let is_key = |event: &egui::Event| matches!(event, egui::Event::Key { pressed: true, .. });
        if !focus || !ui.input(|input| input.events.iter().any(is_key)) {
            return;
        }
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let index = |id: &SessionId| shown.listed.iter().position(|one| one.id == *id);
        let from = self.at.as_ref().and_then(index).and_then(|index| lines.find(index));
        let steps =
            [(Key::ArrowDown, 1), (Key::ArrowUp, -1), (Key::PageDown, PAGE), (Key::PageUp, -PAGE)];
        let mut to = None;
        for (key, by) in steps {
            if pressed(key) {
                to = lines.step(from, by);
            }
        }
        if pressed(Key::Home) {
            to = lines.step(None, 1);
        }
        if pressed(Key::End) {
            to = lines.step(None, -1);
        }
        if let Some(session) = to.and_then(|(_, index)| shown.listed.get(index)) {
            self.at = Some(session.id.clone());
            self.reveal = Some(session.id.clone());
        }
        if let Some(session) = from.and_then(|at| session_at(lines, shown, at)) {
            self.row_keys(ui, session, (shown, lines), wishes);
        }
        if pressed(Key::Escape) {
            ui.ctx().memory_mut(|memory| memory.surrender_focus(list_id()));
        }
    }

    fn row_keys(
        &mut self,
        ui: &Ui,
        session: &Listed,
        (shown, lines): (&Shown<'_>, &Lines),
        wishes: &mut Vec<ListWish>,
    ) {
        let pressed = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
        let id = || session.id.clone();
        let in_new_tab = pressed(Modifiers::COMMAND, Key::Enter);
        if in_new_tab || pressed(Modifiers::NONE, Key::Enter) {
            if self.shelf == Shelf::Trash {
                wishes.push(ListWish::Restore(id()));
            } else {
                wishes.push(ListWish::Open { id: id(), in_new_tab });
            }
        }
        if self.shelf == Shelf::Trash {
            return;
        }
        if pressed(Modifiers::NONE, Key::F2) {
            self.renaming = Some(Renaming::new(id(), &session.title));
        }
        if pressed(Modifiers::NONE, Key::Delete) {
            self.delete(session, (shown, lines), wishes);
        }
    }

    /// The keyboard goes on to the next row, so that several can be deleted one by one.
    pub(super) fn delete(
        &mut self,
        session: &Listed,
        (shown, lines): (&Shown<'_>, &Lines),
        wishes: &mut Vec<ListWish>,
    ) {
        let index = shown.listed.iter().position(|one| one.id == session.id);
        let at = index.and_then(|index| lines.find(index));
        let next = lines.step(at, 1).and_then(|(_, next)| shown.listed.get(next));
        self.at = next.map(|next| next.id.clone()).filter(|next| *next != session.id);
        self.deleted(session.id.clone(), &session.title, shown.clock);
        wishes.push(ListWish::Delete(session.id.clone()));
    }
}

fn session_at<'a>(lines: &Lines, shown: &'a Shown<'_>, at: usize) -> Option<&'a Listed> {
    match lines.get(at)?.0 {
        Line::Session(index) => shown.listed.get(index),
        Line::Caption(_) => None,
    }
}
