//! HTML: one page that needs nothing else, runs no script and loads nothing.

mod blocks;
mod escape;
mod output;

use std::io::{self, Write};

use base64::{display::Base64Display, engine::general_purpose::STANDARD};

use self::{blocks::write_text, escape::Escaped, output::write_output};
use super::{
    Images,
    heading::{
        call_words, drawn, heading, image_words, notice_words, omitted_words, raw_words,
        source_words,
    },
    sheet::{Head, Sheet},
    visible::{one_line, visible},
};
use crate::model::{
    Image, Message, Notice, Part, Raw, Role, Thinking, ToolCall, ToolResult, Warning,
};

/// A page. Its messages must be prepared: their texts are blocks.
#[derive(Debug)]
pub(super) struct Html {
    pub(super) images: Images,
}

const STYLE: &str = include_str!("page.css");

/// Nothing may be loaded but the page's own style and the pictures inside it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

impl Sheet for Html {
    fn begin(&mut self, head: &Head<'_>, out: &mut dyn Write) -> io::Result<()> {
        let title = head.title.map_or_else(|| "Conversation".to_owned(), one_line);
        let title = Escaped(&title);
        write!(
            out,
            "<!doctype html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
             <header><h1 dir=\"auto\">{title}</h1><p>{}</p></header>\n",
            Escaped(&source_words(head)),
        )
    }

    fn message(&mut self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        let class = match &message.role {
            Role::Custom(_) => "custom",
            role => role.name(),
        };
        let heading = heading(message);
        writeln!(out, "<article class=\"{class}\">\n<h2>{}</h2>", Escaped(&heading))?;
        for part in message.parts.iter().filter(|part| part.is_visible()) {
            write_part(part, self.images, out)?;
        }
        if let Some(error) = &message.error {
            writeln!(out, "<p class=\"error\" dir=\"auto\">{}</p>", Escaped(&visible(error)))?;
        }
        writeln!(out, "</article>")
    }

    fn end(&mut self, warnings: &[Warning], out: &mut dyn Write) -> io::Result<()> {
        if !warnings.is_empty() {
            writeln!(out, "<footer>\n<h2>Warnings</h2>\n<ul>")?;
            for Warning { line, message } in warnings {
                writeln!(out, "<li>line {}: {}</li>", line.0, Escaped(&visible(message)))?;
            }
            writeln!(out, "</ul>\n</footer>")?;
        }
        writeln!(out, "</body>\n</html>")
    }
}

fn write_part(part: &Part, images: Images, out: &mut dyn Write) -> io::Result<()> {
    match part {
        Part::Text(text) => write_text(text, out),
        Part::Thinking(thinking) => write_thinking(thinking, out),
        Part::Image(image) => write_image(image, images, out),
        Part::ToolCall(call) => write_call(call, images, out),
        Part::ToolResult(result) => write_result(result, images, out),
        Part::Notice(notice) => write_notice(notice, out),
        Part::Raw(raw) => write_raw(raw, out),
    }
}

fn write_thinking(thinking: &Thinking, out: &mut dyn Write) -> io::Result<()> {
    if thinking.redacted {
        return writeln!(out, "<p class=\"dim\">Thinking, kept by the provider</p>");
    }
    writeln!(out, "<details class=\"thinking\"><summary>Thinking</summary>")?;
    write_text(&thinking.text, out)?;
    writeln!(out, "</details>")
}

fn write_notice(notice: &Notice, out: &mut dyn Write) -> io::Result<()> {
    let words = notice_words(notice);
    writeln!(out, "<aside><strong>{}</strong>", Escaped(&words))?;
    write_text(&notice.text, out)?;
    writeln!(out, "</aside>")
}

fn write_raw(raw: &Raw, out: &mut dyn Write) -> io::Result<()> {
    let (words, text) = (raw_words(raw), visible(&raw.text));
    writeln!(
        out,
        "<details class=\"raw\"><summary>{}</summary>\n<pre>{}</pre></details>",
        Escaped(&words),
        Escaped(&text)
    )
}

fn write_call(call: &ToolCall, images: Images, out: &mut dyn Write) -> io::Result<()> {
    let name = one_line(&call.name);
    let (name, state, words) = (Escaped(&name), call.state.name(), call_words(call));
    let arguments = serde_json::to_string_pretty(&call.arguments)?;
    writeln!(
        out,
        "<details class=\"call {state}\"><summary><code>{name}</code> · {words}</summary>\n\
         <pre>{}</pre>",
        Escaped(&visible(&arguments))
    )?;
    if let Some(result) = &call.result {
        write_result(result, images, out)?;
    }
    writeln!(out, "</details>")
}

fn write_result(result: &ToolResult, images: Images, out: &mut dyn Write) -> io::Result<()> {
    write_output(&result.output, out)?;
    if result.output.omitted > 0 {
        writeln!(out, "<p class=\"dim\">{}</p>", omitted_words(result.output.omitted))?;
    }
    result.images.iter().try_for_each(|image| write_image(image, images, out))
}

/// A picture inside the page when it is wanted and only drawn by browsers, else its words.
fn write_image(image: &Image, images: Images, out: &mut dyn Write) -> io::Result<()> {
    let words = image_words(image);
    let alt = Escaped(&words);
    let Some((kind, bytes)) = drawn(image, images) else {
        return writeln!(out, "<p class=\"dim\">{alt}</p>");
    };
    let data = Base64Display::new(bytes, &STANDARD);
    writeln!(out, "<img alt=\"{alt}\" src=\"data:{kind};base64,{data}\">")
}
