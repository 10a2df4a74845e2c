//! Any order of events, outcomes, wakes and aborts.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use letterpress::{
    model::{
        StopReason,
        stream::{
            ArgumentError, Close, EndState, Interruption, ReplyBlock, ReplyKind, Retry, StreamEvent,
        },
    },
    presenter::{BlockId, Outcome, Planning, ToolMode},
};
use proptest::prelude::*;
use serde_json::json;

use super::sim::{Sim, approved, feedback, native, rejected, result, tags};

#[derive(Clone, Debug)]
enum Step {
    Feed(StreamEvent),
    Wake,
    /// Reports on what is outstanding, in one of several ways.
    Resolve(u8),
    /// Reports on something that is not outstanding any more.
    ResolveLate,
    Parallel(bool),
    Plan(bool),
    ExpectCheckpoint,
    Wait,
    Abort,
}

fn block() -> impl Strategy<Value = ReplyBlock> {
    (0_u32..6).prop_map(ReplyBlock)
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "a",
            "é ",
            " ",
            "<read_file>",
            "</read_file>",
            "<path>",
            "</path>",
            "<write_to_file>",
            "</write_to_file>",
            "<content>",
            "</content>",
            "<rea",
            "<",
            "```xml\n",
            "<think>",
            "</think>",
            "{\"path\":\"",
            "\"}",
            "\\u00e9",
        ])
        .prop_map(str::to_owned),
        "[a-z<>/ `\"{}]{1,4}",
    ]
}

fn end() -> impl Strategy<Value = EndState> {
    let lost = EndState::Interrupted { cause: Interruption::Stalled, retry: Retry::Never };
    prop::sample::select(vec![
        EndState::Complete { reason: StopReason::Stop, tools_may_run: true },
        EndState::Complete { reason: StopReason::ToolUse, tools_may_run: true },
        EndState::Complete { reason: StopReason::Length, tools_may_run: false },
        EndState::Incomplete,
        lost,
        EndState::Cancelled,
    ])
}

fn close() -> impl Strategy<Value = Close> {
    prop_oneof![
        Just(Close::AsStreamed),
        words().prop_map(Close::Replaced),
        Just(Close::Arguments(Ok(json!({"path": "a"})))),
        Just(Close::Arguments(Ok(json!([])))),
        Just(Close::Arguments(Err(ArgumentError::NotObject))),
    ]
}

fn event() -> impl Strategy<Value = StreamEvent> {
    let kind = prop::sample::select(vec![
        ReplyKind::Text,
        ReplyKind::Reasoning,
        ReplyKind::Refusal,
        ReplyKind::Image,
        ReplyKind::Other("o".into()),
    ]);
    let tool = prop::sample::select(vec!["read_file", "write_to_file", "no_such_tool"]);
    let id = prop::sample::select(vec!["c1", "c2"]);
    prop_oneof![
        2 => (block(), kind).prop_map(|(block, kind)| StreamEvent::BlockOpen { block, kind }),
        8 => (block(), words()).prop_map(|(block, delta)| StreamEvent::Text { block, delta }),
        2 => (block(), words()).prop_map(|(block, delta)| StreamEvent::Reasoning { block, delta }),
        2 => (block(), id, tool).prop_map(|(block, id, name)| StreamEvent::ToolOpen {
            block,
            id: id.into(),
            name: name.into(),
        }),
        3 => (block(), words()).prop_map(|(block, delta)| StreamEvent::ToolArgs { block, delta }),
        2 => (block(), close()).prop_map(|(block, close)| StreamEvent::BlockClose { block, close }),
        1 => Just(StreamEvent::KeepAlive),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        24 => event().prop_map(Step::Feed),
        1 => end().prop_map(|end| Step::Feed(StreamEvent::End(end))),
        12 => Just(Step::Wake),
        12 => any::<u8>().prop_map(Step::Resolve),
        2 => Just(Step::ResolveLate),
        1 => any::<bool>().prop_map(Step::Parallel),
        1 => any::<bool>().prop_map(Step::Plan),
        1 => Just(Step::ExpectCheckpoint),
        1 => Just(Step::Wait),
        1 => Just(Step::Abort),
    ]
}

/// A simulation with what must hold of it at all times.
struct Watched {
    sim: Sim,
    /// What each block was first seen to be.
    kinds: BTreeMap<BlockId, String>,
    first_seen: Vec<BlockId>,
    index: usize,
}

impl Watched {
    fn new(sim: Sim) -> Self {
        Self { sim, kinds: BTreeMap::new(), first_seen: Vec::new(), index: 0 }
    }

    fn take(&mut self, step: &Step) {
        let sim = &mut self.sim;
        match step {
            Step::Feed(event) => sim.feed(event),
            Step::Wake => drop(sim.wake()),
            Step::Resolve(how) => self.resolve(*how),
            Step::ResolveLate => self.resolve_late(),
            Step::Parallel(true) => sim.presenter.setup.mode = ToolMode::Parallel,
            Step::Parallel(false) => sim.presenter.setup.mode = ToolMode::Serial,
            Step::Plan(true) => sim.presenter.setup.planning = Planning::Strict,
            Step::Plan(false) => sim.presenter.setup.planning = Planning::Off,
            Step::ExpectCheckpoint => sim.presenter.expect_checkpoint(),
            Step::Wait => drop(sim.wake_after(std::time::Duration::from_secs(16))),
            Step::Abort => drop(sim.abort()),
        }
        self.check();
    }

