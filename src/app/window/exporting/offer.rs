//! What can be exported.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    app::export::{Format, Subject},
    model::MessageId,
};

/// A conversation that can be exported.
pub(in crate::app::window) struct Offer {
    /// What it is called.
    pub(in crate::app::window) title: String,
    /// Where its messages come from.
    pub(in crate::app::window) subject: Subject,
    /// The ids of its other leaves, and the messages that only their branches have.
    pub(in crate::app::window) branches: Vec<(Arc<str>, usize)>,
    /// Messages that were chosen before.
    pub(in crate::app::window) chosen: BTreeSet<MessageId>,
    /// It is those that are wanted.
    pub(in crate::app::window) wants_chosen: bool,
}

/// The longest name that is suggested, in characters.
const NAME_MAX: usize = 60;

impl Offer {
    /// All of a conversation.
    pub(in crate::app::window) fn whole(title: String, subject: Subject) -> Self {
        Self { title, subject, branches: Vec::new(), chosen: BTreeSet::new(), wants_chosen: false }
    }

    /// A name for the file, made of the title.
    pub(super) fn file_name(&self, format: Format) -> String {
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let words: String = self.title.chars().map(|c| if is_plain(c) { c } else { ' ' }).collect();
        let name = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let name: String = name.chars().take(NAME_MAX).collect();
        let name = if name.trim().is_empty() { "conversation" } else { name.trim() };
        format!("{name}.{}", format.ending())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_titles() {
        for (title, expected) in [
            ("Which bed?", "Which bed.md"),
            ("../../etc/passwd\n", "etc passwd.md"),
            ("", "conversation.md"),
            ("???", "conversation.md"),
            (&"a".repeat(200), &format!("{}.md", "a".repeat(60))),
        ] {
            let offer = Offer {
                title: title.to_owned(),
                subject: Subject::File("x".into()),
                branches: Vec::new(),
                chosen: BTreeSet::new(),
                wants_chosen: false,
            };
            assert_eq!(offer.file_name(Format::Md), expected);
        }
    }
}
