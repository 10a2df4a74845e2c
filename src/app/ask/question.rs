//! A question about a call as text, and the answer that a line means.

use std::fmt::Write as _;

use crate::{
    layout::diff::{self, DiffKind, DiffLine},
    model::{Approval, Change, Decision, Scope},
    tools::policy::visible,
};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// All that there is to know about a call before it is approved.
pub(super) fn text(approval: &Approval) -> String {
    let mut text = format!("\n{} wants to run:\n", approval.tool);
    indented(&mut text, &approval.what);
    if !approval.place.is_empty() {
        line(&mut text, &format!("  in {}", approval.place));
    }
    if let Some(secs) = approval.timeout_secs {
        line(&mut text, &format!("  for at most {secs} s"));
    }
    for (name, value) in approval.environment.iter() {
        line(&mut text, &format!("  with {name}={value}"));
    }
    approval.changes.iter().for_each(|change| changed(&mut text, change));
    for concern in approval.concerns.iter() {
        let sign = if concern.is_warning { "!" } else { "-" };
        line(&mut text, &format!("  {sign} {}", concern.words));
    }
    line(&mut text, "y  yes, this once        n  no");
    for (number, offer) in (1..).zip(approval.offers.iter()) {
        let scope = match offer.scope {
            Scope::Session => "until this ends",
            Scope::Always => "from now on",
        };
        line(&mut text, &format!("{number}  yes, and {scope}: {}", offer.words));
    }
    text.push_str("or what the model should do instead\n> ");
    text
}

/// What a line answers; none when it answers nothing.
pub(super) fn answer(line: &str, offers: usize) -> Option<(Decision, Option<String>)> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let said = Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
    if let Ok(number) = line.parse::<usize>() {
        // A number that is not offered is a slip, and no instruction.
        let index = number.checked_sub(1).filter(|index| *index < offers)?;
        return Some((Decision::Offer(index), None));
    }
    match word.to_ascii_lowercase().as_str() {
        "" => None,
        "y" | "yes" => Some((Decision::Once, said)),
        "n" | "no" => Some((Decision::Reject, said)),
        _ => Some((Decision::Reject, Some(line.to_owned()))),
    }
}

fn changed(text: &mut String, change: &Change) {
    let Change { path, moved_to, before, after } = change;
    let what = match (before, after, moved_to) {
        (_, _, Some(target)) => format!("  {path} becomes {target}"),
        (None, _, None) => format!("  {path} is new"),
        (Some(_), None, None) => format!("  {path} is deleted"),
        (Some(_), Some(_), None) => format!("  {path}"),
    };
    line(text, &what);
    let side = |text: &Option<_>| text.as_deref().map_or(String::new(), str::to_owned);
    let (before, after) = (side(before), side(after));
    for changed in diff::lines(&before, &after, CONTEXT) {
        line(text, &difference(&changed, &before, &after));
    }
}

fn difference(line: &DiffLine, before: &str, after: &str) -> String {
    let words = || visible(line.text(before, after)).text;
    match line.kind {
        DiffKind::Kept => format!("      {}", words()),
        DiffKind::Added => format!("    + {}", words()),
        DiffKind::Removed => format!("    - {}", words()),
        DiffKind::Skipped(_) => "      …".to_owned(),
        DiffKind::Heading => format!("    @ {}", words()),
        DiffKind::Omitted(lines) => format!("    ! {lines} more lines are not shown"),
    }
}

fn indented(text: &mut String, words: &str) {
    words.lines().for_each(|words| line(text, &format!("    {words}")));
}

fn line(text: &mut String, words: &str) {
    // Writing into a string cannot fail.
    let _infallible = writeln!(text, "{words}");
}
