//! The `letterpress` program: reads the command line and hands over.

use std::{io::IsTerminal as _, process::ExitCode};

use letterpress::app::{
    ask,
    cli::{self, Command},
    display,
    error::{Error, Result, report},
    export, profile, providers, render, sessions,
    shown::Letterpress,
    synth, watch,
    window::{self, Opener, Start},
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let invocation = match cli::parse() {
        Ok(invocation) => invocation,
        Err(code) => return code,
    };
    log(invocation.general.log);
    match run(invocation.command, &invocation.general) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report(&error),
    }
}

fn run(command: Command, general: &cli::General) -> Result<()> {
    let opener = || Opener::of_settings(general.clone());
    match command {
        Command::Window { files } => {
            let chat = files.is_empty().then(cli::ProviderFlags::default);
            window(Start { files, chat, opener: opener(), ..Start::default() })
        }
        Command::Chat(cli::Chat { workspace, provider }) => {
            let chat = Some(provider);
            window(Start { chat, workspace, opener: opener(), ..Start::default() })
        }
        Command::Ask(args) => ask::run(&args, general),
        Command::Providers => print(&providers::run()?),
        Command::Render(args) => say_written(&render::run(&args, &Letterpress)?),
        Command::Export(args) => export::run(&args.into()).map(|_summary| ()),
        Command::Synth(args) => synth::run(args.into(), args.format),
        Command::Profile(args) => {
            let outcome = profile::run(&args, &Letterpress)?;
            print(&outcome.text)?;
            outcome.verdict
        }
        Command::Watch(args) => {
            watch::run(&args, display::exists())?.map_or(Ok(()), |picture| say_written(&picture))
        }
        Command::Sessions(args) => {
            let list = sessions::list(args, &sessions::places(general)?)?;
            print_or_say(&list, "letterpress: there are no sessions")
        }
        Command::Search(args) => {
            let is_terminal = std::io::stdout().is_terminal();
            let hits = sessions::search(&args, &sessions::places(general)?, is_terminal)?;
            print_or_say(&hits, "letterpress: nothing was found")
        }
    }
}

/// Opens a window; where there is no display, draws what it would have shown.
fn window(start: Start) -> Result<()> {
    if display::exists() {
        return window::run(start);
    }
    if !start.files.is_empty() {
        return Err(Error::failed("there is no display; use `letterpress render FILE`", ""));
    }
    say("letterpress: there is no display, so the sample conversation is drawn off-screen");
    say_written(&render::demo(&Letterpress)?)
}

/// Writes a result to stdout; says on stderr when there is none.
fn print_or_say(text: &str, none: &str) -> Result<()> {
    if text.is_empty() {
        say(none);
    }
    print(text)
}

/// Logs to stderr at a level; without one, warnings only.
fn log(level: Option<cli::LogLevel>) {
    let level = match level {
        Some(cli::LogLevel::Off) => "off",
        Some(cli::LogLevel::Error) => "error",
        Some(cli::LogLevel::Warn) | None => "warn",
        Some(cli::LogLevel::Info) => "info",
        Some(cli::LogLevel::Debug) => "debug",
        Some(cli::LogLevel::Trace) => "trace",
    };
    // What tool servers say and are told is not for a log: it may hold anything.
    let quiet = if matches!(level, "off" | "error") { level } else { "warn" };
    let filter = tracing_subscriber::EnvFilter::new(format!("{level},rmcp={quiet}"));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second subscriber is refused, which cannot happen in `main`.
    let _installed = subscriber.try_init();
}

fn say_written(path: &std::path::Path) -> Result<()> {
    print(&format!("{}\n", path.display()))
}

/// Writes a result to stdout. A reader that has gone away wants no more of it.
fn print(text: &str) -> Result<()> {
    use std::io::Write as _;
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::failed(format!("cannot write the result: {error}"), "stdout"))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

#[expect(clippy::print_stderr, reason = "a word to the user of the command")]
fn say(words: &str) {
    eprintln!("{words}");
}
