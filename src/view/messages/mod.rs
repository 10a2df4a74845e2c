//! What can be done with a message: a strip beside the one under the pointer, a menu, keys,
//! and choosing several.
//!
//! Nothing here takes room in the page: the strip stands in the margin, so no word moves
//! when it comes or goes, and nothing of it is worked out unless a pointer is there.

mod bar;
mod choosing;
mod gather;
mod keys;
mod menu;
mod place;
mod plain;
mod strip;
mod words;

use std::{sync::Arc, time::Duration};

use egui::{Id, Rect, StrokeKind, Ui};

use self::{choosing::Choosing, gather::Gathering, menu::Menu};
pub(crate) use self::{choosing::choose_ui, keys::keys};
use crate::{
    layout::{Anchor, ForkPlace, spec::SlugKey},
    model::{Message, MessageId, RowKind, Source},
    perf::Reason,
    view::{
        governor,
        transcript::{Geometry, TranscriptView, ViewCommand, clean},
    },
};

/// How long it is said that something was copied, in seconds.
const COPIED_SECS: f64 = 1.5;

/// What the program around a view lets the reader do with messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hands {
    /// Read, copy and quote them: nothing that changes the conversation.
    #[default]
    Reading,
    /// Talk: say prompts in another way, have answers made anew, go to other branches.
    Talking,
}

/// Something to do with one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Deed {
    Copy,
    CopyPlain,
    CopyRecord,
    Edit,
    Regenerate,
    Quote,
    Version { is_next: bool },
    Choose,
    Export,
    More,
}

/// The state of what can be done with messages.
#[derive(Default)]
pub(crate) struct Messages {
    /// The message that the strip stands beside, and where the strip stands.
    beside: Option<(MessageId, Rect)>,
    menu: Option<Menu>,
    choosing: Option<Choosing>,
    gathering: Option<Gathering>,
    /// The message that was copied, and until when that is said.
    copied: Option<(MessageId, f64)>,
    /// Another version is wanted: the next one, or the one before.
    step: Option<bool>,
    /// The prompt that is being written anew.
    edited: Option<MessageId>,
}

impl TranscriptView {
    /// Marks the prompt that is being written anew; none when none is.
    pub fn mark_edited(&mut self, message: Option<MessageId>) {
        self.messages.edited = message;
    }

    /// Goes to the next or the previous version of what is read, in the next frame.
    pub fn step_version(&mut self, is_next: bool) {
        self.messages.step = Some(is_next);
    }

    /// Escape leaves the choice of messages before it does anything else.
    pub fn choosing_keys(&mut self, ui: &Ui) {
        if self.is_choosing()
            && ui.input_mut(|input| input.consume_key(egui::Modifiers::NONE, egui::Key::Escape))
        {
            self.messages.choosing = None;
            governor::wake(ui, Reason::Input);
        }
    }

    /// Begins to choose whole messages, from this one on if there is one.
    pub fn choose_messages(&mut self, first: Option<MessageId>) {
        self.selection = None;
        self.messages.menu = None;
        self.messages.choosing = Some(Choosing::new(first));
    }

    /// True while whole messages are chosen.
    #[must_use]
    pub fn is_choosing(&self) -> bool {
        self.messages.choosing.is_some()
    }

    /// The messages that are chosen, by rising ids.
    #[must_use]
    pub fn chosen(&self) -> Vec<MessageId> {
        self.messages.choosing.as_ref().map(Choosing::ids).unwrap_or_default()
    }
}

/// Shows what can be done with the message under the pointer, and carries out what is asked.
pub(crate) fn show(
    view: &mut TranscriptView,
    ui: &Ui,
    geometry: Geometry,
    source: &mut dyn Source,
    commands: &mut Vec<ViewCommand>,
) {
    edited_ui(view, ui, geometry);
    if view.is_choosing() {
        bar::bar_ui(view, ui, geometry, source, commands);
    } else {
        let asked = strip::strip_ui(view, ui, geometry, source);
        let chosen = menu::menu_ui(view, ui, geometry, source);
        for (message, deed) in asked.into_iter().chain(chosen) {
            carry_out(view, ui, source, (message, deed), commands);
        }
    }
    gather::go_on(view, ui, source);
}

