//! The transcript: one conversation, of any size, in any egui program.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use egui::{Id, Pos2, Rect, Sense, Ui, pos2};

use crate::{
    layout::{
        Action, Anchor, Fold, Folds, Jump, Openness, Page, Palette, Place, Placed, Registry, Sheet,
        SlugId, Strip, Toward, Visible, highlight::Highlighter, spec::SlugKey,
    },
    model::{MessageId, Source},
    perf::{self, Reason},
    view::{
        clock,
        find::{self, Find},
        governor,
        images::Images,
        keys,
        messages::{self, Hands, Messages},
        minimap,
        minimap::Minimap,
        overlay, paint, pointer,
        renderer::Renderer,
        retained::Retained,
        selection::{Selection, Spot},
        theme,
    },
};

/// Widest column of text, in points: about 90 characters.
pub const COLUMN_MAX: f32 = 760.0;
/// Room beside the column.
const MARGIN: f32 = 28.0;
/// Characters of a selection that are looked for.
const SELECTED_MAX: usize = 200;
/// Messages of a selection that are looked at.
const SELECTED_ROWS_MAX: usize = 20_000;
/// How long a copy button says that it copied, in seconds.
const COPIED_SECS: f64 = 1.5;

/// Something the reader asked for that the program around the view decides about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewCommand {
    /// Follow a link: what it points to and the words it was shown under.
    OpenLink {
        /// The address as written.
        target: Arc<str>,
        /// The words of the link.
        shown: Arc<str>,
    },
    /// Stop one running call.
    StopCall {
        /// The message that holds it.
        message: MessageId,
        /// Its id.
        call_id: Arc<str>,
    },
    /// Take the files back to a checkpoint.
    Restore {
        /// Its name.
        checkpoint: Arc<str>,
    },
    /// Say one of the user's messages in another way.
    Edit {
        /// The message.
        message: MessageId,
    },
    /// Have an answer made anew.
    Regenerate {
        /// The answer.
        message: MessageId,
    },
    /// Go to the branch that a message stands on.
    Choose {
        /// The message.
        message: MessageId,
    },
    /// Put words into what is being written, as a quotation.
    Quote {
        /// The words.
        text: Arc<str>,
    },
    /// Write messages into a file.
    Export {
        /// Which, by rising ids.
        messages: Arc<[MessageId]>,
    },
}

/// Shows a [`Source`] and keeps the reader's place, choices and caches.
///
/// ```
/// use letterpress::{model::{Message, MemorySource}, view::{TranscriptView, theme}};
///
/// struct Reader { view: TranscriptView, source: MemorySource }
///
/// impl Reader {
///     fn new(ctx: &egui::Context, messages: Vec<Message>) -> Self {
///         theme::install(ctx);
///         let prepared = messages.into_iter().map(letterpress::engine::prepare);
///         Self { view: TranscriptView::new(ctx), source: MemorySource::new(prepared) }
///     }
///
///     fn ui(&mut self, ui: &mut egui::Ui) {
///         for command in self.view.show(ui, &mut self.source) {
///             println!("{command:?}");
///         }
///     }
/// }
///
/// let ctx = egui::Context::default();
/// let mut reader = Reader::new(&ctx, Vec::new());
/// let mut output = ctx.run_ui(egui::RawInput::default(), |ui| reader.ui(ui));
/// // A real program uploads its textures and paints its shapes.
/// output.textures_delta.clear();
/// ```
pub struct TranscriptView {
    /// How tools and roles are shown; register your own here.
    pub registry: Registry,
    /// What can be done with messages here.
    pub hands: Hands,
    /// Rows with words that are searched for, in rising order; the strip marks them.
    pub hits: Option<Arc<Vec<u32>>>,
    /// Shows the whole conversation at the right edge; else a scrollbar stands there. The
    /// reader changes it with Ctrl+M.
    pub show_minimap: bool,
    pub(crate) minimap: Minimap,
    pub(crate) sheet: Sheet,
    pub(crate) retained: Retained,
    pub(crate) folds: Folds,
    pub(crate) messages: Messages,
    pub(crate) highlights: Highlighter,
    pub(crate) images: Images,
    pub(crate) selection: Option<Selection>,
    /// Sideways scroll of wide blocks, in points.
    pub(crate) shifts: HashMap<(MessageId, u16, u32), f32>,
    pub(crate) visible: Visible,
    copied: Option<(SlugId, f64)>,
    copy_wanted: bool,
    /// Rows, and lines of the last of them, when the end was last on screen.
    pub(crate) seen: (usize, u16),
    /// The prompt that is being answered where the reader is, in short.
    pub(crate) prompt: Option<(MessageId, String)>,
    /// Width of the column in the last frame.
    pub(crate) width: f32,
    palette: Arc<Palette>,
    pub(crate) find: Find,
    unsettled: bool,
}

