//! The sheet: which slugs stand where, for any history and any scroll.
//!
//! The reader's place is an anchor, a slug and the points inside it, and everything else
//! is derived from it in each frame. So whatever changes above or below, what is being
//! read stays where it is. Work in a frame is bounded by what is visible.

mod find;
mod walk;

use std::sync::Arc;

use egui::epaint::FontsView;
use rustc_hash::FxHashMap;

use self::walk::{Cursor, Walk};

use crate::{
    layout::{
        Palette,
        cache::{SlugCache, SlugId},
        compose::Surroundings,
        epoch::{Canary, Epoch},
        flow::Resume,
        folds::Folds,
        forks::{ForkPlace, Forks},
        heights::{CHUNK, Fenwick, Heights},
        highlight::Highlighter,
        registry::Registry,
        slug::Slug,
        spec::{ESTIMATE_WIDTH, SlugKey, Spec},
        strip::{Strip, Track},
    },
    model::{GroupPlace, Message, MessageId, RowInfo, Source, ToolTally},
};

/// Default size of the cache of set slugs.
pub const CACHE_BYTES: usize = 12 * 1024 * 1024;
/// Room under the last slug, in points.
pub(crate) const FOOT: f64 = 32.0;
/// Composed messages that are kept.
const COMPOSED_MAX: usize = 160;
/// Rows around the visible ones that are asked for ahead of time.
const AHEAD_ROWS: usize = 24;
/// Distance from the end within which the end counts as reached.
const END_SLACK: f64 = 10.0;

/// The reader's place: this slug's top stands `offset` points above the viewport's top.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Anchor {
    /// The message.
    pub message: MessageId,
    /// The slug.
    pub key: SlugKey,
    /// Points of the slug that are scrolled past; negative when it begins lower down.
    pub offset: f64,
}

/// A place in the conversation, whatever the heights around it become.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// The message.
    pub message: MessageId,
    /// The part of its height that lies above, 0 to 1.
    pub part: f64,
}

/// Heights as they stood at one moment. A drag is measured with what it began with, so
/// that the same position of the pointer always means the same place.
#[derive(Clone, Debug, Default)]
pub struct Ruler {
    heights: Heights,
    measure: Measure,
}

impl Ruler {
    /// The place at a distance from the first row's top, in points; none without rows.
    pub fn place(&mut self, y: f64, source: &dyn Source) -> Option<Place> {
        let (rows, measure) = (source.len(), self.measure);
        let estimate =
            |i: usize| if i < rows { estimate_row(&source.row(i), measure) } else { 0.0 };
        let (row, within) = self.heights.find(y, estimate);
        let height = self.heights.get(row, estimate);
        let part = if height > 0.0 { (within / height).clamp(0.0, 1.0) } else { 0.0 };
        (row < rows).then(|| Place { message: source.row(row).id, part })
    }
}

/// Where to go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Jump {
    /// The first message.
    Start,
    /// The last word, and follow it.
    End,
    /// The beginning of a row.
    Row(usize),
    /// A fraction of the whole, 0 to 1.
    Fraction(f64),
    /// A place, which comes to stand `lead` points below the viewport's top.
    Place {
        /// The place.
        place: Place,
        /// Points of what is above it that stay on screen.
        lead: f64,
        /// Where the reader is pulling.
        toward: Toward,
    },
}

/// Where the reader is pulling. What is on screen never goes the other way, even when
/// measuring shows that the place was nearer than it seemed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Toward {
    /// Anywhere.
    #[default]
    Any,
    /// Only to what is above.
    Start,
    /// Only to what is below.
    End,
}

/// What a frame is laid out for.
pub struct Page<'a, 'f> {
    /// egui's fonts.
    pub fonts: &'a mut FontsView<'f>,
    /// Colours.
    pub palette: &'a Palette,
    /// Colours of code.
    pub highlights: &'a Highlighter,
    /// Renderers by name.
    pub registry: &'a Registry,
    /// What is open.
    pub folds: &'a Folds,
    /// Width of the column in points.
    pub width: f32,
    /// Height of the viewport in points.
    pub height: f32,
    /// Physical pixels per point.
    pub pixels_per_point: f32,
}