/// Does something with a message.
fn carry_out(
    view: &mut TranscriptView,
    ui: &Ui,
    source: &mut dyn Source,
    (id, deed): (MessageId, Deed),
    commands: &mut Vec<ViewCommand>,
) {
    match deed {
        Deed::Copy => copy(view, ui, source, id, words::markdown),
        Deed::CopyPlain => copy(view, ui, source, id, plain::words),
        Deed::CopyRecord => copy(view, ui, source, id, words::record),
        Deed::Edit => commands.push(ViewCommand::Edit { message: id }),
        Deed::Regenerate => commands.push(ViewCommand::Regenerate { message: id }),
        Deed::Quote => commands.extend(quote(view, ui, source, id)),
        Deed::Version { is_next } => {
            let place = view.sheet.fork(id);
            let to = place.and_then(|place| if is_next { place.next } else { place.previous });
            if let Some(to) = to {
                go_to_version(view, id, to, commands);
            }
        }
        Deed::Choose => view.choose_messages(Some(id)),
        Deed::Export => commands.push(ViewCommand::Export { messages: [id].into() }),
        Deed::More => menu::open_at_strip(view, id),
    }
    governor::wake(ui, Reason::Input);
}

/// Goes to the branch of a sibling, which will stand where the message stands.
pub(crate) fn go_to_version(
    view: &mut TranscriptView,
    from: MessageId,
    to: MessageId,
    commands: &mut Vec<ViewCommand>,
) {
    let placed = &view.visible.placed;
    let of = |place: &&crate::layout::Placed| place.id.message == from;
    // The line with the way stands at the head of an answer, and at the foot of a prompt.
    let (first, last) = (placed.iter().find(of), placed.iter().rev().find(of));
    let foot = last.filter(|place| place.id.key.part == u16::MAX && place.slug.is_some());
    if let Some(place) = foot.or(first) {
        view.sheet.hold(place.id, place.y);
        let key = if foot.is_some() {
            SlugKey { part: u16::MAX, leaf: u32::MAX, chunk: u32::MAX }
        } else {
            place.id.key
        };
        let offset = -f64::from(place.y);
        view.sheet.await_anchor(Anchor { message: to, key, offset });
    }
    commands.push(ViewCommand::Choose { message: to });
}

fn copy(
    view: &mut TranscriptView,
    ui: &Ui,
    source: &mut dyn Source,
    id: MessageId,
    words: fn(&Message) -> String,
) {
    let Some(message) = loaded(source, id) else { return };
    ui.ctx().copy_text(clean(&words(&message)));
    note_copied(view, ui, id);
}

fn note_copied(view: &mut TranscriptView, ui: &Ui, id: MessageId) {
    view.messages.copied = Some((id, ui.input(|input| input.time) + COPIED_SECS));
    governor::after(ui, Reason::Copied, Duration::from_secs_f64(COPIED_SECS));
}

/// What is selected in a message, else all of it.
fn quote(
    view: &mut TranscriptView,
    ui: &Ui,
    source: &mut dyn Source,
    id: MessageId,
) -> Option<ViewCommand> {
    let selected = view.selected_text(ui, source).filter(|text| !text.trim().is_empty());
    let text = match selected {
        Some(text) => text,
        None => words::markdown(&*loaded(source, id)?),
    };
    Some(ViewCommand::Quote { text: clean(text.trim()).into() })
}

fn loaded(source: &mut dyn Source, id: MessageId) -> Option<Arc<Message>> {
    let row = source.index_of(id)?;
    source.message(row)
}

/// What can be done with a row: its kind, its place among its siblings, and the hands.
#[derive(Clone, Copy)]
struct Subject {
    kind: RowKind,
    hands: Hands,
    fork: Option<ForkPlace>,
}

impl Subject {
    fn of(view: &TranscriptView, source: &dyn Source, id: MessageId) -> Option<Self> {
        let row = source.row(source.index_of(id)?);
        Some(Self { kind: row.kind, hands: view.hands, fork: view.sheet.fork(id) })
    }

    /// What a click on it changes, if the hands may.
    fn change(&self) -> Option<Deed> {
        match (self.hands, self.kind) {
            (Hands::Talking, RowKind::User) => Some(Deed::Edit),
            (Hands::Talking, RowKind::Assistant) => Some(Deed::Regenerate),
            _ => None,
        }
    }
}

/// A line around the prompt that is being written anew.
fn edited_ui(view: &TranscriptView, ui: &Ui, geometry: Geometry) {
    let Some(id) = view.messages.edited else { return };
    let Some(span) = place::spans(view, geometry).find(|span| span.id == id) else { return };
    let palette = view.palette();
    let card = span.card(geometry);
    let stroke = egui::Stroke::new(1.0, palette.accent);
    ui.painter_at(geometry.rect).rect_stroke(card, 12.0, stroke, StrokeKind::Inside);
}

fn widget(ui: &Ui, what: &'static str) -> Id {
    crate::view::transcript::part_id(ui, what)
}