/// Where things are in this frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    /// All of the view.
    pub(crate) rect: Rect,
    /// Left edge of the column, on a physical pixel.
    pub(crate) left: f32,
    /// Width of the column in whole points.
    pub(crate) width: f32,
    /// Room at the right edge that the column leaves to minimap or scrollbar, in points.
    pub(crate) edge: f32,
}

impl Geometry {
    fn new(rect: Rect, edge: f32, pixels_per_point: f32) -> Self {
        let room = rect.width() - edge;
        let width = (room - 2.0 * MARGIN).clamp(160.0, COLUMN_MAX).floor();
        let left = rect.left() + ((room - width) / 2.0).max(8.0);
        Self { rect, left: snap(left, pixels_per_point), width, edge }
    }

    /// Upper left corner of a slug on screen.
    pub(crate) fn origin(&self, placed: &Placed, pixels_per_point: f32) -> Pos2 {
        pos2(self.left, snap(self.rect.top() + placed.y, pixels_per_point))
    }
}

fn snap(points: f32, pixels_per_point: f32) -> f32 {
    (points * pixels_per_point).round() / pixels_per_point
}

impl TranscriptView {
    /// A view that follows the end. [`theme::install`] must have been called on `ctx`.
    #[must_use]
    pub fn new(ctx: &egui::Context) -> Self {
        Self {
            registry: Registry::default(),
            hands: Hands::default(),
            hits: None,
            show_minimap: true,
            minimap: Minimap::default(),
            sheet: Sheet::default(),
            retained: Retained::default(),
            folds: Folds::default(),
            messages: Messages::default(),
            highlights: Highlighter::new(governor::waker(ctx, Reason::Colours)),
            images: Images::new(governor::waker(ctx, Reason::Picture)),
            selection: None,
            shifts: HashMap::new(),
            visible: Visible::default(),
            copied: None,
            copy_wanted: false,
            seen: (0, 0),
            prompt: None,
            find: Find::default(),
            width: COLUMN_MAX,
            palette: Arc::new(theme::palette(ctx.theme())),
            unsettled: true,
        }
    }

    /// Shows the conversation in all of `ui`'s room.
    pub fn show(&mut self, ui: &mut Ui, source: &mut dyn Source) -> Vec<ViewCommand> {
        perf::scope!("transcript");
        let rect = ui.available_rect_before_wrap();
        let id = ui.scope_id().with("transcript");
        let ground = ui.interact(rect, id, Sense::click_and_drag());
        let pixels_per_point = ui.pixels_per_point();
        let geometry = Geometry::new(rect, minimap::width(self, rect), pixels_per_point);
        self.highlights.poll();
        self.begin_printing(ui);
        self.images.begin_frame(ui.ctx());
        self.follow_theme(ui);
        let mut commands = Vec::new();
        find::keys(self, ui);
        messages::keys(self, ui, geometry, source, &mut commands);
        keys::scroll(self, ui, &ground, source);
        self.width = geometry.width;
        find::update(self, ui, source, geometry);
        self.lay_out(ui, source, geometry);
        let hovered = if self.is_choosing() {
            messages::choose_ui(self, ui, &ground, geometry, source);
            None
        } else {
            let hovered = pointer::targets(self, ui, geometry, id);
            self.select(ui, &ground, geometry, source);
            hovered
        };
        paint::transcript(self, ui, geometry, hovered.as_ref().map(|(rect, _)| *rect));
        clock::running(self, ui, geometry, source.running_since());
        if let Some((_, Some(click))) = hovered {
            self.act(ui, &click, &mut commands);
        }
        overlay::show(self, ui, geometry, source);
        messages::show(self, ui, geometry, source, &mut commands);
        find::bar_ui(self, ui, geometry, source);
        self.copy(ui, source);
        ui.advance_cursor_after_rect(rect);
        commands
    }

    /// Scrolls by points; downward is positive.
    pub fn scroll_by(&mut self, points: f64) {
        self.sheet.scroll_by(points);
    }

