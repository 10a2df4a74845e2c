//! The kiosk: a wall that can only be scrolled, and left by who knows how.

use egui::{
    Align2, Color32, CornerRadius, Event, FontId, Key, Order, RawInput, Rect, Stroke, StrokeKind,
    Ui, ViewportCommand, vec2,
};

use super::{
    chord::Chord,
    pin::{Pin, PinLock, Verdict},
};
use crate::{
    layout::face,
    perf::Reason,
    view::{
        governor, theme,
        wall::{Feeds, Moment, Settings, Wall},
    },
};

/// How long a question for the PIN stays without an answer, in seconds.
const ANSWER_SECS: f64 = 20.0;
/// Digits that are taken.
const DIGITS_MAX: usize = 12;

/// A wall whose only input is scrolling and the way out.
///
/// It is made of what is followed and nothing else; [`Self::filter`] stands between the
/// system's events and egui.
#[derive(Debug)]
pub struct Kiosk<F> {
    wall: Wall,
    feeds: F,
    chord: Chord,
    lock: Option<PinLock>,
    question: Option<Question>,
    now_secs: f64,
    leaves: bool,
}

/// The PIN is asked for.
#[derive(Debug)]
struct Question {
    digits: String,
    since_secs: f64,
    wrong: bool,
}

impl<F: Feeds> Kiosk<F> {
    /// A kiosk on what is followed; with a PIN, the way out asks for it.
    pub fn new(feeds: F, settings: Settings, pin: Option<Pin>) -> Self {
        Self {
            wall: Wall::new(Settings { resizable: false, ..settings }),
            feeds,
            chord: Chord::default(),
            lock: pin.map(PinLock::new),
            question: None,
            now_secs: 0.0,
            leaves: false,
        }
    }

    /// Takes the way out from the events and leaves egui nothing but where the pointer is
    /// and how far the wheel went.
    pub fn filter(&mut self, input: &mut RawInput) {
        self.now_secs = input.time.unwrap_or(self.now_secs);
        if self.chord.take(&input.events, self.now_secs) {
            self.ask();
        }
        if self.question.is_some() {
            let events = std::mem::take(&mut input.events);
            events.iter().for_each(|event| self.answer(event));
            input.events = events;
        }
        input.hovered_files.clear();
        input.dropped_files.clear();
        input.events.retain_mut(is_harmless);
    }

    /// Shows the wall.
    pub fn ui(&mut self, ui: &mut Ui, now: Moment) {
        if ui.input(|input| input.viewport().close_requested()) && !self.leaves {
            ui.send_viewport_cmd(ViewportCommand::CancelClose);
        }
        self.wall.ui(ui, &mut self.feeds, now);
        self.way_out_ui(ui);
        if self.leaves {
            ui.send_viewport_cmd(ViewportCommand::Close);
        }
    }

    /// The wall.
    #[must_use]
    pub fn wall(&self) -> &Wall {
        &self.wall
    }

    /// True once someone who may has left.
    #[must_use]
    pub fn leaves(&self) -> bool {
        self.leaves
    }

