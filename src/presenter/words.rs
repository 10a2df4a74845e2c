//! Our words to the user and to the model.

use std::sync::Arc;

use super::{
    call::Refusal,
    effect::{CallForm, Flaw, NoteKind},
};
use crate::{
    markup::Arrival,
    model::{
        StopReason, ToolResult,
        stream::{EndState, Interruption},
    },
};

pub(super) const CHECKPOINT_LATE: &str = "it took too long";
pub(super) const NO_DECISION: &str = "The call was not run: nobody decided on it.";
pub(super) const NO_RESULT: &str = "The tool ended without a result.";
pub(super) const DUPLICATE_ANSWER: &str =
    "A second answer to the same call is shown, but not sent to the model.";
const NO_OUTPUT: &str = "(the tool ended without output)";
const NO_TEXT: &str = "(the tool gave pictures only)";

pub(super) fn no_checkpoint(why: &str) -> String {
    format!("No checkpoint was made, so the changes that follow cannot be undone: {why}.")
}

pub(super) fn repeats(kind: NoteKind, tool: &str) -> String {
    if kind == NoteKind::Stuck {
        format!("{tool} was called five times in a row with the same arguments.")
    } else {
        format!(
            "{tool} was called three times in a row with the same arguments. \
             The result will not change; try something else."
        )
    }
}

/// What the model reads as the answer to its call; never empty.
pub(super) fn answer(form: CallForm, tool: &str, result: &ToolResult) -> Arc<str> {
    let output = match result.told.as_deref().unwrap_or(&result.output.source) {
        "" if result.images.is_empty() => NO_OUTPUT,
        "" => NO_TEXT,
        output => output,
    };
    match form {
        CallForm::Native => output.into(),
        CallForm::Tags => format!("[{tool}]\n{output}").into(),
    }
}

/// Why a call was not run.
pub(super) fn refused(refusal: &Refusal) -> String {
    match refusal {
        Refusal::UnknownTool => "Not run: there is no tool of this name.".to_owned(),
        Refusal::Denied => "Not run: the user rejected this call.".to_owned(),
        Refusal::Skipped(Arrival::Complete) => {
            "Not run: skipped, because the user rejected an earlier call.".to_owned()
        }
        Refusal::Skipped(Arrival::Partial) => {
            "Not run: interrupted, because the user rejected an earlier call.".to_owned()
        }
        Refusal::AlreadyUsed => {
            "Not run: another tool was already used, and only one may be used in a reply."
                .to_owned()
        }
        Refusal::PlanMode => "Not run: files cannot be changed while planning.".to_owned(),
        Refusal::Flaw(Flaw::Arguments(error)) => format!("Not run: {error}."),
        Refusal::Flaw(Flaw::Malformed) => {
            "Not run: the closing tag of a parameter is missing.".to_owned()
        }
        Refusal::Flaw(Flaw::CutOff(end)) => {
            format!("Not run: the call was cut off, because {}.", ended(end))
        }
        Refusal::Flaw(Flaw::NotAllowed(end)) => format!("Not run, because {}.", ended(end)),
    }
}

fn ended(end: &EndState) -> String {
    match end {
        EndState::Complete { reason: StopReason::Length, .. } => {
            "the reply reached its length limit".to_owned()
        }
        EndState::Complete { .. } => "the reply ended with an incomplete call".to_owned(),
        EndState::Incomplete => "the reply broke off".to_owned(),
        EndState::Interrupted { cause: Interruption::Io(_), .. } => {
            "the connection was lost".to_owned()
        }
        EndState::Interrupted { cause: Interruption::Stalled, .. } => {
            "nothing more came for too long".to_owned()
        }
        EndState::Failed(error) => format!("the request failed: {error}"),
        EndState::Cancelled => "it was stopped".to_owned(),
    }
}
