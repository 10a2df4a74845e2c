//! What an export leaves unsaid: keys and passwords are covered, the user's home is `~`,
//! headers and the environment of servers are dropped.
//!
//! A message is covered before a format writes it, so that every format leaves out the same
//! and what is structured stays valid.

mod encoded;
mod fields;
mod homes;
mod walk;

use std::{borrow::Cow, fmt, path::Path, sync::Arc};

use self::homes::Homes;
use crate::{
    app::secrecy,
    markup::secrets::{Ending, cover},
    model::{Message, Warning},
};

/// Covers the secrets that the program knows: the text without them, or none when it has
/// none of them.
pub type Cover = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// One thing that is looked for; none when it is not there.
type Step<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What is covered in an export.
#[derive(Clone)]
pub struct Redaction {
    homes: Homes,
    known: Option<Cover>,
}

impl Redaction {
    /// What can be told by its shape, and homes: this user's and those of others.
    #[must_use]
    pub fn new(home: Option<&Path>) -> Self {
        Self { homes: Homes::new(home), known: None }
    }

    /// The same, and every secret that this process has read.
    #[must_use]
    pub fn usual(home: Option<&Path>) -> Self {
        Self::new(home).knowing(Arc::new(|text| match secrecy::redact_known(text) {
            Cow::Owned(covered) => Some(covered),
            Cow::Borrowed(_) => None,
        }))
    }

    /// Also what this covers, whatever its shape.
    #[must_use]
    pub fn knowing(self, cover: Cover) -> Self {
        Self { known: Some(cover), ..self }
    }

    /// The message as it may be given to others. What changed has to be prepared anew.
    #[must_use]
    pub fn message(&self, message: Message) -> Message {
        walk::message(self, message)
    }

    /// The text as it may be given to others.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.cover(text).map_or(Cow::Borrowed(text), Cow::Owned)
    }

    pub(super) fn warning(&self, warning: Warning) -> Warning {
        match self.cover(&warning.message) {
            Some(message) => Warning { message, ..warning },
            None => warning,
        }
    }

    /// None when there is nothing to cover.
    fn cover(&self, text: &str) -> Option<String> {
        let steps: [Step<'_>; 5] = [
            &|text| self.known.as_ref().and_then(|cover| cover(text)),
            &|text| cover(text, Ending::Final),
            &encoded::cover,
            &fields::cover_headers,
            &|text| self.homes.hide(text),
        ];
        let mut covered: Option<String> = None;
        for step in steps {
            let now = step(covered.as_deref().unwrap_or(text));
            covered = now.or(covered);
        }
        covered
    }
}

impl fmt::Debug for Redaction {
    /// Secrets are behind a function, and stay there.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redaction").finish_non_exhaustive()
    }
}
