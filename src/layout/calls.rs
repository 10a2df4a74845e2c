//! Tool calls: cards, rows of a group, outputs and pictures.

use std::sync::Arc;

use crate::{
    layout::{
        Voice,
        compose::GroupSummary,
        diff,
        flow::Flow,
        icon,
        registry::{Body, Change, FileDiff, Registry, ToolCard},
        spec::{Action, Content, Face, Fold, FoldKind, Ground, Label, Segment, Strand, Tone},
    },
    model::{Image, ImageData, Part, ToolCall, ToolResult, ToolState, ToolTally},
};

/// Lines of an output that are shown before the rest is asked for.
const PREVIEW_LINES: usize = 12;
/// Outputs a little longer than the preview are shown whole.
const PREVIEW_SLACK: usize = 4;
/// Lines of a difference or text that are shown before the rest is asked for.
const BODY_LINES: usize = 30;

/// A call on a card of its own.
pub fn card(flow: &mut Flow<'_>, call: &Arc<ToolCall>, registry: &Registry) {
    let card = registry.card(call);
    flow.card(Ground::Panel, [14.0, 0.0], |flow| call_lines(flow, call, &card, Place::Card));
}

/// A call as a row of a group's card.
pub fn row(flow: &mut Flow<'_>, call: &Arc<ToolCall>, registry: &Registry) {
    let card = ToolCard { open: false, ..registry.card(call) };
    call_lines(flow, call, &card, Place::Row);
}

/// Where a call stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// On a card of its own.
    Card,
    /// In the card of a group, below a rule.
    Row,
}

fn call_lines(flow: &mut Flow<'_>, call: &Arc<ToolCall>, card: &ToolCard, place: Place) {
    let fold = flow.fold(FoldKind::Call);
    // What was refused says so on its line.
    let open = flow.is_open(fold, card.open && refusal(call).is_none());
    let ruled = place == Place::Row;
    let title = Label { ruled, ..header(call, card, fold, open) };
    // What goes on may change under the same place.
    flow.open_tail(call.state.is_live());
    flow.strand(Strand::Arguments, |flow| {
        flow.title(title);
        if open {
            flow.within(fold, |flow| body(flow, call, card));
        }
    });
    flow.open_tail(false);
}

fn header(call: &ToolCall, card: &ToolCard, fold: Fold, open: bool) -> Label {
    let (mark, tone) = state_mark(call.state);
    let face = card.face.unwrap_or(Face::Strong);
    let mut left = vec![
        Segment::new(mark, Face::Icon, tone),
        Segment::new(card.title.as_str(), face, Tone::Text),
    ];
    if !card.detail.is_empty() {
        left.push(Segment::new(card.detail.as_str(), Face::Mono, Tone::Dim));
    }
    if let Some(word) = last_word(call, card) {
        left.push(Segment::new(word, Face::Caption, Tone::Dim));
    }
    let right = notes(call, card);
    Label {
        spoken: spoken_fold(&format!("{} {} {}", card.title, card.detail, call.state.word()), open),
        left,
        right,
        action: Some(Action::Toggle(fold)),
        ruled: false,
    }
}

/// How far a running call is, by its own words; a command shows its output instead.
fn last_word(call: &ToolCall, card: &ToolCard) -> Option<String> {
    let said = call.result.as_ref().filter(|_| call.state == ToolState::Running && !card.tail)?;
    let line = said.output.text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(line.trim().chars().take(120).collect())
}

/// Room for the longest time that a clock shows.
const CLOCK_ROOM: &str =
    "\u{a0}\u{a0}\u{a0}\u{a0}\u{a0}\u{a0}\u{a0}\u{a0}\u{a0}\u{a0}\u{a0}\u{a0}\u{a0}\u{a0}";

/// State, clock and a way to stop it.
fn running(call: &ToolCall) -> Vec<Segment> {
    let stop = Segment {
        action: Some(Action::Stop(Arc::clone(&call.id))),
        ..Segment::new("Stop", Face::Caption, Tone::Err)
    };
    vec![
        Segment::new(call.state.word(), Face::Caption, Tone::Accent),
        Segment::new(CLOCK_ROOM, Face::Clock, Tone::Accent),
        stop,
    ]
}

/// Why a call was not run, in our own words to the model.
fn refusal(call: &ToolCall) -> Option<String> {
    let said = call.result.as_ref().filter(|_| call.state == ToolState::NotRun)?;
    let why = said.output.text.strip_prefix("Not run: ")?.lines().next()?;
    let why = why.trim_end_matches('.');
    (why.chars().count() <= REASON_CHARS).then(|| format!("not run: {why}"))
}

