//! The window: files as tabs, one conversation in the middle.

mod announce;
mod chat;
mod chrome;
mod desk;
mod dialogs;
mod exporting;
mod gauges;
mod goal;
mod importing;
mod questions;
mod recall;
mod sessions;
mod settings;
mod stored;
mod strip;
mod system;
mod tab;
mod workspace;

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use egui::{
    CentralPanel, Context, Frame, Key, Modifiers, Panel, ThemePreference, Ui, ViewportBuilder,
};

use self::{
    announce::Announcer, desk::Desk, dialogs::Dialogs, exporting::Exporting, importing::Importing,
    questions::Badge, tab::Tab,
};
pub use self::{
    announce::{Notice, Post},
    desk::{Keep, Reopen},
    exporting::SaveDialog,
    workspace::{KeepPins, Opened, Opener},
};
use crate::{
    app::{
        cli::ProviderFlags,
        error::{Error, Result},
        providers::{self, Sources},
    },
    engine::live::Engine,
    gpu,
    model::{MessageId, Snapshot},
    store::{SessionId, catalog::Listed},
    view::{
        TranscriptView, ViewCommand, governor,
        hud::{Hud, Readings},
        servers::ServersPanel,
        theme,
    },
    wire::demo,
};

/// Smallest useful window, in points.
const MIN_SIZE: [f32; 2] = [420.0, 320.0];

/// What a window opens on.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Files, each in a tab of its own.
    pub files: Vec<PathBuf>,
    /// A new conversation, and who answers in it.
    pub chat: Option<ProviderFlags>,
    /// How fast recorded answers come.
    pub pace: demo::Pace,
    /// The folder that the tools of new conversations work in.
    pub workspace: Option<PathBuf>,
    /// How such a folder is opened.
    pub opener: Opener,
    /// How the system is told that a tool waits.
    pub post: Post,
    /// Providers, keys, and the settings.
    pub sources: Sources,
    /// Where conversations are kept; none keeps them in memory alone.
    pub keep: Option<Keep>,
    /// A session to open, by its name.
    pub session: Option<SessionId>,
}

/// What all conversations of a window have in common.
struct Surroundings {
    pace: demo::Pace,
    opener: Opener,
    announcer: Announcer,
    /// The folder that the tools of new conversations work in.
    workspace: Option<PathBuf>,
    sources: Sources,
}

/// Opens a window, and runs until it is closed.
///
/// # Errors
/// No display or no GPU.
pub fn run(start: Start) -> Result<()> {
    let options = eframe::NativeOptions {
        viewport: ViewportBuilder::default()
            .with_title("Letterpress")
            .with_app_id("letterpress")
            .with_inner_size([1400.0, 900.0])
            .with_min_inner_size(MIN_SIZE)
            .with_drag_and_drop(true),
        wgpu_options: egui_wgpu::WgpuConfiguration {
            wgpu_setup: gpu::setup(),
            ..egui_wgpu::WgpuConfiguration::default()
        },
        ..eframe::NativeOptions::default()
    };
    // What eframe makes egui's renderer with, out of the options above.
    let renderer = egui_wgpu::RendererOptions {
        msaa_samples: options.multisampling.into(),
        dithering: options.dithering,
        ..egui_wgpu::RendererOptions::default()
    };
    let create = |creation: &eframe::CreationContext<'_>| -> Box<dyn eframe::App> {
        let mut window = Window::new(&creation.egui_ctx, start);
        if let Some(gpu) = &creation.wgpu_render_state {
            window.adapter = gpu::describe(&gpu.adapter.get_info());
            if let Some(printer) = gpu::Printer::new(gpu, renderer) {
                printer.install(&creation.egui_ctx);
            }
        }
        window.system = system::Watch::start(&creation.egui_ctx).ok();
        Box::new(window)
    };
    eframe::run_native("letterpress", options, Box::new(|creation| Ok(create(creation)))).map_err(
        |error| match error {
            eframe::Error::Wgpu(_) => Error::failed(gpu::NO_DRIVER, gpu::DRIVER_PACKAGES),
            other => Error::failed(format!("cannot open a window: {other}"), ""),
        },
    )
}

