//! The sessions as the window has them: the list, the quick way, searching, and what is done
//! with a session from outside of it.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::Duration,
};

use egui::{Context, Ui};
use tokio::sync::{oneshot, watch};

use super::recall::{Keeper, Recall};
use crate::{
    app::{private_file, sessions, timestamp, watch::local_time::LocalTime},
    engine::{
        Waker,
        live::{Engine, LogHandle},
    },
    layout::Palette,
    model::record::Meta,
    perf::{self, Reason},
    store::{
        RealDisk, SessionId, Store,
        catalog::{self, Catalog, Findings, Listed, Listing, Question},
    },
    view::{
        governor::waker,
        sessions::{
            Hits, ListWish, Loose, Marks, QuickSwitch, Searching, SessionList, Shown, State,
            SwitchShown, SwitchWish,
        },
        wall::Moment,
    },
};

/// The file of the index, in the folder of the data.
const INDEX: &str = "index.sqlite";
/// What is remembered of the window, in the folder of its state.
const MEMORY: &str = "window.json";
/// When what is old is looked for, after the window was opened.
const TIDY_AFTER: Duration = Duration::from_secs(20);
/// Locked by the one window that remembers its tabs.
const SEAT: &str = "window.lock";
/// How long a session that was open here takes to be let go of, at most.
const LET_GO: Duration = Duration::from_secs(2);
/// Words that wait to be told.
const TOLD_MAX: usize = 8;

/// Where conversations are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keep {
    /// The folder of sessions, drafts and their index.
    pub data: PathBuf,
    /// The folder of what the window remembers.
    pub state: PathBuf,
    /// What becomes of the tabs of the time before.
    pub reopen: Reopen,
}

/// What becomes of the tabs of the time before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reopen {
    /// They are left for another time.
    #[default]
    Nothing,
    /// They are opened again; where there were none, a new conversation is begun.
    Instead,
    /// They are opened again, beside what is begun anew.
    Beside,
}

/// The sessions as the window has them.
pub(super) struct Desk {
    pub(super) list: SessionList,
    pub(super) switch: QuickSwitch,
    hits: Hits,
    search: Option<(String, oneshot::Receiver<Findings>)>,
    kept: Option<Kept>,
    failure: Option<Arc<str>>,
    time: LocalTime,
    told: (SyncSender<String>, Receiver<String>),
    none: Arc<[Listed]>,
}

/// What there is where conversations are kept.
pub(super) struct Kept {
    pub(super) store: Store,
    pub(super) catalog: Catalog,
    pub(super) recall: Recall,
    listing: watch::Receiver<Listing>,
    keeper: Keeper,
    /// Held by the one window that remembers its tabs.
    seat: Option<File>,
    reopen: Reopen,
}

impl Desk {
    /// Opens what is kept. Where it cannot be kept, that is said, and all goes on in memory.
    pub(super) fn new(ctx: &Context, keep: Option<Keep>) -> Self {
        let (kept, failure) = match keep.map(|keep| Kept::open(ctx, &keep)) {
            None => (None, None),
            Some(Ok(kept)) => (Some(kept), None),
            Some(Err(why)) => (None, Some(why.into())),
        };
        Self {
            list: SessionList::default(),
            switch: QuickSwitch::default(),
            hits: Hits::default(),
            search: None,
            kept,
            failure,
            time: LocalTime::default(),
            told: sync_channel(TOLD_MAX),
            none: Arc::new([]),
        }
    }

    pub(super) fn kept(&self) -> Option<&Kept> {
        self.kept.as_ref()
    }

    pub(super) fn kept_mut(&mut self) -> Option<&mut Kept> {
        self.kept.as_mut()
    }

    /// All sessions.
    pub(super) fn listed(&self) -> Arc<[Listed]> {
        let listed = self.kept.as_ref().map(|kept| Arc::clone(&kept.listing.borrow().sessions));
        listed.unwrap_or_else(|| Arc::clone(&self.none))
    }

    /// A session, if it is listed by now.
    pub(super) fn find(&self, id: &SessionId) -> Option<Listed> {
        self.listed().iter().find(|listed| listed.id == *id).cloned()
    }

    pub(super) fn now(&mut self) -> Moment {
        self.time.now()
    }

