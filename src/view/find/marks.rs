//! Where hits stand on screen: counted and marked from the same words.

use std::{ops::Range, sync::Arc};

use egui::{Color32, Mesh, Rect, Shape, StrokeKind, Vec2, epaint::RectShape, vec2};
use rustc_hash::FxHashMap;

use crate::{
    engine::find::Query,
    layout::{
        Palette, Placed, Sheet, Slug, SlugId,
        reading::{Stretch, UnitKey, stretches},
        spec::Spec,
    },
    view::find::strands::Strands,
};

/// Names a hit within its message: its unit, and the byte of it where the hit begins.
pub(crate) type HitKey = (UnitKey, usize);

/// Room for the dots that stand for what a line had no room for, in points.
const DOTS_WIDTH: f32 = 14.0;

/// A hit, or the part of it that a slug shows.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    /// Which hit.
    pub(crate) key: HitKey,
    /// Where, relative to the slug; one rectangle for each row of text.
    pub(crate) rects: Vec<Rect>,
    /// It moves with the wide part.
    pub(crate) scrolls: bool,
    /// Its line among the reading lines, and its characters there.
    line: usize,
    characters: Range<usize>,
}

impl Mark {
    /// What is marked, from the slug that it was made for.
    pub(crate) fn words(&self, slug: &Slug) -> String {
        let mut reading = slug.lines.iter().filter(|line| line.reading);
        let text = reading.nth(self.line).map_or("", |line| line.rows.text());
        text.chars().skip(self.characters.start).take(self.characters.len()).collect()
    }
}

/// The marks of the slugs on screen.
#[derive(Debug, Default)]
pub(crate) struct Marks(FxHashMap<SlugId, (Arc<Slug>, Vec<Mark>)>);

impl Marks {
    /// Forgets all of them: something else is looked for.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Brings them up to date with what is on screen.
    pub(crate) fn follow(
        &mut self,
        sheet: &Sheet,
        placed: &[Placed],
        query: &Query,
        strands: Strands,
    ) {
        let mut known = std::mem::take(&mut self.0);
        for place in placed {
            let Some(slug) = &place.slug else { continue };
            let kept = known.remove(&place.id).filter(|(old, _)| Arc::ptr_eq(old, slug));
            let marks = match kept {
                Some((_, marks)) => marks,
                None => sheet
                    .spec(place.id)
                    .map_or_else(Vec::new, |spec| marks(spec, slug, query, strands)),
            };
            self.0.insert(place.id, (Arc::clone(slug), marks));
        }
    }

    /// The marks of a slug.
    pub(crate) fn of(&self, id: SlugId) -> &[Mark] {
        self.0.get(&id).map_or(&[], |(_, marks)| marks)
    }
}

/// The marks of a slug that was set from a spec.
pub(crate) fn marks(spec: &Spec, slug: &Slug, query: &Query, strands: Strands) -> Vec<Mark> {
    let lines: Vec<_> = slug.lines.iter().filter(|line| line.reading).collect();
    let mut marks = Vec::new();
    for stretch in stretches(spec).iter().filter(|stretch| strands.has(stretch.strand)) {
        let Some(line) = lines.get(stretch.line) else { continue };
        let hits = query.hits(&stretch.text, stretch.shown.clone());
        for (hit, characters) in hits.iter().zip(characters(stretch, &hits)) {
            let mut rects = line.rows.rects(&characters);
            if rects.is_empty() {
                rects.extend(dots(line.rows.rects(&(0..usize::MAX))));
            }
            for rect in &mut rects {
                *rect = rect.translate(line.pos);
            }
            marks.push(Mark {
                key: (stretch.unit, hit.start),
                rects,
                scrolls: line.scrolls,
                line: stretch.line,
                characters,
            });
        }
    }
    marks
}

/// The characters of the line that each hit covers.
fn characters(stretch: &Stretch<'_>, hits: &[Range<usize>]) -> Vec<Range<usize>> {
    let Stretch { text, shown, lead, .. } = stretch;
    let (mut byte, mut character) = (shown.start, *lead);
    let mut reach = |to: usize| {
        let to = to.clamp(byte, shown.end.max(byte));
        character += text.get(byte..to).map_or(0, |words| words.chars().count());
        byte = to;
        character
    };
    hits.iter().map(|hit| reach(hit.start)..reach(hit.end)).collect()
}

/// A hit that the line had no room for is marked on the dots that stand for it.
fn dots(rows: Vec<Rect>) -> Option<Rect> {
    let last = rows.into_iter().next_back()?;
    let left = (last.right() - DOTS_WIDTH).max(last.left());
    Some(Rect::from_min_max(egui::pos2(left, last.top()), last.max))
}

/// What is painted for marks, moved to their place: all of them in one mesh, and the one
/// that the reader is at.
pub(crate) fn shapes<'m>(
    marks: impl Iterator<Item = &'m Mark>,
    here: Option<HitKey>,
    offset: Vec2,
    palette: &Palette,
) -> Vec<Shape> {
    let (mut mesh, mut shapes) = (Mesh::default(), Vec::new());
    for mark in marks {
        let is_here = here == Some(mark.key);
        for rect in &mark.rects {
            let rect = rect.translate(offset);
            if is_here {
                shapes.push(outlined(rect, palette.found_here, palette.warn));
            } else {
                mesh.add_colored_rect(rect, palette.found);
            }
        }
    }
    if !mesh.is_empty() {
        shapes.insert(0, Shape::mesh(mesh));
    }
    shapes
}

fn outlined(rect: Rect, fill: Color32, edge: Color32) -> Shape {
    let rect = rect.expand2(vec2(1.5, 0.0));
    RectShape::new(rect, 3.0, fill, egui::Stroke::new(1.5, edge), StrokeKind::Inside).into()
}
