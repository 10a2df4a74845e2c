//! What is known of open sessions and of no others.

use super::SessionId;

/// How an open session stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// It is on the page.
    pub is_active: bool,
    /// An answer is on its way.
    pub is_busy: bool,
    /// A call waits for the user's word.
    pub asks: bool,
}

/// The marks of the open sessions. They are few, so looking through them is cheap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks(Vec<(SessionId, Mark)>);

impl Marks {
    /// The mark of a session; none when it is not open.
    #[must_use]
    pub fn of(&self, id: &SessionId) -> Option<Mark> {
        self.0.iter().find(|(open, _)| open == id).map(|(_, mark)| *mark)
    }

    /// The session on the page.
    #[must_use]
    pub fn active(&self) -> Option<&SessionId> {
        self.0.iter().find(|(_, mark)| mark.is_active).map(|(id, _)| id)
    }
}

impl FromIterator<(SessionId, Mark)> for Marks {
    fn from_iter<I: IntoIterator<Item = (SessionId, Mark)>>(marks: I) -> Self {
        Self(marks.into_iter().collect())
    }
}

impl Mark {
    /// Its state in words, for those who do not see dots.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self { asks: true, .. } => "waits for your word",
            Self { is_busy: true, .. } => "an answer is on its way",
            Self { .. } => "open",
        }
    }
}
