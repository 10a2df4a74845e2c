//! `letterpress profile`: what rendering a history costs, honestly.
//!
//! A frame's CPU time is the egui pass, tessellation, upload and encoding. Submitting and
//! rasterising are left out: every eighth frame is rasterised, and waited for, between two
//! measurements, so that queues do not grow and the driver's threads do not compete with
//! the frame that is measured. Each scenario runs in a context and on a device of its own
//! that have shown the empty document before the file is opened.
//!
//! Cases that weigh memory run first, whatever their place in the report: what a process
//! has once held, its allocator keeps, and later growth would hide in it.

mod budget;
mod case;
mod compare;
mod giant;
mod plot;
mod report;
mod scenario;
mod script;
mod stage;
mod table;
mod trace;
mod window;
mod wire;

use std::io::{self, IsTerminal as _, Write as _};

use self::{
    case::{Case, Files, Setting},
    report::Report,
};
use super::{
    cli,
    error::{Error, Result},
    offscreen::Host,
};
use crate::perf;

/// What is to be printed, and how the command ends when it is.
#[derive(Debug)]
pub struct Outcome {
    /// A table or JSON, for stdout.
    pub text: String,
    /// Why it is no success although there is a result: something got worse.
    pub verdict: Result<()>,
}

/// Measures, or compares what was measured.
///
/// # Errors
/// No GPU, a file that cannot be opened or written, or one that does not come.
pub fn run(args: &cli::Profile, host: &dyn Host) -> Result<Outcome> {
    if let [before, after] = args.compare.as_slice() {
        return compare::run(before, after, args);
    }
    let files = Files::of(args)?;
    let setting = Setting::of(args);
    if args.trace.is_some() {
        drop(perf::take_recording());
        perf::record(true);
    }
    let reports = measure(args, &files, &setting, host);
    perf::record(false);
    let reports = reports?;
    if let Some(path) = &args.trace {
        trace::write(path, &reports, &perf::take_recording())?;
    }
    if let Some(path) = &args.plot {
        plot::draw(path, &reports, &setting)?;
    }
    let text = if args.json { wire::json(&reports) } else { table::table(&reports) };
    Ok(Outcome { text, verdict: Ok(()) })
}

/// The reports in the order of the cases.
fn measure(
    args: &cli::Profile,
    files: &Files,
    setting: &Setting,
    host: &dyn Host,
) -> Result<Vec<Report>> {
    let cases = case::cases(args, files);
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|case| !cases[*case].weighs_memory());
    let in_order: Vec<&Case> = order.iter().map(|case| &cases[*case]).collect();
    let reports = if args.window {
        window::run(&in_order, setting, host)?
    } else {
        let run = |case: &&Case| {
            say(&format!("{} with {} …", case.name, case.renderer.name()));
            scenario::run(case, setting, host)
        };
        in_order.iter().map(run).collect::<Result<Vec<_>>>()?
    };
    let mut reports: Vec<(usize, Report)> = order.into_iter().zip(reports).collect();
    reports.sort_by_key(|(case, _)| *case);
    Ok(reports.into_iter().map(|(_, report)| report).collect())
}

/// A word to whoever waits at a terminal.
fn say(line: &str) {
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        // A terminal that cannot be written to is no reason to stop measuring.
        writeln!(stderr, "profile: {line}").ok();
    }
}

/// A failure to write a file that is made only to be measured with.
fn unwritten(error: &io::Error) -> Error {
    Error::failed(
        format!("could not write the history: {}", super::error::io_words(error)),
        "the folder for temporary files",
    )
}
