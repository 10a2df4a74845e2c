//! Composition: one message becomes the specs of its slugs.

use std::sync::Arc;

use crate::{
    layout::{
        Voice, calls,
        flow::{Edges, Flow, Resume, fingerprint},
        forks::ForkPlace,
        icon,
        registry::Registry,
        spec::{Action, Content, Face, Fold, FoldKind, Ground, Label, Segment, Spec, Strand, Tone},
    },
    model::{
        Block, Blocks, LowStakes, Message, MessageId, Notice, NoticeKind, Part, Raw, Role, RowKind,
        StopReason, Text, Thinking, ToolTally, Usage,
    },
};

/// Room above a user's message: the largest in the list, because a turn begins.
pub const TURN_GAP: f32 = 24.0;
/// Room between blocks of one turn.
pub const BLOCK_GAP: f32 = 14.0;
/// Room between paragraphs.
const PARAGRAPH_GAP: f32 = 12.0;
/// Room around the line that leads to other branches.
const FORK_GAP: f32 = 4.0;
/// Text of one raw record that is shown before it is opened.
const RAW_PREVIEW: usize = 160;

/// Where a message stands among its neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// Kind of the row above.
    pub above: Option<RowKind>,
    /// The turn ends here: what comes next is not the model's, or nothing.
    pub turn_ends: bool,
    /// The group it belongs to.
    pub group: Group,
    /// Others that stand in its place on other branches.
    pub fork: Option<ForkPlace>,
}

/// A message's part in a group of low-stakes calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Group {
    /// In no group with other messages.
    #[default]
    Alone,
    /// Its trailing calls begin the group.
    Leads(GroupSummary),
    /// All it shows belongs to the group of another message.
    Follows {
        /// The group's fold.
        fold: Fold,
        /// No further message follows in the group.
        last: bool,
    },
}

/// What the line of a folded group says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GroupSummary {
    /// Calls of all messages of the group.
    pub tally: ToolTally,
    /// Any of them failed.
    pub failed: bool,
    /// From the first to the last message, when times are known.
    pub seconds: Option<u32>,
    /// Other messages follow in the group.
    pub goes_on: bool,
}

/// The specs of a message, and where composing can go on when its text grows.
#[derive(Debug, Default)]
pub struct Composition {
    /// In reading order.
    pub specs: Vec<Spec>,
    /// Set while the last part of the message is an open text.
    pub resume: Option<Resume>,
}

/// The specs of a streaming message, made from those of an earlier state of it.
///
/// Only blocks that were sealed since, and the open tail, are composed. The number is that
/// of the first spec that is new.
///
/// # Errors
/// The earlier composition, untouched.
pub fn compose_more(
    before: &Message,
    message: &Message,
    around: &Surroundings,
    is_open: &dyn Fn(Fold, bool) -> bool,
    old: Composition,
) -> Result<(Composition, usize), Composition> {
    let Some((resume, sealed, tail)) = old.resume.and_then(|resume| {
        let (sealed, tail) = grown(before, message, resume)?;
        Some((resume, sealed, tail))
    }) else {
        return Err(old);
    };
    let mut flow = Flow::resumed(message.id, is_open, old.specs, resume);
    flow.blocks(sealed.iter().skip(resume.sealed));
    open_tail(&mut flow, sealed.len(), tail);
    flow.part(usize::from(u16::MAX));
    ending(&mut flow, message, around.turn_ends, &message.parts);
    let (mut specs, next) = flow.finish();
    fingerprint(&mut specs, resume.specs);
    Ok((Composition { specs, resume: next }, resume.specs))
}

type OpenText<'m> = (&'m [Arc<Block>], &'m [Arc<Block>]);

