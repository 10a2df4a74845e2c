//! The card alone, with a clock of the test's: when it takes which key and click.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use egui::{Key, Modifiers, Role, Vec2};
use egui_kittest::{Harness, kittest::Queryable as _};
use letterpress::{
    model::{Approval, ApprovalId, Change, Concern, Decision, Offer, Scope, Subject},
    perf,
    view::{
        approval::{ARMING, ApprovalCard, Shown, Verdict},
        theme,
    },
};

struct State {
    card: ApprovalCard,
    approval: Arc<Approval>,
    now: Instant,
    /// Room above the card.
    above: f32,
    verdicts: Vec<Verdict>,
}

type Bed = Harness<'static, State>;

fn bed(approval: Approval) -> Bed {
    let state = State {
        card: ApprovalCard::default(),
        approval: Arc::new(approval),
        now: perf::now(),
        above: 0.0,
        verdicts: Vec::new(),
    };
    let mut installed = false;
    let app = move |ui: &mut egui::Ui, state: &mut State| {
        if !std::mem::replace(&mut installed, true) {
            theme::install(ui.ctx());
        }
        ui.add_space(state.above);
        let palette = theme::palette(egui::Theme::Dark);
        let shown = Shown {
            approval: &state.approval,
            title: "Format the code",
            others: 0,
            palette: &palette,
            now: state.now,
        };
        state.verdicts.extend(state.card.show(ui, shown));
    };
    let mut bed = Harness::builder()
        .with_size(Vec2::new(760.0, 700.0))
        .allow_missing_glyphs()
        .build_ui_state(app, state);
    bed.run_steps(4);
    // Fonts and sizes have settled: from here on it stands still.
    pass(&mut bed, Duration::from_secs(1));
    let next = ApprovalId(bed.state().approval.id.0 + 1);
    turn_to(&mut bed, |approval| approval.id = next);
    bed.run_steps(3);
    bed
}

/// Puts another question in the place of the one before.
fn turn_to(bed: &mut Bed, change: impl FnOnce(&mut Approval)) {
    change(Arc::make_mut(&mut bed.state_mut().approval));
}

fn pass(bed: &mut Bed, time: Duration) {
    bed.state_mut().now += time;
    bed.run_steps(2);
}

fn decisions(bed: &Bed) -> Vec<Decision> {
    bed.state().verdicts.iter().map(|verdict| verdict.decision).collect()
}

fn command() -> Approval {
    Approval {
        id: ApprovalId(1),
        tool: "execute_command".into(),
        what: "cargo fmt --check".into(),
        place: "/work".into(),
        is_inside: true,
        timeout_secs: Some(120),
        offers: [Scope::Session, Scope::Always]
            .map(|scope| Offer { scope, words: "run cargo fmt".into() })
            .into(),
        ..Approval::default()
    }
}

fn of(subject: Subject) -> Approval {
    Approval { subject, ..command() }
}

/// A moment before a question is armed nothing answers it; then everything does.
#[test]
fn it_is_answered_from_500_ms_on_and_not_a_moment_before() {
    let early = ARMING - Duration::from_millis(1);
    for (takes, wait) in [(false, early), (true, ARMING)] {
        let mut bed = bed(command());
        pass(&mut bed, wait);
        bed.get_by_label("Run once  y").click();
        bed.run_steps(2);
        let expected = if takes { vec![Decision::Once] } else { vec![] };
        assert_eq!(decisions(&bed), expected, "a click after {wait:?}");
    }
    for (takes, wait) in [(false, early), (true, ARMING)] {
        let mut bed = bed(command());
        pass(&mut bed, wait);
        bed.key_press(Key::N);
        bed.run_steps(2);
        let expected = if takes { vec![Decision::Reject] } else { vec![] };
        assert_eq!(decisions(&bed), expected, "a key after {wait:?}");
    }
}

