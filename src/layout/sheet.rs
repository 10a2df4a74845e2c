//! The sheet: which slugs stand where, for any history and any scroll.
//!
//! The reader's place is an anchor, a slug and the points inside it, and everything else
//! is derived from it in each frame. So whatever changes above or below, what is being
//! read stays where it is. Work in a frame is bounded by what is visible.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use egui::epaint::FontsView;

use crate::{
    layout::{
        Palette,
        cache::{SlugCache, SlugId},
        compose::{self, Group, GroupSummary, Surroundings},
        epoch::{Canary, Epoch},
        folds::Folds,
        heights::{CHUNK, Fenwick, Heights},
        highlight::Highlighter,
        press::Press,
        registry::Registry,
        slug::Slug,
        spec::{ESTIMATE_WIDTH, Fold, FoldKind, SlugKey, Spec},
    },
    model::{GroupPlace, Message, MessageId, RowInfo, RowKind, Source, ToolTally},
};

/// Default size of the cache of set slugs.
pub const CACHE_BYTES: usize = 32 * 1024 * 1024;
/// Room under the last slug, in points.
const FOOT: f64 = 32.0;
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
}

struct Composed {
    message: Arc<Message>,
    around: Surroundings,
    checked: (u64, u64, u64),
    specs: Vec<Spec>,
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
    pending_scroll: f64,
    heights: Heights,
    first_row: MessageId,
    composed: HashMap<MessageId, Composed>,
    cache: SlugCache,
    canary: Canary,
    epoch: Epoch,
    source_version: u64,
    frame: u64,
    laid_out: u64,
}

/// A place while walking over slugs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cursor {
    row: usize,
    slug: usize,
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
            pending_scroll: 0.0,
            heights: Heights::default(),
            first_row: MessageId::default(),
            composed: HashMap::new(),
            cache: SlugCache::new(cache_bytes),
            canary: Canary::default(),
            epoch: Epoch::default(),
            source_version: 0,
            frame: 0,
            laid_out: 0,
        }
    }

    /// Scrolls by points in the next frame; downward is positive. Any upward intent
    /// releases the end.
    pub fn scroll_by(&mut self, points: f64) {
        self.pending_scroll += points;
        if points < 0.0 {
            self.following = false;
        }
    }

    /// Goes somewhere in the next frame.
    pub fn jump(&mut self, jump: Jump) {
        self.jump = Some(jump);
        self.pending_scroll = 0.0;
        self.following = jump == Jump::End;
    }

    /// Keeps a slug where it is on screen while folds around it change.
    pub fn hold(&mut self, id: SlugId, y: f32) {
        self.anchor = Anchor { message: id.message, key: id.key, offset: -f64::from(y) };
        self.following = false;
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

    /// Forgets every set slug.
    pub fn purge(&mut self) {
        self.cache.clear();
        self.composed.clear();
    }

    /// Lays out one frame.
    pub fn frame(&mut self, source: &mut dyn Source, page: &mut Page<'_, '_>) -> Visible {
        self.frame += 1;
        self.cache.begin_frame();
        self.source_version = source.poll();
        let scale = self.begin_epoch(source, page);
        if source.is_empty() {
            return Visible { at_end: true, ..Visible::default() };
        }
        let mut walk = Walk { sheet: self, source, page };
        let mut at = walk.start(scale);
        walk.scroll(&mut at);
        let visible = walk.collect(at);
        self.forget_composed();
        visible
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
                    let start = if row == rows.start && here == (from.0, from.1) { from.2 } else { 0 };
                    let is_last = row + 1 == rows.end && here == (to.0, to.1);
                    let end = if is_last { to.2 } else { usize::MAX };
                    let words = line.galley.job.text.chars().take(end).skip(start);
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
            palette: page.palette.id,
            atlas: self.canary.resets(page.fonts),
        };
        let changed = epoch != self.epoch;
        let rows_changed = self.heights.len() != source.len()
            || (!source.is_empty() && source.row(0).id != self.first_row);
        let fraction = changed.then(|| self.anchor_fraction()).flatten();
        if changed {
            self.cache.clear();
            let ratio = estimate_ratio(page.width);
            for composed in self.composed.values_mut() {
                composed.heights = estimated(&composed.specs, ratio);
            }
        }
        if rows_changed || epoch.width_pts != self.epoch.width_pts {
            self.heights = estimate_heights(source, page.width);
            self.first_row = if source.is_empty() { MessageId::default() } else { source.row(0).id };
        }
        self.epoch = epoch;
        fraction
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

/// One frame's walk over rows and slugs.
struct Walk<'w, 'a, 'f> {
    sheet: &'w mut Sheet,
    source: &'w mut dyn Source,
    page: &'w mut Page<'a, 'f>,
}

