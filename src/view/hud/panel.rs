//! How the panel looks.

use egui::{
    Align2, Color32, CornerRadius, FontId, Frame as Card, Margin, Rect, Response, RichText, Role,
    Sense, Shape, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};

use super::{
    Corner, Hud,
    figures::{self, Sight, ms},
    strip,
};
use crate::{
    layout::{Palette, face, icon},
    perf::Summary,
    view::Renderer,
};

/// Inner width, in points: the strip gives each frame one of them, and some room.
const WIDTH: f32 = 324.0;
const ROW: f32 = 17.0;
const STRIP_HEIGHT: f32 = 62.0;
const LABEL_SIZE: f32 = 11.5;
const FIGURE_SIZE: f32 = 11.0;
/// Width of a column of figures.
const COLUMN: f32 = 54.0;

/// What was asked of the panel.
#[derive(Clone, Copy)]
pub(super) enum Act {
    Close,
    Copy,
    Move(Corner),
    Reset,
    Draw(Renderer),
}

/// Shows the panel.
pub(super) fn ui(ui: &mut Ui, hud: &Hud, palette: &Palette, sight: &Sight<'_>) -> Vec<Act> {
    let mut acts = Vec::new();
    let shadow = egui::Shadow {
        offset: [0, 4],
        blur: 18,
        spread: 0,
        color: Color32::BLACK.gamma_multiply(if palette.dark { 0.45 } else { 0.14 }),
    };
    let card = Card::new()
        .fill(palette.panel)
        .stroke(Stroke::new(1.0, palette.line))
        .corner_radius(CornerRadius::same(12))
        .shadow(shadow)
        .inner_margin(Margin::symmetric(14, 10));
    card.show(ui, |ui| {
        ui.set_width(WIDTH);
        ui.spacing_mut().item_spacing = vec2(4.0, 0.0);
        header_ui(ui, hud, palette, &mut acts);
        line_ui(ui, palette.faint, LABEL_SIZE, sight.readings.adapter);
        ui.add_space(6.0);
        switch_ui(ui, hud.renderer(), (palette, sight.gauges.is_some()), &mut acts);
        ui.add_space(8.0);
        strip_ui(ui, hud, palette);
        ui.add_space(6.0);
        frames_ui(ui, hud, palette);
        rule_ui(ui, palette);
        stages_ui(ui, hud, palette);
        rule_ui(ui, palette);
        amounts_ui(ui, hud, palette, sight);
        rule_ui(ui, palette);
        requests_ui(ui, palette, sight);
        ui.add_space(5.0);
        let own = format!("This panel takes {} a frame, which is in no figure.", sight.own());
        line_ui(ui, palette.faint, 10.5, &own);
    });
    acts
}

/// The title, by which the panel is dragged from corner to corner, and its buttons.
fn header_ui(ui: &mut Ui, hud: &Hud, palette: &Palette, acts: &mut Vec<Act>) {
    let (rect, _) = ui.allocate_exact_size(vec2(WIDTH, 24.0), Sense::hover());
    // Beside the buttons: what is behind them would be dragged by every click on them.
    let grip = rect.with_max_x(rect.right() - 120.0);
    let grip = ui.interact(grip, ui.scope_id().with("grip"), Sense::drag());
    let font = FontId::new(face::INTERFACE_SIZE, face::TEXT);
    let title = RichText::new("Frames").font(font).color(palette.text).variation("wght", 620.0);
    let mut bar = ui.new_child(
        egui::UiBuilder::new()
            .max_rect(rect)
            .layout(egui::Layout::right_to_left(egui::Align::Center)),
    );
    let bar = &mut bar;
    bar.spacing_mut().item_spacing.x = 2.0;
    for (sign, words, act) in [
        (icon::X, "Close (F12)", Act::Close),
        (icon::PUSH_PIN, "Next corner", Act::Move(hud.corner.next())),
        (icon::ARROW_COUNTER_CLOCKWISE, "Begin the figures anew", Act::Reset),
        (icon::COPY, "Copy the figures", Act::Copy),
    ] {
        if button(bar, palette, sign, words).clicked() {
            acts.push(act);
        }
    }
    bar.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
        ui.add(egui::Label::new(title).selectable(false));
    });
    if let Some(pointer) = grip.interact_pointer_pos().filter(|_| grip.dragged()) {
        let corner = Corner::nearest(ui.ctx().content_rect(), pointer);
        if corner != hud.corner {
            acts.push(Act::Move(corner));
        }
    }
}

fn button(ui: &mut Ui, palette: &Palette, sign: char, words: &str) -> Response {
    let font = FontId::new(14.0, egui::FontFamily::Name(face::ICON_NAME.into()));
    let text = RichText::new(sign.to_string()).font(font).color(palette.dim);
    let button = egui::Button::new(text).frame_when_inactive(false).min_size(vec2(24.0, 22.0));
    ui.spacing_mut().button_padding = vec2(4.0, 2.0);
    let response = ui.add(button).on_hover_text(words);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, words));
    response
}