#[test]
fn a_card_that_is_moved_waits_anew() {
    let mut bed = bed(command());
    pass(&mut bed, ARMING);
    bed.state_mut().above = 40.0;
    bed.run_steps(2);
    bed.key_press(Key::Y);
    bed.run_steps(2);
    assert_eq!(decisions(&bed), []);
    pass(&mut bed, ARMING);
    bed.key_press(Key::Y);
    bed.run_steps(2);
    assert_eq!(decisions(&bed), [Decision::Once]);
}

#[test]
fn one_answer_is_enough() {
    let mut bed = bed(command());
    pass(&mut bed, ARMING);
    bed.key_press(Key::Y);
    bed.run_steps(2);
    bed.key_press(Key::N);
    bed.run_steps(2);
    assert_eq!(decisions(&bed), [Decision::Once]);
    bed.state_mut().card.not_sent();
    bed.run_steps(1);
    bed.get_by_label_contains("could not be handed over");
    bed.key_press(Key::N);
    bed.run_steps(2);
    assert_eq!(decisions(&bed), [Decision::Once, Decision::Reject]);
}

/// Enter approves what only looks, changes or fetches; never what runs.
#[test]
fn enter_is_no_answer_to_what_runs() {
    let rows = [
        (Subject::Look, true),
        (Subject::Change, true),
        (Subject::Network, true),
        (Subject::Command, false),
        (Subject::Remote, false),
    ];
    for (subject, approves) in rows {
        let mut bed = bed(of(subject));
        pass(&mut bed, ARMING);
        bed.key_press(Key::Enter);
        bed.run_steps(2);
        let expected = if approves { vec![Decision::Once] } else { vec![] };
        assert_eq!(decisions(&bed), expected, "{subject:?}");
    }
}

/// Tab leads to the buttons, where egui takes Enter and the space bar for a click.
#[test]
fn enter_on_the_focused_button_runs_nothing() {
    for key in [Key::Enter, Key::Space] {
        let mut bed = bed(command());
        pass(&mut bed, ARMING);
        bed.get_by_label("Run once  y").focus();
        bed.run_steps(2);
        bed.key_press(key);
        bed.run_steps(2);
        assert_eq!(decisions(&bed), [], "{key:?}");
    }
}

fn feedback(bed: &Bed) -> egui_kittest::Node<'_> {
    bed.get_by_role(Role::MultilineTextInput)
}

#[test]
fn letters_are_no_answers_while_something_is_typed() {
    let mut bed = bed(command());
    pass(&mut bed, ARMING);
    feedback(&bed).focus();
    bed.run_steps(2);
    bed.key_press(Key::Y);
    bed.key_press(Key::N);
    feedback(&bed).type_text("yes, not now");
    bed.run_steps(2);
    assert_eq!(decisions(&bed), []);
    assert_eq!(feedback(&bed).value().as_deref(), Some("yes, not now"));
}

#[test]
fn feedback_goes_with_either_answer() {
    for (modifiers, decision) in
        [(Modifiers::NONE, Decision::Reject), (Modifiers::COMMAND, Decision::Once)]
    {
        let mut bed = bed(command());
        pass(&mut bed, ARMING);
        feedback(&bed).focus();
        bed.run_steps(2);
        bed.key_press_modifiers(modifiers, Key::Enter);
        bed.run_steps(2);
        assert_eq!(decisions(&bed), [], "nothing was typed");
        feedback(&bed).type_text("use tabs");
        bed.run_steps(2);
        pass(&mut bed, ARMING);
        bed.key_press_modifiers(modifiers, Key::Enter);
        bed.run_steps(2);
        let verdict = bed.state().verdicts.first().cloned().unwrap();
        assert_eq!((verdict.decision, verdict.feedback.as_str()), (decision, "use tabs"));
    }
}

#[test]
fn what_was_typed_belongs_to_its_question() {
    let mut bed = bed(command());
    feedback(&bed).focus();
    bed.run_steps(2);
    feedback(&bed).type_text("use tabs");
    bed.run_steps(2);
    turn_to(&mut bed, |approval| approval.id = ApprovalId(9));
    bed.run_steps(2);
    assert_eq!(feedback(&bed).value().as_deref().unwrap_or_default(), "");
}

