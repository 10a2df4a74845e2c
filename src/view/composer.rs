//! The composer: where the user writes, chooses who answers, and stops it.
//!
//! What was written leaves the box only when the engine says that it has it; if it is
//! refused it is still there.

mod picker;
mod status;
mod tools;

use std::{collections::BTreeSet, ops::Bound, sync::Arc, time::Instant};

use egui::{
    Align, Button, CornerRadius, Event, Frame, Key, KeyboardShortcut, Layout, Margin, Modifiers,
    RichText, ScrollArea, Stroke, TextEdit, Ui, vec2,
};

use crate::{
    layout::{Palette, face, icon},
    model::{Attachment, Command, Draft, Fate, Part, Role, Snapshot, ThinkingLevel, Ticket},
};

pub use picker::Choice;
use picker::Picker;

/// The box grows up to this height, in points; then it scrolls.
const HEIGHT_MAX: f32 = 220.0;

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
    tickets: u64,
    sending: Option<Ticket>,
    editing: bool,
    notice: Option<&'static str>,
    system: Option<String>,
    picker: Picker,
    asked_for_focus: bool,
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
        self.escape(ui, snapshot, &mut wishes);
        status::strip_ui(ui, snapshot, palette, now, &mut wishes);
        let frame = Frame::new()
            .fill(if palette.dark { palette.panel } else { palette.bg })
            .stroke(Stroke::new(1.0, palette.line))
            .corner_radius(CornerRadius::same(14))
            .inner_margin(Margin::symmetric(16, 12));
        frame.show(ui, |ui| {
            self.notes_ui(ui, snapshot, palette);
            self.text_ui(ui, snapshot, &mut wishes);
            ui.add_space(4.0);
            ui.horizontal(|ui| self.buttons_ui(ui, snapshot, choices, palette, &mut wishes));
        });
        wishes
    }

    /// Gives attachments that were chosen or dropped.
    pub fn attach(&mut self, attachments: impl IntoIterator<Item = Attachment>) {
        self.attachments.extend(attachments);
        self.attachments.truncate(10);
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
        self.tickets += 1;
        Draft::text(Ticket(self.tickets), words)
    }

    /// Learns what became of what was sent.
    fn settle(&mut self, snapshot: &Snapshot) {
        let Some(ticket) = self.sending else { return };
        match snapshot.fate(ticket) {
            Some(Fate::Accepted(_) | Fate::Queued) => {
                self.text.clear();
                self.attachments.clear();
                (self.sending, self.editing, self.notice) = (None, false, None);
            }
            Some(Fate::Refused(refusal, _)) => {
                self.notice = Some(refusal.words());
                self.sending = None;
            }
            None => {}
        }
    }

    fn notes_ui(&mut self, ui: &mut Ui, snapshot: &Snapshot, palette: &Palette) {
        if self.editing {
            note(ui, palette, "Editing your last prompt. Esc leaves it as it was.");
        }
        if let Some(words) = self.notice {
            ui.label(RichText::new(words).size(face::CAPTION_SIZE).color(palette.err));
        }
        for waits in snapshot.queued.iter() {
            let words: String = waits.draft.text.chars().take(80).collect();
            note(ui, palette, &format!("Waits for its turn: {words}"));
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
        let hint = match (snapshot.phase.is_busy(), snapshot.is_empty()) {
            _ if snapshot.question.is_some() => "Answer above, or say something else instead…",
            (true, _) => "Write what comes next; it waits for its turn…",
            (false, true) => "Ask anything…",
            (false, false) => "Ask on…",
        };
        let newline = match self.send_key {
            SendKey::Enter => Modifiers::SHIFT,
            SendKey::CtrlEnter => Modifiers::NONE,
        };
        let edit = TextEdit::multiline(&mut self.text)
            .id_salt("composer")
            .hint_text(hint)
            .frame(Frame::NONE)
            .font(egui::FontId::new(face::TEXT_SIZE, face::TEXT))
            .desired_rows(1)
            .desired_width(f32::INFINITY)
            .return_key(Some(KeyboardShortcut::new(newline, Key::Enter)));
        let scroll = ScrollArea::vertical().max_height(HEIGHT_MAX).auto_shrink([false, true]);
        let response = scroll.show(ui, |ui| ui.add(edit)).inner;
        if !std::mem::replace(&mut self.asked_for_focus, true) {
            response.request_focus();
        }
        if response.has_focus() {
            self.keys(ui, snapshot, wishes);
        }
    }

    fn keys(&mut self, ui: &Ui, snapshot: &Snapshot, wishes: &mut Vec<Wish>) {
        // While an input method composes, Enter and Escape are its own.
        let composing = ui.input(|input| input.events.iter().any(|e| matches!(e, Event::Ime(_))));
        if composing {
            return;
        }
        let send = match self.send_key {
            SendKey::Enter => Modifiers::NONE,
            SendKey::CtrlEnter => Modifiers::COMMAND,
        };
        if ui.input_mut(|input| input.consume_key(send, Key::Enter)) {
            self.send(wishes);
        }
        if self.text.is_empty()
            && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::ArrowUp))
        {
            self.edit_last(snapshot);
        }
    }

    /// Escape stops, wherever the focus is: a text box loses it by the same key.
    fn escape(&mut self, ui: &Ui, snapshot: &Snapshot, wishes: &mut Vec<Wish>) {
        let composing = ui.input(|input| input.events.iter().any(|e| matches!(e, Event::Ime(_))));
        let dialog = ui.ctx().memory(|memory| memory.top_modal_layer().is_some());
        if composing || dialog || !ui.input(|input| input.key_pressed(Key::Escape)) {
            return;
        }
        if snapshot.phase.is_busy() {
            wishes.push(Wish::Tell(Command::Stop));
        } else if std::mem::take(&mut self.editing) {
            self.text.clear();
        }
    }

    /// Puts the last prompt back into the box, to be said in another way.
    fn edit_last(&mut self, snapshot: &Snapshot) {
        let last = snapshot.messages().rev().find(|message| message.role == Role::User);
        let Some(message) = last else { return };
        let texts = message.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(&*text.source),
            _ => None,
        });
        self.text = texts.collect::<Vec<_>>().join("\n\n");
        self.editing = true;
    }

    fn send(&mut self, wishes: &mut Vec<Wish>) {
        if self.sending.is_some() || (self.text.trim().is_empty() && self.attachments.is_empty()) {
            return;
        }
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let draft = Draft {
            ticket,
            text: Arc::from(self.text.trim()),
            attachments: self.attachments.clone(),
            ..Draft::default()
        };
        self.sending = Some(ticket);
        self.notice = None;
        wishes.push(Wish::Tell(if self.editing {
            Command::EditLast(draft)
        } else {
            Command::Send(draft)
        }));
    }

    /// What was sent could not be handed over: it stays in the box.
    pub fn not_sent(&mut self) {
        self.sending = None;
        self.notice = Some("It could not be handed over. Try again in a moment.");
    }

    fn buttons_ui(
        &mut self,
        ui: &mut Ui,
        snapshot: &Snapshot,
        choices: &[Choice],
        palette: &Palette,
        wishes: &mut Vec<Wish>,
    ) {
        if quiet_button(
            ui,
            palette,
            &format!("{} attach", icon::PAPERCLIP),
            "Attach pictures or text files",
        ) {
            wishes.push(Wish::Attach);
        }
        if let Some(choice) = self.picker.ui(ui, snapshot, choices, palette) {
            let Choice { provider, model } = choice;
            wishes.push(Wish::Tell(Command::SetModel { provider, model }));
        }
        thinking_ui(ui, snapshot, palette, wishes);
        tools::tools_ui(ui, snapshot, palette, wishes);
        self.system_ui(ui, snapshot, palette, wishes);
        self.keys_ui(ui, palette);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if snapshot.phase.is_busy() {
                if primary(ui, palette, "Stop") {
                    wishes.push(Wish::Tell(Command::Stop));
                }
                note(ui, palette, "Esc stops");
            } else if primary(ui, palette, "Send") {
                self.send(wishes);
            }
        });
    }

    /// Which key sends.
    fn keys_ui(&mut self, ui: &mut Ui, palette: &Palette) {
        let words = match self.send_key {
            SendKey::Enter => "Enter sends",
            SendKey::CtrlEnter => "Ctrl Enter sends",
        };
        let label = RichText::new(words).size(face::CAPTION_SIZE).color(palette.dim);
        ui.menu_button(label, |ui| {
            for (key, words) in [
                (SendKey::Enter, "Enter sends, Shift Enter breaks the line"),
                (SendKey::CtrlEnter, "Ctrl Enter sends, Enter breaks the line"),
            ] {
                if ui.radio(self.send_key == key, words).clicked() {
                    self.send_key = key;
                    ui.close();
                }
            }
        });
    }

    /// What the model is told about its task.
    fn system_ui(
        &mut self,
        ui: &mut Ui,
        snapshot: &Snapshot,
        palette: &Palette,
        wishes: &mut Vec<Wish>,
    ) {
        let set = snapshot.settings.system.is_some();
        let label = RichText::new(if set { "system: set" } else { "system" });
        let label = label.size(face::CAPTION_SIZE).color(palette.dim);
        let menu = ui.menu_button(label, |ui| {
            let text = self.system.get_or_insert_with(|| {
                snapshot.settings.system.as_deref().unwrap_or_default().to_owned()
            });
            ui.set_width(420.0);
            ui.label("What the model is told about its task");
            ui.add(TextEdit::multiline(text).desired_rows(5).desired_width(f32::INFINITY));
            ui.horizontal(|ui| {
                let here = ui.button("Use this").clicked();
                let always = ui.button("Use this in all new chats, too").clicked();
                if always {
                    wishes.push(Wish::KeepSystem(text.trim().into()));
                }
                if here || always {
                    let system = (!text.trim().is_empty()).then(|| Arc::from(text.trim()));
                    wishes.push(Wish::Tell(Command::SetSystem(system)));
                    ui.close();
                }
            });
        });
        if menu.inner.is_none() {
            self.system = None;
        }
    }
}