/// Who draws: three words in one frame.
fn switch_ui(
    ui: &mut Ui,
    now: Renderer,
    (palette, retained): (&Palette, bool),
    acts: &mut Vec<Act>,
) {
    let (rect, _) = ui.allocate_exact_size(vec2(WIDTH, 26.0), Sense::hover());
    ui.painter().rect_filled(rect, CornerRadius::same(7), well(palette));
    let width = rect.width() / 3.0;
    for (i, renderer) in Renderer::ALL.into_iter().enumerate() {
        let left = rect.left() + i as f32 * width;
        let place = Rect::from_min_size(pos2(left, rect.top()), vec2(width, rect.height()));
        let enabled = renderer != Renderer::Retained || retained;
        let sense = if enabled { Sense::click() } else { Sense::hover() };
        let response = ui.interact(place, ui.scope_id().with(renderer), sense);
        let selected = renderer == now;
        response.widget_info(|| {
            WidgetInfo::selected(Role::RadioButton, enabled, selected, renderer.word())
        });
        let inside = place.shrink(2.0);
        let lit = selected || (enabled && (response.hovered() || response.has_focus()));
        if lit {
            let fill = if selected { palette.raised } else { palette.line.gamma_multiply(0.6) };
            ui.painter().rect_filled(inside, CornerRadius::same(6), fill);
        }
        if response.has_focus() {
            let stroke = Stroke::new(1.0, palette.accent);
            ui.painter().rect_stroke(inside, CornerRadius::same(6), stroke, StrokeKind::Inside);
        }
        let color = match (selected, enabled) {
            (true, _) => palette.text,
            (false, true) => palette.dim,
            (false, false) => palette.faint.gamma_multiply(0.6),
        };
        let font = FontId::new(LABEL_SIZE, face::TEXT);
        let word = renderer.word();
        ui.painter().text(place.center(), Align2::CENTER_CENTER, word, font, color);
        if !enabled {
            response.on_hover_text("Nothing is retained on this adapter");
        } else if response.clicked() {
            acts.push(Act::Draw(renderer));
        }
    }
}

fn strip_ui(ui: &mut Ui, hud: &Hud, palette: &Palette) {
    let (rect, response) = ui.allocate_exact_size(vec2(WIDTH, STRIP_HEIGHT), Sense::hover());
    let count = hud.ring().iter().len();
    response.widget_info(|| {
        WidgetInfo::labeled(Role::Image, true, format!("Times of the last {count} frames"))
    });
    ui.painter().rect_filled(rect, CornerRadius::same(7), well(palette));
    // The newest stands at the right; the scale is at the left of the oldest.
    let inside = Rect::from_min_max(rect.min + vec2(22.0, 4.0), rect.max - vec2(2.0, 2.0));
    let painter = ui.painter().with_clip_rect(rect);
    let hair = Stroke::new(1.0 / ui.pixels_per_point(), palette.line);
    let font = FontId::new(9.0, face::MONO);
    for (words, at) in [("0.1", 0.1), ("1", 1.0), ("8", strip::GOOD_MS), ("16", strip::FAIR_MS)] {
        let y = inside.bottom() - inside.height() * strip::height(at);
        painter.hline(inside.x_range(), y, hair);
        if words != "8" {
            let at = pos2(inside.left() - 4.0, y);
            painter.text(at, Align2::RIGHT_CENTER, words, font.clone(), palette.faint);
        }
    }
    painter.add(Shape::mesh(strip::bars(hud.ring().iter(), inside, palette)));
}

/// Percentiles of the last frames and of the session.
fn frames_ui(ui: &mut Ui, hud: &Hud, palette: &Palette) {
    head_ui(ui, palette, "ms", &["p50", "p95", "p99", "max"]);
    for (name, summary) in [("last", hud.ring().recent()), ("session", hud.ring().session())] {
        let Summary { count, p50, p95, p99, max, .. } = summary;
        let label = format!("{name} {}", figures::grouped(count as u64));
        let cells = [p50, p95, p99, max].map(|value| (ms(value), strip::color(palette, value)));
        row_ui(ui, &label, palette.dim, &cells.each_ref().map(|(text, color)| (&**text, *color)));
    }
}

fn stages_ui(ui: &mut Ui, hud: &Hud, palette: &Palette) {
    head_ui(ui, palette, "stage, ms", &["newest", "p50", "p99", "max"]);
    let rows = figures::stages(hud.ring());
    if rows.is_empty() {
        line_ui(ui, palette.faint, LABEL_SIZE, "The next frame will be the first.");
    }
    for (name, newest, Summary { p50, p99, max, .. }) in rows {
        let outer = matches!(name, "egui pass" | "after the pass");
        let label = if outer { name.to_owned() } else { format!("    {}", name.replace('_', " ")) };
        let texts = [newest, p50, p99, max].map(ms);
        let color = if outer { palette.text } else { palette.dim };
        row_ui(ui, &label, palette.dim, &texts.each_ref().map(|text| (&**text, color)));
    }
}

