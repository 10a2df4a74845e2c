//! `letterpress profile`: what rendering a history costs, honestly.
//!
//! A frame's CPU time is the egui pass, tessellation, upload and encoding. Submitting and
//! rasterising are left out: every eighth frame is rasterised, and waited for, between two
//! measurements, so that queues do not grow and the driver's threads do not compete with
//! the frame that is measured. Each scenario runs in a context and on a device of its own
//! that have shown the empty document before the file is opened.

mod report;
mod scenario;
mod stage;

use std::{
    io::{self, BufWriter, IsTerminal as _, Write as _},
    path::Path,
};

use tempfile::NamedTempFile;

use self::{
    report::Report,
    scenario::{Plan, Reply},
};
use super::{
    cli::{self, Renderer, Scenario},
    error::{Error, Result, io_words},
    offscreen::Host,
    synth,
};

/// Measures and gives what is to be printed.
///
/// # Errors
/// No GPU, a file that cannot be opened, or one that does not come.
pub fn run(args: &cli::Profile, host: &dyn Host) -> Result<String> {
    let generated = args.synthetic.map(generate).transpose()?;
    let file = match (&generated, &args.file) {
        (Some(generated), _) => generated.path(),
        (None, Some(file)) => file,
        (None, None) => return Err(Error::usage("no file to measure with", "")),
    };
    let reports = measure(args, file, host)?;
    Ok(if args.json { report::json(&reports) } else { report::table(&reports) })
}

fn measure(args: &cli::Profile, file: &Path, host: &dyn Host) -> Result<Vec<Report>> {
    let mut reports = Vec::new();
    for &renderer in renderers(args) {
        for &scenario in scenarios(&args.scenario) {
            say(&format!("{} with {} …", scenario_name(scenario), renderer_name(renderer)));
            let plan = Plan {
                scenario,
                renderer,
                file,
                frames: args.frames,
                reply: Reply { bytes: args.reply_bytes, chars_per_frame: args.chars_per_frame },
                size: args.size,
                scale: args.scale,
            };
            reports.push(scenario::run(&plan, host)?);
        }
    }
    Ok(reports)
}

/// All scenarios are for comparing, so each renderer runs them, unless one was named.
fn renderers(args: &cli::Profile) -> &[Renderer] {
    match &args.renderer {
        Some(renderer) => std::slice::from_ref(renderer),
        None if args.scenario == Scenario::All => {
            &[Renderer::Retained, Renderer::Replay, Renderer::Commonmark]
        }
        None => &[Renderer::Retained],
    }
}

fn scenarios(chosen: &Scenario) -> &[Scenario] {
    use Scenario::{All, Fling, Idle, Open, Resize, Scroll, Stream};
    match chosen {
        All => &[Open, Scroll, Fling, Stream, Resize, Idle],
        Open | Scroll | Fling | Stream | Resize | Idle => std::slice::from_ref(chosen),
    }
}

/// A scenario's name on the command line and in reports.
fn scenario_name(scenario: Scenario) -> &'static str {
    match scenario {
        Scenario::Open => "open",
        Scenario::Scroll => "scroll",
        Scenario::Fling => "fling",
        Scenario::Stream => "stream",
        Scenario::Resize => "resize",
        Scenario::Idle => "idle",
        Scenario::All => "all",
    }
}

/// A renderer's name on the command line and in reports.
fn renderer_name(renderer: Renderer) -> &'static str {
    match renderer {
        Renderer::Retained => "retained",
        Renderer::Replay => "replay",
        Renderer::Commonmark => "commonmark",
    }
}

/// A word to whoever waits at a terminal.
fn say(line: &str) {
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        // A terminal that cannot be written to is no reason to stop measuring.
        writeln!(stderr, "profile: {line}").ok();
    }
}

/// The same history every time, so that figures can be compared.
const SEED: u64 = 1;

/// A history that exists while it is measured with.
fn generate(messages: u64) -> Result<NamedTempFile> {
    say(&format!("writing {messages} messages …"));
    let failed = |error: &io::Error| {
        Error::failed(
            format!("could not write the history: {}", io_words(error)),
            "the folder for temporary files",
        )
    };
    let mut file = tempfile::Builder::new()
        .prefix("letterpress-")
        .suffix(".jsonl")
        .tempfile()
        .map_err(|error| failed(&error))?;
    let mut out = BufWriter::new(&mut file);
    synth::write(synth::Request { messages, seed: SEED }, &mut out)
        .and_then(|()| out.flush())
        .map_err(|error| failed(&error))?;
    drop(out);
    Ok(file)
}
