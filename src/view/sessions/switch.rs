//! The quick way to a session: by its title, by what was said in it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use egui::{
    Align2, EventFilter, FontId, Frame, Id, Key, Margin, Modal, Modifiers, RichText, ScrollArea,
    Stroke, TextEdit, Ui, vec2,
};

use super::{Found, Listed, Marks, Meant, SessionId, meant, row, switch_row};
use crate::{
    layout::{Palette, face, icon},
    model::MessageId,
    perf::Reason,
    view::{governor, wall::Moment},
};

/// How long typing rests before what was said is searched.
const REST: Duration = Duration::from_millis(90);
/// Hits that are asked for at first, and once more are wanted.
const HITS: [usize; 2] = [24, 200];
/// Titles that are shown while nothing is looked for, and while something is.
const TITLES: [usize; 2] = [50, 8];
/// Bytes of what is looked for.
const QUERY_MAX: usize = 400;
const WIDTH: f32 = 640.0;

/// Something to be done, by the program around it.
#[derive(Clone, Debug, PartialEq)]
pub enum SwitchWish {
    /// Search all that was said; what is found comes with a later [`SwitchShown::hits`].
    Search {
        /// What for.
        query: String,
        /// How many hits are enough.
        limit: usize,
    },
    /// Show a session.
    Open {
        /// Which.
        id: SessionId,
        /// The message to go to, and what was looked for in it.
        at: Option<(MessageId, String)>,
        /// Beside what is shown, and not in its place.
        in_new_tab: bool,
    },
}

/// How a search of all that was said stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Searching {
    /// Nothing is searched.
    #[default]
    Idle,
    /// It goes on.
    Running,
    /// It is over.
    Done,
    /// It could not be made: why.
    Failed(Arc<str>),
}

/// What was found in all that was said.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    /// What was looked for.
    pub query: String,
    /// The messages, best first.
    pub found: Vec<Found>,
    /// How the search stands.
    pub state: Searching,
}

/// What the quick way knows.
pub struct SwitchShown<'a> {
    /// All sessions.
    pub listed: &'a Arc<[Listed]>,
    /// How the open ones stand.
    pub marks: &'a Marks,
    /// What was found in what was said.
    pub hits: &'a Hits,
    /// What time it is.
    pub now: Moment,
    /// The clock that typing rests by.
    pub clock: Instant,
    /// Colours.
    pub palette: &'a Palette,
}

/// The quick way: whether it is open, what is looked for, which row is chosen.
#[derive(Default)]
pub struct QuickSwitch {
    is_open: bool,
    query: String,
    chosen: usize,
    /// A row was chosen by a key and has to be seen.
    reveal: bool,
    typed_at: Option<Instant>,
    asked: Option<(String, usize)>,
    limit: usize,
    titles: Option<Titles>,
    wants_focus: bool,
}

/// Titles that are meant, best first.
struct Titles {
    listed: Arc<[Listed]>,
    query: String,
    found: Vec<(usize, Meant)>,
}

/// A row.
#[derive(Clone, Copy)]
enum Item<'a> {
    Title(&'a Listed, &'a Meant),
    Hit(&'a Found),
    More,
}

impl QuickSwitch {
    /// Opens it, or closes it.
    pub fn toggle(&mut self) {
        if self.is_open {
            self.is_open = false;
        } else {
            self.open("");
        }
    }

    /// Opens it on something to look for.
    pub fn open(&mut self, query: &str) {
        *self = Self {
            is_open: true,
            query: query.to_owned(),
            limit: HITS[0],
            wants_focus: true,
            ..Self::default()
        };
    }

    /// True while it is shown.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Shows it over everything else, if it is open.
    pub fn show(&mut self, ui: &Ui, shown: &SwitchShown<'_>) -> Vec<SwitchWish> {
        let mut wishes = Vec::new();
        if !self.is_open {
            return wishes;
        }
        self.work_out(shown);
        let titles = self.titles.take();
        let items = self.items(titles.as_ref(), shown);
        self.keys(ui, &items, &mut wishes);
        let id = Id::unique("quick switch");
        let room = ui.ctx().content_rect().size();
        let palette = shown.palette;
        let frame = Frame::popup(ui.style())
            .fill(palette.panel)
            .stroke(Stroke::new(1.0, palette.line))
            .inner_margin(Margin::ZERO);
        let top = (room.y * 0.12).max(16.0);
        let area = Modal::default_area(id).anchor(Align2::CENTER_TOP, vec2(0.0, top));
        let modal = Modal::new(id).area(area).frame(frame).show(ui.ctx(), |ui| {
            ui.set_width((room.x - 48.0).min(WIDTH));
            ui.spacing_mut().item_spacing = vec2(8.0, 0.0);
            self.field_ui(ui, palette);
            hairline(ui, palette);
            let height = (room.y * 0.76 - 100.0).clamp(120.0, 560.0);
            self.rows_ui(ui, &items, shown, height, &mut wishes);
            hairline(ui, palette);
            foot_ui(ui, palette);
        });
        self.titles = titles;
        self.ask(ui, shown, &mut wishes);
        if modal.should_close() || wishes.iter().any(|w| matches!(w, SwitchWish::Open { .. })) {
            self.is_open = false;
        }
        wishes
    }

