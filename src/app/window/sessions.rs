//! Sessions in the window's tabs: opened, reopened where they were read, changed from the
//! list, remembered.

use std::{sync::Arc, time::Duration};

use egui::{Context, Ui};

use super::{
    Window,
    chat::{Chat, Restored},
    desk::{Kept, Reopen},
    exporting::Offer,
    goal::Goal,
    recall::Remembered,
    tab::Tab,
};
use crate::{
    app::{cli::ProviderFlags, export::Subject, timestamp},
    layout::Palette,
    model::{MessageId, record::Meta},
    perf::{self, Reason},
    store::{Home, SessionId},
    view::{
        governor,
        sessions::{ListWish, Loose, Mark, Marks, SwitchWish},
    },
};

/// How often the places of readers are remembered.
const REMEMBER: Duration = Duration::from_secs(10);

impl Window {
    /// How the open sessions stand.
    pub(super) fn marks(&self) -> Marks {
        let mark = |(index, tab): (usize, &Tab)| {
            let id = tab.session().filter(|_| tab.talk().is_none_or(Chat::is_kept))?;
            Some((id.clone(), self.mark(index, tab)))
        };
        self.tabs.iter().enumerate().filter_map(mark).collect()
    }

    fn mark(&self, index: usize, tab: &Tab) -> Mark {
        Mark {
            is_active: index == self.active,
            is_busy: tab.talk().is_some_and(Chat::is_busy),
            asks: tab.talk().is_some_and(Chat::asks),
        }
    }

    /// What is open and not among the sessions. A conversation in which nothing was said and
    /// nothing is written is not worth a row.
    pub(super) fn loose(&self) -> Vec<Loose> {
        let loose = |(index, tab): (usize, &Tab)| {
            let is_blank = tab.talk().is_some_and(Chat::is_untouched);
            (!tab.is_listed && !is_blank).then(|| Loose {
                key: tab.id(),
                title: tab.title(),
                mark: self.mark(index, tab),
                is_file: tab.is_file(),
                has_draft: tab.talk().is_some_and(Chat::has_draft),
            })
        };
        self.tabs.iter().enumerate().filter_map(loose).collect()
    }

    /// Does what was wanted of the list.
    pub(super) fn carry_out_list(&mut self, ctx: &Context, wish: ListWish) {
        let meta = Meta::default;
        match wish {
            ListWish::Open { id, in_new_tab } => self.open_session(ctx, id, in_new_tab, None),
            ListWish::Rename(id, title) => {
                self.describe(ctx, id, Meta { title: Some(title.into()), ..meta() });
            }
            ListWish::Pin(id, pinned) => {
                self.describe(ctx, id, Meta { pinned: Some(pinned), ..meta() });
            }
            ListWish::Archive(id, archived) => {
                self.describe(ctx, id, Meta { archived: Some(archived), ..meta() });
            }
            ListWish::Delete(id) => self.delete(ctx, id),
            ListWish::Restore(id) => self.throw(ctx, id, false),
            ListWish::Export(id) => self.export_session(&id),
            ListWish::CopyId(id) => ctx.copy_text(id.as_str().to_owned()),
            ListWish::Search(words) => self.desk.switch.open(&words),
            ListWish::Focus(key) => {
                if let Some(index) = self.tabs.iter().position(|tab| tab.id() == key) {
                    self.activate(index);
                }
            }
            ListWish::Close(key) => {
                if let Some(index) = self.tabs.iter().position(|tab| tab.id() == key) {
                    self.close(index);
                }
            }
            ListWish::PickFile => self.dialogs.pick_file(ctx),
        }
    }

    /// Shows the quick way, and goes where it leads.
    pub(super) fn switch_ui(&mut self, ui: &Ui, palette: &Palette) {
        if !self.desk.switch.is_open() {
            return;
        }
        let marks = self.marks();
        if let Some(SwitchWish::Open { id, at, in_new_tab }) =
            self.desk.switch_ui(ui, &marks, palette)
        {
            self.open_session(ui.ctx(), id, in_new_tab, at);
        }
    }

    /// Shows a session: in its tab if it has one, else in the place of what was only looked
    /// at, or in a tab of its own.
    pub(super) fn open_session(
        &mut self,
        ctx: &Context,
        id: SessionId,
        in_new_tab: bool,
        at: Option<(MessageId, String)>,
    ) {
        let now = perf::now();
        let goal = at.map(|(message, words)| Goal::message(message, words, now));
        if let Some(index) = self.tabs.iter().position(|tab| tab.session() == Some(&id)) {
            self.activate(index);
            if let Some(tab) = self.tabs.get_mut(index) {
                tab.is_passing &= !in_new_tab;
                goal.into_iter().for_each(|goal| tab.aim(goal));
            }
            return;
        }
        let Some(mut tab) = self.stored_tab(ctx, id, goal) else { return };
        tab.is_passing = !in_new_tab;
        self.place(tab, in_new_tab);
    }