    /// Shows the list.
    pub(super) fn list_ui(
        &mut self,
        ui: &mut Ui,
        marks: &Marks,
        loose: &[Loose],
        palette: &Palette,
    ) -> Vec<ListWish> {
        while let Ok(words) = self.told.1.try_recv() {
            self.list.tell(&words, perf::now());
        }
        let (listed, state, now) = (self.listed(), self.state(), self.now());
        let clock = perf::now();
        let shown = Shown { listed: &listed, marks, loose, state: &state, now, clock, palette };
        self.list.show(ui, &shown)
    }

    fn state(&self) -> State {
        if let Some(why) = &self.failure {
            return State::Failed(Arc::clone(why));
        }
        let Some(kept) = &self.kept else { return State::Ready };
        let listing = kept.listing.borrow();
        match (listing.is_complete, listing.progress) {
            (true, _) => State::Ready,
            (false, Some(catalog::Progress { done, total })) if total > 0 => {
                State::Indexing { done: done >> 20, total: (total >> 20).max(1) }
            }
            (false, _) => State::Indexing { done: 0, total: 0 },
        }
    }

    /// Shows the quick way, and has searched what it wants to have searched. Gives what is to
    /// be opened.
    pub(super) fn switch_ui(
        &mut self,
        ui: &Ui,
        marks: &Marks,
        palette: &Palette,
    ) -> Option<SwitchWish> {
        if !self.switch.is_open() {
            return None;
        }
        self.take_findings();
        let (listed, now, clock) = (self.listed(), self.now(), perf::now());
        let hits = &self.hits;
        let shown = SwitchShown { listed: &listed, marks, hits, now, clock, palette };
        let mut opened = None;
        for wish in self.switch.show(ui, &shown) {
            match wish {
                SwitchWish::Search { query, limit } => self.search(query, limit),
                SwitchWish::Open { .. } => opened = Some(wish),
            }
        }
        opened
    }

    fn search(&mut self, query: String, limit: usize) {
        let Some(kept) = &self.kept else {
            self.hits = Hits { query, state: Searching::Done, ..Hits::default() };
            return;
        };
        // What was found for fewer words stays until more is known.
        self.hits.state = Searching::Running;
        let question = Question { with_archived: true, ..Question::new(query.clone(), limit) };
        self.search = Some((query, kept.catalog.search(question)));
    }

    fn take_findings(&mut self) {
        let Some((query, answer)) = &mut self.search else { return };
        let found = match answer.try_recv() {
            Err(oneshot::error::TryRecvError::Empty) => return,
            Ok(findings) => {
                // Titles stand above, as far as they are meant.
                let found = findings.found.into_iter().filter(|found| found.message.is_some());
                Hits { query: query.clone(), found: found.collect(), state: Searching::Done }
            }
            Err(oneshot::error::TryRecvError::Closed) => {
                let why = "Too much is being searched at once. Type on to try again.";
                let state = Searching::Failed(why.into());
                Hits { query: query.clone(), found: Vec::new(), state }
            }
        };
        self.hits = found;
        self.search = None;
    }

    /// Writes something about a session into its log, beside the UI. One that is open in this
    /// window is told by who has it open.
    pub(super) fn describe(
        &self,
        ctx: &Context,
        engine: &Engine,
        id: SessionId,
        meta: Meta,
        open: Option<LogHandle>,
    ) {
        let Some(kept) = &self.kept else { return };
        let (store, catalog) = (kept.store.clone(), kept.catalog.clone());
        let (told, wake) = (self.told.0.clone(), waker(ctx, Reason::Answer));
        engine.spawn(async move {
            let open = open.map(|log| async move |meta: &Meta| log.write_meta(meta).await);
            if let Err(why) = sessions::change(&store, &catalog, &id, &meta, open).await {
                // A window that has closed wants no answer.
                told.try_send(why.to_string()).ok();
            }
            wake();
        });
    }

