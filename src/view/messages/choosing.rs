//! Choosing whole messages: with clicks, with Shift for all between, with keys.

use std::collections::BTreeSet;

use egui::{
    Align2, CursorIcon, FontId, Key, Modifiers, Rect, Response, Role, Sense, Ui, WidgetInfo, pos2,
    vec2,
};

use super::{
    menu::topmost,
    place::{Span, spans},
    widget,
};
use crate::{
    layout::{face, icon},
    model::{MessageId, Source},
    view::{
        pointer,
        transcript::{Geometry, TranscriptView},
    },
};

/// Messages that can be chosen at once: what is copied goes through memory.
pub(super) const CHOSEN_MAX: usize = 20_000;

/// Whole messages that are chosen.
#[derive(Debug, Default)]
pub(super) struct Choosing {
    chosen: BTreeSet<MessageId>,
    /// Where a range begins.
    last: Option<MessageId>,
}

impl Choosing {
    pub(super) fn new(first: Option<MessageId>) -> Self {
        Self { chosen: first.into_iter().collect(), last: first }
    }

    /// By rising ids.
    pub(super) fn ids(&self) -> Vec<MessageId> {
        self.chosen.iter().copied().collect()
    }

    pub(super) fn count(&self) -> usize {
        self.chosen.len()
    }

    fn toggle(&mut self, id: MessageId) {
        if !self.chosen.remove(&id) && self.chosen.len() < CHOSEN_MAX {
            self.chosen.insert(id);
        }
        self.last = Some(id);
    }

    /// Chooses all from the last one to this one.
    fn extend(&mut self, id: MessageId, source: &dyn Source) {
        let rows = self.last.and_then(|last| source.index_of(last)).zip(source.index_of(id));
        let Some((from, to)) = rows else { return self.toggle(id) };
        let room = CHOSEN_MAX.saturating_sub(self.chosen.len());
        let rows = from.min(to)..=from.max(to);
        self.chosen.extend(rows.map(|row| source.row(row).id).take(room));
        self.last = Some(id);
    }

    pub(super) fn all(&mut self, source: &dyn Source) {
        let rows = source.len();
        let rows = rows.saturating_sub(CHOSEN_MAX)..rows;
        self.chosen = rows.map(|row| source.row(row).id).collect();
    }
}

/// Takes clicks on messages while some are chosen, and marks those that are.
pub(crate) fn choose_ui(
    view: &mut TranscriptView,
    ui: &Ui,
    ground: &Response,
    geometry: Geometry,
    source: &dyn Source,
) {
    let spans: Vec<Span> = spans(view, geometry).collect();
    if pointer::is_read_aloud(ui, ground.id) {
        spoken_ui(view, ui, geometry, &spans);
    }
    let Some(choosing) = &mut view.messages.choosing else { return };
    let at = |y: f32| spans.iter().find(|span| span.rect.y_range().contains(y));
    if ground.hovered() {
        ui.ctx().set_cursor_icon(CursorIcon::PointingHand);
    }
    if let (true, Some(pos)) = (ground.clicked(), ground.interact_pointer_pos())
        && let Some(span) = at(pos.y)
    {
        if ui.input(|input| input.modifiers.shift) {
            choosing.extend(span.id, source);
        } else {
            choosing.toggle(span.id);
        }
    }
}

/// A checkbox for each message, for those who do not see them.
fn spoken_ui(view: &TranscriptView, ui: &Ui, geometry: Geometry, spans: &[Span]) {
    let Some(choosing) = &view.messages.choosing else { return };
    for span in spans {
        let rect = span.rect.intersect(geometry.rect);
        let response = ui.interact(rect, widget(ui, "choice").with(span.id), Sense::hover());
        let is_chosen = choosing.chosen.contains(&span.id);
        let name = format!("Message {}", span.row + 1);
        response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, is_chosen, &name));
    }
}

/// Marks the messages that are chosen.
pub(super) fn marks_ui(view: &TranscriptView, ui: &Ui, geometry: Geometry) {
    let Some(choosing) = &view.messages.choosing else { return };
    let palette = view.palette();
    let painter = ui.painter_at(geometry.rect);
    let hover = ui.input(|input| input.pointer.hover_pos());
    let hover = hover.filter(|pos| geometry.rect.contains(*pos));
    for span in spans(view, geometry) {
        let is_chosen = choosing.chosen.contains(&span.id);
        let is_hovered = hover.is_some_and(|pos| span.rect.y_range().contains(pos.y));
        let (left, right) = (geometry.left - 30.0, geometry.left + geometry.width + 12.0);
        let rect = Rect::from_min_max(
            pos2(left.max(geometry.rect.left() + 2.0), (span.words - 12.0).max(span.rect.top())),
            pos2(right, (span.rect.bottom() + 7.0).max(span.words + 16.0)),
        );
        if is_chosen {
            painter.rect_filled(rect, 10.0, palette.selection.gamma_multiply(0.45));
        } else if is_hovered {
            painter.rect_filled(rect, 10.0, palette.text.gamma_multiply(0.035));
        }
        let (mark, color) = match is_chosen {
            true => (icon::CHECK_CIRCLE, palette.accent),
            false => (icon::CIRCLE, palette.faint),
        };
        let font = FontId::new(16.0, egui::FontFamily::Name(face::ICON_NAME.into()));
        let at = rect.left_top() + vec2(15.0, span.words - rect.top() + 11.0);
        painter.text(at, Align2::CENTER_CENTER, mark, font, color);
    }
}

/// Keys while messages are chosen. True when one was taken.
pub(super) fn keys(
    view: &mut TranscriptView,
    ui: &Ui,
    geometry: Geometry,
    source: &dyn Source,
) -> bool {
    let Some(choosing) = &mut view.messages.choosing else { return false };
    let pressed = |modifiers, key| {
        ui.input_mut(|input: &mut egui::InputState| input.consume_key(modifiers, key))
    };
    if pressed(Modifiers::NONE, Key::X) {
        toggle_topmost(view, geometry);
        return true;
    }
    if pressed(Modifiers::NONE, Key::Escape) {
        view.messages.choosing = None;
        return true;
    }
    if pressed(Modifiers::COMMAND, Key::A) {
        choosing.all(source);
        return true;
    }
    let copies =
        ui.input(|input| input.events.iter().any(|event| matches!(event, egui::Event::Copy)));
    if copies {
        super::gather::begin(view, source);
    }
    copies
}

/// Puts the message that keys are about into what is chosen, or takes it out.
fn toggle_topmost(view: &mut TranscriptView, geometry: Geometry) {
    let message = topmost(view, geometry);
    if let (Some(id), Some(choosing)) = (message, &mut view.messages.choosing) {
        choosing.toggle(id);
    }
}
