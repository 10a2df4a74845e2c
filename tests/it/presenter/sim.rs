//! A presenter with somebody who carries out its effects, and keeps a log and the rows.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use letterpress::{
    markup::Vocabulary,
    model::{
        MessageId, Output, StopReason, ToolResult, ToolState,
        stream::{Close, EndState, ReplyBlock, ReplyKind, StreamEvent},
    },
    perf,
    presenter::{
        Answer, BlockId, Call, CallView, Dialect, Effect, EffectId, Feedback, Note, Outcome,
        Presenter, RowKind, Setup, Task, ToolMode, tag_tools,
    },
};
use serde_json::{Value, json};

/// A row of text as the reader sees it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) kind: RowKind,
    pub(crate) text: String,
    pub(crate) is_final: bool,
    /// How often it was brought up to date.
    pub(crate) changes: u32,
}

pub(crate) struct Sim {
    pub(crate) presenter: Presenter,
    pub(crate) now: Instant,
    /// One line for each effect.
    pub(crate) log: Vec<String>,
    pub(crate) rows: BTreeMap<BlockId, Row>,
    pub(crate) answers: Vec<Answer>,
    pub(crate) notes: Vec<Note>,
    /// What is outstanding.
    pub(crate) started: Option<(EffectId, BlockId, Task)>,
    pub(crate) stopped: Vec<EffectId>,
    pub(crate) overs: usize,
    /// The row that is being brought up to date, as it was before.
    before: Option<(BlockId, Option<Row>)>,
    text: ReplyBlock,
}

pub(crate) fn native(mode: ToolMode) -> Sim {
    Sim::new(Setup { mode, tools: tag_tools(), ..Setup::default() })
}

pub(crate) fn tags(mode: ToolMode) -> Sim {
    let dialect = Dialect::Tags(Arc::new(Vocabulary::default()));
    Sim::new(Setup { mode, dialect, tools: tag_tools(), ..Setup::default() })
}

/// A complete call with tags.
pub(crate) fn tag_call(tool: &str, param: &str, value: &str) -> String {
    format!("<{tool}><{param}>{value}</{param}></{tool}>")
}

pub(crate) fn edit() -> String {
    tag_call("replace_in_file", "path", "a")
}

pub(crate) fn read() -> String {
    tag_call("read_file", "path", "a")
}

pub(crate) fn done() -> EndState {
    EndState::Complete { reason: StopReason::Stop, tools_may_run: true }
}

pub(crate) fn approved() -> Outcome {
    Outcome::Approved { feedback: None }
}

pub(crate) fn rejected() -> Outcome {
    Outcome::Rejected { feedback: None }
}

pub(crate) fn feedback(text: &str) -> Feedback {
    Feedback { text: text.into(), images: Vec::new() }
}

pub(crate) fn result(call: &Call, text: &str, is_error: bool) -> Arc<ToolResult> {
    Arc::new(ToolResult {
        call_id: Arc::clone(&call.id),
        tool_name: Arc::clone(&call.name),
        is_error,
        output: Output::plain(text),
        told: None,
        images: Vec::new(),
        details: Value::Null,
    })
}

impl Sim {
    pub(crate) fn new(setup: Setup) -> Self {
        Self {
            presenter: Presenter::new(setup, MessageId(7)),
            now: perf::now(),
            log: Vec::new(),
            rows: BTreeMap::new(),
            answers: Vec::new(),
            notes: Vec::new(),
            started: None,
            stopped: Vec::new(),
            overs: 0,
            before: None,
            text: ReplyBlock(0),
        }
    }

    pub(crate) fn feed(&mut self, event: &StreamEvent) {
        let effects = self.presenter.feed(event);
        self.carry_out(effects);
    }

    /// Text of the first block.
    pub(crate) fn text(&mut self, delta: &str) -> &mut Self {
        self.text_of(self.text.0, delta)
    }

    pub(crate) fn text_of(&mut self, block: u32, delta: &str) -> &mut Self {
        self.feed(&StreamEvent::Text { block: ReplyBlock(block), delta: delta.to_owned() });
        self
    }

    pub(crate) fn reasoning(&mut self, block: u32, delta: &str) -> &mut Self {
        self.feed(&StreamEvent::Reasoning { block: ReplyBlock(block), delta: delta.to_owned() });
        self
    }

    pub(crate) fn open(&mut self, block: u32, kind: ReplyKind) -> &mut Self {
        self.feed(&StreamEvent::BlockOpen { block: ReplyBlock(block), kind });
        self
    }

