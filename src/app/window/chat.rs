//! A tab with a conversation that is going on.

mod keeping;
mod lodging;
mod written;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::{Duration, Instant},
};

use egui::{Align2, Context, FontId, Frame, Margin, Panel, Ui};

use crate::{
    app::{
        cli::ProviderFlags,
        providers::{self, Choice, Sources},
        secrecy,
        window::{
            Surroundings,
            announce::Announcer,
            goal::{self, Goal},
            stored::{Arrived, Parts, Stored},
            workspace::{Opened, Opener},
        },
    },
    engine::{
        FileSource, SessionSource,
        live::{Engine, LogHandle, Provider, Session, Switch, workbench::Workbench},
    },
    layout::{Jump, Palette, face},
    model::{Attachment, Command, Keeping, MessageId, Part, Role, Snapshot, Source, ToolUse},
    perf::{self, Reason},
    store::{self, Home, SessionId, Store, catalog::Catalog},
    view::{
        COLUMN_MAX, Hands, Renderer, Shown, TranscriptView, ViewCommand,
        approval::{self, ApprovalCard, Verdict},
        composer::{self, Composer, Wish},
        governor::waker,
        theme,
    },
};

pub(super) use self::{keeping::banner_ui, written::Restored};
use self::{
    lodging::{Lodging, said},
    written::Written,
};

/// What was shown before a session was opened is shown for so long at most.
const SWAP: Duration = Duration::from_secs(3);

/// What the engine found out beside the UI.
enum Found {
    /// Who answers when nobody was chosen.
    Answerer(Box<Choice>),
    /// Models that can be chosen.
    Models(Vec<composer::Choice>),
    /// Nobody answers, though somebody was named: why.
    Trouble(String),
    /// A folder for the tools to work in, or why it cannot be one.
    Workspace(Box<Result<Opened, String>>),
    /// The session of a conversation that begins, or why there is none.
    Made(Box<Result<store::Opened, Arc<str>>>),
}

/// A conversation, what is written next, and what was found for it.
pub(super) struct Chat {
    session: Session,
    source: SessionSource,
    view: TranscriptView,
    shown: Shown,
    composer: Composer,
    choices: Vec<composer::Choice>,
    found: Receiver<Found>,
    sender: SyncSender<Found>,
    wants: Wants,
    card: ApprovalCard,
    /// Stands for the tools of the workspace, once there is one.
    switch: Switch,
    opened: Option<Opened>,
    notice: Option<String>,
    /// How many other conversations have a question.
    others: usize,
    /// What the tools of a folder may do, once there is one.
    tools: ToolUse,
    /// What models are to be told in all new conversations.
    kept_system: Option<Arc<str>>,
    announcer: Announcer,
    lodging: Lodging,
    store: Option<Store>,
    catalog: Option<Catalog>,
    /// What is being written, where it is kept.
    written: Option<Written>,
    /// What the catalog was told of last: messages, whether one is arriving.
    told: Option<(usize, bool)>,
    past: Past,
    /// What is shown until its rows are there.
    before: Option<(FileSource, Instant)>,
    /// Where it is to be shown.
    goal: Option<Goal>,
    /// What it is called, once its session is listed.
    named: Option<Arc<str>>,
}

/// What the window around it is to do.
#[derive(Debug, Default)]
struct Wants {
    /// Let the user choose files to attach.
    files: bool,
    /// Let him choose a folder for the tools.
    folder: bool,
    /// Let him say where a copy of what could not be saved is to be written.
    copy: bool,
}

/// How it came here.
#[derive(Debug, Default)]
struct Past {
    /// The last answer broke off when the program ended.
    is_interrupted: bool,
    /// Its session says who answers.
    keeps_answerer: bool,
    /// Something was said in it since it was opened.
    was_used: bool,
}

impl Chat {
    /// Begins a conversation. Who answers is found out beside the UI; until then, and when
    /// there is nobody, the demo does.
    pub(super) fn new(
        ctx: &Context,
        engine: &Arc<Engine>,
        around: &Surroundings,
        flags: &ProviderFlags,
    ) -> Self {
        Self::build(ctx, engine, around, flags, None)
    }