    /// Room at the right edge of a view of this size that is not the words': the map, or
    /// the scrollbar.
    #[must_use]
    pub fn edge_width(&self, rect: Rect) -> f32 {
        minimap::width(self, rect)
    }

    /// Goes somewhere.
    pub fn jump(&mut self, jump: Jump) {
        self.sheet.jump(jump);
    }

    /// Where the reader is; none while he follows the end.
    #[must_use]
    pub fn place(&self) -> Option<Anchor> {
        (!self.sheet.is_following()).then(|| self.sheet.anchor())
    }

    /// Returns to where the reader was; its message has to be known by then.
    pub fn return_to(&mut self, anchor: Anchor) {
        self.sheet.set_anchor(anchor);
    }

    /// Goes to a message, whose first line comes to stand below the line that repeats its
    /// prompt; it has to be known by then.
    pub fn go_to(&mut self, message: MessageId) {
        let place = Place { message, part: 0.0 };
        let toward = Toward::Any;
        self.sheet.jump(Jump::Place { place, lead: overlay::HEADER, toward });
    }

    /// Opens or closes everything.
    pub fn expand(&mut self, openness: Openness) {
        self.folds.rule(openness);
    }

    /// Who draws set slugs.
    #[must_use]
    pub fn renderer(&self) -> Renderer {
        self.retained.renderer
    }

    /// Has another draw them from the next frame on. The picture stays the same.
    pub fn draw_with(&mut self, renderer: Renderer) {
        self.retained.renderer = renderer;
    }

    /// Slugs laid out since the view was made.
    #[must_use]
    pub fn laid_out(&self) -> u64 {
        self.sheet.laid_out()
    }

    /// Slugs on screen in the last frame.
    #[must_use]
    pub fn visible_slugs(&self) -> usize {
        self.visible.placed.len()
    }

    /// The last frame: what stood where.
    #[must_use]
    pub fn visible(&self) -> &Visible {
        &self.visible
    }

    /// What the minimap shows: the whole conversation in a column of cells.
    #[must_use]
    pub fn strip(&self) -> &Strip {
        self.minimap.strip()
    }

    /// Texels of the minimap that were handed to the GPU since it is shown.
    #[must_use]
    pub fn minimap_texels(&self) -> u64 {
        self.minimap.uploaded()
    }

    /// True while the end is followed.
    #[must_use]
    pub fn is_following(&self) -> bool {
        self.sheet.is_following()
    }

    /// Bytes held by the caches of laid-out slugs, code colours and pictures, and by what
    /// was found.
    #[must_use]
    pub fn cache_bytes(&self) -> usize {
        self.caches().iter().map(|(_, bytes)| bytes).sum()
    }

    /// Bytes of each cache, by name.
    #[must_use]
    pub fn caches(&self) -> [(&'static str, usize); 4] {
        let slugs = self.sheet.cache_bytes();
        let (colours, pictures) = (self.highlights.bytes(), self.images.bytes());
        [
            ("slugs", slugs),
            ("colours", colours),
            ("pictures", pictures),
            ("found", self.find.bytes()),
        ]
    }

    /// True when the last frame showed content wherever there is any.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.visible.placed.iter().all(|placed| placed.slug.is_some())
    }

