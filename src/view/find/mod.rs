//! Finding words in the conversation that is shown.
//!
//! What is searched is what is shown: the words of the slugs, everything unfolded, so that
//! `bold word` is found in `**bold** word` and the count is the number of marks. A hit lies
//! within a line of code, a paragraph or a cell. The thread that reads is
//! [`engine::find`](crate::engine::find); here is who asks it, the bar, and going to a hit.
//!
//! How it behaves where programs differ:
//!
//! - While the needle is typed the nearest hit from where the reader was is shown, as in
//!   editors. That is a look, not a move: Escape goes back to where the reader was, and
//!   closes again what was unfolded for the look. Enter, F3 and the arrows move; so does
//!   scrolling. From then on Escape stays.
//! - The next hit is the next one behind the current one while that is on screen, and the
//!   next one from where the reader is when he scrolled away.
//! - A hit that can be seen is not scrolled to; another one comes to a third from the top.
//! - A needle without capitals ignores case. “Match case” ends that.

mod asking;
mod bar;
mod keys;
mod marks;
mod results;
mod seek;
mod stepping;
mod strands;

use std::sync::Arc;

use egui::{Id, Rect, Ui, vec2};

pub use self::strands::Strands;
use self::{
    asking::Asked,
    marks::Marks,
    results::Results,
    seek::Target,
    stepping::{Step, Way},
};
pub(crate) use self::{
    bar::bar_ui,
    keys::keys,
    marks::{HitKey, shapes},
    strands::CHOICES,
};
use crate::{
    engine::find::{Finder, Needle, Query, Words},
    layout::{Anchor, Fold, Jump, Placed},
    model::{MessageId, Progress, Source},
    view::transcript::{Geometry, TranscriptView},
};

/// What is looked for, what was found, and where the reader was.
#[derive(Default)]
pub(crate) struct Find {
    bar: Bar,
    pub(crate) needle: Needle,
    pub(crate) strands: Strands,
    wishes: Wishes,
    /// What has the keyboard, before and while the bar has it.
    focus: Focus,
    finder: Option<Finder>,
    asked: Option<Asked>,
    words: Option<(Strands, u64, Arc<Words>)>,
    query: Option<Arc<Query>>,
    /// Why nothing can be found, in one line.
    error: Option<String>,
    results: Results,
    /// Results of a newer state of the conversation, until they are complete.
    coming: Option<Results>,
    is_done: bool,
    /// Rows with hits when they were last shown to the strip.
    shown_rows: (usize, bool, u64),
    /// Counts the results that took the place of others.
    edition: u64,
    current: Option<Current>,
    step: Option<Step>,
    target: Option<Target>,
    origin: Option<Origin>,
    /// The sheet's moves when this last moved it.
    moves: u64,
    /// The reader went elsewhere since the last step.
    has_strayed: bool,
    has_wrapped: bool,
    pub(crate) marks: Marks,
}

/// How the bar stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bar {
    #[default]
    Closed,
    Open,
    /// It cannot be opened.
    Forbidden,
}

/// What keys asked for since the last frame.
#[derive(Debug, Default)]
struct Wishes {
    open: bool,
    close: bool,
    step: Option<Way>,
}

/// Who has the keyboard.
#[derive(Debug, Default)]
struct Focus {
    /// The bar's field, once it was shown.
    field: Option<Id>,
    /// The field should get it.
    wanted: bool,
    /// Who had it before the bar was opened.
    before: Option<Id>,
}

/// The hit that the reader is at.
#[derive(Clone, Copy, Debug)]
struct Current {
    id: MessageId,
    /// The row of the message now.
    row: usize,
    /// Number of the hit in its message.
    nth: u32,
    key: HitKey,
}

/// Where the reader was before hits were looked at, and what was unfolded since.
#[derive(Debug)]
struct Origin {
    anchor: Anchor,
    was_following: bool,
    /// What the reader had chosen for folds that were opened.
    folds: Vec<(Fold, Option<bool>)>,
}

/// What a search has come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// Hits up to now.
    pub hits: u64,
    /// Messages that have any.
    pub messages: usize,
    /// The number of the hit that the reader is at, from 1.
    pub current: Option<u64>,
    /// Nothing further will be found in what is known of the conversation.
    pub is_done: bool,
    /// Why nothing can be found, in one line.
    pub error: Option<String>,
    /// Messages that were read for all searches of this view together.
    pub rows_read: u64,
}