/// Longer reasons are read in the open card.
const REASON_CHARS: usize = 80;

/// Result, state and time, right to left on the page.
fn notes(call: &ToolCall, card: &ToolCard) -> Vec<Segment> {
    if call.state == ToolState::Running {
        return running(call);
    }
    let mut words = Vec::new();
    if !card.note.is_empty() {
        words.push(card.note.clone());
    }
    if let Some(ms) = call.duration_ms.filter(|ms| *ms >= 100) {
        words.push(duration(ms));
    }
    if call.superseded > 0 {
        words.push(format!("{} results", call.superseded + 1));
    }
    let mut right = Vec::new();
    if call.state != ToolState::Ok {
        let (_, tone) = state_mark(call.state);
        let word = refusal(call).unwrap_or_else(|| call.state.word().to_owned());
        right.push(Segment::new(word, Face::Caption, tone));
    }
    if !words.is_empty() {
        right.push(Segment::new(words.join(" · "), Face::Caption, Tone::Faint));
    }
    right
}

/// Mark and colour of a state. Never colour alone.
#[must_use]
pub fn state_mark(state: ToolState) -> (char, Tone) {
    match state {
        ToolState::Ok => (icon::CHECK, Tone::Ok),
        ToolState::Error => (icon::X, Tone::Err),
        ToolState::Receiving | ToolState::Running => (icon::CIRCLE_DASHED, Tone::Accent),
        ToolState::Waiting => (icon::PAUSE, Tone::Warn),
        ToolState::Aborted | ToolState::NoResult | ToolState::NotRun | ToolState::Truncated => {
            (icon::PROHIBIT, Tone::Faint)
        }
    }
}

fn body(flow: &mut Flow<'_>, call: &ToolCall, card: &ToolCard) {
    for piece in &card.body {
        match piece {
            Body::Output => {
                if let Some(result) = &call.result {
                    let is_live = call.state == ToolState::Running;
                    output(flow, result, if is_live { Window::Live } else { card.window() });
                }
            }
            Body::Diff(change) => difference(flow, change, FoldKind::Rest),
            Body::File(index, file) => file_body(flow, *index, file),
            Body::Note(words) => quiet_line(flow, words),
            Body::Text(text) => text_body(flow, text),
            Body::Shaped(text) => flow.strand(Strand::Result, |flow| text_body(flow, text)),
            Body::Blocks(blocks) => {
                flow.inset(Ground::Panel, 10.0, |flow| flow.blocks(&**blocks));
            }
        }
    }
    if let Some(result) = &call.result {
        pictures(flow, &result.images);
    }
}

/// A result that found no call: shown, never dropped.
pub fn orphan(flow: &mut Flow<'_>, result: &Arc<ToolResult>) {
    let fold = flow.fold(FoldKind::Call);
    let open = flow.is_open(fold, true);
    let name = if result.tool_name.is_empty() { "tool" } else { &*result.tool_name };
    let (mark, tone) =
        if result.is_error { (icon::X, Tone::Err) } else { (icon::QUESTION, Tone::Warn) };
    flow.card(Ground::Panel, [14.0, 0.0], |flow| {
        flow.label(Label {
            left: vec![
                Segment::new(mark, Face::Icon, tone),
                Segment::new(name, Face::Mono, Tone::Text),
                Segment::new("a result without a call", Face::Caption, Tone::Warn),
            ],
            right: vec![Segment::new(&*result.call_id, Face::Caption, Tone::Faint)],
            action: Some(Action::Toggle(fold)),
            ruled: false,
            spoken: spoken_fold(&format!("{name}, a result without a call"), open),
        });
        if open {
            flow.within(fold, |flow| {
                output(flow, result, Window::Head);
                pictures(flow, &result.images);
            });
        }
    });
}

/// Which lines of a long output are shown before the rest is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Window {
    /// The first.
    Head,
    /// The last.
    Tail,
    /// The last, while more is written.
    Live,
}

impl ToolCard {
    fn window(&self) -> Window {
        if self.tail { Window::Tail } else { Window::Head }
    }
}