    /// Goes on with a session that was shown until it was opened.
    pub(super) fn resume(
        ctx: &Context,
        engine: &Arc<Engine>,
        around: &Surroundings,
        catalog: Catalog,
        (stored, arrived): (Stored, Arrived),
    ) -> Self {
        let flags = ProviderFlags::default();
        let Arrived { opened, draft } = arrived;
        let is_interrupted = opened.found.is_interrupted;
        // A log of one record holds no message.
        let has_more = opened.next > 1;
        let mut chat = Self::build(ctx, engine, around, &flags, Some(opened));
        let Parts { id, source, view, goal, store } = stored.into_parts();
        chat.source = chat.session.source_near(goal.as_ref().map(Goal::id));
        chat.before = has_more.then(|| (source, perf::now()));
        let home = Home::Session(id.clone());
        let mut written = Written::new(&store, home, &mut chat.composer);
        written.restore(&mut chat.composer, draft);
        (chat.view, chat.goal) = (view, goal);
        chat.past = Past { is_interrupted, keeps_answerer: true, was_used: false };
        (chat.store, chat.catalog) = (Some(store), Some(catalog));
        (chat.written, chat.lodging) = (Some(written), Lodging::Kept(id));
        chat
    }

    fn build(
        ctx: &Context,
        engine: &Arc<Engine>,
        around: &Surroundings,
        flags: &ProviderFlags,
        opened: Option<store::Opened>,
    ) -> Self {
        let flags = &around.sources.fill(flags);
        let mut demo = Choice::demo(providers::Reason::NothingFound);
        demo.provider = Provider::Demo(around.pace);
        engine.set_provider(Arc::clone(&demo.name), demo.provider.clone());
        let switch = Switch::default();
        let bench = Some(Arc::new(switch.clone()) as Arc<dyn Workbench>);
        let (settings, wake) = (demo.settings(flags), waker(ctx, Reason::Stream));
        let session = match opened {
            Some(opened) => engine.session_kept(opened, bench, settings, wake),
            None => engine.session_at(bench, settings, wake),
        };
        around.announcer.follow(engine, session.watch());
        let (sender, found) = sync_channel(4);
        look_around(ctx, engine, around.sources.clone(), Some(flags.clone()), sender.clone());
        Self {
            source: session.source(),
            session,
            view: TranscriptView::new(ctx),
            shown: Shown::default(),
            composer: Composer::default(),
            choices: vec![composer::Choice { provider: demo.name, model: demo.model }],
            found,
            sender,
            wants: Wants::default(),
            card: ApprovalCard::default(),
            switch,
            opened: None,
            notice: None,
            others: 0,
            tools: around.sources.settings().tools(),
            kept_system: None,
            announcer: around.announcer.clone(),
            lodging: Lodging::Nowhere,
            store: None,
            catalog: None,
            written: None,
            told: None,
            past: Past::default(),
            before: None,
            goal: None,
            named: None,
        }
    }

    /// What models are to be told in all new conversations, once it was said.
    pub(super) fn take_kept_system(&mut self) -> Option<Arc<str>> {
        self.kept_system.take()
    }

    /// Finds out anew which models can be chosen, after keys or providers have changed.
    pub(super) fn look_again(&self, ctx: &Context, engine: &Arc<Engine>, sources: &Sources) {
        look_around(ctx, engine, sources.clone(), None, self.sender.clone());
    }

    /// Where the user writes.
    pub(super) fn composer(&self) -> &Composer {
        &self.composer
    }

    /// The same, to be set up.
    pub(super) fn composer_mut(&mut self) -> &mut Composer {
        &mut self.composer
    }

    /// Lets the next of the models with a star answer from now on.
    pub(super) fn next_favourite(&mut self) {
        let settings = &self.source.snapshot().settings;
        let (provider, model) = (Arc::clone(&settings.provider), Arc::clone(&settings.model));
        match self.composer.favourite_after(&composer::Choice { provider, model }) {
            Some(composer::Choice { provider, model }) => {
                self.carry_out(Wish::Tell(Command::SetModel { provider, model }));
            }
            None => {
                let words =
                    "Give models a star in the list below; Ctrl Shift M goes through those.";
                self.notice = Some(words.to_owned());
            }
        }
    }

    /// Opens a folder for the tools to work in, beside the UI.
    pub(super) fn open_workspace(
        &self,
        ctx: &Context,
        engine: &Engine,
        opener: Opener,
        folder: PathBuf,
    ) {
        let (sender, wake) = (self.sender.clone(), waker(ctx, Reason::Answer));
        engine.spawn(async move {
            let opened = Box::new(opener.open(folder).await);
            // A window that has closed wants no answer.
            let _closed = sender.try_send(Found::Workspace(opened));
            wake();
        });
    }

