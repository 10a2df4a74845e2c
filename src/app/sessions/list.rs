//! `letterpress sessions`.

use std::sync::Arc;

use serde_json::json;

use super::{
    super::{cli, error::Result, places::Places, timestamp::Iso},
    catalog, settle,
    table::{harmless, local, table},
};
use crate::store::catalog::Listed;

/// What `letterpress sessions` prints: a table, or with `--json` one object a line; those
/// that are pinned first. Empty when there are no sessions.
///
/// # Errors
/// When the system gives no thread.
pub fn list(args: cli::Sessions, places: &Places) -> Result<String> {
    if !places.data.exists() {
        return Ok(String::new());
    }
    let listing = settle(&catalog(places, Arc::new(|| ()))?)?;
    let is_wanted = |listed: &&Listed| args.all || !(listed.archived || listed.deleted);
    let mut sessions: Vec<&Listed> = listing.sessions.iter().filter(is_wanted).collect();
    sessions.sort_by_key(|listed| !listed.pinned);
    Ok(match args.json {
        true => sessions.into_iter().map(|listed| format!("{}\n", object(listed))).collect(),
        false => table(&sessions.into_iter().map(row).collect::<Vec<_>>()),
    })
}

fn row(listed: &Listed) -> [String; 5] {
    let title = if listed.title.is_empty() { "(nothing said yet)" } else { &*listed.title };
    let marks = [
        (listed.pinned, "pinned"),
        (listed.archived, "archived"),
        (listed.deleted, "deleted"),
        (listed.has_draft, "draft"),
    ];
    let mut last = harmless(title);
    for (_, mark) in marks.into_iter().filter(|(is_marked, _)| *is_marked) {
        last.push_str(&format!(" [{mark}]"));
    }
    let count = format!("{:>5}", listed.messages);
    [listed.id.to_string(), local(listed.updated_ms), count, harmless(&listed.model), last]
}

fn object(listed: &Listed) -> serde_json::Value {
    json!({
        "id": listed.id.as_str(),
        "title": *listed.title,
        "created": Iso(listed.created_ms).to_string(),
        "updated": Iso(listed.updated_ms).to_string(),
        "messages": listed.messages,
        "model": *listed.model,
        "pinned": listed.pinned,
        "archived": listed.archived,
        "deleted": listed.deleted,
        "has_draft": listed.has_draft,
        "preview": *listed.preview,
    })
}