    fn stored_tab(&mut self, ctx: &Context, id: SessionId, goal: Option<Goal>) -> Option<Tab> {
        let (engine, kept) = (self.engine.clone()?, self.desk.kept()?);
        let place = || kept.recall.place(&id).map(|anchor| Goal::place(anchor, perf::now()));
        let goal = goal.or_else(place);
        self.next_tab += 1;
        let title = self.desk.find(&id).map(|listed| listed.title);
        let mut tab = Tab::stored(ctx, &engine, &kept.store, id, goal, self.next_tab);
        if let Some(title) = title {
            tab.set_name(&title);
        }
        Some(tab)
    }

    /// Puts a tab in the place of the one that is shown, if that was only looked at, or was
    /// never used; else behind it.
    fn place(&mut self, tab: Tab, in_new_tab: bool) {
        let gives_way = |tab: &Tab| match tab.talk() {
            Some(chat) => chat.is_untouched() || (tab.is_passing && is_idle(chat)),
            None => tab.is_passing,
        };
        self.leave();
        match self.tabs.get_mut(self.active) {
            Some(shown) if !in_new_tab && gives_way(shown) => *shown = tab,
            Some(_) => {
                self.tabs.insert(self.active + 1, tab);
                self.active += 1;
            }
            None => {
                self.tabs.push(tab);
                self.active = self.tabs.len() - 1;
            }
        }
    }

    /// Shows another tab, whose box to write in has the keyboard then.
    pub(super) fn activate(&mut self, index: usize) {
        self.turn_to(index);
        if let Some(chat) = self.tabs.get_mut(self.active).and_then(Tab::live) {
            chat.focus();
        }
    }

    /// Shows another tab, and leaves the keyboard where it is.
    pub(super) fn turn_to(&mut self, index: usize) {
        if index < self.tabs.len() && index != self.active {
            self.leave();
            self.active = index;
        }
    }

    /// The tab that is shown is left: what is written in it is saved, and where it was read.
    pub(super) fn leave(&mut self) {
        if let Some(chat) = self.tabs.get(self.active).and_then(Tab::talk) {
            chat.flush(false);
        }
        self.note_place(self.active);
    }

    /// Notes where a session is read.
    pub(super) fn note_place(&mut self, index: usize) {
        let Some(tab) = self.tabs.get(index) else { return };
        let (Some(id), Some(view)) = (tab.session().cloned(), tab.shown()) else { return };
        // What was never laid out was not read anywhere.
        if view.visible_slugs() == 0 {
            return;
        }
        let place = view.place();
        if let Some(kept) = self.desk.kept_mut() {
            kept.recall.note(&id, place);
        }
    }

    /// The reader is not where he is remembered to be.
    fn has_moved(&self) -> bool {
        let Some(tab) = self.tabs.get(self.active) else { return false };
        let (Some(id), Some(view)) = (tab.session(), tab.shown()) else { return false };
        let kept = self.desk.kept();
        view.visible_slugs() > 0 && kept.is_some_and(|kept| kept.recall.place(id) != view.place())
    }

    /// What has to be done in each frame, whatever is shown.
    pub(super) fn tend(&mut self, ui: &Ui) {
        let (Some(engine), ctx) = (self.engine.clone(), ui.ctx()) else { return };
        let active = self.active;
        let catalog = self.desk.kept().map(|kept| kept.catalog.clone());
        for (index, tab) in self.tabs.iter_mut().enumerate() {
            if let Some(catalog) = &catalog {
                tab.advance(ctx, &engine, &self.around, catalog);
            }
            if let Some(chat) = tab.live().filter(|_| index != active) {
                chat.tend(ctx, &engine);
            }
            // Whoever says something in it wants to keep it.
            let is_used = tab.talk().is_some_and(|chat| !is_idle(chat));
            tab.is_passing &= !is_used;
        }
        self.follow_names();
        self.follow_focus(ui);
        self.remember(ui);
    }

