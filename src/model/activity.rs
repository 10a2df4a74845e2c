//! What an agent is doing, judged by the newest messages of its conversation.
//!
//! An [`Outline`] is what has to be known for that; it takes the messages in order. [`state`]
//! turns it into a word, given the time and whether the source can still be reached.
//!
//! | newest is | open calls | state |
//! |---|---|---|
//! | anything, and the source is lost | | stale, at once |
//! | an error, or a turn that was stopped | | error |
//! | a question to the person, or a call that waits for a word | yes | needs approval |
//! | a prompt, a result, a call, a half answer | | working; stale after [`Limits::stale_ms`] of silence |
//! | an answer that ended | none | done; idle after [`Limits::idle_ms`] |
//! | nothing yet | | idle |
//!
//! Programs that do not write why an answer ended are taken to have ended it once they are
//! silent for [`Limits::settle_ms`].

use std::sync::Arc;

use super::{
    id::MessageId,
    message::{Message, NoticeKind, Part, Role, StopReason},
    record::UNFINISHED,
    tool::{ToolCall, ToolState},
};

/// What an agent is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// It thinks, speaks or runs a tool.
    Working,
    /// It waits for a person's word.
    NeedsApproval,
    /// It answered, not long ago.
    Done,
    /// Its turn failed or was stopped.
    Error,
    /// Nothing happens, and nothing is waited for.
    Idle,
    /// It should be working, but is silent or cannot be reached.
    Stale,
}

impl State {
    /// All of them, most urgent first.
    pub const ALL: [Self; 6] =
        [Self::NeedsApproval, Self::Error, Self::Stale, Self::Working, Self::Done, Self::Idle];

    /// The word for people.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::NeedsApproval => "needs approval",
            Self::Done => "done",
            Self::Error => "error",
            Self::Idle => "idle",
            Self::Stale => "stale",
        }
    }

    /// True for states that a person should look at.
    #[must_use]
    pub fn is_urgent(self) -> bool {
        matches!(self, Self::NeedsApproval | Self::Error)
    }
}

/// Whether a source can be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Link {
    /// It is there.
    #[default]
    Live,
    /// It vanished, or the connection dropped; it is looked for.
    Lost {
        /// Since when, in milliseconds since 1970.
        since_ms: i64,
        /// Why, in a few words.
        why: Arc<str>,
    },
}

impl Link {
    /// True when the source is there.
    #[must_use]
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Live)
    }
}

/// How long silence may last until it means something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Working becomes stale.
    pub stale_ms: i64,
    /// Done becomes idle.
    pub idle_ms: i64,
    /// An answer without a word on why it ended counts as ended.
    pub settle_ms: i64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { stale_ms: 10 * 60_000, idle_ms: 30 * 60_000, settle_ms: 20_000 }
    }
}

/// A call that has no result yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// The provider's id.
    pub id: Arc<str>,
    /// The tool's name.
    pub name: Arc<str>,
    /// It waits for a person's word.
    pub asks: bool,
}

/// What is needed of a conversation's newest messages to judge it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outline {
    /// Who spoke last.
    pub last: Last,
    /// Calls of the newest answer without a result, at most [`OPEN_CALLS_MAX`].
    pub open_calls: Vec<OpenCall>,
    /// Why the newest answer stopped.
    pub stop: Option<StopReason>,
    /// What failed or who stopped it, when the newest turn ended so.
    pub error: Option<Arc<str>>,
    /// When the newest thing happened, in milliseconds since 1970.
    pub last_event_ms: Option<i64>,
    /// The model that spoke last.
    pub model: Option<Arc<str>>,
    /// The beginning of the newest prompt, on one line.
    pub prompt: Option<Arc<str>>,
    /// The message that the fields above but the last three are about.
    about: Option<MessageId>,
}

/// Calls of an outline.
pub const OPEN_CALLS_MAX: usize = 32;
/// Characters of a prompt that are kept.
const PROMPT_CHARS: usize = 120;

