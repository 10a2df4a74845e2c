//! The words that stand above a message and in place of a picture, in every format.

use crate::{
    app::timestamp::Plain,
    model::{
        Image, ImageData, Message, Notice, NoticeKind, Raw, Role, SourceLine, ToolCall, ToolState,
    },
};

use super::{Images, sheet::Head, visible::one_line};

/// What was exported: `pi · ~/garden.jsonl`.
pub(super) fn source_words(head: &Head<'_>) -> String {
    let place = (!head.path.is_empty()).then(|| one_line(head.path));
    let excerpt = head.is_excerpt.then(|| "excerpt".to_owned());
    [head.format.to_owned()].into_iter().chain(place).chain(excerpt).collect::<Vec<_>>().join(" · ")
}

/// Who spoke, when, and which model: `Assistant · 2026-05-01 10:00 UTC · m-1`.
pub(super) fn heading(message: &Message) -> String {
    let mut words = vec![speaker(&message.role)];
    words.extend(message.timestamp_ms.map(|ms| format!("{} UTC", Plain(ms))));
    words.extend(message.model.as_deref().map(one_line));
    words.join(" · ")
}

fn speaker(role: &Role) -> String {
    match role {
        Role::User => "User".to_owned(),
        Role::Assistant => "Assistant".to_owned(),
        Role::Tool => "Tool result without a call".to_owned(),
        Role::System => "System".to_owned(),
        Role::Custom(name) => one_line(name),
    }
}

/// A picture in words: `image/png, 40 × 30, 1234 bytes`.
pub(super) fn image_words(image: &Image) -> String {
    let kind = one_line(&image.media_type);
    let size = image.size.map(|[width, height]| format!(", {width} × {height}"));
    let size = size.unwrap_or_default();
    match &image.data {
        ImageData::Bytes(bytes) => format!("{kind}{size}, {} bytes", bytes.len()),
        ImageData::Address(address) => format!("{kind}{size}, at {}", one_line(address)),
        ImageData::Unusable(problem) => format!("{kind}{size}: {}", one_line(problem)),
    }
}

/// The media type that a picture's first bytes prove, and its bytes: if pictures are wanted
/// and it is of a kind that browsers only draw.
pub(super) fn drawn(image: &Image, images: Images) -> Option<(&'static str, &[u8])> {
    let ImageData::Bytes(bytes) = &image.data else { return None };
    let kind = match &**bytes {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        _ => return None,
    };
    (images == Images::Inside).then_some((kind, &**bytes))
}

/// How a call ended: `done`, and how long it took when that is known.
pub(super) fn call_words(call: &ToolCall) -> String {
    let state = match call.state {
        // An export is a record: nothing in it is still going to happen.
        ToolState::Receiving | ToolState::Waiting | ToolState::Running => ToolState::NoResult,
        state => state,
    };
    match call.duration_ms {
        Some(ms) => format!("{}, {}.{} s", state.word(), ms / 1000, ms % 1000 / 100),
        None => state.word().to_owned(),
    }
}

/// What a notice is about.
pub(super) fn notice_words(notice: &Notice) -> String {
    match &notice.kind {
        NoticeKind::Compaction => "Compaction".to_owned(),
        NoticeKind::Branch => "Branch".to_owned(),
        NoticeKind::ModelChange => "Model".to_owned(),
        NoticeKind::Setting => "Setting".to_owned(),
        NoticeKind::Abort => "Stopped".to_owned(),
        NoticeKind::Error => "Error".to_owned(),
        NoticeKind::Label => "Label".to_owned(),
        NoticeKind::Checkpoint(_) => "Checkpoint".to_owned(),
        NoticeKind::Other(name) => one_line(name),
    }
}

/// What is wrong with a record, and where it stands.
pub(super) fn raw_words(raw: &Raw) -> String {
    let (label, line) = (one_line(&raw.label), format!("line {}", raw.line.0));
    let says_where = raw.line == SourceLine(0) || label.contains(&line);
    if says_where { label } else { format!("{label}, {line}") }
}

/// Bytes that could not be held, in words.
pub(super) fn omitted_words(bytes: u64) -> String {
    format!("{bytes} bytes are left out of the middle")
}