    /// True while the PIN is asked for.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.question.is_some()
    }

    fn ask(&mut self) {
        if self.lock.is_none() {
            self.leaves = true;
        } else if self.question.is_none() {
            let since_secs = self.now_secs;
            self.question = Some(Question { digits: String::new(), since_secs, wrong: false });
        }
    }

    fn answer(&mut self, event: &Event) {
        let Event::Key { key, pressed: true, modifiers, .. } = event else { return };
        let Some(question) = &mut self.question else { return };
        // The keys of the chord are still being let go.
        if modifiers.ctrl || modifiers.alt || modifiers.command {
            return;
        }
        question.since_secs = self.now_secs;
        match key {
            Key::Escape => self.question = None,
            Key::Backspace => {
                question.digits.pop();
            }
            Key::Enter => self.try_digits(),
            key => {
                if let Some(digit) = digit(*key).filter(|_| question.digits.len() < DIGITS_MAX) {
                    question.digits.push(digit);
                    question.wrong = false;
                }
            }
        }
    }

    fn try_digits(&mut self) {
        let (Some(question), Some(lock)) = (&mut self.question, &mut self.lock) else { return };
        let digits = std::mem::take(&mut question.digits);
        match lock.try_digits(&digits, self.now_secs) {
            Verdict::Right => {
                self.question = None;
                self.leaves = true;
            }
            Verdict::Wrong | Verdict::Locked => question.wrong = true,
        }
    }

    /// The way out, while someone is on it.
    fn way_out_ui(&mut self, ui: &Ui) {
        let late = |question: &mut Question| self.now_secs - question.since_secs > ANSWER_SECS;
        self.question.take_if(late);
        let words = match (&self.question, self.chord.progress(self.now_secs)) {
            (Some(question), _) => self.question_words(question),
            (None, Some(progress)) => ("Keep holding to leave".to_owned(), bar(progress)),
            (None, None) => return,
        };
        governor::after(ui, Reason::Tick, std::time::Duration::from_millis(200));
        card_ui(ui, &words);
    }

    fn question_words(&self, question: &Question) -> (String, String) {
        let locked = self.lock.as_ref().map_or(0.0, |lock| lock.locked_secs(self.now_secs));
        let title = match (locked > 0.0, question.wrong) {
            (true, _) => format!("Too many wrong tries. Wait {:.0} s", locked.ceil()),
            (false, true) => "That was not the PIN".to_owned(),
            (false, false) => "PIN to leave the wall, then Enter".to_owned(),
        };
        let shown = match question.digits.len() {
            0 => "–".to_owned(),
            count => "•".repeat(count),
        };
        (title, shown)
    }
}

/// Keeps where the pointer is and the wheel, without what its modifiers would mean.
fn is_harmless(event: &mut Event) -> bool {
    match event {
        Event::PointerMoved(_) | Event::PointerGone | Event::WindowFocused(_) => true,
        Event::MouseWheel { modifiers, .. } => {
            *modifiers = egui::Modifiers::NONE;
            true
        }
        _ => false,
    }
}

fn digit(key: Key) -> Option<char> {
    const DIGITS: [Key; 10] = [
        Key::Num0,
        Key::Num1,
        Key::Num2,
        Key::Num3,
        Key::Num4,
        Key::Num5,
        Key::Num6,
        Key::Num7,
        Key::Num8,
        Key::Num9,
    ];
    let value = DIGITS.iter().position(|digit| *digit == key)?;
    char::from_digit(u32::try_from(value).ok()?, 10)
}

fn bar(progress: f32) -> String {
    let full = (progress * 12.0).round() as usize;
    format!("{}{}", "█".repeat(full), "░".repeat(12 - full.min(12)))
}

/// A card in the middle of the wall with a title and a line.
fn card_ui(ui: &Ui, (title, line): &(String, String)) {
    let palette = theme::palette(ui.theme());
    let room = ui.max_rect();
    let unit = (room.height() / 1080.0).max(0.4);
    let layer = egui::LayerId::new(Order::Tooltip, egui::Id::unique("way out"));
    let painter = ui.ctx().layer_painter(layer);
    painter.rect_filled(room, 0.0, Color32::BLACK.gamma_multiply(0.55));
    let card = Rect::from_center_size(room.center(), vec2(640.0, 190.0) * unit);
    let radius = CornerRadius::same((14.0 * unit) as u8);
    let stroke = Stroke::new(1.5 * unit, palette.line);
    painter.rect(card, radius, palette.panel, stroke, StrokeKind::Inside);
    let up = vec2(0.0, 38.0 * unit);
    let font = |size: f32| FontId::new(size * unit, face::TEXT);
    let middle = Align2::CENTER_CENTER;
    painter.text(card.center() - up, middle, title, font(28.0), palette.text);
    let mono = FontId::new(34.0 * unit, face::MONO);
    painter.text(card.center() + up, middle, line, mono, palette.accent);
}