/// The sealed blocks and the tail of a message that only grew at its end.
fn grown<'m>(before: &Message, message: &'m Message, resume: Resume) -> Option<OpenText<'m>> {
    let same_part = |(a, b): (&Part, &Part)| match (a, b) {
        (Part::Text(a), Part::Text(b)) => Arc::ptr_eq(&a.source, &b.source),
        (Part::Thinking(a), Part::Thinking(b)) => Arc::ptr_eq(&a.text.source, &b.text.source),
        (Part::ToolCall(a), Part::ToolCall(b)) => Arc::ptr_eq(a, b),
        _ => false,
    };
    let (old, new) = (before.parts.as_slice(), message.parts.as_slice());
    let ends_here = old.len() == new.len() && new.len() == resume.part + 1;
    let earlier = old.iter().zip(new).take(resume.part).all(same_part);
    let (Part::Text(was), Part::Text(is)) = (old.last()?, new.last()?) else { return None };
    let (Blocks::Open { sealed: a, .. }, Blocks::Open { sealed: b, tail }) =
        (&was.blocks, &is.blocks)
    else {
        return None;
    };
    let same_blocks = match resume.sealed.checked_sub(1) {
        None => true,
        Some(last) => Arc::ptr_eq(a.get(last)?, b.get(last)?),
    };
    (ends_here && earlier && same_blocks).then_some((&**b, &**tail))
}

/// The composition of a message.
pub fn compose(
    message: &Message,
    around: &Surroundings,
    registry: &Registry,
    is_open: &dyn Fn(Fold, bool) -> bool,
) -> Composition {
    let mut flow = Flow::new(message.id, is_open);
    // The line that leads to other branches stands in the room above an answer.
    let is_led = around.fork.is_some() && message.role == Role::Assistant;
    flow.gap(if is_led { FORK_GAP } else { top_gap(message, around) });
    let own = registry.parts(message);
    let parts = own.as_deref().unwrap_or(&message.parts);
    match &message.role {
        Role::User => user(&mut flow, parts, around, registry),
        Role::Assistant => assistant(&mut flow, message, parts, around, registry),
        Role::Tool => loose_parts(&mut flow, parts, registry),
        Role::System => host(&mut flow, parts, registry),
        Role::Custom(name) => custom(&mut flow, name, own.is_some(), parts, registry),
    }
    done(flow)
}

fn done(flow: Flow<'_>) -> Composition {
    let (mut specs, resume) = flow.finish();
    fingerprint(&mut specs, 0);
    Composition { specs, resume }
}

/// What stands in the place of a message that could not be composed.
#[must_use]
pub fn unshowable(message: MessageId) -> Composition {
    let mut flow = Flow::new(message, &|_, usual| usual);
    flow.gap(BLOCK_GAP);
    flow.label(iconed(icon::WARNING, "This message could not be displayed", Tone::Err));
    done(flow)
}

fn top_gap(message: &Message, around: &Surroundings) -> f32 {
    match (around.above, &around.group) {
        (_, Group::Follows { .. }) => 0.0,
        (None, _) => TURN_GAP,
        (Some(RowKind::Assistant), _) if message.role == Role::Assistant => BLOCK_GAP,
        (Some(RowKind::Notice | RowKind::Raw), _) if message.role != Role::User => BLOCK_GAP,
        (Some(_), _) if message.role == Role::User => TURN_GAP,
        (Some(RowKind::User), _) => 20.0,
        (Some(_), _) => BLOCK_GAP,
    }
}

fn user(flow: &mut Flow<'_>, parts: &[Part], around: &Surroundings, registry: &Registry) {
    flow.card(Ground::User, [16.0, 12.0], |flow| {
        for (i, part) in parts.iter().enumerate() {
            flow.part(i);
            if i > 0 {
                flow.gap(PARAGRAPH_GAP);
            }
            part_of(flow, part, registry);
        }
        if parts.is_empty() {
            flow.label(caption("(empty message)", Tone::Faint));
        }
    });
    if let Some(fork) = around.fork {
        flow.part(usize::from(u16::MAX));
        flow.gap(FORK_GAP);
        flow.label(versions(fork, ""));
    }
}

