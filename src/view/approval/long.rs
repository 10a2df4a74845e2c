//! A text that must be readable whole, however long: set piece by piece, where it is looked at.

use std::{ops::Range, sync::Arc};

use egui::{Label, Rect, RichText, Ui, vec2};

use crate::layout::{Palette, face};

/// Bytes of a piece. What is shorter is one piece, which can be selected as a whole.
const PIECE: usize = 8 * 1024;
/// Average advance of a character of the code face, relative to its size.
const ADVANCE: f32 = 0.6;

/// A text in pieces, and how high each is.
#[derive(Default)]
pub(super) struct Long {
    text: Arc<str>,
    pieces: Vec<Piece>,
    /// The width that the heights are of, in points.
    width: f32,
}

struct Piece {
    range: Range<usize>,
    /// In points; guessed until the piece was looked at.
    height: f32,
}

impl Long {
    pub(super) fn new(text: &Arc<str>) -> Self {
        let pieces = pieces(text).into_iter().map(|range| Piece { range, height: 0.0 }).collect();
        Self { text: Arc::clone(text), pieces, width: 0.0 }
    }

    /// Shows what of it is in the viewport.
    pub(super) fn ui(&mut self, ui: &mut Ui, viewport: Rect, palette: &Palette) {
        self.guess(ui.available_width());
        ui.spacing_mut().item_spacing.y = 0.0;
        let (mut top, mut skipped) = (0.0, 0.0);
        for piece in &mut self.pieces {
            let is_seen = top < viewport.bottom() && top + piece.height > viewport.top();
            top += piece.height;
            if !is_seen {
                skipped += piece.height;
                continue;
            }
            if skipped > 0.0 {
                ui.allocate_space(vec2(1.0, std::mem::take(&mut skipped)));
            }
            let words = self.text.get(piece.range.clone()).unwrap_or_default();
            let words = RichText::new(words).monospace().color(palette.text);
            piece.height = ui.add(Label::new(words).wrap().selectable(true)).rect.height();
        }
        if skipped > 0.0 {
            ui.allocate_space(vec2(1.0, skipped));
        }
    }

    fn guess(&mut self, width: f32) {
        if (self.width - width).abs() < 0.5 {
            return;
        }
        self.width = width;
        let columns = (width / (face::CODE_SIZE * ADVANCE)).max(1.0);
        for piece in &mut self.pieces {
            let words = self.text.get(piece.range.clone()).unwrap_or_default();
            let rows = words.lines().map(|line| (line.len() as f32 / columns).ceil().max(1.0));
            piece.height = rows.sum::<f32>().max(1.0) * face::CODE_LINE;
        }
    }
}

/// Cuts a text behind line breaks where there are some, else between characters.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let most = text.floor_char_boundary(start + PIECE);
        let end = if most == text.len() {
            most
        } else {
            let piece = text.get(start..most).unwrap_or_default();
            piece.rfind('\n').map_or(most, |at| start + at + 1)
        };
        pieces.push(start..end);
        start = end;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::{PIECE, pieces};

    #[test]
    fn no_character_is_lost_between_pieces() {
        for text in ["", "short", &"ä".repeat(3 * PIECE), &"a line of it\n".repeat(4000)] {
            let cut: String =
                pieces(text).into_iter().filter_map(|range| text.get(range)).collect();
            assert_eq!(cut, *text);
            assert!(pieces(text).iter().all(|range| !range.is_empty() && range.len() <= PIECE));
        }
    }
}