    pub(crate) fn call(&mut self, block: u32, id: &str, name: &str, json: &str) -> &mut Self {
        let (block, id) = (ReplyBlock(block), id.into());
        self.feed(&StreamEvent::ToolOpen { block, id, name: name.into() });
        self.arguments(block.0, json)
    }

    pub(crate) fn arguments(&mut self, block: u32, json: &str) -> &mut Self {
        self.feed(&StreamEvent::ToolArgs { block: ReplyBlock(block), delta: json.to_owned() });
        self
    }

    pub(crate) fn close(&mut self, block: u32, close: Close) -> &mut Self {
        self.feed(&StreamEvent::BlockClose { block: ReplyBlock(block), close });
        self
    }

    /// A whole native call.
    pub(crate) fn whole_call(&mut self, block: u32, id: &str, name: &str) -> &mut Self {
        let arguments = json!({"path": "a"});
        self.call(block, id, name, &arguments.to_string());
        self.close(block, Close::Arguments(Ok(arguments)))
    }

    pub(crate) fn end(&mut self, end: EndState) -> &mut Self {
        self.feed(&StreamEvent::End(end));
        self
    }

    pub(crate) fn wake(&mut self) -> &mut Self {
        let effects = self.presenter.wake(self.now);
        self.carry_out(effects);
        self
    }

    pub(crate) fn wake_after(&mut self, pause: Duration) -> &mut Self {
        self.now += pause;
        self.wake()
    }

    pub(crate) fn abort(&mut self) -> &mut Self {
        let effects = self.presenter.abort();
        self.carry_out(effects);
        self
    }

    /// Reports on what is outstanding.
    #[track_caller]
    pub(crate) fn resolve(&mut self, outcome: Outcome) -> &mut Self {
        let (id, ..) = self.started.take().expect("something is outstanding");
        let before = self.before.take();
        if matches!(outcome, Outcome::Failed(_)) {
            self.restore(before);
        }
        self.resolve_id(id, outcome)
    }

    pub(crate) fn resolve_id(&mut self, id: EffectId, outcome: Outcome) -> &mut Self {
        let effects = self.presenter.resolved(id, outcome, self.now);
        self.carry_out(effects);
        self
    }

    /// Reports that the running call gave this.
    #[track_caller]
    pub(crate) fn finish(&mut self, text: &str) -> &mut Self {
        let outcome = Outcome::Finished(result(&self.running(), text, false));
        self.resolve(outcome)
    }

    /// Everything goes well until nothing is outstanding.
    pub(crate) fn settle(&mut self) -> &mut Self {
        while let Some((_, _, task)) = &self.started {
            let outcome = match task {
                Task::Say(_) | Task::ShowCall(_) | Task::AwaitCheckpoint => Outcome::Done,
                Task::Approve(_) => approved(),
                Task::Run(call) => Outcome::Finished(result(call, "ok", false)),
            };
            self.resolve(outcome);
        }
        self
    }

    /// The call that is outstanding.
    #[track_caller]
    pub(crate) fn running(&self) -> Arc<Call> {
        match &self.started {
            Some((_, _, Task::Approve(call) | Task::Run(call))) => Arc::clone(call),
            other => panic!("no call is outstanding but {other:?}"),
        }
    }

    pub(crate) fn id(&self, ordinal: u32) -> BlockId {
        BlockId { message: MessageId(7), ordinal }
    }

    pub(crate) fn view(&self, ordinal: u32) -> String {
        self.presenter.call_view(self.id(ordinal)).map_or_else(String::new, |view| dump(&view))
    }

    /// `index,ready,locked,dirty`
    pub(crate) fn state(&self) -> String {
        let mark = |flag| if flag { 't' } else { 'f' };
        let (ready, locked) = (self.presenter.is_ready(), self.presenter.is_locked());
        let dirty = self.presenter.is_dirty();
        format!("{},{},{},{}", self.presenter.index(), mark(ready), mark(locked), mark(dirty))
    }

    #[track_caller]
    pub(crate) fn expect(&self, log: &[&str], state: &str) {
        assert_eq!(self.log, log);
        assert_eq!(self.state(), state, "index, ready, locked, dirty");
    }

