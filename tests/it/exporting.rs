//! Exports and imports from the window, driven by what a screen reader sees and by keys.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use egui::{Key, Modifiers, OutputCommand, Vec2};
use egui_kittest::{Harness, kittest::Queryable as _};
use letterpress::{
    app::{
        cli::ProviderFlags,
        window::{Keep, Start, Window},
    },
    wire::demo::Pace,
};

fn harness(start: Start) -> Harness<'static, Window> {
    let mut harness = Harness::builder()
        .with_size(Vec2::new(1200.0, 800.0))
        .allow_missing_glyphs()
        .build_eframe(|creation| Window::new(&creation.egui_ctx, start));
    settle(&mut harness);
    harness
}

fn reader(file: &Path) -> Harness<'static, Window> {
    harness(Start { files: vec![file.to_owned()], ..Start::default() })
}

/// Runs frames until nothing more happens by itself; gives what was copied meanwhile.
fn settle(harness: &mut Harness<'static, Window>) -> Option<String> {
    let mut copied = None;
    for _ in 0..400 {
        harness.run_steps(1);
        let commands = &harness.output().platform_output.commands;
        copied = commands.iter().fold(copied, |copied, command| match command {
            OutputCommand::CopyText(text) => Some(text.clone()),
            _ => copied,
        });
        if harness.state().is_settled() {
            break;
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
    harness.run_steps(2);
    copied
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpora/export").join(name)
}

const EXPORT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);

fn open(harness: &mut Harness<'static, Window>) {
    harness.key_press_modifiers(EXPORT, Key::E);
    settle(harness);
}

fn click(harness: &mut Harness<'static, Window>, label: &str) -> Option<String> {
    harness.get_by_label(label).click();
    settle(harness)
}

const COVERING: &str = "Cover keys, passwords, headers and the path of my home";

#[test]
fn a_conversation_is_copied_covered_and_as_it_is() {
    let mut harness = reader(&fixture("secrets.jsonl"));
    open(&mut harness);
    let copied = click(&mut harness, "Copy to clipboard").expect("something was copied");
    assert!(copied.starts_with("# Keys sk-•") && !copied.contains("CANARY"), "{copied}");
    harness.get_by_label("Copied 6 messages");
    open(&mut harness);
    click(&mut harness, "JSON");
    click(&mut harness, COVERING);
    harness.get_by_label_contains("Everything is written as it is.");
    let copied = click(&mut harness, "Copy to clipboard").expect("something was copied");
    assert!(copied.starts_with("{\"source\"") && copied.contains("CANARY"), "{copied}");
    click(&mut harness, "Close");
    assert!(harness.query_by_label_contains("Copied").is_none());
}

#[test]
fn a_file_is_written_where_the_user_says() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let target = folder.path().join("chosen");
    let mut harness = reader(&fixture("pi-everything.jsonl"));
    let chosen = target.clone();
    harness.state_mut().save_with(Arc::new(move |name, format| {
        assert_eq!((name, format.ending()), ("Garden beds.html", "html"));
        Some(chosen.clone())
    }));
    open(&mut harness);
    click(&mut harness, "HTML page");
    click(&mut harness, "Save as…");
    harness.get_by_label_contains("Exported");
    let page = fs::read_to_string(target.with_extension("html")).expect("a page");
    assert!(page.starts_with("<!doctype html>") && !page.contains("<img"), "{page}");
}

#[test]
fn what_cannot_be_written_is_said() {
    let mut harness = reader(&fixture("pi-everything.jsonl"));
    let source = fixture("pi-everything.jsonl");
    let before = fs::read(&source).expect("the fixture");
    harness.state_mut().save_with(Arc::new(move |_, _| Some(source.clone())));
    open(&mut harness);
    click(&mut harness, "Save as…");
    harness.get_by_label("The export failed");
    harness.get_by_label_contains("the output is the transcript itself");
    assert!(fs::read(fixture("pi-everything.jsonl")).expect("the fixture") == before);
}

