//! The shape of the wall: how many columns, and the tiles that stand in them.

use egui::{Id, Vec2};
use egui_tiles::{Container, Grid, GridLayout, Linear, LinearDir, Tile, TileId, Tiles, Tree};

use super::feed::FeedId;

/// How panes are arranged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrangement {
    /// All of one size.
    #[default]
    Grid,
    /// One large, the others in a strip beside it.
    Focus,
}

/// Width of a pane in relation to its height at which text reads best.
const ASPECT: f32 = 1.3;
/// How much an empty place counts against a number of columns.
const HOLE: f32 = 0.5;
/// Share of the width that the large pane takes beside a strip.
const LARGE: f32 = 0.68;

/// The number of columns that suits so many panes on a wall of this size.
#[must_use]
pub fn columns(panes: usize, size: Vec2) -> usize {
    let cost = |columns: usize| {
        let rows = panes.div_ceil(columns);
        let aspect = (size.x / columns as f32) / (size.y.max(1.0) / rows as f32);
        (aspect / ASPECT).ln().abs() + (columns * rows - panes) as f32 * HOLE
    };
    (1..=panes.max(1)).min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(1)
}

/// What a tree of tiles was made for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) arrangement: Arrangement,
    pub(super) columns: usize,
    pub(super) panes: Vec<FeedId>,
    pub(super) focus: Option<FeedId>,
}

impl Plan {
    /// The tiles.
    pub(super) fn tree(&self) -> Tree<FeedId> {
        let mut tiles = Tiles::default();
        let id = Id::unique("wall");
        let focus = self.focus.filter(|_| self.panes.len() > 1);
        let root = match (self.arrangement, focus) {
            (Arrangement::Focus, Some(focus)) => self.focused(focus, &mut tiles),
            (Arrangement::Grid, _) | (_, None) => self.grid(&mut tiles),
        };
        Tree::new(id, root, tiles)
    }

    fn grid(&self, tiles: &mut Tiles<FeedId>) -> TileId {
        let children: Vec<TileId> =
            self.panes.iter().map(|pane| tiles.insert_pane(*pane)).collect();
        let mut grid = Grid::new(children);
        grid.layout = GridLayout::Columns(self.columns.max(1));
        tiles.insert_new(Tile::Container(Container::Grid(grid)))
    }

    fn focused(&self, focus: FeedId, tiles: &mut Tiles<FeedId>) -> TileId {
        let large = tiles.insert_pane(focus);
        let others = self.panes.iter().filter(|pane| **pane != focus);
        let strip: Vec<TileId> = others.map(|pane| tiles.insert_pane(*pane)).collect();
        let strip = tiles.insert_vertical_tile(strip);
        let both = Linear::new_binary(LinearDir::Horizontal, [large, strip], LARGE);
        tiles.insert_new(Tile::Container(Container::Linear(both)))
    }
}
