//! A word about an export, in a corner: how far it is, where it went, why it failed.

use std::{path::Path, time::Duration};

use egui::{
    Align2, Area, Button, CornerRadius, Frame, Id, Label, Margin, Order, ProgressBar, RichText,
    Stroke, Ui, vec2,
};

use crate::{
    app::{export::Summary, window::chrome, work::Stage},
    layout::face,
    perf::Reason,
    view::governor,
};

/// What is said.
pub(super) enum Word {
    Working { stage: Stage, share: f32 },
    Done { words: String, path: Option<String>, until: f64 },
    Failed(String),
}

/// What was clicked.
pub(super) enum Click {
    Stop,
    Close,
}

/// How long a good end is shown, in seconds.
const SHOWN_SECS: f64 = 8.0;
const WIDTH: f32 = 300.0;

impl Word {
    pub(super) fn working((stage, share): (Stage, f32)) -> Self {
        Self::Working { stage, share }
    }

    pub(super) fn failed(why: &str) -> Self {
        Self::Failed(why.to_owned())
    }

    pub(super) fn done(ui: &Ui, summary: Summary, path: Option<&Path>) -> Self {
        let count = match summary.messages {
            1 => "1 message".to_owned(),
            n => format!("{n} messages"),
        };
        let words = match path {
            Some(_) => format!("Exported {count}"),
            None => format!("Copied {count}"),
        };
        governor::after(ui, Reason::Copied, Duration::from_secs_f64(SHOWN_SECS));
        let until = ui.input(|input| input.time) + SHOWN_SECS;
        Self::Done { words, path: path.map(|path| path.display().to_string()), until }
    }

    /// Shows it.
    pub(super) fn show(&mut self, ui: &Ui) -> Option<Click> {
        if let Self::Done { until, .. } = self
            && ui.input(|input| input.time) >= *until
        {
            return Some(Click::Close);
        }
        let palette = chrome::palette(ui);
        let frame = Frame::new()
            .fill(palette.raised)
            .stroke(Stroke::new(1.0, palette.line))
            .corner_radius(CornerRadius::same(10))
            .inner_margin(Margin::symmetric(14, 10));
        let area = Area::new(Id::unique("export's word"))
            .order(Order::Foreground)
            .anchor(Align2::RIGHT_TOP, vec2(-16.0, 56.0))
            .fade_in(false);
        area.show(ui.ctx(), |ui| {
            frame.show(ui, |ui| {
                ui.set_width(WIDTH);
                self.words_ui(ui)
            })
        })
        .inner
        .inner
    }

    fn words_ui(&self, ui: &mut Ui) -> Option<Click> {
        let palette = chrome::palette(ui);
        let strong = |words: &str| RichText::new(words).color(palette.text);
        let dim = |words: &str| RichText::new(words).size(face::CAPTION_SIZE).color(palette.dim);
        let (button, click) = match self {
            Self::Working { stage, share } => {
                ui.label(strong(match stage {
                    Stage::Reading => "Export: reading…",
                    Stage::Writing | Stage::Listing => "Export: writing…",
                }));
                ui.add(ProgressBar::new(*share).desired_width(WIDTH).show_percentage());
                ("Stop", Click::Stop)
            }
            Self::Done { words, path, .. } => {
                ui.label(strong(words));
                if let Some(path) = path {
                    ui.add(Label::new(dim(path)).truncate()).on_hover_text(path);
                }
                ("Close", Click::Close)
            }
            Self::Failed(why) => {
                ui.label(strong("The export failed"));
                ui.add(Label::new(dim(why).color(palette.err)).wrap());
                ("Close", Click::Close)
            }
        };
        let words = RichText::new(button).color(palette.accent);
        ui.add(Button::new(words).frame(false)).clicked().then_some(click)
    }
}