fn thinking_ui(ui: &mut Ui, snapshot: &Snapshot, palette: &Palette, wishes: &mut Vec<Wish>) {
    let levels = [
        (ThinkingLevel::Default, "default"),
        (ThinkingLevel::Off, "off"),
        (ThinkingLevel::Low, "low"),
        (ThinkingLevel::Medium, "medium"),
        (ThinkingLevel::High, "high"),
    ];
    let now = snapshot.settings.thinking;
    let word = levels.iter().find(|(level, _)| *level == now).map_or("default", |(_, word)| word);
    let label = RichText::new(format!("thinking: {word}")).size(face::CAPTION_SIZE);
    ui.menu_button(label.color(palette.dim), |ui| {
        for (level, word) in levels {
            if ui.radio(level == now, word).clicked() {
                wishes.push(Wish::Tell(Command::SetThinking(level)));
                ui.close();
            }
        }
    });
}

fn note(ui: &mut Ui, palette: &Palette, words: &str) {
    ui.label(RichText::new(words).size(face::CAPTION_SIZE).color(palette.faint));
}

fn quiet_button(ui: &mut Ui, palette: &Palette, words: &str, hint: &str) -> bool {
    let (sign, word) = words.split_at(words.chars().next().map_or(0, char::len_utf8));
    let icons = egui::FontId::new(14.0, egui::FontFamily::Name(face::ICON_NAME.into()));
    let mut job = egui::text::LayoutJob::default();
    let format = |font_id| egui::TextFormat { font_id, color: palette.dim, ..Default::default() };
    job.append(sign, 0.0, format(icons));
    job.append(word, 0.0, format(egui::FontId::new(face::CAPTION_SIZE, face::TEXT)));
    ui.add(Button::new(job).frame(false)).on_hover_text(hint).clicked()
}

fn primary(ui: &mut Ui, palette: &Palette, words: &str) -> bool {
    let text = RichText::new(words).color(palette.bg).variation("wght", 650.0);
    ui.add(Button::new(text).fill(palette.accent).corner_radius(8).min_size(vec2(52.0, 28.0)))
        .clicked()
}