/// A slug and where it stands in the viewport.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Row of its message.
    pub row: usize,
    /// Its identity.
    pub id: SlugId,
    /// Its top, in points from the viewport's top.
    pub y: f32,
    /// What to print; nothing while the message has not arrived.
    pub slug: Option<Arc<Slug>>,
    /// Its height in points.
    pub height: f32,
}

/// What a frame shows.
#[derive(Clone, Debug, Default)]
pub struct Visible {
    /// Slugs from top to bottom.
    pub placed: Vec<Placed>,
    /// Scroll position in points from the first row's top, partly estimated.
    pub top: f64,
    /// Height of everything in points, partly estimated.
    pub total: f64,
    /// The end is on screen.
    pub at_end: bool,
    /// Colours have come that the next frame will show.
    pub more: bool,
    /// The sheet's frame; slugs know theirs.
    pub frame: u64,
}

struct Composed {
    message: Arc<Message>,
    around: Surroundings,
    checked: (u64, u64, u64),
    specs: Vec<Spec>,
    resume: Option<Resume>,
    heights: Fenwick,
    used: u64,
}

/// Layout state of one conversation on one page.
pub struct Sheet {
    anchor: Anchor,
    /// Row of the anchor when it was last seen, in case its message vanishes.
    anchor_row: usize,
    following: bool,
    jump: Option<Jump>,
    /// The place to be at once its message is there.
    awaited: Option<Anchor>,
    /// Empty room below the end that may stay, in points: another branch may be shorter, and
    /// what is read does not come down for that.
    spare: f64,
    pending_scroll: f64,
    heights: Heights,
    /// What has others beside it.
    pub(super) forks: Forks,
    /// The messages of the first row and of the last one when heights were estimated.
    ends: (MessageId, MessageId),
    composed: FxHashMap<MessageId, Composed>,
    cache: SlugCache,
    canary: Canary,
    epoch: Epoch,
    source_version: u64,
    frame: u64,
    laid_out: u64,
    /// A slug was set again for its colours in this frame, and others wait for theirs.
    recoloured: bool,
    more: bool,
    /// The rows that were asked for last, and the state of the source then.
    wish: (u64, std::ops::Range<usize>),
    moves: u64,
    kind: Kind,
}

/// What kind of page type is set for.
#[derive(Clone, Copy, Debug)]
struct Kind {
    /// How much larger than usual type is.
    scale: f32,
    /// Nothing on the page can be clicked.
    still: bool,
}

/// The column that heights are estimated for: its width in points of type, and how many
/// points of the screen each takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Measure {
    width: f32,
    scale: f32,
}

impl Default for Sheet {
    fn default() -> Self {
        Self::new(CACHE_BYTES)
    }
}

impl Sheet {
    /// A sheet that follows the end, with a slug cache of at most `cache_bytes`.
    #[must_use]
    pub fn new(cache_bytes: usize) -> Self {
        Self {
            anchor: Anchor::default(),
            anchor_row: 0,
            following: true,
            jump: None,
            awaited: None,
            spare: 0.0,
            pending_scroll: 0.0,
            heights: Heights::default(),
            forks: Forks::default(),
            ends: (MessageId::default(), MessageId::default()),
            composed: FxHashMap::default(),
            cache: SlugCache::new(cache_bytes),
            canary: Canary::default(),
            epoch: Epoch::default(),
            source_version: 0,
            frame: 0,
            laid_out: 0,
            recoloured: false,
            more: false,
            wish: (0, 0..0),
            moves: 0,
            kind: Kind { scale: 1.0, still: false },
        }
    }

    /// Scrolls by points in the next frame; downward is positive. Any upward intent
    /// releases the end.
    pub fn scroll_by(&mut self, points: f64) {
        self.pending_scroll += points;
        self.awaited = None;
        self.moves += 1;
        if points < 0.0 {
            self.following = false;
        }
    }

