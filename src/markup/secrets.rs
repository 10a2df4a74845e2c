//! Keys, tokens and passwords inside text: found by their shape and covered.
//!
//! A wall hangs where anyone can read it, so what an agent prints there must not open a
//! door. Shapes that vendors document are covered wherever they stand; the value behind a
//! name like `API_TOKEN` is covered when it does not look like code. Ordinary prose and
//! code pass untouched: a wall full of dots would be worth nothing.

mod assigned;
mod shapes;

use std::ops::Range;

/// Whether more text may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The text is whole.
    Final,
    /// The text is still arriving: what begins like a token at its end is covered before
    /// it is long enough to be sure.
    Open,
}

/// The sign that stands for what is covered.
pub const COVER: char = '•';
/// Signs for a short, a middling and a long secret. How long it is exactly stays unsaid.
const LENGTHS: [(usize, usize); 3] = [(16, 8), (64, 16), (usize::MAX, 24)];

/// The text with its secrets covered; none when there is nothing to cover.
///
/// The part of a token that names its vendor stays, so that one can tell what is hidden.
/// Costs time in proportion to the text. Covering twice changes nothing.
#[must_use]
pub fn cover(text: &str, ending: Ending) -> Option<String> {
    let mut covered = cover_once(text, ending)?;
    // What is covered can lay bare what stands beside it.
    for _ in 0..PASSES_MAX {
        match cover_once(&covered, ending) {
            Some(more) => covered = more,
            None => break,
        }
    }
    Some(covered)
}

/// Passes over a text that goes on to show something new: only made-up texts do.
const PASSES_MAX: usize = 16;

fn cover_once(text: &str, ending: Ending) -> Option<String> {
    let found = find(text, ending);
    if found.is_empty() {
        return None;
    }
    let mut covered = String::with_capacity(text.len());
    let mut at = 0;
    for range in found {
        covered.push_str(text.get(at..range.start).unwrap_or_default());
        let length = text.get(range.clone()).map_or(0, |secret| secret.chars().count());
        covered.extend(std::iter::repeat_n(COVER, signs(length)));
        at = range.end;
    }
    covered.push_str(text.get(at..).unwrap_or_default());
    Some(covered)
}

fn signs(length: usize) -> usize {
    LENGTHS.iter().find(|(most, _)| length <= *most).map_or(24, |(_, signs)| *signs)
}

/// Where the secrets of a text stand, in order and without overlap.
#[must_use]
pub fn find(text: &str, ending: Ending) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    shapes::blocks(text, &mut found);
    shapes::tokens(text, ending, &mut found);
    shapes::passwords_of_addresses(text, &mut found);
    assigned::values(text, &mut found);
    found.retain(|range| {
        range.start < range.end
            && text.get(range.clone()).is_some_and(|secret| !secret.contains(COVER))
    });
    merged(found)
}

fn merged(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_unstable_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(found.len());
    for range in found {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Length of the run of bytes that meet a condition.
fn run(bytes: &[u8], from: usize, meets: impl Fn(u8) -> bool) -> usize {
    bytes.get(from..).unwrap_or_default().iter().take_while(|byte| meets(**byte)).count()
}
