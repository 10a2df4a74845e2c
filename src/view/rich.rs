//! The reference renderer: `egui_commonmark`, which parses and lays out the whole text in
//! every frame. Profiles hold ours against it, and it shows the manual.
//!
//! This is the only file that names that crate. Links are asked of egui as any other
//! widget asks (`OutputCommand::OpenUrl`); whether one is opened is decided elsewhere.

use std::fmt;

use egui::{Id, Ui};
use egui_commonmark::{CommonMarkCache, CommonMarkScrollOptions, CommonMarkViewer};

use crate::model::MessageId;

/// What the reference renderer keeps between frames.
#[derive(Default)]
pub struct Reference {
    cache: CommonMarkCache,
}

/// Its time grows with the whole text in every frame: a megabyte is half a second.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// Its memory grows with the square of the nesting: 4 KB of list markers take 1.4 GB.
const NESTING_MAX: usize = 32;

impl Reference {
    /// Shows a message's markdown in the width there is and gives the height it took, in
    /// points. Text that nests too deeply for this renderer is shown as it was written.
    pub fn show(&mut self, ui: &mut Ui, id: MessageId, text: &str) -> f32 {
        let shown = text.get(..text.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or_default();
        let response = ui.push_id(("reference", id), |ui| {
            if nesting(shown) > NESTING_MAX {
                ui.label(shown);
            } else {
                viewer().show(ui, &mut self.cache, shown);
            }
            if shown.len() < text.len() {
                ui.weak("The reference renderer shows the first MiB of this text.");
            }
        });
        response.response.rect.height()
    }
}

/// Shows a page of the manual or the release notes with its own scrollbar.
pub fn manual_ui(ui: &mut Ui, reference: &mut Reference, page: &str, text: &str) {
    let id = Id::unique(("manual", page));
    let options = CommonMarkScrollOptions::default().viewport_cache(true);
    let viewer = viewer().enable_scroll_to_heading(true);
    viewer.show_scrollable(id, ui, &mut reference.cache, &options, text);
}

/// Relative addresses of pictures stay what they are instead of becoming files.
fn viewer() -> CommonMarkViewer<'static> {
    CommonMarkViewer::new().explicit_image_uri_scheme(true)
}

/// The deepest nesting of quotes and lists that any line can open: its markers, and two
/// columns of indentation a level where a list item follows.
fn nesting(text: &str) -> usize {
    text.lines().map(line_nesting).max().unwrap_or(0)
}

fn line_nesting(line: &str) -> usize {
    let content = line.trim_start_matches([' ', '\t']);
    let indent = line.bytes().take(line.len() - content.len());
    let columns: usize = indent.map(|byte| if byte == b'\t' { 4 } else { 1 }).sum();
    let markers = leading_markers(content);
    if markers == 0 { 0 } else { markers + columns / 2 }
}

fn leading_markers(content: &str) -> usize {
    let mut rest = content;
    let mut markers = 0;
    while let Some(after) = after_marker(rest) {
        rest = after.trim_start();
        markers += 1;
    }
    markers
}

/// What follows a quote or list marker, if the text begins with one.
fn after_marker(text: &str) -> Option<&str> {
    if let Some(after) = text.strip_prefix('>') {
        return Some(after);
    }
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let after = if number.len() < text.len() {
        number.strip_prefix(['.', ')'])
    } else {
        text.strip_prefix(['-', '+', '*'])
    }?;
    (after.is_empty() || after.starts_with([' ', '\t'])).then_some(after)
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reference").finish_non_exhaustive()
    }
}
