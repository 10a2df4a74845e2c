//! Wheel and keyboard of the transcript.

use egui::{Event, Key, Modifiers, Popup, Response, Ui};

use crate::{
    layout::{Jump, Openness},
    model::Source,
    perf::Reason,
    view::{approval, governor, minimap, overlay, transcript::TranscriptView},
};

/// Lines that an arrow key scrolls, in points.
const ARROW: f64 = 46.0;
/// What a page keeps of the page before, in points.
const OVERLAP: f64 = 46.0;

/// Applies wheel and keys. Keys belong to the transcript while nothing else has focus.
pub(crate) fn scroll(view: &mut TranscriptView, ui: &Ui, ground: &Response, source: &dyn Source) {
    if ground.contains_pointer() || ground.dragged() {
        let delta = ui.input(|input| input.smooth_scroll_delta().y);
        if delta != 0.0 {
            view.sheet.scroll_by(f64::from(-delta));
        }
    }
    let copy = ui.input(|input| input.events.iter().any(|event| matches!(event, Event::Copy)));
    // A dialog has the keys while it is open, and so has a menu.
    if ui.ctx().memory(|memory| memory.top_modal_layer().is_some()) || Popup::is_any_open(ui.ctx())
    {
        return;
    }
    toggle_minimap(view, ui);
    // A question is read about above before it is answered.
    let own = [ground.id, minimap::id(ui), approval::keyboard_id()];
    let typing = ui.ctx().memory(|memory| memory.focused().is_some_and(|id| !own.contains(&id)))
        && ui.ctx().egui_wants_keyboard_input();
    if typing {
        return;
    }
    if copy && view.selection.is_some() {
        view.want_copy();
    }
    let page = f64::from(ground.rect.height()) - OVERLAP;
    for (modifiers, key, command) in KEYS {
        if ui.input_mut(|input| input.consume_key(*modifiers, *key)) {
            run(view, *command, page, source);
        }
    }
}

/// Ctrl+M shows or hides the minimap, also while somebody types. With Shift it is another
/// key.
fn toggle_minimap(view: &mut TranscriptView, ui: &Ui) {
    let pressed = |input: &mut egui::InputState| {
        !input.modifiers.shift
            && !input.modifiers.alt
            && input.consume_key(Modifiers::COMMAND, Key::M)
    };
    if ui.input_mut(pressed) {
        view.show_minimap = !view.show_minimap;
        governor::wake(ui, Reason::Input);
    }
}

#[derive(Clone, Copy)]
enum Move {
    Start,
    End,
    Page(f64),
    By(f64),
    Message(isize),
    Prompt(isize),
    ExpandAll,
    CollapseAll,
    Deselect,
}

const KEYS: &[(Modifiers, Key, Move)] = &[
    (Modifiers::NONE, Key::Home, Move::Start),
    (Modifiers::COMMAND, Key::Home, Move::Start),
    (Modifiers::NONE, Key::End, Move::End),
    (Modifiers::COMMAND, Key::End, Move::End),
    (Modifiers::SHIFT, Key::PageUp, Move::Message(-1)),
    (Modifiers::SHIFT, Key::PageDown, Move::Message(1)),
    (Modifiers::NONE, Key::PageUp, Move::Page(-1.0)),
    (Modifiers::NONE, Key::PageDown, Move::Page(1.0)),
    (Modifiers::SHIFT, Key::Space, Move::Page(-1.0)),
    (Modifiers::NONE, Key::Space, Move::Page(1.0)),
    (Modifiers::ALT, Key::ArrowUp, Move::Message(-1)),
    (Modifiers::ALT, Key::ArrowDown, Move::Message(1)),
    (Modifiers::COMMAND, Key::ArrowUp, Move::Prompt(-1)),
    (Modifiers::COMMAND, Key::ArrowDown, Move::Prompt(1)),
    (Modifiers::NONE, Key::ArrowUp, Move::By(-ARROW)),
    (Modifiers::NONE, Key::ArrowDown, Move::By(ARROW)),
    (Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::O, Move::CollapseAll),
    (Modifiers::COMMAND, Key::O, Move::ExpandAll),
    (Modifiers::NONE, Key::Escape, Move::Deselect),
];

fn run(view: &mut TranscriptView, command: Move, page: f64, source: &dyn Source) {
    match command {
        Move::Start => view.sheet.jump(Jump::Start),
        Move::End => view.sheet.jump(Jump::End),
        Move::Page(pages) => view.sheet.scroll_by(pages * page),
        Move::By(points) => view.sheet.scroll_by(points),
        Move::Message(step) => message(view, step, source),
        Move::Prompt(step) => prompt(view, step, source),
        Move::ExpandAll => view.expand(Openness::All),
        Move::CollapseAll => view.expand(Openness::None),
        Move::Deselect => view.selection = None,
    }
}

/// Goes to the beginning of the message above or below the one at the top.
fn message(view: &mut TranscriptView, step: isize, source: &dyn Source) {
    let room = overlay::HEADER as f32;
    let Some(top) = view.visible.placed.iter().find(|place| place.y + place.height > room + 1.0)
    else {
        return;
    };
    let begins_here =
        view.visible.placed.iter().any(|place| place.row == top.row && place.y >= 0.0)
            && !view.visible.placed.iter().any(|place| place.row == top.row && place.y < -1.0);
    let row = match (step < 0, begins_here) {
        (true, true) => top.row.saturating_sub(1),
        (true, false) => top.row,
        (false, _) => (top.row + 1).min(source.len().saturating_sub(1)),
    };
    overlay::go_to_row(view, row, source);
}

/// Goes to the user's message above or below.
fn prompt(view: &mut TranscriptView, step: isize, source: &dyn Source) {
    let Some(top) = view.visible.placed.first() else { return };
    let found = if step < 0 {
        let at_prompt = source.prompt_before(top.row) == Some(top.row) && top.y >= -1.0;
        let from = if at_prompt { top.row.checked_sub(1) } else { Some(top.row) };
        from.and_then(|row| source.prompt_before(row))
    } else {
        source.prompt_after(top.row + 1)
    };
    if let Some(row) = found {
        view.sheet.jump(Jump::Row(row));
    }
}