/// The way to what stands in the same place on other branches: at the foot of a prompt, and
/// at the head of an answer, where it stays whatever length the answers have.
fn versions(fork: ForkPlace, what: &str) -> Label {
    let step = |icon, to: Option<MessageId>, is_next| Segment {
        action: to.map(|message| Action::Choose { message, is_next }),
        ..Segment::new(icon, Face::Icon, if to.is_some() { Tone::Dim } else { Tone::Line })
    };
    let ForkPlace { number, of, previous, next } = fork;
    // The signs lean to the left of their squares.
    let words = format!("{number}/{of}  ");
    Label {
        right: vec![
            Segment::new(what, Face::Caption, Tone::Faint),
            step(icon::CARET_LEFT, previous, false),
            Segment::new(words.as_str(), Face::Caption, Tone::Dim),
            step(icon::CARET_RIGHT, next, true),
        ],
        spoken: format!("Version {number} of {of}"),
        ..Label::default()
    }
}

fn assistant(
    flow: &mut Flow<'_>,
    message: &Message,
    parts: &[Part],
    around: &Surroundings,
    registry: &Registry,
) {
    let grouped = grouped_from(parts, around.group);
    if let Some(fork) = around.fork.filter(|_| !matches!(around.group, Group::Follows { .. })) {
        flow.gap(FORK_GAP);
        flow.label(versions(fork, "answer"));
        flow.gap(FORK_GAP);
    }
    for (i, part) in parts.iter().enumerate().take(grouped) {
        if part.is_visible() {
            flow.part(i);
            part_of(flow, part, registry);
        }
    }
    group(flow, parts, grouped, around, registry);
    flow.part(usize::from(u16::MAX));
    ending(flow, message, around.turn_ends, parts);
}

/// Index of the first part that belongs to the message's group; the number of parts when
/// it has none.
fn grouped_from(parts: &[Part], group: Group) -> usize {
    let is_low =
        |part: &Part| matches!(part, Part::ToolCall(call) if LowStakes::of(&call.name).is_some());
    if matches!(group, Group::Follows { .. }) {
        return 0;
    }
    let trailing = parts.iter().rev().take_while(|part| is_low(part) || !part.is_visible()).count();
    let calls = parts.iter().rev().take(trailing).filter(|part| is_low(part)).count();
    let goes_on = matches!(group, Group::Leads(GroupSummary { goes_on: true, .. }));
    // A single call is a card of its own, not a group of one.
    if calls > 1 || (calls == 1 && goes_on) { parts.len() - trailing } else { parts.len() }
}

fn group(
    flow: &mut Flow<'_>,
    parts: &[Part],
    from: usize,
    around: &Surroundings,
    registry: &Registry,
) {
    if from >= parts.len() {
        return;
    }
    flow.part(from);
    let (fold, summary, last) = match around.group {
        Group::Follows { fold, last } => (fold, None, last),
        Group::Leads(summary) => (flow.group_fold(), Some(summary), !summary.goes_on),
        Group::Alone => (flow.group_fold(), Some(calls::summary_of(parts, from)), true),
    };
    let open = flow.is_open(fold, false);
    if summary.is_none() && !open {
        return;
    }
    if summary.is_some() {
        flow.gap(BLOCK_GAP);
    }
    let edges = Edges { first: summary.is_some(), last: last || !open };
    flow.card_part(Ground::Panel, [14.0, 0.0], edges, |flow| {
        if let Some(summary) = summary {
            flow.label(calls::group_line(fold, open, summary));
        }
        flow.within(fold, |flow| {
            for (i, part) in parts.iter().enumerate().skip(from).filter(|_| open) {
                flow.part(i);
                match part {
                    Part::ToolCall(call) => calls::row(flow, call, registry),
                    other if other.is_visible() => part_of(flow, other, registry),
                    _ => {}
                }
            }
        });
    });
}

