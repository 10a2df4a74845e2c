//! A tab: one file and how it is being read.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use egui::{Align2, Context, FontId, Ui};

use crate::{
    app::{
        cli::ProviderFlags,
        export::{Held, Subject},
        shown,
        window::{Surroundings, chat::Chat, exporting::Offer, goal::Goal, stored::Stored},
    },
    engine::{FileSource, live::Engine},
    layout::face,
    model::{Progress, Reading, Source, activity::Link},
    store::{SessionId, Store, catalog::Catalog},
    transcript::Format,
    view::{Renderer, Shown, TranscriptView, ViewCommand},
};

/// One conversation in the window.
pub(super) struct Tab {
    /// Distinguishes this tab's widgets from those of the others.
    id: u64,
    name: String,
    path: Option<PathBuf>,
    page: Page,
    /// It was opened for a look, and gives way to the next one that is.
    pub(super) is_passing: bool,
}

enum Page {
    Open(Box<(FileSource, TranscriptView, Shown)>),
    Live(Box<Chat>),
    Stored(Box<Stored>),
    Failed(String),
}

impl Tab {
    pub(super) fn open(ctx: &Context, path: PathBuf, id: u64) -> Self {
        let name = path
            .file_name()
            .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        let page = page(ctx, shown::follow(&path, ctx));
        Self { id, name, path: Some(path), page, is_passing: false }
    }

    pub(super) fn sample(ctx: &Context, id: u64) -> Self {
        let page = page(ctx, shown::sample(ctx));
        Self { id, name: "Sample conversation".to_owned(), path: None, page, is_passing: false }
    }

    pub(super) fn chat(
        ctx: &Context,
        engine: &Arc<Engine>,
        around: &Surroundings,
        flags: &ProviderFlags,
        id: u64,
    ) -> Self {
        let page = Page::Live(Box::new(Chat::new(ctx, engine, around, flags)));
        Self { id, name: "New chat".to_owned(), path: None, page, is_passing: false }
    }

    /// A session, shown while it is being opened.
    pub(super) fn stored(
        ctx: &Context,
        engine: &Engine,
        store: &Store,
        session: SessionId,
        goal: Option<Goal>,
        id: u64,
    ) -> Self {
        let page = match Stored::open(ctx, engine, store, session, goal) {
            Ok(stored) => Page::Stored(Box::new(stored)),
            Err(why) => Page::Failed(why),
        };
        Self { id, name: String::new(), path: None, page, is_passing: false }
    }

    /// Goes on with a session that was opened.
    pub(super) fn advance(
        &mut self,
        ctx: &Context,
        engine: &Arc<Engine>,
        around: &Surroundings,
        catalog: &Catalog,
    ) {
        let Page::Stored(stored) = &mut self.page else { return };
        let Some(arrived) = stored.take(ctx, engine) else { return };
        let passing = Page::Failed(String::new());
        if let Page::Stored(stored) = std::mem::replace(&mut self.page, passing) {
            let catalog = catalog.clone();
            let mut chat = Chat::resume(ctx, engine, around, catalog, (*stored, arrived));
            chat.set_name(self.name.as_str().into());
            self.page = Page::Live(Box::new(chat));
        }
    }

    /// The session that it shows, or that its conversation will be kept in.
    pub(super) fn session(&self) -> Option<&SessionId> {
        match &self.page {
            Page::Live(chat) => chat.id(),
            Page::Stored(stored) => Some(&stored.id),
            Page::Open(_) | Page::Failed(_) => None,
        }
    }

    /// True for a conversation, whoever writes it.
    pub(super) fn is_file(&self) -> bool {
        match &self.page {
            Page::Open(_) => true,
            Page::Live(_) | Page::Stored(_) => false,
            Page::Failed(_) => self.path.is_some(),
        }
    }

    /// Notes what its session is called.
    pub(super) fn set_name(&mut self, named: &Arc<str>) {
        match &mut self.page {
            _ if named.is_empty() => {}
            Page::Live(chat) => chat.set_name(Arc::clone(named)),
            Page::Stored(_) => self.name = named.to_string(),
            Page::Open(_) | Page::Failed(_) => {}
        }
    }

    /// Goes to a message, once it is known.
    pub(super) fn aim(&mut self, goal: Goal) {
        match &mut self.page {
            Page::Live(chat) => chat.aim(goal),
            Page::Stored(stored) => stored.goal = Some(goal),
            Page::Open(_) | Page::Failed(_) => {}
        }
    }

