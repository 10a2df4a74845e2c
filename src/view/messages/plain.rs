//! A message as it reads, without marks: for mails, terminals and forms.

use super::words;
use crate::model::{Block, BlockKind, ListItem, Message, Part, RichText};

/// The words of a message without markdown.
pub(super) fn words(message: &Message) -> String {
    let mut plain = Plain::default();
    for part in &message.parts {
        if let Part::Text(text) = part {
            plain.blocks(text.blocks().map(|block| &**block));
        }
    }
    let text = plain.text.trim();
    if text.is_empty() { words::markdown(message) } else { text.to_owned() }
}

/// Lines that are written, and how far they are moved to the right.
#[derive(Default)]
struct Plain {
    text: String,
    indent: usize,
}

impl Plain {
    fn blocks<'b>(&mut self, blocks: impl IntoIterator<Item = &'b Block>) {
        for block in blocks {
            if !self.text.is_empty() && !self.text.ends_with("\n\n") && !self.begins_item() {
                self.text.push('\n');
            }
            self.block(&block.kind);
        }
    }

    /// A bullet stands there, and nothing behind it yet.
    fn begins_item(&self) -> bool {
        !self.text.ends_with('\n')
    }

    fn block(&mut self, kind: &BlockKind) {
        match kind {
            BlockKind::Paragraph(rich) | BlockKind::Heading { text: rich, .. } => {
                self.lines(&rich.text);
            }
            BlockKind::Code { text, .. } | BlockKind::Verbatim(text) => self.lines(text),
            BlockKind::Math { source, .. } => self.lines(source),
            BlockKind::List { start, tight, items } => self.list(*start, *tight, items),
            BlockKind::Table { header, rows, .. } => {
                self.row(header);
                rows.iter().for_each(|row| self.row(row));
            }
            BlockKind::Rule => self.lines("---"),
            BlockKind::Quote { blocks, .. } | BlockKind::Footnote { blocks, .. } => {
                self.blocks(blocks);
            }
            BlockKind::Details { summary, blocks } => {
                self.lines(&summary.text);
                self.blocks(blocks);
            }
        }
    }

    fn list(&mut self, start: Option<u64>, tight: bool, items: &[ListItem]) {
        for (i, item) in items.iter().enumerate() {
            if !tight && i > 0 {
                self.text.push('\n');
            }
            let mark = match (item.task, start) {
                (Some(true), _) => "[x] ".to_owned(),
                (Some(false), _) => "[ ] ".to_owned(),
                (None, Some(start)) => format!("{}. ", start.saturating_add(i as u64)),
                (None, None) => "• ".to_owned(),
            };
            self.text.push_str(&" ".repeat(self.indent));
            self.text.push_str(&mark);
            let inner = mark.chars().count();
            self.indent += inner;
            self.items(&item.blocks);
            self.indent -= inner;
        }
    }

    /// The blocks of an item: what follows its first words stands on the next line.
    fn items(&mut self, blocks: &[Block]) {
        if blocks.is_empty() {
            self.text.push('\n');
        }
        blocks.iter().for_each(|block| self.block(&block.kind));
    }

    fn row(&mut self, cells: &[RichText]) {
        let cells: Vec<String> = cells.iter().map(|cell| cell.text.replace('\n', " ")).collect();
        self.lines(&cells.join("\t"));
    }

    fn lines(&mut self, text: &str) {
        for line in text.lines() {
            if !self.begins_item() && !line.is_empty() {
                self.text.push_str(&" ".repeat(self.indent));
            }
            self.text.push_str(line);
            self.text.push('\n');
        }
    }
}
