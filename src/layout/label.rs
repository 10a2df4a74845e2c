//! Lines of interface: segments from the left, segments from the right, one line.

use std::ops::Range;

use egui::{
    Align, CornerRadius, Galley, Rect, Vec2,
    epaint::text::{LayoutJob, TextFormat, TextWrapping},
    pos2, vec2,
};

use crate::{
    layout::{
        Voice, face, ink,
        press::{Press, Stick},
        slug::Target,
        spec::{Action, Face, Ground, Label, Segment},
    },
    model::Style,
};

/// Room between segments.
const SEGMENT_GAP: f32 = 8.0;
/// Room above and below a line that is the header of a card.
const HEADER_PAD: f32 = 8.0;

/// Sets a line of interface.
pub(super) fn set(press: &mut Press<'_, '_>, label: &Label, stick: &mut Stick<'_>) {
    let in_card = stick.ground().is_some_and(|card| card.ground == Ground::Panel);
    let pad = if in_card && label.action.is_some() { HEADER_PAD } else { 0.0 };
    let top = stick.y;
    if label.ruled {
        let line = Rect::from_min_size(
            pos2(stick.left - 14.0, top),
            vec2(stick.width + 28.0, press.hairline()),
        );
        stick.mark(line, CornerRadius::ZERO, press.palette.line);
    }
    stick.y += pad;
    let right = side(press, &label.right, stick.left + stick.width, Align::RIGHT, stick);
    let room = stick.width - if right > 0.0 { right + 2.0 * SEGMENT_GAP } else { 0.0 };
    left(press, &label.left, room.max(24.0), stick);
    stick.y += Voice::Interface.line() + pad;
    if let Some(action) = &label.action {
        let (left, right) = if pad > 0.0 { (14.0, 14.0) } else { (4.0, 4.0) };
        stick.slug.targets.insert(
            0,
            Target {
                rect: Rect::from_min_max(
                    pos2(stick.left - left, top),
                    pos2(stick.left + stick.width + right, stick.y),
                ),
                action: action.clone(),
                spoken: label.spoken.clone(),
                scrolls: false,
            },
        );
    }
}

/// Sets a line of words between two rules across the column.
pub(super) fn divider(press: &mut Press<'_, '_>, label: &Label, stick: &mut Stick<'_>) {
    let job = job(press, &label.left, stick.width - 80.0);
    let galley = press.galley(job);
    let width = galley.rect.width();
    let x = stick.left + ((stick.width - width) / 2.0).max(0.0);
    let middle = stick.y + Voice::Interface.line() / 2.0;
    for (from, to) in [(stick.left, x - 12.0), (x + width + 12.0, stick.left + stick.width)] {
        if to > from {
            let rule = Rect::from_min_size(pos2(from, middle), vec2(to - from, press.hairline()));
            stick.mark(rule, CornerRadius::ZERO, press.palette.line);
        }
    }
    if let Some(action) = &label.action {
        let rect = Rect::from_min_size(
            pos2(x - 8.0, stick.y),
            vec2(width + 16.0, Voice::Interface.line()),
        );
        let (action, spoken) = (action.clone(), label.spoken.clone());
        stick.slug.targets.push(Target { rect, action, spoken, scrolls: false });
    }
    let pos = vec2(x, stick.y);
    targets(&label.left, &galley, pos, stick);
    stick.line(pos, galley, true);
    stick.y += Voice::Interface.line();
}

fn left(press: &mut Press<'_, '_>, segments: &[Segment], room: f32, stick: &mut Stick<'_>) {
    let job = job(press, segments, room);
    place(press, segments, job, stick.left, Align::LEFT, stick);
}

fn side(
    press: &mut Press<'_, '_>,
    segments: &[Segment],
    x: f32,
    align: Align,
    stick: &mut Stick<'_>,
) -> f32 {
    if segments.iter().all(|segment| segment.text.is_empty()) {
        return 0.0;
    }
    let job = job(press, segments, f32::INFINITY);
    place(press, segments, job, x, align, stick)
}

