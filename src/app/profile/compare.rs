//! Two files that `profile --json` printed, held against each other.

use std::{fs::File, io::Read as _, path::Path};

use serde_json::{Value, json};

use super::{Outcome, table, wire::rounded};
use crate::app::{
    cli,
    error::{Error, Result},
};

/// Compares two files.
///
/// # Errors
/// A file that cannot be read, was not printed by `profile --json`, or two that have no
/// measurement in common.
pub(super) fn run(before: &Path, after: &Path, args: &cli::Profile) -> Result<Outcome> {
    let files = [read(before)?, read(after)?];
    let pairs = pairs(&files);
    if pairs.is_empty() {
        let places = format!("{}, {}", before.display(), after.display());
        return Err(Error::failed(
            "the files have no scenario, renderer and number of messages in common",
            places,
        ));
    }
    let text = if args.json {
        as_json(&pairs, args.threshold)
    } else {
        as_table(&files, &pairs, args.threshold)
    };
    let worse = pairs.iter().filter(|pair| pair.is_worse(args.threshold)).count();
    let verdict = match worse {
        0 => Ok(()),
        worse => Err(Error::failed(
            format!("{worse} of {} got worse by more than {} %", pairs.len(), args.threshold),
            after.display().to_string(),
        )),
    };
    Ok(Outcome { text, verdict })
}

/// What of a report is compared.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    key: Key,
    adapter: String,
    /// Milliseconds.
    p50: f64,
    p99: f64,
}

/// Reports with the same key measured the same thing.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    scenario: String,
    renderer: String,
    messages: u64,
}

struct Pair<'a> {
    before: &'a Entry,
    after: &'a Entry,
}

impl Pair<'_> {
    /// How many times as long it takes now: the median frame and the slow ones. None where
    /// it took no time before.
    fn ratios(&self) -> [Option<f64>; 2] {
        let ratio = |before: f64, after: f64| (before > 0.0).then(|| after / before);
        let Self { before, after } = self;
        [ratio(before.p50, after.p50), ratio(before.p99, after.p99)]
    }

    fn is_worse(&self, threshold_percent: f64) -> bool {
        let limit = 1.0 + threshold_percent / 100.0;
        let Self { before, after } = self;
        after.p50 > before.p50 * limit || after.p99 > before.p99 * limit
    }
}

/// More than any run prints.
const FILE_MAX_BYTES: u64 = 64 << 20;

fn read(path: &Path) -> Result<Vec<Entry>> {
    let place = || path.display().to_string();
    let cannot = |error: &std::io::Error| Error::io("cannot read the figures", error, path);
    let file = File::open(path).map_err(|error| cannot(&error))?;
    let mut text = Vec::new();
    file.take(FILE_MAX_BYTES + 1).read_to_end(&mut text).map_err(|error| cannot(&error))?;
    if text.len() as u64 > FILE_MAX_BYTES {
        return Err(Error::failed("this is too large for what profile --json prints", place()));
    }
    let value: Value = serde_json::from_slice(&text)
        .map_err(|error| Error::failed(format!("this is no JSON: {error}"), place()))?;
    let reports = match &value {
        Value::Array(reports) => reports.as_slice(),
        report => std::slice::from_ref(report),
    };
    let entries: Option<Vec<Entry>> = reports.iter().map(entry).collect();
    entries
        .filter(|entries| !entries.is_empty())
        .ok_or_else(|| Error::failed("this was not printed by profile --json", place()))
}

fn entry(report: &Value) -> Option<Entry> {
    let word = |key: &str| report.get(key)?.as_str().map(str::to_owned);
    let ms = |key: &str| report.get("cpu_ms")?.get(key)?.as_f64().filter(|ms| *ms >= 0.0);
    let messages = report.get("messages")?.as_u64()?;
    Some(Entry {
        key: Key { scenario: word("scenario")?, renderer: word("renderer")?, messages },
        adapter: word("adapter")?,
        p50: ms("p50")?,
        p99: ms("p99")?,
    })
}

fn pairs([before, after]: &[Vec<Entry>; 2]) -> Vec<Pair<'_>> {
    let partner = |before: &Entry| after.iter().find(|after| after.key == before.key);
    before.iter().filter_map(|entry| Some(Pair { before: entry, after: partner(entry)? })).collect()
}

fn as_json(pairs: &[Pair<'_>], threshold: f64) -> String {
    let figure = |before: f64, after: f64, ratio: Option<f64>| json!({"before": before, "after": after, "ratio": ratio.map(rounded)});
    let rows = pairs.iter().map(|pair| {
        let Pair { before, after } = pair;
        let [p50, p99] = pair.ratios();
        let Key { scenario, renderer, messages } = &before.key;
        json!({
            "scenario": scenario,
            "renderer": renderer,
            "messages": messages,
            "p50_ms": figure(before.p50, after.p50, p50),
            "p99_ms": figure(before.p99, after.p99, p99),
            "worse": pair.is_worse(threshold),
        })
    });
    let rows: Value = rows.collect();
    format!("{rows:#}\n")
}

const HEADINGS: [&str; 10] = [
    "scenario",
    "renderer",
    "messages",
    "p50 before",
    "after",
    "ratio",
    "p99 before",
    "after",
    "ratio",
    "",
];

fn as_table(files: &[Vec<Entry>; 2], pairs: &[Pair<'_>], threshold: f64) -> String {
    let mut text = String::from("CPU ms a frame; a ratio above 1 takes longer now\n\n");
    let rows: Vec<Vec<String>> = pairs.iter().map(|pair| row(pair, threshold)).collect();
    table::push_table(&mut text, table::WORDS, &HEADINGS.map(str::to_owned), &rows);
    let adapters = |entries: &[Entry]| entries.first().map(|entry| entry.adapter.clone());
    let [before, after] = [adapters(&files[0]), adapters(&files[1])].map(Option::unwrap_or_default);
    if before != after {
        text += &format!("\nnot on the same adapter: {before} before, {after} after\n");
    }
    for (entries, others, when) in
        [(&files[0], &files[1], "before"), (&files[1], &files[0], "after")]
    {
        for Entry { key, .. } in entries {
            if !others.iter().any(|other| other.key == *key) {
                let Key { scenario, renderer, messages } = key;
                text += &format!("only {when}: {scenario} {renderer}, {messages} messages\n");
            }
        }
    }
    text
}

fn row(pair: &Pair<'_>, threshold: f64) -> Vec<String> {
    let Pair { before, after } = pair;
    let Key { scenario, renderer, messages } = &before.key;
    let ratio = |ratio: Option<f64>| ratio.map_or_else(|| "-".to_owned(), |r| format!("{r:.2}"));
    let [p50, p99] = pair.ratios().map(ratio);
    let ms = |ms: f64| format!("{ms:.3}");
    let worse = if pair.is_worse(threshold) { "worse" } else { "" };
    vec![
        scenario.clone(),
        renderer.clone(),
        messages.to_string(),
        ms(before.p50),
        ms(after.p50),
        p50,
        ms(before.p99),
        ms(after.p99),
        p99,
        worse.to_owned(),
    ]
}