    /// The workspace, once it is open.
    pub(super) fn workspace(&self) -> Option<&Opened> {
        self.opened.as_ref()
    }

    /// True while a call waits for the user's word.
    pub(super) fn asks(&self) -> bool {
        self.session.snapshot().question.is_some()
    }

    /// Gives the question the keyboard.
    pub(super) fn focus_question(&mut self) {
        self.card.focus();
    }

    /// Notes how many other conversations have a question.
    pub(super) fn note_others(&mut self, others: usize) {
        self.others = others;
    }

    /// Stops one running call.
    pub(super) fn stop_call(&mut self, message: MessageId, call_id: Arc<str>) {
        self.carry_out(Wish::Tell(Command::StopCall { message, call_id }));
    }

    /// Takes the files back to a checkpoint, which can be taken back in the same way.
    pub(super) fn restore(&mut self, checkpoint: Arc<str>) {
        self.carry_out(Wish::Tell(Command::Restore { checkpoint }));
    }

    /// True once a folder for the tools was asked for.
    pub(super) fn take_wants_folder(&mut self) -> bool {
        std::mem::take(&mut self.wants.folder)
    }

    /// What its session is called; until that is known, the first words that were said.
    pub(super) fn title(&self) -> String {
        let named = self.named.as_deref().filter(|named| !named.is_empty());
        named.map_or_else(|| title_of(self.source.snapshot()), str::to_owned)
    }

    /// Who answers.
    pub(super) fn caption(&self) -> String {
        let settings = &self.source.snapshot().settings;
        format!("{} · {}", settings.provider, settings.model)
    }

    /// True while an answer is on its way.
    pub(super) fn is_busy(&self) -> bool {
        self.source.snapshot().phase.is_busy()
    }

    pub(super) fn view(&mut self) -> &mut TranscriptView {
        &mut self.view
    }

    pub(super) fn shown(&self) -> &TranscriptView {
        &self.view
    }

    /// What was said, as it is shown.
    pub(super) fn source(&self) -> &SessionSource {
        &self.source
    }

    /// Says something, as if it were typed; the reader stays where he is.
    pub(super) fn say(&mut self, words: &str) -> bool {
        let command = Command::Send(self.composer.draft(words));
        match self.wait_for_session(command) {
            Some(command) => self.session.send(command).is_ok(),
            None => true,
        }
    }

    /// The session that it is kept in, or will be.
    pub(super) fn id(&self) -> Option<&SessionId> {
        self.lodging.id()
    }

    /// True once its session is there.
    pub(super) fn is_kept(&self) -> bool {
        matches!(self.lodging, Lodging::Kept(_))
    }

    /// True when nothing was said and nothing is written in it.
    pub(super) fn is_untouched(&self) -> bool {
        let is_new = matches!(self.lodging, Lodging::Nowhere | Lodging::Fresh(_));
        is_new && self.source.snapshot().is_empty() && !self.has_draft()
    }

    /// True when something is written in it that was not sent.
    pub(super) fn has_draft(&self) -> bool {
        !self.composer.is_empty()
    }

    /// True once something was said in it since it was opened.
    pub(super) fn was_used(&self) -> bool {
        self.past.was_used
    }

    /// Notes what its session is called.
    pub(super) fn set_name(&mut self, named: Arc<str>) {
        self.named = Some(named);
    }

    /// Goes to a message, once it is known.
    pub(super) fn aim(&mut self, goal: Goal) {
        self.goal = Some(goal);
    }

    /// Gives the box to write in the keyboard.
    pub(super) fn focus(&mut self) {
        self.composer.take_keyboard();
    }

    /// Puts back what was being written before there was a session.
    pub(super) fn restore_draft(&mut self, draft: Restored) {
        if let Some(written) = &mut self.written {
            written.restore(&mut self.composer, draft);
        }
    }

    /// Has saved at once what is being written.
    pub(super) fn flush(&self, is_synced: bool) {
        if let Some(written) = &self.written {
            written.flush(is_synced);
        }
    }

    /// What has to be done in each frame while another tab is shown.
    pub(super) fn tend(&mut self, ctx: &Context, engine: &Engine) {
        self.absorb(ctx, engine);
        let snapshot = self.session.snapshot();
        self.follow(ctx, engine, &snapshot);
    }

