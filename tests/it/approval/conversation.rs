//! Whole conversations: what is answered reaches the engine, what waits is found, what runs
//! can be watched and stopped.

use std::sync::mpsc::sync_channel;

use egui::{Key, Modifiers, Role, ViewportCommand};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use letterpress::{
    app::window::{Notice, Post},
    model::{Part, Role as Speaker, Snapshot, ToolState},
    perf::Reason,
    view::governor::Governor,
};
use serde_json::json;

use super::desk::{Desk, asked, calls, has_question};
use crate::live::server::whole;

fn states(snapshot: &Snapshot) -> Vec<ToolState> {
    let parts = snapshot.messages().flat_map(|message| message.parts.iter());
    parts
        .filter_map(|part| match part {
            Part::ToolCall(call) => Some(call.state),
            _ => None,
        })
        .collect()
}

/// All that is set on the page.
fn page(desk: &Desk) -> String {
    let view = desk.harness.state().view().unwrap();
    let slugs = view.visible().placed.iter().filter_map(|placed| placed.slug.as_ref());
    slugs.flat_map(|slug| &slug.lines).map(|line| format!("{}\n", line.rows.text())).collect()
}

#[test]
fn y_runs_it_and_the_card_goes() {
    let mut desk = Desk::new(vec![asked("cargo fmt --check"), whole(&["Done."])]);
    desk.ask("Format it");
    desk.harness.get_by_label("cargo fmt --check");
    desk.harness.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::A);
    desk.harness.run_steps(3);
    desk.harness.key_press(Key::Y);
    desk.harness.run_steps(3);
    assert!(has_question(desk.harness.state()), "it has just come");
    desk.arm();
    desk.picture("command-dark");
    desk.harness.key_press(Key::Y);
    let end = desk.ended();
    assert_eq!(desk.scripted.log(), ["Once", "run execute_command"]);
    assert_eq!(states(&end), [ToolState::Ok]);
    assert!(desk.harness.query_by_label("May it run this?").is_none());
}

#[test]
fn letters_that_are_typed_into_the_composer_answer_nothing() {
    let mut desk = Desk::new(vec![asked("rm -r build"), whole(&["Done."])]);
    let composer = |desk: &Desk| {
        let boxes = desk.harness.get_all_by_role(Role::MultilineTextInput);
        let lowest = boxes.max_by(|a, b| a.rect().top().total_cmp(&b.rect().top()));
        lowest.unwrap().accesskit_node().id()
    };
    desk.harness.get_by_role(Role::MultilineTextInput).focus();
    desk.harness.run_steps(2);
    desk.ask("Clean up");
    desk.arm();
    let id = composer(&desk);
    let focused = desk.harness.root().children_recursive().find(|node| node.is_focused());
    assert_eq!(focused.map(|node| node.accesskit_node().id()), Some(id), "no focus is taken away");
    desk.harness.key_press(Key::Y);
    desk.harness.run_steps(3);
    assert!(has_question(desk.harness.state()));
    assert_eq!(desk.scripted.log(), Vec::<String>::new());
}

#[test]
fn a_rejection_with_words_is_read_by_the_model_and_the_turn_reads_so() {
    let mut desk = Desk::new(vec![asked("cargo fmt"), whole(&["Then with tabs."])]);
    desk.ask("Format it");
    desk.arm();
    let feedback = "What to do instead";
    desk.harness.get_by_label(feedback).focus();
    desk.harness.run_steps(2);
    desk.harness.get_by_label(feedback).type_text("use tabs");
    desk.harness.run_steps(2);
    desk.arm();
    desk.harness.key_press(Key::Enter);
    let end = desk.ended();
    assert_eq!(desk.scripted.log(), ["Reject"]);
    assert_eq!(states(&end), [ToolState::NotRun]);
    let said: Vec<_> = end.messages().filter(|m| m.role == Speaker::User).collect();
    assert_eq!(said.len(), 2, "what was said with it stands in the conversation");
    assert!(page(&desk).contains("not run: the user rejected this call"), "{}", page(&desk));
    desk.picture("rejected-dark");
    desk.server.request();
    assert!(desk.server.request().to_string().contains("use tabs"));
}

/// A question leaves the page to be read: it has the letters, the page has the other keys.
#[test]
fn the_page_can_be_read_while_a_question_has_the_keyboard() {
    let long: String = (0..80).map(|i| format!("Paragraph {i} of the answer.\n\n")).collect();
    let mut desk = Desk::new(vec![whole(&[&long]), asked("cargo fmt"), whole(&["Done."])]);
    assert!(desk.harness.state_mut().say("Talk"));
    desk.ended();
    desk.ask("Format it");
    desk.harness.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::A);
    desk.harness.run_steps(3);
    desk.harness.key_press(Key::PageUp);
    desk.harness.key_press(Key::ArrowUp);
    desk.harness.run_steps(3);
    assert!(desk.harness.state().view().is_some_and(|view| !view.is_following()));
    desk.arm();
    desk.harness.key_press(Key::Y);
    desk.ended();
    assert_eq!(desk.scripted.log(), ["Once", "run execute_command"]);
}

