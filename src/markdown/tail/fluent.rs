//! Words that are appended to the tail without reading it again.

use std::sync::Arc;

use super::{PART, Tail};
use crate::{
    markdown::hygiene,
    model::{Block, BlockKind, Hygiene, RichText, Style},
};

/// More words than this are read after all.
const LIMIT: usize = 2 * 1024;

impl Tail {
    /// The tail with `fresh` appended, when that is only words and words go on here.
    pub(super) fn with_words(&self, text: &str, fresh: &str) -> Option<Vec<Arc<Block>>> {
        let end = self.fluent.filter(|_| fresh.len() <= LIMIT)?;
        if !fresh.chars().all(is_wordly) || fresh.contains("www") {
            return None;
        }
        self.extended(text.get(end..)?.trim_end(), Voice::Same)
    }

    /// The tail with `fresh` behind it as it stands.
    pub(super) fn with_plain(&self, fresh: &str) -> Vec<Arc<Block>> {
        if let Some(blocks) = self.extended(fresh.trim_end_matches('\n'), Voice::Plain) {
            return blocks;
        }
        let mut blocks = self.blocks.clone();
        let mut found = Hygiene::default();
        let shown = hygiene::for_prose(fresh.trim(), &mut found);
        if !shown.is_empty() {
            let kind = BlockKind::Paragraph(RichText::plain(shown));
            let source = self.read_to..self.read_to + fresh.len();
            blocks.push(Arc::new(Block { kind, source, hygiene: found }));
        }
        blocks
    }

    fn extended(&self, words: &str, voice: Voice) -> Option<Vec<Arc<Block>>> {
        let (last, before) = self.blocks.split_last()?;
        // A long block would be copied as a whole; a separate paragraph is not.
        if last.heap_bytes() > 2 * PART {
            return None;
        }
        let mut last = Block::clone(last);
        extend(&mut last, words, voice).then(|| {
            let mut blocks = before.to_vec();
            blocks.push(Arc::new(last));
            blocks
        })
    }
}

/// How appended words look.
#[derive(Clone, Copy)]
enum Voice {
    /// As what they follow.
    Same,
    /// Plain, whatever they follow.
    Plain,
}

/// Appends words to the last text of a block; false when it does not end with a text.
///
/// As deep as blocks nest, which the builder caps.
fn extend(block: &mut Block, words: &str, voice: Voice) -> bool {
    match &mut block.kind {
        BlockKind::Paragraph(text) | BlockKind::Heading { text, .. } => {
            let run = text.runs.last().copied();
            let (style, link) = match voice {
                Voice::Same => run.map_or((Style::PLAIN, None), |run| (run.style, run.link)),
                Voice::Plain => (Style::PLAIN, None),
            };
            text.push(&hygiene::for_prose(words, &mut block.hygiene), style, link);
            true
        }
        BlockKind::Code { text, closed: false, .. } => {
            *text = format!("{text}{}", hygiene::for_code(words, &mut block.hygiene)).into();
            true
        }
        BlockKind::List { items, .. } => items
            .last_mut()
            .and_then(|item| item.blocks.last_mut())
            .is_some_and(|block| extend(block, words, voice)),
        BlockKind::Quote { blocks, .. }
        | BlockKind::Footnote { blocks, .. }
        | BlockKind::Details { blocks, .. } => {
            blocks.last_mut().is_some_and(|block| extend(block, words, voice))
        }
        BlockKind::Code { .. }
        | BlockKind::Table { .. }
        | BlockKind::Rule
        | BlockKind::Math { .. }
        | BlockKind::Verbatim(_) => false,
    }
}

/// True for characters that mean nothing to the parser inside a line of words.
pub(in crate::markdown) fn is_wordly(c: char) -> bool {
    c.is_alphanumeric()
        || matches!(c, ' ' | ',' | '.' | ';' | '?' | '\'' | '"' | '%' | '(' | ')' | ':' | '!' | '-')
        || matches!(c, '\u{2013}'..='\u{201E}' | '…')
}