/// Who spoke last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Last {
    /// Nobody did.
    #[default]
    Nobody,
    /// The person: an answer is awaited.
    Prompt,
    /// The model; a call of its may be running.
    Reply,
    /// A tool gave its result: the model is to go on.
    Result,
    /// The program said that the turn is over.
    TurnEnd,
}

impl Outline {
    /// The outline of a conversation, or of its newest messages, in order.
    #[must_use]
    pub fn of<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Self {
        let mut outline = Self::default();
        messages.into_iter().for_each(|message| outline.take(message));
        outline
    }

    /// Takes the next message. One that was taken before, and has changed since because a
    /// result or a further part of it came, is taken again when it is the newest but for
    /// words of the host program.
    pub fn take(&mut self, message: &Message) {
        self.last_event_ms = self.last_event_ms.max(latest_ms(message));
        match &message.role {
            Role::User => self.take_prompt(message),
            Role::Assistant => self.take_reply(message),
            Role::Tool => {
                self.begin(message.id, Last::Result);
            }
            Role::System | Role::Custom(_) => self.take_notice(message),
        }
    }

    /// Notes that something happened, when the source's records carry no times.
    pub fn note_event(&mut self, at_ms: i64) {
        self.last_event_ms = self.last_event_ms.max(Some(at_ms));
    }

    /// True when a person's word is waited for.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.open_calls.iter().any(|call| call.asks)
    }

    fn begin(&mut self, id: MessageId, last: Last) {
        self.last = last;
        self.about = Some(id);
        self.open_calls.clear();
        self.stop = None;
        self.error = None;
    }

    fn take_prompt(&mut self, message: &Message) {
        self.begin(message.id, Last::Prompt);
        let Some(words) = first_words(message) else { return };
        if words.starts_with(INTERRUPTED) {
            self.error = Some(words);
        } else {
            self.prompt = Some(words);
        }
    }

    fn take_reply(&mut self, message: &Message) {
        self.begin(message.id, Last::Reply);
        self.stop.clone_from(&message.stop);
        self.error.clone_from(&message.error);
        // A program that speaks in the model's place says so in brackets.
        if let Some(model) = message.model.as_ref().filter(|model| !model.starts_with('<')) {
            self.model = Some(Arc::clone(model));
        }
        if self.stop == Some(StopReason::Aborted) && self.error.is_none() {
            self.error = Some("the turn was stopped".into());
        }
        let calls = message.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            _ => None,
        });
        for call in calls {
            self.take_call(call);
        }
    }

    fn take_call(&mut self, call: &ToolCall) {
        let is_open = match call.state {
            // Without a result, unless its turn ended in another way.
            ToolState::NoResult | ToolState::Receiving | ToolState::Running => true,
            ToolState::Waiting => true,
            ToolState::Ok
            | ToolState::Error
            | ToolState::Aborted
            | ToolState::NotRun
            | ToolState::Truncated => false,
        };
        if call.result.is_some() || !is_open {
            // A result is newer than the words before it.
            self.last = if self.open_calls.is_empty() { Last::Result } else { Last::Reply };
        } else if self.open_calls.len() < OPEN_CALLS_MAX {
            let asks = call.state == ToolState::Waiting || asks_person(&call.name);
            self.last = Last::Reply;
            let (id, name) = (Arc::clone(&call.id), Arc::clone(&call.name));
            self.open_calls.push(OpenCall { id, name, asks });
        }
    }

    /// A word of the host program changes nothing, unless it says that the turn is over.
    fn take_notice(&mut self, message: &Message) {
        for part in &message.parts {
            let Part::Notice(notice) = part else { continue };
            match &notice.kind {
                NoticeKind::Other(name) if ends_turn(name) => {
                    if self.last == Last::Reply && self.open_calls.is_empty() {
                        self.last = Last::TurnEnd;
                    }
                }
                NoticeKind::Abort => self.error = Some("the turn was stopped".into()),
                // An error that the program will get over by itself is no end.
                NoticeKind::Error
                | NoticeKind::Compaction
                | NoticeKind::Branch
                | NoticeKind::ModelChange
                | NoticeKind::Setting
                | NoticeKind::Label
                | NoticeKind::Checkpoint(_)
                | NoticeKind::Other(_) => {}
            }
        }
    }
}

