//! The line above the composer: what is going on, and how the last turn ended.

use std::time::{Duration, Instant};

use egui::{Align, Layout, RichText, Ui};

use super::Wish;
use crate::{
    layout::{Palette, compose::usage_line, face},
    model::{
        Command, Keeping, Part, Phase, Role, Settings, Snapshot, StopReason,
        stream::{EndState, Interruption},
    },
    view::governor,
};

/// Saving is worth a word when it takes longer.
const SAVING_SHOWN: Duration = Duration::from_millis(250);
/// How often a line that counts tenths of seconds, or seconds, is shown anew.
const TENTHS: Duration = Duration::from_millis(200);
const SECONDS: Duration = Duration::from_secs(1);

/// Shows the line; it takes its place whether or not there is something to say, so that
/// nothing jumps when a turn begins or ends. True when a turn that broke off shall go on.
pub(super) fn strip_ui(
    ui: &mut Ui,
    snapshot: &Snapshot,
    palette: &Palette,
    now: Instant,
    wishes: &mut Vec<Wish>,
) -> bool {
    let mut goes_on = false;
    ui.horizontal(|ui| {
        ui.set_min_height(22.0);
        ui.add_space(4.0);
        match snapshot.phase {
            Phase::Idle => goes_on = ended_ui(ui, snapshot, palette, wishes),
            phase => {
                let asks = matches!(phase, Phase::Asking { .. });
                let color = if asks { palette.warn } else { palette.accent };
                let words = caption(&busy_words(phase, snapshot, now)).color(color);
                let response = ui.label(words);
                if let Some(every) = changes_every(phase) {
                    governor::tick(ui, response.rect, every);
                }
                if matches!(phase, Phase::Retrying { .. }) && ui.small_button("Try now").clicked() {
                    wishes.push(Wish::Tell(Command::Retry));
                }
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            keeping_ui(ui, snapshot, palette, now);
        });
    });
    goes_on
}

/// Whether it is saved, where that is worth a word.
fn keeping_ui(ui: &mut Ui, snapshot: &Snapshot, palette: &Palette, now: Instant) {
    match &snapshot.keeping {
        Keeping::Saving { since } => {
            let passed = now.saturating_duration_since(*since);
            if passed >= SAVING_SHOWN {
                ui.label(caption("saving…").color(palette.faint));
            } else {
                governor::tick(ui, ui.max_rect(), SAVING_SHOWN.saturating_sub(passed));
            }
        }
        Keeping::Unsaved(why) => {
            let words = caption("⚠ not saved").color(palette.err);
            ui.label(words).on_hover_text(&**why);
        }
        Keeping::Nowhere | Keeping::Kept | Keeping::ReadOnly(_) => {}
    }
}

/// True when there is an answer that broke off and could go on.
fn can_go_on(snapshot: &Snapshot) -> bool {
    let last = snapshot.messages().next_back();
    last.is_some_and(|message| {
        message.role == Role::Assistant
            && message.parts.iter().any(|part| matches!(part, Part::Text(_) | Part::ToolCall(_)))
    })
}

/// How often the words change while nothing else does.
fn changes_every(phase: Phase) -> Option<Duration> {
    match phase {
        Phase::Idle | Phase::Streaming => None,
        Phase::Waiting { .. } => Some(TENTHS),
        Phase::Working { .. }
        | Phase::Asking { .. }
        | Phase::Stalled { .. }
        | Phase::Retrying { .. } => Some(SECONDS),
    }
}

fn busy_words(phase: Phase, snapshot: &Snapshot, now: Instant) -> String {
    let who = if snapshot.settings.model.is_empty() {
        &snapshot.settings.provider
    } else {
        &snapshot.settings.model
    };
    let passed = |since: Instant| now.saturating_duration_since(since).as_secs_f32();
    match phase {
        Phase::Idle => String::new(),
        Phase::Waiting { since } => format!("◌ waiting for {who} · {:.1} s", passed(since)),
        Phase::Streaming => format!("◌ {who} is answering"),
        Phase::Working { since } => format!("◌ running tools · {:.0} s", passed(since)),
        Phase::Asking { since } => format!("waiting for your word · {:.0} s", passed(since)),
        Phase::Stalled { since } => {
            format!("◌ no word from {who} for {:.0} s; the connection is still open", passed(since))
        }
        Phase::Retrying { attempt, of, until } => {
            let left = until.saturating_duration_since(now).as_secs_f32();
            format!("◌ it failed; attempt {attempt} of {of} in {left:.0} s")
        }
    }
}

/// How the last turn ended, and what can be done about it.
fn ended_ui(ui: &mut Ui, snapshot: &Snapshot, palette: &Palette, wishes: &mut Vec<Wish>) -> bool {
    let broke_off = match snapshot.end.as_deref() {
        Some(EndState::Failed(_) | EndState::Interrupted { .. } | EndState::Incomplete) => {
            ("✕ the last turn did not end well", palette.err)
        }
        Some(EndState::Cancelled) => ("stopped", palette.warn),
        Some(EndState::Complete { reason: StopReason::Length, .. }) => {
            ("the answer reached the model's limit", palette.warn)
        }
        Some(EndState::Complete { .. }) | None => {
            used_ui(ui, snapshot, palette);
            return false;
        }
    };
    let (words, color) = broke_off;
    ui.label(caption(words).color(color));
    let hint = "Answer the last prompt anew";
    if ui.small_button("Retry").on_hover_text(hint).clicked() {
        wishes.push(Wish::Tell(Command::Retry));
    }
    if let Some(words) = error_words(snapshot)
        && ui.small_button("Copy error").clicked()
    {
        wishes.push(Wish::Copy(words));
    }
    let hint = "Keep what came and ask for the rest of it";
    can_go_on(snapshot) && ui.small_button("Continue from here").on_hover_text(hint).clicked()
}

fn used_ui(ui: &mut Ui, snapshot: &Snapshot, palette: &Palette) {
    let used = usage_line(&snapshot.usage);
    if snapshot.settings.is_demo {
        let words = "Demo: recorded answers. Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or start Ollama, for real ones.";
        ui.label(caption(words).color(palette.faint));
    } else if !used.is_empty() {
        ui.label(caption(&used).color(palette.faint));
    }
}

/// What went wrong, for somebody who is asked for help.
fn error_words(snapshot: &Snapshot) -> Option<String> {
    let words = match snapshot.end.as_deref()? {
        EndState::Failed(error) => error.to_string(),
        EndState::Interrupted { cause: Interruption::Io(words), .. } => {
            format!("the connection was lost: {words}")
        }
        EndState::Interrupted { cause: Interruption::Stalled, .. } => {
            "the server fell silent".to_owned()
        }
        EndState::Incomplete | EndState::Cancelled | EndState::Complete { .. } => return None,
    };
    let Settings { provider, model, .. } = &snapshot.settings;
    Some(format!("{provider} · {model}: {words}"))
}

fn caption(words: &str) -> RichText {
    RichText::new(words).size(face::CAPTION_SIZE)
}
