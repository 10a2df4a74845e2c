//! A view and a composer around a conversation that the test makes up.

use std::sync::Arc;

use egui::{OutputCommand, Panel, Pos2, Role, Vec2};
use egui_kittest::{Harness, kittest::Queryable as _};
use letterpress::{
    model::{
        Command, Delivery, Draft, Entry, Fork, Grouping, MemorySource, Message, MessageId, Phase,
        Progress, QueueChange, Queued, Role as Speaker, RowInfo, Settings, Snapshot, Source,
        Ticket,
    },
    perf,
    view::{
        Hands, TranscriptView, ViewCommand,
        composer::{Composer, Wish},
        theme,
    },
};

use crate::bed::{message, text};

pub(super) struct State {
    pub(super) composer: Composer,
    pub(super) view: Option<TranscriptView>,
    pub(super) source: MemorySource,
    pub(super) snapshot: Snapshot,
    pub(super) dark: bool,
    pub(super) hands: Hands,
    pub(super) wishes: Vec<Wish>,
    pub(super) commands: Vec<ViewCommand>,
    /// What was copied last.
    pub(super) copied: Option<String>,
}

pub(super) type Bed = Harness<'static, State>;

/// A bed in which these messages stand.
pub(super) fn bed(messages: Vec<Message>) -> Bed {
    sized(messages, true, Vec2::new(1000.0, 760.0))
}

pub(super) fn sized(messages: Vec<Message>, dark: bool, size: Vec2) -> Bed {
    let state = State {
        composer: Composer::default(),
        view: None,
        source: MemorySource::new(messages),
        snapshot: Snapshot {
            settings: Settings {
                provider: "anthropic".into(),
                model: "claude-sonnet".into(),
                ..Settings::default()
            },
            ..Snapshot::default()
        },
        dark,
        hands: Hands::Talking,
        wishes: Vec::new(),
        commands: Vec::new(),
        copied: None,
    };
    let mut bed =
        Harness::builder().with_size(size).allow_missing_glyphs().build_ui_state(frame, state);
    bed.run_steps(4);
    bed
}

fn frame(ui: &mut egui::Ui, state: &mut State) {
    let ctx = ui.ctx().clone();
    let theme = if state.dark { egui::Theme::Dark } else { egui::Theme::Light };
    let view = state.view.get_or_insert_with(|| {
        theme::install(&ctx);
        ctx.set_theme(theme);
        TranscriptView::new(&ctx)
    });
    let palette = theme::palette(theme);
    ui.painter().rect_filled(ui.max_rect(), 0.0, palette.bg);
    view.hands = state.hands;
    view.mark_edited(state.composer.edited());
    view.choosing_keys(ui);
    let room = ui.available_width() - view.edge_width(ui.available_rect_before_wrap());
    let width = (room - 40.0).min(780.0);
    let inner = egui::Margin { left: 0, right: 0, top: 2, bottom: 14 };
    let panel = Panel::bottom("composer")
        .frame(egui::Frame::NONE.inner_margin(inner))
        .show_separator_line(false);
    let column = |ui: &mut egui::Ui| {
        ui.add_space((room - width) / 2.0);
        ui.vertical(|ui| {
            ui.set_width(width);
            state.composer.show(ui, &state.snapshot, &[], &palette, perf::now())
        })
    };
    let wishes = panel.show(ui, |ui| ui.horizontal(column).inner.inner);
    state.wishes.extend(wishes.inner);
    let mut source = Forked { rows: &mut state.source, forks: &state.snapshot.forks };
    state.commands.extend(view.show(ui, &mut source));
    let copied = ctx.output(|output| {
        output.commands.iter().find_map(|command| match command {
            OutputCommand::CopyText(text) => Some(text.clone()),
            _ => None,
        })
    });
    state.copied = copied.or_else(|| state.copied.take());
}

impl State {
    pub(super) fn view(&self) -> &TranscriptView {
        self.view.as_ref().expect("a frame was shown")
    }

    /// What the conversation was told since the last time.
    pub(super) fn told(&mut self) -> Vec<Command> {
        let told = self.wishes.drain(..).filter_map(|wish| match wish {
            Wish::Tell(command) => Some(command),
            _ => None,
        });
        told.collect()
    }

    /// What the queue was told since the last time.
    pub(super) fn changes(&mut self) -> Vec<QueueChange> {
        let told = self.told().into_iter().filter_map(|command| match command {
            Command::Queue(change) => Some(change),
            _ => None,
        });
        told.collect()
    }