    /// Goes somewhere in the next frame.
    pub fn jump(&mut self, jump: Jump) {
        self.jump = Some(jump);
        self.awaited = None;
        self.spare = 0.0;
        self.moves += 1;
        self.pending_scroll = 0.0;
        self.following = jump == Jump::End;
    }

    /// Keeps a slug where it is on screen while folds around it change.
    pub fn hold(&mut self, id: SlugId, y: f32) {
        self.anchor = Anchor { message: id.message, key: id.key, offset: -f64::from(y) };
        self.following = false;
    }

    /// Goes to a place as soon as its message is there, and leaves what is below it empty if
    /// there is too little: the place stands where it is asked for.
    pub fn await_anchor(&mut self, anchor: Anchor) {
        self.awaited = Some(anchor);
        self.spare = f64::INFINITY;
        self.following = false;
    }

    /// Sets all type this much larger than usual, from the next frame on. The place stays.
    pub fn set_scale(&mut self, scale: f32) {
        self.kind.scale = if scale.is_finite() { scale.clamp(0.25, 8.0) } else { 1.0 };
    }

    /// How much larger than usual type is.
    #[must_use]
    pub fn scale(&self) -> f32 {
        self.kind.scale
    }

    /// A sheet for a page on which nothing can be clicked: it offers nothing to click.
    #[must_use]
    pub fn still(self) -> Self {
        Self { kind: Kind { still: true, ..self.kind }, ..self }
    }

    fn measure(&self, width: f32) -> Measure {
        let scale = self.kind.scale;
        Measure { width: width / scale, scale }
    }

    /// The measure of the epoch.
    fn measure_now(&self) -> Measure {
        self.measure(self.epoch.width_pts as f32)
    }

    /// Where a message stands among others that stand in its place on other branches.
    #[must_use]
    pub fn fork(&self, message: MessageId) -> Option<ForkPlace> {
        self.forks.of(message)
    }

    /// The reader's place.
    #[must_use]
    pub fn anchor(&self) -> Anchor {
        self.anchor
    }

    /// Returns to a place of an earlier time.
    pub fn set_anchor(&mut self, anchor: Anchor) {
        self.anchor = anchor;
        self.following = false;
    }

    /// True while the end is followed.
    #[must_use]
    pub fn is_following(&self) -> bool {
        self.following
    }

    /// What slugs are set for since the last frame.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Slugs set since the sheet was made.
    #[must_use]
    pub fn laid_out(&self) -> u64 {
        self.laid_out
    }

    /// Bytes of set slugs.
    #[must_use]
    pub fn cache_bytes(&self) -> usize {
        self.cache.bytes()
    }

    /// Puts another state of a set slug in its place, if it is still there.
    pub fn replace(&mut self, id: SlugId, old: &Arc<Slug>, new: Arc<Slug>) {
        self.cache.replace(id, old, new);
    }

    /// Forgets set slugs that are not wanted. They are set again when they are shown.
    pub fn retain(&mut self, is_wanted: impl Fn(&Slug) -> bool) {
        self.cache.retain(is_wanted);
    }

    /// Forgets every set slug.
    pub fn purge(&mut self) {
        self.cache.clear();
        self.composed.clear();
    }

    /// The heights of now, to measure a drag with.
    #[must_use]
    pub fn ruler(&self) -> Ruler {
        Ruler { heights: self.heights.clone(), measure: self.measure_now() }
    }

    /// Top and bottom of a row in points from the first row's top, partly estimated.
    pub fn row_span(&mut self, row: usize, source: &dyn Source) -> (f64, f64) {
        let measure = self.measure_now();
        let estimate = |i: usize| estimate_row(&source.row(i), measure);
        let top = self.heights.top(row, estimate);
        (top, top + self.heights.get(row, estimate))
    }