/// The program's window.
pub struct Window {
    tabs: Vec<Tab>,
    active: usize,
    dialogs: Dialogs,
    exporting: Exporting,
    importing: Importing,
    sidebar: bool,
    next_tab: u64,
    around: Surroundings,
    /// Questions that wait, as the title says it.
    badge: Badge,
    panel: ServersPanel,
    settings: settings::Desk,
    /// None when it could not be started; reading works without it.
    engine: Option<Arc<Engine>>,
    hud: Hud,
    meter: gauges::Meter,
    /// Who draws, in one line.
    adapter: String,
    /// Looks at motion and power; none where nobody asked for it.
    system: Option<system::Watch>,
    desk: Desk,
    /// The sessions and the tabs that titles were taken over for.
    names: Option<(Arc<[Listed]>, usize, usize)>,
    had_focus: bool,
    /// When the tabs were remembered last.
    remembered: Option<Instant>,
    tab_state: (usize, usize, bool),
    /// The tab that the strip has shown.
    strip_tab: Option<u64>,
}

impl Window {
    /// A window on these files; call it once per context.
    #[must_use]
    pub fn new(ctx: &Context, start: Start) -> Self {
        theme::install(ctx);
        governor::observe(ctx);
        let Start { files, chat, pace, workspace, opener, post, sources, keep, session } = start;
        let announcer = Announcer::new(post);
        let settings = settings::Desk::new(ctx, &sources, chat.clone().unwrap_or_default());
        let mut window = Self {
            tabs: Vec::new(),
            active: 0,
            dialogs: Dialogs::default(),
            exporting: Exporting::default(),
            importing: Importing::default(),
            sidebar: true,
            next_tab: 0,
            around: Surroundings { pace, opener, announcer, workspace, sources },
            badge: Badge::default(),
            panel: ServersPanel::default(),
            settings,
            engine: providers::engine().ok().map(Arc::new),
            hud: Hud::default(),
            meter: gauges::Meter::default(),
            adapter: String::new(),
            system: None,
            desk: Desk::new(ctx, keep),
            names: None,
            had_focus: true,
            remembered: None,
            tab_state: (0, 0, true),
            strip_tab: None,
        };
        window.know_providers();
        window.reopen(ctx, &chat.clone().unwrap_or_default());
        window.begin(ctx, chat, files, session);
        window
    }

    /// Opens what the command line names; where it names nothing and nothing was open before,
    /// a new conversation, or the sample.
    fn begin(
        &mut self,
        ctx: &Context,
        chat: Option<ProviderFlags>,
        files: Vec<PathBuf>,
        session: Option<SessionId>,
    ) {
        let reopen = self.desk.kept().map(desk::Kept::reopen).unwrap_or_default();
        let first = self.tabs.len();
        let is_full = first > 0 && reopen == Reopen::Instead;
        let has_chat = chat.is_some();
        if let Some(flags) = chat.filter(|_| !is_full) {
            match session {
                Some(id) if self.has_session(&id) => self.open_session(ctx, id, true, None),
                name => self.chat_named(ctx, &flags, name),
            }
        }
        if files.is_empty() && !has_chat && self.tabs.is_empty() {
            self.push(|id| Tab::sample(ctx, id));
        }
        for file in files {
            self.open(ctx, file);
        }
        if self.tabs.len() > first && self.active >= first {
            self.active = first;
        }
    }

    /// Providers that have a key are known before sessions are opened, which name theirs.
    fn know_providers(&self) {
        let Some(engine) = &self.engine else { return };
        for (name, provider) in providers::at_hand(&self.around.sources) {
            engine.set_provider(name, provider);
        }
    }

