//! The press: sets one slug at a time.

use std::{ops::Range, sync::Arc};

use egui::{
    Color32, CornerRadius, Galley, Rect,
    epaint::{FontsView, text::LayoutJob},
    pos2, vec2,
};

use crate::{
    layout::{
        Palette, Voice, enlarge, face,
        highlight::Highlighter,
        icon, ink, label, matter,
        slug::{Line, Mark, Slug, Target, Wide, set_ground},
        spec::{
            Action, BlockRef, Card, Content, Fold, FoldKind, Frame, Ground, Marker, SlugKey, Spec,
            Tone,
        },
        table,
    },
    model::{BlockKind, MessageId, RichText},
};

/// Lines longer than this wrap even where lines do not wrap, so that no galley is miles wide.
const LINE_MAX: usize = 4096;

/// What slugs are set with.
pub struct Press<'a, 'f> {
    /// egui's fonts.
    pub fonts: &'a mut FontsView<'f>,
    /// Colours.
    pub palette: &'a Palette,
    /// Width of the column, in points of type of the usual size.
    pub width: f32,
    /// Physical pixels per such point.
    pub pixels_per_point: f32,
    /// How many points of the screen such a point takes: the type is this much larger.
    pub scale: f32,
    /// Nothing on the page can be clicked, so it offers nothing.
    pub still: bool,
    /// Colours of code.
    pub highlights: &'a Highlighter,
    /// The message the slug belongs to.
    pub message: MessageId,
    /// Says whether a fold was opened; here: whether a block wraps.
    pub is_open: &'a dyn Fn(Fold, bool) -> bool,
}

/// A slug while it is being set: its content's left edge, width and the next free y.
pub struct Stick<'s> {
    /// What is being set.
    pub slug: Slug,
    /// Left edge of the content.
    pub left: f32,
    /// Room for the content.
    pub width: f32,
    /// Where the next line goes.
    pub y: f32,
    /// Second voice.
    pub dim: bool,
    /// The slug's place.
    pub key: SlugKey,
    frame: &'s Frame,
}

impl Press<'_, '_> {
    /// Sets a slug.
    pub fn set(&mut self, spec: &Spec) -> Slug {
        let frame = &spec.frame;
        let tops = card_tops(frame);
        let mut stick = Stick {
            slug: Slug::default(),
            left: frame.left,
            width: (self.width - frame.left - frame.right).max(40.0),
            y: tops.last().map_or(frame.gap, |(_, content)| *content),
            dim: frame.dim,
            key: spec.key,
            frame,
        };
        let first_line = stick.y;
        self.content(spec, &mut stick);
        self.marker(frame, first_line, &mut stick);
        self.surround(frame, &tops, &mut stick);
        let mut slug = stick.slug;
        set_ground(&mut slug, self.pixels_per_point);
        enlarge::slug(&mut slug, self.scale);
        slug.bytes = slug.count_bytes();
        slug
    }

    fn content(&mut self, spec: &Spec, stick: &mut Stick<'_>) {
        match &spec.content {
            Content::Prose(at, range) => self.prose(at, range, stick),
            Content::Verbatim(at, range) => self.verbatim(at, range, stick),
            Content::CodeHeader(at) => matter::code_header(self, at, stick),
            Content::Code(at, range) => matter::code(self, at, range, stick),
            Content::Table(at, rows) => table::set(self, at, rows, stick),
            Content::Rule => {
                let line = Rect::from_min_size(
                    pos2(stick.left, stick.y + 4.0),
                    vec2(stick.width, self.hairline()),
                );
                stick.mark(line, CornerRadius::ZERO, self.palette.line);
                stick.y += 9.0;
            }
            Content::AlertTitle(alert) => matter::alert_title(self, *alert, stick),
            Content::Summary(at, fold, open) => matter::summary(self, at, *fold, *open, stick),
            Content::Label(words) => label::set(self, words, stick),
            Content::Divider(words) => label::divider(self, words, stick),
            Content::Output(result, range) => matter::output(self, &result.output, range, stick),
            Content::Diff(lines, range) => matter::difference(self, lines, range, stick),
            Content::Plain(text, range, voice) => matter::plain(self, text, range, *voice, stick),
            Content::Picture(image, index) => matter::picture(image, *index, stick),
            Content::Pending => stick.y += spec.estimate,
        }
    }

