//! Choosing who answers: a list with favourites and a search that forgives.

use std::{collections::BTreeSet, sync::Arc};

use egui::{RichText, Role, ScrollArea, TextEdit, Ui, WidgetInfo};

use crate::{
    layout::{Palette, face},
    model::Snapshot,
};

/// A model of a provider.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Choice {
    /// The provider's name.
    pub provider: Arc<str>,
    /// The model, by its provider's name for it.
    pub model: Arc<str>,
}

impl Choice {
    fn words(&self) -> String {
        if self.model.is_empty() {
            self.provider.to_string()
        } else {
            format!("{} · {}", self.provider, self.model)
        }
    }
}

/// The picker's search and favourites.
#[derive(Default)]
pub(super) struct Picker {
    query: String,
    pub(super) favourites: BTreeSet<Choice>,
}

impl Picker {
    /// Shows the button and, when it was pressed, the list. Gives what was chosen.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        snapshot: &Snapshot,
        choices: &[Choice],
        palette: &Palette,
    ) -> Option<Choice> {
        let settings = &snapshot.settings;
        let now =
            Choice { provider: Arc::clone(&settings.provider), model: Arc::clone(&settings.model) };
        let mut words = now.words();
        if settings.is_demo {
            words.push_str(" (recorded)");
        }
        let label = RichText::new(words).size(face::CAPTION_SIZE).color(palette.dim);
        let mut chosen = None;
        ui.menu_button(label, |ui| {
            ui.set_width(300.0);
            let search = TextEdit::singleline(&mut self.query).hint_text("Search models");
            ui.add(search.desired_width(f32::INFINITY)).request_focus();
            ScrollArea::vertical().max_height(320.0).show(ui, |ui| {
                for choice in self.found(choices, &now) {
                    if self.row_ui(ui, &choice, choice == now) {
                        chosen = Some(choice);
                        ui.close();
                    }
                }
            });
        });
        chosen
    }

    fn row_ui(&mut self, ui: &mut Ui, choice: &Choice, current: bool) -> bool {
        ui.horizontal(|ui| {
            let favourite = self.favourites.contains(choice);
            let star = ui.small_button(if favourite { "★" } else { "☆" });
            let star = star.on_hover_text("Ctrl Shift M goes through those with a star");
            star.widget_info(|| {
                let words = format!("Star for {}", choice.words());
                WidgetInfo::selected(Role::Button, true, favourite, words)
            });
            if star.clicked() && !self.favourites.remove(choice) {
                self.favourites.insert(choice.clone());
            }
            ui.selectable_label(current, choice.words()).clicked()
        })
        .inner
    }

    /// What matches, best first; favourites and the current one first among equals. Those with
    /// a star are there even when their provider does not list them.
    fn found(&self, choices: &[Choice], now: &Choice) -> Vec<Choice> {
        let unlisted = self.favourites.iter().filter(|choice| !choices.contains(choice));
        let mut found: Vec<(f32, &Choice)> = choices
            .iter()
            .chain(unlisted)
            .filter_map(|choice| Some((score(&self.query, &choice.words())?, choice)))
            .collect();
        let rank = |choice: &Choice| (choice == now, self.favourites.contains(choice));
        found.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| rank(y).cmp(&rank(x))));
        found.into_iter().map(|(_, choice)| choice.clone()).collect()
    }
}

/// How well the letters of a query stand in a text in their order: 1 without gaps, less
/// with every letter between them, nothing when one is missing.
pub(super) fn score(query: &str, text: &str) -> Option<f32> {
    let letters = |text: &str| -> Vec<char> {
        text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
    };
    let (query, text) = (letters(query), letters(text));
    let (mut gaps, mut at, mut last) = (0_usize, 0, None);
    for letter in &query {
        let found = at + text.get(at..)?.iter().position(|c| c == letter)?;
        gaps += last.map_or(0, |last| found - last - 1);
        (last, at) = (Some(found), found + 1);
    }
    let length = query.len() as f32;
    Some(if query.is_empty() { 1.0 } else { length / (length + gaps as f32) })
}

#[cfg(test)]
mod tests {
    use super::score;

    #[test]
    fn letters_in_order_are_found_and_gaps_cost() {
        assert_eq!(score("", "anything"), Some(1.0));
        assert_eq!(score("son", "claude-sonnet"), Some(1.0));
        assert_eq!(score("CS", "claude-sonnet"), Some(2.0 / 8.0));
        assert_eq!(score("zz", "claude"), None);
        assert!(score("gpt4", "openai · gpt-4") > score("gpt4", "g other p t 4"));
    }
}
