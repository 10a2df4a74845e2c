//! Columns of text, and times as people read them.

use chrono::{Local, TimeZone as _};

use super::super::timestamp::Plain;

/// A time where the user is: `2026-05-01 10:00`.
pub(super) fn local(ms: i64) -> String {
    match Local.timestamp_millis_opt(ms).single() {
        Some(time) => time.format("%Y-%m-%d %H:%M").to_string(),
        None => Plain(ms).to_string(),
    }
}

/// Rows of cells, each column as wide as its widest cell, two blanks apart. The last one is
/// as wide as it is.
pub(super) fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (width, cell) in widths.iter().zip(row) {
            line.push_str(cell);
            let missing = width - cell.chars().count() + 2;
            line.extend(std::iter::repeat_n(' ', missing));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A text without what could speak to a terminal or turn the line around.
pub(super) fn harmless(text: &str) -> String {
    let is_harmful = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().filter(|c| !is_harmful(*c)).collect()
}
