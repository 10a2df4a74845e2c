//! The wall: many conversations at once, followed as they happen, read from across a room.
//!
//! Nothing on it can be clicked and nothing leaves it: it knows no links, no clipboard and
//! no commands. Time is given to it with each frame.

mod care;
mod clock;
mod feed;
mod followed;
mod foot;
mod head;
mod pane;
mod places;
mod running;
mod shape;

use std::{collections::BTreeMap, time::Duration};

use egui::{
    Color32, Context, CursorIcon, Event, Key, Modifiers, Rect, Role, Sense, Stroke, Ui, UiBuilder,
    WidgetInfo, pos2, vec2,
};
use egui_tiles::{Behavior, SimplificationOptions, TileId, Tiles, Tree, UiResponse};

use self::{
    head::{Words, put},
    pane::Pane,
    shape::Plan,
};
use crate::{
    layout::{Palette, Tone},
    perf::Reason,
    view::{governor, theme, transcript::TranscriptView},
};

pub use self::{
    care::{NIGHT, Night, STEP_MS, shift},
    clock::Moment,
    feed::{FeedId, Feeds, Glance, Mark, mark, tone},
    foot::{counts, watched},
    places::{PLACES_MAX, Places, Rules},
    shape::{Arrangement, columns},
};

/// How long a pointer is seen after it moved, in seconds.
const POINTER_SECS: f64 = 5.0;
/// Panes that are remembered after they left the wall.
const PANES_KEPT: usize = 24;
/// The height in points that sizes are given for.
const HEIGHT: f32 = 1080.0;

/// What can be set about a wall.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// A number of columns; none for what suits the number of panes.
    pub columns: Option<usize>,
    /// A number of places; none for as many as are needed.
    pub places: Option<usize>,
    /// How panes are arranged.
    pub arrangement: Arrangement,
    /// Keys, tokens and passwords are covered.
    pub masked: bool,
    /// When it is dimmed.
    pub night: Option<Night>,
    /// How long a conversation stands before others have their turn.
    pub cycle_secs: u32,
    /// Panes can be resized with the pointer.
    pub resizable: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            columns: None,
            places: None,
            arrangement: Arrangement::Grid,
            masked: true,
            night: None,
            cycle_secs: 20,
            resizable: true,
        }
    }
}

/// A wall and what it remembers between frames.
pub struct Wall {
    settings: Settings,
    places: Places,
    panes: BTreeMap<FeedId, Pane>,
    plan: Plan,
    tree: Tree<FeedId>,
    zoom: f32,
    /// When the pointer last moved, by egui's clock.
    pointer_secs: Option<f64>,
    glances: Vec<Glance>,
    frame: u64,
}

/// How everything on the wall looks in this frame.
struct Dress<'a> {
    palette: &'a Palette,
    now: Moment,
    /// Points that one of a wall of 1080 takes.
    unit: f32,
    zoom: f32,
    masked: bool,
}

impl Dress<'_> {
    fn tone(&self, tone: Tone) -> Color32 {
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

    /// Thickness of the edge above a pane.
    fn edge(&self) -> f32 {
        (9.0 * self.unit).round().max(3.0)
    }

    fn pad(&self, pane: Rect) -> f32 {
        (pane.width() * 0.032).clamp(10.0 * self.unit, 26.0 * self.unit)
    }

    /// Size of running text: as large as leaves a line of about 50 characters and some
    /// lines of them.
    fn text_size(&self, pane: Rect) -> f32 {
        let wanted = (pane.width() / 26.0).min(pane.height() / 18.0);
        wanted.clamp(18.0 * self.unit, 30.0 * self.unit) * self.zoom
    }

    fn head_size(&self, pane: Rect) -> f32 {
        (pane.width() / 21.0).clamp(23.0 * self.unit, 34.0 * self.unit)
    }
}