impl TranscriptView {
    /// Opens the bar that finds words, on the words that are selected or were last looked
    /// for.
    pub fn open_find(&mut self) {
        self.find.wishes.open = true;
    }

    /// Looks for something, as if it were typed.
    pub fn find(&mut self, needle: Needle) {
        self.find.needle = needle;
        self.find.bar = Bar::Open;
    }

    /// Goes to the next hit.
    pub fn find_next(&mut self) {
        self.find.wishes.step = Some(Way::Forward);
    }

    /// Goes to the hit before.
    pub fn find_previous(&mut self) {
        self.find.wishes.step = Some(Way::Backward);
    }

    /// What the search in this view has come to; none while the bar is closed.
    #[must_use]
    pub fn finding(&self) -> Option<Finding> {
        let find = &self.find;
        find.is_open().then(|| Finding {
            hits: find.results.total(),
            messages: find.results.len(),
            current: find.current.map(|current| find.ordinal(current)),
            is_done: find.is_done && find.coming.is_none() && find.step.is_none(),
            error: find.error.clone(),
            rows_read: find.finder.as_ref().map_or(0, Finder::rows_read),
        })
    }

    /// Whether Ctrl F and its like work here. They do unless said otherwise; a wall that
    /// shows several conversations has nobody to type.
    pub fn allow_find(&mut self, allowed: bool) {
        self.find.bar = match (allowed, self.find.bar) {
            (false, _) => Bar::Forbidden,
            (true, Bar::Open) => Bar::Open,
            (true, Bar::Closed | Bar::Forbidden) => Bar::Closed,
        };
    }

    /// Takes the keys that belong to finding before anything else in the window does. Called
    /// by [`TranscriptView::show`]; a program that shows text boxes beside the view calls it
    /// before those.
    pub fn find_keys(&mut self, ui: &Ui) {
        keys(self, ui);
    }

    /// Marks on screen of what was found: how many hits begin there.
    #[must_use]
    pub fn marks_on_screen(&self) -> usize {
        let placed = self.visible.placed.iter();
        placed.map(|place| self.find.marks.of(place.id).len()).sum()
    }
}

impl TranscriptView {
    /// The words of the hit that the reader is at and where they stand in the viewport, in
    /// points, once they are on screen.
    #[must_use]
    pub fn found_here(&self) -> Option<(String, Rect)> {
        let current = self.find.current?;
        let placed = self.visible.placed.iter().filter(|place| place.id.message == current.id);
        placed.filter_map(|place| Some((place, place.slug.as_ref()?))).find_map(|(place, slug)| {
            let mut marks = self.find.marks.of(place.id).iter();
            let mark = marks.find(|mark| mark.key == current.key)?;
            let shift = if mark.scrolls { self.shift(place.id) } else { 0.0 };
            let rect = mark.rects.iter().copied().reduce(Rect::union)?;
            Some((mark.words(slug), rect.translate(vec2(-shift, place.y))))
        })
    }
}

impl Find {
    /// The number of a hit among all, from 1.
    fn ordinal(&self, current: Current) -> u64 {
        self.results.hits_before(current.row) + u64::from(current.nth) + 1
    }

    pub(crate) fn is_open(&self) -> bool {
        self.bar == Bar::Open
    }

    /// Bytes of what was found.
    pub(crate) fn bytes(&self) -> usize {
        self.results.bytes() + self.coming.as_ref().map_or(0, Results::bytes)
    }

    /// The hit that the reader is at, if it is in this message.
    pub(crate) fn here(&self, id: MessageId) -> Option<HitKey> {
        self.current.filter(|current| current.id == id).map(|current| current.key)
    }
}

/// Brings the search up to date before a frame is laid out: takes what was found, and goes
/// where the reader wants to.
pub(crate) fn update(
    view: &mut TranscriptView,
    ui: &Ui,
    source: &mut dyn Source,
    geometry: Geometry,
) {
    let mut find = std::mem::take(&mut view.find);
    find.carry_out_wishes(view, ui, source);
    if find.is_open() {
        find.note_moves(view);
        find.follow_rows(source);
        find.ask(view, ui, source);
        find.take_news(view, source);
        find.resolve_step(view, source);
        find.seek(view, ui, source, geometry);
        find.tell_strip(view);
    }
    view.find = find;
}

