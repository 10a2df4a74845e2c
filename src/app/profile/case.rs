//! What is measured with what: one scenario, one renderer, one file.

use std::{
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use super::{giant, say, unwritten};
use crate::app::{
    cli::{self, Expand, Renderer, Renderers, Scenario},
    error::Result,
    synth,
};

/// One thing to measure.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// The scenario's name in reports.
    pub(super) name: &'static str,
    pub(super) scenario: Scenario,
    pub(super) renderer: Renderer,
    pub(super) file: PathBuf,
    /// What is cut short when it is closed would be no giant.
    pub(super) expand: Expand,
}

impl Case {
    /// True when what it says of memory is what it is for.
    pub(super) fn weighs_memory(&self) -> bool {
        matches!(self.scenario, Scenario::Memory | Scenario::Giant)
    }
}

/// What holds for all cases of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// Measured frames; none for what the scenario is made for.
    pub(super) frames: Option<u32>,
    pub(super) reply: Reply,
    /// In points.
    pub(super) size: [u32; 2],
    pub(super) scale: f32,
}

/// A reply that arrives while frames are measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reply {
    pub(super) bytes: usize,
    pub(super) chars_per_frame: usize,
}

impl Setting {
    pub(super) fn of(args: &cli::Profile) -> Self {
        let &cli::Profile { frames, reply_bytes, chars_per_frame, size, scale, .. } = args;
        let reply = Reply { bytes: reply_bytes, chars_per_frame };
        Self { frames, reply, size, scale }
    }

    /// Width and height in pixels of a size in points.
    pub(super) fn pixels(&self, size: [u32; 2]) -> [u32; 2] {
        size.map(|side| (side as f32 * self.scale).round() as u32)
    }
}

/// The files of a run; those that were made for it are gone with it.
pub(super) struct Files {
    given: Option<PathBuf>,
    made: Vec<(&'static str, NamedTempFile)>,
}

const SYNTHETIC: &str = "synthetic";

impl Files {
    /// Makes what is not given.
    pub(super) fn of(args: &cli::Profile) -> Result<Self> {
        let mut made = Vec::new();
        if let Some(messages) = args.synthetic {
            made.push((SYNTHETIC, synthetic(messages)?));
        }
        if matches!(args.scenario, Scenario::All | Scenario::Giant) {
            for giant in giant::ALL {
                say(&format!("writing a {} …", giant.name));
                made.push((giant.name, giant.file(args.giant_bytes)?));
            }
        }
        Ok(Self { given: args.file.clone(), made })
    }

    /// The history that most scenarios are played on.
    fn history(&self) -> Option<&Path> {
        self.given.as_deref().or_else(|| self.made(SYNTHETIC))
    }

    fn made(&self, name: &str) -> Option<&Path> {
        self.made.iter().find(|(made, _)| *made == name).map(|(_, file)| file.path())
    }
}

/// The same history every time, so that figures can be compared.
const SEED: u64 = 1;

fn synthetic(messages: u64) -> Result<NamedTempFile> {
    say(&format!("writing {messages} messages …"));
    temporary(|out| synth::write(synth::Request { messages, seed: SEED }, out))
}

/// A history that exists while it is measured with.
pub(super) fn temporary(
    write: impl FnOnce(&mut BufWriter<&mut NamedTempFile>) -> std::io::Result<()>,
) -> Result<NamedTempFile> {
    let made = tempfile::Builder::new().prefix("letterpress-").suffix(".jsonl").tempfile();
    let mut file = made.map_err(|error| unwritten(&error))?;
    let mut out = BufWriter::new(&mut file);
    write(&mut out).and_then(|()| out.flush()).map_err(|error| unwritten(&error))?;
    drop(out);
    Ok(file)
}

/// The cases in the order of their reports: each renderer goes through all scenarios.
pub(super) fn cases(args: &cli::Profile, files: &Files) -> Vec<Case> {
    let all = args.scenario == Scenario::All;
    let mut cases = Vec::new();
    for renderer in renderers(args) {
        for &scenario in scenarios(&args.scenario) {
            // The reference renderer lays out all of a giant in every frame: only for who
            // asks for just that.
            if scenario == Scenario::Giant && all && renderer == Renderer::Commonmark {
                continue;
            }
            let place = |(name, file, expand): (&'static str, &Path, Expand)| Case {
                name,
                scenario,
                renderer,
                file: file.to_owned(),
                expand,
            };
            cases.extend(subjects(scenario, files).into_iter().map(place));
        }
    }
    cases
}

/// What a scenario is played on, and its name in reports.
fn subjects(scenario: Scenario, files: &Files) -> Vec<(&'static str, &Path, Expand)> {
    if scenario == Scenario::Giant {
        let giants = giant::ALL.iter();
        return giants
            .filter_map(|giant| Some((giant.name, files.made(giant.name)?, Expand::All)))
            .collect();
    }
    let history = files.history().map(|file| (name(scenario), file, Expand::None));
    history.into_iter().collect()
}

fn renderers(args: &cli::Profile) -> Vec<Renderer> {
    const EACH: [Renderer; 3] = [Renderer::Retained, Renderer::Replay, Renderer::Commonmark];
    let mut chosen: Vec<Renderer> = Vec::new();
    for word in &args.renderer {
        match word {
            Renderers::One(renderer) => chosen.push(*renderer),
            Renderers::All => chosen.extend(EACH),
        }
    }
    // All scenarios are for comparing, so each renderer runs them, unless one was named.
    if chosen.is_empty() {
        let all = args.scenario == Scenario::All;
        chosen.extend(if all { EACH.as_slice() } else { &[Renderer::Retained] });
    }
    let mut seen = Vec::new();
    chosen.retain(|renderer| {
        let is_new = !seen.contains(renderer);
        seen.push(*renderer);
        is_new
    });
    chosen
}

fn scenarios(chosen: &Scenario) -> &[Scenario] {
    use Scenario::{All, Fling, Giant, Idle, Memory, Open, Resize, Scroll, Stream};
    match chosen {
        All => &[Open, Scroll, Fling, Stream, Resize, Idle, Giant, Memory],
        Open | Scroll | Fling | Stream | Resize | Idle | Giant | Memory => {
            std::slice::from_ref(chosen)
        }
    }
}

/// A scenario's name on the command line and in reports.
fn name(scenario: Scenario) -> &'static str {
    match scenario {
        Scenario::Open => "open",
        Scenario::Scroll => "scroll",
        Scenario::Fling => "fling",
        Scenario::Stream => "stream",
        Scenario::Resize => "resize",
        Scenario::Idle => "idle",
        Scenario::Giant => "giant",
        Scenario::Memory => "memory",
        Scenario::All => "all",
    }
}