impl Wall {
    /// An empty wall. [`theme::install`] must have been called on the context that shows it.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let plan = Plan::default();
        let tree = plan.tree();
        Self {
            settings,
            places: Places::default(),
            panes: BTreeMap::new(),
            plan,
            tree,
            zoom: 1.0,
            pointer_secs: None,
            glances: Vec::new(),
            frame: 0,
        }
    }

    /// Shows the wall in all of `ui`'s room, and asks for the next frame that it needs.
    pub fn ui(&mut self, ui: &mut Ui, feeds: &mut dyn Feeds, now: Moment) {
        self.frame += 1;
        feeds.poll();
        self.glances = feeds.glances(now.unix_ms);
        if self.settings.masked {
            self.glances.iter_mut().for_each(Glance::cover);
        }
        self.keys(ui);
        self.place(ui.ctx(), now);
        let palette = theme::palette(ui.theme());
        let room = ui.max_rect();
        ui.painter().rect_filled(room, 0.0, palette.code);
        let unit = (room.height() / HEIGHT).min(room.width() / 1.2 / HEIGHT).max(0.2);
        let masked = self.settings.masked;
        let dress = Dress { palette: &palette, now, unit, zoom: self.zoom, masked };
        let margin = 10.0 * unit;
        let moved = room.shrink(margin.max(2.0)).translate(shift(now));
        let foot = Rect::from_min_max(pos2(moved.left(), moved.bottom() - 44.0 * unit), moved.max)
            .shrink2(vec2(10.0 * unit, 0.0));
        let hung = Rect::from_min_max(moved.min, pos2(moved.right(), foot.top() - 6.0 * unit));
        let watching = feeds.watching();
        if self.glances.is_empty() {
            empty_ui(ui, hung, &watching, &dress);
        } else {
            self.panes_ui(ui, hung, feeds, &dress);
        }
        let waiting = self.glances.len() - self.places.shown().len().min(self.glances.len());
        foot::foot_ui(ui, foot, &self.glances, &watched(&watching, waiting), &dress);
        self.dim(ui, room, now);
        self.pointer(ui);
        self.wake(ui, now);
    }

    /// The conversations on the wall, in order of their places.
    #[must_use]
    pub fn shown(&self) -> &[FeedId] {
        self.places.shown()
    }

    /// The conversation that stands large, while one does.
    #[must_use]
    pub fn focus(&self) -> Option<FeedId> {
        (self.settings.arrangement == Arrangement::Focus).then(|| self.places.focus()).flatten()
    }

    /// Where each conversation stood in the last frame.
    #[must_use]
    pub fn rects(&self) -> Vec<(FeedId, Rect)> {
        let rect = |(id, tile): (&TileId, &egui_tiles::Tile<FeedId>)| match tile {
            egui_tiles::Tile::Pane(pane) => Some((*pane, self.tree.tiles.rect(*id)?)),
            egui_tiles::Tile::Container(_) => None,
        };
        let mut rects: Vec<_> = self.tree.tiles.iter().filter_map(rect).collect();
        rects.sort_by_key(|(id, _)| self.places.shown().iter().position(|shown| shown == id));
        rects
    }

    /// What a pane shows, while it is remembered.
    #[must_use]
    pub fn view(&self, id: FeedId) -> Option<&TranscriptView> {
        self.panes.get(&id).map(Pane::view)
    }

    /// True for a pane whose conversation could not be shown.
    #[must_use]
    pub fn has_failed(&self, id: FeedId) -> bool {
        self.panes.get(&id).is_some_and(Pane::has_failed)
    }

    /// Zoom of a pane.
    #[must_use]
    pub fn zoom(&self, id: FeedId) -> f32 {
        self.panes.get(&id).map_or(1.0, |pane| pane.zoom) * self.zoom
    }

    /// True when nothing that changes the picture is still on its way.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.places.shown().iter().all(|id| {
            self.panes.get(id).is_some_and(|pane| pane.has_failed() || pane.view().is_settled())
        })
    }

    fn place(&mut self, ctx: &Context, now: Moment) {
        let rules = self.rules();
        let Self { places, panes, glances, .. } = self;
        let is_read = |id: FeedId| panes.get(&id).is_some_and(|pane| pane.is_read(now.unix_ms));
        places.update(glances, &rules, now.unix_ms, &is_read);
        for id in self.places.shown() {
            self.panes.entry(*id).or_insert_with(|| Pane::new(ctx)).used = self.frame;
        }
        while self.panes.len() > PANES_KEPT.max(self.places.shown().len()) {
            let oldest = self.panes.iter().min_by_key(|(_, pane)| pane.used).map(|(id, _)| *id);
            let Some(id) = oldest else { break };
            self.panes.remove(&id);
        }
    }

    fn rules(&self) -> Rules {
        let Settings { places, columns, cycle_secs, .. } = self.settings;
        // With a number of columns given, a wall is as many rows as columns.
        let places = places.or_else(|| columns.map(|columns| (columns * columns).min(PLACES_MAX)));
        Rules { places, cycle_ms: i64::from(cycle_secs.max(1)) * 1000 }
    }

    fn panes_ui(&mut self, ui: &mut Ui, rect: Rect, feeds: &mut dyn Feeds, dress: &Dress<'_>) {
        let shown = self.places.shown();
        let plan = Plan {
            arrangement: self.settings.arrangement,
            columns: self.settings.columns.unwrap_or_else(|| columns(shown.len(), rect.size())),
            panes: shown.to_vec(),
            focus: self.focus(),
        };
        if plan != self.plan {
            self.tree = plan.tree();
            self.plan = plan;
        }
        let mut child = ui.new_child(UiBuilder::new().max_rect(rect).id_salt("panes"));
        let mut hanging = Hanging {
            panes: &mut self.panes,
            glances: &self.glances,
            feeds,
            dress,
            resizable: self.settings.resizable,
        };
        self.tree.ui(&mut hanging, &mut child);
    }

    fn keys(&mut self, ui: &Ui) {
        let pressed = |key: Key| ui.input_mut(|input| input.consume_key(Modifiers::COMMAND, key));
        let mut factor = 1.0;
        if pressed(Key::Plus) || pressed(Key::Equals) {
            factor *= 1.1;
        }
        if pressed(Key::Minus) {
            factor /= 1.1;
        }
        let reset = pressed(Key::Num0);
        if factor == 1.0 && !reset {
            return;
        }
        let pointer = ui.input(|input| input.pointer.hover_pos());
        let over = self
            .rects()
            .into_iter()
            .find(|(_, rect)| pointer.is_some_and(|pointer| rect.contains(pointer)));
        match over.and_then(|(id, _)| self.panes.get_mut(&id)) {
            Some(pane) if reset => pane.zoom = 1.0,
            Some(pane) => pane.zoom_by(factor),
            None if reset => self.zoom = 1.0,
            None => self.zoom = (self.zoom * factor).clamp(0.5, 2.5),
        }
    }

    /// Changes the arrangement.
    pub fn arrange(&mut self, arrangement: Arrangement) {
        self.settings.arrangement = arrangement;
    }

    /// How panes are arranged.
    #[must_use]
    pub fn arrangement(&self) -> Arrangement {
        self.settings.arrangement
    }

    fn dim(&self, ui: &Ui, room: Rect, now: Moment) {
        let darkness = self.settings.night.map_or(0.0, |night| night.darkness(now));
        if darkness > 0.0 {
            let layer = egui::LayerId::new(egui::Order::Foreground, ui.scope_id().with("night"));
            let painter = ui.ctx().layer_painter(layer);
            painter.rect_filled(room, 0.0, Color32::BLACK.gamma_multiply(darkness * NIGHT));
        }
    }

    /// Hides the pointer while nobody moves it.
    fn pointer(&mut self, ui: &Ui) {
        let moves =
            |event: &Event| matches!(event, Event::PointerMoved(_) | Event::PointerButton { .. });
        let (time, moved) = ui.input(|input| (input.time, input.events.iter().any(moves)));
        if moved {
            self.pointer_secs = Some(time);
        }
        match self.pointer_secs.map(|moved| POINTER_SECS - (time - moved)) {
            Some(rest) if rest > 0.0 => {
                governor::after(ui, Reason::Tick, Duration::from_secs_f64(rest + 0.01));
            }
            Some(_) | None => ui.ctx().set_cursor_icon(CursorIcon::None),
        }
    }

    /// Asks for the frame in which the next clock says something else.
    fn wake(&self, ui: &Ui, now: Moment) {
        let shown = self.glances.iter().filter(|glance| self.places.shown().contains(&glance.id));
        let clocks = shown.map(|glance| now.until_ago_changes(glance.last_event_ms));
        let cycle = self.places.until_cycle(self.glances.len(), &self.rules(), now.unix_ms);
        let states = self.glances.iter().filter_map(|glance| glance.changes_ms);
        let states = states.map(|at_ms| at_ms.saturating_sub(now.unix_ms));
        let next = clocks.chain(cycle).chain(states).fold(now.until_minute(), i64::min);
        // Clocks that tick at different moments wait for each other until a whole second.
        let at = now.unix_ms.saturating_add(next.max(1));
        let at = at.saturating_add(999).div_euclid(1000).saturating_mul(1000);
        let ms = u64::try_from(at.saturating_sub(now.unix_ms)).unwrap_or(1000);
        governor::after(ui, Reason::Tick, Duration::from_millis(ms));
    }
}

