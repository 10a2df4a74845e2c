//! A question of the policy's, as the conversation shows it.

use std::sync::Arc;

use crate::{
    model::{Approval, ApprovalId, Change, Concern, MessageId, Offer, Scope, Subject},
    presenter::Call,
    tools::{FileChange, Kind, policy},
};

pub(super) fn approval(asked: &policy::Approval, call: &Call, now_ms: i64) -> Approval {
    let environment = asked.environment.changed.iter();
    Approval {
        // They are given by whoever asks.
        id: ApprovalId(0),
        message: MessageId(0),
        call_id: Arc::clone(&call.id),
        tool: asked.tool.as_str().into(),
        subject: subject(asked.kind),
        what: asked.what.as_str().into(),
        place: asked.place.as_str().into(),
        timeout_secs: asked.timeout.map(|timeout| timeout.as_secs()),
        is_inside: asked.is_inside,
        environment: environment.map(|(k, v)| (k.as_str().into(), v.as_str().into())).collect(),
        changes: asked.changes.iter().map(change).collect(),
        concerns: asked.reasons.iter().map(concern).collect(),
        offers: asked.offers.iter().map(offer).collect(),
        asked_ms: now_ms,
    }
}

fn subject(kind: Kind) -> Subject {
    match kind {
        Kind::Read | Kind::List | Kind::Glob | Kind::Search => Subject::Look,
        Kind::Write | Kind::Edit | Kind::Patch => Subject::Change,
        Kind::Command => Subject::Command,
        Kind::Fetch => Subject::Network,
        Kind::Remote => Subject::Remote,
    }
}

fn change(change: &FileChange) -> Change {
    Change {
        path: policy::visible(&change.path).text.into(),
        moved_to: change.moved_to.as_ref().map(|path| policy::visible(path).text.into()),
        before: change.before.clone(),
        after: change.after.clone(),
    }
}

fn concern(reason: &policy::Reason) -> Concern {
    let words = policy::visible(&reason.to_string()).text.into();
    Concern { words, is_warning: reason.is_warning() }
}

fn offer(offer: &policy::Offer) -> Offer {
    let scope = match offer.scope {
        policy::Scope::Session => Scope::Session,
        policy::Scope::Always => Scope::Always,
    };
    Offer { scope, words: policy::visible(&offer.rule.words()).text.into() }
}
