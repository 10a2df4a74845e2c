//! The pointer: what is under it, what a click on it means, where in the text it is.

use egui::{CursorIcon, Id, Pos2, Rect, Role, Sense, Ui, WidgetInfo, vec2};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::{
    layout::{Action, Placed, SlugId, slug::Line, slug::Target},
    view::{
        link_gate,
        selection::{Selection, Spot},
        transcript::{Geometry, TranscriptView},
    },
};

/// A click on a target.
#[derive(Clone, Debug)]
pub(crate) struct Click {
    /// What it asks for.
    pub(crate) action: Action,
    /// The slug that was clicked.
    pub(crate) slug: SlugId,
    /// Its top in the viewport, so that it can stay there.
    pub(crate) y: f32,
    /// For a fold: how it stands now.
    pub(crate) open: bool,
}

/// Registers every visible target with egui; gives the one under the pointer, and the
/// click if there was one.
pub(crate) fn targets(
    view: &mut TranscriptView,
    ui: &Ui,
    geometry: Geometry,
    id: Id,
) -> Option<(Rect, Option<Click>)> {
    let mut hovered = None;
    let placed = std::mem::take(&mut view.visible.placed);
    let aloud = is_read_aloud(ui, id);
    if aloud {
        messages(ui, geometry, id, &placed);
    }
    // Targets far from a mouse cannot be hit by it; other ways of pointing need them all.
    let everywhere = aloud || needs_all_targets(ui);
    let pointer = ui.input(|input| input.pointer.latest_pos());
    for place in &placed {
        let Some(slug) = &place.slug else { continue };
        let origin = geometry.origin(place, ui.pixels_per_point()).to_vec2();
        let span = origin.y - REACH..=origin.y + place.height + REACH;
        if !everywhere && !pointer.is_some_and(|pos| span.contains(&pos.y)) {
            continue;
        }
        for (i, target) in slug.targets.iter().enumerate() {
            let shift = if target.scrolls { view.shift(place.id) } else { 0.0 };
            let rect = target.rect.translate(origin - vec2(shift, 0.0)).intersect(geometry.rect);
            if !rect.is_positive() {
                continue;
            }
            let widget = id.with((place.id.message, place.id.key, i));
            if let Some(hit) = target_ui(ui, target, rect, widget, place) {
                hovered = Some((rect, hit));
            }
        }
        if let Some(wide) = slug.wide {
            let delta = sideways(ui, geometry, place);
            if delta != 0.0 {
                view.shift_by(place.id, wide.content - (wide.right - wide.left), -delta);
            }
        }
    }
    view.visible.placed = placed;
    hovered
}

/// Distance from the pointer within which targets react, in points: further than a hand
/// moves between two frames.
const REACH: f32 = 400.0;

/// True while something else than a mouse may choose a target: a finger, or the Tab key.
fn needs_all_targets(ui: &Ui) -> bool {
    let focused = ui.ctx().memory(|memory| memory.focused().is_some());
    focused
        || ui.input(|input| {
            input.any_touches() || input.has_touch_screen() || input.key_pressed(egui::Key::Tab)
        })
}

/// True while a screen reader or a test asks what is shown.
pub(crate) fn is_read_aloud(ui: &Ui, id: Id) -> bool {
    ui.ctx().accesskit_node_builder(id, |_node| ()).is_some()
}

/// One node for each visible message, so that a screen reader can read what is shown.
pub(crate) fn messages(ui: &Ui, geometry: Geometry, id: Id, placed: &[Placed]) {
    for group in placed.chunk_by(|a, b| a.row == b.row) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let corner = geometry.origin(first, ui.pixels_per_point());
        let size = vec2(geometry.width, last.y + last.height - first.y);
        let rect = Rect::from_min_size(corner, size).intersect(geometry.rect);
        let response = ui.interact(rect, id.with(("message", first.id.message)), Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Paragraph, true, shown_text(group)));
    }
}

fn shown_text(group: &[Placed]) -> String {
    let slugs = group.iter().filter_map(|place| place.slug.as_ref());
    let lines = slugs.flat_map(|slug| reading(&slug.lines)).map(|line| line.rows.text());
    lines.collect::<Vec<_>>().join("\n")
}

