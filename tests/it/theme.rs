//! The look: every pair of text and ground can be read (WCAG AA).

use egui::{Color32, Theme};
use letterpress::view::theme::palette;

/// Relative luminance as WCAG 2 defines it.
fn luminance(color: Color32) -> f64 {
    let channel = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(color.r()) + 0.7152 * channel(color.g()) + 0.0722 * channel(color.b())
}

fn contrast(a: Color32, b: Color32) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn the_measure_is_right() {
    assert!((contrast(Color32::BLACK, Color32::WHITE) - 21.0).abs() < 1e-9);
    assert!(contrast(Color32::WHITE, Color32::WHITE) < 1.001);
}

#[test]
fn every_text_can_be_read_on_every_ground_it_stands_on() {
    let mut poor = Vec::new();
    for theme in [Theme::Dark, Theme::Light] {
        let p = palette(theme);
        let grounds = [
            ("bg", p.bg),
            ("panel", p.panel),
            ("raised", p.raised),
            ("code", p.code),
            ("user", p.user),
        ];
        let texts = [
            ("text", p.text),
            ("dim", p.dim),
            ("faint", p.faint),
            ("accent", p.accent),
            ("ok", p.ok),
            ("warn", p.warn),
            ("err", p.err),
        ];
        for (ground_name, ground) in grounds {
            for (name, text) in texts {
                let ratio = contrast(text, ground);
                if ratio < 4.5 {
                    poor.push(format!("{theme:?} {name} on {ground_name}: {ratio:.2}"));
                }
            }
        }
        let s = p.syntax;
        let code =
            [s.keyword, s.function, s.kind, s.string, s.number, s.comment, s.attribute, s.operator];
        // Terminal black is meant to recede, so it is left out.
        for (i, text) in code.into_iter().chain(p.ansi.into_iter().skip(1)).enumerate() {
            let ratio = contrast(text, p.code);
            if ratio < 4.5 {
                poor.push(format!("{theme:?} code colour {i}: {ratio:.2}"));
            }
        }
        for (ground_name, ground) in [("found", p.found), ("found_here", p.found_here)] {
            for (name, text) in texts.iter().filter(|(name, _)| *name != "faint") {
                let ratio = contrast(*text, ground);
                if ratio < 4.5 {
                    poor.push(format!("{theme:?} {name} on {ground_name}: {ratio:.2}"));
                }
            }
        }
        for (name, ground) in [("added", p.added), ("removed", p.removed)] {
            let ratio = contrast(p.text, ground);
            if ratio < 4.5 {
                poor.push(format!("{theme:?} text on {name}: {ratio:.2}"));
            }
        }
    }
    assert!(poor.is_empty(), "{poor:#?}");
}

/// Colours that programs chose for another ground are moved until they can be seen.
#[test]
fn colours_of_other_programs_are_made_legible() {
    for theme in [Theme::Dark, Theme::Light] {
        let p = palette(theme);
        for rgb in [[0, 0, 0], [255, 255, 255], [0, 0, 128], [255, 255, 0], [40, 40, 40]] {
            let shown = p.sgr(letterpress::model::SgrColor::Rgb(rgb[0], rgb[1], rgb[2]));
            let ratio = contrast(shown, p.code);
            assert!(ratio > 2.5, "{theme:?} {rgb:?}: {ratio:.2}");
        }
    }
}