    pub(super) fn become_busy(&mut self) {
        self.snapshot.phase = Phase::Streaming;
    }

    pub(super) fn wait(&mut self, queued: &[(u64, &str, Delivery)]) {
        let queued = queued.iter().map(|(ticket, words, delivery)| Queued {
            draft: Arc::new(Draft::text(Ticket(*ticket), *words)),
            delivery: *delivery,
            is_held: false,
        });
        self.snapshot.queued = queued.collect();
    }
}

pub(super) fn prompt(id: u64, words: &str) -> Message {
    message(id, Speaker::User, vec![text(words)])
}

pub(super) fn answer(id: u64, words: &str) -> Message {
    message(id, Speaker::Assistant, vec![text(words)])
}

pub(super) fn fork(siblings: &[u64], at: usize) -> Fork {
    let siblings: Arc<[MessageId]> = siblings.iter().map(|id| MessageId(*id)).collect();
    Fork { message: siblings[at], siblings, at }
}

/// The top of the first slug of a message, where it is on screen.
pub(super) fn top_of(bed: &Bed, id: u64) -> Option<f32> {
    let placed = &bed.state().view().visible().placed;
    placed.iter().find(|place| place.id.message == MessageId(id)).map(|place| place.y)
}

/// Where every slug on screen stands.
pub(super) fn places(bed: &Bed) -> Vec<(u64, f32, f32)> {
    let placed = &bed.state().view().visible().placed;
    placed.iter().map(|place| (place.id.message.0, place.y, place.height)).collect()
}

/// Brings the pointer over a message.
pub(super) fn hover(bed: &mut Bed, id: u64) {
    let place = bed.state().view().visible().placed.iter();
    let mut place = place.filter(|place| place.id.message == MessageId(id));
    let place = place.next_back().expect("it is on screen");
    let y = place.y + (place.height - 6.0).max(place.height / 2.0);
    bed.hover_at(Pos2::new(400.0, y));
    bed.run_steps(3);
}

pub(super) fn press(bed: &mut Bed, label: &str) {
    bed.get_by_label(label).click();
    bed.run_steps(3);
}

pub(super) fn has(bed: &Bed, label: &str) -> bool {
    bed.query_by_label(label).is_some()
}

pub(super) fn focus_box(bed: &mut Bed) {
    bed.get_by_role(Role::MultilineTextInput).focus();
    bed.run_steps(2);
}

pub(super) fn write(bed: &mut Bed, words: &str) {
    focus_box(bed);
    bed.get_by_role(Role::MultilineTextInput).type_text(words);
    bed.run_steps(2);
}

pub(super) fn key(bed: &mut Bed, modifiers: egui::Modifiers, key: egui::Key) {
    bed.key_press_modifiers(modifiers, key);
    bed.run_steps(3);
}

/// Does something and gives what it copied.
pub(super) fn copied(bed: &mut Bed, act: impl FnOnce(&mut Bed)) -> Option<String> {
    bed.state_mut().copied = None;
    act(bed);
    bed.run_steps(6);
    bed.state_mut().copied.take()
}

/// A message as the engine holds it.
pub(super) fn entry(message: Arc<Message>) -> Entry {
    Entry {
        row: RowInfo::of(&message),
        message,
        grouping: Grouping::default(),
        keys: Arc::default(),
        echoes: Arc::default(),
    }
}

/// Rows that part where the test says.
struct Forked<'s> {
    rows: &'s mut MemorySource,
    forks: &'s Arc<[Fork]>,
}

impl Source for Forked<'_> {
    fn poll(&mut self) -> u64 {
        self.rows.poll()
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn row(&self, index: usize) -> RowInfo {
        self.rows.row(index)
    }

    fn index_of(&self, id: MessageId) -> Option<usize> {
        self.rows.index_of(id)
    }

    fn prompt_before(&self, index: usize) -> Option<usize> {
        self.rows.prompt_before(index)
    }

    fn message(&mut self, index: usize) -> Option<Arc<Message>> {
        self.rows.message(index)
    }

    fn want(&mut self, rows: std::ops::Range<usize>) {
        self.rows.want(rows);
    }

    fn forks(&self) -> Option<&Arc<[Fork]>> {
        Some(self.forks)
    }

    fn progress(&self) -> Progress {
        self.rows.progress()
    }
}