/// A running call shows the last of its output, and goes on to do so.
fn output(flow: &mut Flow<'_>, result: &Arc<ToolResult>, window: Window) {
    let (tail, is_live) = (window != Window::Head, window == Window::Live);
    let shown = &result.output;
    let count = shown.lines.len();
    if count == 0 {
        if result.images.is_empty() {
            quiet_line(flow, "(no output)");
        }
        return;
    }
    let rest = flow.fold(FoldKind::Rest);
    let windowed = count > PREVIEW_LINES + PREVIEW_SLACK;
    let all = !windowed || flow.is_open(rest, false);
    let start = |line: usize| shown.lines.get(line).map_or(shown.text.len(), |at| *at as usize);
    let range = match (all, tail) {
        (true, _) => 0..shown.text.len(),
        (false, true) => start(count - PREVIEW_LINES)..shown.text.len(),
        (false, false) => 0..start(PREVIEW_LINES),
    };
    flow.inset(Ground::Code, 10.0, |flow| {
        if is_live && shown.omitted > 0 {
            flow.label(caption(format!("{} before this", bytes(shown.omitted)), Tone::Faint));
            flow.gap(4.0);
        }
        if windowed && tail {
            rest_line(flow, rest, count - PREVIEW_LINES, all);
            flow.gap(4.0);
        }
        flow.within(rest, |flow| {
            flow.strand(Strand::Result, |flow| {
                flow.lines(&shown.text, range, |range| Content::Output(Arc::clone(result), range));
            });
        });
        if windowed && !tail {
            flow.gap(4.0);
            rest_line(flow, rest, count - PREVIEW_LINES, all);
        }
        if shown.omitted > 0 && !is_live {
            flow.gap(4.0);
            flow.label(caption(
                format!("{} of this output are not shown", bytes(shown.omitted)),
                Tone::Warn,
            ));
        }
    });
}

fn quiet_line(flow: &mut Flow<'_>, words: &str) {
    flow.inset(Ground::Code, 6.0, |flow| flow.label(caption(words.to_owned(), Tone::Faint)));
}

fn rest_line(flow: &mut Flow<'_>, rest: Fold, hidden: usize, open: bool) {
    let words = if open { "show less".to_owned() } else { format!("show {hidden} more lines") };
    flow.label(Label { action: Some(Action::Toggle(rest)), ..caption(words, Tone::Accent) });
}

/// Files of a change that are open at first.
const FILES_OPEN: u16 = 3;

fn file_body(flow: &mut Flow<'_>, index: u16, file: &FileDiff) {
    let fold = flow.fold(FoldKind::File(index));
    let open = flow.is_open(fold, index < FILES_OPEN);
    let (added, removed) = diff::counts(&file.change.lines);
    let mut left = vec![caret(open), Segment::new(file.name.as_str(), Face::Mono, Tone::Text)];
    if !file.fate.is_empty() {
        left.push(Segment::new(file.fate, Face::Caption, Tone::Dim));
    }
    flow.next_leaf();
    flow.label(Label {
        spoken: spoken_fold(&format!("{} {}", file.name, file.fate), open),
        left,
        right: vec![Segment::new(format!("+{added} −{removed}"), Face::Caption, Tone::Faint)],
        action: Some(Action::Toggle(fold)),
        ruled: true,
    });
    if open {
        difference(flow, &file.change, FoldKind::FileRest(index));
    }
}

fn difference(flow: &mut Flow<'_>, change: &Arc<Change>, rest: FoldKind) {
    let lines = &change.lines;
    if lines.is_empty() {
        return quiet_line(flow, "(no line differs)");
    }
    let rest = flow.fold(rest);
    let windowed = lines.len() > BODY_LINES + PREVIEW_SLACK;
    let open = !windowed || flow.is_open(rest, false);
    let shown = if open { lines.len() } else { BODY_LINES };
    flow.inset(Ground::Code, 8.0, |flow| {
        flow.next_leaf();
        for first in (0..shown).step_by(64) {
            let range = first as u32..(first + 64).min(shown) as u32;
            let height = range.len() as f32 * Voice::Code.line();
            flow.within(rest, |flow| flow.push(Content::Diff(Arc::clone(change), range), height));
        }
        if windowed {
            flow.gap(4.0);
            rest_line(flow, rest, lines.len() - BODY_LINES, open);
        }
    });
}

fn text_body(flow: &mut Flow<'_>, text: &Arc<str>) {
    let rest = flow.fold(FoldKind::Rest);
    let count = text.lines().count();
    let windowed = count > BODY_LINES + PREVIEW_SLACK;
    let open = !windowed || flow.is_open(rest, false);
    let shown: Arc<str> = if open {
        Arc::clone(text)
    } else {
        text.split_inclusive('\n').take(BODY_LINES).collect::<String>().into()
    };
    flow.inset(Ground::Code, 10.0, |flow| {
        flow.within(rest, |flow| flow.plain(&shown, Voice::Code));
        if windowed {
            flow.gap(4.0);
            rest_line(flow, rest, count - BODY_LINES, open);
        }
    });
}

