//! The `letterpress` program: reads the command line and hands over.

use std::{io::IsTerminal as _, process::ExitCode};

use letterpress::app::{
    ask,
    cli::{self, Command},
    display,
    error::{Error, Result, report},
    export::{self, redact::Redaction},
    keys,
    places::Places,
    profile,
    providers::{self, Sources},
    render,
    secrecy::{self, Memory},
    sessions::{self, Named},
    shown::Letterpress,
    synth, watch,
    window::{self, Keep, Opener, Reopen, Start},
};
use letterpress::store::SessionId;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let invocation = match cli::parse() {
        Ok(invocation) => invocation,
        Err(code) => return code,
    };
    secrecy::guard_panics();
    log(invocation.general.log);
    secrecy::close_memory(memory(&invocation.command));
    match run(invocation.command, &invocation.general) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report(&error),
    }
}

fn run(command: Command, general: &cli::General) -> Result<()> {
    let opener = || Opener::of_settings(general.clone());
    let sources = || Sources::of_window(general);
    match command {
        Command::Window { files } => {
            let chat = files.is_empty().then(cli::ProviderFlags::default);
            let reopen = if files.is_empty() { Reopen::Instead } else { Reopen::Nothing };
            let (keep, sources) = (keep(general, reopen), sources()?);
            window(Start { files, chat, keep, sources, opener: opener(), ..Start::default() })
        }
        Command::Chat(cli::Chat { session, workspace, provider }) => {
            let session = session.map(|name| named(general, &name)).transpose()?;
            let (chat, keep) = (Some(provider), keep(general, Reopen::Beside));
            let (opener, sources) = (opener(), sources()?);
            window(Start { chat, workspace, session, keep, sources, opener, ..Start::default() })
        }
        Command::Ask(args) => ask::run(&args, general),
        Command::Providers => print(&providers::run(general)?),
        Command::Keys(word) => print(&keys::run(&word, general)?),
        Command::Render(args) => say_written(&render::run(&args, &Letterpress)?),
        Command::Export(args) => export(args, general),
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

/// Where a window keeps conversations; in memory alone when nothing says where.
fn keep(general: &cli::General, reopen: Reopen) -> Option<Keep> {
    let places = Places::find(general)?;
    Some(Keep { data: places.data, state: places.state, reopen })
}

/// The session of a name, which need not be there yet.
fn named(general: &cli::General, name: &str) -> Result<SessionId> {
    let places = sessions::places(general)?;
    match sessions::named(&sessions::store(&places)?, &places, name)? {
        Named::There(id) | Named::New(id) => Ok(id),
    }
}

/// Commands that hold keys and open no window are closed to all other programs.
fn memory(command: &Command) -> Memory {
    match command {
        Command::Ask(_) | Command::Providers | Command::Keys(_) => Memory::Closed,
        Command::Window { .. }
        | Command::Chat(_)
        | Command::Render(_)
        | Command::Export(_)
        | Command::Synth(_)
        | Command::Profile(_)
        | Command::Sessions(_)
        | Command::Search(_)
        | Command::Watch(_) => Memory::NoImage,
    }
}

/// Exports a transcript or a session, covered unless that is not wanted.
fn export(words: cli::Export, general: &cli::General) -> Result<()> {
    let places = Places::find(general);
    let home = places.as_ref().and_then(|places| places.home.as_deref());
    if words.unredacted {
        say("letterpress: keys, passwords and paths are written as they are");
    }
    let find = |name: &str| match &places {
        Some(places) => sessions::find_log(places, name),
        None => Ok(None),
    };
    export::run(&words.into(), Redaction::usual(home), &find).map(|_summary| ())
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
    // What tool servers say and are told is not for a log: it may hold anything. Nor is what
    // goes between this program and the keyring.
    let quiet = if matches!(level, "off" | "error") { level } else { "warn" };
    let directives = ["rmcp", "zbus", "secret_service"].map(|name| format!("{name}={quiet}"));
    let filter = tracing_subscriber::EnvFilter::new(format!("{level},{}", directives.join(",")));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(secrecy::Sink);
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
    eprintln!("{}", secrecy::redact(words));
}