    fn prose(&mut self, at: &BlockRef, range: &Range<u32>, stick: &mut Stick<'_>) {
        let (text, voice) = match &at.block().kind {
            BlockKind::Paragraph(text) if stick.dim => (text, Voice::Dim),
            BlockKind::Paragraph(text) => (text, Voice::Body),
            BlockKind::Heading { level, text } => (text, Voice::Heading(*level)),
            _ => return,
        };
        self.rich(text, range, voice, stick);
    }

    /// Sets rich text at the stick's next line, with its chips and links.
    pub fn rich(
        &mut self,
        text: &RichText,
        range: &Range<u32>,
        voice: Voice,
        stick: &mut Stick<'_>,
    ) {
        let mut job = ink::job(text, range, voice, self.palette);
        job.wrap.max_width = stick.width;
        let galley = self.galley(job);
        let pos = vec2(stick.left, stick.y);
        self.chips(text, range, &galley, pos, &mut stick.slug);
        links(text, range, &galley, pos, &mut stick.slug);
        stick.y += galley.rect.height();
        stick.line(pos, galley, true);
    }

    /// Grounds of inline code and keys.
    pub fn chips(
        &self,
        text: &RichText,
        range: &Range<u32>,
        galley: &Galley,
        pos: egui::Vec2,
        slug: &mut Slug,
    ) {
        for (rect, is_key) in ink::span_rects(galley, &ink::chips(text, range)) {
            let rect = rect.translate(pos).expand2(vec2(3.0, 0.5));
            if is_key {
                slug.marks.push(Mark {
                    rect: rect.expand(self.hairline()),
                    radius: CornerRadius::same(5),
                    fill: self.palette.line,
                    scrolls: false,
                });
            }
            slug.marks.push(Mark {
                rect,
                radius: CornerRadius::same(5),
                fill: self.palette.raised,
                scrolls: false,
            });
        }
    }

    fn verbatim(&mut self, at: &BlockRef, range: &Range<u32>, stick: &mut Stick<'_>) {
        let (text, tone) = match &at.block().kind {
            BlockKind::Verbatim(text) => (text, Tone::Text),
            BlockKind::Math { source, .. } => (source, Tone::Dim),
            _ => return,
        };
        let words = text.get(range.start as usize..range.end as usize).unwrap_or_default();
        self.text(words.trim_end_matches('\n'), Voice::Code, tone, stick);
    }

    /// Sets plain text in one voice and colour at the stick's next line.
    pub fn text(&mut self, words: &str, voice: Voice, tone: Tone, stick: &mut Stick<'_>) {
        let mut format = face::format(voice, crate::model::Style::PLAIN, false, self.palette);
        format.color = self.tone(tone);
        let mut job = LayoutJob::default();
        ink::append(&mut job, words, 0.0, format);
        job.wrap.max_width = stick.width;
        let galley = self.galley(job);
        let pos = vec2(stick.left, stick.y);
        stick.y += galley.rect.height().max(voice.line());
        stick.line(pos, galley, true);
    }

    /// Lays out a job. Empty text takes no place.
    ///
    /// Glyphs are set for the size they are printed at, and measured in points of type of
    /// the usual size.
    pub fn galley(&mut self, job: LayoutJob) -> Arc<Galley> {
        if self.scale == 1.0 {
            return self.fonts.layout_job(job);
        }
        let galley = self.fonts.layout_job(enlarge::job(job, self.scale));
        enlarge::galley(galley, 1.0 / self.scale)
    }

    /// Sets code or output that may be wider than the column: it wraps when `wraps`, else
    /// it scrolls sideways.
    pub fn wide(&mut self, mut job: LayoutJob, wraps: bool, stick: &mut Stick<'_>) {
        let longest = job.text.split('\n').map(str::len).max().unwrap_or(0);
        if wraps || longest > LINE_MAX {
            job.wrap.max_width = stick.width;
            job.wrap.break_anywhere = longest > LINE_MAX;
        }
        let galley = self.galley(job);
        let width = galley.rect.width();
        if width > stick.width + 0.5 {
            let (left, right) = (stick.left, stick.left + stick.width);
            stick.slug.wide = Some(Wide { left, right, content: width });
        }
        let pos = vec2(stick.left, stick.y);
        stick.y += galley.rect.height().max(Voice::Code.line());
        let scrolls = stick.slug.wide.is_some();
        stick.slug.lines.push(Line { scrolls, ..Line::new(pos, galley, true) });
    }

