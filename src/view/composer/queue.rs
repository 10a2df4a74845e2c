//! What waits to be said: in its order, with how it will be said, and open to every change
//! until then.

use std::sync::Arc;

use egui::{
    Align, Button, CornerRadius, Key, Label, Layout, Modifiers, Rect, Response, RichText, Role,
    ScrollArea, Sense, Ui, UiBuilder, WidgetInfo, vec2,
};

use super::{
    Composer, Wish,
    editing::Written,
    keys::consume,
    widgets::{icon_font, iconed, note, secondary, sign},
};
use crate::{
    layout::{Palette, face, icon},
    model::{Command, Delivery, Draft, QueueChange, Queued, Snapshot, Ticket},
};

/// Height of a row, in points.
const ROW: f32 = 30.0;
/// Rows that are shown at once; more scroll.
const ROWS_MAX: f32 = 4.5;
/// Words of one that are shown.
const WORDS: usize = 200;

/// The state of the queue's rows.
#[derive(Debug, Default)]
pub(super) struct Queue {
    dragged: Option<Ticket>,
    /// What was taken out and did not fit into the box, which held something else.
    removed: Option<Arc<Draft>>,
}

/// What was asked of a row.
enum Asked {
    Edit,
    Remove,
    Move(isize),
    Switch,
}