    /// Distinguishes it from every other tab there ever was.
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn live(&mut self) -> Option<&mut Chat> {
        match &mut self.page {
            Page::Live(chat) => Some(chat),
            Page::Open(_) | Page::Stored(_) | Page::Failed(_) => None,
        }
    }

    /// The running conversation of this tab.
    pub(super) fn talk(&self) -> Option<&Chat> {
        match &self.page {
            Page::Live(chat) => Some(chat),
            Page::Open(_) | Page::Stored(_) | Page::Failed(_) => None,
        }
    }

    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The conversation's own title, else the file's name.
    pub(super) fn title(&self) -> String {
        match &self.page {
            Page::Open(open) => open.0.title().map_or_else(|| self.name.clone(), |t| t.to_string()),
            Page::Live(chat) => chat.title(),
            // What it is called may not be known yet.
            Page::Stored(_) if self.name.is_empty() => "Conversation".to_owned(),
            Page::Stored(_) | Page::Failed(_) => self.name.clone(),
        }
    }

    /// What stands beside the title: format, messages, progress, damage.
    pub(super) fn caption(&self) -> String {
        let open = match &self.page {
            Page::Open(open) => open,
            Page::Live(chat) => return chat.caption(),
            Page::Stored(stored) => return stored.caption(),
            Page::Failed(_) => return "could not be opened".to_owned(),
        };
        let source = &open.0;
        let mut words = Vec::new();
        if let Some(format) = source.format() {
            words.push(format.name().to_owned());
        }
        if let Progress::Indexing { done, total } = source.progress() {
            words.push(format!("indexing {} %", 100 * done / total.max(1)));
        } else {
            words.push(format!("{} messages", source.len()));
        }
        let damaged = source.warnings().count();
        if damaged > 0 {
            words.push(format!("{damaged} warnings"));
        }
        if let Link::Lost { why, .. } = source.link() {
            words.push(why.to_string());
        }
        words.join(" · ")
    }

    /// What was met and survived while reading.
    pub(super) fn warnings(&self) -> Vec<String> {
        let Page::Open(open) = &self.page else { return Vec::new() };
        let line = |line: u64| if line > 0 { format!("line {line}: ") } else { String::new() };
        open.0.warnings().map(|w| format!("{}{}", line(w.line.0), w.message)).collect()
    }

    pub(super) fn view(&mut self) -> Option<&mut TranscriptView> {
        match &mut self.page {
            Page::Open(open) => Some(&mut open.1),
            Page::Live(chat) => Some(chat.view()),
            Page::Stored(stored) => Some(&mut stored.view),
            Page::Failed(_) => None,
        }
    }

    pub(super) fn shown(&self) -> Option<&TranscriptView> {
        match &self.page {
            Page::Open(open) => Some(&open.1),
            Page::Live(chat) => Some(chat.shown()),
            Page::Stored(stored) => Some(&stored.view),
            Page::Failed(_) => None,
        }
    }

    /// What can be exported of it; nothing of what cannot be shown.
    pub(super) fn offer(&self) -> Option<Offer> {
        let offer = |subject, source: &dyn Source, view: &TranscriptView| {
            let chosen = view.selected_messages(source);
            Offer { chosen, ..Offer::whole(self.title(), subject) }
        };
        match &self.page {
            Page::Open(open) => {
                let (source, view, _) = &**open;
                if source.failure().is_some() || source.is_empty() {
                    return None;
                }
                let subject = match self.path.clone() {
                    Some(path) => Subject::File(path),
                    None => self.held(source.reading()?, source.format()?.name()),
                };
                let branches = source.branches().iter().map(|b| (Arc::clone(&b.id), b.rows));
                Some(Offer { branches: branches.collect(), ..offer(subject, source, view) })
            }
            Page::Live(chat) => {
                let source = chat.source();
                // What stands before what is in memory is in the log, and so is the rest.
                let subject = match &chat.snapshot().base {
                    Some(base) => Subject::File(base.path.clone()),
                    None => {
                        let reading = source.reading().filter(|reading| !reading.is_empty())?;
                        self.held(reading, "letterpress")
                    }
                };
                Some(offer(subject, source, chat.shown()))
            }
            Page::Stored(stored) => {
                let path = stored.source.path().to_owned();
                Some(offer(Subject::File(path), &stored.source, &stored.view))
            }
            Page::Failed(_) => None,
        }
    }

