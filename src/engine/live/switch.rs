//! A workbench that another one can take the place of, while the conversation goes on.

use std::{fmt, sync::Arc};

use parking_lot::RwLock;

use super::workbench::{Later, Restored, Terms, Tool, Weighed, Workbench};
use crate::presenter::Call;

/// A workbench that stands for another one, or for none. Clones stand for the same.
///
/// What is under way goes on where it began; what is called from then on goes to the new one.
/// A conversation learns of another place with the next [`crate::model::Command::SetTools`].
#[derive(Clone, Default)]
pub struct Switch {
    inner: Arc<RwLock<Option<Arc<dyn Workbench>>>>,
}

impl Switch {
    /// Puts a workbench in the place of the one before.
    pub fn set(&self, bench: Option<Arc<dyn Workbench>>) {
        *self.inner.write() = bench;
    }

    fn bench(&self) -> Option<Arc<dyn Workbench>> {
        self.inner.read().clone()
    }
}

impl Workbench for Switch {
    fn tools(&self) -> Vec<Tool> {
        self.bench().map(|bench| bench.tools()).unwrap_or_default()
    }

    fn weigh(&self, call: Arc<Call>, terms: Terms) -> Later<Weighed> {
        match self.bench() {
            Some(bench) => bench.weigh(call, terms),
            None => Box::pin(async { Weighed::Denied("Not run: there is no workspace.".into()) }),
        }
    }

    fn checkpoint(&self) -> Option<Later<Result<Arc<str>, Arc<str>>>> {
        self.bench()?.checkpoint()
    }

    fn restore(&self, checkpoint: &str) -> Option<Later<Result<Restored, Arc<str>>>> {
        self.bench()?.restore(checkpoint)
    }

    fn place(&self) -> Option<Arc<str>> {
        self.bench()?.place()
    }
}

impl fmt::Debug for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Switch").field(&self.bench()).finish()
    }
}