/// Names and amounts, two pairs a row.
fn amounts_ui(ui: &mut Ui, hud: &Hud, palette: &Palette, sight: &Sight<'_>) {
    let amounts = sight.amounts(hud.ring());
    for pair in amounts.chunks(2) {
        let pairs = pair.iter().map(|(name, amount)| (*name, &**amount, palette.text));
        pairs_ui(ui, pairs, 2, palette);
    }
}

/// Why frames were wanted in the last ten seconds, three reasons a row.
fn requests_ui(ui: &mut Ui, palette: &Palette, sight: &Sight<'_>) {
    let frames = sight.frames().to_string();
    row_ui(ui, "frames in the last 10 s", palette.dim, &[(&frames, palette.text)]);
    let counts: Vec<_> =
        sight.requests().map(|(name, count)| (name, count, count.to_string())).collect();
    for three in counts.chunks(3) {
        let color = |count: u64| if count == 0 { palette.faint } else { palette.text };
        let pairs = three.iter().map(|(name, count, words)| (*name, &**words, color(*count)));
        pairs_ui(ui, pairs, 3, palette);
    }
}

fn pairs_ui<'a>(
    ui: &mut Ui,
    pairs: impl Iterator<Item = (&'a str, &'a str, Color32)> + Clone,
    columns: usize,
    palette: &Palette,
) {
    let (rect, response) = ui.allocate_exact_size(vec2(WIDTH, ROW), Sense::hover());
    let said = pairs.clone();
    response.widget_info(|| {
        let words: Vec<_> =
            said.clone().map(|(name, value, _)| format!("{name} {value}")).collect();
        WidgetInfo::labeled(Role::Label, true, words.join(", "))
    });
    const GUTTER: f32 = 18.0;
    let width = (rect.width() - GUTTER * (columns - 1) as f32) / columns as f32;
    for (i, (name, value, color)) in pairs.enumerate() {
        let left = rect.left() + i as f32 * (width + GUTTER);
        words_at(ui, pos2(left, rect.center().y), Align2::LEFT_CENTER, (name, palette.dim));
        figure_at(ui, pos2(left + width, rect.center().y), (value, color));
    }
}

fn head_ui(ui: &mut Ui, palette: &Palette, label: &str, heads: &[&str]) {
    let (rect, _) = ui.allocate_exact_size(vec2(WIDTH, ROW), Sense::hover());
    let y = rect.center().y;
    words_at(ui, pos2(rect.left(), y), Align2::LEFT_CENTER, (label, palette.faint));
    for (i, head) in heads.iter().rev().enumerate() {
        let right = rect.right() - i as f32 * COLUMN;
        words_at(ui, pos2(right, y), Align2::RIGHT_CENTER, (head, palette.faint));
    }
}

/// A name and its figures, which end under their heads.
fn row_ui(ui: &mut Ui, label: &str, color: Color32, figures: &[(&str, Color32)]) {
    let (rect, response) = ui.allocate_exact_size(vec2(WIDTH, ROW), Sense::hover());
    response.widget_info(|| {
        let words: Vec<_> = figures.iter().map(|(text, _)| *text).collect();
        WidgetInfo::labeled(Role::Label, true, format!("{}: {}", label.trim(), words.join(" ")))
    });
    let y = rect.center().y;
    let indent = if label.starts_with(' ') { 12.0 } else { 0.0 };
    words_at(ui, pos2(rect.left() + indent, y), Align2::LEFT_CENTER, (label.trim(), color));
    for (i, figure) in figures.iter().rev().enumerate() {
        figure_at(ui, pos2(rect.right() - i as f32 * COLUMN, y), *figure);
    }
}

fn words_at(ui: &Ui, at: egui::Pos2, align: Align2, (words, color): (&str, Color32)) {
    ui.painter().text(at, align, words, FontId::new(LABEL_SIZE, face::TEXT), color);
}

fn figure_at(ui: &Ui, at: egui::Pos2, (figure, color): (&str, Color32)) {
    let font = FontId::new(FIGURE_SIZE, face::MONO);
    ui.painter().text(at, Align2::RIGHT_CENTER, figure, font, color);
}

/// The ground of what is let into the panel.
fn well(palette: &Palette) -> Color32 {
    if palette.dark { palette.code } else { palette.bg }
}

/// One line that is cut where the panel ends.
fn line_ui(ui: &mut Ui, color: Color32, size: f32, words: &str) {
    let text = RichText::new(words).size(size).color(color);
    ui.add(egui::Label::new(text).truncate().selectable(false));
}

fn rule_ui(ui: &mut Ui, palette: &Palette) {
    let (rect, _) = ui.allocate_exact_size(vec2(WIDTH, 11.0), Sense::hover());
    let stroke = Stroke::new(1.0 / ui.pixels_per_point(), palette.line);
    ui.painter().hline(rect.x_range(), rect.center().y, stroke);
}