    /// Brings an overview of all rows up to date, in steps of bounded work. False while
    /// there is more to do.
    pub fn overlook(&self, strip: &mut Strip, source: &dyn Source, track: Track) -> bool {
        strip.update(&self.heights, source, self.measure_now(), track)
    }

    /// Lays out one frame.
    pub fn frame(&mut self, source: &mut dyn Source, page: &mut Page<'_, '_>) -> Visible {
        self.frame += 1;
        (self.recoloured, self.more) = (false, false);
        self.cache.begin_frame();
        self.source_version = source.poll();
        self.forks.set(source.forks());
        let scale = self.begin_epoch(source, page);
        if source.is_empty() {
            return Visible { at_end: true, frame: self.frame, ..Visible::default() };
        }
        // A fraction of the place before says nothing of the one that was awaited.
        let scale = if self.arrive(source) { None } else { scale };
        let mut walk = Walk { sheet: self, source, page };
        let at = walk.start(scale);
        let visible = walk.show(at);
        self.forget_composed();
        visible
    }

    /// Goes to the awaited place if its message has come.
    fn arrive(&mut self, source: &dyn Source) -> bool {
        let has_come = |anchor: &mut Anchor| source.index_of(anchor.message).is_some();
        let arrived = self.awaited.take_if(has_come);
        self.anchor = arrived.unwrap_or(self.anchor);
        arrived.is_some()
    }

    /// The text between two places, as it reads on the page, over rows that are loaded.
    /// A place is a slug, a line among its reading lines, and characters before it.
    pub fn text_between(
        &mut self,
        source: &mut dyn Source,
        page: &mut Page<'_, '_>,
        rows: std::ops::Range<usize>,
        from: (SlugKey, usize, usize),
        to: (SlugKey, usize, usize),
    ) -> String {
        let mut text = String::new();
        let mut walk = Walk { sheet: self, source, page };
        for row in rows.clone() {
            for slug in 0..walk.slug_count(row) {
                let at = Cursor { row, slug };
                let Some(key) = walk.key(at) else { continue };
                let Some(set) = walk.slug(at) else { continue };
                for (i, line) in set.lines.iter().filter(|line| line.reading).enumerate() {
                    let here = (key, i);
                    let before = row == rows.start && here < (from.0, from.1);
                    let after = row + 1 == rows.end && here > (to.0, to.1);
                    if before || after {
                        continue;
                    }
                    let start =
                        if row == rows.start && here == (from.0, from.1) { from.2 } else { 0 };
                    let is_last = row + 1 == rows.end && here == (to.0, to.1);
                    let end = if is_last { to.2 } else { usize::MAX };
                    let words = line.rows.text().chars().take(end).skip(start);
                    text.extend(words);
                    if !is_last {
                        text.push('\n');
                    }
                }
            }
        }
        text
    }

    /// Starts a new epoch when width, scale, theme or atlas changed. Gives the fraction of
    /// the anchor's slug that was scrolled past, so that the place can be kept.
    fn begin_epoch(&mut self, source: &dyn Source, page: &mut Page<'_, '_>) -> Option<f64> {
        let epoch = Epoch {
            width_pts: page.width.round() as u32,
            pixels_per_point: page.pixels_per_point,
            scale: self.kind.scale,
            palette: page.palette.id,
            atlas: self.canary.resets(page.fonts),
        };
        let changed = epoch != self.epoch;
        let is_same_width =
            epoch.width_pts == self.epoch.width_pts && epoch.scale == self.epoch.scale;
        let fraction = changed.then(|| self.anchor_fraction()).flatten();
        if changed {
            self.cache.clear();
            let ratio = estimate_ratio(self.measure(page.width));
            #[expect(clippy::iter_over_hash_type, reason = "each is changed by itself")]
            for composed in self.composed.values_mut() {
                composed.heights = estimated(&composed.specs, ratio);
            }
        }
        self.epoch = epoch;
        self.take_in_rows(source, self.measure(page.width), is_same_width);
        fraction
    }

