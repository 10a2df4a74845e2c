//! Continuing a transcript of another program: a bar below it, and the import beside the UI.

use std::path::Path;

use egui::{Button, Context, Frame, Label, Margin, Panel, ProgressBar, RichText, Ui};

use super::{Window, chat::banner_ui, chrome, goal::Goal, tab::Tab};
use crate::{
    app::{
        error::Result,
        import::{Done, Request, start},
        work::{Handle, Stage},
    },
    layout::Anchor,
    perf::{self, Reason},
    store::Store,
    view::{COLUMN_MAX, governor::waker},
};

/// Imports of a window: one at a time.
#[derive(Default)]
pub(super) struct Importing {
    work: Option<Work>,
    /// The tab whose import failed, and why.
    failed: Option<(u64, String)>,
}

struct Work {
    /// The tab that it was wanted in.
    tab: u64,
    handle: Handle<Done>,
    /// Where the reader was; none at the end.
    place: Option<Anchor>,
}

/// What was clicked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Click {
    Continue,
    Stop,
}

const PROGRESS_WIDTH: f32 = 180.0;

impl Importing {
    /// True while something of it is still going to happen by itself.
    pub(super) fn is_busy(&self) -> bool {
        self.work.is_some()
    }

    fn begin(&mut self, ctx: &Context, store: &Store, tab: &Tab) {
        let Some(file) = tab.path().map(Path::to_owned) else { return };
        let place = tab.shown().and_then(|view| view.place());
        let request = Request { file, branch: None, at: place.map(|anchor| anchor.message) };
        self.failed = None;
        match start(request, store.clone(), waker(ctx, Reason::Answer)) {
            Ok(handle) => self.work = Some(Work { tab: tab.id(), handle, place }),
            Err(error) => self.failed = Some((tab.id(), error.to_string())),
        }
    }

    /// What came of an import, and where the reader was, once it has ended.
    fn take(&mut self) -> Option<(u64, Result<Done>, Option<Anchor>)> {
        let outcome = self.work.as_ref()?.handle.poll()?;
        self.work.take().map(|work| (work.tab, outcome, work.place))
    }
}

impl Window {
    /// Goes on with what was imported.
    pub(super) fn take_imported(&mut self, ctx: &Context) {
        let Some((tab, outcome, place)) = self.importing.take() else { return };
        let done = match outcome {
            Ok(done) => done,
            Err(error) => {
                self.importing.failed = Some((tab, error.to_string()));
                return;
            }
        };
        if let Some(kept) = self.desk.kept() {
            kept.catalog.note(&done.session);
        }
        self.open_session(ctx, done.session, true, None);
        let goal = place.zip(done.at);
        if let (Some((anchor, message)), Some(tab)) = (goal, self.tabs.get_mut(self.active)) {
            tab.aim(Goal::place(Anchor { message, ..anchor }, perf::now()));
        }
    }

    /// Below a transcript of another program: what it is, and the way to go on with it.
    pub(super) fn continue_ui(&mut self, ui: &mut Ui) {
        let (Some(tab), Some(kept)) = (self.tabs.get(self.active), self.desk.kept()) else {
            return;
        };
        let Some(format) = tab.foreign_format() else { return };
        let (palette, importing) = (chrome::palette(ui), &self.importing);
        let work = importing.work.as_ref();
        let here = work.filter(|work| work.tab == tab.id()).map(|work| work.handle.progress());
        let failed = importing.failed.as_ref().filter(|(id, _)| *id == tab.id());
        let mut click = None;
        let words = match failed {
            Some((_, why)) => format!("It cannot be continued: {why}"),
            None => format!("A transcript of {format}. It is only read, never written."),
        };
        let color = if failed.is_some() { palette.err } else { palette.accent };
        // Centred as the words above it are.
        let edge = tab.shown().map(|view| view.edge_width(ui.available_rect_before_wrap()));
        let room = ui.available_width() - edge.unwrap_or(0.0);
        let width = (room - 40.0).min(COLUMN_MAX + 20.0);
        let frame = Frame::NONE.inner_margin(Margin { left: 0, right: 0, top: 2, bottom: 8 });
        Panel::bottom("continue").frame(frame).show_separator_line(false).show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.add_space((room - width) / 2.0);
                ui.vertical(|ui| {
                    ui.set_width(width);
                    banner_ui(ui, &palette, color, |ui| {
                        ui.add(Label::new(RichText::new(words).color(palette.text)).wrap());
                        click = buttons_ui(ui, here, work.is_some());
                    });
                });
            });
        });
        match click {
            Some(Click::Continue) => self.importing.begin(ui.ctx(), &kept.store, tab),
            Some(Click::Stop) => self.importing.work = None,
            None => {}
        }
    }
}

fn buttons_ui(ui: &mut Ui, progress: Option<(Stage, f32)>, is_busy: bool) -> Option<Click> {
    if let Some((stage, share)) = progress {
        let bar = ProgressBar::new(share).desired_width(PROGRESS_WIDTH);
        ui.add(bar.text(format!("{} {:.0} %", stage.word(), share * 100.0)));
        return ui.button("Stop").clicked().then_some(Click::Stop);
    }
    let button = Button::new("Continue this conversation");
    let hint = "A copy of it becomes a conversation of yours; this file stays as it is";
    ui.add_enabled(!is_busy, button).on_hover_text(hint).clicked().then_some(Click::Continue)
}