#[test]
fn offers_say_their_rule_and_take_no_second_click_of_the_same_hand() {
    let mut bed = bed(command());
    pass(&mut bed, ARMING);
    bed.get_by_label("Allow more ▾").click();
    bed.run_steps(3);
    bed.get_by_label("For this conversation: run cargo fmt");
    let always = "Always: run cargo fmt";
    bed.get_by_label(always).click();
    bed.run_steps(2);
    assert_eq!(decisions(&bed), [], "the menu has just opened");
    pass(&mut bed, ARMING);
    bed.get_by_label(always).click();
    bed.run_steps(2);
    assert_eq!(decisions(&bed), [Decision::Offer(1)]);
}

#[test]
fn what_can_only_be_allowed_once_has_no_menu() {
    let bed = bed(Approval { offers: Arc::new([]), ..command() });
    assert!(bed.query_by_label("Allow more ▾").is_none());
    bed.get_by_label("It can only be allowed once.");
}

/// All that is decided on is on the card, with hidden characters spelt out.
#[test]
fn everything_that_is_decided_on_is_shown() {
    let approval = Approval {
        what: letterpress::tools::policy::command_line(&["rm".into(), "a\u{202e}b".into()])
            .text
            .into(),
        place: "/etc".into(),
        is_inside: false,
        environment: [("CI".into(), "1".into())].into(),
        concerns: [
            Concern { words: "It deletes files.".into(), is_warning: true },
            Concern { words: "It runs a program.".into(), is_warning: false },
        ]
        .into(),
        ..command()
    };
    let bed = bed(approval);
    for words in [
        "rm $'a\\u202Eb'",
        "/etc",
        "outside of the workspace",
        "· at most 2 min",
        "1 environment variable differs",
        "It deletes files.",
        "It runs a program.",
        "Format the code",
        "May it run this?",
        "execute_command",
    ] {
        bed.get_by_label(words);
    }
}

#[test]
fn changes_are_compared_file_by_file_and_fold() {
    let change = |path: &str, before: Option<&str>, after: &str| Change {
        path: path.into(),
        moved_to: None,
        before: before.map(Into::into),
        after: Some(after.into()),
    };
    let changes = [
        change("a.rs", Some("one\ntwo\nthree\n"), "one\n2\nthree\n"),
        change("b.rs", None, "a\u{202e}b\n"),
        change("c.rs", Some("x\n"), "y\n"),
    ];
    let mut bed = bed(Approval { changes: changes.into(), ..of(Subject::Change) });
    for words in ["    2 − two", "    2 + 2", "    1 + a⟨RLO⟩b", "new file"] {
        bed.get_by_label(words);
    }
    assert!(bed.query_by_label("    1 + y").is_none(), "the third file is folded");
    bed.get_by_label("c.rs, closed").click();
    bed.run_steps(3);
    bed.get_by_label("    1 + y");
}

/// A megabyte that has to be approved can be read to its end, and costs what is seen of it.
#[test]
fn a_long_text_is_there_to_its_end() {
    let mut what: String =
        (0..20_000).map(|i| format!("\"line\": {i:05} of the arguments,\n")).collect();
    what.push_str("THE END");
    let mut bed = bed(Approval { what: what.as_str().into(), ..of(Subject::Remote) });
    assert!(bed.query_by_label_contains("line\": 00000").is_some());
    assert!(bed.query_by_label_contains("THE END").is_none());
    let at = bed.get_by_label_contains("line\": 00000").rect();
    bed.hover_at(at.min + egui::vec2(40.0, 40.0));
    for _ in 0..12 {
        bed.event(egui::Event::MouseWheel {
            unit: egui::MouseWheelUnit::Point,
            delta: egui::vec2(0.0, -100_000.0),
            phase: egui::TouchPhase::Move,
            source: egui::MouseWheelSource::Unknown,
            modifiers: Modifiers::NONE,
        });
        bed.run_steps(12);
    }
    assert!(bed.query_by_label_contains("THE END").is_some());
    // The answers are where they were.
    bed.get_by_label("Allow once  y");
}
