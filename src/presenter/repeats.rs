//! Notices a model that makes the same call over and over.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::effect::Call;

/// A parameter that says how far the model thinks it is: it does not make calls differ.
const PROGRESS: &str = "task_progress";
const WARN_AT: u32 = 3;
const STUCK_AT: u32 = 5;

/// Counts equal calls in a row, across requests.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats {
    last: Option<Arc<Call>>,
    count: u32,
}

/// What a call says about the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repetition {
    Fine,
    /// Tell the model.
    Repeating,
    /// Ask the user.
    Stuck,
}

impl Repeats {
    /// Counts a call that ran.
    pub(super) fn count(&mut self, call: &Arc<Call>) -> Repetition {
        let is_same = self.last.as_ref().is_some_and(|last| is_same(last, call));
        self.count = if is_same { self.count.saturating_add(1) } else { 1 };
        self.last = Some(Arc::clone(call));
        match self.count {
            WARN_AT => Repetition::Repeating,
            STUCK_AT => Repetition::Stuck,
            _ => Repetition::Fine,
        }
    }
}

fn is_same(a: &Call, b: &Call) -> bool {
    let fields = |call| fields(call).filter(|(name, _)| *name != PROGRESS);
    a.name == b.name
        && fields(a).count() == fields(b).count()
        && fields(a).all(|(name, value)| b.arguments.get(name) == Some(value))
}

fn fields(call: &Call) -> impl Iterator<Item = (&String, &Value)> {
    call.arguments.as_object().into_iter().flat_map(Map::iter)
}
