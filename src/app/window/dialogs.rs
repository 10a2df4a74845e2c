//! Dialogs: choosing a file, following a link, the manual.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, sync_channel},
    },
};

use egui::{Context, Id, RichText, Ui};

use crate::{
    engine::live::LogHandle,
    model::{Attachment, Image, ImageData},
    perf::Reason,
    view::{
        governor::waker,
        link_gate::{Link, LinkContext, LinkGate, Verdict},
        rich::{Reference, manual_ui},
    },
};

/// Attachments of more bytes are left out.
const ATTACHMENT_MAX: u64 = 20 << 20;

/// A file as an attachment: a picture by its content, else its text; nothing when it is
/// neither or too large.
fn attachment(path: &std::path::Path) -> Option<Attachment> {
    let size = std::fs::metadata(path).ok()?.len();
    let bytes = (size <= ATTACHMENT_MAX).then(|| std::fs::read(path).ok()).flatten()?;
    if let Ok(format) = image::guess_format(&bytes) {
        let media_type = format.to_mime_type().into();
        let data = ImageData::Bytes(bytes.into());
        return Some(Attachment::Image(Image { media_type, data, size: None }));
    }
    let name = path.file_name()?.to_string_lossy().as_ref().into();
    String::from_utf8(bytes).ok().map(|text| Attachment::Document { name, text: text.into() })
}

/// Asks the system where a copy of a session that cannot be saved is to be written, and
/// writes it, on a thread of its own. `told` hears what came of it.
pub(super) fn save_copy(
    log: LogHandle,
    title: &str,
    told: impl Fn(String) + Clone + Send + 'static,
) {
    let name = format!("{}.jsonl", file_name(title));
    let also = told.clone();
    let started = std::thread::Builder::new().name("copy-dialog".to_owned()).spawn(move || {
        let dialog = rfd::FileDialog::new()
            .set_title("Save a copy of the conversation")
            .set_file_name(name)
            .add_filter("Sessions of Letterpress", &["jsonl"]);
        let Some(to) = dialog.save_file() else { return };
        told(match pollster::block_on(log.save_copy(&to)) {
            Ok(_) => format!("A copy was saved: {}", to.display()),
            Err(error) => format!("No copy was saved: {error}."),
        });
    });
    if let Err(error) = started {
        also(format!("No copy was saved: {error}."));
    }
}

/// A title as the name of a file.
fn file_name(title: &str) -> String {
    let plain = title.chars().map(|c| if c.is_alphanumeric() { c } else { '-' });
    let name: String = plain.take(60).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "conversation".to_owned() } else { name.to_owned() }
}

const MANUAL: &str = include_str!("../../../assets/manual.md");

/// What floats over the window.
#[derive(Default)]
pub(super) struct Dialogs {
    picked: Option<Receiver<Vec<PathBuf>>>,
    attached: Option<Receiver<Vec<Attachment>>>,
    folder: Option<Receiver<Option<PathBuf>>>,
    question: Option<Question>,
    refusal: Option<String>,
    manual: Option<Reference>,
    gate: LinkGate,
}

/// A link that is only followed after a second look.
struct Question {
    url: url::Url,
    reasons: Vec<String>,
}

impl Dialogs {
    /// Asks the system for files; the answer comes with a later [`Dialogs::poll`].
    pub(super) fn pick_file(&mut self, ctx: &Context) {
        if self.picked.is_some() {
            return;
        }
        let (sender, receiver) = sync_channel(1);
        let wake = waker(ctx, Reason::Answer);
        let started = std::thread::Builder::new().name("file-dialog".to_owned()).spawn(move || {
            let dialog = rfd::FileDialog::new()
                .set_title("Open transcripts")
                .add_filter("Transcripts", &["jsonl", "json"])
                .add_filter("All files", &["*"]);
            let files = dialog.pick_files().unwrap_or_default();
            // A window that has closed wants no answer.
            let _closed = sender.try_send(files);
            wake();
        });
        self.picked = started.is_ok().then_some(receiver);
    }

    /// Asks the system for files to attach, and reads them beside the UI.
    pub(super) fn pick_attachments(&mut self, ctx: &Context) {
        if self.attached.is_some() {
            return;
        }
        let (sender, receiver) = sync_channel(1);
        let wake = waker(ctx, Reason::Answer);
        let started =
            std::thread::Builder::new().name("attach-dialog".to_owned()).spawn(move || {
                let dialog = rfd::FileDialog::new().set_title("Attach pictures or text files");
                let files = dialog.pick_files().unwrap_or_default();
                let read = files.iter().filter_map(|file| attachment(file)).collect();
                let _closed = sender.try_send(read);
                wake();
            });
        self.attached = started.is_ok().then_some(receiver);
    }

