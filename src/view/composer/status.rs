//! The line above the composer: what is going on, and how the last turn ended.

use std::time::{Duration, Instant};

use egui::{RichText, Ui};

use super::Wish;
use crate::{
    layout::{Palette, compose::usage_line, face},
    model::{
        Command, Phase, Settings, Snapshot,
        stream::{EndState, Interruption},
    },
    view::governor,
};

/// How often a line that counts tenths of seconds, or seconds, is shown anew.
const TENTHS: Duration = Duration::from_millis(200);
const SECONDS: Duration = Duration::from_secs(1);

/// Shows the line; it takes its place whether or not there is something to say, so that
/// nothing jumps when a turn begins or ends.
pub(super) fn strip_ui(
    ui: &mut Ui,
    snapshot: &Snapshot,
    palette: &Palette,
    now: Instant,
    wishes: &mut Vec<Wish>,
) {
    ui.horizontal(|ui| {
        ui.set_min_height(22.0);
        ui.add_space(4.0);
        match snapshot.phase {
            Phase::Idle => ended_ui(ui, snapshot, palette, wishes),
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
    });
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

fn ended_ui(ui: &mut Ui, snapshot: &Snapshot, palette: &Palette, wishes: &mut Vec<Wish>) {
    match snapshot.end.as_deref() {
        Some(EndState::Failed(_) | EndState::Interrupted { .. } | EndState::Incomplete) => {
            ui.label(caption("✕ the last turn did not end well").color(palette.err));
            if ui.small_button("Retry").clicked() {
                wishes.push(Wish::Tell(Command::Retry));
            }
            if let Some(words) = error_words(snapshot)
                && ui.small_button("Copy error").clicked()
            {
                wishes.push(Wish::Copy(words));
            }
        }
        Some(EndState::Cancelled) => {
            ui.label(caption("stopped").color(palette.warn));
            if ui.small_button("Retry").clicked() {
                wishes.push(Wish::Tell(Command::Retry));
            }
        }
        Some(EndState::Complete { .. }) | None => {
            let used = usage_line(&snapshot.usage);
            if snapshot.settings.is_demo {
                let words = "Demo: recorded answers. Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or start Ollama, for real ones.";
                ui.label(caption(words).color(palette.faint));
            } else if !used.is_empty() {
                ui.label(caption(&used).color(palette.faint));
            }
        }
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
