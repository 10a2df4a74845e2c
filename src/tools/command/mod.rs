//! Running a program: its own process group, no input, few variables, an end in every case.

mod environment;
mod git;
mod kept;
mod plain;
mod process;
mod program;

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use tokio::{sync::mpsc, time::Instant};

use super::{
    cancel::Stop,
    output::{Exit, Progress, Stream, ToolOutput},
    spill::Spill,
};
use kept::Kept;
use process::{Event, Process};

pub use plain::plain_text;

pub(super) use environment::environment;
pub(super) use git::git_config;
pub(super) use program::{find_program, shell};

/// After a program has ended, how long its output is waited for. What it left behind may hold
/// it open for ever.
const DRAIN: Duration = Duration::from_millis(250);

/// What to run, as it was approved.
pub(super) struct Job {
    pub(super) program: PathBuf,
    /// Without the program's name.
    pub(super) arguments: Vec<String>,
    /// The name that the program is told it has.
    pub(super) name: String,
    pub(super) folder: PathBuf,
    pub(super) variables: Vec<(String, String)>,
    pub(super) timeout: Duration,
}

/// Whom a run tells of what happens, and who stops it.
pub(super) struct Watch<'a> {
    pub(super) call_id: &'a str,
    pub(super) stop: Stop,
    pub(super) progress: &'a mpsc::Sender<Progress>,
    pub(super) spill: Option<&'a Arc<dyn Spill>>,
}

/// Runs a program to its end, to the end of its time, or until it is stopped.
pub(super) async fn run(job: Job, watch: Watch<'_>) -> ToolOutput {
    let timeout = job.timeout;
    let mut process = match Process::start(&job) {
        Ok(process) => process,
        Err(error) => return ToolOutput::error(&format!("{} did not start: {error}", job.name)),
    };
    let mut kept = Kept::new(watch.spill.map(|spill| (Arc::clone(spill), watch.call_id)));
    let mut stop = watch.stop;
    let end = tokio::select! {
        // A stop outranks output, however much of it there is.
        biased;
        () = stop.due() => End::Stopped,
        () = tokio::time::sleep(timeout) => End::TimedOut,
        end = follow(&mut process, &mut kept, watch.progress) => end,
    };
    let exit = match end {
        End::Ended(exit) => exit,
        End::TimedOut => Exit::TimedOut,
        End::Stopped => Exit::Stopped,
    };
    if !matches!(end, End::Ended(_)) {
        process.catch_up(&mut kept);
    }
    process.end();
    finished(kept, exit, timeout)
}

/// Runs a program of our own choosing, and gives how it ended and up to `max` bytes of each of
/// what it wrote to its output and its errors. Dropping the future ends it.
pub(super) async fn collect(job: Job, max: usize) -> io::Result<(Exit, Vec<u8>, Vec<u8>)> {
    let timeout = job.timeout;
    let mut process = Process::start(&job)?;
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let all = async {
        let mut exit = None;
        loop {
            match process.event().await {
                Event::Output(stream, bytes) => {
                    let kept = if stream == Stream::Out { &mut out } else { &mut err };
                    let room = max - kept.len();
                    kept.extend_from_slice(bytes.get(..room).unwrap_or(&bytes));
                }
                Event::Exit(how) => exit = Some(how),
                Event::Silence => return exit.unwrap_or(Exit::Signal(0)),
            }
        }
    };
    let exit = tokio::time::timeout(timeout, all).await;
    process.end();
    Ok((exit.unwrap_or(Exit::TimedOut), out, err))
}

enum End {
    Ended(Exit),
    TimedOut,
    Stopped,
}

/// Takes output as it comes, until the program has ended and its output has, too.
async fn follow(process: &mut Process, kept: &mut Kept, progress: &mpsc::Sender<Progress>) -> End {
    let mut exit = None;
    let mut deadline = None;
    loop {
        let event = match deadline {
            None => process.event().await,
            // What it left behind may write for ever, too.
            Some(deadline) if deadline <= Instant::now() => break,
            Some(deadline) => match tokio::time::timeout_at(deadline, process.event()).await {
                Ok(event) => event,
                Err(_is_late) => break,
            },
        };
        match event {
            Event::Output(stream, bytes) => {
                kept.push(stream, &bytes);
                tell(progress, stream, bytes).await;
            }
            Event::Exit(how) => {
                exit = Some(how);
                deadline = Some(Instant::now() + DRAIN);
            }
            Event::Silence => break,
        }
    }
    End::Ended(exit.unwrap_or(Exit::Signal(0)))
}

/// Waits until there is room: a program that writes faster than it is watched is held back.
async fn tell(progress: &mpsc::Sender<Progress>, stream: Stream, bytes: Vec<u8>) {
    // Nobody needs to watch.
    drop(progress.send(Progress::Output { stream, bytes }).await);
}

fn finished(kept: Kept, exit: Exit, timeout: Duration) -> ToolOutput {
    let (parts, omitted, spill) = kept.finish();
    let mut output =
        ToolOutput { parts, omitted, spill, exit: Some(exit), ..ToolOutput::default() };
    let shown = plain_text(&output.shown_text());
    let body = super::output::clipped(shown.trim_end_matches('\n'));
    let mut notes = Vec::new();
    match exit {
        Exit::Code(0) if body.is_empty() => notes.push("(no output)".to_owned()),
        Exit::Code(0) => {}
        Exit::Code(code) => notes.push(format!("[exit code {code}]")),
        Exit::Signal(0) => notes.push("[how it ended is not known]".to_owned()),
        Exit::Signal(signal) => notes.push(format!("[ended by signal {signal}]")),
        Exit::TimedOut => notes.push(format!("[stopped after {} seconds]", timeout.as_secs())),
        Exit::Stopped => notes.push("[stopped by the user]".to_owned()),
    }
    if let Some(spill) = &output.spill {
        let whole = if spill.is_whole { "the whole" } else { "the first part of the" };
        notes.push(format!("[{whole} output, {} bytes, was kept for the user]", spill.bytes));
    }
    let gap = if body.is_empty() || notes.is_empty() { "" } else { "\n" };
    output.text = format!("{body}{gap}{}", notes.join("\n")).into();
    output.is_error = exit != Exit::Code(0);
    output
}