impl Composer {
    /// Shows what waits.
    pub(super) fn queue_ui(
        &mut self,
        ui: &mut Ui,
        snapshot: &Snapshot,
        palette: &Palette,
        wishes: &mut Vec<Wish>,
    ) {
        let queued = &snapshot.queued;
        self.removed_ui(ui, palette);
        if queued.is_empty() {
            self.queue.dragged = None;
            return;
        }
        head_ui(ui, snapshot, palette, wishes);
        // A panel that grows with what it holds offers no height by itself.
        let height = ROW * ROWS_MAX.min(queued.len() as f32);
        let scroll = ScrollArea::vertical().id_salt("queue").max_height(height);
        let scroll = scroll.min_scrolled_height(height);
        let mut asked = None;
        scroll.auto_shrink([false, true]).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            let top = ui.cursor().top();
            let mut dropped = None;
            for (i, one) in queued.iter().enumerate() {
                let (response, what) = self.row_ui(ui, (i, queued.len()), one, palette);
                if let Some(what) = what {
                    asked = Some((i, what));
                }
                if let Some(place) = self.drag(ui, &response, (i, queued.len()), one, top) {
                    dropped = Some(place);
                }
            }
            if let Some(dropped) = dropped {
                place_ui(ui, palette, top, dropped);
                if self.queue.dragged.is_none() {
                    asked = asked.take().or_else(|| dropped_at(dropped));
                }
            }
        });
        ui.add_space(6.0);
        if let Some((i, what)) = asked {
            self.change(queued, i, &what, wishes);
        }
    }

    /// Keys for what waits, while somebody writes: Alt+Up takes the newest one back, and
    /// with Shift the one that is edited, else the newest, moves.
    pub(super) fn queue_keys(&mut self, ui: &Ui, snapshot: &Snapshot, wishes: &mut Vec<Wish>) {
        let queued = &snapshot.queued;
        let Some(newest) = queued.len().checked_sub(1) else { return };
        let pressed = |modifiers, key| ui.input_mut(|input| consume(input, modifiers, key));
        let edited = queued.iter().position(|one| self.edits(one.draft.ticket));
        let moves = Modifiers::ALT | Modifiers::SHIFT;
        for (key, step) in [(Key::ArrowUp, -1), (Key::ArrowDown, 1)] {
            if pressed(moves, key) {
                self.change(queued, edited.unwrap_or(newest), &Asked::Move(step), wishes);
            }
        }
        if pressed(Modifiers::ALT, Key::ArrowUp) {
            // Pressed again, it takes back the one before.
            let next = edited.map_or(Some(newest), |at| at.checked_sub(1));
            if let Some(next) = next {
                self.change(queued, next, &Asked::Edit, wishes);
            }
        }
    }

    fn change(&mut self, queued: &[Queued], at: usize, asked: &Asked, wishes: &mut Vec<Wish>) {
        let Some(one) = queued.get(at) else { return };
        let ticket = one.draft.ticket;
        let change = match asked {
            Asked::Edit => return self.edit_queued(one, wishes),
            Asked::Remove => {
                self.take_out(one);
                QueueChange::Remove(ticket)
            }
            Asked::Move(step) => {
                let Some(before) = moved(queued, at, *step) else { return };
                QueueChange::Move { ticket, before }
            }
            Asked::Switch => QueueChange::SetDelivery(
                ticket,
                match one.delivery {
                    Delivery::Next => Delivery::Steer,
                    Delivery::Steer => Delivery::Next,
                },
            ),
        };
        wishes.push(Wish::Tell(Command::Queue(change)));
    }

    /// What is taken out goes back into the box if that is empty; else it can be put there.
    fn take_out(&mut self, one: &Queued) {
        if self.edits(one.draft.ticket) {
            // It stands in the box already, and stays there with what stood there before.
            if let Some(editing) = self.editing.take() {
                editing.aside.put_back(self);
            }
        } else if self.is_blank() && self.editing.is_none() {
            written(&one.draft).put_back(self);
        } else {
            self.queue.removed = Some(Arc::clone(&one.draft));
        }
    }

    fn removed_ui(&mut self, ui: &mut Ui, palette: &Palette) {
        let Some(draft) = &self.queue.removed else { return };
        let words = format!("Taken out: {}", first_words(&draft.text));
        let (mut takes, mut forgets) = (false, false);
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                forgets = sign(ui, palette, icon::X, ("Away with it", "Away with it"), true);
                takes = ui.small_button("Put it into the text").clicked();
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    let words = RichText::new(words).size(face::CAPTION_SIZE).color(palette.faint);
                    ui.add(Label::new(words).truncate());
                });
            });
        });
        if takes || forgets {
            let draft = self.queue.removed.take().filter(|_| takes);
            if let Some(draft) = draft {
                let rest = Written {
                    text: std::mem::take(&mut self.text),
                    attachments: std::mem::take(&mut self.attachments),
                };
                written(&draft).put_back(self);
                rest.put_back(self);
            }
        }
    }

    fn row_ui(
        &self,
        ui: &mut Ui,
        (i, of): (usize, usize),
        one: &Queued,
        palette: &Palette,
    ) -> (Response, Option<Asked>) {
        let size = vec2(ui.available_width(), ROW);
        let (_, rect) = ui.allocate_space(size);
        let id = ui.scope_id().with(("queued", one.draft.ticket));
        let response = ui.interact(rect, id, Sense::click_and_drag());
        let number = i + 1;
        let words = first_words(&one.draft.text);
        response.widget_info(|| {
            WidgetInfo::labeled(Role::ListItem, true, format!("Waits as number {number}: {words}"))
        });
        let is_edited = one.is_held || self.edits(one.draft.ticket);
        let fill = match (response.has_focus() || response.dragged(), response.hovered()) {
            (true, _) => Some(palette.raised),
            (false, true) => Some(palette.raised.gamma_multiply(0.6)),
            (false, false) => None,
        };
        if let Some(fill) = fill {
            ui.painter().rect_filled(rect, CornerRadius::same(8), fill);
        }
        let builder = UiBuilder::new()
            .max_rect(rect.shrink2(vec2(6.0, 0.0)))
            .layout(Layout::left_to_right(Align::Center));
        let mut row = ui.new_child(builder);
        let asked = row_inner_ui(&mut row, (number, of), one, is_edited, palette);
        let asked = asked.or_else(|| row_keys(ui, &response));
        (response, asked)
    }

    /// Leads a row to another place; gives the place while it is led.
    fn drag(
        &mut self,
        ui: &Ui,
        response: &Response,
        (i, of): (usize, usize),
        one: &Queued,
        top: f32,
    ) -> Option<(usize, usize)> {
        if response.drag_started() {
            self.queue.dragged = Some(one.draft.ticket);
        }
        let is_led = self.queue.dragged == Some(one.draft.ticket);
        let pos = response.interact_pointer_pos().filter(|_| is_led)?;
        ui.ctx().set_cursor_icon(egui::CursorIcon::Grabbing);
        let place = ((pos.y - top) / ROW).round().clamp(0.0, of as f32) as usize;
        if response.drag_stopped() {
            self.queue.dragged = None;
        }
        Some((i, place))
    }
}

/// How many wait, and whether they rest.
fn head_ui(ui: &mut Ui, snapshot: &Snapshot, palette: &Palette, wishes: &mut Vec<Wish>) {
    ui.horizontal(|ui| {
        ui.set_min_height(28.0);
        let count = snapshot.queued.len();
        if snapshot.is_queue_paused {
            ui.label(iconed(icon::PAUSE, "Paused: nothing of it is sent", palette.warn));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let hint = "Go on sending what waits";
                if secondary(ui, palette, "Resume").on_hover_text(hint).clicked() {
                    wishes.push(Wish::Tell(Command::Queue(QueueChange::Resume)));
                }
            });
        } else {
            let words = if count == 1 { "1 waits".to_owned() } else { format!("{count} wait") };
            ui.label(iconed(icon::CLOCK, &words, palette.dim));
            note(ui, palette, "Alt ↑ takes the newest back");
        }
    });
}

