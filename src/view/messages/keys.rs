//! Keys for messages.

use egui::{Key, Modifiers, Popup, Ui};

use super::{Hands, choosing, copy, go_to_version, loaded, menu::topmost, place::spans, words};
use crate::{
    layout::ForkPlace,
    model::{MessageId, Part, RowKind, Source},
    perf::Reason,
    view::{
        governor,
        transcript::{Geometry, TranscriptView, ViewCommand},
    },
};

/// How far back an answer is looked for, in rows.
const LOOK_BACK: usize = 256;

/// Takes the keys for messages. Those with Ctrl work also while somebody types.
pub(crate) fn keys(
    view: &mut TranscriptView,
    ui: &Ui,
    geometry: Geometry,
    source: &mut dyn Source,
    commands: &mut Vec<ViewCommand>,
) {
    if ui.memory(|memory| memory.top_modal_layer().is_some()) || Popup::is_any_open(ui.ctx()) {
        return;
    }
    let pressed = |modifiers, key| {
        ui.input_mut(|input: &mut egui::InputState| input.consume_key(modifiers, key))
    };
    if choosing::keys(view, ui, geometry, source) {
        return governor::wake(ui, Reason::Input);
    }
    if pressed(Modifiers::COMMAND | Modifiers::SHIFT, Key::C) {
        if let Some(id) = last_answer(source) {
            copy(view, ui, source, id, words::markdown);
        }
        governor::wake(ui, Reason::Input);
    }
    if view.hands == Hands::Talking && pressed(Modifiers::COMMAND, Key::R) {
        let last = last_of(source, RowKind::Assistant);
        commands.extend(last.map(|message| ViewCommand::Regenerate { message }));
    }
    if let Some(is_next) = view.messages.step.take() {
        step_version(view, geometry, is_next, commands);
    }
    let typing = ui.memory(|memory| memory.focused().is_some()) && ui.egui_wants_keyboard_input();
    for (key, is_next) in [(Key::ArrowLeft, false), (Key::ArrowRight, true)] {
        if !typing && pressed(Modifiers::ALT, key) {
            step_version(view, geometry, is_next, commands);
            governor::wake(ui, Reason::Input);
        }
    }
}

/// Goes to the next or the previous version of the message that keys are about; of the
/// topmost one that has any when it has none.
pub(crate) fn step_version(
    view: &mut TranscriptView,
    geometry: Geometry,
    is_next: bool,
    commands: &mut Vec<ViewCommand>,
) {
    if view.hands != Hands::Talking {
        return;
    }
    let place = |id| view.sheet.fork(id).map(|place| (id, place));
    let found = topmost(view, geometry).and_then(place);
    let found = found.or_else(|| spans(view, geometry).find_map(|span| place(span.id)));
    let Some((from, ForkPlace { previous, next, .. })) = found else { return };
    if let Some(to) = if is_next { next } else { previous } {
        go_to_version(view, from, to, commands);
    }
}

/// The last answer with words in it.
fn last_answer(source: &mut dyn Source) -> Option<MessageId> {
    let rows = source.len();
    let has_words =
        |part: &Part| matches!(part, Part::Text(text) if !text.source.trim().is_empty());
    (rows.saturating_sub(LOOK_BACK)..rows).rev().find_map(|row| {
        let row = source.row(row);
        let message = (row.kind == RowKind::Assistant).then(|| loaded(source, row.id))??;
        message.parts.iter().any(has_words).then_some(row.id)
    })
}

fn last_of(source: &dyn Source, kind: RowKind) -> Option<MessageId> {
    let rows = source.len();
    let rows = (rows.saturating_sub(LOOK_BACK)..rows).rev().map(|row| source.row(row));
    rows.filter(|row| row.kind == kind).map(|row| row.id).next()
}
