//! What the reader opened and closed, by stable identity.

use std::collections::HashMap;

use crate::layout::spec::{Fold, FoldKind};

/// How folds stand that the reader never touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Openness {
    /// As each kind of fold says.
    #[default]
    Usual,
    /// All open.
    All,
    /// All closed.
    None,
}

/// The reader's own choices, over a general rule.
#[derive(Debug, Default)]
pub struct Folds {
    chosen: HashMap<Fold, bool>,
    rule: Openness,
    wraps: bool,
    version: u64,
}

impl Folds {
    /// True when a fold is open; `usual` is how it stands untouched.
    #[must_use]
    pub fn is_open(&self, fold: Fold, usual: bool) -> bool {
        let ruled = match self.rule {
            // How code wraps is a taste, not something that is closed or open.
            _ if matches!(fold.kind, FoldKind::Wrap(_)) => usual || self.wraps,
            Openness::Usual => usual,
            Openness::All => true,
            Openness::None => false,
        };
        self.chosen.get(&fold).copied().unwrap_or(ruled)
    }

    /// Opens or closes one fold.
    pub fn set(&mut self, fold: Fold, open: bool) {
        self.chosen.insert(fold, open);
        self.version += 1;
    }

    /// How the reader set one fold; none when he never touched it.
    #[must_use]
    pub fn chosen(&self, fold: Fold) -> Option<bool> {
        self.chosen.get(&fold).copied()
    }

    /// Puts one fold back to how the reader had set it.
    pub fn restore(&mut self, fold: Fold, chosen: Option<bool>) {
        match chosen {
            Some(open) => self.chosen.insert(fold, open),
            None => self.chosen.remove(&fold),
        };
        self.version += 1;
    }

    /// Opens or closes everything, and forgets single choices.
    pub fn rule(&mut self, rule: Openness) {
        self.chosen.clear();
        self.rule = rule;
        self.version += 1;
    }

    /// Wraps the long lines of code that the reader made no choice about, or lets them run.
    pub fn wrap(&mut self, wraps: bool) {
        if self.wraps != wraps {
            self.wraps = wraps;
            self.version += 1;
        }
    }

    /// Changes whenever any fold did.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }
}
