//! One leaf of a block: inline events in, styled text out.

use std::sync::Arc;

use super::{hygiene, links};
use crate::model::{Hygiene, RichText, Style};

/// Links kept in one message; behind them text is plain.
pub(super) const LINK_CAP: usize = 5_000;

/// Collects the inline content of one paragraph, heading or cell.
#[derive(Default)]
pub(super) struct Leaf {
    /// Offset of its first byte in the parser's input.
    pub(super) start: usize,
    text: String,
    pieces: Vec<Piece>,
    links: Vec<Arc<str>>,
    styles: Styles,
    link: Option<usize>,
    image: Option<Image>,
    tags: Vec<OpenTag>,
    spans: Vec<TagSpan>,
    hygiene: Hygiene,
}

/// How often each style is open; markdown may nest a style in itself.
#[derive(Default)]
struct Styles {
    bold: u32,
    italic: u32,
    strike: u32,
}

/// A stretch of text in one style.
struct Piece {
    begin: usize,
    end: usize,
    style: Style,
    link: Option<usize>,
    /// Where it came from, when it is a copy of the input byte for byte.
    source: Option<usize>,
    /// It is the text of an HTML tag that may turn into a style.
    tag: bool,
}

impl Piece {
    /// True when text that would begin at `begin` can be part of this piece.
    fn goes_on(
        &self,
        style: Style,
        link: Option<usize>,
        source: Option<usize>,
        begin: usize,
    ) -> bool {
        let next = self.source.map(|source| source + (begin - self.begin));
        !self.tag && self.style == style && self.link == link && source == next
    }
}

/// An HTML tag that waits for its end.
struct OpenTag {
    style: Style,
    piece: usize,
}

/// Pieces that stand between a tag and its end.
struct TagSpan {
    open: usize,
    close: usize,
    style: Style,
}

/// An image whose alternative text is being read.
struct Image {
    nested: u32,
    empty: bool,
    target: Option<Arc<str>>,
    link: Option<usize>,
}

/// The emphasis styles that markdown opens and closes.
#[derive(Clone, Copy)]
pub(super) enum Emphasis {
    Italic,
    Bold,
    Strike,
}

impl Leaf {
    pub(super) fn new(start: usize) -> Self {
        Self { start, ..Self::default() }
    }

    /// A leaf that goes on in the styles this one has open, behind a formula on its own lines.
    pub(super) fn continued(&mut self, start: usize) -> Self {
        Self { start, styles: std::mem::take(&mut self.styles), ..Self::default() }
    }

    pub(super) fn open(&mut self, emphasis: Emphasis) {
        *self.count(emphasis) += 1;
    }

    pub(super) fn close(&mut self, emphasis: Emphasis) {
        let count = self.count(emphasis);
        *count = count.saturating_sub(1);
    }

    fn count(&mut self, emphasis: Emphasis) -> &mut u32 {
        match emphasis {
            Emphasis::Italic => &mut self.styles.italic,
            Emphasis::Bold => &mut self.styles.bold,
            Emphasis::Strike => &mut self.styles.strike,
        }
    }

    fn style(&self) -> Style {
        let mut style = Style::PLAIN;
        if self.styles.bold > 0 {
            style = style.with(Style::BOLD);
        }
        if self.styles.italic > 0 {
            style = style.with(Style::ITALIC);
        }
        if self.styles.strike > 0 {
            style = style.with(Style::STRIKE);
        }
        style
    }

    /// Text as a reader sees it, before hygiene. `source` is its offset in the input when it is
    /// a plain copy.
    pub(super) fn text(&mut self, text: &str, source: Option<usize>) {
        self.push(text, Style::PLAIN, source);
    }

    /// Text in a style of its own besides the open ones.
    pub(super) fn styled(&mut self, text: &str, style: Style) {
        self.push(text, style, None);
    }

    /// Inline code.
    pub(super) fn code(&mut self, text: &str) {
        let shown = hygiene::for_code(text, &mut self.hygiene);
        self.push_clean(&shown, Style::CODE, None);
    }

    fn push(&mut self, text: &str, style: Style, source: Option<usize>) {
        let shown = hygiene::for_prose(text, &mut self.hygiene);
        let source = source.filter(|_| shown.len() == text.len());
        self.push_clean(&shown, style, source);
    }

    fn push_clean(&mut self, text: &str, style: Style, source: Option<usize>) {
        if text.is_empty() {
            return;
        }
        let mut style = self.style().with(style);
        let mut link = self.link;
        if let Some(image) = &mut self.image {
            style = style.with(Style::IMAGE);
            link = image.link;
            if image.empty {
                image.empty = false;
                if let Some(target) = image.target.take().filter(|_| self.links.len() < LINK_CAP) {
                    self.links.push(target);
                    image.link = Some(self.links.len() - 1);
                    link = image.link;
                }
            }
        }
        let begin = self.text.len();
        self.text.push_str(text);
        let end = self.text.len();
        match self.pieces.last_mut() {
            Some(last) if last.goes_on(style, link, source, begin) => last.end = end,
            _ => self.pieces.push(Piece { begin, end, style, link, source, tag: false }),
        }
    }

    /// Opens a link. `None` stands for a link that may not be followed (yet).
    pub(super) fn open_link(&mut self, target: Option<&str>) {
        self.link = target.filter(|_| self.links.len() < LINK_CAP).map(|target| {
            self.links.push(Arc::from(target));
            self.links.len() - 1
        });
    }

