//! Questions of all conversations: how many wait, the way to the next one, and the servers
//! of the one that is shown.

use std::{path::PathBuf, sync::Arc};

use egui::{Context, Ui, ViewportCommand};

use super::{Window, chat::Chat, chrome, tab::Tab, workspace::KeepPins};
use crate::{
    perf::Reason,
    tools::mcp::{Pins, Servers},
    view::{governor::waker, servers::ServerWish},
};

/// What the window's title says.
#[derive(Debug, Default)]
pub(super) struct Badge {
    shown: Option<String>,
    /// The tab whose servers wake the window.
    followed: Option<u64>,
}

impl Window {
    /// How many conversations have a question.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.tabs.iter().filter_map(Tab::talk).filter(|chat| chat.asks()).count()
    }

    /// Goes to the next conversation that has a question, and gives that the keyboard.
    pub(super) fn next_question(&mut self) {
        let count = self.tabs.len();
        let asks =
            |index: &usize| self.tabs.get(*index).and_then(Tab::talk).is_some_and(Chat::asks);
        let found = (1..=count).map(|step| (self.active + step) % count.max(1)).find(asks);
        let Some(index) = found else { return };
        self.turn_to(index);
        if let Some(chat) = self.tabs.get_mut(index).and_then(Tab::live) {
            chat.focus_question();
        }
    }

    /// Brings the badge up to date, and notes who looks.
    pub(super) fn questions(&mut self, ui: &Ui) {
        self.around.announcer.look(ui.input(|input| input.focused));
        let waiting = self.waiting();
        if let Some(chat) = self.tabs.get_mut(self.active).and_then(Tab::live) {
            let others = waiting - usize::from(chat.asks()).min(waiting);
            chat.note_others(others);
        }
        let title = self.window_title(waiting);
        if self.badge.shown.as_deref() != Some(&*title) {
            self.badge.shown = Some(title.clone());
            ui.send_viewport_cmd(ViewportCommand::Title(title));
        }
    }

    /// What is shown, and how many questions wait.
    fn window_title(&self, waiting: usize) -> String {
        let shown = self.tabs.get(self.active).map(Tab::title).filter(|title| !title.is_empty());
        let words = match shown {
            Some(title) => format!("{title} – Letterpress"),
            None => "Letterpress".to_owned(),
        };
        if waiting > 0 { format!("({waiting}) {words}") } else { words }
    }

    /// Takes the folder that was chosen for the tools.
    pub(super) fn choose_folder(&mut self, ctx: &Context) {
        if let Some(folder) = self.dialogs.folder() {
            self.open_workspace(ctx, folder);
        }
    }

    /// Lets the tools of the conversation that is shown, and of those that begin later, work
    /// in a folder.
    pub fn open_workspace(&mut self, ctx: &Context, folder: PathBuf) {
        self.around.workspace = Some(folder.clone());
        let opener = self.around.opener.clone();
        let chat = self.tabs.get_mut(self.active).and_then(Tab::live);
        if let (Some(engine), Some(chat)) = (&self.engine, chat) {
            chat.open_workspace(ctx, engine, opener, folder);
        }
    }

    /// The servers of the conversation that is shown.
    pub(super) fn servers(&self) -> Option<&Servers> {
        self.tabs.get(self.active)?.talk()?.workspace()?.servers.as_ref()
    }

    pub(super) fn servers_ui(&mut self, ui: &Ui) {
        let opened = self.tabs.get(self.active).and_then(Tab::talk).and_then(Chat::workspace);
        let (Some(opened), Some(engine)) = (opened.filter(|_| self.panel.is_open()), &self.engine)
        else {
            return;
        };
        let Some(servers) = opened.servers.clone() else { return };
        let keep = opened.keep_pins.clone();
        let id = self.tabs.get(self.active).map(Tab::id);
        if self.badge.followed != id {
            self.badge.followed = id;
            let (mut changes, wake) = (servers.watch(), waker(ui.ctx(), Reason::Answer));
            engine.spawn(async move {
                while changes.changed().await.is_ok() {
                    wake();
                }
            });
        }
        let overview = servers.overview();
        let log = |name: &str| servers.log(name);
        let palette = chrome::palette(ui);
        for wish in self.panel.show(ui, &overview, &log, &palette) {
            engine.spawn(carry_out(servers.clone(), keep.clone(), wish));
        }
    }
}

/// Does what was pressed, beside the UI. What becomes of it shows in the overview.
async fn carry_out(servers: Servers, keep: Option<KeepPins>, wish: ServerWish) {
    let start = async |name: &Arc<str>| {
        // Why it does not run is said by its state.
        let _shown = servers.start(name).await;
    };
    match &wish {
        ServerWish::Start(name) => start(name).await,
        ServerWish::Stop(name) => servers.stop(name).await,
        ServerWish::Restart(name) => {
            servers.stop(name).await;
            start(name).await;
        }
        ServerWish::AcceptStart(name, launch) => {
            if let Some(pins) = servers.accept_start(name, *launch) {
                store(keep.clone(), pins).await;
                start(name).await;
            }
        }
        ServerWish::AcceptTools(name, tools) => {
            if let Some(pins) = servers.accept_tools(name, tools) {
                store(keep.clone(), pins).await;
            }
        }
        ServerWish::Forget(name) => store(keep.clone(), servers.forget(name)).await,
    }
}

async fn store(keep: Option<KeepPins>, pins: Pins) {
    let Some(keep) = keep else { return };
    // A panic while keeping costs what is kept, and not the program.
    drop(tokio::task::spawn_blocking(move || keep(&pins)).await);
}