    /// The program that wrote the transcript of this tab, when it is another one's file.
    pub(super) fn foreign_format(&self) -> Option<&'static str> {
        let Page::Open(open) = &self.page else { return None };
        let is_there = self.path.is_some() && !open.0.is_empty() && open.0.failure().is_none();
        open.0.format().filter(|_| is_there).map(|format| match format {
            Format::Pi => "pi",
            Format::ClaudeCode => "Claude Code",
            Format::Letterpress => "Letterpress",
        })
    }

    fn held(&self, reading: Arc<dyn Reading>, format: &'static str) -> Subject {
        let title = Some(self.title());
        Subject::Held(Held { reading, format, place: String::new(), title })
    }

    /// Bytes of each cache, by name.
    pub(super) fn caches(&self) -> Vec<(&'static str, usize)> {
        let Some(view) = self.shown() else { return Vec::new() };
        let [slugs, colours, pictures, found] = view.caches();
        let pages = match &self.page {
            Page::Open(open) => open.0.cache_bytes(),
            Page::Stored(stored) => stored.source.cache_bytes(),
            // A conversation that goes on is held whole; it is no cache.
            Page::Live(_) | Page::Failed(_) => 0,
        };
        vec![slugs, ("pages", pages), colours, pictures, found]
    }

    /// What is on screen: slugs, or messages of the reference renderer.
    pub(super) fn visible(&self) -> usize {
        let messages = match &self.page {
            Page::Open(open) => open.2.messages_visible(),
            Page::Live(chat) => chat.messages_visible(),
            Page::Stored(_) | Page::Failed(_) => None,
        };
        let slugs = self.shown().map_or(0, TranscriptView::visible_slugs);
        messages.unwrap_or(slugs)
    }

    /// True when nothing that changes the picture is still on its way.
    pub(super) fn is_settled(&self) -> bool {
        let open = match &self.page {
            Page::Open(open) => open,
            Page::Live(chat) => return !chat.is_busy() && chat.shown().is_settled(),
            Page::Stored(stored) => return stored.is_settled(),
            Page::Failed(_) => return true,
        };
        let (source, view, _) = &**open;
        source.failure().is_some()
            || (source.progress() == Progress::Complete && source.ready() && view.is_settled())
    }

    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        engine: Option<&Engine>,
        renderer: Renderer,
    ) -> Vec<ViewCommand> {
        match &mut self.page {
            Page::Live(chat) => {
                if let Some(engine) = engine {
                    return ui.push_id(self.id, |ui| chat.ui(ui, engine, renderer)).inner;
                }
            }
            Page::Stored(stored) => {
                if let Some(engine) = engine {
                    return ui.push_id(self.id, |ui| stored.ui(ui, engine, renderer)).inner;
                }
            }
            Page::Failed(why) => message_ui(ui, "This file cannot be shown", why),
            Page::Open(open) => {
                let (source, view, shown) = &mut **open;
                if let Some(failure) = source.failure() {
                    message_ui(ui, "This file cannot be shown", &failure.to_string());
                } else if source.is_empty() && source.progress() == Progress::Complete {
                    message_ui(ui, "Nothing was said here", "The file holds no messages.");
                } else {
                    let show = |ui: &mut Ui| shown.show(renderer, view, ui, source);
                    return ui.push_id(self.id, show).inner;
                }
            }
        }
        Vec::new()
    }
}

fn page(ctx: &Context, source: crate::app::error::Result<FileSource>) -> Page {
    match source {
        Ok(source) => Page::Open(Box::new((source, TranscriptView::new(ctx), Shown::default()))),
        Err(error) => Page::Failed(error.to_string()),
    }
}

/// One sentence and what it is about, in the middle of the page.
fn message_ui(ui: &mut Ui, title: &str, words: &str) {
    let rect = ui.available_rect_before_wrap();
    let strong = FontId::new(17.0, face::TEXT);
    let font = FontId::new(face::INTERFACE_SIZE, face::TEXT);
    let (text, dim) = (ui.visuals().text_color(), ui.visuals().weak_text_color());
    let middle = rect.center();
    let painter = ui.painter();
    painter.text(middle - egui::vec2(0.0, 14.0), Align2::CENTER_BOTTOM, title, strong, text);
    let width = (rect.width() - 64.0).max(100.0);
    let galley = painter.layout(words.to_owned(), font, dim, width);
    let corner = middle - egui::vec2(galley.rect.width() / 2.0, 0.0);
    painter.galley(corner, galley, dim);
    let response = ui.allocate_rect(rect, egui::Sense::hover());
    response.widget_info(|| {
        egui::WidgetInfo::labeled(egui::Role::Label, true, format!("{title}: {words}"))
    });
}