    pub(super) fn close_link(&mut self) {
        // A link around nothing leaves nothing to click.
        let unused = self.link == self.links.len().checked_sub(1)
            && self.pieces.last().is_none_or(|piece| piece.link != self.link);
        if unused && self.link.is_some() {
            self.links.pop();
        }
        self.link = None;
    }

    pub(super) fn open_image(&mut self, target: Option<&str>) {
        match &mut self.image {
            Some(image) => image.nested += 1,
            None => {
                self.image = Some(Image {
                    nested: 0,
                    empty: true,
                    target: target.map(Arc::from),
                    link: None,
                });
            }
        }
    }

    /// Ends an image; one without alternative text is shown by its file name.
    pub(super) fn close_image(&mut self) {
        let Some(image) = &mut self.image else { return };
        if image.nested > 0 {
            image.nested -= 1;
            return;
        }
        if image.empty {
            let target = image.target.as_deref().unwrap_or_default();
            let name = target.rsplit('/').find(|part| !part.is_empty()).unwrap_or("image");
            let shown = hygiene::visible(name).into_owned();
            self.push_clean(&shown, Style::PLAIN, None);
        }
        self.image = None;
    }

    /// An opening tag that becomes a style if its end follows in the same leaf.
    pub(super) fn open_tag(&mut self, literal: &str, style: Style) {
        self.tag_piece(literal);
        self.tags.push(OpenTag { style, piece: self.pieces.len() - 1 });
    }

    /// A closing tag. Without an opener it is text.
    pub(super) fn close_tag(&mut self, literal: &str, style: Style) {
        let Some(index) = self.tags.iter().rposition(|tag| tag.style == style) else {
            self.styled(literal, Style::PLAIN);
            return;
        };
        self.tag_piece(literal);
        let open = self.tags.swap_remove(index).piece;
        self.spans.push(TagSpan { open, close: self.pieces.len() - 1, style });
    }

    fn tag_piece(&mut self, literal: &str) {
        let begin = self.text.len();
        self.text.push_str(literal);
        let (end, style, link) = (self.text.len(), self.style(), self.link);
        self.pieces.push(Piece { begin, end, style, link, source: None, tag: true });
    }

    /// The offset in the shown text of the input byte `at`, when it stands in plain text.
    pub(super) fn shown_offset(&self, at: usize) -> Option<usize> {
        if !self.spans.is_empty() {
            return None; // Tags that became styles have left the text.
        }
        self.pieces.iter().rev().find_map(|piece| {
            let offset = at.checked_sub(piece.source?)?;
            (offset < piece.end - piece.begin).then_some(piece.begin + offset)
        })
    }

    /// The finished text and what hygiene found in it.
    pub(super) fn finish(self) -> (RichText, Hygiene) {
        let styled = self.resolve_tags();
        let mut rich = RichText::default();
        rich.text.reserve_exact(self.text.len());
        for (piece, style) in self.pieces.iter().zip(styled) {
            if let (Some(style), Some(text)) = (style, self.text.get(piece.begin..piece.end)) {
                rich.push(text, style, piece.link.map(|link| link as u16));
            }
        }
        trim_end(&mut rich);
        if self.hygiene.bidi {
            let closers = hygiene::bidi_closers(&rich.text);
            rich.push(&closers, Style::PLAIN, None);
        }
        rich.links = self.links;
        links::find_bare(&mut rich);
        rich.text.shrink_to_fit();
        rich.runs.shrink_to_fit();
        rich.links.shrink_to_fit();
        (rich, self.hygiene)
    }

    /// The style of each piece with its tags applied; none for a tag that became a style.
    fn resolve_tags(&self) -> Vec<Option<Style>> {
        let mut styles: Vec<_> = self.pieces.iter().map(|piece| Some(piece.style)).collect();
        if self.spans.is_empty() {
            return styles;
        }
        // A sweep with counters, because tags may nest by the thousand.
        let mut deltas = vec![[0i32; 3]; self.pieces.len() + 1];
        for span in &self.spans {
            for (slot, style) in [Style::KBD, Style::SUB, Style::SUP].into_iter().enumerate() {
                if span.style == style {
                    deltas[span.open][slot] += 1;
                    deltas[span.close][slot] -= 1;
                }
            }
        }
        let mut open = [0i32; 3];
        for (style, delta) in styles.iter_mut().zip(&deltas) {
            for (slot, tag) in [Style::KBD, Style::SUB, Style::SUP].into_iter().enumerate() {
                open[slot] += delta[slot];
                if open[slot] > 0 {
                    *style = style.map(|style| style.with(tag));
                }
            }
        }
        for span in &self.spans {
            styles[span.open] = None;
            styles[span.close] = None;
        }
        styles
    }

    /// True inside a link or an image, which a formula does not split.
    pub(super) fn in_link(&self) -> bool {
        self.link.is_some() || self.image.is_some()
    }

    /// True when nothing has been shown.
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// Drops white space at the end, as a paragraph's last line break is not shown.
pub(super) fn trim_end(rich: &mut RichText) {
    let len = rich.text.trim_end_matches([' ', '\n', '\t']).len();
    rich.text.truncate(len);
    while rich.runs.len() > 1 && rich.runs[rich.runs.len() - 2].end as usize >= len {
        rich.runs.pop();
    }
    match rich.runs.last_mut() {
        Some(run) if len > 0 => run.end = len as u32,
        _ => rich.runs.clear(),
    }
}