fn part_of(flow: &mut Flow<'_>, part: &Part, registry: &Registry) {
    match part {
        Part::Text(text) => prose(flow, text),
        Part::Thinking(reasoning) => thinking(flow, reasoning),
        Part::Image(image) => {
            flow.gap(PARAGRAPH_GAP);
            flow.next_leaf();
            calls::picture(flow, image, 0);
        }
        Part::ToolCall(call) => {
            flow.gap(BLOCK_GAP);
            calls::card(flow, call, registry);
        }
        Part::ToolResult(result) => {
            flow.gap(BLOCK_GAP);
            calls::orphan(flow, result);
        }
        Part::Notice(word) => notice(flow, word),
        Part::Raw(record) => raw(flow, record),
    }
}

fn prose(flow: &mut Flow<'_>, text: &Text) {
    flow.gap(PARAGRAPH_GAP);
    match &text.blocks {
        Blocks::Unparsed => flow.plain(&text.source, Voice::Body),
        Blocks::Sealed(blocks) => flow.blocks(&**blocks),
        Blocks::Open { sealed, tail } => {
            flow.blocks(&**sealed);
            open_tail(flow, sealed.len(), tail);
        }
    }
}

/// Lays down the part of a text that the next delta may change.
fn open_tail(flow: &mut Flow<'_>, sealed: usize, tail: &[Arc<Block>]) {
    flow.mark(sealed);
    flow.open_tail(true);
    flow.blocks(tail);
    flow.open_tail(false);
}

fn thinking(flow: &mut Flow<'_>, reasoning: &Thinking) {
    flow.gap(PARAGRAPH_GAP);
    let arriving = matches!(reasoning.text.blocks, Blocks::Open { .. });
    let words = match (reasoning.redacted, reasoning.duration_ms) {
        _ if arriving => "Thinking".to_owned(),
        (true, _) => "Thought (kept private by the provider)".to_owned(),
        (false, Some(ms)) => format!("Thought for {}", calls::duration(ms)),
        (false, None) => "Thought".to_owned(),
    };
    if reasoning.redacted && reasoning.text.source.trim().is_empty() {
        flow.label(caption(&words, Tone::Dim));
        return;
    }
    // Shown while it arrives and folded after, unless the reader chose otherwise.
    let fold = flow.fold(FoldKind::Thinking);
    let open = flow.is_open(fold, arriving);
    flow.label(Label {
        left: vec![calls::caret(open), Segment::new(words.as_str(), Face::Text, Tone::Dim)],
        right: Vec::new(),
        action: Some(Action::Toggle(fold)),
        ruled: false,
        spoken: calls::spoken_fold(&words, open),
    });
    if open {
        flow.gap(8.0);
        flow.dim(true);
        flow.within(fold, |flow| {
            flow.strand(Strand::Thinking, |flow| {
                flow.indented(18.0, |flow| prose(flow, &reasoning.text));
            });
        });
        flow.dim(false);
        flow.gap(PARAGRAPH_GAP);
    }
}

fn loose_parts(flow: &mut Flow<'_>, parts: &[Part], registry: &Registry) {
    for (i, part) in parts.iter().enumerate() {
        flow.part(i);
        part_of(flow, part, registry);
    }
}

/// A message of another role.
fn custom(flow: &mut Flow<'_>, name: &Arc<str>, known: bool, parts: &[Part], registry: &Registry) {
    if !known
        && !parts
            .iter()
            .all(|part| matches!(part, Part::Notice(_) | Part::Raw(_) | Part::ToolCall(_)))
    {
        flow.label(caption(name, Tone::Faint));
        flow.gap(4.0);
    }
    host(flow, parts, registry);
}

/// What the host program says: a notice and the records behind it fold into one line.
fn host(flow: &mut Flow<'_>, parts: &[Part], registry: &Registry) {
    match parts.split_first() {
        Some((Part::Notice(word), rest))
            if rest.iter().all(|part| matches!(part, Part::Raw(_))) =>
        {
            records(flow, word, rest);
        }
        _ => loose_parts(flow, parts, registry),
    }
}