impl Walk<'_, '_, '_> {
    /// The anchor as a cursor and an offset, after a jump if one was asked for.
    fn start(&mut self, fraction: Option<f64>) -> (Cursor, f64) {
        if let Some(jump) = self.sheet.jump.take()
            && let Some(at) = self.jump(jump)
        {
            return at;
        }
        if self.sheet.following {
            return self.end();
        }
        let anchor = self.sheet.anchor;
        let last = self.source.len() - 1;
        let row = self.source.index_of(anchor.message).unwrap_or(self.sheet.anchor_row.min(last));
        self.compose(row);
        let slug = self.composed(row).and_then(|composed| composed.index_of(anchor.key)).unwrap_or(0);
        let at = Cursor { row, slug };
        let offset = match fraction {
            Some(fraction) => self.height(at) * fraction,
            None => anchor.offset,
        };
        (at, offset)
    }

    fn jump(&mut self, jump: Jump) -> Option<(Cursor, f64)> {
        match jump {
            Jump::Start => Some((Cursor { row: 0, slug: 0 }, 0.0)),
            Jump::End => None,
            Jump::Row(row) => {
                Some((Cursor { row: row.min(self.source.len() - 1), slug: 0 }, 0.0))
            }
            Jump::Fraction(fraction) => {
                let room = (self.sheet.heights.total() + FOOT - f64::from(self.page.height)).max(0.0);
                Some(self.at_height(fraction.clamp(0.0, 1.0) * room))
            }
        }
    }

    /// The slug at a distance from the first row's top.
    fn at_height(&mut self, y: f64) -> (Cursor, f64) {
        let (source, width) = (&*self.source, self.page.width);
        let (row, within) = self.sheet.heights.find(y, |i| estimate_row(&source.row(i), width));
        self.compose(row);
        match self.composed(row) {
            Some(composed) if !composed.specs.is_empty() => {
                let (slug, rest) = composed.heights.find(within);
                (Cursor { row, slug }, rest)
            }
            _ => (Cursor { row, slug: 0 }, within),
        }
    }

    /// The place that shows the end.
    fn end(&mut self) -> (Cursor, f64) {
        let row = self.source.len() - 1;
        let slug = self.slug_count(row).saturating_sub(1);
        let at = Cursor { row, slug };
        let offset = self.height(at) + FOOT - f64::from(self.page.height);
        (at, offset)
    }

    /// Applies the scroll that is due and keeps the place within the sheet.
    fn scroll(&mut self, at: &mut (Cursor, f64)) {
        let delta = std::mem::take(&mut self.sheet.pending_scroll);
        if delta.abs() > 8.0 * f64::from(self.page.height) {
            let top = self.top_of(at.0) + at.1 + delta;
            *at = self.at_height(top.max(0.0));
        } else {
            at.1 += delta;
        }
        self.normalise(at);
        let below = self.below(*at);
        let room = f64::from(self.page.height);
        if below < room + END_SLACK && (delta > 0.0 || self.sheet.following) {
            self.sheet.following = true;
        }
        if below < room {
            at.1 -= room - below;
            self.normalise(at);
        }
    }

    /// Moves the cursor so that the offset lies within its slug.
    fn normalise(&mut self, at: &mut (Cursor, f64)) {
        while at.1 < 0.0 {
            let Some(previous) = self.previous(at.0) else {
                at.1 = 0.0;
                return;
            };
            at.0 = previous;
            at.1 += self.height(previous);
        }
        loop {
            let height = self.height(at.0);
            if at.1 < height {
                return;
            }
            let Some(next) = self.next(at.0) else {
                at.1 = at.1.min(height + FOOT);
                return;
            };
            at.0 = next;
            at.1 -= height;
        }
    }

    /// Points from a place to the end, counted only until they fill the viewport twice.
    fn below(&mut self, (mut at, offset): (Cursor, f64)) -> f64 {
        let enough = 2.0 * f64::from(self.page.height);
        let mut sum = self.height(at) - offset;
        while sum < enough {
            let Some(next) = self.next(at) else { return sum + FOOT };
            at = next;
            sum += self.height(at);
        }
        sum
    }

    fn collect(&mut self, (first, offset): (Cursor, f64)) -> Visible {
        let mut placed = Vec::new();
        let mut y = -offset;
        let mut at = Some(first);
        let mut last = first;
        let mut at_end = false;
        while let Some(cursor) = at {
            if y >= f64::from(self.page.height) {
                break;
            }
            let height = self.height(cursor);
            placed.push(self.place(cursor, y, height));
            y += height;
            last = cursor;
            at = self.next(cursor);
            at_end = at.is_none();
        }
        at_end &= y <= f64::from(self.page.height) + END_SLACK;
        self.anchor(&placed, first, offset);
        self.ask(first.row, last.row);
        Visible {
            top: self.top_of(first) + offset,
            total: self.sheet.heights.total() + FOOT,
            placed,
            at_end,
        }
    }

    fn place(&mut self, at: Cursor, y: f64, height: f64) -> Placed {
        let message = self.source.row(at.row).id;
        let slug = self.slug(at);
        let spec = self.composed(at.row).and_then(|composed| composed.specs.get(at.slug));
        let (key, look) = spec.map_or((SlugKey::default(), 0), |spec| (spec.key, spec.look));
        Placed {
            row: at.row,
            id: SlugId { message, key, look },
            y: y as f32,
            slug,
            height: height as f32,
        }
    }

    /// Notes the place, at the first slug that is really there: what stands above a page
    /// that has not arrived may still grow, and must do so upward.
    fn anchor(&mut self, placed: &[Placed], first: Cursor, offset: f64) {
        let real = placed.iter().find(|placed| placed.slug.is_some());
        let (anchor, row) = match (real, placed.first()) {
            (Some(real), _) => {
                let offset = if real.row == first.row && Some(real.id) == placed.first().map(|p| p.id) {
                    offset
                } else {
                    -f64::from(real.y)
                };
                (Anchor { message: real.id.message, key: real.id.key, offset }, real.row)
            }
            (None, Some(top)) => {
                (Anchor { message: top.id.message, key: top.id.key, offset }, top.row)
            }
            (None, None) => return,
        };
        self.sheet.anchor = anchor;
        self.sheet.anchor_row = row;
    }

    fn ask(&mut self, first: usize, last: usize) {
        let from = first.saturating_sub(AHEAD_ROWS);
        let to = (last + 1 + AHEAD_ROWS).min(self.source.len());
        self.source.want(from..to);
    }

    fn top_of(&mut self, at: Cursor) -> f64 {
        let (source, width) = (&*self.source, self.page.width);
        let row = self.sheet.heights.top(at.row, |i| estimate_row(&source.row(i), width));
        let within = self.composed(at.row).map_or(0.0, |composed| composed.heights.prefix(at.slug));
        row + within
    }

    fn next(&mut self, at: Cursor) -> Option<Cursor> {
        if at.slug + 1 < self.slug_count(at.row) {
            return Some(Cursor { slug: at.slug + 1, ..at });
        }
        let row = (at.row + 1..self.source.len()).find(|row| self.slug_count(*row) > 0)?;
        Some(Cursor { row, slug: 0 })
    }

    fn previous(&mut self, at: Cursor) -> Option<Cursor> {
        if at.slug > 0 {
            return Some(Cursor { slug: at.slug - 1, ..at });
        }
        let row = (0..at.row).rev().find(|row| self.slug_count(*row) > 0)?;
        let slug = self.slug_count(row) - 1;
        Some(Cursor { row, slug })
    }

    /// Slugs of a row: one for a message that has not arrived, none for a message that is
    /// folded into a group.
    fn slug_count(&mut self, row: usize) -> usize {
        if self.is_folded_away(row) {
            return 0;
        }
        self.compose(row);
        self.composed(row).map_or(1, |composed| composed.specs.len())
    }

    fn is_folded_away(&self, row: usize) -> bool {
        match self.source.row(row).group {
            GroupPlace::Follows { back } => {
                let fold = self.group_fold(row - usize::from(back).min(row));
                !self.page.folds.is_open(fold, false)
            }
            GroupPlace::Alone | GroupPlace::Leads => false,
        }
    }

    fn group_fold(&self, leader: usize) -> Fold {
        // The part is unknown until the message arrives; a group is one to a message.
        Fold { message: self.source.row(leader).id, part: 0, kind: FoldKind::Group }
    }

    fn key(&self, at: Cursor) -> Option<SlugKey> {
        self.composed(at.row)?.specs.get(at.slug).map(|spec| spec.key)
    }

    fn composed(&self, row: usize) -> Option<&Composed> {
        self.sheet.composed.get(&self.source.row(row).id)
    }

    /// Composes the message of a row if it is there and anything about it changed.
    fn compose(&mut self, row: usize) {
        let id = self.source.row(row).id;
        let now = (self.sheet.source_version, self.page.folds.version(), self.page.registry.version());
        let frame = self.sheet.frame;
        if let Some(composed) = self.sheet.composed.get_mut(&id) {
            composed.used = frame;
            if composed.checked == now {
                return;
            }
        }
        let Some(message) = self.source.message(row).or_else(|| self.kept(id)) else { return };
        let around = self.surroundings(row);
        if let Some(composed) = self.sheet.composed.get_mut(&id)
            && Arc::ptr_eq(&composed.message, &message)
            && composed.around == around
            && (composed.checked.1, composed.checked.2) == (now.1, now.2)
        {
            composed.checked = now;
            return;
        }
        self.recompose(row, message, around, now);
    }

    fn kept(&self, id: MessageId) -> Option<Arc<Message>> {
        self.sheet.composed.get(&id).map(|composed| Arc::clone(&composed.message))
    }

    fn recompose(
        &mut self,
        row: usize,
        message: Arc<Message>,
        around: Surroundings,
        checked: (u64, u64, u64),
    ) {
        let folds = self.page.folds;
        let is_open = |fold: Fold, usual: bool| folds.is_open(fold, usual);
        let (registry, id) = (self.page.registry, message.id);
        let specs = catch_unwind(AssertUnwindSafe(|| {
            compose::compose(&message, &around, registry, &is_open)
        }))
        .unwrap_or_else(|_panic| compose::unshowable(id));
        let mut heights = estimated(&specs, estimate_ratio(self.page.width));
        for (i, spec) in specs.iter().enumerate() {
            let known = SlugId { message: id, key: spec.key, look: spec.look };
            if let Some(slug) = self.sheet.cache.get(known) {
                heights.set(i, f64::from(slug.height));
            }
        }
        let total = heights.total();
        let used = self.sheet.frame;
        self.sheet.composed.insert(id, Composed { message, around, checked, specs, heights, used });
        self.set_row_height(row, total);
    }

    fn surroundings(&self, row: usize) -> Surroundings {
        let kind = |row: usize| self.source.row(row).kind;
        let next = row + 1;
        let above = (0..row).rev().take(256).find(|row| !self.is_folded_away(*row)).map(kind);
        Surroundings {
            above,
            turn_ends: next >= self.source.len() || kind(next) != RowKind::Assistant,
            group: self.group(row),
        }
    }

    fn group(&self, row: usize) -> Group {
        let follows = |row: usize| {
            row < self.source.len()
                && matches!(self.source.row(row).group, GroupPlace::Follows { .. })
        };
        match self.source.row(row).group {
            GroupPlace::Alone => Group::Alone,
            GroupPlace::Follows { back } => Group::Follows {
                fold: self.group_fold(row - usize::from(back).min(row)),
                last: !self.continues(row),
            },
            GroupPlace::Leads if !follows(row + 1) => Group::Alone,
            GroupPlace::Leads => Group::Leads(self.summary(row)),
        }
    }

    fn continues(&self, row: usize) -> bool {
        let back = |row: usize| match self.source.row(row).group {
            GroupPlace::Follows { back } => Some(back),
            GroupPlace::Alone | GroupPlace::Leads => None,
        };
        row + 1 < self.source.len() && back(row + 1) > back(row)
    }

    fn summary(&self, leader: usize) -> GroupSummary {
        let mut summary = GroupSummary { goes_on: true, ..GroupSummary::default() };
        let mut row = leader;
        loop {
            let info = self.source.row(row);
            summary.tally = add(summary.tally, info.tally);
            summary.failed |= info.failed;
            if !self.continues(row) && row > leader || row + 1 >= self.source.len() {
                break;
            }
            row += 1;
        }
        let (first, last) = (self.source.row(leader).time_secs, self.source.row(row).time_secs);
        summary.seconds = (first > 0 && last > first).then(|| last - first);
        summary
    }

    /// The height of a slug: set if it can be, because a place that is walked over must
    /// not change afterwards.
    fn height(&mut self, at: Cursor) -> f64 {
        if let Some(slug) = self.slug(at) {
            return f64::from(slug.height);
        }
        if self.slug_count(at.row) == 0 {
            return 0.0;
        }
        let (source, width) = (&*self.source, self.page.width);
        self.sheet.heights.get(at.row, |i| estimate_row(&source.row(i), width))
    }

    /// The set slug at a cursor, from the cache or from the press.
    fn slug(&mut self, at: Cursor) -> Option<Arc<Slug>> {
        self.compose(at.row);
        let message = self.source.row(at.row).id;
        let composed = self.sheet.composed.get(&message)?;
        let spec = composed.specs.get(at.slug)?;
        let id = SlugId { message, key: spec.key, look: spec.look };
        if let Some(slug) = self.sheet.cache.get(id)
            && slug.awaits.is_none_or(|key| !self.is_coloured(key))
        {
            return Some(slug);
        }
        let spec = spec.clone();
        let slug = Arc::new(self.press(message, &spec));
        if !spec.open {
            self.sheet.cache.insert(id, Arc::clone(&slug));
        }
        self.measured(at, message, f64::from(slug.height));
        Some(slug)
    }

    /// True when setting a slug again would change its colours, or ask for them again.
    fn is_coloured(&self, key: u64) -> bool {
        self.page.highlights.get(key).is_some() || self.page.highlights.is_lost(key)
    }

    fn press(&mut self, message: MessageId, spec: &Spec) -> Slug {
        self.sheet.laid_out += 1;
        let folds = self.page.folds;
        let mut press = Press {
            fonts: self.page.fonts,
            palette: self.page.palette,
            width: self.page.width,
            pixels_per_point: self.page.pixels_per_point,
            highlights: self.page.highlights,
            message,
            is_open: &|fold, usual| folds.is_open(fold, usual),
        };
        // A message that cannot be shown costs that message, not the program.
        catch_unwind(AssertUnwindSafe(|| press.set(spec)))
            .unwrap_or_else(|_panic| Slug { height: 24.0, ..Slug::default() })
    }

    fn measured(&mut self, at: Cursor, message: MessageId, height: f64) {
        let Some(composed) = self.sheet.composed.get_mut(&message) else { return };
        if composed.heights.get(at.slug) == height {
            return;
        }
        composed.heights.set(at.slug, height);
        let total = composed.heights.total();
        self.set_row_height(at.row, total);
    }

    fn set_row_height(&mut self, row: usize, height: f64) {
        let (source, width) = (&*self.source, self.page.width);
        self.sheet.heights.set(row, height, |i| estimate_row(&source.row(i), width));
    }
}

