//! Blocks as HTML elements.

use std::io::{self, Write};

use super::escape::{Escaped, Target};
use crate::model::{Alert, Align, Block, BlockKind, ListItem, RichText, Style, Text};

/// Writes a text's blocks, or its source when it has none.
pub(super) fn write_text(text: &Text, out: &mut dyn Write) -> io::Result<()> {
    let mut blocks = text.blocks().peekable();
    if blocks.peek().is_none() && !text.source.trim().is_empty() {
        return writeln!(out, "<pre>{}</pre>", Escaped(&super::visible(&text.source)));
    }
    blocks.try_for_each(|block| write_block(block, out))
}

fn write_all<'a>(
    blocks: impl IntoIterator<Item = &'a Block>,
    out: &mut dyn Write,
) -> io::Result<()> {
    blocks.into_iter().try_for_each(|block| write_block(block, out))
}

/// Depth is bounded by the markdown reader's cap on nesting.
fn write_block(block: &Block, out: &mut dyn Write) -> io::Result<()> {
    match &block.kind {
        BlockKind::Paragraph(text) => element("p", text, out),
        // The page and its messages own the first two levels.
        BlockKind::Heading { level, text } => {
            element(["h3", "h4", "h5", "h6"][usize::from(level.clamp(&1, &4) - 1)], text, out)
        }
        BlockKind::Code { language, text, .. } => write_code(language, text, out),
        BlockKind::List { start, items, .. } => write_list(*start, items, out),
        BlockKind::Quote { alert, blocks } => write_quote(*alert, blocks, out),
        BlockKind::Table { align, header, rows } => write_table(align, header, rows, out),
        BlockKind::Rule => writeln!(out, "<hr>"),
        BlockKind::Math { source, .. } => {
            writeln!(out, "<pre class=\"math\">{}</pre>", Escaped(source))
        }
        BlockKind::Details { summary, blocks } => {
            write!(out, "<details><summary>")?;
            write_rich(summary, out)?;
            writeln!(out, "</summary>")?;
            write_all(blocks, out)?;
            writeln!(out, "</details>")
        }
        BlockKind::Footnote { label, blocks } => {
            writeln!(out, "<div class=\"footnote\"><sup>{}</sup>", Escaped(label))?;
            write_all(blocks, out)?;
            writeln!(out, "</div>")
        }
        BlockKind::Verbatim(text) => writeln!(out, "<pre>{}</pre>", Escaped(text)),
    }
}

fn element(name: &str, text: &RichText, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<{name} dir=\"auto\">")?;
    write_rich(text, out)?;
    writeln!(out, "</{name}>")
}

fn write_code(language: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<pre><code")?;
    if !language.is_empty() {
        write!(out, " data-language=\"{}\"", Escaped(language))?;
    }
    writeln!(out, ">{}</code></pre>", Escaped(text))
}

fn write_list(start: Option<u64>, items: &[ListItem], out: &mut dyn Write) -> io::Result<()> {
    let name = if start.is_some() { "ol" } else { "ul" };
    match start {
        Some(first) if first != 1 => writeln!(out, "<ol start=\"{first}\">")?,
        _ => writeln!(out, "<{name}>")?,
    }
    for item in items {
        write!(out, "<li>{}", task_mark(item.task))?;
        write_all(&item.blocks, out)?;
        writeln!(out, "</li>")?;
    }
    writeln!(out, "</{name}>")
}

fn task_mark(task: Option<bool>) -> &'static str {
    match task {
        Some(true) => "<span class=\"task\">☑</span> ",
        Some(false) => "<span class=\"task\">☐</span> ",
        None => "",
    }
}

fn write_quote(alert: Option<Alert>, blocks: &[Block], out: &mut dyn Write) -> io::Result<()> {
    match alert {
        Some(alert) => writeln!(out, "<blockquote class=\"alert\"><strong>{alert:?}</strong>")?,
        None => writeln!(out, "<blockquote>")?,
    }
    write_all(blocks, out)?;
    writeln!(out, "</blockquote>")
}

fn write_table(
    align: &[Align],
    header: &[RichText],
    rows: &[Vec<RichText>],
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "<table><thead>")?;
    write_row("th", align, header, out)?;
    write!(out, "</thead><tbody>")?;
    rows.iter().try_for_each(|row| write_row("td", align, row, out))?;
    writeln!(out, "</tbody></table>")
}

fn write_row(
    name: &str,
    align: &[Align],
    cells: &[RichText],
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "<tr>")?;
    for (i, cell) in cells.iter().enumerate() {
        let class = match align.get(i) {
            Some(Align::Right) => " class=\"right\"",
            Some(Align::Center) => " class=\"center\"",
            Some(Align::Left | Align::None) | None => "",
        };
        write!(out, "<{name}{class} dir=\"auto\">")?;
        write_rich(cell, out)?;
        write!(out, "</{name}>")?;
    }
    writeln!(out, "</tr>")
}

/// Writes running text. A link that may not be followed is text, with its target behind it.
fn write_rich(text: &RichText, out: &mut dyn Write) -> io::Result<()> {
    let runs: Vec<_> = text.ranges().collect();
    for stretch in runs.chunk_by(|(_, one), (_, other)| one.link == other.link) {
        let link = stretch.first().and_then(|(_, run)| run.link);
        let target = link.and_then(|link| text.links.get(usize::from(link)));
        let shown = || stretch.iter().filter_map(|(range, _)| text.text.get(range.clone()));
        let target = target.map(|target| Target::of(target, &shown().collect::<String>()));
        if let Some(Target::Followed(url)) = &target {
            write!(out, "<a href=\"{}\" rel=\"noopener noreferrer nofollow\">", Escaped(url))?;
        }
        for (range, run) in stretch {
            write_styled(text.text.get(range.clone()).unwrap_or_default(), run.style, out)?;
        }
        match &target {
            Some(Target::Followed(_)) => write!(out, "</a>")?,
            Some(Target::Said(words)) => {
                write!(out, " <span class=\"dim\">({})</span>", Escaped(words))?;
            }
            None => {}
        }
    }
    Ok(())
}

const ELEMENTS: [(Style, &str); 9] = [
    (Style::BOLD, "strong"),
    (Style::ITALIC, "em"),
    (Style::STRIKE, "del"),
    (Style::SUB, "sub"),
    (Style::SUP, "sup"),
    (Style::FOOTNOTE, "sup"),
    (Style::KBD, "kbd"),
    (Style::CODE, "code"),
    (Style::MATH, "code"),
];

fn write_styled(words: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let names = ELEMENTS.iter().filter(|(set, _)| style.has(*set)).map(|(_, name)| name);
    for name in names.clone() {
        write!(out, "<{name}>")?;
    }
    for (i, line) in words.split('\n').enumerate() {
        if i > 0 {
            writeln!(out, "<br>")?;
        }
        write!(out, "{}", Escaped(line))?;
    }
    for name in names.rev() {
        write!(out, "</{name}>")?;
    }
    Ok(())
}