fn pictures(flow: &mut Flow<'_>, images: &[Image]) {
    for (i, image) in images.iter().enumerate().take(50) {
        flow.inset(Ground::Code, 10.0, |flow| {
            flow.next_leaf();
            picture(flow, image, u16::try_from(i).unwrap_or(u16::MAX));
        });
    }
}

/// One picture, or the words that stand for one that is not shown.
pub fn picture(flow: &mut Flow<'_>, image: &Image, index: u16) {
    match &image.data {
        ImageData::Bytes(_) => {
            let height = image.size.map_or(160.0, |[_, height]| (height as f32).min(360.0));
            flow.push(Content::Picture(Arc::new(image.clone()), index), height);
        }
        ImageData::Address(address) => {
            flow.label(caption(format!("image at {address} (not loaded)"), Tone::Dim));
        }
        ImageData::Unusable(why) => {
            flow.label(caption(format!("image not shown: {why}"), Tone::Warn));
        }
    }
}

/// The line of a group.
#[must_use]
pub fn group_line(fold: Fold, open: bool, summary: GroupSummary) -> Label {
    let words = group_words(summary.tally);
    let mut right = Vec::new();
    if summary.failed {
        right.push(Segment::new("failed", Face::Caption, Tone::Err));
    }
    if let Some(seconds) = summary.seconds.filter(|s| *s > 0) {
        right.push(Segment::new(duration(u64::from(seconds) * 1000), Face::Caption, Tone::Faint));
    }
    Label {
        spoken: spoken_fold(&words, open),
        left: vec![caret(open), Segment::new(words, Face::Strong, Tone::Text)],
        right,
        action: Some(Action::Toggle(fold)),
        ruled: false,
    }
}

/// `Read 3 files, searched 2 patterns`.
#[must_use]
pub fn group_words(tally: ToolTally) -> String {
    let counted = |n: u8, verb: &str, one: &str, many: &str| {
        (n > 0).then(|| format!("{verb} {n} {}", if n == 1 { one } else { many }))
    };
    let words: Vec<String> = [
        counted(tally.reads, "read", "file", "files"),
        counted(tally.lists, "listed", "folder", "folders"),
        counted(tally.searches, "searched", "pattern", "patterns"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let joined = words.join(", ");
    let mut chars = joined.chars();
    chars
        .next()
        .map_or_else(|| "Context".to_owned(), |first| first.to_uppercase().chain(chars).collect())
}

/// The summary of calls that stand in one message.
#[must_use]
pub fn summary_of(parts: &[Part], from: usize) -> GroupSummary {
    let mut summary = GroupSummary::default();
    let mut ms = 0;
    for part in parts.iter().skip(from) {
        if let Part::ToolCall(call) = part {
            summary.tally.add(&call.name);
            summary.failed |= call.state == ToolState::Error;
            ms += call.duration_ms.unwrap_or(0);
        }
    }
    summary.seconds = u32::try_from(ms / 1000).ok().filter(|s| *s > 0);
    summary
}

/// The triangle of a fold.
#[must_use]
pub fn caret(open: bool) -> Segment {
    let icon = if open { icon::CARET_DOWN } else { icon::CARET_RIGHT };
    Segment::new(icon, Face::Icon, Tone::Dim)
}

/// What a screen reader says of a fold.
#[must_use]
pub fn spoken_fold(words: &str, open: bool) -> String {
    format!("{}, {}", words.trim(), if open { "open" } else { "closed" })
}

/// A duration in the unit that fits it.
#[must_use]
pub fn duration(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..10_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        10_000..60_000 => format!("{} s", ms / 1000),
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms / 1000 % 60),
        _ => format!("{} h {} min", ms / 3_600_000, ms / 60_000 % 60),
    }
}

fn bytes(count: u64) -> String {
    match count {
        0..1024 => format!("{count} B"),
        1024..1_048_576 => format!("{} KB", count / 1024),
        _ => format!("{} MB", count / 1_048_576),
    }
}

fn caption(words: String, tone: Tone) -> Label {
    Label {
        spoken: words.clone(),
        left: vec![Segment::new(words, Face::Caption, tone)],
        ..Label::default()
    }
}
