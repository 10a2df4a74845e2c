//! What someone who searches asks of a sheet: what a row says, and where it stands.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use super::{
    Page, Sheet,
    walk::{Cursor, Walk},
};
use crate::{
    layout::{cache::SlugId, reading, slug::Slug, spec::Spec},
    model::Source,
};

impl Sheet {
    /// Times that the reader, or who acts for him, scrolled or went somewhere. Keeping a
    /// place does not count.
    #[must_use]
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// What the slug with this identity was set from, while its message is composed.
    #[must_use]
    pub fn spec(&self, id: SlugId) -> Option<&Spec> {
        let specs = &self.composed.get(&id.message)?.specs;
        let at = specs.partition_point(|spec| spec.key < id.key);
        specs.get(at).filter(|spec| spec.key == id.key && spec.look == id.look)
    }

    /// The specs of a row as if nothing were folded; none while its message is not loaded.
    pub fn unfolded(
        &mut self,
        source: &mut dyn Source,
        page: &mut Page<'_, '_>,
        row: usize,
    ) -> Option<Vec<Spec>> {
        let message = source.message(row)?;
        let registry = page.registry;
        let around = Walk { sheet: self, source, page }.surroundings(row);
        // A message that cannot be shown has nothing that could be found.
        let specs =
            catch_unwind(AssertUnwindSafe(|| reading::unfolded(&message, &around, registry)));
        Some(specs.unwrap_or_default())
    }

    /// The first slug of a row whose spec meets a condition, as folds stand now.
    pub fn first_slug(
        &mut self,
        source: &mut dyn Source,
        page: &mut Page<'_, '_>,
        row: usize,
        meets: &dyn Fn(&Spec) -> bool,
    ) -> Option<(SlugId, Arc<Slug>)> {
        let message = source.row(row).id;
        let mut walk = Walk { sheet: self, source, page };
        if walk.slug_count(row) == 0 {
            return None;
        }
        let specs = &walk.sheet.composed.get(&message)?.specs;
        let slug = specs.iter().position(meets)?;
        let set = walk.slug(Cursor { row, slug })?;
        let spec = walk.sheet.composed.get(&message)?.specs.get(slug)?;
        Some((SlugId { message, key: spec.key, look: spec.look }, set))
    }
}
