//! A walk over rows and slugs: how one frame finds what it shows.
//!
//! Messages are composed when the walk comes to them and slugs are set when their height
//! matters, so the work of a frame is bounded by what it shows.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use super::{
    AHEAD_ROWS, Anchor, Composed, END_SLACK, FOOT, Jump, Page, Placed, Sheet, Toward, Visible, add,
    estimate_ratio, estimate_row,
};
use crate::{
    layout::{
        cache::SlugId,
        compose::{self, Composition, Group, GroupSummary, Surroundings},
        heights::Fenwick,
        press::Press,
        slug::Slug,
        spec::{Fold, FoldKind, SlugKey, Spec},
    },
    model::{GroupPlace, Message, MessageId, RowKind, Source},
};

/// What fills the viewport.
#[derive(Default)]
struct Filled {
    placed: Vec<Placed>,
    /// Bottom of the last slug, in points from the viewport's top.
    bottom: f64,
    /// There is nothing further.
    ended: bool,
    last_row: usize,
}

/// A place while walking over slugs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cursor {
    pub(super) row: usize,
    pub(super) slug: usize,
}

/// One frame's walk over rows and slugs.
pub(super) struct Walk<'w, 'a, 'f> {
    pub(super) sheet: &'w mut Sheet,
    pub(super) source: &'w mut dyn Source,
    pub(super) page: &'w mut Page<'a, 'f>,
}