/// The panes, as the tiles show them.
struct Hanging<'a> {
    panes: &'a mut BTreeMap<FeedId, Pane>,
    glances: &'a [Glance],
    feeds: &'a mut dyn Feeds,
    dress: &'a Dress<'a>,
    resizable: bool,
}

impl Behavior<FeedId> for Hanging<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _tile: TileId, id: &mut FeedId) -> UiResponse {
        let glance = self.glances.iter().find(|glance| glance.id == *id);
        let source = self.feeds.source(*id);
        if let (Some(glance), Some(source), Some(pane)) = (glance, source, self.panes.get_mut(id)) {
            pane.ui(ui, glance, source, self.dress);
        }
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, _id: &FeedId) -> egui::WidgetText {
        egui::WidgetText::default()
    }

    fn gap_width(&self, _style: &egui::Style) -> f32 {
        (10.0 * self.dress.unit).max(2.0)
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions::OFF
    }

    fn resize_stroke(&self, _style: &egui::Style, state: egui_tiles::ResizeState) -> Stroke {
        match state {
            egui_tiles::ResizeState::Idle => Stroke::NONE,
            egui_tiles::ResizeState::Hovering | egui_tiles::ResizeState::Dragging => {
                Stroke::new(2.0, self.dress.palette.line)
            }
        }
    }

    fn is_container_resizable(&self, _tiles: &Tiles<FeedId>, _id: TileId) -> bool {
        self.resizable
    }

    fn is_tile_draggable(&self, _tiles: &Tiles<FeedId>, _id: TileId) -> bool {
        false
    }
}