fn target_ui(
    ui: &Ui,
    target: &Target,
    rect: Rect,
    id: Id,
    place: &Placed,
) -> Option<Option<Click>> {
    let response = ui.interact(rect, id, Sense::click());
    let response = match &target.action {
        Action::Link(address, _) => {
            response.widget_info(|| WidgetInfo::labeled(Role::Link, true, &**address));
            // Spelling an address out costs more than all else here, so only when asked.
            if response.hovered() {
                response.on_hover_text_at_pointer(where_to(address))
            } else {
                response
            }
        }
        Action::Toggle(_)
        | Action::Copy(_)
        | Action::Wrap(_)
        | Action::Stop(_)
        | Action::Restore(_)
        | Action::Choose { .. } => {
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &target.spoken));
            response
        }
    };
    if response.clicked() {
        return Some(Some(Click {
            action: target.action.clone(),
            slug: place.id,
            y: place.y,
            open: target.spoken.ends_with(", open"),
        }));
    }
    if response.hovered() {
        ui.ctx().set_cursor_icon(CursorIcon::PointingHand);
        return Some(None);
    }
    response.has_focus().then_some(None)
}

/// Where a link leads, in letters that cannot be mistaken.
fn where_to(address: &str) -> String {
    match url::Url::parse(address) {
        Ok(url) => link_gate::display(&url).text,
        Err(_not_an_address) => address.escape_default().to_string(),
    }
}

/// Sideways wheel over a wide block.
fn sideways(ui: &Ui, geometry: Geometry, place: &Placed) -> f32 {
    let top = geometry.rect.top() + place.y;
    let over =
        |pos: Pos2| pos.y >= top && pos.y < top + place.height && geometry.rect.contains(pos);
    ui.input(|input| {
        if input.pointer.hover_pos().is_some_and(over) {
            input.smooth_scroll_delta().x
        } else {
            0.0
        }
    })
}

/// The spot in the text that is nearest to a position on screen.
pub(crate) fn spot_at(
    view: &TranscriptView,
    geometry: Geometry,
    pos: Pos2,
    pixels_per_point: f32,
) -> Option<Spot> {
    let mut best: Option<(f32, Spot)> = None;
    for place in &view.visible.placed {
        let Some(slug) = &place.slug else { continue };
        let origin = geometry.origin(place, pixels_per_point);
        for (i, line) in reading(&slug.lines).enumerate() {
            let moved = || view.moved(place.id, origin, pixels_per_point);
            let corner = line.pos + if line.scrolls { moved() } else { origin }.to_vec2();
            let rect = line.rows.rect().translate(corner);
            let away = distance(rect, pos);
            if best.is_none_or(|(least, _)| away < least) {
                let spot = Spot {
                    message: place.id.message,
                    key: place.id.key,
                    line: i,
                    character: line.rows.character_at(pos.to_vec2() - corner),
                };
                best = Some((away, spot));
            }
        }
    }
    best.map(|(_, spot)| spot)
}

/// Lines above or below count fully, lines beside the pointer hardly.
fn distance(rect: Rect, pos: Pos2) -> f32 {
    let dy = (rect.top() - pos.y).max(pos.y - rect.bottom()).max(0.0);
    let dx = (rect.left() - pos.x).max(pos.x - rect.right()).max(0.0);
    dy * 1000.0 + dx
}

/// The lines of a slug that can be read and copied.
pub(crate) fn reading(lines: &[Line]) -> impl Iterator<Item = &Line> {
    lines.iter().filter(|line| line.reading)
}

/// The word or the paragraph around a spot.
pub(crate) fn word_or_line(view: &TranscriptView, spot: Spot, whole: bool) -> Option<Selection> {
    let is_here = |place: &&Placed| place.id.message == spot.message && place.id.key == spot.key;
    let slug = view.visible.placed.iter().find(is_here)?.slug.as_ref()?;
    let line = reading(&slug.lines).nth(spot.line)?;
    let text = line.rows.text();
    let (start, end) =
        if whole { paragraph(text, spot.character) } else { word(text, spot.character) };
    let at = |character| Spot { character, ..spot };
    Some(Selection { tail: at(start), head: at(end) })
}

fn word(text: &str, character: usize) -> (usize, usize) {
    let mut at = 0;
    for piece in text.split_word_bounds() {
        let length = piece.chars().count();
        if at + length > character {
            return (at, at + length);
        }
        at += length;
    }
    (at, at)
}

fn paragraph(text: &str, character: usize) -> (usize, usize) {
    let mut at = 0;
    for line in text.split('\n') {
        let length = line.chars().count();
        if at + length >= character {
            return (at, at + length);
        }
        at += length + 1;
    }
    (0, at.saturating_sub(1))
}
