//! What is compiled into the program: fonts, icons and the sample conversation.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::Arc,
};

use egui::{FontData, FontDefinitions, FontFamily, FontId, epaint::text::Fonts};
use letterpress::layout::icon;
use serde_json::Value;

fn asset(path: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(path);
    fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Fonts with exactly these files as the only family.
fn fonts_of(paths: &[&str]) -> Fonts {
    let mut definitions = FontDefinitions::empty();
    for path in paths {
        definitions.font_data.insert((*path).into(), Arc::new(FontData::from_owned(asset(path))));
        for family in [FontFamily::Proportional, FontFamily::Monospace] {
            definitions.families.entry(family).or_default().push((*path).into());
        }
    }
    Fonts::new(egui::epaint::text::TextOptions::default(), definitions)
}

fn missing(paths: &[&str], wanted: impl IntoIterator<Item = char>) -> Vec<String> {
    let mut fonts = fonts_of(paths);
    let id = FontId::proportional(15.0);
    let mut view = fonts.with_pixels_per_point(1.0);
    let lacks = |c: &char| !view.has_glyph(&id, *c);
    wanted.into_iter().filter(lacks).map(|c| format!("U+{:04X}", u32::from(c))).collect()
}

#[test]
fn the_icon_font_has_every_named_icon() {
    assert!(icon::ALL.len() >= 60);
    assert_eq!(
        icon::ALL.iter().collect::<BTreeSet<_>>().len(),
        icon::ALL.len(),
        "two names for one icon"
    );
    assert_eq!(missing(&["icons/phosphor.ttf"], icon::ALL.iter().copied()), Vec::<String>::new());
}

#[test]
fn the_bundled_fonts_cover_what_the_view_draws() {
    let marks = "✓✕✗◌⏸⊘▾▸▶▼→↓↑…·‹›●○⌘−×•◦▪␛⟨⟩⚠";
    let prose = "AZaz09ÀßžŐЖяΩώẾự“”„‘’–—€";
    let controls = ('\u{2400}'..='\u{2421}').chain('\u{2800}'..='\u{28FF}');
    let upright = ["fonts/InterVariable.ttf", "fonts/Symbols.ttf"];
    let mono = ["fonts/JetBrainsMono.ttf", "fonts/Symbols.ttf"];
    let none = Vec::<String>::new();
    assert_eq!(
        missing(&upright[..1], ['\u{241B}']),
        ["U+241B"],
        "Inter alone has no control pictures"
    );
    assert_eq!(missing(&upright, marks.chars().chain(prose.chars()).chain(controls.clone())), none);
    assert_eq!(missing(&mono, marks.chars().chain(controls)), none);
    assert_eq!(missing(&mono[..1], ('\u{2500}'..='\u{259F}').chain(' '..='~')), none);
    assert_eq!(missing(&["fonts/InterVariable-Italic.ttf"], prose.chars()), none);
    assert_eq!(missing(&["fonts/JetBrainsMono-Italic.ttf"], ' '..='~'), none);
    assert_eq!(missing(&["fonts/InterFigures.ttf"], "0123456789+−".chars()), none);
}

/// Width in points of a text in one weight.
fn width(paths: &[&str], text: &str, weight: f32) -> f32 {
    let mut fonts = fonts_of(paths);
    let mut job = egui::text::LayoutJob::default();
    let mut format =
        egui::TextFormat::simple(FontId::proportional(64.0), egui::Color32::PLACEHOLDER);
    format.coords = egui::epaint::text::VariationCoords::new([(b"wght", weight)]);
    job.append(text, 0.0, format);
    fonts.with_pixels_per_point(1.0).layout_job(job).rect.width()
}

#[test]
fn weights_are_real_and_figures_have_one_width() {
    for font in ["fonts/InterVariable.ttf", "fonts/InterVariable-Italic.ttf"] {
        assert!(
            width(&[font], "letterpress", 700.0) > 1.03 * width(&[font], "letterpress", 400.0),
            "{font}"
        );
    }
    let figures = ["fonts/InterFigures.ttf", "fonts/InterVariable.ttf"];
    for weight in [400.0, 600.0] {
        let ones = width(&figures, "11111", weight);
        assert!((ones - width(&figures, "08432", weight)).abs() < 0.5);
        assert!(
            (ones - width(&figures[1..], "11111", weight)).abs() > 1.0,
            "Inter's own are proportional"
        );
    }
}

#[test]
fn the_sample_is_one_connected_conversation() {
    let text = String::from_utf8(asset("sample/sample.jsonl")).unwrap();
    let entries: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(entries[0]["type"], "session");
    assert_eq!(entries[0]["version"], 3);

    let mut parent = Value::Null;
    let mut last_time = "";
    let mut calls = BTreeMap::new();
    let mut kinds = BTreeSet::new();
    for entry in &entries[1..] {
        assert_eq!(entry["parentId"], parent, "{}", entry["id"]);
        parent = entry["id"].clone();
        let time = entry["timestamp"].as_str().unwrap();
        assert!(time > last_time, "{time} is not after {last_time}");
        last_time = time;
        kinds.insert(entry["type"].as_str().unwrap());
        let message = &entry["message"];
        for part in message["content"].as_array().into_iter().flatten() {
            kinds.insert(part["type"].as_str().unwrap());
            if part["type"] == "toolCall" {
                calls.insert(part["id"].as_str().unwrap(), part["name"].clone());
            }
        }
        if message["role"] == "toolResult" {
            let name = calls.remove(message["toolCallId"].as_str().unwrap());
            assert_eq!(name.as_ref(), Some(&message["toolName"]));
        }
    }
    assert_eq!(calls, BTreeMap::new(), "every call has its result");
    for kind in
        ["compaction", "image", "model_change", "session_info", "text", "thinking", "toolCall"]
    {
        assert!(kinds.contains(kind), "the sample shows no {kind}");
    }
}