    /// Titles of the sessions, when the list is another one.
    fn follow_names(&mut self) {
        let listed = self.desk.listed();
        if self.names.as_ref().is_some_and(|known| {
            Arc::ptr_eq(&known.0, &listed) && known.1 == self.tabs.len() && known.2 == self.active
        }) {
            return;
        }
        for tab in &mut self.tabs {
            let found = tab.session().and_then(|id| listed.iter().find(|one| one.id == *id));
            tab.is_listed = found.is_some();
            if let Some(title) = found.map(|one| Arc::clone(&one.title)) {
                tab.set_name(&title);
            }
        }
        self.names = Some((listed, self.tabs.len(), self.active));
    }

    /// What is written is safe once the user looks elsewhere.
    fn follow_focus(&mut self, ui: &Ui) {
        let has_focus = ui.input(|input| input.focused);
        match (std::mem::replace(&mut self.had_focus, has_focus), has_focus) {
            (true, false) => {
                self.tabs.iter().filter_map(Tab::talk).for_each(|chat| chat.flush(true));
                self.remember_now();
            }
            // Other windows may have written meanwhile.
            (false, true) => {
                if let Some(kept) = self.desk.kept() {
                    kept.catalog.refresh();
                }
            }
            (true, true) | (false, false) => {}
        }
    }

    /// Has remembered the tabs at once when they change, and places from time to time.
    fn remember(&mut self, ui: &Ui) {
        if self.desk.kept().is_none() {
            return;
        }
        let now = perf::now();
        let passed = self.remembered.map(|at| now.saturating_duration_since(at));
        let kept = self.tabs.iter().filter(|tab| is_worth(tab)).count();
        let state = (self.tabs.len(), kept, self.active, self.sidebar);
        let is_new = std::mem::replace(&mut self.tab_state, state) != state;
        match passed {
            Some(passed) if passed < REMEMBER && !is_new => {
                // This frame may be the last for long.
                if self.has_moved() {
                    governor::after(ui, Reason::Tick, REMEMBER.saturating_sub(passed));
                }
            }
            Some(_) | None => {
                self.remembered = Some(now);
                self.remember_now();
            }
        }
    }

    /// Has remembered what is open and where it is read.
    pub(super) fn remember_now(&mut self) {
        self.note_place(self.active);
        let tabs: Vec<(bool, Option<Remembered>)> = self
            .tabs
            .iter()
            .enumerate()
            .map(|(at, tab)| (at == self.active, memory(tab)))
            .collect();
        let is_bare = !self.sidebar;
        let Some(kept) = self.desk.kept_mut() else { return };
        if !kept.remembers_tabs() {
            return kept.remember();
        }
        let kept_tabs = || tabs.iter().filter(|(_, tab)| tab.is_some());
        kept.recall.active = kept_tabs().position(|(is_active, _)| *is_active).unwrap_or(0);
        kept.recall.tabs = tabs.iter().filter_map(|(_, tab)| tab.clone()).collect();
        kept.recall.is_bare = is_bare;
        kept.remember();
    }

    /// Opens the tabs of the time before, and what was being written in conversations that
    /// had not begun.
    pub(super) fn reopen(&mut self, ctx: &Context, flags: &ProviderFlags) {
        let Some(kept) = self.desk.kept() else { return };
        if kept.reopen() == Reopen::Nothing {
            return;
        }
        let recall = kept.recall.clone();
        let mut drafts = kept.store.new_drafts();
        let exists = |name: &str| SessionId::new(name).filter(|id| kept.store.contains(id));
        let tabs: Vec<(usize, Remembered)> = (0..)
            .zip(recall.tabs.iter().cloned())
            .filter(|(_, tab)| match tab {
                Remembered::Session { id, .. } => exists(id).is_some(),
                Remembered::Draft(name) => drafts.iter().any(|(home, _)| is_named(home, name)),
                Remembered::File(path) => path.exists(),
            })
            .collect();
        self.sidebar = !recall.is_bare;
        let mut active = 0;
        for (at, tab) in tabs {
            match tab {
                Remembered::Session { id, title } => {
                    let id = SessionId::new(&id);
                    let mut tab = id.and_then(|id| self.stored_tab(ctx, id, None));
                    if let Some(tab) = &mut tab {
                        tab.set_name(&title.into());
                    }
                    self.tabs.extend(tab);
                }
                Remembered::Draft(name) => {
                    drafts.retain(|(home, _)| !is_named(home, &name));
                    self.chat_of_draft(ctx, flags, &name);
                }
                Remembered::File(path) => self.push(|id| Tab::open(ctx, path, id)),
            }
            if at == recall.active {
                active = self.tabs.len().saturating_sub(1);
            }
        }
        // Those of windows that came to a bad end before they were remembered.
        for (home, _) in drafts {
            if let Home::New(name) = home {
                self.chat_of_draft(ctx, flags, name.as_str());
            }
        }
        self.active = active;
    }