#[test]
fn escape_stops_the_turn() {
    let mut desk = Desk::new(vec![asked("cargo fmt")]);
    desk.ask("Format it");
    desk.harness.key_press(Key::Escape);
    let end = desk.ended();
    assert_eq!(states(&end), [ToolState::Aborted]);
    assert_eq!(desk.scripted.log(), Vec::<String>::new());
}

/// Two conversations ask: the badge counts them, a key goes from one to the next.
#[test]
fn waiting_questions_are_counted_and_found() {
    let answers = vec![asked("cargo fmt"), asked("cargo test"), whole(&["Done."])];
    let mut desk = Desk::new(answers);
    desk.ask("First");
    desk.harness.key_press_modifiers(Modifiers::COMMAND, Key::N);
    desk.until("a second conversation", |window| window.titles().len() == 2);
    assert_eq!(desk.harness.state().waiting(), 1);
    desk.harness.get_by_label("1 waits for your word");
    desk.harness.get_by_label("First, waits for your word");
    let shown = desk.harness.state().active();
    desk.harness.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::A);
    desk.harness.run_steps(3);
    assert_ne!(desk.harness.state().active(), shown);
    assert!(has_question(desk.harness.state()));
    desk.arm();
    desk.harness.key_press(Key::N);
    desk.until("it is rejected", |window| !has_question(window));
    assert_eq!(desk.harness.state().waiting(), 0);
    let titles = desk.harness.output().viewport_output.values();
    let last = titles.flat_map(|out| &out.commands).find_map(|command| match command {
        ViewportCommand::Title(title) => Some(title.clone()),
        _ => None,
    });
    assert!(last.is_none_or(|title| !title.starts_with('(')));
}

/// Whoever is elsewhere is told which conversation waits for which tool, and nothing else.
#[test]
fn the_system_is_told_while_nobody_looks() {
    let (sender, told) = sync_channel(4);
    let post = Post::new(move |notice| sender.send(notice).unwrap());
    let mut desk = Desk::with(vec![asked("echo secret")], post, egui::Theme::Dark);
    desk.harness.input_mut().focused = false;
    desk.harness.run_steps(2);
    desk.ask("Format it");
    let notice = Notice { title: "Format it".into(), tool: "execute_command".into() };
    assert_eq!(told.recv_timeout(std::time::Duration::from_secs(10)), Ok(notice));
    desk.harness.run_steps(4);
    assert!(told.try_recv().is_err(), "once");
}

#[test]
fn a_running_call_shows_its_time_and_its_output_and_can_be_stopped() {
    let says = [
        "\u{1b}[32m   Compiling\u{1b}[0m letterpress v0.1.0\n",
        "\u{1b}[33mwarning\u{1b}[0m: unused\n",
    ];
    let arguments = json!({"command": ["cargo", "build"], "hangs": true, "says": says});
    let mut desk = Desk::new(vec![calls(&[("execute_command", arguments)]), whole(&["I see."])]);
    assert!(desk.harness.state_mut().say("Build it"));
    desk.until("its output is there", |window| {
        let parts = window.snapshot().into_iter().flat_map(|s| s.messages()).flat_map(|m| &m.parts);
        parts.into_iter().any(|part| {
            matches!(part, Part::ToolCall(call)
            if call.state == ToolState::Running
                && call.result.as_ref().is_some_and(|r| r.output.text.contains("unused")))
        })
    });
    let page = page(&desk);
    assert!(page.contains("$ cargo build") && page.contains("Compiling letterpress"), "{page}");
    desk.picture("running-dark");
    // A clock that is shown moves once a second, and asks for no more frames than that.
    let ticks = || Governor::of(&desk.harness.ctx).total().of(Reason::Tick);
    let before = ticks();
    assert!(before > 0, "it is on screen");
    let stops: Vec<_> = desk.harness.get_all_by_label("Stop").map(|node| node.rect()).collect();
    assert_eq!(stops.len(), 2, "the call's own, and the turn's");
    let own = stops.iter().min_by(|a, b| a.top().total_cmp(&b.top())).unwrap().center();
    click_at(&mut desk, own);
    let end = desk.ended();
    assert_eq!(states(&end), [ToolState::Error]);
    assert_eq!(desk.server.connections(), 2, "the turn goes on with its result");
    assert!(!super::conversation::page(&desk).contains("Stop\n"));
}

fn click_at(desk: &mut Desk, pos: egui::Pos2) {
    desk.harness.hover_at(pos);
    desk.harness.run_steps(2);
    for pressed in [true, false] {
        desk.harness.event(egui::Event::PointerButton {
            pos,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        });
        desk.harness.run_steps(1);
    }
    desk.harness.run_steps(2);
}

