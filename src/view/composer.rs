//! The composer: where the user writes, chooses who answers, and stops it.
//!
//! What was written leaves the box only when the engine says that it has it; if it is
//! refused it is still there. What stood in the box when something else came to be edited
//! comes back when that is over.

mod bar;
mod editing;
mod kept;
mod keys;
mod picker;
mod queue;
mod status;
mod tools;
mod widgets;

use std::{collections::BTreeSet, ops::Bound, sync::Arc, time::Instant};

use egui::{
    Button, CornerRadius, Event, Frame, Id, KeyboardShortcut, Margin, Modifiers, RichText,
    ScrollArea, Stroke, TextEdit, Ui,
};

use self::{editing::Editing, picker::Picker, queue::Queue};
use crate::{
    layout::{Palette, face, icon},
    model::{Attachment, Command, Draft, Fate, Keeping, Snapshot, Ticket},
};

pub use picker::Choice;
use widgets::{iconed, note};

/// The box grows up to this height, in points; then it scrolls.
const HEIGHT_MAX: f32 = 220.0;
/// Attachments of one message.
const ATTACHMENTS_MAX: usize = 10;

/// Which key sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SendKey {
    /// Enter sends, Shift+Enter breaks the line.
    #[default]
    Enter,
    /// Ctrl+Enter sends, Enter breaks the line.
    CtrlEnter,
}

/// What the composer asks of the program around it.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// Hand this to the conversation.
    Tell(Command),
    /// Let the user choose files to attach.
    Attach,
    /// Let the user choose the folder that tools work in.
    Workspace,
    /// Put the last prompt into the box, with [`Composer::edit`].
    EditLast,
    /// Go to the next or the previous version of what is read.
    Version {
        /// The next one.
        is_next: bool,
    },
    /// Put this into the clipboard, without what is secret in it.
    Copy(String),
    /// Tell this to models in all new conversations, too.
    KeepSystem(Arc<str>),
}

/// The text being written and what goes with it.
#[derive(Default)]
pub struct Composer {
    /// What is being written.
    pub text: String,
    /// What goes with it.
    pub attachments: Vec<Attachment>,
    /// Which key sends.
    pub send_key: SendKey,
    /// The name that what is written is kept under; empty when it is not kept.
    pub key: Arc<str>,
    /// Characters before the caret.
    caret: usize,
    /// Where the caret is to be put.
    wanted_caret: Option<usize>,
    tickets: u64,
    sending: Option<Sent>,
    editing: Option<Editing>,
    queue: Queue,
    notice: Option<&'static str>,
    system: Option<String>,
    picker: Picker,
    asked_for_focus: bool,
    /// What was typed behind the key that handed over, for the next frame.
    held: Vec<Event>,
    /// The box, once it was shown.
    text_id: Option<Id>,
}

/// What was handed over and is not decided on.
#[derive(Clone, Debug)]
struct Sent {
    ticket: Ticket,
    /// The box as it stood.
    text: String,
}

