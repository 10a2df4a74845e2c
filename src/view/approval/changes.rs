//! What would change, file by file and line by line.

use std::sync::Arc;

use egui::{Label, RichText, ScrollArea, Sense, Ui, WidgetInfo, vec2};

use super::{body::ground, icon_font};
use crate::{
    layout::{
        Palette,
        diff::{self, DiffKind, DiffLine},
        face, icon,
    },
    model::Change,
    tools::policy,
};

/// Files that are open at first.
const OPEN: usize = 2;
/// Lines of a difference that are shown at once; the rest scrolls.
const LINES: usize = 16;
/// Lines of context around a change.
const CONTEXT: usize = 3;
/// Characters of a line that are set; what is behind them is counted.
const COLUMNS: usize = 4000;

/// The files of a question and how they are shown.
#[derive(Default)]
pub(super) struct Changes {
    files: Vec<File>,
}

struct File {
    open: bool,
    /// Compared when it is first opened.
    lines: Option<Vec<DiffLine>>,
}

impl Changes {
    pub(super) fn new(changes: &Arc<[Change]>) -> Self {
        let file = |i: usize| File { open: i < OPEN, lines: None };
        Self { files: (0..changes.len()).map(file).collect() }
    }

    pub(super) fn ui(&mut self, ui: &mut Ui, palette: &Palette, changes: &[Change]) {
        for (i, (file, change)) in self.files.iter_mut().zip(changes).enumerate() {
            ui.push_id(("change", i), |ui| file.ui(ui, palette, change));
        }
    }
}

impl File {
    fn ui(&mut self, ui: &mut Ui, palette: &Palette, change: &Change) {
        let (old, new) = (text(change.before.as_ref()), text(change.after.as_ref()));
        if self.open && self.lines.is_none() {
            self.lines = Some(diff::lines(old, new, CONTEXT));
        }
        self.header_ui(ui, palette, change);
        let Some(lines) = self.lines.as_ref().filter(|_| self.open) else { return };
        if lines.is_empty() {
            ui.label(RichText::new("No line differs.").color(palette.faint));
            return;
        }
        let lines_ui = |ui: &mut Ui| lines_ui(ui, palette, lines, (old, new));
        ground(palette).inner_margin(egui::Margin::symmetric(0, 6)).show(ui, lines_ui);
    }

    fn header_ui(&mut self, ui: &mut Ui, palette: &Palette, change: &Change) {
        let name = match &change.moved_to {
            Some(moved) => format!("{} → {moved}", change.path),
            None => change.path.to_string(),
        };
        let row = ui.horizontal(|ui| {
            let caret = if self.open { icon::CARET_DOWN } else { icon::CARET_RIGHT };
            ui.label(RichText::new(caret.to_string()).font(icon_font(12.0)).color(palette.dim));
            let fate = match (&change.before, &change.after) {
                (None, Some(_)) => ("new file", palette.ok),
                (Some(_), None) => ("deleted", palette.err),
                _ => ("", palette.faint),
            };
            ui.add(Label::new(RichText::new(&name).monospace().color(palette.text)).wrap());
            if !fate.0.is_empty() {
                ui.label(RichText::new(fate.0).size(face::CAPTION_SIZE).color(fate.1));
            }
            if let Some(lines) = &self.lines {
                let (added, removed) = diff::counts(lines);
                let sum = |words: String| RichText::new(words).size(face::CAPTION_SIZE);
                ui.label(sum(format!("+{added}")).color(palette.ok));
                ui.label(sum(format!("−{removed}")).color(palette.err));
            }
        });
        let rect = row.response.rect;
        let response = ui.interact(rect, ui.scope_id().with("fold"), Sense::click());
        let open = self.open;
        response.widget_info(|| {
            let words = format!("{name}, {}", if open { "open" } else { "closed" });
            WidgetInfo::labeled(egui::Role::Button, true, words)
        });
        if response.clicked() {
            self.open = !self.open;
        }
    }
}

fn text(side: Option<&Arc<str>>) -> &str {
    side.map_or("", |text| &**text)
}

fn lines_ui(ui: &mut Ui, palette: &Palette, lines: &[DiffLine], (old, new): (&str, &str)) {
    ui.set_width(ui.available_width());
    ui.spacing_mut().item_spacing.y = 0.0;
    let height = lines.len().min(LINES) as f32 * face::CODE_LINE;
    let scroll = ScrollArea::both().id_salt("lines").max_height(height);
    let scroll = scroll.min_scrolled_height(height);
    scroll.auto_shrink([false, true]).show_rows(ui, face::CODE_LINE, lines.len(), |ui, range| {
        for line in lines.get(range).unwrap_or_default() {
            line_ui(ui, palette, line, (old, new));
        }
    });
}

fn line_ui(ui: &mut Ui, palette: &Palette, line: &DiffLine, (old, new): (&str, &str)) {
    let (mark, color, fill) = match line.kind {
        DiffKind::Kept => (' ', palette.dim, None),
        DiffKind::Added => ('+', palette.text, Some(palette.added)),
        DiffKind::Removed => ('−', palette.text, Some(palette.removed)),
        DiffKind::Skipped(_) | DiffKind::Omitted(_) | DiffKind::Heading => {
            ('⋯', palette.faint, None)
        }
    };
    let words = match line.kind {
        DiffKind::Skipped(count) => format!("{count} unchanged lines"),
        DiffKind::Omitted(count) => format!("{count} more lines"),
        DiffKind::Kept | DiffKind::Added | DiffKind::Removed | DiffKind::Heading => {
            spelt_out(line.text(old, new))
        }
    };
    let no = line.new_no.or(line.old_no).map_or_else(String::new, |no| no.to_string());
    let words = RichText::new(format!("{no:>5} {mark} {words}")).monospace().color(color);
    let ground = ui.painter().add(egui::Shape::Noop);
    let label = ui.add(Label::new(words).extend().selectable(true));
    if let Some(fill) = fill {
        let mut rect = label.rect;
        (rect.min.x, rect.max.x) = (ui.clip_rect().min.x, ui.clip_rect().max.x);
        rect.set_height(face::CODE_LINE);
        ui.painter().set(ground, egui::Shape::rect_filled(rect, 0.0, fill));
    }
    // Rows are of one height, whatever is in them.
    let short = face::CODE_LINE - label.rect.height();
    if short > 0.0 {
        ui.allocate_space(vec2(1.0, short));
    }
}

/// A line with all that does not show spelt out.
fn spelt_out(line: &str) -> String {
    let end = line.char_indices().nth(COLUMNS).map_or(line.len(), |(at, _)| at);
    let mut shown = policy::visible(line.get(..end).unwrap_or_default()).text.replace('\t', "    ");
    if end < line.len() {
        shown.push_str(&format!("  … {} more bytes in this line", line.len() - end));
    }
    shown
}