fn place(
    press: &mut Press<'_, '_>,
    segments: &[Segment],
    job: LayoutJob,
    x: f32,
    align: Align,
    stick: &mut Stick<'_>,
) -> f32 {
    let galley = press.galley(job);
    let width = galley.rect.width();
    let pos = vec2(if align == Align::RIGHT { x - width } else { x }, stick.y);
    if segments.iter().any(|segment| segment.face == Face::Clock) {
        let clock = ink::span_rects(&galley, &clocks(segments)).into_iter().next();
        stick.slug.clock = clock.map(|(rect, _)| rect.translate(pos));
    }
    targets(segments, &galley, pos, stick);
    stick.line(pos, galley, align == Align::LEFT);
    width
}

/// What can be clicked in a line of segments that stands at `pos`.
fn targets(segments: &[Segment], galley: &Galley, pos: Vec2, stick: &mut Stick<'_>) {
    for (rect, i) in ink::span_rects(galley, &actions(segments)) {
        let Some(action) = segments.get(i).and_then(|segment| segment.action.clone()) else {
            continue;
        };
        stick.slug.targets.push(Target {
            rect: rect.translate(pos).expand2(vec2(4.0, 3.0)),
            spoken: spoken(&action, &segments[i].text),
            action,
            scrolls: false,
        });
    }
}

/// What a screen reader says of a segment; an icon is no word.
fn spoken(action: &Action, words: &str) -> String {
    match action {
        Action::Choose { is_next: false, .. } => "Previous version".to_owned(),
        Action::Choose { is_next: true, .. } => "Next version".to_owned(),
        Action::Toggle(_)
        | Action::Link(..)
        | Action::Copy(_)
        | Action::Wrap(_)
        | Action::Stop(_)
        | Action::Restore(_) => words.to_owned(),
    }
}

fn job(press: &Press<'_, '_>, segments: &[Segment], room: f32) -> LayoutJob {
    let mut job = LayoutJob { wrap: TextWrapping::truncate_at_width(room), ..LayoutJob::default() };
    job.break_on_newline = false;
    for (i, segment) in segments.iter().enumerate() {
        let space = if i == 0 { 0.0 } else { SEGMENT_GAP };
        let words = one_line(&segment.text);
        ink::append(&mut job, &words, space, format(press, segment));
    }
    job
}

/// Labels are one line: a newline in an argument would be set as a missing glyph.
pub(super) fn one_line(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains(['\n', '\r', '\t']) {
        text.replace(['\n', '\r', '\t'], " ").into()
    } else {
        text.into()
    }
}

fn format(press: &Press<'_, '_>, segment: &Segment) -> TextFormat {
    let color = press.tone(segment.tone);
    let voice = match segment.face {
        Face::Icon => return face::icon(14.0, Voice::Interface.line(), color),
        Face::Text => Voice::Interface,
        Face::Strong => Voice::InterfaceStrong,
        Face::Mono => Voice::Code,
        Face::Caption | Face::Clock => Voice::Caption,
    };
    let mut format = face::format(voice, Style::PLAIN, false, press.palette);
    format.color = color;
    format.line_height = Some(Voice::Interface.line());
    format
}

fn actions(segments: &[Segment]) -> Vec<(Range<usize>, usize)> {
    spans(segments, |segment| segment.action.is_some())
}

fn clocks(segments: &[Segment]) -> Vec<(Range<usize>, usize)> {
    spans(segments, |segment| segment.face == Face::Clock)
}

/// The bytes of some segments in the text of the line, and their indices.
fn spans(segments: &[Segment], is_meant: fn(&Segment) -> bool) -> Vec<(Range<usize>, usize)> {
    let mut at = 0;
    let mut spans = Vec::new();
    for (i, segment) in segments.iter().enumerate() {
        let end = at + one_line(&segment.text).len();
        if is_meant(segment) {
            spans.push((at..end, i));
        }
        at = end;
    }
    spans
}
