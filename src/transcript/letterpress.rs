//! Sessions of this program, as their logs stand: seen in passing and read in full.

pub(super) mod glance;
pub(super) mod log;
pub(super) mod read;

use serde_json::{Value, json};

use crate::model::record::{Kind, line};

/// The number of lines that are no part of a log, but were put between its lines by whoever
/// holds them.
const OUTSIDE: u64 = u64::MAX;

/// A line that says something to the reader and is no part of the log.
pub(super) fn note(words: &Value) -> String {
    let body = json!({ "kind": "note", "text": words }).to_string();
    line::write(OUTSIDE, Kind::Error, 0, &body).trim_end().to_owned()
}
