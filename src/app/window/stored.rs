//! A session that is shown and not ours to write: while it is being opened, and while somebody
//! else has it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{Receiver, sync_channel},
    },
    time::Duration,
};

use egui::{Button, Context, Label, RichText, Ui};

use super::{
    chat::{Restored, banner_ui},
    chrome,
    goal::Goal,
};
use crate::{
    app::{shown, timestamp},
    engine::{FileSource, live::Engine, reader},
    model::{Base, MessageId, Progress, Source as _},
    perf::{self, Reason},
    store::{Access, Home, LiveView, Opened, SessionId, Store},
    view::{Renderer, Shown, TranscriptView, ViewCommand, governor::waker},
};

/// How often somebody who waits for a session looks whether it is free.
const LOOK: Duration = Duration::from_millis(500);

/// What came of opening a session.
pub(super) struct Arrived {
    pub(super) opened: Opened,
    pub(super) draft: Restored,
}

/// A session that is shown and not ours to write.
pub(super) struct Stored {
    pub(super) id: SessionId,
    pub(super) source: FileSource,
    pub(super) view: TranscriptView,
    pub(super) goal: Option<Goal>,
    shown: Shown,
    store: Store,
    state: State,
}

/// What of it goes on.
pub(super) struct Parts {
    pub(super) id: SessionId,
    pub(super) source: FileSource,
    pub(super) view: TranscriptView,
    pub(super) goal: Option<Goal>,
    pub(super) store: Store,
}

enum State {
    Opening(Receiver<Result<Box<Arrived>, String>>),
    /// Somebody else writes it, or it may not be written.
    Locked {
        why: Arc<str>,
        /// It can be written once nobody else does.
        is_lockable: bool,
        is_free: Arc<AtomicBool>,
    },
    Failed(String),
}