    /// Asks the system for the folder that tools work in.
    pub(super) fn pick_folder(&mut self, ctx: &Context) {
        if self.folder.is_some() {
            return;
        }
        let (sender, receiver) = sync_channel(1);
        let wake = waker(ctx, Reason::Answer);
        let started =
            std::thread::Builder::new().name("folder-dialog".to_owned()).spawn(move || {
                let dialog = rfd::FileDialog::new().set_title("The folder that tools work in");
                let _closed = sender.try_send(dialog.pick_folder());
                wake();
            });
        self.folder = started.is_ok().then_some(receiver);
    }

    /// The folder that was chosen since the last call.
    pub(super) fn folder(&mut self) -> Option<PathBuf> {
        match self.folder.as_ref()?.try_recv() {
            Err(std::sync::mpsc::TryRecvError::Empty) => None,
            answer => {
                self.folder = None;
                answer.ok().flatten()
            }
        }
    }

    /// Attachments that were chosen since the last call.
    pub(super) fn attachments(&mut self) -> Vec<Attachment> {
        let Some(receiver) = &self.attached else { return Vec::new() };
        match receiver.try_recv() {
            Err(std::sync::mpsc::TryRecvError::Empty) => Vec::new(),
            answer => {
                self.attached = None;
                answer.unwrap_or_default()
            }
        }
    }

    /// Files that were chosen since the last call.
    pub(super) fn poll(&mut self, _ctx: &Context) -> Vec<PathBuf> {
        let Some(receiver) = &self.picked else { return Vec::new() };
        match receiver.try_recv() {
            Ok(files) => {
                self.picked = None;
                files
            }
            Err(std::sync::mpsc::TryRecvError::Empty) => Vec::new(),
            Err(std::sync::mpsc::TryRecvError::Disconnected) => {
                self.picked = None;
                Vec::new()
            }
        }
    }

    /// Follows a link if the gate lets it through, asks if it doubts, says why if not.
    pub(super) fn link(&mut self, target: &Arc<str>, shown: &Arc<str>) {
        // Whatever stands in a file may have been written by anybody.
        let link = Link { target, shown, context: LinkContext::Untrusted };
        match LinkGate::judge(link) {
            Verdict::Open(url) => self.follow(&url),
            Verdict::Ask { url, reasons } => {
                let reasons = reasons.iter().map(ToString::to_string).collect();
                self.question = Some(Question { url, reasons });
            }
            Verdict::Refuse(reason) => self.refusal = Some(reason.to_string()),
        }
    }

    fn follow(&mut self, url: &url::Url) {
        if let Err(error) = self.gate.open(url) {
            self.refusal = Some(format!("The system's browser did not open: {error}"));
        }
    }

    /// Opens or closes the manual.
    pub(super) fn toggle_manual(&mut self) {
        self.manual = match self.manual {
            Some(_) => None,
            None => Some(Reference::default()),
        };
    }

    pub(super) fn ui(&mut self, ui: &Ui) {
        self.question_ui(ui);
        self.refusal_ui(ui);
        self.manual_ui(ui);
    }

    fn question_ui(&mut self, ui: &Ui) {
        let Some(question) = &self.question else { return };
        let (mut open, mut cancel) = (false, false);
        let modal = egui::Modal::new(Id::unique("link")).show(ui.ctx(), |ui| {
            ui.set_width(460.0);
            ui.heading("Follow this link?");
            ui.add_space(8.0);
            ui.label(RichText::new(question.url.as_str()).monospace());
            ui.add_space(8.0);
            for reason in &question.reasons {
                ui.label(format!("• {reason}"));
            }
            ui.add_space(12.0);
            ui.horizontal(|ui| {
                let button = ui.button("Cancel");
                button.request_focus();
                cancel = button.clicked();
                open = ui.button("Open in the browser").clicked();
            });
        });
        if open {
            let url = question.url.clone();
            self.question = None;
            self.follow(&url);
        } else if cancel || modal.should_close() {
            self.question = None;
        }
    }

    fn refusal_ui(&mut self, ui: &Ui) {
        let Some(words) = self.refusal.clone() else { return };
        let modal = egui::Modal::new(Id::unique("refusal")).show(ui.ctx(), |ui| {
            ui.set_width(420.0);
            ui.heading("This link is not followed");
            ui.add_space(8.0);
            ui.label(words);
            ui.add_space(12.0);
            ui.button("Close").clicked()
        });
        if modal.inner || modal.should_close() {
            self.refusal = None;
        }
    }

    fn manual_ui(&mut self, ui: &Ui) {
        let Some(reference) = &mut self.manual else { return };
        let modal = egui::Modal::new(Id::unique("manual")).show(ui.ctx(), |ui| {
            ui.set_width(640.0);
            ui.set_height((ui.ctx().content_rect().height() * 0.75).min(640.0));
            manual_ui(ui, reference, "manual", MANUAL);
        });
        if modal.should_close() {
            self.manual = None;
        }
    }
}