    /// Its log, once a copy of that is wanted.
    pub(super) fn take_copied(&mut self) -> Option<LogHandle> {
        self.take_wants_copy().then(|| self.session.log())
    }

    /// Its log, once it has one.
    pub(super) fn log(&self) -> Option<LogHandle> {
        self.is_kept().then(|| self.session.log())
    }

    /// True once the composer's attach button was pressed.
    pub(super) fn take_wants_files(&mut self) -> bool {
        std::mem::take(&mut self.wants.files)
    }

    pub(super) fn attach(&mut self, attachments: Vec<Attachment>) {
        self.composer.attach(attachments);
    }

    /// The conversation as it was last shown.
    pub(super) fn snapshot(&self) -> &Arc<Snapshot> {
        self.source.snapshot()
    }

    /// Messages on screen, while the reference renderer shows them.
    pub(super) fn messages_visible(&self) -> Option<usize> {
        self.shown.messages_visible()
    }

    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        engine: &Engine,
        renderer: Renderer,
    ) -> Vec<ViewCommand> {
        self.absorb(ui.ctx(), engine);
        // Escape closes what finds words, and leaves what is chosen, before it stops an answer.
        self.view.find_keys(ui);
        self.view.choosing_keys(ui);
        let dark = ui.visuals().dark_mode;
        let palette = theme::palette(if dark { egui::Theme::Dark } else { egui::Theme::Light });
        let snapshot = self.session.snapshot();
        // Centred as the words above it are: in what the map and the scrollbar leave.
        let room = ui.available_width() - self.view.edge_width(ui.available_rect_before_wrap());
        let width = (room - 40.0).min(COLUMN_MAX + 20.0);
        let margin = (room - width) / 2.0;
        let frame = Frame::NONE.inner_margin(Margin { left: 0, right: 0, top: 2, bottom: 14 });
        let panel =
            Panel::bottom("composer").frame(frame).resizable(false).show_separator_line(false);
        let column = |ui: &mut Ui| {
            ui.add_space(margin);
            ui.vertical(|ui| {
                ui.set_width(width);
                self.question_ui(ui, &snapshot, &palette);
                self.notice_ui(ui, &palette);
                let wish = self.keeping_ui(ui, &snapshot, &palette);
                let composer = &mut self.composer;
                let mut wishes = composer.show(ui, &snapshot, &self.choices, &palette, perf::now());
                wishes.extend(wish);
                wishes
            })
        };
        let wishes = panel.show(ui, |ui| ui.horizontal(column).inner.inner).inner;
        for wish in wishes {
            match wish {
                Wish::Copy(words) => ui.copy_text(secrecy::redact(&words).into_owned()),
                wish => self.carry_out(wish),
            }
        }
        self.follow(ui.ctx(), engine, &snapshot);
        if snapshot.is_empty() && snapshot.base.is_none() {
            welcome_ui(ui, &palette);
        }
        self.prepare_view(&snapshot);
        let commands = self.rows_ui(ui, renderer);
        commands.into_iter().filter_map(|command| self.obey(command)).collect()
    }

    fn rows_ui(&mut self, ui: &mut Ui, renderer: Renderer) -> Vec<ViewCommand> {
        self.source.poll();
        if let Some((_, since)) = &self.before {
            let is_over = self.source.failure().is_some() || since.elapsed() > SWAP;
            if is_over || goal::is_ready(&self.view, &mut self.source) {
                self.before = None;
            }
        }
        let source: &mut dyn Source = match &mut self.before {
            Some((before, _)) => before,
            None => &mut self.source,
        };
        if Goal::pursue(&mut self.goal, &mut self.view, source, perf::now()) {
            return Vec::new();
        }
        self.shown.show(renderer, &mut self.view, ui, source)
    }

    /// Tells the view what stands around the rows.
    fn prepare_view(&mut self, snapshot: &Snapshot) {
        self.view.hands = match &snapshot.keeping {
            Keeping::ReadOnly(_) => Hands::Reading,
            Keeping::Nowhere | Keeping::Kept | Keeping::Saving { .. } | Keeping::Unsaved(_) => {
                Hands::Talking
            }
        };
        self.view.mark_edited(self.composer.edited());
    }

    /// Does what belongs to this conversation; gives back what does not.
    fn obey(&mut self, command: ViewCommand) -> Option<ViewCommand> {
        match command {
            ViewCommand::Edit { message } => self.edit(message),
            ViewCommand::Regenerate { message } => {
                self.carry_out(Wish::Tell(Command::Regenerate { message }));
            }
            ViewCommand::Choose { message } => {
                self.carry_out(Wish::Tell(Command::Choose { message }));
            }
            ViewCommand::Quote { text } => self.quote(&text),
            other @ (ViewCommand::OpenLink { .. }
            | ViewCommand::StopCall { .. }
            | ViewCommand::Restore { .. }
            | ViewCommand::Export { .. }) => return Some(other),
        }
        None
    }

    /// Puts words into what is being written, as a quotation.
    pub(super) fn quote(&mut self, words: &str) {
        self.composer.quote(words);
    }

    /// Puts one of the user's messages into the composer.
    fn edit(&mut self, message: MessageId) {
        let row = self.source.index_of(message);
        let Some(message) = row.and_then(|row| self.source.message(row)) else { return };
        for wish in self.composer.edit(&message) {
            self.carry_out(wish);
        }
    }

    fn edit_last(&mut self) {
        let last = self.source.len().checked_sub(1);
        let row = last.and_then(|last| self.source.prompt_before(last));
        if let Some(row) = row {
            self.edit(self.source.row(row).id);
        }
    }

    fn notice_ui(&mut self, ui: &mut Ui, palette: &Palette) {
        let Some(words) = &self.notice else { return };
        let mut is_read = false;
        ui.horizontal(|ui| {
            is_read = ui.small_button("×").on_hover_text("Away with it").clicked();
            let words = egui::RichText::new(words).size(face::CAPTION_SIZE).color(palette.err);
            ui.add(egui::Label::new(words).wrap());
        });
        if is_read {
            self.notice = None;
        }
    }

    fn question_ui(&mut self, ui: &mut Ui, snapshot: &Snapshot, palette: &Palette) {
        let Some(approval) = &snapshot.question else { return };
        let title = title_of(snapshot);
        let others = self.others;
        let shown = approval::Shown { approval, title: &title, others, palette, now: perf::now() };
        let Some(verdict) = self.card.show(ui, shown) else { return };
        let Verdict { approval, decision, feedback } = verdict;
        let feedback = (!feedback.is_empty()).then(|| self.composer.draft(&feedback));
        let command = Command::Decide { approval, decision, feedback };
        if self.session.send(command).is_err() {
            self.card.not_sent();
        }
    }

    fn carry_out(&mut self, wish: Wish) {
        match wish {
            Wish::Workspace => self.wants.folder = true,
            Wish::Attach => self.wants.files = true,
            Wish::Copy(_) => {}
            Wish::KeepSystem(words) => self.kept_system = Some(words),
            Wish::Tell(command) => {
                self.past.was_used |= said(&command).is_some();
                if self.goes_to_end(&command) {
                    self.view.jump(Jump::End);
                }
                if let Some(draft) = said(&command)
                    && let Some(written) = &mut self.written
                {
                    written.note_sent(draft);
                }
                if let Some(command) = self.wait_for_session(command) {
                    self.hand_over(command);
                }
            }
            Wish::EditLast => self.edit_last(),
            Wish::Version { is_next } => self.view.step_version(is_next),
        }
    }

    /// True for what is said at once: the reader follows it. What waits moves nobody.
    fn goes_to_end(&self, command: &Command) -> bool {
        match command {
            Command::Send(_) => !self.session.snapshot().phase.is_busy(),
            Command::EditLast(_) | Command::Edit { .. } | Command::Regenerate { .. } => true,
            _ => false,
        }
    }

    fn hand_over(&mut self, command: Command) {
        if self.session.send(command).is_err() {
            self.composer.not_sent();
        }
    }

    /// What has to be done in each frame, whatever is shown.
    fn follow(&mut self, ctx: &Context, engine: &Engine, snapshot: &Snapshot) {
        self.make_session(ctx, engine);
        if let Some(written) = &mut self.written {
            written.follow(&mut self.composer, snapshot);
        }
        self.tell_catalog(snapshot);
    }

    /// From now on the tools work there; a model that had none is given those that ask.
    fn take_workspace(&mut self, opened: Result<Opened, String>) {
        match opened {
            Ok(opened) => {
                self.notice = warned(&opened.warnings);
                self.switch.set(Some(Arc::clone(&opened.bench)));
                self.opened = Some(opened);
                let now = self.session.snapshot().settings.tools;
                let tools = if now == ToolUse::Off { self.tools } else { now };
                self.carry_out(Wish::Tell(Command::SetTools(tools)));
            }
            Err(why) => self.notice = Some(why),
        }
    }

    fn absorb(&mut self, ctx: &Context, engine: &Engine) {
        while let Ok(found) = self.found.try_recv() {
            match found {
                Found::Models(choices) => {
                    self.choices.extend(choices);
                    self.choices.sort();
                    self.choices.dedup();
                }
                Found::Trouble(why) => self.notice = Some(why),
                Found::Workspace(opened) => self.take_workspace(*opened),
                Found::Made(made) => self.take_session(ctx, engine, *made),
                Found::Answerer(_) if self.past.keeps_answerer => {}
                Found::Answerer(choice) => {
                    engine.set_provider(Arc::clone(&choice.name), choice.provider.clone());
                    let choice = composer::Choice { provider: choice.name, model: choice.model };
                    self.choices.push(choice.clone());
                    let composer::Choice { provider, model } = choice;
                    self.carry_out(Wish::Tell(Command::SetModel { provider, model }));
                }
            }
        }
    }
}

