//! The settings of a window: taken in when they change, kept when the window changes them,
//! and shown.

mod rows;
mod shown;
mod storage;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use egui::{Context, Ui};

use self::{shown::Shown, storage::Storage};
use super::{Window, chrome, tab::Tab};
use crate::{
    app::{
        cli::ProviderFlags,
        keys::{Place, Secret},
        providers::Sources,
        secrecy,
        settings::{Change, Setting, Settings, Spec, Value},
    },
    perf::Reason,
    view::{
        governor::{self, waker},
        settings::{Chosen, Keep, SettingsView, SettingsWish, Typed},
    },
};

/// What was done beside the UI.
enum Done {
    /// A key was kept or taken out; or why it was not.
    Key { provider: Arc<str>, news: Result<String, String> },
    /// How much of the disk is taken.
    Storage(Storage),
}

/// What a window knows of its settings.
pub(super) struct Desk {
    view: SettingsView,
    /// What the command line says of new conversations.
    flags: ProviderFlags,
    /// The settings that were taken in, their version, and how many tabs there had been.
    taken: Option<(u64, u64, Arc<Settings>)>,
    shown: Shown,
    /// The size that was asked for; it holds from the next frame on.
    zoom_asked: Option<u32>,
    /// What became of the last try with a key, and whether that was good; none while it goes on.
    news: BTreeMap<Arc<str>, Option<(Arc<str>, bool)>>,
    storage: Option<Storage>,
    done: Receiver<Done>,
    sender: SyncSender<Done>,
}

impl Desk {
    pub(super) fn new(ctx: &Context, sources: &Sources, flags: ProviderFlags) -> Self {
        sources.live().wake(waker(ctx, Reason::Answer));
        let (sender, done) = sync_channel(16);
        Self {
            view: SettingsView::default(),
            flags,
            taken: None,
            shown: Shown::of_context(ctx),
            zoom_asked: None,
            news: BTreeMap::new(),
            storage: None,
            done,
            sender,
        }
    }
}

impl Window {
    /// Opens the settings, or closes them.
    pub fn toggle_settings(&mut self, ctx: &Context) {
        self.settings.view.toggle();
        if self.settings.view.is_open() {
            self.settings.news.clear();
            self.measure(ctx);
        }
    }

    /// Takes in settings that have changed, and those that new tabs do not know.
    pub(super) fn take_settings(&mut self, ctx: &Context) {
        let live = self.around.sources.live();
        let version = live.version();
        let is_known =
            |(taken, tabs, _): &(u64, u64, _)| (*taken, *tabs) == (version, self.next_tab);
        if self.settings.taken.as_ref().is_some_and(is_known) {
            return;
        }
        let settings = live.settings();
        let taken = (version, self.next_tab, Arc::clone(&settings));
        let before = self.settings.taken.replace(taken).map(|(.., before)| before);
        if before.is_none() {
            // Whoever made the context may have set it up after the window was made.
            self.settings.shown = Shown::of_context(ctx);
        }
        let shown = Shown::of(&settings, before.as_deref(), &self.settings.shown);
        self.apply(ctx, &shown);
        if before.is_some_and(|before| before.providers != settings.providers) {
            self.look_again(ctx);
        }
    }

    fn apply(&mut self, ctx: &Context, shown: &Shown) {
        let before = std::mem::replace(&mut self.settings.shown, shown.clone());
        if before.theme != shown.theme {
            Self::set_theme(ctx, shown.theme);
        }
        if before.frames != shown.frames {
            governor::configure(ctx, shown.frames);
        }
        if before.zoom != shown.zoom {
            ctx.set_zoom_factor(shown.zoom as f32 / 100.0);
            self.settings.zoom_asked = Some(shown.zoom);
        }
        self.around.announcer.want(shown.notifies);
        for tab in &mut self.tabs {
            if let Some(chat) = tab.live() {
                let composer = chat.composer_mut();
                composer.send_key = shown.send_key;
                composer.set_favourites(shown.favourites.clone());
            }
            if let Some(view) = tab.view() {
                view.show_minimap = shown.minimap;
            }
        }
    }

    /// Keeps what was changed by this frame, wherever in the window.
    pub(super) fn keep_settings(&mut self, ctx: &Context) {
        if let Some(system) = self
            .tabs
            .get_mut(self.active)
            .and_then(Tab::live)
            .and_then(|chat| chat.take_kept_system())
        {
            let change = match system.is_empty() {
                true => Change::Reset(Setting::System),
                false => Change::Set(Setting::System, Value::Text(system)),
            };
            self.around.sources.live().change(change);
        }
        let now = self.shown_now(ctx);
        let changes = self.settings.shown.changes(&now);
        if changes.is_empty() {
            return;
        }
        self.settings.shown = now;
        changes.into_iter().for_each(|change| self.around.sources.live().change(change));
    }

    /// What the window shows; what of it cannot be seen now is as before.
    fn shown_now(&mut self, ctx: &Context) -> Shown {
        let mut now =
            Shown { notifies: self.around.announcer.is_wanted(), ..Shown::of_context(ctx) };
        let before = &self.settings.shown;
        match self.settings.zoom_asked {
            Some(asked) if asked != now.zoom => now.zoom = before.zoom,
            Some(_) => self.settings.zoom_asked = None,
            None => {}
        }
        let tab = self.tabs.get(self.active);
        now.minimap = tab.and_then(Tab::shown).map_or(before.minimap, |view| view.show_minimap);
        let composer = tab.and_then(Tab::talk).map(super::chat::Chat::composer);
        now.send_key = composer.map_or(before.send_key, |composer| composer.send_key);
        now.favourites = composer
            .map_or_else(|| before.favourites.clone(), |composer| composer.favourites().clone());
        now
    }