    /// The fold that remembers whether the block at this place wraps.
    #[must_use]
    pub fn wrap_fold(&self, key: SlugKey) -> Fold {
        Fold { message: self.message, part: key.part, kind: FoldKind::Wrap(key.leaf) }
    }

    /// One physical pixel, in points.
    #[must_use]
    pub fn hairline(&self) -> f32 {
        1.0 / self.pixels_per_point
    }

    /// The colour of a tone.
    #[must_use]
    pub fn tone(&self, tone: Tone) -> Color32 {
        let palette = self.palette;
        match tone {
            Tone::Text => palette.text,
            Tone::Dim => palette.dim,
            Tone::Faint => palette.faint,
            Tone::Accent => palette.accent,
            Tone::Ok => palette.ok,
            Tone::Warn => palette.warn,
            Tone::Err => palette.err,
            Tone::Line => palette.line,
        }
    }

    fn marker(&mut self, frame: &Frame, top: f32, stick: &mut Stick<'_>) {
        let Some(marker) = &frame.marker else { return };
        let words = match marker {
            Marker::Bullet(depth) => ["•", "◦", "▪"][usize::from(*depth) % 3].to_owned(),
            Marker::Number(number) => format!("{number}."),
            Marker::Footnote(label) => format!("{label}."),
            Marker::Task(done) => return self.checkbox(*done, frame.left, top, stick),
        };
        let mut format = face::format(Voice::Body, crate::model::Style::PLAIN, false, self.palette);
        format.color = self.palette.dim;
        let mut job = LayoutJob::default();
        ink::append(&mut job, &words, 0.0, format);
        let galley = self.galley(job);
        let x = (frame.left - 9.0 - galley.rect.width()).max(0.0);
        stick.line(vec2(x, top), galley, false);
    }

    fn checkbox(&mut self, done: bool, left: f32, top: f32, stick: &mut Stick<'_>) {
        let square = Rect::from_min_size(pos2(left - 24.0, top + 4.0), vec2(15.0, 15.0));
        let (edge, fill) = if done {
            (self.palette.accent, self.palette.accent)
        } else {
            (self.palette.faint, self.palette.bg)
        };
        stick.mark(square, CornerRadius::same(4), edge);
        stick.mark(square.shrink(1.25), CornerRadius::same(3), fill);
        if done {
            let mut job = LayoutJob::default();
            ink::append(
                &mut job,
                &icon::CHECK.to_string(),
                0.0,
                face::icon(12.0, 15.0, self.palette.bg),
            );
            let galley = self.galley(job);
            stick.line(vec2(square.left() + 1.5, square.top()), galley, false);
        }
    }

    /// Draws grounds and bars behind what was set, and closes the slug.
    fn surround(&self, frame: &Frame, tops: &[(f32, f32)], stick: &mut Stick<'_>) {
        let content_bottom = self.snap(stick.y);
        let mut bottom = content_bottom;
        let mut bottoms = vec![0.0; frame.cards.len()];
        for (card, y) in frame.cards.iter().zip(&mut bottoms).rev() {
            bottom += if card.last { card.pad_bottom } else { 0.0 };
            *y = bottom;
        }
        let height = self.snap(bottom);
        let mut marks = Vec::new();
        for (i, card) in frame.cards.iter().enumerate() {
            let bottom = if card.last { bottoms[i] } else { height };
            let outer = i.checked_sub(1).and_then(|i| frame.cards.get(i));
            self.ground(card, outer, tops[i].0..bottom, &mut marks);
        }
        for bar in &frame.bars {
            let top = if bar.first { frame.gap } else { 0.0 };
            let rect = Rect::from_min_max(pos2(bar.x, top), pos2(bar.x + 3.0, content_bottom));
            let radius = CornerRadius::ZERO;
            marks.push(Mark { rect, radius, fill: self.tone(bar.tone), scrolls: false });
        }
        marks.append(&mut stick.slug.marks);
        stick.slug.marks = marks;
        stick.slug.height = height;
    }