/// What of the settings could not be used, in one line.
fn warned(warnings: &[String]) -> Option<String> {
    match warnings {
        [] => None,
        [one] => Some(one.clone()),
        [first, rest @ ..] => Some(format!("{first} (and {} more)", rest.len())),
    }
}

/// The first words that were said in a conversation.
pub(super) fn title_of(snapshot: &Snapshot) -> String {
    let first = snapshot.messages().find(|message| message.role == Role::User);
    let text = first.and_then(|message| {
        message.parts.iter().find_map(|part| match part {
            Part::Text(text) => Some(Arc::clone(&text.source)),
            _ => None,
        })
    });
    let words = text.as_deref().and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
    words.map_or_else(|| "New chat".to_owned(), |line| line.trim().chars().take(60).collect())
}

/// Nothing was said yet: one sentence, and what can be done.
fn welcome_ui(ui: &Ui, palette: &Palette) {
    let rect = ui.available_rect_before_wrap();
    let middle = rect.center() - egui::vec2(0.0, 40.0);
    let font = |size| FontId::new(size, face::TEXT);
    let painter = ui.painter();
    painter.text(
        middle,
        Align2::CENTER_CENTER,
        "What would you like to know?",
        font(19.0),
        palette.text,
    );
    let rows = [
        "Write below and press Enter; Shift Enter breaks the line",
        "Drop a transcript here, or press Ctrl P, to read it",
        "F1 shows all keys",
    ];
    for (i, row) in rows.into_iter().enumerate() {
        let at = middle + egui::vec2(0.0, 38.0 + 22.0 * i as f32);
        painter.text(at, Align2::CENTER_CENTER, row, font(face::INTERFACE_SIZE), palette.dim);
    }
}