    fn resolve(&mut self, how: u8) {
        let Some((_, _, task)) = &self.sim.started else { return };
        use letterpress::presenter::Task;
        let call = match task {
            Task::Approve(call) | Task::Run(call) => Some(Arc::clone(call)),
            Task::Say(_) | Task::ShowCall(_) | Task::AwaitCheckpoint => None,
        };
        let finished = |call| Outcome::Finished(result(call, "ok", how.is_multiple_of(2)));
        let outcome = match (how % 8, &call) {
            (0, _) => Outcome::Failed("it failed".into()),
            (1, _) => rejected(),
            (2, _) => Outcome::Approved { feedback: Some(feedback("well")) },
            (3 | 4, Some(call)) => finished(call),
            (5, _) => Outcome::Done,
            (_, Some(call)) if matches!(task, Task::Run(_)) => finished(call),
            (_, Some(_)) => approved(),
            (_, None) => Outcome::Done,
        };
        self.sim.resolve(outcome);
    }

    fn resolve_late(&mut self) {
        let Some(id) = self.sim.stopped.last().copied() else { return };
        let before = (self.sim.log.len(), self.sim.state());
        self.sim.resolve_id(id, approved());
        assert_eq!((self.sim.log.len(), self.sim.state()), before, "a late word counts");
    }

    /// Whatever happened: a lock has an owner, places do not move, ids keep their kinds.
    fn check(&mut self) {
        let sim = &self.sim;
        assert_eq!(sim.presenter.is_locked(), sim.started.is_some(), "who holds the lock?");
        assert!(sim.presenter.index() >= self.index, "the cursor goes back");
        self.index = sim.presenter.index();
        let rows = sim.rows.iter().map(|(id, row)| (*id, format!("{:?}", row.kind)));
        let calls = (0..64).map(|ordinal| sim.id(ordinal));
        let calls = calls.filter_map(|id| Some((id, sim.presenter.call_view(id)?)));
        let calls = calls.map(|(id, view)| (id, format!("{} {}", view.id, view.name)));
        for (id, kind) in rows.chain(calls) {
            let known = self.kinds.entry(id).or_insert_with(|| {
                self.first_seen.push(id);
                kind.clone()
            });
            assert_eq!(*known, kind, "{id:?} became something else");
        }
        assert!(sim.overs <= 1);
        assert_eq!(sim.overs == 1, sim.presenter.is_over());
    }

    /// Everything comes to its end: no lock, and one answer for each call.
    fn finish(mut self) {
        self.sim.end(EndState::Incomplete);
        self.check();
        for _ in 0..1000 {
            self.sim.wake();
            self.check();
            if self.sim.started.is_none() {
                break;
            }
            self.resolve(6);
            self.check();
        }
        let sim = &self.sim;
        assert!(!sim.presenter.is_locked() && sim.presenter.is_over() && sim.presenter.is_ready());
        let calls: BTreeSet<_> = (0..256)
            .map(|i| sim.id(i))
            .filter(|id| sim.presenter.call_view(*id).is_some())
            .collect();
        let mut answered: Vec<_> = sim.answers.iter().map(|answer| answer.block).collect();
        answered.sort_unstable();
        assert_eq!(answered, calls.into_iter().collect::<Vec<_>>(), "one answer for each call");
        assert!(sim.rows.values().all(|row| row.is_final), "{:?}", sim.rows);
        let ids: BTreeSet<_> = sim.notes.iter().map(|note| (note.block, note.kind)).collect();
        assert_eq!(ids.len(), sim.notes.len(), "a remark is made twice");
    }
}

fn sims() -> [fn() -> Sim; 4] {
    [
        || native(ToolMode::Serial),
        || native(ToolMode::Parallel),
        || tags(ToolMode::Serial),
        || tags(ToolMode::Parallel),
    ]
}

proptest! {
    #[test]
    fn no_order_of_events_leaves_a_lock(
        which in 0_usize..4,
        steps in prop::collection::vec(step(), 0..80),
    ) {
        let mut watched = Watched::new(sims()[which]());
        steps.iter().for_each(|step| watched.take(step));
        watched.finish();
    }

    #[test]
    fn rows_do_not_depend_on_when_they_are_looked_at(
        which in 0_usize..4,
        events in prop::collection::vec(event(), 0..40),
        wakes in prop::collection::vec(any::<bool>(), 40),
    ) {
        let mut often = sims()[which]();
        let mut once = sims()[which]();
        for (event, wake) in events.iter().zip(wakes) {
            often.feed(event);
            once.feed(event);
            if wake {
                often.wake().settle();
            }
        }
        for sim in [&mut often, &mut once] {
            sim.end(EndState::Complete { reason: StopReason::Stop, tools_may_run: true });
            sim.wake().settle();
        }
        prop_assert_eq!(often.rows(), once.rows());
        let answers = |sim: &Sim| -> Vec<_> {
            sim.answers.iter().map(|answer| (answer.block, answer.state)).collect()
        };
        prop_assert_eq!(answers(&often), answers(&once));
    }

    #[test]
    fn text_is_the_same_in_any_pieces(text in "([a-z <>/`]|<read_file>|</read_file>|<think>|</think>|é){0,24}") {
        let mut whole = tags(ToolMode::Parallel);
        whole.text(&text);
        let mut pieces = tags(ToolMode::Parallel);
        for c in text.chars() {
            pieces.text(c.encode_utf8(&mut [0; 4])).wake().settle();
        }
        for sim in [&mut whole, &mut pieces] {
            sim.end(EndState::Complete { reason: StopReason::Stop, tools_may_run: true });
            sim.wake().settle();
        }
        prop_assert_eq!(whole.rows(), pieces.rows());
        prop_assert_eq!(whole.answers.len(), pieces.answers.len());
    }
}