    /// `kind: text` of every row, with `…` behind partial ones.
    pub(crate) fn rows(&self) -> Vec<String> {
        let rows = self.rows.values().filter(|row| !(row.is_final && row.text.is_empty()));
        rows.map(|row| format!("{}{}", row.text, if row.is_final { "" } else { " …" })).collect()
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        self.notes.iter().map(|note| format!("{:?}", note.kind)).collect()
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            self.log.push(line(&effect));
            match effect {
                Effect::Start { id, block, task } => self.start(id, block, task),
                Effect::Stop(id) => {
                    assert_eq!(self.started.take().map(|(id, ..)| id), Some(id));
                    self.stopped.push(id);
                    let before = self.before.take();
                    self.restore(before);
                }
                Effect::Row(saying) => self.change(saying.block, &saying),
                Effect::Answer(answer) => self.answers.push(answer),
                Effect::Note(note) => self.notes.push(note),
                Effect::Over => self.overs += 1,
                Effect::CallChanged(block) => {
                    assert!(self.presenter.call_view(block).is_some(), "{block:?} is a call");
                }
                Effect::Picture { .. }
                | Effect::Foreign { .. }
                | Effect::Usage(_)
                | Effect::Feedback { .. } => {}
            }
        }
    }

    fn start(&mut self, id: EffectId, block: BlockId, task: Task) {
        assert!(self.started.is_none(), "{task:?} while {:?} is outstanding", self.started);
        if let Task::Say(saying) = &task {
            self.before = Some((block, self.rows.get(&block).cloned()));
            self.change(block, saying);
        }
        self.started = Some((id, block, task));
    }

    /// What was being said did not reach its row.
    fn restore(&mut self, before: Option<(BlockId, Option<Row>)>) {
        match before {
            Some((block, Some(row))) => drop(self.rows.insert(block, row)),
            Some((block, None)) => drop(self.rows.remove(&block)),
            None => {}
        }
    }

    fn change(&mut self, block: BlockId, saying: &letterpress::presenter::Saying) {
        assert_eq!(block, saying.block);
        let (kind, text) = (saying.kind, String::new());
        let row = Row { kind, text, is_final: false, changes: 0 };
        let row = self.rows.entry(block).or_insert(row);
        assert!(!row.is_final, "a final row changes: {saying:?}");
        assert_eq!(row.kind, saying.kind);
        assert!(saying.keep <= row.text.len(), "{saying:?} of {row:?}");
        assert!(row.text.is_char_boundary(saying.keep), "{saying:?} of {row:?}");
        saying.apply(&mut row.text);
        row.is_final = saying.is_final;
        row.changes += 1;
    }
}

pub(crate) fn dump(view: &CallView) -> String {
    let params: Vec<_> = view.params.iter().map(|(name, v)| format!("{name}: {v:?}")).collect();
    format!("{}{{{}}}", view.name, params.join(", "))
}

/// What somebody does, in a few words. Sayings show what they add.
fn line(effect: &Effect) -> String {
    match effect {
        Effect::Start { task: Task::Say(saying), .. } => {
            let more = if saying.is_final { "" } else { "…" };
            format!("say {}{more}", saying.append)
        }
        Effect::Start { task: Task::ShowCall(view), .. } => format!("show {}", dump(view)),
        Effect::Start { task: Task::AwaitCheckpoint, .. } => "await checkpoint".to_owned(),
        Effect::Start { task: Task::Approve(call), .. } => format!("approve {}", call.name),
        Effect::Start { task: Task::Run(call), .. } => format!("run {}", call.name),
        Effect::Stop(_) => "stop".to_owned(),
        Effect::Row(saying) => {
            let more = if saying.is_final { "" } else { "…" };
            format!("{:?} {}{more}", saying.kind, saying.append).to_lowercase()
        }
        Effect::CallChanged(block) => format!("changed {}", block.ordinal),
        Effect::Picture { block, .. } => format!("picture {}", block.ordinal),
        Effect::Foreign { block, kind, .. } => format!("foreign {kind} {}", block.ordinal),
        Effect::Usage(usage) => format!("usage {}", usage.output),
        Effect::Feedback { feedback, .. } => format!("feedback {}", feedback.text),
        Effect::Answer(answer) => format!("answer {} {}", answer.block.ordinal, word(answer)),
        Effect::Note(note) => format!("note {} {:?}", note.block.ordinal, note.kind),
        Effect::Over => "over".to_owned(),
    }
}

fn word(answer: &Answer) -> &'static str {
    assert_eq!(answer.result.is_none(), answer.state == ToolState::Aborted);
    answer.state.word()
}

impl Sim {
    /// Rows are brought up to date until something else is outstanding.
    pub(crate) fn settle_says(&mut self) -> &mut Self {
        while let Some((_, _, Task::Say(_))) = &self.started {
            self.resolve(Outcome::Done);
        }
        self
    }
}
