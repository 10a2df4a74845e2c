//! Retained printing: slugs are cast into plates that stay on the GPU.
//!
//! A slug is replayed through egui's painter in the frame it was set in and in the one
//! after: only then is every glyph it uses in the atlas that can be bound while laying out.
//! When it is cast its glyphs are dropped, and should they be needed again, because the
//! renderer was switched or its plate was taken back, it is set again.

mod stack;
mod stamp;

use std::sync::Arc;

use egui::{Color32, Context};

use crate::{
    gpu::{self, Printer},
    layout::{
        Placed, Sheet, Slug,
        slug::{Ground, Plate},
    },
    view::renderer::Renderer,
};

use self::stamp::Stamps;
pub(crate) use self::{stack::Stack, stamp::Look};

/// Frames a slug is replayed for before it is cast.
const REPLAYED_FRAMES: u64 = 2;

/// A part of a plate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Ground,
    WideGround,
    Type,
    WideType,
}

/// Who prints a view, and what it has noticed of it.
#[derive(Debug, Default)]
pub(crate) struct Retained {
    pub(crate) renderer: Renderer,
    printer: Option<Printer>,
    melted: u64,
    stamps: Stamps,
}

impl Retained {
    /// Finds the printer of this frame, and has everything set again that it cannot print.
    pub(crate) fn begin_frame(&mut self, context: &Context, sheet: &mut Sheet) {
        let found = match self.renderer {
            Renderer::Retained => Printer::of(context).filter(Printer::begin_frame),
            Renderer::Replay | Renderer::Commonmark => None,
        };
        let is_same = match (&self.printer, &found) {
            (Some(old), Some(new)) => old.is(new),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let melted = found.as_ref().map_or(0, Printer::melted);
        if !is_same {
            sheet.retain(|slug| slug.plate.is_none());
            self.stamps = Stamps::default();
        } else if melted != self.melted {
            sheet.retain(|slug| plate(slug).is_none_or(gpu::Plate::is_whole));
        }
        (self.printer, self.melted) = (found, melted);
    }

    /// Casts what is old enough. `color` is for text that was set without one.
    pub(crate) fn cast(
        &self,
        sheet: &mut Sheet,
        placed: &mut [Placed],
        frame: u64,
        (color, pixels_per_point): (Color32, f32),
    ) {
        let Some(printer) = &self.printer else { return };
        let slugs = placed.iter().filter_map(|place| place.slug.as_deref());
        slugs.filter_map(plate).for_each(|plate| printer.keep(plate));
        for place in placed {
            let Some(slug) = &place.slug else { continue };
            // One slug must not drive out all others: a giant is replayed.
            let fits = slug.bytes as u64 <= printer.limit() / 2;
            if slug.plate.is_some() || frame < slug.born + REPLAYED_FRAMES || !fits {
                continue;
            }
            let Ground { fixed, wide } = slug.ground.clone();
            let [text, wide_text] = slug.type_meshes(color, pixels_per_point);
            let plate = printer.cast([fixed, wide, text, wide_text]);
            let cast = Arc::new(slug.distributed(Plate::new(plate)));
            sheet.replace(place.id, slug, Arc::clone(&cast));
            place.slug = Some(cast);
        }
    }
}

/// What a slug was cast into.
pub(crate) fn plate(slug: &Slug) -> Option<&gpu::Plate> {
    slug.plate.as_ref().and_then(Plate::get)
}