#[test]
fn a_branch_and_chosen_messages_can_be_exported() {
    let mut harness = reader(&fixture("pi-branches.jsonl"));
    open(&mut harness);
    click(&mut harness, "Another branch");
    let copied = click(&mut harness, "Copy to clipboard").expect("something was copied");
    assert!(copied.contains("Oak.") && !copied.contains("Elm."), "{copied}");
    let first = harness.state().view().expect("a view").visible().placed[0].id.message;
    harness.state_mut().export_messages(&[first]);
    settle(&mut harness);
    harness.get_by_label("The message that is chosen");
    let copied = click(&mut harness, "Copy to clipboard").expect("something was copied");
    assert_eq!(copied.matches("\n## ").count(), 1, "{copied}");
    harness.get_by_label("Copied 1 message");
}

#[test]
fn the_dialog_closes_without_doing_anything() {
    let mut harness = reader(&fixture("pi-everything.jsonl"));
    open(&mut harness);
    harness.get_by_label("Save as…");
    harness.key_press(Key::Escape);
    settle(&mut harness);
    assert!(harness.query_by_label("Save as…").is_none());
    open(&mut harness);
    click(&mut harness, "Cancel");
    assert!(harness.query_by_label("Save as…").is_none());
    // The system's dialog is left without an answer: nothing is said.
    harness.state_mut().save_with(Arc::new(|_, _| None));
    open(&mut harness);
    harness.key_press(Key::Enter);
    settle(&mut harness);
    assert!(harness.query_by_label_contains("xported").is_none());
}

#[test]
fn a_conversation_that_goes_on_is_exported_from_memory() {
    let chat = Some(ProviderFlags { provider: Some("demo".to_owned()), ..Default::default() });
    let mut harness = harness(Start { chat, pace: Pace::AtOnce, ..Start::default() });
    open(&mut harness);
    assert!(harness.query_by_label("Save as…").is_none(), "nothing was said yet");
    assert!(harness.state_mut().say("Which bed is dry? My key is sk-CANARY0a1b2c3d4e5f6a7b8c9d"));
    for _ in 0..400 {
        settle(&mut harness);
        let snapshot = harness.state().snapshot().expect("a chat");
        if snapshot.entries.len() >= 2 && !snapshot.phase.is_busy() {
            break;
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
    open(&mut harness);
    let copied = click(&mut harness, "Copy to clipboard").expect("something was copied");
    assert!(copied.contains("Which bed is dry?") && !copied.contains("CANARY"), "{copied}");
    assert!(copied.matches("\n## ").count() >= 2, "{copied}");
}

#[test]
fn a_transcript_is_continued_where_it_was_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let keep = Keep {
        data: folder.path().join("data"),
        state: folder.path().join("state"),
        reopen: letterpress::app::window::Reopen::Nothing,
    };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpora/window/long.jsonl");
    let before = fs::read(&file).expect("the fixture");
    let start = Start { files: vec![file.clone()], keep: Some(keep), ..Start::default() };
    let mut harness = harness(start);
    harness.key_press(Key::Home);
    harness.key_press(Key::PageDown);
    settle(&mut harness);
    let top = |harness: &Harness<'_, Window>| {
        let view = harness.state().view().expect("a view");
        view.visible().placed.first().map(|placed| (placed.row, placed.y.round()))
    };
    let place = top(&harness);
    harness.get_by_label_contains("A transcript of pi.");
    click(&mut harness, "Continue this conversation");
    for _ in 0..200 {
        settle(&mut harness);
        if harness.state().snapshot().is_some() && top(&harness) == place {
            break;
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
    assert_eq!(harness.state().titles().len(), 2);
    assert!(harness.state().snapshot().is_some(), "it is a conversation that goes on");
    assert_eq!(top(&harness), place, "the reader is where he was");
    assert!(harness.query_by_label_contains("A transcript of pi.").is_none());
    assert!(fs::read(&file).expect("the fixture") == before, "the transcript stays as it is");
    harness.state_mut().finish();
}
