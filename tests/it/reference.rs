//! The reference renderer: what it shows, and what it must not do.

use egui::{Context, FullOutput, Shape, ViewportId, vec2};
use egui_kittest::kittest::Queryable as _;
use letterpress::{
    model::MessageId,
    view::rich::{Reference, manual_ui},
};

/// Shows something for some frames and gives the last one.
fn frames(count: usize, mut ui: impl FnMut(&mut egui::Ui)) -> (Context, FullOutput) {
    let context = Context::default();
    let mut output = FullOutput::default();
    for _ in 0..count {
        output.textures_delta.clear();
        let screen_rect = Some(egui::Rect::from_min_size(egui::Pos2::ZERO, vec2(600.0, 800.0)));
        output = context.run_ui(egui::RawInput { screen_rect, ..Default::default() }, &mut ui);
    }
    output.textures_delta.clear();
    (context, output)
}

fn texts(output: &FullOutput) -> String {
    let texts = output.shapes.iter().filter_map(|clipped| match &clipped.shape {
        Shape::Text(text) => Some(text.galley.text()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn markdown_is_set_and_takes_a_height() {
    let mut reference = Reference::default();
    let mut height = 0.0;
    let text = "# Head\n\nSome **bold** [link](https://example.org).\n\n|a|b|\n|-|-|\n|1|2|\n";
    let (_, output) = frames(3, |ui| height = reference.show(ui, MessageId(1), text));
    let shown = texts(&output);
    assert!(["Head", "bold", "link", "a", "2"].iter().all(|word| shown.contains(word)), "{shown}");
    assert!(!shown.contains("**") && !shown.contains('#'), "{shown}");
    assert!((60.0..300.0).contains(&height), "{height}");
}

#[test]
fn showing_touches_no_file_and_opens_nothing() {
    let secret = tempfile::NamedTempFile::with_suffix(".png").expect("a file can be made");
    let path = secret.path().display();
    let text = format!("![a]({path}) ![b](file://{path}) <img src=\"{path}\"> [l](https://e.org)");
    let mut reference = Reference::default();
    let (context, output) = frames(3, |ui| {
        reference.show(ui, MessageId(1), &text);
    });
    assert!(context.try_load_bytes(&format!("file://{path}")).is_err(), "no loader reads files");
    assert_eq!(output.platform_output.commands, []);
}

#[test]
fn a_click_on_a_link_asks_egui_to_open_it() {
    let mut reference = Reference::default();
    let text = "[somewhere](https://example.org/a)";
    let mut harness = egui_kittest::Harness::builder().allow_missing_glyphs().build_ui(|ui| {
        reference.show(ui, MessageId(1), text);
    });
    harness.get_by_label("somewhere").click();
    harness.step();
    let commands = &harness.output().platform_output.commands;
    let asked = egui::OpenUrl::same_tab("https://example.org/a");
    assert!(commands.contains(&egui::OutputCommand::OpenUrl(asked)), "{commands:?}");
}

#[test]
fn what_it_cannot_bear_is_shown_as_it_was_written() {
    let lists = "- ".repeat(2_000) + "deep";
    let quotes = "> ".repeat(2_000) + "deep";
    let numbers = "1. ".repeat(1_000) + "deep";
    let staircase: String =
        (0..200).map(|level| format!("{}- step\n", "  ".repeat(level))).collect::<String>()
            + "deep";
    for text in [lists, quotes, numbers, staircase] {
        let mut reference = Reference::default();
        let (_, output) = frames(2, |ui| {
            reference.show(ui, MessageId(1), &text);
        });
        assert!(texts(&output).contains(&text), "{}", text.len());
        assert!(output.shapes.len() < 20, "{}", output.shapes.len());
    }
}

#[test]
fn ordinary_nesting_is_still_markdown() {
    let code =
        format!("```\n{}x - y\n```\n- item\n  - inner\n    > quote\n\n---\n", " ".repeat(90));
    let mut reference = Reference::default();
    let (_, output) = frames(2, |ui| {
        reference.show(ui, MessageId(1), &code);
    });
    let shown = texts(&output);
    assert!(shown.contains("inner") && !shown.contains("- item"), "{shown}");
}

#[test]
fn a_text_of_many_megabytes_is_shortened_and_says_so() {
    let text = "é".repeat(2 << 20);
    let mut reference = Reference::default();
    let (_, output) = frames(1, |ui| {
        reference.show(ui, MessageId(1), &text);
    });
    let root = output.viewport_output.get(&ViewportId::ROOT);
    assert!(root.is_some() && texts(&output).len() < (1 << 20) + 200);
}

#[test]
fn the_manual_is_a_page_with_a_scrollbar() {
    let page: String = (0..200).map(|n| format!("## Chapter {n}\n\nText.\n\n")).collect();
    let mut reference = Reference::default();
    let (_, output) = frames(4, |ui| manual_ui(ui, &mut reference, "manual", &page));
    let shown = texts(&output);
    assert!(shown.contains("Chapter 0") && !shown.contains("Chapter 199"), "{shown}");
}
