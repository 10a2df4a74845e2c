//! The strip: a column of signs in the margin beside the message under the pointer.
//!
//! It stands beside the words, so it covers none of them and moves none of them.

use egui::{
    Align2, CornerRadius, CursorIcon, FontId, Id, Pos2, Rect, Role, Sense, Shape, Ui, WidgetInfo,
    epaint::RectShape, pos2, vec2,
};

use super::{Deed, Subject, place::Span, place::spans, widget};
use crate::{
    layout::{Palette, face, icon},
    model::{MessageId, Source},
    view::{
        overlay,
        transcript::{Geometry, TranscriptView},
    },
};

/// Side of a sign's square, in points.
const SIDE: f32 = 26.0;
/// Room between the column and the strip where the margin has it.
const GAP: f32 = 8.0;
/// The pill that leads to the end stands below this, in points from the bottom.
const PILL: f32 = 56.0;

/// Shows the strip beside the message under the pointer; gives what was clicked.
pub(super) fn strip_ui(
    view: &mut TranscriptView,
    ui: &Ui,
    geometry: Geometry,
    source: &dyn Source,
) -> Option<(MessageId, Deed)> {
    let Some(span) = under_pointer(view, ui, geometry) else {
        view.messages.beside = None;
        return None;
    };
    let subject = Subject::of(view, source, span.id)?;
    let deeds = deeds(subject);
    let rect = rect(ui, geometry, span.top(source), span.rect.bottom(), deeds.len());
    view.messages.beside = Some((span.id, rect));
    let mut clicked = None;
    let mut hovered = None;
    for (i, deed) in deeds.iter().enumerate() {
        let square = Rect::from_min_size(rect.min + vec2(0.0, SIDE * i as f32), SIDE_SQUARE);
        let response = ui.interact(square, sign_id(ui, span.id, *deed), Sense::click());
        let name = name(*deed);
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
        if response.hovered() || response.has_focus() {
            ui.ctx().set_cursor_icon(CursorIcon::PointingHand);
            hovered = Some(i);
        }
        if response.clicked() {
            clicked = Some((span.id, *deed));
        }
        if response.hovered() {
            response.on_hover_text(hint(*deed));
        }
    }
    paint(view, ui, geometry, rect, (&deeds, hovered, is_copied(view, ui, span.id)));
    clicked
}

const SIDE_SQUARE: egui::Vec2 = vec2(SIDE, SIDE);

/// The message that the strip belongs to: the one that the pointer is over, or the one
/// whose strip it is on or has the keyboard.
fn under_pointer(view: &TranscriptView, ui: &Ui, geometry: Geometry) -> Option<Span> {
    if view.messages.menu.is_some() {
        let id = view.messages.beside?.0;
        return spans(view, geometry).find(|span| span.id == id);
    }
    let (pointer, is_down) =
        ui.input(|input| (input.pointer.latest_pos(), input.pointer.any_down()));
    let beside = view.messages.beside;
    let keeps = |(id, rect): &(MessageId, Rect)| {
        let over = pointer.is_some_and(|pos| rect.expand(4.0).contains(pos));
        over || has_focus(ui, *id)
    };
    if let Some((id, _)) = beside.filter(keeps) {
        return spans(view, geometry).find(|span| span.id == id);
    }
    // A drag selects, and nothing comes in its way.
    let pos = pointer.filter(|pos| !is_down && is_over(ui, geometry, *pos))?;
    spans(view, geometry).find(|span| span.rect.y_range().contains(pos.y))
}

fn is_over(ui: &Ui, geometry: Geometry, pos: Pos2) -> bool {
    let room = geometry.rect.with_max_x(geometry.rect.right() - geometry.edge);
    room.contains(pos) && ui.rect_contains_pointer(room)
}

fn has_focus(ui: &Ui, id: MessageId) -> bool {
    let Some(focused) = ui.memory(|memory| memory.focused()) else { return false };
    ALL.iter().any(|deed| sign_id(ui, id, *deed) == focused)
}

fn sign_id(ui: &Ui, id: MessageId, deed: Deed) -> Id {
    widget(ui, "message").with((id, deed))
}

