//! The reference view: the same rows, each shown by the reference renderer in every frame,
//! for anybody who wants to hold ours against it.

use std::collections::HashMap;

use egui::{Rect, Ui, UiBuilder, pos2, vec2};

use crate::{
    model::{Blocks, Message, MessageId, Part, Source},
    view::{rich::Reference, transcript::COLUMN_MAX},
};

/// Lines of a tool's output that are shown, as in the transcript.
const OUTPUT_LINES: usize = 12;
/// Room between messages.
const GAP: f32 = 18.0;

/// Shows a [`Source`] with `egui_commonmark`.
#[derive(Default)]
pub struct ReferenceView {
    reference: Reference,
    /// What each message says in markdown: another program would keep it too.
    texts: HashMap<MessageId, String>,
    heights: HashMap<MessageId, f32>,
    row: usize,
    offset: f64,
    started: bool,
    pending: f64,
    /// The end stays on screen while the last message grows.
    following: bool,
    shown: usize,
    waiting: bool,
}

impl ReferenceView {
    /// Scrolls by points; downward is positive.
    pub fn scroll_by(&mut self, points: f64) {
        self.pending += points;
        self.following = false;
    }

    /// Goes to the end and stays there.
    pub fn follow_end(&mut self) {
        self.following = true;
    }

    /// Goes to the beginning of a row.
    pub fn go_to_row(&mut self, row: usize) {
        (self.row, self.offset, self.pending) = (row, 0.0, 0.0);
        (self.started, self.following) = (true, false);
    }

    /// The row at the top, and the points of it that are scrolled past.
    #[must_use]
    pub fn position(&self) -> (usize, f64) {
        (self.row, self.offset)
    }

    /// True while the end is followed.
    #[must_use]
    pub fn is_following(&self) -> bool {
        self.following
    }

    /// Messages on screen in the last frame.
    #[must_use]
    pub fn visible(&self) -> usize {
        self.shown
    }

    /// True when the last frame showed content wherever there is any.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.waiting
    }

    /// Shows the conversation in all of `ui`'s room.
    pub fn show(&mut self, ui: &mut Ui, source: &mut dyn Source) {
        source.poll();
        let rect = ui.available_rect_before_wrap();
        self.waiting = source.is_empty();
        self.shown = 0;
        if source.is_empty() {
            return;
        }
        self.place(source, f64::from(rect.height()));
        ui.set_clip_rect(rect);
        let width = (rect.width() - 68.0).clamp(160.0, COLUMN_MAX);
        let left = rect.left() + (rect.width() - width) / 2.0;
        let mut y = rect.top() - self.offset as f32;
        let first = self.row;
        let mut row = self.row;
        while y < rect.bottom() && row < source.len() {
            y +=
                self.message(ui, source, row, Rect::from_min_size(pos2(left, y), vec2(width, 1e5)));
            row += 1;
            self.shown += 1;
        }
        source.want(first.saturating_sub(8)..(row + 8).min(source.len()));
        if self.texts.len() > 512 {
            self.texts.clear();
        }
        ui.advance_cursor_after_rect(rect);
    }

    fn message(&mut self, ui: &mut Ui, source: &mut dyn Source, row: usize, room: Rect) -> f32 {
        let id = source.row(row).id;
        let Some(message) = source.message(row) else {
            self.waiting = true;
            return self.height(source, row);
        };
        let arriving = message.parts.iter().any(|part| match part {
            Part::Text(text) => matches!(text.blocks, Blocks::Open { .. }),
            _ => false,
        });
        if arriving {
            self.texts.remove(&id);
        }
        let text = self.texts.entry(id).or_insert_with(|| markdown(&message));
        let mut child = ui.new_child(UiBuilder::new().max_rect(room).id_salt(id));
        let height = self.reference.show(&mut child, id, text) + GAP;
        self.heights.insert(id, height);
        height
    }

    /// Applies the scroll that is due, from row to row.
    fn place(&mut self, source: &dyn Source, room: f64) {
        if !self.started {
            self.started = true;
            self.row = source.len() - 1;
            self.pending -= room - 100.0;
        }
        self.row = self.row.min(source.len() - 1);
        if self.following {
            self.row = source.len() - 1;
            self.offset = f64::from(self.height(source, self.row)) - room;
        }
        self.offset += std::mem::take(&mut self.pending);
        while self.offset < 0.0 && self.row > 0 {
            self.row -= 1;
            self.offset += f64::from(self.height(source, self.row));
        }
        self.offset = self.offset.max(0.0);
        while self.row + 1 < source.len() && self.offset > f64::from(self.height(source, self.row))
        {
            self.offset -= f64::from(self.height(source, self.row));
            self.row += 1;
        }
    }

    fn height(&self, source: &dyn Source, row: usize) -> f32 {
        let info = source.row(row);
        let estimate = 24.0 + 20.0 * f32::from(info.lines);
        self.heights.get(&info.id).copied().unwrap_or(estimate)
    }
}

/// A message as markdown: what the transcript shows while cards are closed.
fn markdown(message: &Message) -> String {
    let mut text = String::new();
    for part in &message.parts {
        match part {
            Part::Text(part) => text.push_str(&part.source),
            Part::Thinking(_) => text.push_str("*Thought*"),
            Part::Image(_) => text.push_str("(image)"),
            Part::ToolCall(call) => {
                text.push_str(&format!("**{}** `{}`", call.name, call.state.word()));
                if let Some(result) = &call.result {
                    text.push_str("\n\n```text\n");
                    text.extend(result.output.text.split_inclusive('\n').take(OUTPUT_LINES));
                    text.push_str("\n```");
                }
            }
            Part::ToolResult(result) => {
                text.push_str("```text\n");
                text.extend(result.output.text.split_inclusive('\n').take(OUTPUT_LINES));
                text.push_str("\n```");
            }
            Part::Notice(notice) => text.push_str(&notice.text.source),
            Part::Raw(raw) => text.push_str(&raw.label),
        }
        text.push_str("\n\n");
    }
    text
}
