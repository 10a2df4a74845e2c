//! What is shown off-screen, as those who show it see it.

use std::path::Path;

use egui::{Context, Ui};

use crate::app::{
    cli::{At, Expand, Renderer},
    error::Result,
};

/// Something that can be shown, scrolled and asked how it is doing.
pub trait Subject {
    /// Shows it in the whole of `ui`.
    fn ui(&mut self, ui: &mut Ui);
    /// Moves towards the end by so many points, or back by a negative number. Takes
    /// effect with the next [`Subject::ui`].
    fn scroll_by(&mut self, points: f64);
    /// Begins a reply below the conversation and goes to its end.
    fn begin_reply(&mut self, text: &str);
    /// Lets so many characters of the reply arrive. False once it is whole.
    fn feed_reply(&mut self, characters: usize) -> bool;
    /// True when the last [`Subject::ui`] showed content wherever there is any, and no
    /// placeholders.
    fn is_ready(&self) -> bool;
    /// True when nothing that changes the picture is still on its way: the index is
    /// complete, and what is visible has its pages, its highlighting and its images.
    fn is_settled(&self) -> bool;
    /// How much of the work is done, from 0 to 1.
    fn progress(&self) -> f32;
    /// Counts so far.
    fn counters(&self) -> Counters;
}

/// What a [`Subject`] counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Messages that are known.
    pub messages: u64,
    /// Pieces laid out since it was opened.
    pub slugs_laid_out: u64,
    /// Pieces on screen in the last frame.
    pub slugs_visible: u64,
    /// Bytes in caches of layout.
    pub cache_bytes: u64,
    /// Bytes held on the GPU beside egui's own.
    pub gpu_bytes: u64,
}

/// What to open, and how it is to stand.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The file; none for the document that is shown before anything is opened.
    pub file: Option<&'a Path>,
    /// Who draws it.
    pub renderer: Renderer,
    /// Where it opens.
    pub at: At,
    /// Which cards and groups are open.
    pub expand: Expand,
}

impl<'a> Request<'a> {
    /// What a window would open on: our renderer, the newest messages, nothing unfolded.
    #[must_use]
    pub fn new(file: Option<&'a Path>) -> Self {
        Self { file, renderer: Renderer::Retained, at: At::End, expand: Expand::None }
    }
}

/// The program around a subject.
pub trait Host {
    /// Sets fonts and style.
    fn install(&self, context: &Context);
    /// Opens something to show.
    ///
    /// # Errors
    /// It cannot be opened.
    fn open(&self, request: &Request<'_>, context: &Context) -> Result<Box<dyn Subject>>;
}
