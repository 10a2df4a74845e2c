//! Conversations for a wall, in memory, and a wall that shows them.

use std::{cell::Cell, rc::Rc, sync::Arc};

use egui::Vec2;
use egui_kittest::Harness;
use letterpress::{
    model::{
        MemorySource, Message, Part, Role, Source, ToolCall, ToolState,
        activity::{Link, State},
    },
    view::{
        theme,
        wall::{FeedId, Feeds, Glance, Moment, Settings, Wall},
    },
};

use crate::bed::{message, text};

/// Half past nine on a day in May, local time two hours ahead.
pub(crate) const NOW: Moment = Moment { unix_ms: 1_777_793_400_000, offset_secs: 7200 };

/// Followed conversations whose every change is a test's.
#[derive(Default)]
pub(crate) struct Fixture {
    pub(crate) feeds: Vec<(Glance, MemorySource)>,
    pub(crate) watching: Vec<String>,
    version: u64,
}

impl Fixture {
    pub(crate) fn add(&mut self, title: &str, state: State, age_secs: i64, messages: Vec<Message>) {
        let id = FeedId(self.feeds.len() as u64 + 1);
        let glance = Glance {
            id,
            project: "".into(),
            title: title.into(),
            model: "claude-sonnet-4-5".into(),
            state,
            last_event_ms: NOW.unix_ms - age_secs * 1000,
            headline: "".into(),
            link: Link::Live,
            changes_ms: None,
        };
        self.feeds.push((glance, MemorySource::new(messages)));
        self.version += 1;
    }

    pub(crate) fn glance(&mut self, id: u64) -> &mut Glance {
        self.version += 1;
        &mut self.feeds.iter_mut().find(|(glance, _)| glance.id == FeedId(id)).expect("known").0
    }
}

impl Feeds for Fixture {
    fn poll(&mut self) -> u64 {
        self.version
    }

    fn glances(&mut self, _now_ms: i64) -> Vec<Glance> {
        self.feeds.iter().map(|(glance, _)| glance.clone()).collect()
    }

    fn source(&mut self, id: FeedId) -> Option<&mut dyn Source> {
        let found = self.feeds.iter_mut().find(|(glance, _)| glance.id == id)?;
        Some(&mut found.1)
    }

    fn watching(&self) -> Vec<String> {
        self.watching.clone()
    }
}

/// A wall with its conversations and its clock.
pub(crate) struct Shown {
    pub(crate) wall: Wall,
    pub(crate) feeds: Fixture,
    pub(crate) now: Rc<Cell<Moment>>,
}

pub(crate) fn harness(feeds: Fixture, settings: Settings, size: Vec2) -> Harness<'static, Shown> {
    let now = Rc::new(Cell::new(NOW));
    let shown = Shown { wall: Wall::new(settings), feeds, now };
    let mut installed = false;
    let mut harness =
        Harness::builder().with_size(size).with_step_dt(0.1).allow_missing_glyphs().build_ui_state(
            move |ui, shown: &mut Shown| {
                if !installed {
                    theme::install(ui.ctx());
                    ui.ctx().set_theme(egui::Theme::Dark);
                    ui.ctx().options_mut(|options| options.zoom_with_keyboard = false);
                    installed = true;
                    return;
                }
                shown.wall.ui(ui, &mut shown.feeds, shown.now.get());
            },
            shown,
        );
    harness.run_steps(6);
    harness
}

pub(crate) fn call(id: &str, name: &str, arguments: serde_json::Value, state: ToolState) -> Part {
    Part::ToolCall(Arc::new(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments,
        state,
        result: None,
        superseded: 0,
        duration_ms: None,
    }))
}

pub(crate) fn said(words: &[(Role, &str)]) -> Vec<Message> {
    let parts = |(i, (role, words)): (usize, &(Role, &str))| {
        message(i as u64 + 1, role.clone(), vec![text(words)])
    };
    words.iter().enumerate().map(parts).collect()
}

/// So many conversations in all states, as agents have them.
pub(crate) fn agents(count: usize) -> Fixture {
    let mut fixture = Fixture {
        watching: vec!["~/.claude/projects".to_owned(), "~/.pi/agent/sessions".to_owned()],
        ..Fixture::default()
    };
    let titles = [
        "api-server",
        "billing",
        "docs",
        "mobile-app",
        "search-index",
        "nightly-eval",
        "payments",
        "dashboards",
        "release notes",
        "importer",
        "fuzzing",
        "translations",
        "charts",
        "mailer",
        "accounts",
        "infra",
    ];
    for i in 0..count {
        let title = titles[i % titles.len()];
        let (state, age) = [
            (State::Working, 2),
            (State::NeedsApproval, 250),
            (State::Done, 660),
            (State::Error, 38),
            (State::Working, 0),
            (State::Stale, 7380),
            (State::Idle, 5400),
        ][i % 7];
        fixture.add(title, state, age, conversation(i, state));
        let id = i as u64 + 1;
        match state {
            State::Error => fixture.glance(id).headline = "429 rate limited, retry in 22 s".into(),
            State::NeedsApproval => fixture.glance(id).headline = "bash: terraform apply".into(),
            State::Stale => {
                fixture.glance(id).link = Link::Lost {
                    since_ms: NOW.unix_ms - 7_300_000,
                    why: "connection refused".into(),
                };
            }
            State::Idle | State::Done | State::Working => {}
        }
    }
    fixture
}

fn conversation(i: usize, state: State) -> Vec<Message> {
    let prompt = message(1, Role::User, vec![text("Make the health check report replica lag")]);
    let mut parts = vec![text(
        "The probe reads **pg_last_wal_replay_lsn** and compares it with the primary. Adding the \
         threshold to the config next.",
    )];
    parts.push(call("a", "edit", serde_json::json!({"path": "src/health.rs"}), ToolState::Ok));
    if state == State::Working {
        let arguments = serde_json::json!({"command": "cargo test health"});
        parts.push(call("b", "bash", arguments, ToolState::Running));
    }
    let mut answer = message(2, Role::Assistant, parts);
    if state == State::Error {
        answer.error = Some("429 rate limited, retry in 22 s".into());
    }
    let mut messages = vec![prompt, answer];
    if i % 3 == 2 {
        let words = "All 41 pages build; 3 dead links were replaced:\n\n```rust\nfn main() {\n    \
                     println!(\"{}\", pages.len());\n}\n```\n\nThe changelog has an entry.";
        messages.push(message(3, Role::Assistant, vec![text(words)]));
    }
    messages
}