    /// Rows behind the others leave what is known of these as it is.
    fn take_in_rows(&mut self, source: &dyn Source, measure: Measure, is_same_width: bool) {
        let (known, rows) = (self.heights.len(), source.len());
        let id = |row: usize| if row < rows { source.row(row).id } else { MessageId::default() };
        let goes_on =
            is_same_width && known <= rows && known > 0 && self.ends == (id(0), id(known - 1));
        if goes_on && known == rows {
            return;
        }
        if goes_on {
            let estimate = |row: usize| estimate_row(&source.row(row), measure);
            let of_chunk = |chunk| estimate_chunk(source, chunk, measure);
            self.heights.extend(rows, estimate, of_chunk);
        } else {
            let moved = self.heights.moved() + self.heights.total();
            self.heights =
                Heights::new(rows, |chunk| estimate_chunk(source, chunk, measure)).after(moved);
            self.note_measured(source, measure);
        }
        self.ends = (id(0), id(rows.saturating_sub(1)));
    }

    /// What was measured outlives new rows: only what nobody looked at is an estimate.
    fn note_measured(&mut self, source: &dyn Source, measure: Measure) {
        #[expect(clippy::iter_over_hash_type, reason = "each is noted by itself")]
        for (id, composed) in &self.composed {
            if let Some(row) = source.index_of(*id) {
                let total = composed.heights.total();
                self.heights.set(row, total, |i| estimate_row(&source.row(i), measure));
            }
        }
    }

    fn anchor_fraction(&self) -> Option<f64> {
        let composed = self.composed.get(&self.anchor.message)?;
        let index = composed.index_of(self.anchor.key)?;
        let height = composed.heights.get(index);
        (self.anchor.offset > 0.0 && height > 0.0).then(|| (self.anchor.offset / height).min(1.0))
    }

    fn forget_composed(&mut self) {
        if self.composed.len() <= COMPOSED_MAX {
            return;
        }
        let mut used: Vec<u64> = self.composed.values().map(|composed| composed.used).collect();
        used.sort_unstable();
        let oldest = used[used.len() - COMPOSED_MAX / 2];
        let frame = self.frame;
        self.composed.retain(|_, composed| composed.used >= oldest || composed.used == frame);
    }
}

impl Composed {
    fn index_of(&self, key: SlugKey) -> Option<usize> {
        let index = self.specs.partition_point(|spec| spec.key < key);
        (!self.specs.is_empty()).then(|| index.min(self.specs.len() - 1))
    }
}

fn estimated(specs: &[Spec], ratio: f64) -> Fenwick {
    Fenwick::new(specs.iter().map(|spec| f64::from(spec.estimate) * ratio).collect())
}

/// How much taller text gets on a column that is narrower than estimates assume.
fn estimate_ratio(Measure { width, scale }: Measure) -> f64 {
    f64::from(ESTIMATE_WIDTH / width.clamp(120.0, ESTIMATE_WIDTH)).sqrt() * f64::from(scale)
}

fn estimate_chunk(source: &dyn Source, chunk: usize, measure: Measure) -> f64 {
    let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(source.len());
    let (shown, lines) = source.estimate(range);
    height_of(shown, lines, measure)
}

/// The height that a row will have on a column.
pub(super) fn estimate_row(row: &RowInfo, measure: Measure) -> f64 {
    if matches!(row.group, GroupPlace::Follows { .. }) {
        return 0.0;
    }
    height_of(1, u64::from(row.lines), measure)
}

/// The height of so many rows that have so many lines.
pub(super) fn height_of(rows: u64, lines: u64, measure: Measure) -> f64 {
    (rows as f64 * 24.0 + lines as f64 * 23.0) * estimate_ratio(measure)
}

fn add(a: ToolTally, b: ToolTally) -> ToolTally {
    ToolTally {
        reads: a.reads.saturating_add(b.reads),
        lists: a.lists.saturating_add(b.lists),
        searches: a.searches.saturating_add(b.searches),
    }
}
