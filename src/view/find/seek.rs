//! Going to a hit: its message is loaded, what hides it is unfolded, and it is brought on
//! screen, sideways too.

use std::sync::Arc;

use egui::{Rect, Ui};

use super::{Current, Find, HitKey, marks, stepping::Step};
use crate::{
    engine::find::Query,
    layout::{
        Anchor, Fold, Jump, Slug, SlugId,
        reading::stretches,
        spec::{SlugKey, Spec},
    },
    model::{MessageId, Source},
    view::{
        find::Strands,
        overlay::HEADER,
        transcript::{Geometry, TranscriptView},
    },
};

/// Height of the bar and what keeps hits clear of it, in points.
const UNDER_BAR: f32 = 56.0;
/// Room below a hit that counts as seen, in points.
const FOOT: f32 = 40.0;
/// Rows that are looked at in one frame for a hit that is not where it was counted.
const ROWS_MAX: usize = 4;
/// Room beside a hit in a block that is scrolled sideways, in points.
const BESIDE: f32 = 48.0;

/// A hit to go to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    id: MessageId,
    pick: Pick,
    /// The row was gone to, so that its message is loaded.
    is_called: bool,
}

/// Which hit of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    /// By its number.
    Nth(u32),
    /// The last one.
    Last,
    /// The first one in this slug or behind it.
    From(SlugKey),
    /// The last one before this slug.
    Before(SlugKey),
}

impl Target {
    pub(super) fn new(id: MessageId, pick: Pick) -> Self {
        Self { id, pick, is_called: false }
    }
}

/// A hit of a message, with everything unfolded.
struct Hit {
    nth: u32,
    key: HitKey,
    within: Vec<Fold>,
}

/// A hit in a slug that is set.
struct Located {
    slug: SlugId,
    set: Arc<Slug>,
    rect: Rect,
    scrolls: bool,
}

impl Find {
    /// Goes to the target, as far as that can be done in this frame.
    pub(super) fn seek(
        &mut self,
        view: &mut TranscriptView,
        ui: &Ui,
        source: &mut dyn Source,
        geometry: Geometry,
    ) {
        // A message without such a hit passes the step on to the next row with hits.
        for _ in 0..ROWS_MAX {
            let (Some(mut target), Some(query)) = (self.target, self.query.clone()) else { return };
            let Some(row) = source.index_of(target.id) else {
                self.target = None;
                return;
            };
            let unfolded = view.with_page(ui, geometry.rect.height(), |sheet, page| {
                sheet.unfolded(source, page, row)
            });
            let Some(specs) = unfolded else {
                if !std::mem::replace(&mut target.is_called, true) {
                    view.sheet.jump(Jump::Row(row));
                    self.moves = view.sheet.moves();
                }
                self.target = Some(target);
                return;
            };
            match pick(&specs, target.pick, &query, self.strands) {
                Some(hit) => {
                    self.target = None;
                    self.show(view, ui, source, geometry, (row, target.id, hit));
                    return;
                }
                None => {
                    let is_backward = matches!(target.pick, Pick::Before(_) | Pick::Last);
                    self.step =
                        Some(if is_backward { Step::Before(row) } else { Step::Behind(row) });
                    self.target = None;
                    self.resolve_step(view, source);
                }
            }
        }
        self.target = None;
    }

    fn show(
        &mut self,
        view: &mut TranscriptView,
        ui: &Ui,
        source: &mut dyn Source,
        geometry: Geometry,
        (row, id, hit): (usize, MessageId, Hit),
    ) {
        let mut has_moved = false;
        let mut located = self.locate(view, ui, source, geometry, (row, hit.key));
        for fold in hit.within {
            if located.is_some() {
                break;
            }
            self.unfold(view, fold);
            has_moved = true;
            located = self.locate(view, ui, source, geometry, (row, hit.key));
        }
        self.current = Some(Current { id, row, nth: hit.nth, key: hit.key });
        match located {
            Some(located) => bring_on_screen(view, geometry, &located, has_moved),
            None => view.sheet.jump(Jump::Row(row)),
        }
        self.moves = view.sheet.moves();
    }