    /// Opens a file as a tab, or goes to the tab that shows it.
    pub fn open(&mut self, ctx: &Context, file: PathBuf) {
        let known = self.tabs.iter().position(|tab| tab.path() == Some(file.as_path()));
        match known {
            Some(index) => self.activate(index),
            None => self.push(|id| Tab::open(ctx, file, id)),
        }
    }

    /// Begins a conversation in a tab of its own.
    pub fn chat(&mut self, ctx: &Context, flags: &ProviderFlags) {
        self.leave();
        self.chat_named(ctx, flags, None);
    }

    /// Begins a conversation, whose session will have this name, or a fresh one.
    fn chat_named(&mut self, ctx: &Context, flags: &ProviderFlags, name: Option<SessionId>) {
        if let Some(engine) = self.engine.clone() {
            self.next_tab += 1;
            let mut tab = Tab::chat(ctx, &engine, &self.around, flags, self.next_tab);
            if let (Some(chat), Some(kept)) = (tab.live(), self.desk.kept()) {
                chat.settle_in(kept, name.unwrap_or_else(Self::fresh_name));
            }
            if let (Some(chat), Some(folder)) = (tab.live(), self.around.workspace.clone()) {
                chat.open_workspace(ctx, &engine, self.around.opener.clone(), folder);
            }
            self.tabs.push(tab);
            self.active = self.tabs.len() - 1;
        }
    }

    fn push(&mut self, tab: impl FnOnce(u64) -> Tab) {
        self.leave();
        self.next_tab += 1;
        self.tabs.push(tab(self.next_tab));
        self.active = self.tabs.len() - 1;
    }

    fn close(&mut self, index: usize) {
        if index < self.tabs.len() {
            self.note_place(index);
            let tab = self.tabs.remove(index);
            if let Some(chat) = tab.talk() {
                chat.flush(false);
            }
            if self.active > index || self.active >= self.tabs.len() {
                self.active = self.active.saturating_sub(1);
            }
        }
    }

    /// Asks how the conversation that is shown is to be exported.
    pub fn export(&mut self) {
        if let Some(offer) = self.tabs.get(self.active).and_then(Tab::offer) {
            self.exporting.open(offer);
        }
    }

    /// The same for some of its messages.
    pub fn export_messages(&mut self, messages: &[MessageId]) {
        if let Some(offer) = self.tabs.get(self.active).and_then(Tab::offer) {
            let chosen = messages.iter().copied().collect();
            self.exporting.open(exporting::Offer { chosen, wants_chosen: true, ..offer });
        }
    }

    /// Has exports ask where they go in another way than by the system's dialog.
    pub fn save_with(&mut self, dialog: SaveDialog) {
        self.exporting.save_with(dialog);
    }

    /// Lays out one frame.
    pub fn ui(&mut self, ui: &mut Ui) {
        self.dialogs.poll(ui.ctx()).into_iter().for_each(|file| self.open(ui.ctx(), file));
        let attachments = self.dialogs.attachments();
        if let Some(chat) = self.tabs.get_mut(self.active).and_then(Tab::live) {
            chat.attach(attachments);
        }
        self.choose_folder(ui.ctx());
        self.take_settings(ui.ctx());
        self.dropped(ui.ctx());
        self.keys(ui);
        self.tend(ui);
        self.take_imported(ui.ctx());
        self.questions(ui);
        if self.sidebar {
            self.sidebar_ui(ui);
        }
        Panel::top("bar").frame(Frame::NONE).show_separator_line(false).show(ui, |ui| {
            self.top_bar_ui(ui);
        });
        CentralPanel::default().frame(Frame::NONE).show(ui, |ui| self.page_ui(ui));
        self.dialogs.ui(ui);
        self.exporting.ui(ui);
        self.servers_ui(ui);
        self.settings_ui(ui);
        self.keep_settings(ui.ctx());
        self.switch_ui(ui, &chrome::palette(ui));
        if self.hud.is_open() {
            self.hud_ui(ui);
        }
    }