    /// True when nothing that changes the picture is still on its way.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        let awaited = |placed: &Placed| {
            placed
                .slug
                .as_ref()
                .and_then(|slug| slug.awaits)
                .is_some_and(|key| !self.highlights.knows(key))
        };
        self.is_ready()
            && !self.unsettled
            && !self.visible.more
            && !self.minimap.is_busy()
            && !self.visible.placed.iter().any(awaited)
    }

    /// Forgets everything that can be laid out again.
    pub fn purge(&mut self) {
        self.sheet.purge();
        self.highlights.purge();
        self.images.purge();
    }

    pub(crate) fn palette(&self) -> Arc<Palette> {
        Arc::clone(&self.palette)
    }

    /// Says that a picture is still being decoded.
    pub(crate) fn mark_unsettled(&mut self) {
        self.unsettled = true;
    }

    /// Finds the printer of this frame. Textures do not outlive their device.
    pub(crate) fn begin_printing(&mut self, ui: &Ui) {
        if self.retained.begin_frame(ui.ctx(), &mut self.sheet) {
            self.images.purge();
            self.minimap.purge();
        }
    }

    pub(crate) fn follow_theme(&mut self, ui: &Ui) {
        let dark = ui.visuals().dark_mode;
        if dark != self.palette.dark {
            let theme = if dark { egui::Theme::Dark } else { egui::Theme::Light };
            self.palette = Arc::new(theme::palette(theme));
        }
    }

    pub(crate) fn lay_out(&mut self, ui: &Ui, source: &mut dyn Source, geometry: Geometry) {
        perf::scope!("lay_out");
        self.unsettled = false;
        self.visible =
            self.with_page(ui, geometry.rect.height(), |sheet, page| sheet.frame(source, page));
        if self.visible.more {
            governor::wake(ui, Reason::Layout);
        }
    }

    /// Does something with the sheet that needs fonts, colours and folds.
    pub(crate) fn with_page<R>(
        &mut self,
        ui: &Ui,
        height: f32,
        body: impl FnOnce(&mut Sheet, &mut Page<'_, '_>) -> R,
    ) -> R {
        let Self { sheet, palette, highlights, registry, folds, .. } = self;
        ui.ctx().fonts_mut(|fonts| {
            let mut page = Page {
                fonts,
                palette,
                highlights,
                registry,
                folds,
                width: self.width,
                height,
                pixels_per_point: ui.pixels_per_point(),
            };
            body(sheet, &mut page)
        })
    }

    fn select(
        &mut self,
        ui: &Ui,
        ground: &egui::Response,
        geometry: Geometry,
        source: &dyn Source,
    ) {
        let order = |spot: &Spot| source.index_of(spot.message);
        let pixels_per_point = ui.pixels_per_point();
        let Some(pointer) = ground.interact_pointer_pos() else { return };
        let Some(spot) = pointer::spot_at(self, geometry, pointer, pixels_per_point) else {
            return;
        };
        if ground.double_clicked() || ground.triple_clicked() {
            self.selection = pointer::word_or_line(self, spot, ground.triple_clicked());
        } else if ground.drag_started() || ground.clicked() {
            let origin = ui.input(|input| input.pointer.press_origin()).unwrap_or(pointer);
            let from = pointer::spot_at(self, geometry, origin, pixels_per_point).unwrap_or(spot);
            let extend = ui.input(|input| input.modifiers.shift);
            self.selection = match (self.selection.take(), extend) {
                (Some(old), true) => Some(Selection { head: spot, ..old }),
                _ => Some(Selection { tail: from, head: spot }),
            };
        } else if ground.dragged()
            && let Some(selection) = &mut self.selection
            && order(&spot).is_some()
        {
            selection.head = spot;
            self.scroll_while_dragging(ui, geometry, pointer);
        }
    }

    /// A drag beyond the edge scrolls, the faster the further.
    fn scroll_while_dragging(&mut self, ui: &Ui, geometry: Geometry, pointer: Pos2) {
        let above = geometry.rect.top() - pointer.y;
        let below = pointer.y - geometry.rect.bottom();
        let speed = if above > 0.0 { -above } else { below.max(0.0) };
        if speed != 0.0 {
            self.sheet.scroll_by(f64::from(speed.clamp(-60.0, 60.0)) * 0.5);
            governor::after(ui, Reason::Scroll, governor::FRAME);
        }
    }

    /// Does what a click on a target asks for.
    fn act(&mut self, ui: &Ui, click: &pointer::Click, commands: &mut Vec<ViewCommand>) {
        match &click.action {
            Action::Toggle(fold) => self.toggle(*fold, click),
            Action::Wrap(fold) => {
                let open = self.folds.is_open(*fold, false);
                self.folds.set(*fold, !open);
                self.sheet.purge();
                self.sheet.hold(click.slug, click.y);
            }
            Action::Copy(text) => {
                ui.ctx().copy_text(clean(text));
                self.copied = Some((click.slug, ui.input(|input| input.time) + COPIED_SECS));
                governor::after(ui, Reason::Copied, Duration::from_secs_f64(COPIED_SECS));
            }
            Action::Stop(call_id) => commands.push(ViewCommand::StopCall {
                message: click.slug.message,
                call_id: Arc::clone(call_id),
            }),
            Action::Restore(name) => {
                commands.push(ViewCommand::Restore { checkpoint: Arc::clone(name) });
            }
            Action::Choose { message, .. } => {
                messages::go_to_version(self, click.slug.message, *message, commands);
            }
            Action::Link(target, shown) => commands.push(ViewCommand::OpenLink {
                target: Arc::clone(target),
                shown: Arc::clone(shown),
            }),
        }
        governor::wake(ui, Reason::Input);
    }

    /// The line that was clicked stays under the pointer; what it holds opens below it.
    fn toggle(&mut self, fold: Fold, click: &pointer::Click) {
        let open = self.folds.is_open(fold, click.open);
        self.folds.set(fold, !open);
        self.sheet.hold(click.slug, click.y);
    }

    /// True while the copy button of this slug says that it copied.
    pub(crate) fn is_copied(&self, slug: SlugId, time: f64) -> bool {
        self.copied.is_some_and(|(copied, until)| copied == slug && time < until)
    }

    pub(crate) fn want_copy(&mut self) {
        self.copy_wanted = true;
    }

    /// Copies the selection once every message in it is loaded.
    fn copy(&mut self, ui: &Ui, source: &mut dyn Source) {
        if !std::mem::take(&mut self.copy_wanted) {
            return;
        }
        let Some(selection) = &self.selection else { return };
        let Some(range) = selection.rows(source) else { return };
        let loaded = range.clone().all(|row| source.message(row).is_some());
        if !loaded {
            source.want(range);
            self.copy_wanted = true;
            return;
        }
        let (first, last) = selection.ordered(source);
        let text = self.with_page(ui, 0.0, |sheet, page| {
            sheet.text_between(source, page, range, first.place(), last.place())
        });
        ui.ctx().copy_text(clean(&text));
    }

    /// The messages that the selection touches, at most so many that a person can mean.
    #[must_use]
    pub fn selected_messages(&self, source: &dyn Source) -> BTreeSet<MessageId> {
        // A mere click selects nothing.
        let selection = self.selection.as_ref().filter(|it| it.tail != it.head);
        let rows = selection.and_then(|selection| selection.rows(source));
        rows.into_iter().flatten().take(SELECTED_ROWS_MAX).map(|row| source.row(row).id).collect()
    }

    /// What is selected within messages that are loaded.
    pub(crate) fn selected_text(&mut self, ui: &Ui, source: &mut dyn Source) -> Option<String> {
        let selection = self.selection.as_ref()?;
        let range = selection.rows(source)?;
        let loaded = range.clone().all(|row| source.message(row).is_some());
        let (first, last) = selection.ordered(source);
        loaded.then(|| {
            self.with_page(ui, 0.0, |sheet, page| {
                sheet.text_between(source, page, range, first.place(), last.place())
            })
        })
    }

    /// The first line of what is selected within one message.
    pub(crate) fn selected_words(&mut self, ui: &Ui, source: &mut dyn Source) -> Option<String> {
        let selection = self.selection.as_ref()?;
        selection.rows(source).filter(|rows| rows.len() == 1)?;
        let text = self.selected_text(ui, source)?;
        let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        Some(clean(line).chars().take(SELECTED_MAX).collect())
    }

    /// The key under which a block's sideways scroll is remembered.
    pub(crate) fn shift_key(id: SlugId) -> (MessageId, u16, u32) {
        let SlugKey { part, leaf, .. } = id.key;
        (id.message, part, leaf)
    }

    /// How far a wide block is scrolled sideways.
    pub(crate) fn shift(&self, id: SlugId) -> f32 {
        self.shifts.get(&Self::shift_key(id)).copied().unwrap_or(0.0)
    }

    /// The corner of what is scrolled sideways in a slug whose corner is `origin`, on a
    /// physical pixel like it.
    pub(crate) fn moved(&self, id: SlugId, origin: Pos2, pixels_per_point: f32) -> Pos2 {
        pos2(origin.x - snap(self.shift(id), pixels_per_point), origin.y)
    }

    /// Scrolls the wide block under the pointer sideways.
    pub(crate) fn shift_by(&mut self, id: SlugId, room: f32, delta: f32) {
        let shift = self.shifts.entry(Self::shift_key(id)).or_insert(0.0);
        *shift = (*shift + delta).clamp(0.0, room.max(0.0));
    }
}

/// What is copied never carries escape sequences, invisible tag characters or icons.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, '\u{E0000}'..='\u{E007F}' | '\u{E000}'..='\u{F8FF}'))
        .filter(|c| !c.is_control() || matches!(c, '\t' | '\n'))
        .collect()
}

/// The id of a part of the view.
pub(crate) fn part_id(ui: &Ui, name: &str) -> Id {
    ui.scope_id().with(("transcript", name))
}
