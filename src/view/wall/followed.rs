//! What is followed, as the wall sees it.

use std::sync::Arc;

use super::feed::{FeedId, Feeds, Glance};
use crate::{
    engine::follow::{FollowId, Followed, Following},
    model::{
        Part, Source, ToolCall,
        activity::{Limits, State, next_change_ms, state},
    },
};

/// Newest rows in which a call that waits is looked for.
const LOOKED_AT: usize = 6;
/// Characters of a headline.
const HEADLINE_CHARS: usize = 160;

impl Feeds for Following {
    fn poll(&mut self) -> u64 {
        Self::poll(self)
    }

    fn glances(&mut self, now_ms: i64) -> Vec<Glance> {
        self.conversations().map(|followed| glance(followed, now_ms)).collect()
    }

    fn source(&mut self, id: FeedId) -> Option<&mut dyn Source> {
        let followed = self.conversations().find(|followed| followed.id() == FollowId(id.0))?;
        Some(followed.source())
    }

    fn watching(&self) -> Vec<String> {
        self.watched().map(str::to_owned).collect()
    }
}

fn glance(followed: &mut Followed, now_ms: i64) -> Glance {
    let limits = Limits::default();
    let state = state(followed.outline(), followed.link(), now_ms, &limits);
    let headline = match state {
        State::Error => followed.outline().error.as_deref().map(first_line).unwrap_or_default(),
        State::NeedsApproval => asked(followed),
        State::Working | State::Done | State::Idle | State::Stale => String::new(),
    };
    Glance {
        id: FeedId(followed.id().0),
        project: followed.project().map(first_line).unwrap_or_default().into(),
        title: first_line(&followed.title()).into(),
        model: followed.model().unwrap_or_default().into(),
        state,
        last_event_ms: followed.last_event_ms().unwrap_or_default(),
        headline: headline.into(),
        link: followed.link().clone(),
        changes_ms: next_change_ms(followed.outline(), followed.link(), now_ms, &limits),
    }
}

/// What a person is asked: the tool and the argument that matters.
fn asked(followed: &mut Followed) -> String {
    let open = followed.outline().open_calls.iter().find(|call| call.asks);
    let Some((id, name)) = open.map(|call| (Arc::clone(&call.id), Arc::clone(&call.name))) else {
        return String::new();
    };
    let source = followed.source();
    let rows = source.len().saturating_sub(LOOKED_AT)..source.len();
    let argument = rows.rev().find_map(|row| {
        let message = source.message(row)?;
        message.parts.iter().find_map(|part| match part {
            Part::ToolCall(call) if call.id == id => argument(call),
            _ => None,
        })
    });
    match argument {
        Some(argument) => format!("{name}: {argument}"),
        None => name.to_string(),
    }
}

/// The first words among a call's arguments.
fn argument(call: &ToolCall) -> Option<String> {
    let words = call.arguments.as_object()?.values().find_map(|value| match value {
        serde_json::Value::Array(values) => {
            values.first()?.as_object()?.values().find_map(serde_json::Value::as_str)
        }
        other => other.as_str(),
    })?;
    Some(first_line(words)).filter(|line| !line.is_empty())
}

fn first_line(words: &str) -> String {
    let line = words.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut short: String = line.chars().take(HEADLINE_CHARS).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}