fn records(flow: &mut Flow<'_>, word: &Notice, rest: &[Part]) {
    if rest.is_empty() {
        return notice(flow, word);
    }
    flow.part(0);
    let fold = flow.fold(FoldKind::Notice);
    let open = flow.is_open(fold, false);
    flow.label(Label {
        left: vec![
            calls::caret(open),
            Segment::new(word.text.source.trim(), Face::Caption, Tone::Faint),
        ],
        action: Some(Action::Toggle(fold)),
        spoken: calls::spoken_fold(&word.text.source, open),
        ..Label::default()
    });
    flow.within(fold, |flow| {
        for (i, part) in rest.iter().enumerate().filter(|_| open) {
            flow.part(i + 1);
            if let Part::Raw(record) = part {
                raw(flow, record);
            }
        }
    });
}

fn notice(flow: &mut Flow<'_>, word: &Notice) {
    let (icon, title, tone) = notice_look(&word.kind);
    let text = word.text.source.trim();
    let short = text.len() <= 120 && !text.contains('\n');
    flow.gap(BLOCK_GAP);
    let words = match (title, short) {
        ("", true) => text.to_owned(),
        (title, true) if text.is_empty() => title.to_owned(),
        (title, true) => format!("{title}: {text}"),
        (title, false) => title.to_owned(),
    };
    let fold = flow.fold(FoldKind::Notice);
    let open = !short && flow.is_open(fold, word.kind == NoticeKind::Error);
    let mut left =
        vec![Segment::new(icon, Face::Icon, tone), Segment::new(&*words, Face::Caption, tone)];
    if !short {
        left.insert(0, calls::caret(open));
    }
    if let NoticeKind::Checkpoint(name) = &word.kind {
        let restore = Some(Action::Restore(Arc::clone(name)));
        left.push(Segment {
            action: restore,
            ..Segment::new("Take the files back", Face::Caption, Tone::Accent)
        });
    }
    let label = Label {
        left,
        action: (!short).then_some(Action::Toggle(fold)),
        spoken: if short { words } else { calls::spoken_fold(&words, open) },
        ..Label::default()
    };
    flow.push(Content::Divider(Arc::new(label)), Voice::Interface.line());
    if open {
        flow.gap(8.0);
        flow.dim(true);
        flow.within(fold, |flow| flow.indented(18.0, |flow| prose(flow, &word.text)));
        flow.dim(false);
    }
}

fn notice_look(kind: &NoticeKind) -> (char, &'static str, Tone) {
    match kind {
        NoticeKind::Compaction => (icon::SCISSORS, "Context compacted", Tone::Warn),
        NoticeKind::Branch => (icon::GIT_BRANCH, "Branch left", Tone::Dim),
        NoticeKind::ModelChange => (icon::ROBOT, "", Tone::Faint),
        NoticeKind::Setting => (icon::GEAR, "", Tone::Faint),
        NoticeKind::Abort => (icon::STOP, "Stopped", Tone::Warn),
        NoticeKind::Error => (icon::WARNING_OCTAGON, "Error", Tone::Err),
        NoticeKind::Label | NoticeKind::Checkpoint(_) => (icon::PUSH_PIN, "", Tone::Faint),
        NoticeKind::Other(name) if &**name == "sidechain" => (icon::ROBOT, "Sub-agent", Tone::Dim),
        NoticeKind::Other(_) => (icon::INFO, "", Tone::Faint),
    }
}

