//! Editing what was said, or what waits to be said.

use egui::Ui;

use super::{
    Composer, Wish,
    widgets::{iconed, note, sign},
};
use crate::{
    layout::{Palette, icon},
    model::{
        Attachment, Command, Message, MessageId, Part, QueueChange, Queued, Role, Snapshot, Ticket,
    },
};

/// What is said to have an answer go on that broke off.
pub(super) const CONTINUE: &str = "Continue where you stopped.";

/// Something that stood elsewhere and stands in the box now.
#[derive(Debug)]
pub(super) struct Editing {
    pub(super) what: What,
    /// What it was.
    pub(super) before: String,
    /// What was being written, and comes back.
    pub(super) aside: Written,
}

/// What is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// One of the user's messages.
    Message(MessageId),
    /// Something that waits.
    Queued(Ticket),
}

/// A text and what goes with it.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) attachments: Vec<Attachment>,
}

impl Written {
    /// Puts it back into the box, before what stands there.
    pub(super) fn put_back(self, composer: &mut Composer) {
        let Self { mut text, mut attachments } = self;
        if !text.is_empty() && !composer.text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&composer.text);
        attachments.append(&mut composer.attachments);
        (composer.text, composer.attachments) = (text, attachments);
        composer.focus();
    }

    /// What a message says, to be said in another way.
    fn of(message: &Message) -> Self {
        let texts = message.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.source.trim_matches('\n')),
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n\n");
        let attachments = message.parts.iter().filter_map(|part| match part {
            Part::Image(image) => Some(Attachment::Image(image.clone())),
            _ => None,
        });
        Self { text, attachments: attachments.collect() }
    }
}

impl Composer {
    /// Puts one of the user's messages into the box, to be said in another way. What was
    /// being written comes back afterwards.
    pub fn edit(&mut self, message: &Message) -> Vec<Wish> {
        let mut wishes = Vec::new();
        if message.role == Role::User {
            self.begin(What::Message(message.id), Written::of(message), &mut wishes);
        }
        wishes
    }

    /// The message that is being edited.
    #[must_use]
    pub fn edited(&self) -> Option<MessageId> {
        match self.editing.as_ref()?.what {
            What::Message(id) => Some(id),
            What::Queued(_) => None,
        }
    }

    /// Puts something that waits into the box. It is not said before that is over.
    pub(super) fn edit_queued(&mut self, queued: &Queued, wishes: &mut Vec<Wish>) {
        let draft = &queued.draft;
        if self.edits(draft.ticket) {
            return self.focus();
        }
        let written =
            Written { text: draft.text.to_string(), attachments: draft.attachments.clone() };
        self.begin(What::Queued(draft.ticket), written, wishes);
        wishes.push(Wish::Tell(Command::Queue(QueueChange::Hold(draft.ticket))));
    }

    /// True while this is what stands in the box.
    pub(super) fn edits(&self, ticket: Ticket) -> bool {
        self.editing.as_ref().is_some_and(|editing| editing.what == What::Queued(ticket))
    }

    /// True while something that waits stands in the box.
    pub(super) fn edits_queued(&self) -> bool {
        self.editing.as_ref().is_some_and(|editing| matches!(editing.what, What::Queued(_)))
    }

    fn begin(&mut self, what: What, written: Written, wishes: &mut Vec<Wish>) {
        if self.sending.is_some() {
            return;
        }
        self.leave_editing(wishes);
        let Written { text, attachments } = written;
        let before = text.clone();
        let aside = Written {
            text: std::mem::replace(&mut self.text, text),
            attachments: std::mem::replace(&mut self.attachments, attachments),
        };
        self.editing = Some(Editing { what, before, aside });
        self.notice = None;
        self.focus();
    }

    /// Leaves what is edited as it was. True when something was.
    pub(super) fn leave_editing(&mut self, wishes: &mut Vec<Wish>) -> bool {
        let Some(Editing { what, aside, .. }) = self.editing.take() else { return false };
        self.sending = None;
        self.text.clear();
        self.attachments.clear();
        aside.put_back(self);
        if let What::Queued(ticket) = what {
            wishes.push(Wish::Tell(Command::Queue(QueueChange::Release(ticket, None))));
        }
        true
    }

    /// Says what is edited in its new way.
    pub(super) fn send_edited(&mut self, wishes: &mut Vec<Wish>) {
        let Some(what) = self.editing.as_ref().map(|editing| editing.what) else { return };
        let draft = self.take_draft();
        wishes.push(Wish::Tell(match what {
            What::Message(message) => Command::Edit { message, draft },
            What::Queued(ticket) => Command::Queue(QueueChange::Release(ticket, Some(draft))),
        }));
    }

    /// What waited may have been said before it could be held.
    pub(super) fn settle_editing(&mut self, snapshot: &Snapshot) {
        let Some(Editing { what: What::Queued(ticket), before, .. }) = &self.editing else {
            return;
        };
        let waits = snapshot.queued.iter().any(|queued| queued.draft.ticket == *ticket);
        if waits || self.sending.is_some() || snapshot.fate(*ticket).is_none() {
            return;
        }
        if self.text == *before {
            self.text.clear();
            self.attachments.clear();
        }
        self.notice = Some("It was sent before it could be changed.");
        if let Some(Editing { aside, .. }) = self.editing.take() {
            aside.put_back(self);
        }
    }

    /// Says what is being edited, and how to leave it.
    pub(super) fn editing_ui(&mut self, ui: &mut Ui, palette: &Palette, wishes: &mut Vec<Wish>) {
        let Some(editing) = &self.editing else { return };
        let (title, words) = match editing.what {
            What::Message(_) => (
                "Editing an earlier message",
                "What followed it stays as another version. Esc leaves it as it was.",
            ),
            What::Queued(_) => (
                "Editing a message that waits",
                "It is not sent meanwhile. Esc leaves it as it was.",
            ),
        };
        let mut leaves = false;
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 10.0;
            ui.label(iconed(icon::PENCIL_SIMPLE, title, palette.accent));
            note(ui, palette, words);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let names = ("Leave it as it was", "Leave it as it was (Esc)");
                leaves = sign(ui, palette, icon::X, names, true);
            });
        });
        ui.add_space(2.0);
        if leaves {
            self.leave_editing(wishes);
        }
    }
}
