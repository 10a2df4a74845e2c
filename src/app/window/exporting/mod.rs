//! Exporting from the window: a dialog with the choices, the work beside the UI, and a word
//! about how it ended.

mod dialog;
mod offer;
mod word;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, TryRecvError, sync_channel},
    },
};

use egui::Ui;

pub(super) use self::offer::Offer;
use self::{
    dialog::{Choices, Wish},
    word::{Click, Word},
};
use crate::{
    app::{
        error::Result,
        export::{Destination, Done, Format, Images, Job, Order, redact::Redaction, start},
        work::Handle,
    },
    perf::Reason,
    view::governor::waker,
};

/// Asks where a file goes: it is given a name to suggest, and the format.
pub type SaveDialog = Arc<dyn Fn(&str, Format) -> Option<PathBuf> + Send + Sync>;

/// Exports of a window: one at a time.
pub(super) struct Exporting {
    /// What is offered, and what was chosen of it.
    open: Option<(Offer, Choices)>,
    /// The system's dialog is open; what to do with its answer.
    asking: Option<(Receiver<Option<PathBuf>>, Box<Job>)>,
    work: Option<(Handle<Done>, Destination)>,
    word: Option<Word>,
    save_dialog: SaveDialog,
}

impl Default for Exporting {
    fn default() -> Self {
        Self {
            open: None,
            asking: None,
            work: None,
            word: None,
            save_dialog: Arc::new(|name, format| {
                rfd::FileDialog::new()
                    .set_title("Export")
                    .set_file_name(name)
                    .add_filter(format.name(), &[format.ending()])
                    .save_file()
            }),
        }
    }
}

impl Exporting {
    /// Opens the dialog.
    pub(super) fn open(&mut self, offer: Offer) {
        let choices = Choices::of(&offer);
        self.open = Some((offer, choices));
        self.word = None;
    }

    /// Asks where files go in another way than by the system's dialog.
    pub(super) fn save_with(&mut self, dialog: SaveDialog) {
        self.save_dialog = dialog;
    }

    /// True while something of it is still going to happen by itself.
    pub(super) fn is_busy(&self) -> bool {
        self.asking.is_some() || self.work.is_some()
    }

    /// Shows the dialog, and how far the work is.
    pub(super) fn ui(&mut self, ui: &Ui) {
        self.poll(ui);
        if let Some((offer, choices)) = &mut self.open {
            match dialog::show(ui, offer, choices) {
                Some(Wish::Save) => self.save(ui),
                Some(Wish::Copy) => self.copy(ui),
                Some(Wish::Close) => self.open = None,
                None => {}
            }
        }
        if let Some((work, _)) = &self.work {
            self.word = Some(Word::working(work.progress()));
        }
        match self.word.as_mut().and_then(|word| word.show(ui)) {
            Some(Click::Stop) => {
                self.work = None;
                self.word = None;
            }
            Some(Click::Close) => self.word = None,
            None => {}
        }
    }

    fn save(&mut self, ui: &Ui) {
        let Some((offer, choices)) = self.open.take() else { return };
        let format = choices.format;
        let name = offer.file_name(format);
        let job = Box::new(job(offer, &choices, Destination::Text));
        let (sender, receiver) = sync_channel(1);
        let (wake, dialog) = (waker(ui, Reason::Answer), Arc::clone(&self.save_dialog));
        let asked = std::thread::Builder::new().name("save-dialog".to_owned()).spawn(move || {
            // A window that has closed wants no answer.
            let _closed = sender.try_send(dialog(&name, format));
            wake();
        });
        match asked {
            Ok(_detached) => self.asking = Some((receiver, job)),
            Err(error) => self.word = Some(Word::failed(&error.to_string())),
        }
    }

    fn copy(&mut self, ui: &Ui) {
        if let Some((offer, choices)) = self.open.take() {
            self.begin(ui, job(offer, &choices, Destination::Text));
        }
    }

    fn begin(&mut self, ui: &Ui, job: Job) {
        let destination = job.destination.clone();
        match start(job, waker(ui, Reason::Answer)) {
            Ok(handle) => self.work = Some((handle, destination)),
            Err(error) => self.word = Some(Word::failed(&error.to_string())),
        }
    }

    fn poll(&mut self, ui: &Ui) {
        let answer = self.asking.as_ref().map(|(receiver, _)| receiver.try_recv());
        match answer {
            None | Some(Err(TryRecvError::Empty)) => {}
            Some(answer) => {
                let job = self.asking.take().map(|(_, job)| *job);
                // Nothing chosen: nothing is said.
                if let (Some(job), Some(path)) = (job, answer.ok().flatten()) {
                    let path = with_ending(path, job.order.format);
                    self.begin(ui, Job { destination: Destination::File(path), ..job });
                }
            }
        }
        if let Some(outcome) = self.work.as_ref().and_then(|(work, _)| work.poll())
            && let Some((_, destination)) = self.work.take()
        {
            self.word = Some(ended(ui, outcome, &destination));
        }
    }
}

fn ended(ui: &Ui, outcome: Result<Done>, destination: &Destination) -> Word {
    let done = match outcome {
        Ok(done) => done,
        Err(error) => return Word::failed(&error.to_string()),
    };
    if let Some(text) = done.text {
        ui.ctx().copy_text(text);
    }
    let path = match destination {
        Destination::File(path) => Some(path.as_path()),
        Destination::Text => None,
    };
    Word::done(ui, done.summary, path)
}

/// A name without an ending gets the usual one.
fn with_ending(path: PathBuf, format: Format) -> PathBuf {
    match path.extension() {
        Some(_) => path,
        None => path.with_extension(format.ending()),
    }
}

fn job(offer: Offer, choices: &Choices, destination: Destination) -> Job {
    let redaction = choices.is_covered.then(|| {
        let home = directories::BaseDirs::new().map(|user| user.home_dir().to_owned());
        Arc::new(Redaction::usual(home.as_deref()))
    });
    let images = if choices.with_images { Images::Inside } else { Images::Named };
    let only = choices.only(&offer);
    let branch = choices.branch(&offer);
    let order = Order { format: choices.format, only, images, redaction };
    Job { subject: offer.subject, branch, order, destination }
}
