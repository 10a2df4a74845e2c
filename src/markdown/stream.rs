//! A text that arrives in deltas.

use std::{
    cell::{OnceCell, RefCell},
    sync::Arc,
};

use super::{Options, returns, seal::State};
use crate::model::{Block, Blocks};

/// Markdown that arrives piece by piece.
///
/// Pushing costs a copy; parsing happens when the blocks are asked for.
pub struct Stream {
    source: String,
    /// The text as it is parsed, when that is not the source itself.
    unified: Option<String>,
    options: Options,
    /// The state as of some earlier length of the text, until `current` takes it.
    behind: RefCell<Option<State>>,
    /// The state as of the whole text.
    current: OnceCell<State>,
}

impl Stream {
    /// An empty text.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            source: String::new(),
            unified: None,
            options,
            behind: RefCell::new(Some(State::default())),
            current: OnceCell::new(),
        }
    }

    /// Appends a delta.
    pub fn push(&mut self, delta: &str) {
        if delta.is_empty() {
            return;
        }
        if let Some(state) = self.current.take() {
            *self.behind.get_mut() = Some(state);
        }
        if self.unified.is_none() && returns::has_lone_return(self.source.ends_with('\r'), delta) {
            self.unified = Some(self.source.clone());
        }
        if let Some(unified) = &mut self.unified {
            returns::push_unified(unified, delta);
        }
        self.source.push_str(delta);
    }

    /// The text as it is parsed. A carriage return at its end may become half of a line end.
    fn text(&self) -> &str {
        let text = self.unified.as_deref().unwrap_or(&self.source);
        text.strip_suffix('\r').unwrap_or(text)
    }

    /// Blocks that can no longer change. They stay where they are, by pointer.
    #[must_use]
    pub fn sealed(&self) -> &[Arc<Block>] {
        &self.state().sealed
    }

    /// Blocks of the text behind the sealed ones, with what is half open shown as it will look.
    #[must_use]
    pub fn tail(&self) -> Vec<Arc<Block>> {
        self.state().tail.clone()
    }

    /// All blocks. Costs a copy of the tail's pointers, and of all pointers when something was
    /// sealed since the last call.
    #[must_use]
    pub fn snapshot(&mut self) -> Blocks {
        self.state();
        let Some(state) = self.current.get_mut() else { return Blocks::Unparsed };
        if state.shared.as_ref().is_none_or(|shared| shared.len() != state.sealed.len()) {
            state.shared = Some(state.sealed.as_slice().into());
        }
        let sealed = state.shared.as_ref().map_or_else(|| Arc::from([]), Arc::clone);
        Blocks::Open { sealed, tail: state.tail.as_slice().into() }
    }

    /// The blocks of the finished text.
    #[must_use]
    pub fn finish(self) -> Arc<[Arc<Block>]> {
        let behind = self.behind.into_inner();
        let state = self.current.into_inner().or(behind).unwrap_or_default();
        let text = self.unified.unwrap_or(self.source);
        state.finish(&returns::unify(&text), self.options)
    }

    /// Bytes handed to the parser so far, for those who watch its work.
    #[must_use]
    pub fn parsed_bytes(&self) -> u64 {
        self.current.get().map_or_else(
            || self.behind.borrow().as_ref().map_or(0, |state| state.parsed),
            |state| state.parsed,
        )
    }

    /// The text so far, as it arrived.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    fn state(&self) -> &State {
        self.current.get_or_init(|| {
            let mut state = self.behind.take().unwrap_or_default();
            state.advance(self.text(), self.options);
            state
        })
    }
}

/// The blocks of a finished text.
pub(super) fn parse_whole(text: &str, options: Options) -> Arc<[Arc<Block>]> {
    State::default().finish(&returns::unify(text), options)
}
