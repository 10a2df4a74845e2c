//! Tools where nobody can be asked.

use std::sync::Arc;

use crate::{
    engine::live::workbench::{Later, Restored, Terms, Tool, Weighed, Workbench},
    presenter::Call,
};

/// What the model is told of a call that the user would be asked about.
const REFUSAL: &str = "Not run: this needs the user's approval, and nobody is there to give it. \
                       Do what can be done without it, and say what is left.";

/// Refuses what somebody would have to be asked about, and goes on.
#[derive(Debug)]
pub(super) struct Unattended(pub(super) Arc<dyn Workbench>);

impl Workbench for Unattended {
    fn tools(&self) -> Vec<Tool> {
        self.0.tools()
    }

    fn weigh(&self, call: Arc<Call>, terms: Terms) -> Later<Weighed> {
        let weighing = self.0.weigh(call, terms);
        Box::pin(async move {
            match weighing.await {
                Weighed::Asked(..) => Weighed::Denied(REFUSAL.into()),
                decided @ (Weighed::Allowed(_) | Weighed::Denied(_)) => decided,
            }
        })
    }

    fn checkpoint(&self) -> Option<Later<Result<Arc<str>, Arc<str>>>> {
        self.0.checkpoint()
    }

    fn restore(&self, checkpoint: &str) -> Option<Later<Result<Restored, Arc<str>>>> {
        self.0.restore(checkpoint)
    }

    fn place(&self) -> Option<Arc<str>> {
        self.0.place()
    }
}