    fn hud_ui(&mut self, ui: &Ui) {
        let tab = self.tabs.get(self.active);
        let caches = tab.map(Tab::caches).unwrap_or_default();
        let readings = Readings {
            adapter: &self.adapter,
            laid_out: self.view().map_or(0, TranscriptView::laid_out),
            visible: tab.map_or(0, Tab::visible),
            caches: &caches,
        };
        self.hud.show(ui, &chrome::palette(ui), &readings);
    }

    fn page_ui(&mut self, ui: &mut Ui) {
        self.continue_ui(ui);
        let Some(tab) = self.tabs.get_mut(self.active) else {
            return chrome::empty_ui(ui, &mut self.dialogs);
        };
        let commands = tab.ui(ui, self.engine.as_deref(), self.hud.renderer());
        if tab.live().is_some_and(|chat| chat.take_wants_files()) {
            self.dialogs.pick_attachments(ui.ctx());
        }
        if tab.live().is_some_and(|chat| chat.take_wants_folder()) {
            self.dialogs.pick_folder(ui.ctx());
        }
        let chat = self.tabs.get_mut(self.active).and_then(Tab::live);
        if let Some((log, title)) = chat.and_then(|chat| Some((chat.take_copied()?, chat.title())))
        {
            let (told, wake) = self.desk.teller(ui.ctx());
            let told = move |words: String| {
                // A window that has closed wants no answer.
                told.try_send(words).ok();
                wake();
            };
            dialogs::save_copy(log, &title, told);
        }
        for command in commands {
            match command {
                ViewCommand::OpenLink { target, shown } => self.dialogs.link(&target, &shown),
                ViewCommand::StopCall { message, call_id } => {
                    if let Some(chat) = self.tabs.get_mut(self.active).and_then(Tab::live) {
                        chat.stop_call(message, call_id);
                    }
                }
                ViewCommand::Restore { checkpoint } => {
                    if let Some(chat) = self.tabs.get_mut(self.active).and_then(Tab::live) {
                        chat.restore(checkpoint);
                    }
                }
                // A file has no composer: what is quoted from it begins a conversation.
                ViewCommand::Quote { text } => self.quote(ui.ctx(), &text),
                // A conversation has done these by itself; a file offers none of them.
                ViewCommand::Edit { .. }
                | ViewCommand::Regenerate { .. }
                | ViewCommand::Choose { .. } => {}
                ViewCommand::Export { messages } => self.export_messages(&messages),
            }
        }
    }

    fn quote(&mut self, ctx: &Context, words: &str) {
        self.chat(ctx, &ProviderFlags::default());
        if let Some(chat) = self.tabs.get_mut(self.active).and_then(Tab::live) {
            chat.quote(words);
        }
    }

    fn dropped(&mut self, ctx: &Context) {
        let files: Vec<PathBuf> = ctx.input(|input| {
            input.raw.dropped_files.iter().map(|file| file.path().to_owned()).collect()
        });
        files.into_iter().for_each(|file| self.open(ctx, file));
    }