impl Walk<'_, '_, '_> {
    /// The anchor as a cursor and an offset, after a jump if one was asked for.
    pub(super) fn start(&mut self, fraction: Option<f64>) -> (Cursor, f64) {
        if let Some(jump) = self.sheet.jump.take()
            && let Some(at) = self.jump(jump)
        {
            return at;
        }
        if self.sheet.following {
            return self.end();
        }
        let (at, offset) = self.anchored();
        let offset = match fraction {
            Some(fraction) => self.height(at) * fraction,
            None => offset,
        };
        (at, offset)
    }

    /// The reader's place.
    fn anchored(&mut self) -> (Cursor, f64) {
        let anchor = self.sheet.anchor;
        let last = self.source.len() - 1;
        let row =
            self.source.index_of(anchor.message).unwrap_or_else(|| self.sheet.anchor_row.min(last));
        self.compose(row);
        let slug =
            self.composed(row).and_then(|composed| composed.index_of(anchor.key)).unwrap_or(0);
        (Cursor { row, slug }, anchor.offset)
    }

    fn jump(&mut self, jump: Jump) -> Option<(Cursor, f64)> {
        match jump {
            Jump::Start => Some((Cursor { row: 0, slug: 0 }, 0.0)),
            Jump::End => None,
            Jump::Row(row) => Some((Cursor { row: row.min(self.source.len() - 1), slug: 0 }, 0.0)),
            Jump::Fraction(fraction) => {
                let room =
                    (self.sheet.heights.total() + FOOT - f64::from(self.page.height)).max(0.0);
                Some(self.at_height(fraction.clamp(0.0, 1.0) * room))
            }
            Jump::Place { place, lead, toward } => {
                let row = self.source.index_of(place.message)?;
                let (cursor, within) = self.within_row(row, place.part);
                let mut at = (cursor, within - lead);
                self.normalise(&mut at);
                Some(self.pulled(at, toward))
            }
        }
    }

    /// Where a pull leads: to a place, unless that lies the other way.
    fn pulled(&mut self, at: (Cursor, f64), toward: Toward) -> (Cursor, f64) {
        let mut now = self.anchored();
        self.normalise(&mut now);
        let order = |(cursor, offset): (Cursor, f64)| (cursor.row, cursor.slug, offset);
        let is_back = match toward {
            Toward::Any => false,
            Toward::Start => order(at) > order(now),
            Toward::End => order(at) < order(now),
        };
        if is_back { now } else { at }
    }

    /// The slug at a distance from the first row's top.
    fn at_height(&mut self, y: f64) -> (Cursor, f64) {
        let (source, measure) = (&*self.source, self.sheet.measure(self.page.width));
        let (row, within) = self.sheet.heights.find(y, |i| estimate_row(&source.row(i), measure));
        self.slug_within(row, within)
    }

    /// The slug at a part of a row's height.
    fn within_row(&mut self, row: usize, part: f64) -> (Cursor, f64) {
        self.compose(row);
        let (source, measure) = (&*self.source, self.sheet.measure(self.page.width));
        let height = self.sheet.heights.get(row, |i| estimate_row(&source.row(i), measure));
        self.slug_within(row, part * height)
    }

    fn slug_within(&mut self, row: usize, within: f64) -> (Cursor, f64) {
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

    /// Applies the scroll that is due and shows what stands there, within the sheet.
    pub(super) fn show(&mut self, mut at: (Cursor, f64)) -> Visible {
        let delta = self.scroll(&mut at);
        let room = f64::from(self.page.height);
        let mut filled = self.fill(at);
        let empty = if filled.ended { room - filled.bottom - FOOT } else { 0.0 };
        if empty > self.sheet.spare {
            // The end stands higher than it may, so all of it moves down.
            at.1 -= empty - self.sheet.spare;
            self.normalise(&mut at);
            filled = self.fill(at);
        }
        if self.sheet.awaited.is_none() {
            // What was filled stays filled.
            self.sheet.spare = self.sheet.spare.min(empty.max(0.0));
        }
        let is_near = filled.ended && filled.bottom + FOOT < room + END_SLACK;
        if is_near && delta > 0.0 && self.sheet.spare <= 0.0 {
            self.sheet.following = true;
        }
        let Filled { placed, bottom, ended, last_row } = filled;
        self.anchor(&placed, at.0, at.1);
        self.ask(at.0.row, last_row);
        Visible {
            more: self.sheet.more,
            frame: self.sheet.frame,
            top: self.top_of(at.0) + at.1,
            total: self.sheet.heights.total() + FOOT,
            placed,
            at_end: ended && bottom <= room + END_SLACK,
        }
    }

    /// Applies the scroll that is due; gives how far it went.
    fn scroll(&mut self, at: &mut (Cursor, f64)) -> f64 {
        let delta = std::mem::take(&mut self.sheet.pending_scroll);
        if delta.abs() > 8.0 * f64::from(self.page.height) {
            let top = self.top_of(at.0) + at.1 + delta;
            *at = self.at_height(top.max(0.0));
        } else {
            at.1 += delta;
        }
        self.normalise(at);
        delta
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

    /// Places slugs from a cursor on until they fill the viewport or end.
    fn fill(&mut self, (first, offset): (Cursor, f64)) -> Filled {
        let room = f64::from(self.page.height);
        let mut filled = Filled { bottom: -offset, last_row: first.row, ..Filled::default() };
        let mut at = first;
        while filled.bottom < room {
            let count = self.slug_count(at.row);
            if count > 0 {
                filled.last_row = at.row;
            }
            while at.slug < count && filled.bottom < room {
                let placed = self.place(at, filled.bottom);
                filled.bottom += f64::from(placed.height);
                filled.placed.push(placed);
                at.slug += 1;
            }
            if at.slug >= count {
                at = Cursor { row: at.row + 1, slug: 0 };
                if at.row >= self.source.len() {
                    filled.ended = true;
                    break;
                }
            }
        }
        filled
    }

    fn place(&mut self, at: Cursor, y: f64) -> Placed {
        let message = self.source.row(at.row).id;
        let slug = self.slug(at);
        let spec = self.sheet.composed.get(&message).and_then(|c| c.specs.get(at.slug));
        let (key, look) = spec.map(|spec| (spec.key, spec.look)).unwrap_or_default();
        let height = match &slug {
            Some(slug) => slug.height,
            None => self.height(at) as f32,
        };
        let id = SlugId { message, key, look };
        Placed { row: at.row, id, y: y as f32, slug, height }
    }

    /// Notes the place, at the first slug that is really there: what stands above a page
    /// that has not arrived may still grow, and must do so upward.
    fn anchor(&mut self, placed: &[Placed], first: Cursor, offset: f64) {
        let real = placed.iter().find(|placed| placed.slug.is_some());
        let (anchor, row) = match (real, placed.first()) {
            (Some(real), _) => {
                let offset =
                    if real.row == first.row && Some(real.id) == placed.first().map(|p| p.id) {
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
        let wish = (self.sheet.source_version, from..to);
        if self.sheet.wish != wish {
            self.source.want(from..to);
            self.sheet.wish = wish;
        }
    }

    fn top_of(&mut self, at: Cursor) -> f64 {
        let (source, measure) = (&*self.source, self.sheet.measure(self.page.width));
        let row = self.sheet.heights.top(at.row, |i| estimate_row(&source.row(i), measure));
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
    pub(super) fn slug_count(&mut self, row: usize) -> usize {
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

    pub(super) fn key(&self, at: Cursor) -> Option<SlugKey> {
        self.composed(at.row)?.specs.get(at.slug).map(|spec| spec.key)
    }

    fn composed(&self, row: usize) -> Option<&Composed> {
        self.sheet.composed.get(&self.source.row(row).id)
    }

    /// Composes the message of a row if it is there and anything about it changed.
    fn compose(&mut self, row: usize) {
        let id = self.source.row(row).id;
        // Both only grow, so their sum tells a change of either.
        let choices = self.page.folds.version() + self.sheet.forks.version();
        let now = (self.sheet.source_version, choices, self.page.registry.version());
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
        let (registry, id, used) = (self.page.registry, message.id, self.sheet.frame);
        let mut old = self.sheet.composed.remove(&id);
        let unchanged = old.as_ref().is_some_and(|old| {
            old.around == around && (old.checked.1, old.checked.2) == (checked.1, checked.2)
        });
        let (mut heights, mut from) = (Fenwick::default(), 0);
        let mut composition = None;
        if let Some(old) = old.as_mut().filter(|_| unchanged) {
            let specs = std::mem::take(&mut old.specs);
            let earlier = Composition { specs, resume: old.resume };
            if let Ok((more, kept)) =
                compose::compose_more(&old.message, &message, &around, &is_open, earlier)
            {
                (heights, from) = (std::mem::take(&mut old.heights), kept);
                composition = Some(more);
            }
        }
        let Composition { specs, resume } = composition.unwrap_or_else(|| {
            catch_unwind(AssertUnwindSafe(|| {
                compose::compose(&message, &around, registry, &is_open)
            }))
            .unwrap_or_else(|_panic| compose::unshowable(id))
        });
        heights.truncate(from);
        let ratio = estimate_ratio(self.sheet.measure(self.page.width));
        for spec in specs.iter().skip(from) {
            let known = SlugId { message: id, key: spec.key, look: spec.look };
            let set = self.sheet.cache.get(known).map(|slug| f64::from(slug.height));
            heights.push(set.unwrap_or_else(|| f64::from(spec.estimate) * ratio));
        }
        let total = heights.total();
        let composed = Composed { message, around, checked, specs, resume, heights, used };
        self.sheet.composed.insert(id, composed);
        self.set_row_height(row, total);
    }

    pub(super) fn surroundings(&self, row: usize) -> Surroundings {
        let kind = |row: usize| self.source.row(row).kind;
        let next = row + 1;
        let above = (0..row).rev().take(256).find(|row| !self.is_folded_away(*row)).map(kind);
        Surroundings {
            above,
            turn_ends: next >= self.source.len() || kind(next) != RowKind::Assistant,
            group: self.group(row),
            fork: self.sheet.forks.of(self.source.row(row).id),
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
        let (source, measure) = (&*self.source, self.sheet.measure(self.page.width));
        self.sheet.heights.get(at.row, |i| estimate_row(&source.row(i), measure))
    }

    /// The set slug at a cursor, from the cache or from the press.
    pub(super) fn slug(&mut self, at: Cursor) -> Option<Arc<Slug>> {
        self.compose(at.row);
        let message = self.source.row(at.row).id;
        let composed = self.sheet.composed.get(&message)?;
        let spec = composed.specs.get(at.slug)?;
        let id = SlugId { message, key: spec.key, look: spec.look };
        if let Some(slug) = self.sheet.cache.get(id) {
            let due = slug.awaits.is_some_and(|key| self.is_coloured(key));
            if !due || self.sheet.recoloured {
                self.sheet.more |= due;
                return Some(slug);
            }
            // Colours may wait for a frame: setting every block that got some at once
            // would be felt.
            self.sheet.recoloured = true;
        }
        let spec = spec.clone();
        let slug = Arc::new(self.press(message, &spec));
        self.sheet.cache.insert(id, Arc::clone(&slug));
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
            width: self.page.width / self.sheet.kind.scale,
            pixels_per_point: self.page.pixels_per_point * self.sheet.kind.scale,
            scale: self.sheet.kind.scale,
            still: self.sheet.kind.still,
            highlights: self.page.highlights,
            message,
            is_open: &|fold, usual| folds.is_open(fold, usual),
        };
        // A message that cannot be shown costs that message, not the program.
        let slug = catch_unwind(AssertUnwindSafe(|| press.set(spec)))
            .unwrap_or_else(|_panic| Slug { height: 24.0, ..Slug::default() });
        Slug { born: self.sheet.frame, ..slug }
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
        let (source, measure) = (&*self.source, self.sheet.measure(self.page.width));
        self.sheet.heights.set(row, height, |i| estimate_row(&source.row(i), measure));
    }
}
