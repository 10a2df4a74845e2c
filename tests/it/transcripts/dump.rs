//! Rows as text, one line a part.

use std::fmt::Write as _;

use letterpress::{
    model::{GroupPlace, ImageData, Message, Part, RowInfo, RowKind, ToolCall},
    transcript::{Index, Transcript},
};

use super::whole;

fn short(text: &str) -> String {
    let flat: String = text.chars().take(120).collect();
    let dots = if text.chars().count() > 120 { "…" } else { "" };
    format!("{flat:?}{dots}")
}

/// The whole transcript, and its branches.
pub(super) fn dump(transcript: &Transcript) -> String {
    let index = whole(transcript);
    let mut out = String::new();
    _ = writeln!(out, "format: {}", transcript.format().name());
    if let Some(title) = index.title() {
        _ = writeln!(out, "title: {title}");
    }
    for warning in index.warnings() {
        _ = writeln!(out, "warning: line {}: {}", warning.line.0, warning.message);
    }
    dump_rows(transcript, &index, &mut out);
    for branch in index.branches() {
        _ = writeln!(out, "\nbranch {}: {} more rows", branch.id, branch.rows);
        let other = index.on_branch(&branch.id).expect("a listed branch");
        for row in 0..other.len() {
            let (message, _) = transcript.message(&other, row);
            _ = writeln!(out, "  {} {}", message.role.name(), message.key);
        }
        let leaves: Vec<_> = other.branches().iter().map(|b| b.id.to_string()).collect();
        _ = writeln!(out, "  others: {}", leaves.join(" "));
    }
    out
}

fn dump_rows(transcript: &Transcript, index: &Index, out: &mut String) {
    for row in 0..index.len() {
        let info = index.row(row);
        let (message, warnings) = transcript.message(index, row);
        agree(&info, &message);
        let group = match info.group {
            GroupPlace::Alone => String::new(),
            GroupPlace::Leads => " leads".to_owned(),
            GroupPlace::Follows { back } => format!(" follows {back}"),
        };
        let failed = if info.failed { " failed" } else { "" };
        let forks = if info.forks { " forks" } else { "" };
        let (line, role) = (message.line.0, message.role.name());
        _ = writeln!(
            out,
            "\n{:?} {role} line {line} key {:?}{group}{failed}{forks}",
            info.kind, &*message.key
        );
        for part in &message.parts {
            dump_part(part, out);
        }
        if let Some(stop) = &message.stop {
            _ = writeln!(out, "  stop {}", stop.name());
        }
        if let Some(error) = &message.error {
            _ = writeln!(out, "  error {error}");
        }
        if let Some(usage) = &message.usage {
            let cost = usage.cost.map_or(String::new(), |cost| format!(" ${cost}"));
            let (cr, cw) = (usage.cache_read, usage.cache_write);
            _ = writeln!(out, "  usage {} {} {cr} {cw}{cost}", usage.input, usage.output);
        }
        for warning in warnings {
            _ = writeln!(out, "  warning: line {}: {}", warning.line.0, warning.message);
        }
    }
}

fn dump_part(part: &Part, out: &mut String) {
    let line = match part {
        Part::ToolCall(call) => return dump_call(call, out),
        Part::Text(text) => format!("text {}", short(&text.source)),
        Part::Thinking(thinking) => {
            let redacted = if thinking.redacted { " redacted" } else { "" };
            format!("thinking{redacted} {}", short(&thinking.text.source))
        }
        Part::Image(image) => format!("image {} {}", image.media_type, pixels(&image.data)),
        Part::ToolResult(result) => {
            format!("result of {:?} {}", &*result.call_id, short(&result.output.source))
        }
        Part::Notice(notice) => format!("{} {}", notice.kind.name(), short(&notice.text.source)),
        Part::Raw(raw) => {
            format!("raw line {} [{}] {}", raw.line.0, raw.label, short(&raw.text))
        }
    };
    _ = writeln!(out, "  {line}");
}

fn pixels(data: &ImageData) -> String {
    match data {
        ImageData::Bytes(bytes) => format!("{} bytes", bytes.len()),
        ImageData::Address(address) => format!("at {address}"),
        ImageData::Unusable(reason) => format!("unusable: {reason}"),
    }
}

fn dump_call(call: &ToolCall, out: &mut String) {
    let ms = call.duration_ms.map_or(String::new(), |ms| format!(" {ms} ms"));
    let again = if call.superseded > 0 {
        format!(" superseded {}", call.superseded)
    } else {
        String::new()
    };
    _ = writeln!(
        out,
        "  call {:?} {} {} {}{ms}{again}",
        &*call.id,
        call.name,
        call.arguments,
        call.state.name()
    );
    let Some(result) = &call.result else { return };
    let error = if result.is_error { " error" } else { "" };
    _ = writeln!(out, "    ->{error} {}", short(&result.output.source));
    for image in &result.images {
        _ = writeln!(out, "    -> image {} {}", image.media_type, pixels(&image.data));
    }
    if !result.details.is_null() {
        _ = writeln!(out, "    details {}", result.details);
    }
}

/// What the index says of a row before it is read is what the message says afterwards.
pub(super) fn agree(info: &RowInfo, message: &Message) {
    let read = RowInfo::of(message);
    let facts = |row: &RowInfo| {
        let seen = (row.calls.min(3), row.thinks);
        (row.id, row.kind, row.tally, seen, row.failed, row.time_secs)
    };
    assert_eq!(facts(info), facts(&read), "{message:?}");
    if info.kind != RowKind::Notice {
        assert!(info.lines.abs_diff(read.lines) <= 1 + read.lines / 8, "{info:?} {read:?}");
    }
}
