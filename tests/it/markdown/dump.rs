//! Blocks as text, for tests that compare.

use std::sync::Arc;

use letterpress::model::{Block, BlockKind, ListItem, RichText, Style};

/// The text a reader sees, one piece a line.
pub(super) fn visible(blocks: &[Arc<Block>]) -> String {
    let mut out = String::new();
    blocks.iter().for_each(|block| visible_block(block, &mut out));
    out
}

fn visible_block(block: &Block, out: &mut String) {
    let mut line = |text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    match &block.kind {
        BlockKind::Paragraph(text) | BlockKind::Heading { text, .. } => line(&text.text),
        BlockKind::Code { text, .. } | BlockKind::Verbatim(text) => line(text),
        BlockKind::Math { source, .. } => line(source),
        BlockKind::Rule => {}
        BlockKind::List { items, .. } => {
            for ListItem { blocks, .. } in items {
                blocks.iter().for_each(|block| visible_block(block, out));
            }
        }
        BlockKind::Quote { blocks, .. } | BlockKind::Footnote { blocks, .. } => {
            blocks.iter().for_each(|block| visible_block(block, out));
        }
        BlockKind::Details { summary, blocks } => {
            line(&summary.text);
            blocks.iter().for_each(|block| visible_block(block, out));
        }
        BlockKind::Table { header, rows, .. } => {
            header.iter().chain(rows.iter().flatten()).for_each(|cell| line(&cell.text));
        }
    }
}

/// Blocks in a notation that fits on a line: `P(a *b*) H2(c) C:rust(d) L[P(e)] Q[…] …`.
pub(super) fn short(blocks: &[Arc<Block>]) -> String {
    blocks.iter().map(|block| short_block(block)).collect::<Vec<_>>().join(" ")
}

fn nested(blocks: &[Block]) -> String {
    blocks.iter().map(short_block).collect::<Vec<_>>().join(" ")
}

fn short_block(block: &Block) -> String {
    match &block.kind {
        BlockKind::Paragraph(text) => format!("P({})", rich(text)),
        BlockKind::Heading { level, text } => format!("H{level}({})", rich(text)),
        BlockKind::Code { language, text, closed } => {
            format!("C:{language}{}({text})", if *closed { "" } else { "…" })
        }
        BlockKind::List { start, tight, items } => {
            let mark = start.map_or_else(|| "-".into(), |start| format!("{start}."));
            let items = items.iter().map(|item| {
                let task = item.task.map_or("", |done| if done { "[x] " } else { "[ ] " });
                format!("{task}{}", nested(&item.blocks))
            });
            let items = items.collect::<Vec<_>>().join(" | ");
            format!("L{mark}{}[{items}]", if *tight { "" } else { "loose" })
        }
        BlockKind::Quote { alert, blocks } => {
            let alert = alert.map_or_else(String::new, |alert| format!("{alert:?}"));
            format!("Q{alert}[{}]", nested(blocks))
        }
        BlockKind::Table { align, header, rows } => {
            let row = |cells: &Vec<RichText>| cells.iter().map(rich).collect::<Vec<_>>().join(",");
            let rows = rows.iter().map(row).collect::<Vec<_>>().join(";");
            format!("T{}({}|{rows})", align.len(), row(header))
        }
        BlockKind::Rule => "R".into(),
        BlockKind::Math { source, closed, .. } => {
            format!("M{}({source})", if *closed { "" } else { "…" })
        }
        BlockKind::Details { summary, blocks } => {
            format!("D({})[{}]", rich(summary), nested(blocks))
        }
        BlockKind::Footnote { label, blocks } => format!("F:{label}[{}]", nested(blocks)),
        BlockKind::Verbatim(text) => format!("V({text})"),
    }
}

/// Text with its styles: `<b:bold>`, links as `<@target:text>`.
pub(super) fn rich(text: &RichText) -> String {
    let names = [
        (Style::BOLD, 'b'),
        (Style::ITALIC, 'i'),
        (Style::STRIKE, 's'),
        (Style::CODE, 'c'),
        (Style::KBD, 'k'),
        (Style::SUB, '_'),
        (Style::SUP, '^'),
        (Style::MATH, 'm'),
        (Style::FOOTNOTE, 'f'),
        (Style::IMAGE, '!'),
        (Style::DIM, 'd'),
    ];
    let mut out = String::new();
    for (range, run) in text.ranges() {
        let shown = &text.text[range];
        let link = run.link.map_or_else(String::new, |at| format!("@{}", text.links[at as usize]));
        let styles: String =
            names.iter().filter(|(style, _)| run.style.has(*style)).map(|(_, c)| c).collect();
        if styles.is_empty() && link.is_empty() {
            out.push_str(shown);
        } else {
            out.push_str(&format!("<{styles}{link}:{shown}>"));
        }
    }
    out
}

/// Checks the invariants of every text in the blocks.
pub(super) fn check(blocks: &[Arc<Block>]) {
    blocks.iter().for_each(|block| check_block(block, 0));
}

fn check_block(block: &Block, depth: usize) {
    assert!(depth <= 33, "nested too deep");
    let text = |text: &RichText| assert!(text.debug_check(), "runs do not cover {text:?}");
    match &block.kind {
        BlockKind::Paragraph(rich) | BlockKind::Heading { text: rich, .. } => text(rich),
        BlockKind::List { items, .. } => items
            .iter()
            .flat_map(|item| &item.blocks)
            .for_each(|block| check_block(block, depth + 1)),
        BlockKind::Quote { blocks, .. } | BlockKind::Footnote { blocks, .. } => {
            blocks.iter().for_each(|block| check_block(block, depth + 1));
        }
        BlockKind::Details { summary, blocks } => {
            text(summary);
            blocks.iter().for_each(|block| check_block(block, depth + 1));
        }
        BlockKind::Table { align, header, rows } => {
            assert_eq!(header.len(), align.len());
            rows.iter().for_each(|row| assert_eq!(row.len(), align.len()));
            header.iter().chain(rows.iter().flatten()).for_each(text);
        }
        BlockKind::Code { .. }
        | BlockKind::Rule
        | BlockKind::Math { .. }
        | BlockKind::Verbatim(_) => {}
    }
}
