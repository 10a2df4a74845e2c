//! The blocks of a reply: what arrived, and how much of it was said.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{
    arguments::ArgumentView,
    effect::{BlockId, Call, CallForm, CallView, Flaw, RowKind, Saying},
};
use crate::{
    markup::{Arrival, Place, TagCall, TagEvent, TrimmedText, shown_text, shown_value},
    model::stream::ArgumentError,
};

/// One block of a reply.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) id: BlockId,
    pub(super) arrival: Arrival,
    pub(super) body: Body,
    /// It is on its list's list of changed blocks.
    pub(super) is_touched: bool,
}

impl Block {
    /// The change that brings a prose's row up to date; none when it is.
    pub(super) fn say(&mut self) -> Option<Saying> {
        match &mut self.body {
            Body::Prose(prose) => prose.say(self.id, self.arrival),
            Body::Call(_) | Body::Apart => None,
        }
    }

    /// Like [`Self::say`], for a prose that will not be said any further; none if nothing
    /// of it was.
    pub(super) fn say_no_more(&mut self) -> Option<Saying> {
        match &mut self.body {
            Body::Prose(prose) if prose.said.row != RowState::None => {
                prose.say(self.id, Arrival::Complete)
            }
            Body::Prose(_) | Body::Call(_) | Body::Apart => None,
        }
    }