impl Composer {
    /// Shows the composer at the bottom of `ui`; `now` is the time, for what counts seconds.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        snapshot: &Snapshot,
        choices: &[Choice],
        palette: &Palette,
        now: Instant,
    ) -> Vec<Wish> {
        let mut wishes = Vec::new();
        self.settle(snapshot);
        if let Keeping::ReadOnly(why) = &snapshot.keeping {
            read_only_ui(ui, palette, why);
            return wishes;
        }
        self.escape(ui, snapshot, &mut wishes);
        if status::strip_ui(ui, snapshot, palette, now, &mut wishes) {
            let draft = self.draft(editing::CONTINUE);
            wishes.push(Wish::Tell(Command::Send(draft)));
        }
        let is_editing = self.editing.is_some();
        let line = if is_editing { palette.accent } else { palette.line };
        let frame = Frame::new()
            .fill(if palette.dark { palette.panel } else { palette.bg })
            .stroke(Stroke::new(1.0, line))
            .corner_radius(CornerRadius::same(14))
            .inner_margin(Margin::symmetric(16, 12));
        frame.show(ui, |ui| {
            self.queue_ui(ui, snapshot, palette, &mut wishes);
            self.editing_ui(ui, palette, &mut wishes);
            self.notes_ui(ui, palette);
            self.text_ui(ui, snapshot, &mut wishes);
            ui.add_space(4.0);
            self.buttons_ui(ui, snapshot, choices, palette, &mut wishes);
        });
        wishes
    }

    /// Gives attachments that were chosen or dropped.
    pub fn attach(&mut self, attachments: impl IntoIterator<Item = Attachment>) {
        self.attachments.extend(attachments);
        self.attachments.truncate(ATTACHMENTS_MAX);
    }

    /// Puts words into the box as a quotation, above what comes next.
    pub fn quote(&mut self, words: &str) {
        if !self.text.is_empty() {
            let lines = if self.text.ends_with('\n') { "\n" } else { "\n\n" };
            self.text.push_str(lines);
        }
        for line in words.trim().lines() {
            self.text.push_str(if line.is_empty() { ">" } else { "> " });
            self.text.push_str(line);
            self.text.push('\n');
        }
        self.text.push('\n');
        self.focus();
    }

    /// Models with a star.
    #[must_use]
    pub fn favourites(&self) -> &BTreeSet<Choice> {
        &self.picker.favourites
    }

    /// Gives models their stars.
    pub fn set_favourites(&mut self, favourites: BTreeSet<Choice>) {
        self.picker.favourites = favourites;
    }

    /// The model with a star that comes after this one; none when no other has one.
    #[must_use]
    pub fn favourite_after(&self, now: &Choice) -> Option<Choice> {
        let favourites = &self.picker.favourites;
        let after = (Bound::Excluded(now), Bound::Unbounded);
        let next = favourites.range::<Choice, _>(after).next().or_else(|| favourites.first());
        next.filter(|next| *next != now).cloned()
    }

    /// Words as a draft of their own, beside what is being written.
    pub fn draft(&mut self, words: &str) -> Draft {
        Draft::text(self.ticket(), words)
    }

    /// What was sent could not be handed over: it stays in the box.
    pub fn not_sent(&mut self) {
        self.sending = None;
        self.notice = Some("It could not be handed over. Try again in a moment.");
    }

    /// Gives the box the keyboard, with the caret behind the last word.
    fn focus(&mut self) {
        (self.asked_for_focus, self.wanted_caret) = (false, Some(usize::MAX));
    }

    fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    fn is_blank(&self) -> bool {
        self.text.trim().is_empty() && self.attachments.is_empty()
    }

    /// The box as a draft, under a ticket that it waits for from now on.
    fn take_draft(&mut self) -> Draft {
        let ticket = self.ticket();
        self.sending = Some(Sent { ticket, text: self.text.clone() });
        self.notice = None;
        let text = Arc::from(self.text.trim());
        // What was being written before an edit is kept under that name, and stays.
        let key = if self.editing.is_some() { "".into() } else { Arc::clone(&self.key) };
        Draft { ticket, key, text, attachments: self.attachments.clone() }
    }

    /// Learns what became of what was sent, and of what is edited.
    fn settle(&mut self, snapshot: &Snapshot) {
        self.settle_editing(snapshot);
        let Some(sent) = &self.sending else { return };
        match snapshot.fate(sent.ticket) {
            Some(Fate::Accepted(_) | Fate::Queued) => self.taken(),
            Some(Fate::Refused(refusal, _)) => {
                self.notice = Some(refusal.words());
                self.sending = None;
            }
            None => {}
        }
    }

    /// The engine has it: it leaves the box. What was written since stays.
    fn taken(&mut self) {
        let Some(Sent { text, .. }) = self.sending.take() else { return };
        self.text = self.text.strip_prefix(&text).unwrap_or_default().to_owned();
        self.attachments.clear();
        self.notice = None;
        if let Some(Editing { aside, .. }) = self.editing.take() {
            aside.put_back(self);
        }
    }

    fn notes_ui(&mut self, ui: &mut Ui, palette: &Palette) {
        if let Some(words) = self.notice {
            ui.label(RichText::new(words).size(face::CAPTION_SIZE).color(palette.err));
        }
        self.attachments_ui(ui, palette);
    }

    fn attachments_ui(&mut self, ui: &mut Ui, palette: &Palette) {
        if self.attachments.is_empty() {
            return;
        }
        ui.horizontal_wrapped(|ui| {
            let mut removed = None;
            for (i, attachment) in self.attachments.iter().enumerate() {
                let name = match attachment {
                    Attachment::Image(image) => format!("picture ({})", image.media_type),
                    Attachment::Document { name, .. } => name.to_string(),
                };
                let text = RichText::new(format!("{name}  ×")).size(face::CAPTION_SIZE);
                let button = Button::new(text.color(palette.dim)).corner_radius(8);
                if ui.add(button).on_hover_text("Remove").clicked() {
                    removed = Some(i);
                }
            }
            if let Some(index) = removed {
                self.attachments.remove(index);
            }
        });
        ui.add_space(4.0);
    }

    fn text_ui(&mut self, ui: &mut Ui, snapshot: &Snapshot, wishes: &mut Vec<Wish>) {
        let handed_over = self.keys(ui, snapshot, wishes);
        let newline = match self.send_key {
            SendKey::Enter => Modifiers::SHIFT,
            SendKey::CtrlEnter => Modifiers::NONE,
        };
        let edit = TextEdit::multiline(&mut self.text)
            .id_salt("composer")
            .hint_text(hint(self.send_key, snapshot, self.editing.is_some()))
            .frame(Frame::NONE)
            .font(egui::FontId::new(face::TEXT_SIZE, face::TEXT))
            .desired_rows(1)
            .desired_width(f32::INFINITY)
            .return_key(Some(KeyboardShortcut::new(newline, egui::Key::Enter)));
        // A panel that grows with what it holds offers no height by itself.
        let scroll = ScrollArea::vertical()
            .id_salt("text")
            .max_height(HEIGHT_MAX)
            .min_scrolled_height(HEIGHT_MAX)
            .auto_shrink([false, true]);
        let response = scroll.show(ui, |ui| ui.add(edit)).inner;
        self.text_id = Some(response.id);
        if !std::mem::replace(&mut self.asked_for_focus, true) {
            response.request_focus();
        }
        self.follow_caret(ui, response.id);
        if let Some(how) = handed_over {
            self.send(how, snapshot, wishes);
        }
    }
}

/// What the empty box says.
fn hint(key: SendKey, snapshot: &Snapshot, is_editing: bool) -> &'static str {
    match (snapshot.phase.is_busy(), snapshot.is_empty() && snapshot.base.is_none()) {
        _ if is_editing => "Say it in another way…",
        _ if snapshot.question.is_some() => "Answer above, or say something else instead…",
        (true, _) if key == SendKey::Enter => {
            "Write on: Enter queues it for after this turn, Ctrl Enter steers this turn…"
        }
        (true, _) => {
            "Write on: Ctrl Enter queues it for after this turn, Alt Enter steers this turn…"
        }
        (false, true) => "Ask anything…",
        (false, false) => "Ask on…",
    }
}

/// What stands there when nothing may be said.
fn read_only_ui(ui: &mut Ui, palette: &Palette, why: &str) {
    let frame = Frame::new()
        .fill(palette.panel)
        .stroke(Stroke::new(1.0, palette.line))
        .corner_radius(CornerRadius::same(14))
        .inner_margin(Margin::symmetric(16, 12));
    frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal(|ui| {
            ui.label(iconed(icon::EYE, "Read only", palette.dim));
            note(ui, palette, why);
        });
    });
}