fn raw(flow: &mut Flow<'_>, record: &Raw) {
    flow.gap(8.0);
    let fold = flow.fold(FoldKind::Notice);
    let open = flow.is_open(fold, false);
    let preview: String = record.text.chars().take(RAW_PREVIEW).collect();
    let mut left =
        vec![calls::caret(open), Segment::new(&*record.label, Face::Caption, Tone::Warn)];
    if !open {
        left.push(Segment::new(preview.replace('\n', " "), Face::Mono, Tone::Faint));
    }
    let line = record.line.0;
    let right = if line > 0 { format!("line {line}") } else { String::new() };
    flow.card(Ground::Panel, [14.0, 0.0], |flow| {
        flow.label(Label {
            left,
            right: vec![Segment::new(right, Face::Caption, Tone::Faint)],
            action: Some(Action::Toggle(fold)),
            ruled: false,
            spoken: calls::spoken_fold(&record.label, open),
        });
        if open {
            flow.within(fold, |flow| {
                flow.strand(Strand::Record, |flow| {
                    flow.inset(Ground::Code, 10.0, |flow| flow.plain(&record.text, Voice::Code));
                });
            });
        }
    });
}

/// What stands under a message: why it ended, and what it cost.
fn ending(flow: &mut Flow<'_>, message: &Message, turn_ends: bool, parts: &[Part]) {
    if let Some(error) = &message.error {
        flow.gap(BLOCK_GAP);
        flow.card(Ground::Alarm, [14.0, 10.0], |flow| flow.plain(error, Voice::Interface));
    }
    match message.stop {
        Some(StopReason::Aborted) => {
            flow.gap(PARAGRAPH_GAP);
            flow.label(iconed(icon::STOP, "Stopped by the user", Tone::Warn));
        }
        Some(StopReason::Length) => {
            flow.gap(PARAGRAPH_GAP);
            flow.label(iconed(icon::WARNING, "Ended at the model's length limit", Tone::Warn));
        }
        _ => {}
    }
    let silent = !parts.iter().any(Part::is_visible);
    let arriving = parts.iter().any(is_arriving);
    if let Some(usage) = message.usage.filter(|_| (turn_ends || silent) && !arriving) {
        let line = usage_line(&usage);
        if !line.is_empty() {
            flow.gap(8.0);
            flow.label(caption(&line, Tone::Faint));
        }
    } else if silent && flow.is_empty() {
        flow.label(caption("(no visible content)", Tone::Faint));
    }
}

/// More of this part may come.
fn is_arriving(part: &Part) -> bool {
    match part {
        Part::Text(text) => matches!(text.blocks, Blocks::Open { .. }),
        Part::Thinking(thinking) => matches!(thinking.text.blocks, Blocks::Open { .. }),
        Part::ToolCall(call) => call.state.is_live(),
        Part::Image(_) | Part::ToolResult(_) | Part::Notice(_) | Part::Raw(_) => false,
    }
}

/// `↑1.2k ↓340 R10k W512 $0.0123`, without what is zero.
#[must_use]
pub fn usage_line(usage: &Usage) -> String {
    let mut words = Vec::new();
    let counts = [
        ("↑", usage.input),
        ("↓", usage.output),
        ("R", usage.cache_read),
        ("W", usage.cache_write),
    ];
    for (mark, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        words.push(format!("{mark}{}", short_count(count)));
    }
    if let Some(cost) = usage.cost.filter(|cost| *cost > 0.0) {
        words.push(format!("${cost:.4}"));
    }
    words.join("  ")
}

/// A count in at most four characters: 999, 1.0k, 10k, 123k.
#[must_use]
pub fn short_count(count: u64) -> String {
    match count {
        0..1000 => count.to_string(),
        1000..10_000 => format!("{}.{}k", count / 1000, count % 1000 / 100),
        _ => format!("{}k", (count + 500) / 1000),
    }
}

fn caption(words: &str, tone: Tone) -> Label {
    Label {
        left: vec![Segment::new(words, Face::Caption, tone)],
        spoken: words.to_owned(),
        ..Label::default()
    }
}

fn iconed(icon: char, words: &str, tone: Tone) -> Label {
    let mut label = caption(words, tone);
    label.left.insert(0, Segment::new(icon, Face::Icon, tone));
    label
}