    /// The text of a reasoning.
    pub(super) fn reasoning(&self) -> Option<&str> {
        match &self.body {
            Body::Prose(prose) if prose.kind == RowKind::Reasoning => Some(prose.text.as_str()),
            Body::Prose(_) | Body::Call(_) | Body::Apart => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Body {
    Prose(Prose),
    Call(Box<CallBlock>),
    /// A picture or something of the provider's own: shown when it comes, not presented.
    Apart,
}

/// Text that grows at its end.
#[derive(Clone, Debug)]
pub(super) struct Prose {
    pub(super) kind: RowKind,
    pub(super) text: TrimmedText,
    /// Where `text` ends.
    pub(super) place: Place,
    pub(super) clean_up: CleanUp,
    said: Said,
}

/// What is left out of a text when it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CleanUp {
    /// Nothing.
    Verbatim,
    /// Half a tag while it is partial.
    HalfTags,
    /// Half a tag while it is partial; what is left of tags once it is complete.
    Tags,
}

/// What a text's row shows of it.
#[derive(Clone, Copy, Debug, Default)]
struct Said {
    /// Bytes that the row holds.
    length: usize,
    /// Bytes of these that are still what the text begins with.
    valid: usize,
    row: RowState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RowState {
    #[default]
    None,
    Open,
    /// The last change may not have reached it.
    Lost,
    Final,
}

impl Prose {
    pub(super) fn new(kind: RowKind, clean_up: CleanUp) -> Self {
        let (text, place, said) = Default::default();
        Self { kind, text, place, clean_up, said }
    }

    /// Replaces the text; what the row shows of both may stay.
    pub(super) fn replace(&mut self, text: &str) {
        let old = std::mem::replace(&mut self.text, text.into());
        let both = old.as_str().bytes().zip(self.text.as_str().bytes());
        let common = both.take_while(|(a, b)| a == b).count();
        let common = self.text.as_str().floor_char_boundary(common);
        self.said.valid = self.said.valid.min(common);
        self.place = Place::at_end_of(self.text.as_str());
    }

    /// The change that brings the row up to date; none when it is.
    fn say(&mut self, block: BlockId, arrival: Arrival) -> Option<Saying> {
        let is_final = arrival == Arrival::Complete;
        let shown = shown(&self.text, self.clean_up, arrival, self.place);
        let keep = self.said.valid.min(shown.len());
        let append = shown.get(keep..).unwrap_or_default();
        let changes = keep < self.said.length || !append.is_empty();
        let is_due = match self.said.row {
            // Text without words takes no row; reasoning without words was kept from us.
            RowState::None => changes || (is_final && self.kind == RowKind::Reasoning),
            RowState::Open => changes || is_final,
            RowState::Lost => true,
            RowState::Final => false,
        };
        if !is_due {
            return None;
        }
        let append = append.to_owned();
        let row = if is_final { RowState::Final } else { RowState::Open };
        self.said = Said { length: shown.len(), valid: shown.len(), row };
        Some(Saying { block, kind: self.kind, keep, append, is_final })
    }

    /// The last change may not have reached the row: everything is to be said again.
    pub(super) fn unsay(&mut self) {
        self.said = Said { length: 0, valid: 0, row: RowState::Lost };
    }
}

fn shown(text: &TrimmedText, clean_up: CleanUp, arrival: Arrival, place: Place) -> &str {
    let text = text.as_str();
    match (clean_up, arrival) {
        (CleanUp::Verbatim, _) | (CleanUp::HalfTags, Arrival::Complete) => text,
        (CleanUp::HalfTags, Arrival::Partial) | (CleanUp::Tags, _) => {
            shown_text(text, arrival, place)
        }
    }
}

/// A tool call.
#[derive(Clone, Debug)]
pub(super) struct CallBlock {
    pub(super) id: Arc<str>,
    pub(super) name: Arc<str>,
    pub(super) source: CallSource,
    /// What is known once it is complete.
    pub(super) verdict: Option<Result<Arc<Call>, Flaw>>,
    pub(super) is_answered: bool,
}

/// What a call's parameters are read from.
#[derive(Clone, Debug)]
pub(super) enum CallSource {
    Tags(TagCall),
    Native {
        view: ArgumentView,
        /// The provider's last word on them.
        closed: Option<Result<Value, ArgumentError>>,
    },
}

impl CallBlock {
    pub(super) fn new(id: Arc<str>, name: Arc<str>, source: CallSource) -> Self {
        Self { id, name, source, verdict: None, is_answered: false }
    }

    pub(super) fn form(&self) -> CallForm {
        match self.source {
            CallSource::Tags(_) => CallForm::Tags,
            CallSource::Native { .. } => CallForm::Native,
        }
    }

    /// The call as it is shown while it arrives.
    pub(super) fn view(&self, block: BlockId, arrival: Arrival) -> CallView {
        let (id, name) = (Arc::clone(&self.id), Arc::clone(&self.name));
        CallView { block, id, name, params: self.shown_params(arrival) }
    }

    fn shown_params(&self, arrival: Arrival) -> Vec<(String, String)> {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        match &self.source {
            CallSource::Tags(call) if arrival == Arrival::Partial => {
                let shown = |(name, value)| (name, shown_value(name, value));
                call.params().map(shown).map(owned).collect()
            }
            CallSource::Tags(call) => call.params().map(owned).collect(),
            CallSource::Native { closed: Some(Ok(Value::Object(fields))), .. } => {
                fields.iter().map(|(name, value)| (name.clone(), display(value))).collect()
            }
            CallSource::Native { view, .. } => view.params().map(owned).collect(),
        }
    }

    /// Fills a call made of tags.
    pub(super) fn apply(&mut self, event: TagEvent<'_>) {
        if let CallSource::Tags(call) = &mut self.source {
            call.apply(event);
        }
    }

    /// The complete call. Its arguments are an object.
    pub(super) fn complete(&self, block: BlockId) -> Arc<Call> {
        let mut arguments = match &self.source {
            CallSource::Tags(call) => call
                .params()
                .map(|(name, value)| (name.to_owned(), Value::String(value.to_owned())))
                .collect(),
            CallSource::Native { closed: Some(Ok(Value::Object(fields))), .. } => fields.clone(),
            CallSource::Native { .. } => Map::new(),
        };
        give_result(&self.name, &mut arguments);
        let (id, name) = (Arc::clone(&self.id), Arc::clone(&self.name));
        Arc::new(Call { block, id, name, arguments: Value::Object(arguments), form: self.form() })
    }
}

/// Some models give the result of a task the name of another parameter.
fn give_result(tool: &str, arguments: &mut Map<String, Value>) {
    if tool == "attempt_completion"
        && !arguments.contains_key("result")
        && let Some(response @ Value::String(_)) = arguments.get("response").cloned()
    {
        arguments.insert("result".to_owned(), response);
    }
}

fn display(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