    fn keys(&mut self, ui: &Ui) {
        let pressed = |modifiers: Modifiers, key: Key| {
            ui.input_mut(|input| input.consume_key(modifiers, key))
        };
        let count = self.tabs.len();
        if pressed(Modifiers::CTRL | Modifiers::SHIFT, Key::Tab) && count > 0 {
            self.activate((self.active + count - 1) % count);
        }
        if pressed(Modifiers::CTRL, Key::Tab) && count > 0 {
            self.activate((self.active + 1) % count);
        }
        for (i, key) in DIGITS.into_iter().enumerate() {
            if pressed(Modifiers::COMMAND, key) && i < count {
                self.activate(i);
            }
        }
        if pressed(Modifiers::COMMAND | Modifiers::SHIFT, Key::F)
            || pressed(Modifiers::NONE, Key::F11)
        {
            let full = ui.input(|input| input.viewport().fullscreen.unwrap_or(false));
            ui.send_viewport_cmd(egui::ViewportCommand::Fullscreen(!full));
        }
        if pressed(Modifiers::COMMAND | Modifiers::SHIFT, Key::A) {
            self.next_question();
        }
        if pressed(Modifiers::COMMAND | Modifiers::SHIFT, Key::E) {
            self.export();
        }
        if pressed(Modifiers::COMMAND, Key::W) {
            self.close(self.active);
        }
        if pressed(Modifiers::COMMAND, Key::Q) {
            ui.send_viewport_cmd(egui::ViewportCommand::Close);
        }
        if pressed(Modifiers::COMMAND, Key::K) {
            self.desk.switch.toggle();
        }
        if pressed(Modifiers::COMMAND, Key::B) {
            self.sidebar = !self.sidebar;
        }
        if pressed(Modifiers::COMMAND, Key::N) {
            self.chat(ui.ctx(), &ProviderFlags::default());
        }
        if pressed(Modifiers::COMMAND, Key::P) {
            self.dialogs.pick_file(ui.ctx());
        }
        if pressed(Modifiers::COMMAND | Modifiers::SHIFT, Key::M)
            && let Some(chat) = self.tabs.get_mut(self.active).and_then(Tab::live)
        {
            chat.next_favourite();
        }
        if pressed(Modifiers::COMMAND, Key::Comma) {
            self.toggle_settings(ui.ctx());
        }
        if pressed(Modifiers::NONE, Key::F12) {
            self.hud.toggle();
        }
        if pressed(Modifiers::NONE, Key::F1) || pressed(Modifiers::COMMAND, Key::Slash) {
            self.dialogs.toggle_manual();
        }
    }

    /// Names of the tabs in order.
    #[must_use]
    pub fn titles(&self) -> Vec<String> {
        self.tabs.iter().map(Tab::title).collect()
    }

    /// Index of the tab that is shown.
    #[must_use]
    pub fn active(&self) -> usize {
        self.active
    }

    /// The view of the tab that is shown.
    #[must_use]
    pub fn view(&self) -> Option<&TranscriptView> {
        self.tabs.get(self.active)?.shown()
    }

    /// Says something in the conversation that is shown, as if it were typed. False when
    /// nothing could take it.
    pub fn say(&mut self, words: &str) -> bool {
        self.tabs.get_mut(self.active).and_then(Tab::live).is_some_and(|chat| chat.say(words))
    }

    /// The running conversation of the tab that is shown.
    #[must_use]
    pub fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        self.tabs.get(self.active)?.talk().map(chat::Chat::snapshot)
    }

    /// The instrument panel.
    pub fn hud(&mut self) -> &mut Hud {
        &mut self.hud
    }

    /// True when nothing that changes the picture is still on its way.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        !self.exporting.is_busy()
            && !self.importing.is_busy()
            && self.tabs.get(self.active).is_none_or(Tab::is_settled)
    }

    fn set_theme(ctx: &Context, preference: ThemePreference) {
        ctx.set_theme(preference);
    }
}

const DIGITS: [Key; 9] = [
    Key::Num1,
    Key::Num2,
    Key::Num3,
    Key::Num4,
    Key::Num5,
    Key::Num6,
    Key::Num7,
    Key::Num8,
    Key::Num9,
];

impl eframe::App for Window {
    fn logic(&mut self, ctx: &Context, _frame: &mut eframe::Frame) {
        governor::look(ctx);
    }

    fn ui(&mut self, ui: &mut Ui, frame: &mut eframe::Frame) {
        let previous = frame.info().cpu_usage.map(Duration::from_secs_f32);
        self.meter.read(ui.ctx());
        self.hud.begin_frame(ui, previous);
        Self::ui(self, ui);
    }

    fn on_exit(&mut self) {
        self.finish();
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }
}