    /// A ground is an edge-coloured shape with a slightly smaller one on it, so that cards
    /// of several slugs need no strokes that would have to be cut.
    fn ground(&self, card: &Card, outer: Option<&Card>, y: Range<f32>, marks: &mut Vec<Mark>) {
        let line = self.hairline();
        let mut rect =
            Rect::from_min_max(pos2(card.left, y.start), pos2(self.width - card.right, y.end));
        let inset =
            outer.is_some_and(|outer| outer.left == card.left && outer.ground == Ground::Panel);
        let (fill, edge) = self.ground_colors(card.ground);
        let size: u8 = if card.ground == Ground::User { 12 } else { 10 };
        let at = |on: bool| if on { size } else { 0_u8 };
        let radius = |shrink: u8, top: bool| CornerRadius {
            nw: at(card.first && top).saturating_sub(shrink),
            ne: at(card.first && top).saturating_sub(shrink),
            sw: at(card.last).saturating_sub(shrink),
            se: at(card.last).saturating_sub(shrink),
        };
        if inset {
            rect = rect.shrink2(vec2(line, 0.0));
            if card.first {
                let rule = Rect::from_min_size(rect.min, vec2(rect.width(), line));
                marks.push(Mark {
                    rect: rule,
                    radius: CornerRadius::ZERO,
                    fill: self.palette.line,
                    scrolls: false,
                });
                rect.min.y += line;
            }
            if outer.is_some_and(|outer| outer.last) && card.last {
                rect.max.y -= line;
                marks.push(Mark { rect, radius: radius(1, false), fill, scrolls: false });
            } else {
                marks.push(Mark { rect, radius: CornerRadius::ZERO, fill, scrolls: false });
            }
            return;
        }
        if let Some(edge) = edge {
            marks.push(Mark { rect, radius: radius(0, true), fill: edge, scrolls: false });
            rect = rect.shrink2(vec2(line, 0.0));
            rect.min.y += if card.first { line } else { 0.0 };
            rect.max.y -= if card.last { line } else { 0.0 };
        }
        let shrink = u8::from(edge.is_some());
        marks.push(Mark { rect, radius: radius(shrink, true), fill, scrolls: false });
    }

    fn ground_colors(&self, ground: Ground) -> (Color32, Option<Color32>) {
        let palette = self.palette;
        match ground {
            Ground::User => (palette.user, None),
            Ground::Panel => (palette.panel, Some(palette.line)),
            Ground::Code => (palette.code, Some(palette.line)),
            Ground::Alarm => (palette.panel, Some(palette.err)),
        }
    }

    fn snap(&self, points: f32) -> f32 {
        (points * self.pixels_per_point).ceil() / self.pixels_per_point
    }
}

impl Stick<'_> {
    /// Adds set text.
    pub fn line(&mut self, pos: egui::Vec2, galley: Arc<Galley>, reading: bool) {
        if !galley.job.text.is_empty() {
            self.slug.lines.push(Line::new(pos, galley, reading));
        }
    }

    /// Adds a filled shape.
    pub fn mark(&mut self, rect: Rect, radius: CornerRadius, fill: Color32) {
        self.slug.marks.push(Mark { rect, radius, fill, scrolls: false });
    }

    /// The innermost ground the content stands on.
    #[must_use]
    pub fn ground(&self) -> Option<&Card> {
        self.frame.cards.last()
    }
}

/// For each card, where it begins and where its content begins.
fn card_tops(frame: &Frame) -> Vec<(f32, f32)> {
    let mut y = frame.gap;
    // A ground that goes on covers the gap; one that begins starts below it.
    frame
        .cards
        .iter()
        .map(|card| {
            let top = if card.first { y } else { 0.0 };
            y += if card.first { card.pad_top } else { 0.0 };
            (top, y)
        })
        .collect()
}

/// Targets over the links of a set text.
pub fn links(
    text: &RichText,
    range: &Range<u32>,
    galley: &Galley,
    pos: egui::Vec2,
    slug: &mut Slug,
) {
    let spans = ink::spans(text, range, |run| run.link);
    if spans.is_empty() {
        return;
    }
    let shown: Vec<Arc<str>> = spans
        .iter()
        .map(|(part, _)| {
            let start = range.start as usize;
            Arc::from(text.text.get(start + part.start..start + part.end).unwrap_or_default())
        })
        .collect();
    let indexed: Vec<(Range<usize>, usize)> =
        spans.iter().enumerate().map(|(i, (part, _))| (part.clone(), i)).collect();
    for (rect, i) in ink::span_rects(galley, &indexed) {
        let Some(target) = text.links.get(usize::from(spans[i].1)) else { continue };
        slug.targets.push(Target {
            rect: rect.translate(pos),
            action: Action::Link(Arc::clone(target), Arc::clone(&shown[i])),
            spoken: String::new(),
            scrolls: false,
        });
    }
}
