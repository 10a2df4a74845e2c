//! The kiosk: nothing but the wheel reaches the wall, and nobody leaves without the PIN.

use std::{fs, path::Path, time::Duration};

use egui::{
    Context, Event, Key, Modifiers, OutputCommand, PointerButton, RawInput, ViewportCommand,
    ViewportEvent, ViewportId, pos2, vec2,
};
use letterpress::{
    app::watch::{Chord, Heartbeat, Kiosk, LOCK_SECS, PATIENCE_MS, Pin, PinLock, TRIES, Verdict},
    model::Role,
    view::{
        theme,
        wall::{FeedId, Settings},
    },
};

use crate::wall::fixtures::{Fixture, NOW, agents, said};

/// A kiosk and egui, frame by frame.
struct Stage {
    context: Context,
    kiosk: Kiosk<Fixture>,
    time: f64,
}

/// What must not change, whatever is pressed.
#[derive(Debug, PartialEq)]
struct Look {
    shown: Vec<FeedId>,
    zooms: Vec<f32>,
    tops: Vec<Option<f64>>,
    asks: bool,
    leaves: bool,
    options_zoom: f32,
}

impl Stage {
    fn new(pin: Option<&str>) -> Self {
        let mut feeds = agents(5);
        let link =
            "Read [this](https://example.com/page?q=1) and https://example.org.\n\n```sh\nls\n```";
        let long: Vec<(Role, &str)> = vec![(Role::Assistant, link); 40];
        feeds.add("links", letterpress::model::activity::State::Working, 1, said(&long));
        let context = Context::default();
        theme::install(&context);
        let pin = pin.map(|digits| Pin::new(digits).expect("digits"));
        let kiosk = Kiosk::new(feeds, Settings::default(), pin);
        let mut stage = Self { context, kiosk, time: 0.0 };
        for _ in 0..5 {
            stage.frame(Vec::new());
        }
        stage
    }

    fn frame(&mut self, events: Vec<Event>) -> egui::FullOutput {
        self.frame_of(RawInput { events, ..RawInput::default() })
    }

    fn frame_of(&mut self, input: RawInput) -> egui::FullOutput {
        self.time += 0.05;
        let mut input = RawInput {
            screen_rect: Some(egui::Rect::from_min_size(pos2(0.0, 0.0), vec2(1600.0, 900.0))),
            time: Some(self.time),
            focused: true,
            ..input
        };
        self.kiosk.filter(&mut input);
        let kiosk = &mut self.kiosk;
        let mut output = self.context.run_ui(input, |ui| kiosk.ui(ui, NOW));
        output.textures_delta.clear();
        output
    }

    fn look(&self) -> Look {
        let wall = self.kiosk.wall();
        let shown = wall.shown().to_vec();
        Look {
            zooms: shown.iter().map(|id| wall.zoom(*id)).collect(),
            tops: shown.iter().map(|id| wall.view(*id).map(|view| view.visible().top)).collect(),
            asks: self.kiosk.asks(),
            leaves: self.kiosk.leaves(),
            options_zoom: self.context.zoom_factor(),
            shown,
        }
    }

    fn press(&mut self, key: Key) {
        self.frame(vec![key_event(key, true, Modifiers::NONE)]);
        self.frame(vec![key_event(key, false, Modifiers::NONE)]);
    }

    /// Holds the chord for so many seconds.
    fn hold(&mut self, secs: f64) -> bool {
        let chord = Modifiers::CTRL | Modifiers::SHIFT | Modifiers::COMMAND;
        let until = self.time + secs;
        let mut closed = false;
        self.frame(vec![key_event(Key::Q, true, chord)]);
        while self.time < until {
            closed |= closes(&self.frame(Vec::new()));
        }
        self.frame(vec![key_event(Key::Q, false, Modifiers::NONE)]);
        closed
    }
}

fn closes(output: &egui::FullOutput) -> bool {
    let mut commands = output.viewport_output.values().flat_map(|viewport| &viewport.commands);
    commands.any(|command| *command == ViewportCommand::Close)
}

fn key_event(key: Key, pressed: bool, modifiers: Modifiers) -> Event {
    Event::Key { key, physical_key: None, pressed, repeat: false, modifiers }
}

/// A small generator of its own: every run is the same.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as usize % bound
    }

    fn event(&mut self) -> Event {
        let pos = pos2(self.below(1600) as f32, self.below(900) as f32);
        let modifiers = [
            Modifiers::NONE,
            Modifiers::CTRL | Modifiers::COMMAND,
            Modifiers::ALT,
            Modifiers::SHIFT,
            Modifiers::CTRL | Modifiers::SHIFT | Modifiers::COMMAND,
        ][self.below(5)];
        let pressed = self.below(2) == 0;
        match self.below(12) {
            0..=4 => {
                let key = Key::ALL[self.below(Key::ALL.len())];
                key_event(key, pressed, modifiers)
            }
            5 | 6 => {
                let buttons =
                    [PointerButton::Primary, PointerButton::Secondary, PointerButton::Middle];
                let button = buttons[self.below(3)];
                Event::PointerButton { pos, button, pressed, modifiers }
            }
            7 => Event::PointerMoved(pos),
            8 => Event::Paste("https://example.com".to_owned()),
            9 => [Event::Copy, Event::Cut][self.below(2)].clone(),
            10 => Event::Text("q".to_owned()),
            _ => Event::Zoom(1.5),
        }
    }
}