/// The state of a conversation at a time.
#[must_use]
pub fn state(outline: &Outline, link: &Link, now_ms: i64, limits: &Limits) -> State {
    if !link.is_live() {
        return State::Stale;
    }
    if outline.last == Last::Nobody {
        return State::Idle;
    }
    if outline.error.is_some() {
        return State::Error;
    }
    if outline.asks() {
        return State::NeedsApproval;
    }
    // A clock that runs behind the writer's is no silence.
    let silent_ms = outline.last_event_ms.map_or(0, |at_ms| now_ms.saturating_sub(at_ms).max(0));
    match has_ended(outline, silent_ms, limits) {
        true if silent_ms >= limits.idle_ms => State::Idle,
        true => State::Done,
        false if silent_ms >= limits.stale_ms => State::Stale,
        false => State::Working,
    }
}

/// When [`state`] will say something else although nothing happens, in milliseconds since
/// 1970; none when it will not. A program that shows the state needs no clock until then.
#[must_use]
pub fn next_change_ms(outline: &Outline, link: &Link, now_ms: i64, limits: &Limits) -> Option<i64> {
    let at_ms = outline.last_event_ms?;
    let now = state(outline, link, now_ms, limits);
    let mut times = [limits.settle_ms, limits.stale_ms, limits.idle_ms].map(|ms| at_ms + ms);
    times.sort_unstable();
    times.into_iter().find(|time| *time > now_ms && state(outline, link, *time, limits) != now)
}

fn has_ended(outline: &Outline, silent_ms: i64, limits: &Limits) -> bool {
    if !outline.open_calls.is_empty() {
        return false;
    }
    match (outline.last, &outline.stop) {
        (Last::TurnEnd, _) => true,
        (Last::Nobody | Last::Prompt | Last::Result, _) => false,
        (Last::Reply, Some(StopReason::ToolUse)) => false,
        (Last::Reply, Some(StopReason::Other(name))) if **name == *UNFINISHED => false,
        (Last::Reply, Some(_)) => true,
        (Last::Reply, None) => silent_ms >= limits.settle_ms,
    }
}

/// How Claude Code notes in the place of a prompt that the person stopped the turn.
const INTERRUPTED: &str = "[Request interrupted by user";

/// Tools that are a question to the person: they run until it is answered.
fn asks_person(tool_name: &str) -> bool {
    matches!(
        tool_name,
        "ExitPlanMode"
            | "exit_plan_mode"
            | "AskUserQuestion"
            | "ask_followup_question"
            | "ask_user"
    )
}

/// Records that Claude Code writes only behind a whole turn.
fn ends_turn(notice: &str) -> bool {
    matches!(notice, "turn_duration" | "stop_hook_summary")
}

/// The time of a message: of its newest result when it has some.
fn latest_ms(message: &Message) -> Option<i64> {
    let began_ms = message.timestamp_ms?;
    let ran_ms = message.parts.iter().filter_map(|part| match part {
        Part::ToolCall(call) => i64::try_from(call.duration_ms?).ok(),
        _ => None,
    });
    Some(began_ms.saturating_add(ran_ms.max().unwrap_or(0)))
}

fn first_words(message: &Message) -> Option<Arc<str>> {
    let text = message.parts.iter().find_map(|part| match part {
        Part::Text(text) if !text.source.trim().is_empty() => Some(&text.source),
        _ => None,
    })?;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let mut words: String = line.chars().take(PROMPT_CHARS).collect();
    if words.len() < line.len() {
        words.push('…');
    }
    Some(words.into())
}