/// Beside the beginning of the message, or of what is seen of it.
fn rect(ui: &Ui, geometry: Geometry, top: f32, bottom: f32, signs: usize) -> Rect {
    let height = SIDE * signs as f32;
    let column = geometry.left + geometry.width;
    let margin = geometry.rect.right() - geometry.edge - column;
    let x = column + if margin >= SIDE + 2.0 * GAP { GAP } else { 1.0 };
    let highest = geometry.rect.top() + overlay::HEADER as f32 + 4.0;
    let lowest = geometry.rect.bottom() - PILL - height;
    // A message that begins above is followed down to its last words.
    let y = top.max(highest.min((bottom - height).max(top))).min(lowest.max(highest));
    let ppp = ui.pixels_per_point();
    Rect::from_min_size(pos2((x * ppp).round() / ppp, (y * ppp).round() / ppp), vec2(SIDE, height))
}

const ALL: &[Deed] = &[Deed::Copy, Deed::Edit, Deed::Regenerate, Deed::More];

fn deeds(subject: Subject) -> Vec<Deed> {
    let mut deeds = vec![Deed::Copy];
    deeds.extend(subject.change());
    deeds.push(Deed::More);
    deeds
}

fn name(deed: Deed) -> &'static str {
    match deed {
        Deed::Copy => "Copy message",
        Deed::Edit => "Edit message",
        Deed::Regenerate => "Answer anew",
        Deed::More => "More for this message",
        Deed::CopyPlain
        | Deed::CopyRecord
        | Deed::Quote
        | Deed::Version { .. }
        | Deed::Choose
        | Deed::Export => "",
    }
}

fn hint(deed: Deed) -> &'static str {
    match deed {
        Deed::Copy => "Copy as Markdown",
        Deed::Edit => "Say it in another way; what follows it now stays as another version",
        Deed::Regenerate => "Answer anew; this answer stays as another version",
        _ => name(deed),
    }
}

fn sign(deed: Deed) -> char {
    match deed {
        Deed::Copy | Deed::CopyPlain => icon::COPY,
        Deed::Edit => icon::PENCIL_SIMPLE,
        Deed::Regenerate => icon::ARROW_COUNTER_CLOCKWISE,
        _ => icon::DOTS_THREE,
    }
}

fn is_copied(view: &TranscriptView, ui: &Ui, id: MessageId) -> bool {
    let time = ui.input(|input| input.time);
    view.messages.copied.is_some_and(|(copied, until)| copied == id && time < until)
}

fn paint(
    view: &mut TranscriptView,
    ui: &Ui,
    geometry: Geometry,
    rect: Rect,
    (deeds, hovered, copied): (&[Deed], Option<usize>, bool),
) {
    let palette = view.palette();
    let look = overlay::look(view, &(deeds, hovered, copied));
    let painter = ui.painter_at(geometry.rect);
    view.retained.stamp(&painter, "messages", look, rect.min, |at| {
        let signs = deeds.iter().enumerate().flat_map(|(i, deed)| {
            let square = Rect::from_min_size(at + vec2(0.0, SIDE * i as f32), SIDE_SQUARE);
            let done = copied && *deed == Deed::Copy;
            let (mark, color) = match (done, hovered == Some(i)) {
                (true, _) => (icon::CHECK, palette.ok),
                (false, true) => (sign(*deed), palette.text),
                (false, false) => (sign(*deed), palette.faint),
            };
            let ground = (hovered == Some(i)).then(|| ground(square, &palette));
            let font = FontId::new(15.0, egui::FontFamily::Name(face::ICON_NAME.into()));
            let center = square.center();
            let text = ui.ctx().fonts_mut(|fonts| {
                Shape::text(fonts, center, Align2::CENTER_CENTER, mark, font, color)
            });
            ground.into_iter().chain([text])
        });
        signs.collect()
    });
}

fn ground(square: Rect, palette: &Palette) -> Shape {
    RectShape::filled(square.shrink(1.0), CornerRadius::same(6), palette.raised).into()
}