#[test]
fn five_hundred_events_change_nothing_and_leave_nothing() {
    let mut stage = Stage::new(Some("2468"));
    let before = stage.look();
    let mut random = Random(11);
    for round in 0..500 {
        let input = RawInput {
            events: vec![random.event(), random.event()],
            hovered_files: vec![egui::HoveredFile::default()],
            ..RawInput::default()
        };
        let output = stage.frame_of(input);
        let told = &output.platform_output.commands;
        assert!(told.is_empty(), "round {round}: {told:?}");
        let commands = output.viewport_output.values().flat_map(|viewport| &viewport.commands);
        let commands: Vec<_> = commands.collect();
        assert!(commands.is_empty(), "round {round}: {commands:?}");
    }
    // The chord is let go: what was pressed last may not be held on.
    stage.frame(vec![key_event(Key::Q, false, Modifiers::NONE)]);
    assert_eq!(stage.look(), before);
}

#[test]
fn every_click_on_a_link_or_a_button_goes_nowhere() {
    let mut stage = Stage::new(None);
    let before = stage.look();
    for y in (20..880).step_by(12) {
        for x in (20..1580).step_by(60) {
            let pos = pos2(x as f32, y as f32);
            let button = |pressed| Event::PointerButton {
                pos,
                button: PointerButton::Primary,
                pressed,
                modifiers: Modifiers::NONE,
            };
            let output = stage.frame(vec![Event::PointerMoved(pos), button(true), button(false)]);
            let opened = output.platform_output.commands.iter().any(|command| {
                matches!(command, OutputCommand::OpenUrl(_) | OutputCommand::CopyText(_))
            });
            assert!(!opened, "at {pos:?}");
        }
    }
    assert_eq!(stage.look(), before);
}

#[test]
fn the_wheel_scrolls_and_its_modifiers_mean_nothing() {
    let mut stage = Stage::new(None);
    let before = stage.look();
    let wall = stage.kiosk.wall();
    let links = wall.rects().into_iter().find(|(id, _)| *id == FeedId(6)).expect("on the wall").1;
    stage.frame(vec![Event::PointerMoved(links.center())]);
    for _ in 0..10 {
        stage.frame(vec![Event::MouseWheel {
            unit: egui::MouseWheelUnit::Point,
            delta: vec2(0.0, 80.0),
            phase: egui::TouchPhase::Move,
            source: egui::MouseWheelSource::Unknown,
            modifiers: Modifiers::CTRL | Modifiers::COMMAND,
        }]);
    }
    let after = stage.look();
    assert_eq!((&after.shown, &after.zooms), (&before.shown, &before.zooms));
    let place = before.shown.iter().position(|id| *id == FeedId(6)).expect("on the wall");
    assert!(after.tops[place] < before.tops[place], "{:?} {:?}", before.tops, after.tops);
}

#[test]
fn a_request_to_close_is_refused() {
    let mut stage = Stage::new(None);
    let mut input = RawInput::default();
    input.viewports.entry(ViewportId::ROOT).or_default().events.push(ViewportEvent::Close);
    let output = stage.frame_of(input);
    let commands: Vec<_> =
        output.viewport_output.values().flat_map(|viewport| viewport.commands.clone()).collect();
    assert_eq!(commands, [ViewportCommand::CancelClose]);
}

#[test]
fn the_chord_must_be_held_for_three_seconds() {
    let mut stage = Stage::new(None);
    assert!(!stage.hold(2.5));
    assert!(!stage.kiosk.leaves(), "let go too soon");
    assert!(stage.hold(3.3));
    assert!(stage.kiosk.leaves());
}

#[test]
fn the_chord_counts_once_and_only_with_its_modifiers() {
    let both = Modifiers::CTRL | Modifiers::SHIFT;
    let mut chord = Chord::default();
    assert!(!chord.take(&[key_event(Key::Q, true, Modifiers::CTRL)], 0.0));
    assert!(!chord.take(&[], 9.0));
    assert!(!chord.take(&[key_event(Key::Q, true, both)], 10.0));
    assert_eq!(chord.progress(11.5), Some(0.5));
    // Repeats of a held key do not begin anew.
    assert!(!chord.take(&[key_event(Key::Q, true, both)], 12.0));
    assert!(chord.take(&[], 13.0));
    assert!(!chord.take(&[], 13.1));
    assert!(!chord.take(&[Event::ModifiersChanged(Modifiers::CTRL)], 14.0));
    assert!(!chord.take(&[key_event(Key::Q, true, both)], 15.0));
    assert!(!chord.take(&[Event::WindowFocused(false)], 16.0));
    assert!(!chord.take(&[], 19.0));
}