    pub(super) fn settings_ui(&mut self, ui: &Ui) {
        self.absorb_done(ui.ctx());
        if !self.settings.view.is_open() {
            return;
        }
        let now = self.around.sources.live().now();
        let sections = rows::sections(&self.around.sources, &now.settings, &self.settings);
        let palette = chrome::palette(ui);
        let wishes = self.settings.view.show(ui, &sections, now.trouble.as_deref(), &palette);
        for wish in wishes {
            self.carry_out(ui.ctx(), wish);
        }
    }

    fn carry_out(&mut self, ctx: &Context, wish: SettingsWish) {
        let live = self.around.sources.live();
        match wish {
            SettingsWish::Set(id, chosen) => {
                if let Some(change) = change(&id, &chosen, &live.settings()) {
                    live.change(change);
                }
            }
            SettingsWish::Reset(id) => {
                if let Some(spec) = Spec::of_path(&id) {
                    live.change(Change::Reset(spec.setting));
                }
            }
            SettingsWish::Keep(id, typed, keep) => self.keep_key(ctx, &id, &typed, keep),
            SettingsWish::Forget(id) => self.forget_key(ctx, &id),
        }
    }

    fn keep_key(&mut self, ctx: &Context, id: &str, Typed(text): &Typed, keep: Keep) {
        let Some(provider) = rows::provider_of(id) else { return };
        let place = match keep {
            Keep::Keyring => Place::Keyring,
            Keep::File => Place::File,
        };
        let Some(secret) = Secret::new(text) else {
            let words = "That is no key: it is empty, or has more than one line.";
            self.settings.news.insert(provider, Some((words.into(), false)));
            return;
        };
        let (keys, name) = (self.around.sources.keys().clone(), Arc::clone(&provider));
        self.with_key(ctx, provider, move || match keys.set(&name, &secret, place) {
            Ok(()) => Ok(format!("Kept {place}.")),
            Err(error) => Err(format!("Not kept: {error}.")),
        });
    }

    fn forget_key(&mut self, ctx: &Context, id: &str) {
        let Some(provider) = rows::provider_of(id) else { return };
        let (keys, name) = (self.around.sources.keys().clone(), Arc::clone(&provider));
        self.with_key(ctx, provider, move || match keys.remove(&name) {
            Ok(_) => Ok("Removed.".to_owned()),
            Err(error) => Err(format!("Not removed: {error}.")),
        });
    }

    /// Does something with a key beside the UI: the keyring may take its time.
    fn with_key(
        &mut self,
        ctx: &Context,
        provider: Arc<str>,
        work: impl FnOnce() -> Result<String, String> + Send + 'static,
    ) {
        let (sender, wake) = (self.settings.sender.clone(), waker(ctx, Reason::Answer));
        let name = Arc::clone(&provider);
        let started = thread::Builder::new().name("key".to_owned()).spawn(move || {
            // A window that has closed wants no answer.
            let _closed = sender.try_send(Done::Key { provider: name, news: work() });
            wake();
        });
        let news = match started {
            Ok(_) => None,
            Err(error) => Some((error.to_string().into(), false)),
        };
        self.settings.news.insert(provider, news);
    }

    /// Finds out beside the UI how much of the disk is taken.
    fn measure(&self, ctx: &Context) {
        let Some(places) = self.around.sources.places().cloned() else { return };
        let (sender, wake) = (self.settings.sender.clone(), waker(ctx, Reason::Answer));
        let started = thread::Builder::new().name("storage".to_owned()).spawn(move || {
            let _closed = sender.try_send(Done::Storage(Storage::of(&places)));
            wake();
        });
        if let Err(error) = started {
            tracing::debug!(%error, "nothing is measured");
        }
    }

    fn absorb_done(&mut self, ctx: &Context) {
        while let Ok(done) = self.settings.done.try_recv() {
            match done {
                Done::Storage(storage) => self.settings.storage = Some(storage),
                Done::Key { provider, news } => {
                    let is_good = news.is_ok();
                    let words = news.unwrap_or_else(|words| words);
                    let words: Arc<str> = secrecy::redact_known(&words).into();
                    self.settings.news.insert(provider, Some((words, is_good)));
                    if is_good {
                        self.look_again(ctx);
                    }
                }
            }
        }
    }

    /// Finds out anew who can answer, for conversations that are open.
    fn look_again(&self, ctx: &Context) {
        let Some(engine) = &self.engine else { return };
        for chat in self.tabs.iter().filter_map(Tab::talk) {
            chat.look_again(ctx, engine, &self.around.sources);
        }
    }
}

/// What was chosen, as a change.
fn change(id: &str, chosen: &Chosen, settings: &Settings) -> Option<Change> {
    let spec = Spec::of_path(id)?;
    let value = match chosen {
        Chosen::Text(text) | Chosen::Word(text) if text.is_empty() => {
            return Some(Change::Reset(spec.setting));
        }
        Chosen::Word(word) | Chosen::Text(word) => Value::of_words(spec, word)?,
        Chosen::Switch(on) => Value::Switch(*on),
        Chosen::Number(number) => Value::of_number(spec, *number)?,
        Chosen::Without(entry) => {
            let favourites = settings.favourites();
            let left = favourites.iter().filter(|choice| rows::words(choice) != **entry);
            Value::Models(left.cloned().collect())
        }
    };
    Some(Change::Set(spec.setting, value))
}