/// Finds out who can answer: by the flags, if nobody does yet, the named one, or the first with
/// a key, or a server nearby. Then, who could answer instead.
fn look_around(
    ctx: &Context,
    engine: &Arc<Engine>,
    sources: Sources,
    flags: Option<ProviderFlags>,
    sender: SyncSender<Found>,
) {
    let (http, wake, known) = (engine.http(), waker(ctx, Reason::Answer), Arc::downgrade(engine));
    engine.spawn(async move {
        // One that was given another address stays there.
        let mut moved = None;
        if let Some(flags) = flags {
            let found = match providers::choose(&http, &flags, &sources).await {
                Ok(choice) if choice.reason == providers::Reason::NothingFound => None,
                Ok(choice) => {
                    moved = flags.base_url.as_ref().map(|_| Arc::clone(&choice.name));
                    Some(Found::Answerer(Box::new(choice)))
                }
                Err(error) => {
                    Some(Found::Trouble(secrecy::redact(&error.to_string()).into_owned()))
                }
            };
            if let Some(found) = found {
                // A window that has closed wants no answer.
                let _closed = sender.try_send(found);
                wake();
            }
        }
        let offers = providers::offers(&http, &sources).await;
        let mut models = Vec::new();
        if let Some(engine) = known.upgrade() {
            for (name, provider, ids) in offers {
                if moved.as_ref() != Some(&name) {
                    engine.set_provider(Arc::clone(&name), provider);
                }
                models.extend(
                    ids.into_iter()
                        .map(|model| composer::Choice { provider: Arc::clone(&name), model }),
                );
            }
        }
        let _closed = sender.try_send(Found::Models(models));
        wake();
    });
}