    /// A conversation that had not begun, with what was being written in it.
    fn chat_of_draft(&mut self, ctx: &Context, flags: &ProviderFlags, name: &str) {
        let Some(name) = SessionId::new(name) else { return };
        self.chat_named(ctx, flags, Some(name.clone()));
        let Some(kept) = self.desk.kept() else { return };
        let draft = Restored::read(&kept.store, &Home::New(name));
        if let Some(chat) = self.tabs.last_mut().and_then(Tab::live) {
            chat.restore_draft(draft);
        }
    }

    /// Writes something about a session into its log.
    fn describe(&self, ctx: &Context, id: SessionId, meta: Meta) {
        let open = self.tabs.iter().find(|tab| tab.session() == Some(&id));
        let log = open.and_then(Tab::talk).and_then(Chat::log);
        if let Some(engine) = &self.engine {
            self.desk.describe(ctx, engine, id, meta, log);
        }
    }

    /// Puts a session into the trash. Its tab goes with it.
    fn delete(&mut self, ctx: &Context, id: SessionId) {
        if let Some(index) = self.tabs.iter().position(|tab| tab.session() == Some(&id)) {
            self.close(index);
        }
        self.throw(ctx, id, true);
    }

    fn throw(&self, ctx: &Context, id: SessionId, away: bool) {
        if let Some(engine) = &self.engine {
            self.desk.throw(ctx, engine, id, away);
        }
    }

    /// Asks how a session of the list is to be exported.
    fn export_session(&mut self, id: &SessionId) {
        let Some(kept) = self.desk.kept() else { return };
        let subject = Subject::File(kept.store.log_path(id));
        let title = self.desk.find(id).map(|listed| listed.title.to_string()).unwrap_or_default();
        self.exporting.open(Offer::whole(title, subject));
    }

    /// True when there is a session of this name.
    pub(super) fn has_session(&self, id: &SessionId) -> bool {
        self.desk.kept().is_some_and(|kept| kept.store.contains(id))
    }

    /// A name for a session that does not exist yet.
    pub(super) fn fresh_name() -> SessionId {
        SessionId::fresh(timestamp::now_ms())
    }

    /// A bad end of the program takes nothing of what is written with it, as well as it goes.
    pub(super) fn save_drafts_on_panic(&self) {
        let Some(kept) = self.desk.kept() else { return };
        let (drafts, before) = (kept.store.drafts(), std::panic::take_hook());
        std::panic::set_hook(Box::new(move |panic| {
            drafts.save_now();
            before(panic);
        }));
    }

    /// The end of the program: what is written and where it was read is on the disk, and the
    /// logs are let go.
    pub fn finish(&mut self) {
        self.tabs.iter().filter_map(Tab::talk).for_each(|chat| chat.flush(true));
        self.remember_now();
        let open: Vec<SessionId> = self
            .tabs
            .iter()
            .filter(|tab| tab.talk().is_some_and(Chat::is_kept))
            .filter_map(|tab| tab.session().cloned())
            .collect();
        self.tabs.clear();
        let Some(kept) = self.desk.kept_mut() else { return };
        kept.finish();
        kept.store.drafts().save_now();
        wait_for_logs(kept, &open);
    }
}

/// Waits until logs are let go, but not for ever: what is not written by then is found torn.
fn wait_for_logs(kept: &Kept, open: &[SessionId]) {
    let limit = perf::now() + Duration::from_secs(2);
    for id in open {
        while !kept.store.is_free(id) && perf::now() < limit {
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }
}

/// Nothing goes on in it, and nothing is written.
fn is_idle(chat: &Chat) -> bool {
    !chat.is_busy() && !chat.has_draft() && !chat.was_used()
}

fn is_named(home: &Home, name: &str) -> bool {
    matches!(home, Home::New(id) if id.as_str() == name)
}

/// True for a tab of which something is remembered.
fn is_worth(tab: &Tab) -> bool {
    tab.talk().is_none_or(|chat| chat.is_kept() || chat.has_draft())
}

/// What is remembered of a tab.
fn memory(tab: &Tab) -> Option<Remembered> {
    if let Some(chat) = tab.talk().filter(|chat| !chat.is_kept()) {
        let id = chat.id().filter(|_| chat.has_draft())?;
        return Some(Remembered::Draft(id.as_str().to_owned()));
    }
    if let Some(id) = tab.session() {
        return Some(Remembered::Session { id: id.as_str().to_owned(), title: tab.title() });
    }
    tab.path().map(|path| Remembered::File(path.to_owned()))
}
