//! The question about a call: a card above the composer of its conversation.
//!
//! What is asked can be read whole before it is answered: every character of it is shown or
//! spelt out, and what is long scrolls. A click or a key counts only when the card has stood
//! still for a while, so that nobody answers a question that has just come under his hand.

mod answers;
mod arming;
mod body;
mod changes;
mod long;

use std::{sync::Arc, time::Instant};

use egui::{CornerRadius, EventFilter, Frame, Id, Margin, RichText, Sense, Stroke, Ui, UiBuilder};

use crate::{
    layout::{Palette, face, icon},
    model::{Approval, ApprovalId, Decision, Subject},
    perf::Reason,
    view::governor,
};

use answers::Stand;
pub use arming::{ARMING, Arming};
use changes::Changes;
use long::Long;

/// The user's word on a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The question.
    pub approval: ApprovalId,
    /// What he wants.
    pub decision: Decision,
    /// What he says with it; empty for nothing.
    pub feedback: String,
}

/// What a card is shown with.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The question.
    pub approval: &'a Arc<Approval>,
    /// Which conversation asks.
    pub title: &'a str,
    /// How many further conversations have a question.
    pub others: usize,
    /// The colours.
    pub palette: &'a Palette,
    /// The time.
    pub now: Instant,
}

/// The card of one conversation's questions, one after the other.
#[derive(Default)]
pub struct ApprovalCard {
    /// The question that all of this is about.
    asked: Option<ApprovalId>,
    /// What goes with the answer.
    feedback: String,
    /// The answer was handed over, and the question is still there.
    is_sent: bool,
    notice: Option<&'static str>,
    arming: Arming,
    /// The menu of offers has been open since then.
    offers_since: Option<Instant>,
    wants_focus: bool,
    what: Long,
    changes: Changes,
}

impl ApprovalCard {
    /// Shows a question in the width there is. Gives the answer, once.
    pub fn show(&mut self, ui: &mut Ui, shown: Shown<'_>) -> Option<Verdict> {
        self.turn_to(shown.approval);
        let frame_nr = ui.cumulative_frame_nr();
        let is_armed = self.arming.is_armed(shown.approval.id, frame_nr, shown.now);
        let id = keyboard_id();
        let sense = UiBuilder::new().id_salt("approval").sense(Sense::click());
        let card = ui.scope_builder(sense, |ui| {
            let ground = ui.response();
            self.keep_focus(ui, id, &ground);
            let has_focus = ui.memory(|memory| memory.has_focus(id));
            let keyed = if is_armed { self.keys(ui, shown.approval, has_focus) } else { None };
            let inner = card_frame(shown.palette, has_focus).show(ui, |ui| {
                ui.set_width(ui.available_width());
                header_ui(ui, shown);
                body::body_ui(ui, shown, &mut self.what, &mut self.changes);
                self.answers_ui(ui, shown, Stand { is_armed, has_focus })
            });
            keyed.or(inner.inner)
        });
        let stands = self.arming.stands_at(card.response.rect, shown.now);
        if let Some(left) = self.arming.left(shown.now) {
            governor::after(ui, Reason::Tick, left);
        }
        let decision = card.inner.filter(|_| stands && is_armed && !self.is_sent)?;
        self.is_sent = true;
        let feedback = self.feedback.trim().to_owned();
        Some(Verdict { approval: shown.approval.id, decision, feedback })
    }

    /// Gives the card the keyboard.
    pub fn focus(&mut self) {
        self.wants_focus = true;
    }

    /// The answer could not be handed over: the card takes another one.
    pub fn not_sent(&mut self) {
        self.is_sent = false;
        self.notice = Some("It could not be handed over. Try again in a moment.");
    }

    /// What is said belongs to one question.
    fn turn_to(&mut self, approval: &Arc<Approval>) {
        if self.asked == Some(approval.id) {
            return;
        }
        *self = Self {
            asked: Some(approval.id),
            wants_focus: self.wants_focus,
            what: Long::new(&approval.what),
            changes: Changes::new(&approval.changes),
            arming: std::mem::take(&mut self.arming),
            ..Self::default()
        };
    }

    /// The card takes the keyboard when it is clicked, when it is asked to, and when nothing
    /// else has it; from a text that is being written it never does.
    fn keep_focus(&mut self, ui: &Ui, id: Id, ground: &egui::Response) {
        let response = ui.interact(ground.rect, id, Sense::focusable_noninteractive());
        response.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::Group, true, "A tool asks for approval")
        });
        let is_free = ui.memory(|memory| memory.focused().is_none()) && self.feedback.is_empty();
        if std::mem::take(&mut self.wants_focus) || ground.clicked() || is_free {
            ui.memory_mut(|memory| memory.request_focus(id));
        }
        // The arrows scroll what is read before it is answered.
        let filter = EventFilter {
            horizontal_arrows: true,
            vertical_arrows: true,
            ..EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
    }
}

/// What has the keyboard while a card has it. One card is on screen at a time.
pub(crate) fn keyboard_id() -> Id {
    Id::unique("approval")
}

fn card_frame(palette: &Palette, has_focus: bool) -> Frame {
    let edge = if has_focus { palette.warn } else { palette.warn.gamma_multiply(0.55) };
    Frame::new()
        .fill(palette.panel)
        .stroke(Stroke::new(1.0, edge))
        .corner_radius(CornerRadius::same(12))
        .inner_margin(Margin::symmetric(16, 12))
        .outer_margin(Margin { left: 0, right: 0, top: 0, bottom: 4 })
}

/// What is asked for, in words.
#[must_use]
pub fn question(subject: Subject) -> &'static str {
    match subject {
        Subject::Look => "May it look at this?",
        Subject::Change => "May it change this?",
        Subject::Command => "May it run this?",
        Subject::Network => "May it reach this address?",
        Subject::Remote => "May it use this tool of a server?",
    }
}

fn header_ui(ui: &mut Ui, shown: Shown<'_>) {
    let Shown { approval, title, others, palette, .. } = shown;
    ui.horizontal(|ui| {
        let sign = RichText::new(icon::PAUSE.to_string()).font(icon_font(15.0));
        ui.label(sign.color(palette.warn));
        let words = RichText::new(question(approval.subject)).size(face::TEXT_SIZE);
        ui.label(words.color(palette.text).variation("wght", 600.0));
        let tool = approval.tool.replacen("__", " · ", 1);
        ui.label(RichText::new(tool).monospace().color(palette.dim));
        let right = egui::Layout::right_to_left(egui::Align::Center);
        ui.with_layout(right, |ui| {
            let words = match others {
                0 => title.to_owned(),
                1 => format!("{title}  ·  1 other waits (Ctrl Shift A)"),
                n => format!("{title}  ·  {n} others wait (Ctrl Shift A)"),
            };
            let words = RichText::new(words).size(face::CAPTION_SIZE).color(palette.faint);
            ui.add(egui::Label::new(words).truncate());
        });
    });
}

fn icon_font(size: f32) -> egui::FontId {
    egui::FontId::new(size, egui::FontFamily::Name(face::ICON_NAME.into()))
}