    /// Puts a session into the trash, or takes it out again, beside the UI. One that was open
    /// here is let go of first, which takes a moment.
    pub(super) fn throw(&self, ctx: &Context, engine: &Engine, id: SessionId, away: bool) {
        let Some(kept) = &self.kept else { return };
        let (store, catalog) = (kept.store.clone(), kept.catalog.clone());
        let (told, wake) = (self.told.0.clone(), waker(ctx, Reason::Answer));
        engine.spawn(async move {
            let outcome = match away {
                true => trash(&store, &id).await,
                // Its log says that it was thrown away.
                false if store.contains(&id) => {
                    let meta = Meta { deleted: Some(false), ..Meta::default() };
                    let open = None::<fn(&Meta) -> std::future::Ready<Result<(), Arc<str>>>>;
                    let changed = sessions::change(&store, &catalog, &id, &meta, open).await;
                    changed.map_err(|why| why.to_string())
                }
                false => sessions::restore(&store, &catalog, &id).map_err(|why| why.to_string()),
            };
            if let Err(why) = outcome {
                // A window that has closed wants no answer.
                told.try_send(why).ok();
            }
            catalog.note(&id);
            wake();
        });
    }

    /// Brings words to the user's eyes.
    pub(super) fn teller(&self, ctx: &Context) -> (SyncSender<String>, Waker) {
        (self.told.0.clone(), waker(ctx, Reason::Answer))
    }
}

impl Kept {
    fn open(ctx: &Context, keep: &Keep) -> Result<Self, String> {
        let why = |error: &std::io::Error| {
            format!(
                "The folder {} cannot be used: {error}. What is said is gone with the window.",
                keep.data.display()
            )
        };
        let store =
            Store::open(keep.data.clone(), Arc::new(RealDisk)).map_err(|error| why(&error))?;
        let catalog = Catalog::open(catalog::Config {
            data: keep.data.clone(),
            index: keep.data.join(INDEX),
            waker: waker(ctx, Reason::Answer),
        })
        .map_err(|error| why(&error))?;
        let memory = keep.state.join(MEMORY);
        let recall = Recall::read(&memory);
        let listing = catalog.listing();
        let keeper = Keeper::new(memory, recall.clone());
        // What is opened and not remembered takes nobody's place.
        let seat = if keep.reopen == Reopen::Nothing { None } else { take_seat(&keep.state) };
        let reopen = if seat.is_some() { keep.reopen } else { Reopen::Nothing };
        if seat.is_some() {
            tidy(store.clone());
        }
        Ok(Self { store, catalog, recall, listing, keeper, seat, reopen })
    }

    /// What becomes of the tabs of the time before. Another window may have them.
    pub(super) fn reopen(&self) -> Reopen {
        self.reopen
    }

    /// True for the window whose tabs are remembered.
    pub(super) fn remembers_tabs(&self) -> bool {
        self.seat.is_some()
    }

    /// Has remembered what changed.
    pub(super) fn remember(&mut self) {
        self.keeper.keep(&self.recall);
    }

    /// Writes the last state, and waits for it.
    pub(super) fn finish(&mut self) {
        self.keeper.finish(&self.recall);
    }
}

/// Removes what was deleted a month ago, and bytes that nothing names any more. Later, so that
/// it is in nobody's way while tabs are opened; what is open is left alone.
fn tidy(store: Store) {
    let work = move || {
        std::thread::park_timeout(TIDY_AFTER);
        let now_ms = timestamp::now_ms();
        let purged = store.purge(now_ms).len();
        // What cannot be removed now is removed another time.
        let swept: usize = store.ids().iter().filter_map(|id| store.sweep(id, now_ms).ok()).sum();
        let pasted = store.sweep_drafts(now_ms).unwrap_or_default();
        tracing::debug!(purged, swept, pasted, "sessions are tidy");
    };
    let started = std::thread::Builder::new().name("session-tidy".to_owned()).spawn(work);
    if let Err(error) = started {
        tracing::warn!(%error, "sessions are not tidied");
    }
}

/// Takes the seat of the window that remembers its tabs; none when another window has it.
fn take_seat(state: &Path) -> Option<File> {
    private_file::make_folder(state).ok()?;
    let path = state.join(SEAT);
    let file = File::options().create(true).append(true).open(path).ok()?;
    file.try_lock().is_ok().then_some(file)
}

async fn trash(store: &Store, id: &SessionId) -> Result<(), String> {
    let limit = perf::now() + LET_GO;
    loop {
        match store.trash(id, timestamp::now_ms()) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() != std::io::ErrorKind::WouldBlock => {
                return Err(format!("It was not deleted: {error}."));
            }
            Err(_) if perf::now() >= limit => {
                return Err("It was not deleted, because it is open in another window.".into());
            }
            Err(_) => tokio::time::sleep(LET_GO / 100).await,
        }
    }
}