#[test]
fn a_kiosk_with_a_pin_is_left_with_the_pin() {
    let mut stage = Stage::new(Some("2468"));
    assert!(!stage.hold(3.3));
    assert!(stage.kiosk.asks() && !stage.kiosk.leaves());
    for key in [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Enter] {
        stage.press(key);
    }
    assert!(stage.kiosk.asks() && !stage.kiosk.leaves(), "a wrong PIN");
    for key in [Key::Num2, Key::Num4, Key::Num5, Key::Backspace, Key::Num6, Key::Num8] {
        stage.press(key);
    }
    stage.press(Key::Enter);
    assert!(stage.kiosk.leaves() && !stage.kiosk.asks());
}

#[test]
fn the_question_for_the_pin_goes_away_by_itself_and_with_escape() {
    let mut stage = Stage::new(Some("2468"));
    stage.hold(3.3);
    assert!(stage.kiosk.asks());
    stage.press(Key::Escape);
    assert!(!stage.kiosk.asks());
    stage.hold(3.3);
    assert!(stage.kiosk.asks());
    stage.time += 21.0;
    stage.frame(Vec::new());
    assert!(!stage.kiosk.asks() && !stage.kiosk.leaves());
}

#[test]
fn five_wrong_tries_lock_for_a_minute() {
    let mut lock = PinLock::new(Pin::new("135790").expect("digits"));
    assert_eq!(TRIES, 5);
    for try_ in 0..5 {
        assert_eq!(lock.locked_secs(f64::from(try_)), 0.0);
        assert_eq!(lock.try_digits("000000", f64::from(try_)), Verdict::Wrong);
    }
    assert_eq!(lock.locked_secs(4.0), LOCK_SECS);
    assert_eq!(lock.try_digits("135790", 5.0), Verdict::Locked, "not even the right one");
    assert_eq!(lock.try_digits("135790", 4.0 + LOCK_SECS + 0.1), Verdict::Right);
    assert_eq!(lock.try_digits("1357", 100.0), Verdict::Wrong);
    assert_eq!(lock.try_digits("135790", 100.0), Verdict::Right, "one wrong try locks nothing");
}

#[test]
fn a_pin_is_four_to_twelve_digits_and_cannot_be_read_back() {
    for wrong in ["", "123", "1234567890123", "12a4", "１２３４"] {
        assert!(Pin::new(wrong).is_none(), "{wrong}");
    }
    let pin = Pin::new("2468").expect("digits");
    assert!(pin.is("2468") && !pin.is("2469") && !pin.is("") && !pin.is("24680"));
    assert_eq!(format!("{pin:?}"), "Pin");
}

#[test]
fn the_heart_stops_when_a_frame_that_is_due_does_not_come() {
    let heart = Heartbeat::default();
    assert!(!heart.is_overdue(1_000_000), "nothing was ever shown");
    heart.beat(1000, Duration::from_secs(60));
    assert!(!heart.is_overdue(61_000 + PATIENCE_MS), "a quiet wall");
    assert!(heart.is_overdue(61_001 + PATIENCE_MS));
    heart.beat(100_000, Duration::ZERO);
    assert!(!heart.is_overdue(100_000 + PATIENCE_MS));
    assert!(heart.is_overdue(100_001 + PATIENCE_MS), "a frame that began and never ended");
    heart.beat(120_000, Duration::MAX);
    assert!(!heart.is_overdue(i64::MAX), "nothing is due");
}

/// The kiosk cannot do what it has no types for: nothing it is made of names them.
#[test]
fn nothing_that_acts_is_within_reach() {
    let reach = [
        "engine::live",
        "link_gate",
        "LinkGate",
        "ViewCommand",
        "crate::wire",
        "wire::",
        "providers",
        "tools::",
        "store::",
        "keyring",
        "rfd::",
        "arboard",
        "copy_text",
        "open_url",
        "webbrowser",
        "reqwest",
        "TcpStream",
        "TextEdit",
        "composer",
        "dialogs",
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut read = 0;
    for folder in ["app/watch", "view/wall"] {
        for entry in fs::read_dir(root.join(folder)).expect("sources") {
            let path = entry.expect("a source").path();
            let text = fs::read_to_string(&path).expect("UTF-8");
            let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
            let code: String = code.flat_map(|line| [line, "\n"]).collect();
            for name in reach {
                assert!(!code.contains(name), "{} names {name}", path.display());
            }
            // The watchdog starts the program itself anew, and nothing else starts anything.
            let starts = code.contains("Command::new(") || code.contains("process::Command");
            assert_eq!(starts, path.ends_with("watchdog.rs"), "{}", path.display());
            read += 1;
        }
    }
    assert!(read >= 15, "{read} sources were read");
}
