//! Plain text for terminals and editors.

use std::io::{self, Write};

use super::{
    heading::{
        call_words, heading, image_words, notice_words, omitted_words, raw_words, source_words,
    },
    sheet::{Head, Sheet},
    visible::{one_line, output_text, visible},
};
use crate::model::{Message, Part, ToolCall, ToolResult, Warning};

/// Plain text without markup.
#[derive(Debug)]
pub(super) struct PlainText;

impl Sheet for PlainText {
    fn begin(&mut self, head: &Head<'_>, out: &mut dyn Write) -> io::Result<()> {
        if let Some(title) = head.title {
            writeln!(out, "{}", one_line(title))?;
        }
        writeln!(out, "{}", source_words(head))
    }

    fn message(&mut self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "\n=== {} ===", heading(message))?;
        for part in message.parts.iter().filter(|part| part.is_visible()) {
            write_part(part, out)?;
        }
        match &message.error {
            Some(error) => marked("Error", error, out),
            None => Ok(()),
        }
    }

    fn end(&mut self, warnings: &[Warning], out: &mut dyn Write) -> io::Result<()> {
        if warnings.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n=== Warnings ===")?;
        for Warning { line, message } in warnings {
            writeln!(out, "line {}: {}", line.0, one_line(message))?;
        }
        Ok(())
    }
}

fn write_part(part: &Part, out: &mut dyn Write) -> io::Result<()> {
    match part {
        Part::Text(text) => writeln!(out, "\n{}", visible(text.source.trim_end())),
        Part::Thinking(thinking) if thinking.redacted => {
            marked("Thinking", "kept by the provider", out)
        }
        Part::Thinking(thinking) => marked("Thinking", &thinking.text.source, out),
        Part::Image(image) => marked("Image", &image_words(image), out),
        Part::ToolCall(call) => write_call(call, out),
        Part::ToolResult(result) => write_result(result, out),
        Part::Notice(notice) => marked(&notice_words(notice), &notice.text.source, out),
        Part::Raw(raw) => marked(&raw_words(raw), &raw.text, out),
    }
}

fn write_call(call: &ToolCall, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n[{} · {}]", one_line(&call.name), call_words(call))?;
    indented(&serde_json::to_string_pretty(&call.arguments)?, out)?;
    match &call.result {
        Some(result) => write_result(result, out),
        None => Ok(()),
    }
}

fn write_result(result: &ToolResult, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  --")?;
    indented(&output_text(&result.output), out)?;
    if result.output.omitted > 0 {
        writeln!(out, "  [{}]", omitted_words(result.output.omitted))?;
    }
    for image in &result.images {
        writeln!(out, "  [{}]", image_words(image))?;
    }
    Ok(())
}

/// A word in brackets and a text set off below it.
fn marked(word: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n[{word}]")?;
    indented(&visible(text.trim_end()), out)
}

fn indented(text: &str, out: &mut dyn Write) -> io::Result<()> {
    for line in text.lines() {
        writeln!(out, "{}", format!("  {line}").trim_end())?;
    }
    Ok(())
}