    /// Opens a fold, and remembers how it stood while this is only a look.
    fn unfold(&mut self, view: &mut TranscriptView, fold: Fold) {
        if let Some(origin) = &mut self.origin {
            origin.folds.push((fold, view.folds.chosen(fold)));
        }
        view.folds.set(fold, true);
    }

    /// Where a hit stands as folds are now.
    fn locate(
        &self,
        view: &mut TranscriptView,
        ui: &Ui,
        source: &mut dyn Source,
        geometry: Geometry,
        (row, key): (usize, HitKey),
    ) -> Option<Located> {
        let (unit, byte) = key;
        let shows = |spec: &Spec| {
            (spec.key.part, spec.key.leaf) == (unit.part, unit.leaf)
                && stretches(spec).iter().any(|s| s.unit == unit && s.shown.contains(&byte))
        };
        let (slug, set) = view.with_page(ui, geometry.rect.height(), |sheet, page| {
            sheet.first_slug(source, page, row, &shows)
        })?;
        let spec = view.sheet.spec(slug)?;
        let marks = marks::marks(spec, &set, self.query.as_ref()?, self.strands);
        let mark = marks.into_iter().find(|mark| mark.key == key)?;
        let rect = mark.rects.into_iter().reduce(Rect::union)?;
        Some(Located { slug, set, rect, scrolls: mark.scrolls })
    }
}

/// The hit that is wanted of a message.
fn pick(specs: &[Spec], pick: Pick, query: &Query, strands: Strands) -> Option<Hit> {
    let (mut nth, mut last) = (0, None);
    for spec in specs {
        if matches!(pick, Pick::Before(key) if spec.key >= key) {
            break;
        }
        for stretch in stretches(spec).iter().filter(|stretch| strands.has(stretch.strand)) {
            for hit in query.hits(&stretch.text, stretch.shown.clone()) {
                // One that began in the slug before was met there.
                if hit.start < stretch.shown.start {
                    continue;
                }
                let hit =
                    || Hit { nth, key: (stretch.unit, hit.start), within: spec.within.to_vec() };
                match pick {
                    Pick::Nth(wanted) if wanted == nth => return Some(hit()),
                    Pick::From(key) if spec.key >= key => return Some(hit()),
                    Pick::Last | Pick::Before(_) => last = Some(hit()),
                    Pick::Nth(_) | Pick::From(_) => {}
                }
                nth += 1;
            }
        }
    }
    last
}

/// Scrolls to a hit unless it can be seen where it is.
fn bring_on_screen(
    view: &mut TranscriptView,
    geometry: Geometry,
    located: &Located,
    has_moved: bool,
) {
    let Located { slug, set, rect, scrolls } = located;
    if let Some(wide) = set.wide.filter(|_| *scrolls) {
        let room = wide.right - wide.left;
        let shift = view.shift(*slug);
        let beside = BESIDE.min(room / 4.0);
        let (left, right) = (rect.left() - wide.left, rect.right() - wide.left);
        if left - shift < beside || right - shift > room - beside {
            let wanted = (left + right) / 2.0 - room / 2.0;
            view.shift_by(*slug, wide.content - room, wanted - shift);
        }
    }
    let height = geometry.rect.height();
    let placed = view.visible.placed.iter().find(|place| place.id == *slug);
    let seen = placed.map(|place| place.y).filter(|y| {
        let top = HEADER as f32 + UNDER_BAR.min(height / 4.0);
        !has_moved && y + rect.top() >= top && y + rect.bottom() <= height - FOOT.min(height / 4.0)
    });
    match seen {
        Some(y) => view.sheet.hold(*slug, y),
        None => view.sheet.set_anchor(Anchor {
            message: slug.message,
            key: slug.key,
            offset: f64::from(rect.top() - height / 3.0),
        }),
    }
}
