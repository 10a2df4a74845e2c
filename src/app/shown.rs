//! What a window, a picture and a measurement have in common: a file and a view of it.

use std::path::Path;

use egui::{Context, Ui};

use crate::{
    app::{
        cli::{At, Expand, Renderer},
        error::{Error, Result},
        offscreen::{Counters, Host, Request, Subject},
        streamed::Streamed,
    },
    engine::{FileSource, reader},
    gpu::Printer,
    layout::{Jump, Openness},
    model::{Progress, Source as _},
    perf::Reason,
    transcript,
    view::{ReferenceView, TranscriptView, governor::waker, theme},
};

/// The conversation that is shown before anything is opened.
pub const SAMPLE: &[u8] = include_bytes!("../../assets/sample/sample.jsonl");

/// Opens conversations for everything that draws off-screen.
pub struct Letterpress;

impl Host for Letterpress {
    fn install(&self, context: &Context) {
        theme::install(context);
    }

    fn open(&self, request: &Request<'_>, context: &Context) -> Result<Box<dyn Subject>> {
        let source = match request.file {
            Some(file) => open(file, context)?,
            None => sample(context)?,
        };
        let mut view = TranscriptView::new(context);
        view.expand(match request.expand {
            Expand::All => Openness::All,
            Expand::None => Openness::Usual,
        });
        view.draw_with(match request.renderer {
            Renderer::Replay => crate::view::Renderer::Replay,
            Renderer::Retained | Renderer::Commonmark => crate::view::Renderer::Retained,
        });
        let reference = (request.renderer == Renderer::Commonmark).then(ReferenceView::default);
        let source = Streamed::new(source);
        let printer = Printer::of(context);
        Ok(Box::new(Shown {
            view,
            source,
            reference,
            printer,
            at: request.at,
            placed: false,
            opened: false,
        }))
    }
}

/// Opens a file, or says in one line why it cannot be opened.
///
/// # Errors
/// It cannot be read or is no transcript.
pub fn open(path: &Path, context: &Context) -> Result<FileSource> {
    // Opened twice: here for an answer at once, and by the thread that will read it.
    transcript::open(path).map_err(|error| Error::failed(error.to_string(), ""))?;
    FileSource::open(path, waker(context, Reason::Page))
        .map_err(|error| Error::io("cannot start reading", &error, path))
}

/// Opens a file that may still be written: it is followed as it grows.
///
/// # Errors
/// It cannot be read or is no transcript.
pub fn follow(path: &Path, context: &Context) -> Result<FileSource> {
    transcript::open(path).map_err(|error| Error::failed(error.to_string(), ""))?;
    FileSource::follow(path, waker(context, Reason::Page), reader::Config::default())
        .map_err(|error| Error::io("cannot start reading", &error, path))
}

/// Opens the sample conversation.
///
/// # Errors
/// The system gives no further thread.
pub fn sample(context: &Context) -> Result<FileSource> {
    FileSource::of_bytes("sample", SAMPLE, waker(context, Reason::Page))
        .map_err(|error| Error::io("cannot start reading", &error, Path::new("sample")))
}

struct Shown {
    view: TranscriptView,
    source: Streamed,
    reference: Option<ReferenceView>,
    printer: Option<Printer>,
    at: At,
    placed: bool,
    /// The newest message was there once. It may have made room for others since.
    opened: bool,
}

impl Shown {
    /// Goes to the place that was asked for, once enough is known to go there.
    fn place(&mut self) {
        let complete = self.source.progress() == Progress::Complete;
        if self.placed || self.source.is_empty() || !(complete || self.at == At::End) {
            return;
        }
        self.placed = true;
        match self.at {
            At::Start => self.view.jump(Jump::Start),
            At::End => self.view.jump(Jump::End),
            At::Message(number) => {
                let row = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
                self.view.jump(Jump::Row(row));
            }
        }
    }
}

impl Subject for Shown {
    fn ui(&mut self, ui: &mut Ui) {
        self.opened |= self.source.history.ready();
        if let Some(reference) = &mut self.reference {
            reference.show(ui, &mut self.source);
            return;
        }
        self.place();
        let _off_screen_nobody_clicks = self.view.show(ui, &mut self.source);
    }

    fn scroll_by(&mut self, points: f64) {
        match &mut self.reference {
            Some(reference) => reference.scroll_by(points),
            None => self.view.scroll_by(points),
        }
    }

    fn go_to(&mut self, message: u64) {
        let row = usize::try_from(message).unwrap_or(usize::MAX);
        match &mut self.reference {
            Some(reference) => reference.go_to_row(row),
            None => self.view.jump(Jump::Row(row)),
        }
    }

    fn begin_reply(&mut self, text: &str) {
        self.source.begin(text);
        match &mut self.reference {
            Some(reference) => reference.follow_end(),
            None => self.view.jump(Jump::End),
        }
    }

    fn feed_reply(&mut self, characters: usize) -> bool {
        self.source.feed(characters, self.reference.is_some())
    }

    fn is_ready(&self) -> bool {
        let shown = match &self.reference {
            Some(reference) => reference.is_ready(),
            None => self.view.is_ready() && self.view.visible_slugs() > 0,
        };
        (self.opened || self.source.history.ready()) && (shown || self.source.is_empty())
    }

    fn is_settled(&self) -> bool {
        let complete = self.source.progress() == Progress::Complete;
        let shown = match &self.reference {
            Some(reference) => reference.is_ready(),
            None => self.view.is_settled(),
        };
        complete && (shown || self.source.is_empty()) && (self.placed || self.reference.is_some())
    }

    fn progress(&self) -> f32 {
        match self.source.progress() {
            Progress::Complete => 1.0,
            Progress::Indexing { done, total } => done as f32 / total.max(1) as f32,
        }
    }

    fn counters(&self) -> Counters {
        Counters {
            messages: self.source.len() as u64,
            slugs_laid_out: self.view.laid_out(),
            slugs_visible: match &self.reference {
                Some(reference) => reference.visible() as u64,
                None => self.view.visible_slugs() as u64,
            },
            cache_bytes: self.view.cache_bytes() as u64,
            gpu_bytes: self.printer.as_ref().map_or(0, |printer| printer.counters().gpu_bytes),
        }
    }
}
