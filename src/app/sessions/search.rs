//! `letterpress search`.

use std::sync::Arc;

use serde_json::json;

use super::{
    super::{
        cli,
        error::{Error, Result},
        places::Places,
        timestamp::Iso,
    },
    catalog, settle,
    table::{harmless, local},
};
use crate::store::catalog::{Found, Place, Question};

/// What `letterpress search` prints: a line for each hit, or with `--json` an object. What
/// was found is marked for a terminal. Empty when nothing was found.
///
/// # Errors
/// When the system gives no thread.
pub fn search(args: &cli::Search, places: &Places, is_terminal: bool) -> Result<String> {
    if !places.data.exists() {
        return Ok(String::new());
    }
    let catalog = catalog(places, Arc::new(|| ()))?;
    settle(&catalog)?;
    let words = args.query.join(" ");
    let question =
        Question { with_archived: true, is_thorough: true, ..Question::new(words, args.limit) };
    let findings = catalog
        .search(question)
        .blocking_recv()
        .map_err(|_gone| Error::failed("the index of sessions was lost", ""))?;
    let lines = findings.found.iter().map(|found| match args.json {
        true => format!("{}\n", object(found)),
        false => line(found, is_terminal),
    });
    Ok(lines.collect())
}

fn line(found: &Found, is_terminal: bool) -> String {
    let who = match &found.role {
        None => "title",
        Some(_) if found.place == Place::Calls => "tool",
        Some(role) => role.name(),
    };
    let snippet = match is_terminal {
        true => marked(found),
        false => harmless(&found.snippet),
    };
    format!("{}  {}  {who:<9}  {snippet}\n", found.session, local(found.time_ms))
}

/// The snippet with what was found in bold.
fn marked(found: &Found) -> String {
    let mut text = String::new();
    let mut end = 0;
    for range in &found.ranges {
        text.push_str(&harmless(found.snippet.get(end..range.start).unwrap_or_default()));
        let hit = harmless(found.snippet.get(range.clone()).unwrap_or_default());
        text.push_str(&format!("\u{1b}[1m{hit}\u{1b}[0m"));
        end = range.end;
    }
    text.push_str(&harmless(found.snippet.get(end..).unwrap_or_default()));
    text
}

fn object(found: &Found) -> serde_json::Value {
    let place = match found.place {
        Place::Title => "title",
        Place::Text => "text",
        Place::Calls => "calls",
    };
    json!({
        "session": found.session.as_str(),
        "title": *found.title,
        "message": found.message.map(|id| id.0),
        "role": found.role.as_ref().map(|role| role.name()),
        "time": Iso(found.time_ms).to_string(),
        "place": place,
        "snippet": *found.snippet,
        "ranges": found.ranges.iter().map(|range| [range.start, range.end]).collect::<Vec<_>>(),
    })
}
