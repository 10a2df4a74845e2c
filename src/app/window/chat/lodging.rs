//! Where a conversation is kept.

use std::sync::Arc;

use egui::Context;

use super::{Chat, Found, written::Written};
use crate::{
    app::{timestamp, window::desk::Kept},
    engine::live::{Engine, workbench::Workbench},
    model::{Command, Draft, record::Meta},
    perf::Reason,
    store::{Home, Opened, SessionId, Store},
    view::governor::waker,
};

/// The program, as logs name it.
const PROGRAM: &str = concat!("letterpress ", env!("CARGO_PKG_VERSION"));

/// Where a conversation is kept.
#[derive(Debug, Default)]
pub(super) enum Lodging {
    /// Nowhere: it is gone with the window.
    #[default]
    Nowhere,
    /// Nowhere yet: a session is made with the first prompt.
    Fresh(SessionId),
    /// It has something to say, and its session is to be made.
    Wanted(SessionId, Vec<Command>),
    /// Its session is being made, and this is said in it then.
    Making(SessionId, Vec<Command>),
    /// In a session.
    Kept(SessionId),
    /// It was to be kept, and cannot be: why.
    Refused(Arc<str>),
}

impl Lodging {
    /// The session, or that which it will be.
    pub(super) fn id(&self) -> Option<&SessionId> {
        match self {
            Self::Fresh(id) | Self::Wanted(id, _) | Self::Making(id, _) | Self::Kept(id) => {
                Some(id)
            }
            Self::Nowhere | Self::Refused(_) => None,
        }
    }
}

/// What is said, as far as that has to be kept.
pub(super) fn said(command: &Command) -> Option<&Draft> {
    match command {
        Command::Send(draft)
        | Command::EditLast(draft)
        | Command::Steer(draft)
        | Command::Edit { draft, .. } => Some(draft),
        Command::Stop
        | Command::Retry
        | Command::Regenerate { .. }
        | Command::Choose { .. }
        | Command::Queue(_)
        | Command::SetModel { .. }
        | Command::SetThinking(_)
        | Command::SetSystem(_)
        | Command::SetMaxTokens(_)
        | Command::SetTools(_)
        | Command::Decide { .. }
        | Command::Restore { .. }
        | Command::StopCall { .. } => None,
    }
}

impl Chat {
    /// From its first prompt on it is kept in a session of this name; what is written before
    /// that is kept under the same.
    pub(in crate::app::window) fn settle_in(&mut self, kept: &Kept, name: SessionId) {
        let home = Home::New(name.clone());
        self.written = Some(Written::new(&kept.store, home, &mut self.composer));
        self.store = Some(kept.store.clone());
        self.catalog = Some(kept.catalog.clone());
        self.lodging = Lodging::Fresh(name);
    }

    /// Says something in a conversation that has no session yet: it waits for one. Gives the
    /// command back where there is nothing to wait for.
    pub(super) fn wait_for_session(&mut self, command: Command) -> Option<Command> {
        match &mut self.lodging {
            Lodging::Fresh(id) if said(&command).is_some() => {
                self.lodging = Lodging::Wanted(id.clone(), vec![command]);
                None
            }
            Lodging::Wanted(_, waiting) | Lodging::Making(_, waiting) => {
                waiting.push(command);
                None
            }
            Lodging::Nowhere | Lodging::Fresh(_) | Lodging::Kept(_) | Lodging::Refused(_) => {
                Some(command)
            }
        }
    }

    /// Has a session made, beside the UI, once one is wanted.
    pub(super) fn make_session(&mut self, ctx: &Context, engine: &Engine) {
        let (Lodging::Wanted(id, waiting), Some(store)) = (&mut self.lodging, &self.store) else {
            return;
        };
        let (id, store) = (id.clone(), store.clone());
        self.lodging = Lodging::Making(id.clone(), std::mem::take(waiting));
        let settings = Some(self.session.snapshot().settings.clone());
        let meta = Meta { settings, program: Some(PROGRAM.into()), ..Meta::default() };
        let (sender, wake) = (self.sender.clone(), waker(ctx, Reason::Answer));
        engine.spawn(async move {
            let making = tokio::task::spawn_blocking(move || make(&store, id, &meta));
            let made = making.await.unwrap_or_else(|_panicked| Err("It failed.".into()));
            // A window that has closed wants no answer.
            sender.send(Found::Made(Box::new(made))).ok();
            wake();
        });
    }

    /// Moves into the session that was made.
    pub(super) fn take_session(
        &mut self,
        ctx: &Context,
        engine: &Engine,
        made: Result<Opened, Arc<str>>,
    ) {
        let Lodging::Making(id, waiting) = std::mem::take(&mut self.lodging) else { return };
        match made {
            Ok(opened) => {
                let settings = self.session.snapshot().settings.clone();
                self.begin(ctx, engine, opened, settings);
                self.lodging = Lodging::Kept(id.clone());
                if let Some(written) = &mut self.written {
                    written.move_to(Home::Session(id), &self.composer);
                }
            }
            Err(why) => self.lodging = Lodging::Refused(why),
        }
        for command in waiting {
            self.hand_over(command);
        }
    }

    /// Goes on in a session.
    pub(super) fn begin(
        &mut self,
        ctx: &Context,
        engine: &Engine,
        opened: Opened,
        settings: crate::model::Settings,
    ) {
        let bench = Some(Arc::new(self.switch.clone()) as Arc<dyn Workbench>);
        let wake = waker(ctx, Reason::Stream);
        self.session = engine.session_kept(opened, bench, settings, wake);
        self.source = self.session.source();
        self.announcer.follow(engine, self.session.watch());
    }
}

fn make(store: &Store, id: SessionId, meta: &Meta) -> Result<Opened, Arc<str>> {
    store
        .create(id, meta.to_body(), timestamp::now_ms())
        .map_err(|error| format!("Its session cannot be made: {error}.").into())
}
