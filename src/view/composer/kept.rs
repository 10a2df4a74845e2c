//! What is written, for whoever keeps it.

use egui::{Id, TextEdit, Ui, text::CCursor, text::CCursorRange};

use super::Composer;
use crate::model::Attachment;

impl Composer {
    /// All that is being written: while something said before stands in the box, also what
    /// was being written before that.
    #[must_use]
    pub fn written(&self) -> (String, Vec<Attachment>) {
        let Some(editing) = &self.editing else {
            return (self.text.clone(), self.attachments.clone());
        };
        let texts = [editing.aside.text.as_str(), self.text.as_str()];
        let texts: Vec<&str> = texts.into_iter().filter(|text| !text.trim().is_empty()).collect();
        let attachments = editing.aside.attachments.iter().chain(&self.attachments);
        (texts.join("\n\n"), attachments.cloned().collect())
    }

    /// True when nothing is written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let aside = self.editing.as_ref().map(|editing| &editing.aside);
        let has_aside =
            aside.is_some_and(|one| !one.text.is_empty() || !one.attachments.is_empty());
        self.text.is_empty() && self.attachments.is_empty() && !has_aside
    }

    /// Characters before the caret, as it was shown last.
    #[must_use]
    pub fn caret(&self) -> usize {
        self.wanted_caret.map_or(self.caret, |wanted| wanted.min(self.text.chars().count()))
    }

    /// Puts back what was being written, with the caret where it was.
    pub fn restore(&mut self, text: String, caret: usize, attachments: Vec<Attachment>) {
        self.text = text;
        self.wanted_caret = Some(caret);
        self.attachments = attachments;
    }

    /// Gives the box the keyboard, and leaves the caret where it is.
    pub fn take_keyboard(&mut self) {
        self.asked_for_focus = false;
    }

    /// Puts the caret where it is wanted, and notes where it is.
    pub(super) fn follow_caret(&mut self, ui: &Ui, id: Id) {
        let mut state = TextEdit::load_state(ui.ctx(), id).unwrap_or_default();
        if let Some(wanted) = self.wanted_caret.take() {
            let caret = CCursor::new(wanted.min(self.text.chars().count()));
            state.cursor.set_char_range(Some(CCursorRange::one(caret)));
            self.caret = caret.index.0;
            return TextEdit::store_state(ui.ctx(), id, state);
        }
        self.caret = state.cursor.char_range().map_or(self.caret, |range| range.primary.index.0);
    }
}