fn row_inner_ui(
    ui: &mut Ui,
    (number, of): (usize, usize),
    one: &Queued,
    is_edited: bool,
    palette: &Palette,
) -> Option<Asked> {
    let mut asked = None;
    ui.spacing_mut().item_spacing.x = 2.0;
    let grip = RichText::new(icon::LIST).font(icon_font(13.0)).color(palette.faint);
    ui.add(Label::new(grip).selectable(false));
    ui.add_space(6.0);
    if chip_ui(ui, number, one.delivery, palette) {
        asked = Some(Asked::Switch);
    }
    ui.add_space(6.0);
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let mut button = |ui: &mut Ui, icon, what: &str, hint: &str, can, which| {
            let name = format!("{what} {number}");
            if sign(ui, palette, icon, (&name, hint), can) {
                asked = Some(which);
            }
        };
        button(ui, icon::X, "Take out", "Take it out", true, Asked::Remove);
        let (can_down, can_up) = (number < of, number > 1);
        button(ui, icon::ARROW_DOWN, "Move down", "Later", can_down, Asked::Move(1));
        button(ui, icon::ARROW_UP, "Move up", "Earlier", can_up, Asked::Move(-1));
        button(ui, icon::PENCIL_SIMPLE, "Edit waiting", "Edit", !is_edited, Asked::Edit);
        ui.add_space(6.0);
        if is_edited {
            note(ui, palette, "being edited");
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let color = if is_edited { palette.faint } else { palette.text };
            let words = RichText::new(shown_words(&one.draft)).size(face::INTERFACE_SIZE);
            ui.add(Label::new(words.color(color)).truncate().selectable(false));
        });
    });
    asked
}

/// When it is said; a click changes that.
fn chip_ui(ui: &mut Ui, number: usize, delivery: Delivery, palette: &Palette) -> bool {
    let (words, hint, color) = match delivery {
        Delivery::Next => (
            "after this turn",
            "Said when this turn is over. A click lets it steer this turn instead.",
            palette.dim,
        ),
        Delivery::Steer => (
            "steers",
            "Said between two replies of this turn. A click lets it wait for the end instead.",
            palette.accent,
        ),
    };
    let text = RichText::new(words).size(face::CAPTION_SIZE).color(color);
    let fill = if palette.dark { palette.raised } else { palette.panel };
    let button = Button::new(text).fill(fill).corner_radius(8).min_size(vec2(98.0, 22.0));
    let response = ui.add(button);
    response.widget_info(|| {
        WidgetInfo::labeled(Role::Button, true, format!("Number {number} {words}"))
    });
    response.on_hover_text(hint).clicked()
}

/// Keys of a row that has the keyboard.
fn row_keys(ui: &Ui, response: &Response) -> Option<Asked> {
    if !response.has_focus() {
        return None;
    }
    let pressed = |modifiers, key| ui.input_mut(|input| consume(input, modifiers, key));
    let moves = Modifiers::ALT | Modifiers::SHIFT;
    if pressed(moves, Key::ArrowUp) {
        return Some(Asked::Move(-1));
    }
    if pressed(moves, Key::ArrowDown) {
        return Some(Asked::Move(1));
    }
    if pressed(Modifiers::NONE, Key::Delete) {
        return Some(Asked::Remove);
    }
    pressed(Modifiers::NONE, Key::Enter).then_some(Asked::Edit)
}

/// Where one stands that moves by a step: before which other, or at the end. None when it
/// cannot move so.
fn moved(queued: &[Queued], at: usize, step: isize) -> Option<Option<Ticket>> {
    let to = at.checked_add_signed(step).filter(|to| *to < queued.len())?;
    let before = if step < 0 { to } else { to + 1 };
    Some(queued.get(before).map(|one| one.draft.ticket))
}

/// What a row that was let go at a place asks for.
fn dropped_at((from, place): (usize, usize)) -> Option<(usize, Asked)> {
    // The places before and behind it are where it is.
    let step = match place {
        place if place <= from => place as isize - from as isize,
        place => place as isize - from as isize - 1,
    };
    (step != 0).then_some((from, Asked::Move(step)))
}

fn place_ui(ui: &Ui, palette: &Palette, top: f32, (_, place): (usize, usize)) {
    let y = top + ROW * place as f32;
    let x = ui.max_rect().x_range();
    let line = Rect::from_x_y_ranges(x, y - 1.0..=y + 1.0);
    ui.painter().rect_filled(line, 1.0, palette.accent);
}

fn written(draft: &Draft) -> Written {
    Written { text: draft.text.to_string(), attachments: draft.attachments.clone() }
}

fn first_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(WORDS).collect()
}

fn shown_words(draft: &Draft) -> String {
    let words = first_words(&draft.text);
    match (draft.attachments.len(), words.is_empty()) {
        (0, _) => words,
        (1, true) => "1 attachment".to_owned(),
        (n, true) => format!("{n} attachments"),
        (n, false) => format!("{words}  (+{n})"),
    }
}
