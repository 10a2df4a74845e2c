//! What was done when, in the trace event format of Chrome: one track a thread.
//!
//! The format is an object with the events in `traceEvents`. An event of phase `X` is a
//! stretch with a begin `ts` and a length `dur`, both in microseconds; `C` is a counter's
//! value from then on; `M` names a process or a thread.

use std::{
    fs::File,
    io::{self, BufWriter, Write as _},
    path::Path,
    time::Instant,
};

use serde::Serialize;
use serde_json::{Value, json};

use super::report::Report;
use crate::{
    app::error::{Error, Result},
    perf::{Recording, Span},
};

const PROCESS: u32 = 1;
/// The track of the scenarios. Threads are counted from 1.
const SCENARIOS: u32 = 0;

/// Writes what was recorded while the reports came to be.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write(path: &Path, reports: &[Report], recording: &Recording) -> Result<()> {
    let written = File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        serde_json::to_writer(&mut out, &trace(reports, recording)).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
        out.flush()
    });
    written.map_err(|error| Error::io("could not write the trace", &error, path))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Trace {
    trace_events: Vec<Event>,
    display_time_unit: &'static str,
    other_data: Value,
}

#[derive(Serialize)]
struct Event {
    name: String,
    cat: &'static str,
    ph: &'static str,
    /// Microseconds.
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    pid: u32,
    tid: u32,
    #[serde(skip_serializing_if = "Value::is_null")]
    args: Value,
}

fn trace(reports: &[Report], recording: &Recording) -> Trace {
    let begins = reports.iter().map(|report| report.began);
    let begin = begins.chain(recording.spans.iter().map(|span| span.start)).min();
    let mut events = Vec::new();
    if let Some(begin) = begin {
        let clock = Clock(begin);
        events.extend(recording.spans.iter().map(|span| clock.span(span)));
        for report in reports {
            events.push(clock.case(report));
            clock.push_marks(&mut events, report);
        }
    }
    // A stretch comes before those inside it.
    events.sort_by(|a, b| {
        a.ts.total_cmp(&b.ts).then(b.dur.unwrap_or(0.0).total_cmp(&a.dur.unwrap_or(0.0)))
    });
    let mut trace_events = names(recording);
    trace_events.append(&mut events);
    let adapter = reports.first().map(|report| report.adapter.as_str()).unwrap_or_default();
    let other_data = json!({
        "version": concat!("letterpress ", env!("CARGO_PKG_VERSION")),
        "adapter": adapter,
        "dropped_spans": recording.dropped,
    });
    Trace { trace_events, display_time_unit: "ms", other_data }
}

/// What the process and its threads are called.
fn names(recording: &Recording) -> Vec<Event> {
    let name = |what: &str, tid: u32, name: &str| Event {
        name: what.to_owned(),
        cat: "__metadata",
        ph: "M",
        ts: 0.0,
        dur: None,
        pid: PROCESS,
        tid,
        args: json!({"name": name}),
    };
    let mut names = vec![
        name("process_name", SCENARIOS, "letterpress profile"),
        name("thread_name", SCENARIOS, "scenarios"),
    ];
    names.extend(
        (1..).zip(&recording.threads).map(|(tid, thread)| name("thread_name", tid, thread)),
    );
    names
}

/// Counts microseconds from the first thing that was done.
struct Clock(Instant);

impl Clock {
    fn us(&self, at: Instant) -> f64 {
        at.saturating_duration_since(self.0).as_secs_f64() * 1e6
    }

    fn span(&self, span: &Span) -> Event {
        Event {
            name: span.name.to_owned(),
            cat: "scope",
            ph: "X",
            ts: self.us(span.start),
            dur: Some(span.duration.as_secs_f64() * 1e6),
            pid: PROCESS,
            tid: span.thread,
            args: Value::Null,
        }
    }

    fn case(&self, report: &Report) -> Event {
        let renderer = report.renderer.name();
        let took = report.ended.saturating_duration_since(report.began);
        Event {
            name: format!("{}, {renderer}", report.name),
            cat: "scenario",
            ph: "X",
            ts: self.us(report.began),
            dur: Some(took.as_secs_f64() * 1e6),
            pid: PROCESS,
            tid: SCENARIOS,
            args: json!({"scenario": report.name, "renderer": renderer}),
        }
    }

    fn push_marks(&self, events: &mut Vec<Event>, report: &Report) {
        for mark in &report.marks {
            let mut push = |name: &str, args: Value| {
                events.push(Event {
                    name: name.to_owned(),
                    cat: "counter",
                    ph: "C",
                    ts: self.us(mark.at),
                    dur: None,
                    pid: PROCESS,
                    tid: SCENARIOS,
                    args,
                });
            };
            push("uploaded", json!({"bytes": mark.uploaded_bytes}));
            if let Some(rss) = mark.rss {
                push("resident", json!({"MB": (rss as f64 / 1e5).round() / 10.0}));
            }
        }
    }
}