    /// Works out again which titles are meant, when the sessions or the words are others.
    fn work_out(&mut self, shown: &SwitchShown<'_>) {
        let is_same = self.titles.as_ref().is_some_and(|titles| {
            Arc::ptr_eq(&titles.listed, shown.listed) && titles.query == self.query
        });
        if is_same {
            return;
        }
        let is_asked = !self.query.trim().is_empty();
        let there = (0..).zip(shown.listed.iter()).filter(|(_, one)| !one.deleted);
        let meant = there.filter_map(|(index, one)| Some((index, meant(&self.query, &one.title)?)));
        let mut found: Vec<(usize, Meant)> = meant.collect();
        let newest = |index: usize| shown.listed.get(index).map_or(0, |one| -one.updated_ms);
        let archived = |index: usize| shown.listed.get(index).is_some_and(|one| one.archived);
        found.sort_by_key(|(index, meant)| {
            let score = if is_asked { -meant.score } else { 0 };
            (archived(*index), score, newest(*index))
        });
        found.truncate(TITLES[usize::from(is_asked)].max(TITLES[0]));
        let (listed, query) = (Arc::clone(shown.listed), self.query.clone());
        // Whoever opens this wants to be elsewhere.
        let first = found.first().and_then(|(index, _)| listed.get(*index)).map(|one| &one.id);
        let is_here = first.is_some() && first == shown.marks.active();
        self.chosen = usize::from(is_here && !is_asked && found.len() > 1);
        self.titles = Some(Titles { listed, query, found });
    }

