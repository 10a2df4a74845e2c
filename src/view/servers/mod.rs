//! The servers of tools: how each stands, what of it waits to be accepted, and what it says.
//!
//! Nothing here starts or accepts anything by itself: what is pressed comes back as wishes.

mod acceptance;
mod listing;

use std::sync::Arc;

use egui::{CollapsingHeader, Id, Label, RichText, ScrollArea, Ui};

use crate::{
    layout::{Palette, face, icon},
    tools::{
        mcp::{Digest, LogLine, LogSource, ServerState, ServerStatus, Standing, reveal},
        policy,
    },
};

/// Lines of a log that are shown.
const LOG_LINES: usize = 200;

/// Something to be done about a server, by its name.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerWish {
    /// Start it, or find out what has to be accepted first.
    Start(Arc<str>),
    /// Stop it.
    Stop(Arc<str>),
    /// Stop it and start it again.
    Restart(Arc<str>),
    /// Let it be started as what was shown, and start it.
    AcceptStart(Arc<str>, Digest),
    /// Let these of its tools be called, as they were shown.
    AcceptTools(Arc<str>, Vec<(Arc<str>, Digest)>),
    /// Take back all that was accepted of it.
    Forget(Arc<str>),
}

/// The newest lines of a server's log, and how many older ones are gone.
pub type LogOf<'a> = &'a dyn Fn(&str) -> (Vec<LogLine>, u64);

/// The panel of servers.
#[derive(Debug, Default)]
pub struct ServersPanel {
    is_open: bool,
}

impl ServersPanel {
    /// Opens the panel, or closes it.
    pub fn toggle(&mut self) {
        self.is_open = !self.is_open;
    }

    /// True while it is shown.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Shows the panel over everything else, if it is open.
    pub fn show(
        &mut self,
        ui: &Ui,
        overview: &[ServerStatus],
        log: LogOf<'_>,
        palette: &Palette,
    ) -> Vec<ServerWish> {
        if !self.is_open {
            return Vec::new();
        }
        let mut wishes = Vec::new();
        let room = ui.ctx().content_rect().size();
        let frame = egui::Frame::popup(ui.style()).inner_margin(egui::Margin::same(18));
        let modal = egui::Modal::new(Id::unique("servers")).frame(frame).show(ui.ctx(), |ui| {
            ui.set_width((room.x - 96.0).min(720.0));
            ui.heading("Servers of tools");
            ui.add_space(2.0);
            let words = "A server runs as you, outside of every rule. It starts only as what you accepted, and only tools that you accepted are offered.";
            ui.label(RichText::new(words).size(face::CAPTION_SIZE).color(palette.dim));
            ui.add_space(6.0);
            let height = (room.y - 220.0).max(120.0);
            // The window around it has the room of the frame before; it grows with this.
            let scroll = ScrollArea::vertical().max_height(height).min_scrolled_height(height);
            scroll.auto_shrink([false, true]).show(ui, |ui| {
                if overview.is_empty() {
                    empty_ui(ui, palette);
                }
                for server in overview {
                    ui.push_id(&*server.name, |ui| {
                        server_ui(ui, palette, server, log, &mut wishes);
                    });
                }
            });
            ui.add_space(8.0);
            ui.button("Close").clicked()
        });
        if modal.inner || modal.should_close() {
            self.is_open = false;
        }
        wishes
    }
}

fn empty_ui(ui: &mut Ui, palette: &Palette) {
    ui.add_space(16.0);
    ui.label("There are none yet.");
    let words = "Name them under mcpServers in config.toml, as other programs do, then begin a new conversation.";
    ui.label(RichText::new(words).size(face::CAPTION_SIZE).color(palette.dim));
    ui.add_space(16.0);
}

fn server_ui(
    ui: &mut Ui,
    palette: &Palette,
    server: &ServerStatus,
    log: LogOf<'_>,
    wishes: &mut Vec<ServerWish>,
) {
    ui.separator();
    ui.horizontal(|ui| {
        let (sign, color) = look(&server.state, palette);
        ui.label(RichText::new(sign.to_string()).font(icon_font(14.0)).color(color));
        let name = RichText::new(reveal(&server.name).text).size(face::TEXT_SIZE);
        ui.label(name.color(palette.text).variation("wght", 600.0));
        let words = RichText::new(words(server)).size(face::CAPTION_SIZE).color(color);
        ui.add(Label::new(words).truncate());
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            buttons_ui(ui, server, wishes);
        });
    });
    if let ServerState::NeedsAcceptance(acceptance) = &server.state {
        acceptance::acceptance_ui(ui, palette, &server.name, acceptance, wishes);
    }
    for warning in server.warnings.iter() {
        let words = RichText::new(reveal(warning).text).size(face::CAPTION_SIZE);
        ui.add(Label::new(words.color(palette.warn)).wrap());
    }
    about_ui(ui, palette, server);
    if !server.tools.is_empty() {
        listing::tools_ui(ui, palette, server, wishes);
    }
    log_ui(ui, palette, &server.name, log);
}