/// Marks what is on screen, once it is laid out.
pub(crate) fn mark(view: &mut TranscriptView, placed: &[Placed]) {
    let find = &mut view.find;
    match &find.query {
        Some(query) if find.is_open() && find.error.is_none() => {
            find.marks.follow(&view.sheet, placed, query, find.strands);
        }
        _ => find.marks.clear(),
    }
}

impl Find {
    fn carry_out_wishes(&mut self, view: &mut TranscriptView, ui: &Ui, source: &mut dyn Source) {
        let Wishes { open, close, step } = std::mem::take(&mut self.wishes);
        if open {
            if let Some(words) = view.selected_words(ui, source) {
                self.needle.text = words;
            }
            self.open(view, ui);
        }
        if let Some(way) = step
            && !self.needle.text.is_empty()
        {
            let was_open = self.is_open();
            if !was_open {
                self.open(view, ui);
            }
            let has_current = was_open && self.current.is_some();
            self.step = Some(if has_current { way.beside() } else { way.nearest() });
            // From here on the reader stays where he goes.
            self.origin = None;
        }
        if close {
            self.close(view, ui);
        }
    }

    fn open(&mut self, view: &TranscriptView, ui: &Ui) {
        if !self.is_open() {
            self.focus.before = ui.ctx().memory(|memory| memory.focused());
            self.moves = view.sheet.moves();
            self.origin = Some(Origin::of(view));
        }
        self.bar = Bar::Open;
        self.focus.wanted = true;
    }

    /// Closes the bar and gives the keyboard back.
    fn close(&mut self, view: &mut TranscriptView, ui: &Ui) {
        self.bar = Bar::Closed;
        self.go_back(view);
        if let Some(finder) = &mut self.finder {
            finder.cancel();
        }
        (self.asked, self.query, self.current) = (None, None, None);
        (self.step, self.target, self.coming) = (None, None, None);
        self.results = Results::default();
        self.marks.clear();
        view.hits = None;
        let (field, before) = (self.focus.field, self.focus.before.take());
        ui.ctx().memory_mut(|memory| match (field, before) {
            (_, Some(before)) => memory.request_focus(before),
            (Some(field), None) => memory.surrender_focus(field),
            (None, None) => {}
        });
    }

    /// Returns to where the reader was, if he only looked.
    fn go_back(&mut self, view: &mut TranscriptView) {
        let Some(origin) = self.origin.take() else { return };
        if view.sheet.moves() != self.moves {
            return;
        }
        origin.refold(view);
        if origin.was_following {
            view.sheet.jump(Jump::End);
        } else {
            view.sheet.set_anchor(origin.anchor);
        }
    }

    /// Scrolling is a move of the reader's own.
    fn note_moves(&mut self, view: &TranscriptView) {
        if view.sheet.moves() != self.moves {
            self.moves = view.sheet.moves();
            self.origin = None;
            self.has_strayed = true;
        }
    }

    /// Rows change while a conversation grows or its index arrives.
    fn follow_rows(&mut self, source: &dyn Source) {
        if let Some(current) = &mut self.current {
            current.row = source.index_of(current.id).unwrap_or(current.row);
        }
    }

    /// Shows the strip which rows have hits. Copying them all is rare while they come.
    fn tell_strip(&mut self, view: &mut TranscriptView) {
        let now = (self.results.len(), self.is_done, self.edition);
        let (rows, was_done, edition) = self.shown_rows;
        let has_grown = now.0 > rows + rows / 8;
        if view.hits.is_none() || has_grown || (was_done, edition) != (now.1, now.2) {
            self.shown_rows = now;
            view.hits = Some(Arc::new(self.results.rows()));
        }
    }

    /// True while more may be found.
    fn is_searching(&self, source: &dyn Source) -> bool {
        let is_indexing = matches!(source.progress(), Progress::Indexing { .. });
        let is_first = !self.is_done && self.coming.is_none();
        !self.needle.text.is_empty() && self.error.is_none() && (is_first || is_indexing)
    }
}

impl Origin {
    fn of(view: &TranscriptView) -> Self {
        let was_following = view.sheet.is_following();
        Self { anchor: view.sheet.anchor(), was_following, folds: Vec::new() }
    }

    /// Folds again what was unfolded for a look.
    fn refold(&self, view: &mut TranscriptView) {
        for (fold, chosen) in self.folds.iter().rev() {
            view.folds.restore(*fold, *chosen);
        }
    }
}
