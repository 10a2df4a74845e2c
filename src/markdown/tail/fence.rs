//! A fence that is still open.

use std::sync::Arc;

use super::{OpenTail, PART, Tail};
use crate::{
    markdown::{hygiene, lines::Fence, partial},
    model::{Block, BlockKind, Hygiene},
};

/// A fence at the top level.
pub(super) struct OpenFence {
    fence: Fence,
    indent: usize,
    language: Arc<str>,
    parts: Vec<Arc<Block>>,
    /// Code behind the parts: whole lines.
    code: String,
    hygiene: Hygiene,
    /// Where `code` begins, and where the lines end that are in it.
    from: usize,
    to: usize,
    closed: bool,
}

impl OpenFence {
    pub(super) fn at(block: &Block, text: &str) -> Option<Self> {
        let BlockKind::Code { language, .. } = &block.kind else { return None };
        let source = text.get(block.source.start..)?;
        let first = source.lines().next()?;
        let line_start = partial::last_line(text.get(..block.source.start)?);
        let fence = Fence::opens(first.as_bytes())?;
        let to = block.source.start + source.find('\n')? + 1;
        Some(Self {
            fence,
            indent: block.source.start - line_start,
            language: Arc::clone(language),
            parts: Vec::new(),
            code: String::new(),
            hygiene: Hygiene::default(),
            from: block.source.start,
            to,
            closed: false,
        })
    }

    pub(super) fn resume(mut self, text: &str) -> Option<Tail> {
        let rest = text.get(self.to..)?;
        let whole = rest.rfind('\n').map_or(0, |at| at + 1);
        let (lines, open) = rest.split_at(whole);
        for line in lines.split_inclusive('\n') {
            self.line(line)?;
        }
        self.to += whole;
        if self.closed && !open.trim().is_empty() {
            return None;
        }
        let mut blocks = self.parts.clone();
        blocks.push(Arc::new(self.block(open, text.len())));
        Some(Tail { blocks, seam: OpenTail::Fence(self), ..Tail::default() })
    }

    /// Takes a whole line; none when something other than code begins.
    fn line(&mut self, line: &str) -> Option<()> {
        if self.closed {
            return line.trim().is_empty().then_some(());
        }
        let code = self.unindent(line);
        if self.ends(code) {
            self.closed = true;
            return Some(());
        }
        self.code.push_str(&hygiene::for_code(code, &mut self.hygiene));
        if self.code.len() > PART {
            let end = self.to;
            let part = self.block("", end);
            self.parts.push(Arc::new(part));
            self.code.clear();
            self.hygiene = Hygiene::default();
            self.from = end;
        }
        Some(())
    }

    fn ends(&self, code: &str) -> bool {
        let indent = code.bytes().take_while(|b| *b == b' ').count();
        indent < 4 && !code.trim_start().starts_with('>') && self.fence.closes(code.as_bytes())
    }

    fn unindent<'t>(&self, line: &'t str) -> &'t str {
        let spaces = line.bytes().take(self.indent).take_while(|b| *b == b' ').count();
        line.get(spaces..).unwrap_or_default()
    }

    /// The code behind the parts, with the line that is still arriving.
    fn block(&self, open: &str, end: usize) -> Block {
        let mut hygiene = self.hygiene;
        let open = self.unindent(open);
        let marks = open.trim();
        let indent = open.len() - open.trim_start().len();
        let may_end =
            indent < 4 && !marks.is_empty() && marks.bytes().all(|b| b == self.fence.mark);
        let mut code = self.code.clone();
        if !may_end && (!marks.is_empty() || open.len() >= 4) {
            code.push_str(&hygiene::for_code(open, &mut hygiene));
        }
        let text = code.strip_suffix('\n').unwrap_or(&code).into();
        let language = Arc::clone(&self.language);
        let closed = self.closed || (!marks.is_empty() && self.ends(open));
        let kind = BlockKind::Code { language, text, closed };
        Block { kind, source: self.from..end, hygiene }
    }
}