fn buttons_ui(ui: &mut Ui, server: &ServerStatus, wishes: &mut Vec<ServerWish>) {
    let name = || Arc::clone(&server.name);
    let labelled = |ui: &mut Ui, words: &str, enabled: bool| {
        let response = ui.add_enabled(enabled, egui::Button::new(words).small());
        response.widget_info(|| {
            let words = format!("{words} {}", server.name);
            egui::WidgetInfo::labeled(egui::Role::Button, enabled, words)
        });
        response.clicked()
    };
    let is_known = server.tools.iter().any(|tool| tool.standing != Standing::New);
    match &server.state {
        ServerState::Disabled | ServerState::NeedsAcceptance(_) => {}
        ServerState::Stopped | ServerState::Failed(_) => {
            if labelled(ui, "Start", true) {
                wishes.push(ServerWish::Start(name()));
            }
        }
        ServerState::Starting | ServerState::Ready | ServerState::Restarting { .. } => {
            if labelled(ui, "Stop", true) {
                wishes.push(ServerWish::Stop(name()));
            }
            if labelled(ui, "Restart", server.state == ServerState::Ready) {
                wishes.push(ServerWish::Restart(name()));
            }
        }
    }
    if is_known && labelled(ui, "Forget", true) {
        wishes.push(ServerWish::Forget(name()));
    }
}

/// Mark and colour of a state.
fn look(state: &ServerState, palette: &Palette) -> (char, egui::Color32) {
    match state {
        ServerState::Disabled => (icon::PROHIBIT, palette.faint),
        ServerState::Stopped => (icon::CIRCLE, palette.faint),
        ServerState::NeedsAcceptance(_) => (icon::PAUSE, palette.warn),
        ServerState::Starting => (icon::CIRCLE_DASHED, palette.accent),
        ServerState::Ready => (icon::CHECK, palette.ok),
        ServerState::Restarting { .. } => (icon::ARROW_COUNTER_CLOCKWISE, palette.warn),
        ServerState::Failed(_) => (icon::X, palette.err),
    }
}

fn words(server: &ServerStatus) -> String {
    let state = match &server.state {
        ServerState::Failed(why) => format!("failed: {}", reveal(why).text),
        ServerState::Restarting { why, after } => {
            format!("starts again in {} s: {}", after.as_secs(), reveal(why).text)
        }
        ServerState::Disabled => "switched off".to_owned(),
        ServerState::Stopped => "not running".to_owned(),
        ServerState::NeedsAcceptance(acceptance) if acceptance.before.is_some() => {
            "has changed, and waits to be accepted again".to_owned()
        }
        ServerState::NeedsAcceptance(_) => "waits to be accepted".to_owned(),
        ServerState::Starting => "starting".to_owned(),
        ServerState::Ready => "running".to_owned(),
    };
    let waiting = server.tools.iter().filter(|t| t.standing != Standing::Accepted).count();
    match (server.tools.len(), waiting) {
        (0, _) => state,
        (1, 0) => format!("{state} · 1 tool"),
        (count, 0) => format!("{state} · {count} tools"),
        (count, waiting) => format!("{state} · {count} tools, {waiting} to accept"),
    }
}

/// What a server says of itself: shown, and given to no model.
fn about_ui(ui: &mut Ui, palette: &Palette, server: &ServerStatus) {
    let Some(info) = &server.info else { return };
    let name = info.title.as_deref().unwrap_or(&info.name);
    let words = format!("{} {} · protocol {}", name, info.version, info.protocol);
    let words = RichText::new(reveal(&words).text).size(face::CAPTION_SIZE);
    ui.add(Label::new(words.color(palette.faint)).truncate());
    let Some(instructions) = &info.instructions else { return };
    let title = RichText::new("What it wants models to be told (they are not)");
    let title = title.size(face::CAPTION_SIZE).color(palette.dim);
    CollapsingHeader::new(title).id_salt("instructions").show(ui, |ui| {
        let words = RichText::new(reveal(instructions).text).color(palette.dim);
        ui.add(Label::new(words).wrap().selectable(true));
    });
}

fn log_ui(ui: &mut Ui, palette: &Palette, name: &str, log: LogOf<'_>) {
    let title = RichText::new("Log").size(face::CAPTION_SIZE).color(palette.dim);
    CollapsingHeader::new(title).id_salt("log").show(ui, |ui| {
        let (lines, dropped) = log(name);
        let skipped = lines.len().saturating_sub(LOG_LINES);
        let gone = dropped + skipped as u64;
        if gone > 0 {
            ui.weak(format!("{gone} older lines"));
        }
        if lines.is_empty() {
            ui.weak("It has said nothing.");
        }
        let shown = lines.get(skipped..).unwrap_or_default();
        let scroll = ScrollArea::both().id_salt("lines").max_height(10.0 * face::CODE_LINE);
        let scroll = scroll.stick_to_bottom(true).auto_shrink([false, true]);
        scroll.show_rows(ui, face::CODE_LINE, shown.len(), |ui, range| {
            for line in shown.get(range).unwrap_or_default() {
                log_line_ui(ui, palette, line);
            }
        });
    });
}

fn log_line_ui(ui: &mut Ui, palette: &Palette, line: &LogLine) {
    let (from, color) = match line.source {
        LogSource::Stderr => ("err", palette.dim),
        LogSource::Stdout => ("out", palette.warn),
        LogSource::Message => ("log", palette.dim),
        LogSource::Note => ("·", palette.faint),
    };
    let words = policy::visible(&line.text).text;
    let words = RichText::new(format!("{from:>3} {words}")).monospace().color(color);
    ui.add(Label::new(words).extend().selectable(true));
}

fn icon_font(size: f32) -> egui::FontId {
    egui::FontId::new(size, egui::FontFamily::Name(face::ICON_NAME.into()))
}
