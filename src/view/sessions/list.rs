//! The list of sessions beside the page.

mod head;
mod keys;
mod rows;

use std::{sync::Arc, time::Instant};

use egui::{Id, ScrollArea, Ui};

use self::rows::loose_ui;
use super::{
    Lines, Listed, Mark, Marks, ROW_HEIGHT, SessionId, Shelf, local_day,
    notes::{self, Toast},
    rename::Renaming,
};
use crate::{layout::Palette, view::wall::Moment};

/// Something to be done, by the program around the list.
#[derive(Clone, Debug, PartialEq)]
pub enum ListWish {
    /// Show a session.
    Open {
        /// Which.
        id: SessionId,
        /// Beside what is shown, and not in its place.
        in_new_tab: bool,
    },
    /// Give it another title.
    Rename(SessionId, String),
    /// Keep it on top, or no longer.
    Pin(SessionId, bool),
    /// Put it away, or take it out again.
    Archive(SessionId, bool),
    /// Put it into the trash.
    Delete(SessionId),
    /// Take it out of the trash.
    Restore(SessionId),
    /// Write it into a file of the user's choice.
    Export(SessionId),
    /// Put its name on the clipboard.
    CopyId(SessionId),
    /// Look for words in everything that was said.
    Search(String),
    /// Go to something that is open and not among the sessions.
    Focus(u64),
    /// Close it.
    Close(u64),
    /// Let the user choose a file to open.
    PickFile,
}

/// How the list itself stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It is complete.
    #[default]
    Ready,
    /// More sessions are still being found.
    Indexing {
        /// Sessions that are known.
        done: u64,
        /// Sessions that there are; 0 while that is not known.
        total: u64,
    },
    /// Nothing can be kept: why, and what to do, for people.
    Failed(Arc<str>),
}

/// Something that is open and not among the sessions: a file, or a conversation that is kept
/// nowhere, or not yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Loose {
    /// Distinguishes it from all others.
    pub key: u64,
    /// What it is called.
    pub title: String,
    /// How it stands.
    pub mark: Mark,
    /// It is a file of another program's.
    pub is_file: bool,
    /// Something was written in it and not sent.
    pub has_draft: bool,
}

/// What the list shows.
pub struct Shown<'a> {
    /// All sessions.
    pub listed: &'a Arc<[Listed]>,
    /// How the open ones stand.
    pub marks: &'a Marks,
    /// What is open and not among them.
    pub loose: &'a [Loose],
    /// How the list stands.
    pub state: &'a State,
    /// What time it is.
    pub now: Moment,
    /// The clock that what goes away by itself goes by.
    pub clock: Instant,
    /// Colours.
    pub palette: &'a Palette,
}

/// The list of sessions: what is filtered, where the keyboard is, what is being renamed.
#[derive(Default)]
pub struct SessionList {
    filter: String,
    shelf: Shelf,
    lines: Option<(Made, Lines)>,
    at: Option<SessionId>,
    renaming: Option<Renaming>,
    toast: Option<Toast>,
    /// The line to bring on screen.
    reveal: Option<SessionId>,
    /// What was on the page in the frame before.
    was_active: Option<SessionId>,
    laid_out: usize,
    lines_made: u64,
}

/// What the lines were worked out for.
struct Made {
    listed: Arc<[Listed]>,
    shelf: Shelf,
    filter: String,
    day: i64,
}

impl SessionList {
    /// Shows the list in all of `ui`'s room.
    pub fn show(&mut self, ui: &mut Ui, shown: &Shown<'_>) -> Vec<ListWish> {
        let mut wishes = Vec::new();
        self.head_ui(ui, shown, &mut wishes);
        notes::state_ui(ui, shown.state, shown.palette);
        self.work_out(shown);
        self.follow_active(shown);
        let files = shown.loose.iter().filter(|loose| loose.is_file).count();
        let foot = if files > 0 { 34.0 + ROW_HEIGHT * (files.min(6) as f32 + 0.4) } else { 0.0 };
        self.lines_ui(ui, shown, foot, &mut wishes);
        loose_ui(ui, shown, true, &mut wishes);
        self.toast_ui(ui, shown, &mut wishes);
        wishes
    }

