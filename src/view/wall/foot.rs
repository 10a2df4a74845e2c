//! The foot of the wall: how many conversations are in which state, what is watched, and
//! the time of day.

use egui::{Rect, Role, Sense, Ui, WidgetInfo, pos2};

use super::{
    Dress,
    feed::{Glance, tone},
    head::{Words, put},
};
use crate::model::activity::State;

/// `6 agents`, `1 error`, `2 working` …: each state that there is, the most urgent first.
#[must_use]
pub fn counts(glances: &[Glance]) -> Vec<(Option<State>, String)> {
    let agents = match glances.len() {
        1 => "1 agent".to_owned(),
        count => format!("{count} agents"),
    };
    let mut counts = vec![(None, agents)];
    for state in &State::ALL {
        let count = glances.iter().filter(|glance| glance.state == *state).count();
        if count > 0 {
            counts.push((Some(*state), format!("{count} {}", state.word())));
        }
    }
    counts
}

/// What stands at the right of the foot, before the clock.
#[must_use]
pub fn watched(watching: &[String], waiting: usize) -> String {
    let mut words = Vec::new();
    if waiting > 0 {
        words.push(format!("{waiting} more wait"));
    }
    match watching {
        [] => {}
        [first, second, _, _, ..] => {
            words.push(format!("watching {first}, {second} and {} more", watching.len() - 2));
        }
        few => words.push(format!("watching {}", few.join(", "))),
    }
    words.push("read-only".to_owned());
    words.join(" · ")
}

/// Shows the foot in all of `rect`.
pub(super) fn foot_ui(ui: &Ui, rect: Rect, glances: &[Glance], right: &str, dress: &Dress<'_>) {
    let size = 20.0 * dress.unit;
    let palette = dress.palette;
    let middle = rect.center().y;
    let time = dress.now.time_of_day();
    let words = |text, color, weight| Words { text, size, weight, color, figures: true };
    let clock = words(&time, palette.dim, 600.0).galley(ui, f32::INFINITY, 1);
    let mut edge = rect.right() - clock.rect.width();
    put(ui.painter(), pos2(edge, middle), &clock);
    let mut x = rect.left();
    let counts = counts(glances);
    for (state, text) in &counts {
        let (color, weight) = match state {
            Some(state) if state.is_urgent() => (dress.tone(tone(*state)), 600.0),
            Some(_) | None => (palette.dim, 400.0),
        };
        let galley = words(text, color, weight).galley(ui, f32::INFINITY, 1);
        put(ui.painter(), pos2(x, middle), &galley);
        x += galley.rect.width() + size * 1.6;
    }
    edge -= size * 1.4;
    if edge - x > size * 6.0 {
        let galley = words(right, palette.faint, 400.0).galley(ui, edge - x, 1);
        put(ui.painter(), pos2(edge - galley.rect.width(), middle), &galley);
    }
    let response = ui.interact(rect, ui.scope_id().with("foot"), Sense::hover());
    response.widget_info(|| {
        let counted: Vec<&str> = counts.iter().map(|(_, text)| text.as_str()).collect();
        WidgetInfo::labeled(Role::Label, true, format!("{}, {right}, {time}", counted.join(", ")))
    });
}