/// The row of a checkpoint takes the files back to it, and the row of that takes that back.
#[test]
fn files_are_taken_back_from_the_row_of_their_checkpoint() {
    let arguments = json!({"command": ["make"]});
    let made = calls(&[("execute_command", arguments)]);
    let mut desk = Desk::new(vec![made, whole(&["Made."])]);
    desk.scripted.keep();
    assert!(desk.harness.state_mut().say("Make it"));
    desk.ended();
    for (times, expected) in [(1, "restore first"), (2, "restore second")] {
        let rows: Vec<_> =
            desk.harness.get_all_by_label("Take the files back").map(|row| row.rect()).collect();
        assert_eq!(rows.len(), times, "one for each checkpoint");
        let newest = rows.iter().max_by(|a, b| a.top().total_cmp(&b.top())).unwrap().center();
        click_at(&mut desk, newest);
        let scripted = desk.scripted.clone();
        desk.until("the files are taken back", |_| {
            scripted.log().last().is_some_and(|last| last == expected)
        });
        desk.ended();
        desk.harness.run_steps(4);
    }
    let log = desk.scripted.log();
    assert_eq!(log, ["checkpoint", "run execute_command", "restore first", "restore second"]);
}

/// Output that grows below moves nothing of what is read above.
#[test]
fn what_is_read_stays_while_a_command_writes() {
    let says: Vec<String> = (0..120).map(|i| format!("line {i}\n")).collect();
    let long: String = (0..80).map(|i| format!("Paragraph {i} of the first answer.\n\n")).collect();
    let arguments = json!({"command": ["make"], "hangs": true, "says": says, "pause": 2});
    let answers = vec![whole(&[&long]), calls(&[("execute_command", arguments)])];
    let mut desk = Desk::new(answers);
    assert!(desk.harness.state_mut().say("Talk"));
    desk.ended();
    desk.harness.ctx.memory_mut(|memory| memory.stop_text_input());
    desk.harness.run_steps(1);
    desk.harness.key_press(Key::Home);
    desk.harness.run_steps(3);
    let place = |desk: &Desk| {
        let view = desk.harness.state().view().unwrap();
        view.visible().placed.first().map(|placed| (placed.id, placed.y))
    };
    let before = place(&desk);
    assert!(desk.harness.state_mut().say("Make it"));
    desk.until("all of it was written", |window| {
        let parts = window.snapshot().into_iter().flat_map(|s| s.messages()).flat_map(|m| &m.parts);
        parts.into_iter().any(|part| {
            matches!(part, Part::ToolCall(call)
            if call.result.as_ref().is_some_and(|r| r.output.text.contains("line 119")))
        })
    });
    assert_eq!(place(&desk), before);
    // Where it is watched, it is a window on its last lines: as high as it ever gets.
    desk.harness.key_press(Key::End);
    desk.harness.run_steps(3);
    let page = page(&desk);
    assert!(page.contains("line 119") && !page.contains("line 100\n"), "{page}");
    desk.harness.key_press(Key::Escape);
    desk.ended();
}

#[test]
fn an_edit_is_shown_as_what_it_changes_before_and_after() {
    let before = "fn main() {\n    let answer = 41;\n    println!(\"{answer}\");\n}\n";
    let after = before.replace("41", "42");
    let change = json!({"path": "src/main.rs", "movedTo": null, "before": before, "after": after});
    let arguments = json!({
        "path": "src/main.rs",
        "old_string": "41",
        "new_string": "42",
        "asks": {"what": "src/main.rs", "changes": [change]},
        "details": {"changes": [change]},
    });
    for theme in [egui::Theme::Dark, egui::Theme::Light] {
        let answers = vec![calls(&[("edit_file", arguments.clone())]), whole(&["Done."])];
        let mut desk = Desk::with(answers, Post::new(|_| {}), theme);
        desk.ask("Fix the answer");
        desk.harness.get_by_label("    2 −     let answer = 41;");
        desk.harness.get_by_label("    2 +     let answer = 42;");
        desk.arm();
        desk.picture(&format!("edit-{theme:?}"));
        desk.harness.get_by_label("Allow once  y").click();
        desk.ended();
        let page = page(&desk);
        assert!(page.contains("−     let answer = 41;") && page.contains("+1 −1"), "{page}");
        desk.picture(&format!("edited-{theme:?}"));
    }
}

#[test]
fn the_choice_of_tools_names_the_folder() {
    let mut desk = Desk::new(vec![]);
    desk.harness.get_by_label("tools: ask first · letterpress").click();
    desk.harness.run_steps(3);
    desk.harness.get_by_label("Choose another folder…");
    desk.picture("tools-dark");
    desk.harness.get_by_label("edit freely").click();
    desk.until("it is chosen", |window| {
        let tools = window.snapshot().map(|s| s.settings.tools);
        tools == Some(letterpress::model::ToolUse::Edits)
    });
    desk.harness.get_by_label("tools: edit freely · letterpress");
}