    fn items<'a>(&self, titles: Option<&'a Titles>, shown: &SwitchShown<'a>) -> Vec<Item<'a>> {
        let is_asked = !self.query.trim().is_empty();
        let has_hits = is_asked && !shown.hits.found.is_empty();
        let at_most = TITLES[usize::from(has_hits)];
        let found = titles.into_iter().flat_map(|titles| {
            let title = |(index, meant): &'a (usize, Meant)| {
                Some(Item::Title(titles.listed.get(*index)?, meant))
            };
            titles.found.iter().filter_map(title)
        });
        let mut items: Vec<Item<'a>> = found.take(at_most).collect();
        if is_asked {
            items.extend(shown.hits.found.iter().map(Item::Hit));
            if shown.hits.found.len() == HITS[0] && self.limit == HITS[0] {
                items.push(Item::More);
            }
        }
        items
    }

    fn keys(&mut self, ui: &Ui, items: &[Item<'_>], wishes: &mut Vec<SwitchWish>) {
        // While an input method composes, the keys are its own.
        if ui.input(|input| input.events.iter().any(|e| matches!(e, egui::Event::Ime(_)))) {
            return;
        }
        let pressed = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
        let last = items.len().saturating_sub(1);
        let before = self.chosen;
        for (key, by) in
            [(Key::ArrowDown, 1), (Key::ArrowUp, -1), (Key::PageDown, 8), (Key::PageUp, -8_isize)]
        {
            if pressed(Modifiers::NONE, key) {
                self.chosen = self.chosen.saturating_add_signed(by);
            }
        }
        self.chosen = self.chosen.min(last);
        self.reveal |= self.chosen != before;
        let in_new_tab = pressed(Modifiers::COMMAND, Key::Enter);
        if (in_new_tab || pressed(Modifiers::NONE, Key::Enter))
            && let Some(item) = items.get(self.chosen)
        {
            self.choose(*item, in_new_tab, wishes);
        }
    }

    fn choose(&mut self, item: Item<'_>, in_new_tab: bool, wishes: &mut Vec<SwitchWish>) {
        let (id, at) = match item {
            Item::Title(listed, _) => (listed.id.clone(), None),
            Item::Hit(found) => {
                let at = found.message.map(|message| (message, self.query.trim().to_owned()));
                (found.session.clone(), at)
            }
            Item::More => {
                self.limit = HITS[1];
                return;
            }
        };
        wishes.push(SwitchWish::Open { id, at, in_new_tab });
    }

    fn field_ui(&mut self, ui: &mut Ui, palette: &Palette) {
        ui.horizontal(|ui| {
            ui.set_height(46.0);
            ui.add_space(14.0);
            let sign = RichText::new(icon::MAGNIFYING_GLASS.to_string()).font(row::icon_font(17.0));
            ui.label(sign.color(palette.faint));
            let id = Id::unique("quick switch field");
            let edit = TextEdit::singleline(&mut self.query)
                .id(id)
                .frame(Frame::NONE)
                .font(FontId::new(face::TEXT_SIZE, face::TEXT))
                .margin(Margin::symmetric(2, 0))
                .char_limit(QUERY_MAX)
                .desired_width(f32::INFINITY)
                .event_filter(EventFilter {
                    horizontal_arrows: true,
                    vertical_arrows: true,
                    ..EventFilter::default()
                })
                .hint_text(RichText::new("Go to a conversation, or search what was said"));
            let response = ui.add(edit);
            row::name(ui, id, "Go to a conversation, or search what was said");
            if std::mem::take(&mut self.wants_focus) {
                response.request_focus();
            }
            if response.changed() {
                (self.chosen, self.limit) = (0, HITS[0]);
                self.typed_at = None;
            }
        });
    }

    fn rows_ui(
        &mut self,
        ui: &mut Ui,
        items: &[Item<'_>],
        shown: &SwitchShown<'_>,
        height: f32,
        wishes: &mut Vec<SwitchWish>,
    ) {
        let scroll = ScrollArea::vertical().max_height(height).auto_shrink([false, true]);
        scroll.show(ui, |ui| {
            ui.add_space(6.0);
            let mut was_hit = false;
            for (at, item) in items.iter().enumerate() {
                let is_hit = matches!(item, Item::Hit(_));
                if at == 0 && !is_hit {
                    let recent = self.query.trim().is_empty();
                    switch_row::caption_ui(ui, if recent { "RECENT" } else { "TITLES" }, shown);
                }
                if is_hit && !std::mem::replace(&mut was_hit, true) {
                    switch_row::caption_ui(ui, "IN CONVERSATIONS", shown);
                }
                let is_chosen = at == self.chosen;
                let response = match item {
                    Item::Title(one, meant) => {
                        switch_row::title_ui(ui, one, meant, is_chosen, shown)
                    }
                    Item::Hit(found) => switch_row::hit_ui(ui, found, is_chosen, shown),
                    Item::More => switch_row::more_ui(ui, is_chosen, shown),
                };
                if is_chosen && std::mem::take(&mut self.reveal) {
                    let none = egui::style::ScrollAnimation::none();
                    ui.scroll_to_rect_animation(response.rect, None, none);
                }
                if response.clicked() {
                    let in_new_tab = ui.input(|input| input.modifiers.command);
                    self.choose(*item, in_new_tab, wishes);
                }
            }
            self.state_ui(ui, items, shown);
            ui.add_space(6.0);
        });
    }

    /// What there is to say when rows do not say it.
    fn state_ui(&self, ui: &mut Ui, items: &[Item<'_>], shown: &SwitchShown<'_>) {
        let query = self.query.trim();
        let is_current = shown.hits.query == query;
        let words = match &shown.hits.state {
            _ if query.is_empty() && items.is_empty() => "No conversations yet",
            _ if query.is_empty() => return,
            Searching::Failed(why) if is_current => why,
            Searching::Done if is_current && shown.hits.found.is_empty() => {
                if items.is_empty() {
                    "Nothing was found"
                } else {
                    "Nothing was said like this"
                }
            }
            Searching::Done if is_current => return,
            Searching::Idle | Searching::Running | Searching::Done | Searching::Failed(_) => {
                "Searching what was said…"
            }
        };
        ui.horizontal(|ui| {
            ui.add_space(20.0);
            let words = RichText::new(words).size(face::CAPTION_SIZE).color(shown.palette.faint);
            ui.add(egui::Label::new(words));
        });
    }

    /// Has what was said searched, once typing rests.
    fn ask(&mut self, ui: &Ui, shown: &SwitchShown<'_>, wishes: &mut Vec<SwitchWish>) {
        let query = self.query.trim();
        let wanted = (query.to_owned(), self.limit);
        if query.is_empty() || self.asked.as_ref() == Some(&wanted) {
            self.typed_at = None;
            return;
        }
        let since = *self.typed_at.get_or_insert(shown.clock);
        let rested = shown.clock.saturating_duration_since(since);
        if rested < REST {
            return governor::after(ui, Reason::Find, REST - rested);
        }
        self.typed_at = None;
        self.asked = Some(wanted.clone());
        wishes.push(SwitchWish::Search { query: wanted.0, limit: wanted.1 });
    }
}

fn hairline(ui: &mut Ui, palette: &Palette) {
    let size = vec2(ui.available_width(), 1.0);
    let (rect, _) = ui.allocate_exact_size(size, egui::Sense::hover());
    let line = Stroke::new(1.0 / ui.pixels_per_point(), palette.line);
    ui.painter().hline(rect.x_range(), rect.center().y, line);
}

fn foot_ui(ui: &mut Ui, palette: &Palette) {
    ui.horizontal(|ui| {
        ui.add_space(16.0);
        ui.set_height(32.0);
        for (keys, words) in
            [("↑↓", "choose"), ("Enter", "open"), ("Ctrl Enter", "in a new tab"), ("Esc", "close")]
        {
            let text = |words: &str| RichText::new(words).size(face::CAPTION_SIZE);
            ui.label(text(keys).color(palette.dim));
            ui.label(text(words).color(palette.faint));
            ui.add_space(8.0);
        }
    });
}
