//! A view with a conversation in it, driven by keys.

use std::time::Duration;

use egui::{Key, Modifiers, Vec2};
use egui_kittest::Harness;
use letterpress::{
    engine::find::Needle,
    layout::{Openness, SlugId},
    model::{MemorySource, Message, Source},
    view::{Finding, TranscriptView, theme},
};

pub(super) struct App<S> {
    view: Option<TranscriptView>,
    pub(super) source: S,
}

pub(super) struct Bench<S: Source + 'static = MemorySource>(pub(super) Harness<'static, App<S>>);

impl Bench {
    pub(super) fn of(messages: Vec<Message>) -> Self {
        Self::new(MemorySource::new(messages), Vec2::new(900.0, 600.0))
    }

    /// So tall that all of it is on screen, with nothing folded.
    pub(super) fn unfolded(messages: Vec<Message>) -> Self {
        let mut bench = Self::new(MemorySource::new(messages), Vec2::new(900.0, 8000.0));
        bench.view().expand(Openness::All);
        bench.0.run_steps(2);
        bench
    }
}

impl<S: Source + 'static> Bench<S> {
    pub(super) fn new(source: S, size: Vec2) -> Self {
        let app = |ui: &mut egui::Ui, app: &mut App<S>| match &mut app.view {
            Some(view) => {
                let _nobody_clicks = view.show(ui, &mut app.source);
            }
            None => {
                theme::install(ui.ctx());
                app.view = Some(TranscriptView::new(ui.ctx()));
            }
        };
        let state = App { view: None, source };
        let mut harness = Harness::builder()
            .with_size(size)
            .with_max_steps(1)
            .allow_missing_glyphs()
            .build_ui_state(app, state);
        harness.run_steps(3);
        Self(harness)
    }

    pub(super) fn view(&mut self) -> &mut TranscriptView {
        self.0.state_mut().view.as_mut().expect("made in the first frame")
    }

    /// Another conversation in a view of its own.
    pub(super) fn show(&mut self, source: S) {
        let mut view = TranscriptView::new(&self.0.ctx);
        view.expand(Openness::All);
        *self.0.state_mut() = App { view: Some(view), source };
        self.0.run_steps(1);
    }

    pub(super) fn finding(&self) -> Finding {
        let view = self.0.state().view.as_ref().expect("made in the first frame");
        view.finding().expect("the bar is open")
    }

    pub(super) fn is_open(&self) -> bool {
        self.0.state().view.as_ref().is_some_and(|view| view.finding().is_some())
    }

    /// Runs frames until everything was searched and the reader is where he wants to be.
    pub(super) fn settle(&mut self) -> Finding {
        for _ in 0..2_000 {
            self.0.run_steps(1);
            if !self.is_open() || self.finding().is_done || self.finding().error.is_some() {
                self.0.run_steps(3);
                return if self.is_open() { self.finding() } else { Finding::default() };
            }
            std::thread::park_timeout(Duration::from_millis(1));
        }
        panic!("the search does not end: {:?}", self.finding());
    }

    pub(super) fn find(&mut self, needle: &str) -> Finding {
        self.find_needle(Needle { text: needle.to_owned(), ..Needle::default() })
    }

    pub(super) fn find_needle(&mut self, needle: Needle) -> Finding {
        self.view().find(needle);
        self.settle()
    }

    pub(super) fn press(&mut self, modifiers: Modifiers, key: Key) -> Finding {
        self.0.key_press_modifiers(modifiers, key);
        self.settle()
    }

    pub(super) fn type_text(&mut self, text: &str) -> Finding {
        self.0.event(egui::Event::Text(text.to_owned()));
        self.settle()
    }

    pub(super) fn marks(&mut self) -> u64 {
        self.view().marks_on_screen() as u64
    }

    /// What stands at the top of the page.
    pub(super) fn anchor(&mut self) -> Option<(SlugId, i32)> {
        let top = self.view().visible().placed.first()?;
        Some((top.id, (top.y * 100.0).round() as i32))
    }

    /// The top of the page, in points from the beginning of the conversation.
    pub(super) fn top(&mut self) -> f64 {
        self.view().visible().top
    }

    /// The words of the hit that the reader is at, and where they stand on screen.
    pub(super) fn here(&mut self) -> Option<(String, egui::Rect)> {
        self.view().found_here()
    }
}