impl Stored {
    /// Shows a session, and has it opened beside the UI.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn open(
        ctx: &Context,
        engine: &Engine,
        store: &Store,
        id: SessionId,
        goal: Option<Goal>,
    ) -> Result<Self, String> {
        let near = goal.as_ref().map(Goal::id);
        let source = read(ctx, store, &id, near).map_err(|error| error.to_string())?;
        let state = open(ctx, engine, store, &id);
        let (view, shown, store) = (TranscriptView::new(ctx), Shown::default(), store.clone());
        Ok(Self { id, source, view, goal, shown, store, state })
    }

    /// What goes on in it once it is ours.
    pub(super) fn into_parts(self) -> Parts {
        let Self { id, source, view, goal, store, .. } = self;
        Parts { id, source, view, goal, store }
    }

    /// What came of opening it, once it is ours.
    pub(super) fn take(&mut self, ctx: &Context, engine: &Engine) -> Option<Arrived> {
        let State::Opening(receiver) = &self.state else { return None };
        let answer = match receiver.try_recv() {
            Err(std::sync::mpsc::TryRecvError::Empty) => return None,
            Err(std::sync::mpsc::TryRecvError::Disconnected) => {
                Err("The session cannot be opened.".to_owned())
            }
            Ok(answer) => answer,
        };
        let arrived = match answer {
            Ok(arrived) => *arrived,
            Err(why) => {
                self.state = State::Failed(why);
                return None;
            }
        };
        let Arrived { opened, draft } = arrived;
        match opened.log {
            Access::Write(_) => Some(Arrived { opened, draft }),
            Access::Read { why, live } => {
                // It grows while somebody else writes it.
                if let Ok(source) = shown::follow(self.source.path(), ctx) {
                    self.source = source;
                }
                self.wait(ctx, engine, why, live);
                None
            }
        }
    }

    /// Looks from time to time whether it is free.
    fn wait(&mut self, ctx: &Context, engine: &Engine, why: Arc<str>, live: LiveView) {
        let is_free = Arc::new(AtomicBool::new(false));
        let is_lockable = live.is_lockable();
        if is_lockable {
            let (seen, wake) = (Arc::downgrade(&is_free), waker(ctx, Reason::Answer));
            engine.spawn(async move {
                loop {
                    tokio::time::sleep(LOOK).await;
                    let Some(seen) = seen.upgrade() else { return };
                    let now = live.is_free();
                    if seen.swap(now, Relaxed) != now {
                        wake();
                    }
                }
            });
        }
        self.state = State::Locked { why, is_lockable, is_free };
    }

    /// Shows it, and what is to be known about it.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        engine: &Engine,
        renderer: Renderer,
    ) -> Vec<ViewCommand> {
        if self.banner_ui(ui) {
            self.state = open(ui.ctx(), engine, &self.store, &self.id);
        }
        let is_early = Goal::pursue(&mut self.goal, &mut self.view, &mut self.source, perf::now());
        if is_early {
            return Vec::new();
        }
        self.shown.show(renderer, &mut self.view, ui, &mut self.source)
    }

    /// True once it is to be taken over.
    fn banner_ui(&self, ui: &mut Ui) -> bool {
        let (why, can_take) = match &self.state {
            State::Opening(_) => return false,
            State::Failed(why) => (why.as_str(), true),
            State::Locked { why, is_lockable, is_free } => {
                (&**why, *is_lockable && is_free.load(Relaxed))
            }
        };
        let words = match &self.state {
            State::Failed(_) => "Try again",
            State::Opening(_) | State::Locked { .. } => "Take over",
        };
        let palette = chrome::palette(ui);
        let mut is_taken = false;
        let frame = egui::Frame::NONE.inner_margin(egui::Margin::symmetric(16, 8));
        egui::Panel::bottom("stored").frame(frame).show_separator_line(false).show(ui, |ui| {
            banner_ui(ui, &palette, palette.warn, |ui| {
                ui.add(Label::new(RichText::new(why).color(palette.text)).wrap());
                if can_take {
                    is_taken = ui.add(Button::new(words)).clicked();
                }
            });
        });
        is_taken
    }

    /// True when nothing that changes the picture is still on its way.
    pub(super) fn is_settled(&self) -> bool {
        let is_read = self.source.progress() == Progress::Complete && self.source.ready();
        !matches!(self.state, State::Opening(_)) && is_read && self.view.is_settled()
    }

    /// In a word, how it stands.
    pub(super) fn caption(&self) -> String {
        match &self.state {
            State::Opening(_) => "opening…".to_owned(),
            State::Locked { .. } => format!("{} messages · only read", self.source.len()),
            State::Failed(_) => "could not be opened".to_owned(),
        }
    }
}

/// Reads a log from its end, or from where a message stands.
fn read(
    ctx: &Context,
    store: &Store,
    id: &SessionId,
    near: Option<MessageId>,
) -> std::io::Result<FileSource> {
    let path = store.log_path(id);
    let len = std::fs::metadata(&path)?.len();
    let base = Arc::new(Base { path, len, leaf: None });
    FileSource::stored(&base, near, waker(ctx, Reason::Page), reader::Config::default())
}

/// Has a session opened beside the UI.
fn open(ctx: &Context, engine: &Engine, store: &Store, id: &SessionId) -> State {
    let (sender, receiver) = sync_channel(1);
    let (wake, store, id) = (waker(ctx, Reason::Answer), store.clone(), id.clone());
    engine.spawn(async move {
        let opening = tokio::task::spawn_blocking(move || {
            let opened = store.open_session(&id, timestamp::now_ms());
            let opened = opened.map_err(|error| format!("It cannot be opened: {error}."))?;
            let draft = Restored::read(&store, &Home::Session(id));
            Ok(Box::new(Arrived { opened, draft }))
        });
        let opened = opening.await;
        let opened = opened.unwrap_or_else(|_panicked| Err("It cannot be opened.".to_owned()));
        // A window that has closed wants no answer.
        sender.send(opened).ok();
        wake();
    });
    State::Opening(receiver)
}
