//! Markdown: prose as it was written, everything else in fences and quotes.

use std::io::{self, Write};

use base64::{display::Base64Display, engine::general_purpose::STANDARD};

use super::{
    Images, fence,
    heading::{call_words, drawn, heading, image_words, notice_words, omitted_words, raw_words},
    sheet::{Head, Sheet},
    visible::{one_line, output_text, visible},
};
use crate::model::{Image, Message, Notice, Part, Raw, Thinking, ToolCall, ToolResult, Warning};

/// Markdown that stays readable: what one message leaves open cannot swallow the next.
#[derive(Debug)]
pub(super) struct Markdown {
    pub(super) images: Images,
}

impl Sheet for Markdown {
    fn begin(&mut self, head: &Head<'_>, out: &mut dyn Write) -> io::Result<()> {
        let title = head.title.map_or_else(|| "Conversation".to_owned(), one_line);
        write!(out, "# {title}\n\n{}", head.format)?;
        if !head.path.is_empty() {
            write!(out, " · {}", fence::span(&one_line(head.path)))?;
        }
        writeln!(out, "{}", if head.is_excerpt { " · excerpt" } else { "" })
    }

    fn message(&mut self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "\n## {}", heading(message))?;
        for part in message.parts.iter().filter(|part| part.is_visible()) {
            write_part(part, self.images, out)?;
        }
        match &message.error {
            Some(error) => quote(&format!("**Error:** {}", visible(error)), out),
            None => Ok(()),
        }
    }

    fn end(&mut self, warnings: &[Warning], out: &mut dyn Write) -> io::Result<()> {
        if warnings.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n## Warnings\n")?;
        for Warning { line, message } in warnings {
            writeln!(out, "- line {}: {}", line.0, one_line(message))?;
        }
        Ok(())
    }
}

fn write_part(part: &Part, images: Images, out: &mut dyn Write) -> io::Result<()> {
    match part {
        Part::Text(text) => prose(&text.source, out),
        Part::Thinking(thinking) => write_thinking(thinking, out),
        Part::Image(image) => write_image(image, images, out),
        Part::ToolCall(call) => write_call(call, images, out),
        Part::ToolResult(result) => write_result(result, images, out),
        Part::Notice(notice) => write_notice(notice, out),
        Part::Raw(raw) => write_raw(raw, out),
    }
}

fn prose(text: &str, out: &mut dyn Write) -> io::Result<()> {
    let text = visible(text.trim_end());
    writeln!(out, "\n{text}")?;
    match fence::left_open(&text) {
        Some(closing) => writeln!(out, "{closing}"),
        None => Ok(()),
    }
}

fn write_thinking(thinking: &Thinking, out: &mut dyn Write) -> io::Result<()> {
    if thinking.redacted {
        return quote("**Thinking** (kept by the provider)", out);
    }
    quote(&format!("**Thinking**\n\n{}", visible(&thinking.text.source)), out)
}

fn write_notice(notice: &Notice, out: &mut dyn Write) -> io::Result<()> {
    quote(&format!("**{}:** {}", notice_words(notice), visible(&notice.text.source)), out)
}

fn write_call(call: &ToolCall, images: Images, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n### {} · {}", fence::span(&one_line(&call.name)), call_words(call))?;
    let arguments = serde_json::to_string_pretty(&call.arguments)?;
    fenced("json", &arguments, out)?;
    match &call.result {
        Some(result) => write_result(result, images, out),
        None => Ok(()),
    }
}

fn write_result(result: &ToolResult, images: Images, out: &mut dyn Write) -> io::Result<()> {
    let text = output_text(&result.output);
    if !text.is_empty() {
        fenced("text", &text, out)?;
    }
    if result.output.omitted > 0 {
        writeln!(out, "\n*{}*", omitted_words(result.output.omitted))?;
    }
    result.images.iter().try_for_each(|image| write_image(image, images, out))
}

/// A picture in words, or inside the text if it is wanted and of a kind that is only drawn.
fn write_image(image: &Image, images: Images, out: &mut dyn Write) -> io::Result<()> {
    let words = image_words(image);
    let Some((kind, bytes)) = drawn(image, images) else { return writeln!(out, "\n*{words}*") };
    let words = words.replace(['[', ']', '\\', '`', '<', '*', '_', '!'], " ");
    let data = Base64Display::new(bytes, &STANDARD);
    writeln!(out, "\n![{words}](data:{kind};base64,{data})")
}

fn write_raw(raw: &Raw, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n*{}*", raw_words(raw))?;
    fenced("text", &visible(&raw.text), out)
}

fn fenced(language: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    let fence = fence::around(text);
    writeln!(out, "\n{fence}{language}\n{text}\n{fence}")
}

/// A quote, which ends with its last line whatever it leaves open.
fn quote(text: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    for line in text.trim_end().lines() {
        writeln!(out, "{}", format!("> {line}").trim_end())?;
    }
    Ok(())
}