    /// Says something for a while, at the lower left.
    pub fn tell(&mut self, words: &str, now: Instant) {
        self.toast = Some(Toast::told(words, now));
    }

    /// Says for a while that a session was deleted, and how to have it back.
    pub fn deleted(&mut self, id: SessionId, title: &str, now: Instant) {
        self.toast = Some(Toast::deleted(id, title, now));
    }

    /// Rows of sessions that were laid out in the last frame.
    #[must_use]
    pub fn laid_out(&self) -> usize {
        self.laid_out
    }

    /// How often all sessions were looked through.
    #[must_use]
    pub fn lines_made(&self) -> u64 {
        self.lines_made
    }

    /// Which sessions are listed.
    #[must_use]
    pub fn shelf(&self) -> Shelf {
        self.shelf
    }

    fn work_out(&mut self, shown: &Shown<'_>) {
        let day = local_day(shown.now.unix_ms, shown.now);
        let is_same = self.lines.as_ref().is_some_and(|(key, _)| {
            Arc::ptr_eq(&key.listed, shown.listed)
                && (key.shelf, key.day) == (self.shelf, day)
                && key.filter == self.filter
        });
        if is_same {
            return;
        }
        let lines = Lines::of(shown.listed, self.shelf, &self.filter, shown.now);
        let (listed, filter) = (Arc::clone(shown.listed), self.filter.clone());
        self.lines = Some((Made { listed, shelf: self.shelf, filter, day }, lines));
        self.lines_made += 1;
    }

    /// What comes to be on the page is brought on screen here too.
    fn follow_active(&mut self, shown: &Shown<'_>) {
        let active = shown.marks.active();
        if active != self.was_active.as_ref() {
            self.was_active = active.cloned();
            self.reveal = self.was_active.clone();
        }
    }

    fn lines_ui(&mut self, ui: &mut Ui, shown: &Shown<'_>, foot: f32, wishes: &mut Vec<ListWish>) {
        self.laid_out = 0;
        let Some((key, lines)) = self.lines.take() else { return };
        ui.spacing_mut().item_spacing.y = 0.0;
        loose_ui(ui, shown, false, wishes);
        let has_loose = shown.loose.iter().any(|loose| !loose.is_file);
        if lines.is_empty() && !(has_loose && self.shelf == Shelf::Current) {
            let is_known = !matches!(shown.state, State::Indexing { .. });
            if is_known {
                notes::empty_ui(ui, self.shelf, &self.filter, shown.palette);
            }
        }
        let id = list_id();
        let height = (ui.available_height() - foot).max(ROW_HEIGHT * 2.0);
        let focus = self.focus_ui(ui, id, height);
        self.keys(ui, focus, shown, &lines, wishes);
        ScrollArea::vertical()
            .id_salt("sessions")
            .max_height(height)
            .auto_shrink([false, true])
            .show_viewport(ui, |ui, viewport| {
                ui.set_height(lines.height());
                self.visible_ui(ui, viewport, shown, &lines, wishes);
            });
        self.lines = Some((key, lines));
    }

    fn toast_ui(&mut self, ui: &Ui, shown: &Shown<'_>, wishes: &mut Vec<ListWish>) {
        let Some(toast) = &self.toast else { return };
        let (wanted, stays) = toast.show(ui, shown.palette, shown.clock);
        if let Some(id) = wanted {
            wishes.push(ListWish::Restore(id));
        }
        if !stays {
            self.toast = None;
        }
    }
}

/// The list, as it has the keyboard.
fn list_id() -> Id {
    Id::unique("list of sessions")
}
