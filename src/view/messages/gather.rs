//! Copying messages of any number: those that are not loaded are waited for, in order.

use egui::Ui;

use super::{note_copied, words};
use crate::{
    model::{MessageId, Source},
    perf::Reason,
    view::{
        governor,
        transcript::{TranscriptView, clean},
    },
};

/// Rows that are asked for at once.
const AHEAD: usize = 64;
/// Messages that are written down in one frame.
const PER_FRAME: usize = 200;
/// What is copied has at most so many bytes.
const BYTES_MAX: usize = 64 << 20;

/// Messages on their way to the clipboard.
#[derive(Debug)]
pub(super) struct Gathering {
    ids: Vec<MessageId>,
    next: usize,
    text: String,
}

/// Begins to copy what is chosen.
pub(super) fn begin(view: &mut TranscriptView, source: &dyn Source) {
    let mut ids = view.chosen();
    ids.sort_by_cached_key(|id| source.index_of(*id));
    if !ids.is_empty() {
        view.messages.gathering = Some(Gathering { ids, next: 0, text: String::new() });
    }
}

/// Takes in what has arrived, and copies once all of it has.
pub(super) fn go_on(view: &mut TranscriptView, ui: &Ui, source: &mut dyn Source) {
    let Some(gathering) = &mut view.messages.gathering else { return };
    for _ in 0..PER_FRAME {
        let Some(id) = gathering.ids.get(gathering.next) else { break };
        // What has gone meanwhile cannot be copied.
        if let Some(row) = source.index_of(*id) {
            let Some(message) = source.message(row) else {
                source.want(row..(row + AHEAD).min(source.len()));
                break;
            };
            let words = if gathering.ids.len() == 1 {
                words::markdown(&message)
            } else {
                words::named(&message)
            };
            if gathering.text.len() + words.len() > BYTES_MAX {
                gathering.next = gathering.ids.len();
                break;
            }
            if !gathering.text.is_empty() {
                gathering.text.push('\n');
            }
            gathering.text.push_str(&words);
        }
        gathering.next += 1;
    }
    if gathering.next < gathering.ids.len() {
        return governor::after(ui, Reason::Page, governor::FRAME);
    }
    let last = gathering.ids.last().copied();
    ui.ctx().copy_text(clean(gathering.text.trim_end()));
    view.messages.gathering = None;
    if let Some(last) = last {
        note_copied(view, ui, last);
    }
}