/// What a wall shows before there is anything to show.
fn empty_ui(ui: &Ui, room: Rect, watching: &[String], dress: &Dress<'_>) {
    let palette = dress.palette;
    let unit = dress.unit;
    let mut lines = vec![("No conversation yet".to_owned(), 40.0, 650.0, palette.text)];
    lines.extend(
        watching
            .iter()
            .take(8)
            .map(|place| (format!("watching {place}"), 24.0, 400.0, palette.dim)),
    );
    if watching.len() > 8 {
        let more = format!("and {} more places", watching.len() - 8);
        lines.push((more, 24.0, 400.0, palette.dim));
    }
    let hope = "Conversations appear here by themselves as soon as an agent writes there.";
    lines.push((hope.to_owned(), 22.0, 400.0, palette.faint));
    let response = ui.interact(room, ui.scope_id().with("empty"), Sense::hover());
    response.widget_info(|| {
        let words: Vec<&str> = lines.iter().map(|(text, ..)| text.as_str()).collect();
        WidgetInfo::labeled(Role::Label, true, words.join(". "))
    });
    let mut y = room.center().y - lines.len() as f32 * 20.0 * unit;
    for (text, size, weight, color) in &lines {
        let words =
            Words { text, size: size * unit, weight: *weight, color: *color, figures: false };
        let galley = words.galley(ui, room.width(), 1);
        put(ui.painter(), pos2(room.center().x - galley.rect.width() / 2.0, y), &galley);
        y += size * unit * 1.75;
    }
}

impl std::fmt::Debug for Wall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { settings, places, frame, .. } = self;
        f.debug_struct("Wall")
            .field("settings", settings)
            .field("places", places)
            .field("frame", frame)
            .finish_non_exhaustive()
    }
}
