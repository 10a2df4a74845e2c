//! The menu of a message.

use egui::{
    Align, Button, Key, Layout, Modifiers, Popup, PopupKind, Pos2, SetOpenCommand, Ui,
    containers::menu::menu_style, pos2,
};

use super::{Deed, Hands, Subject, place::spans, widget};
use crate::{
    model::{MessageId, Source},
    view::{
        overlay,
        transcript::{Geometry, TranscriptView},
    },
};

/// A menu that is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Menu {
    message: MessageId,
    at: Pos2,
    /// It opens in this frame.
    opens: bool,
}

/// Opens the menu beside the strip.
pub(super) fn open_at_strip(view: &mut TranscriptView, message: MessageId) {
    if let Some((_, strip)) = view.messages.beside {
        view.messages.menu = Some(Menu { message, at: strip.left_bottom(), opens: true });
    }
}

/// Shows the menu of a message when it is asked for: by the other button of the mouse, or
/// by the key for menus. Gives what was chosen in it.
pub(super) fn menu_ui(
    view: &mut TranscriptView,
    ui: &Ui,
    geometry: Geometry,
    source: &dyn Source,
) -> Option<(MessageId, Deed)> {
    if let Some(menu) = wanted(view, ui, geometry) {
        view.messages.menu = Some(menu);
    }
    let menu = view.messages.menu.as_mut()?;
    let Menu { message, at, .. } = *menu;
    let (id, opens) = (widget(ui, "menu"), std::mem::take(&mut menu.opens));
    let has_selection = view.selection.is_some();
    let mut chosen = None;
    if let Some(subject) = Subject::of(view, source, message) {
        let popup = Popup::new(id, ui.ctx().clone(), at, ui.layer_id())
            .kind(PopupKind::Menu)
            .layout(Layout::top_down_justified(Align::Min))
            .style(menu_style)
            .accessible_name("What to do with this message")
            .width(230.0)
            .open_memory(opens.then_some(SetOpenCommand::Bool(true)));
        popup.show(|ui| chosen = items_ui(ui, subject, has_selection));
    }
    if chosen.is_some() || !Popup::is_id_open(ui.ctx(), id) {
        Popup::close_id(ui.ctx(), id);
        view.messages.menu = None;
    }
    chosen.map(|deed| (message, deed))
}

/// Where a menu is asked for in this frame.
fn wanted(view: &TranscriptView, ui: &Ui, geometry: Geometry) -> Option<Menu> {
    let room = geometry.rect.with_max_x(geometry.rect.right() - geometry.edge);
    let pressed = ui.input(|input| {
        let pos = input.pointer.interact_pos()?;
        input.pointer.secondary_clicked().then_some(pos)
    });
    if let Some(at) = pressed.filter(|pos| room.contains(*pos) && ui.rect_contains_pointer(room)) {
        let span = spans(view, geometry).find(|span| span.rect.y_range().contains(at.y))?;
        return Some(Menu { message: span.id, at, opens: true });
    }
    let typing = ui.memory(|memory| memory.focused().is_some()) && ui.egui_wants_keyboard_input();
    let by_key = !typing
        && ui.input_mut(|input| {
            input.consume_key(Modifiers::NONE, Key::Menu)
                || input.consume_key(Modifiers::SHIFT, Key::F10)
        });
    by_key.then(|| at_keyboard(view, geometry)).flatten()
}

/// The menu that a key opens: of the message with the strip, else of the topmost one.
fn at_keyboard(view: &TranscriptView, geometry: Geometry) -> Option<Menu> {
    let message = topmost(view, geometry)?;
    let span = spans(view, geometry).find(|span| span.id == message)?;
    let top = span.words.max(geometry.rect.top() + overlay::HEADER as f32);
    Some(Menu { message, at: pos2(geometry.left, top + 24.0), opens: true })
}

/// The message that keys are about: the one with the strip, else the topmost one whose
/// words begin on screen, else the topmost one.
pub(super) fn topmost(view: &TranscriptView, geometry: Geometry) -> Option<MessageId> {
    if let Some((id, _)) = view.messages.beside {
        return Some(id);
    }
    let begins = |y: f32| y >= geometry.rect.top();
    let first = spans(view, geometry).find(|span| begins(span.words));
    first.or_else(|| spans(view, geometry).next()).map(|span| span.id)
}

fn items_ui(ui: &mut Ui, subject: Subject, has_selection: bool) -> Option<Deed> {
    let mut chosen = None;
    let mut item = |ui: &mut Ui, deed, words: &str, key: &str| {
        let button = Button::new(words);
        let button = if key.is_empty() { button } else { button.shortcut_text(key) };
        if ui.add(button).clicked() {
            chosen = Some(deed);
        }
    };
    item(ui, Deed::Copy, "Copy as Markdown", "");
    item(ui, Deed::CopyPlain, "Copy as plain text", "");
    item(ui, Deed::CopyRecord, "Copy as JSON", "");
    let quote = if has_selection { "Quote what is selected" } else { "Quote" };
    item(ui, Deed::Quote, quote, "");
    match subject.change() {
        Some(Deed::Edit) => {
            ui.separator();
            item(ui, Deed::Edit, "Edit and send again…", "");
        }
        Some(deed) => {
            ui.separator();
            item(ui, deed, "Answer anew", "Ctrl R");
        }
        None => {}
    }
    if let Some(fork) = subject.fork.filter(|_| subject.hands == Hands::Talking) {
        let way = [(fork.previous, false, "Previous", "Alt ←"), (fork.next, true, "Next", "Alt →")];
        for (to, is_next, word, key) in way {
            if to.is_some() {
                let words = format!("{word} of {} versions", fork.of);
                item(ui, Deed::Version { is_next }, &words, key);
            }
        }
    }
    ui.separator();
    item(ui, Deed::Choose, "Select messages…", "");
    item(ui, Deed::Export, "Export this message…", "");
    chosen
}