fn estimated(specs: &[Spec], ratio: f64) -> Fenwick {
    Fenwick::new(specs.iter().map(|spec| f64::from(spec.estimate) * ratio).collect())
}

/// How much taller text gets on a column that is narrower than estimates assume.
fn estimate_ratio(width: f32) -> f64 {
    f64::from(ESTIMATE_WIDTH / width.clamp(120.0, ESTIMATE_WIDTH)).sqrt()
}

fn estimate_heights(source: &dyn Source, width: f32) -> Heights {
    let rows = source.len();
    Heights::new(rows, |chunk| {
        let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(rows);
        let (shown, lines) = source.estimate(range);
        height_of(shown, lines, width)
    })
}

fn estimate_row(row: &RowInfo, width: f32) -> f64 {
    if matches!(row.group, GroupPlace::Follows { .. }) {
        return 0.0;
    }
    height_of(1, u64::from(row.lines), width)
}

fn height_of(rows: u64, lines: u64, width: f32) -> f64 {
    (rows as f64 * 24.0 + lines as f64 * 23.0) * estimate_ratio(width)
}

fn add(a: ToolTally, b: ToolTally) -> ToolTally {
    ToolTally {
        reads: a.reads.saturating_add(b.reads),
        lists: a.lists.saturating_add(b.lists),
        searches: a.searches.saturating_add(b.searches),
    }
}
