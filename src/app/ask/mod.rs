//! `letterpress ask`: one turn without a window.

mod json;
mod kept;
mod plain;
mod question;
mod servers;
mod told;
mod unattended;
mod user;

use std::{
    io::{self, IsTerminal as _, Read as _, Write},
    path::Path,
    sync::Arc,
};

pub use self::{kept::Kept, user::User};

use self::{json::Json, plain::Plain, told::Told, unattended::Unattended};
use super::{
    cli::{Ask, General, Tools},
    error::{Error, Result},
    providers::{self, Choice, Reason, Sources},
    secrecy,
    toolbox::{self, Toolkit},
};
use crate::{
    engine::live::{Engine, Session, workbench::Workbench},
    model::{
        Attachment, Command, Draft, Fate, Image, ImageData, Keeping, Phase, Snapshot, Ticket,
        ToolUse,
        stream::{EndState, Interruption},
    },
    perf,
    tools::policy,
};

/// Bytes that a prompt from stdin may have.
const PROMPT_LIMIT: u64 = 64 << 20;
/// Bytes that a picture may have.
const IMAGE_LIMIT: u64 = 20 << 20;
const TICKET: Ticket = Ticket(1);

/// Carries out `letterpress ask`.
///
/// # Errors
/// When the prompt cannot be read, nothing can answer it, or the answer is not complete.
pub fn run(args: &Ask, general: &General) -> Result<()> {
    let draft = draft(args)?;
    let kept = Kept::find(args, general)?;
    let engine = providers::engine()?;
    let sources = Sources::of_user(general)?;
    say_flaws(&sources);
    let args = &Ask { provider: sources.fill(&kept.flags(&args.provider)), ..args.clone() };
    let choice = engine.block_on(providers::choose(&engine.http(), &args.provider, &sources))?;
    if choice.reason == Reason::NothingFound {
        say(
            "letterpress: no key and no local server was found, so a recorded demo answers; see `letterpress providers`",
        );
    }
    let mut user = (args.tools != Tools::None).then(User::at_terminal).flatten();
    let toolkit = toolkit(args, general, &engine, user.as_mut())?;
    let out = io::stdout().lock();
    let desk = Desk {
        out: &mut io::BufWriter::new(out),
        is_terminal: io::stdout().is_terminal(),
        bench: toolkit.as_ref().map(|toolkit| Arc::clone(&toolkit.toolbox) as Arc<dyn Workbench>),
        user,
        kept,
    };
    let answered = answer(&engine, &choice, args, draft, desk);
    if let Some(servers) = toolkit.as_ref().and_then(|toolkit| toolkit.toolbox.servers()) {
        engine.block_on(servers::part(servers));
    }
    answered
}

/// What of the settings is not used.
fn say_flaws(sources: &Sources) {
    let now = sources.live().now();
    now.trouble.iter().for_each(|words| say(&format!("letterpress: {words}")));
    now.settings.flaws.iter().for_each(|flaw| say(&format!("letterpress: {flaw}")));
}

/// The tools that the command line wants.
fn toolkit(
    args: &Ask,
    general: &General,
    engine: &Engine,
    user: Option<&mut User>,
) -> Result<Option<Toolkit>> {
    if args.tools == Tools::None {
        return Ok(None);
    }
    let workspace = args.workspace.as_deref().unwrap_or_else(|| Path::new("."));
    let toolkit = toolbox::open(workspace, general, &engine.handle())?;
    for warning in &toolkit.warnings {
        say(&format!("letterpress: {}", policy::visible(warning).text));
    }
    if let Some(servers) = toolkit.toolbox.servers() {
        engine.block_on(servers::introduce(servers, &toolkit.pins, user))?;
    }
    Ok(Some(toolkit))
}

/// Where an answer goes, and what it may be made with.
pub struct Desk<'a> {
    /// Where the answer is written.
    pub out: &'a mut dyn Write,
    /// That is a terminal.
    pub is_terminal: bool,
    /// What runs the model's calls, as far as the command line lets it.
    pub bench: Option<Arc<dyn Workbench>>,
    /// Who is asked about calls; without anybody they are refused.
    pub user: Option<User>,
    /// The session that it is part of.
    pub kept: Kept,
}

/// Has a prompt answered by a provider, and writes what comes.
///
/// # Errors
/// When the answer is not complete, or cannot be written.
pub fn answer(
    engine: &Engine,
    choice: &Choice,
    args: &Ask,
    draft: Draft,
    desk: Desk<'_>,
) -> Result<()> {
    let Desk { out, is_terminal, bench, user, kept } = desk;
    engine.set_provider(Arc::clone(&choice.name), choice.provider.clone());
    let settings = kept.settings(choice.settings(&args.provider), args);
    let bench = match user {
        Some(_) => bench,
        None => bench.map(|bench| Arc::new(Unattended(bench)) as Arc<dyn Workbench>),
    };
    let mut session = match kept.opened(&settings, args)? {
        Some(opened) => engine.session_as(opened, bench, settings, Arc::new(|| {})),
        None => engine.session_at(bench, settings, Arc::new(|| {})),
    };
    if session.send(Command::Send(draft)).is_err() {
        return Err(Error::failed("the conversation could not be started", ""));
    }
    let printer: Box<dyn Printer> =
        if args.json { Box::new(Json) } else { Box::new(Plain::new(is_terminal)) };
    let followed = engine.block_on(follow(&mut session, printer, out, user));
    engine.block_on(session.close());
    match followed {
        Ok(last) => {
            if let Keeping::Unsaved(why) = &last.keeping {
                say(&format!("letterpress: it was not kept: {}", why.trim_end_matches('.')));
            }
            verdict(&last)
        }
        // A reader that has gone away wants no more of it.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Error::failed(format!("cannot write the answer: {error}"), "stdout")),
    }
}

fn tool_use(tools: Tools) -> ToolUse {
    match tools {
        Tools::None => ToolUse::Off,
        Tools::Ask => ToolUse::Ask,
        Tools::Auto => ToolUse::Auto,
    }
}

/// Writes what happens in a turn.
trait Printer {
    /// Something new.
    fn tell(&mut self, told: &Told<'_>, out: &mut dyn Write) -> io::Result<()>;
    /// The turn is over.
    fn end(&mut self, last: &Snapshot, out: &mut dyn Write) -> io::Result<()>;
}

async fn follow(
    session: &mut Session,
    mut printer: Box<dyn Printer>,
    out: &mut dyn Write,
    mut user: Option<User>,
) -> io::Result<Arc<Snapshot>> {
    let mut reader = told::Reader::default();
    let mut phase = Phase::Idle;
    let mut snapshot = session.snapshot();
    let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
    let mut is_stopping = false;
    loop {
        for told in reader.read(&snapshot) {
            printer.tell(&told, out)?;
            say_call(&told);
        }
        out.flush()?;
        if phase != snapshot.phase {
            phase = snapshot.phase;
            say_phase(phase);
        }
        let is_decided =
            matches!(snapshot.fate(TICKET), Some(Fate::Accepted(_) | Fate::Refused(..)));
        if is_decided && !phase.is_busy() {
            break;
        }
        if let Some(user) = &mut user {
            user.put(snapshot.question.as_ref())?;
        }
        tokio::select! {
            changed = session.changed() => match changed {
                Some(changed) => snapshot = changed,
                None => break,
            },
            answer = answer_of(&mut user) => {
                if session.send(answer?).is_err()
                    && let Some(user) = &mut user
                {
                    user.repeat();
                }
            }
            interrupted = &mut interrupt, if !is_stopping => {
                interrupted?;
                is_stopping = session.send(Command::Stop).is_ok();
            }
        }
    }
    printer.end(&snapshot, out)?;
    out.flush()?;
    Ok(snapshot)
}

/// What the user answers to the question that was put to him; never, when there is none.
async fn answer_of(user: &mut Option<User>) -> io::Result<Command> {
    match user {
        Some(user) => user.answer().await,
        None => std::future::pending().await,
    }
}

/// What the end of the turn means for the command.
fn verdict(last: &Snapshot) -> Result<()> {
    if let Some(Fate::Refused(refusal, _)) = last.fate(TICKET) {
        return Err(Error::usage(refusal.words().trim_end_matches('.'), ""));
    }
    match last.end.as_deref() {
        Some(EndState::Complete { .. }) => Ok(()),
        Some(EndState::Failed(error)) => {
            Err(Error::failed(error.to_string(), last.settings.provider.to_string()))
        }
        Some(EndState::Incomplete) => Err(Error::failed("the reply is cut off", "")),
        Some(EndState::Interrupted { cause: Interruption::Io(words), .. }) => {
            Err(Error::failed(format!("the connection was lost: {words}"), ""))
        }
        Some(EndState::Interrupted { cause: Interruption::Stalled, .. }) => {
            Err(Error::failed("the server fell silent", ""))
        }
        Some(EndState::Cancelled) => Err(Error::failed("cancelled", "")),
        None => Err(Error::failed("the conversation ended without an answer", "")),
    }
}

/// The prompt with its pictures.
fn draft(args: &Ask) -> Result<Draft> {
    let text = match args.prompt.as_slice() {
        [dash] if dash == "-" => from_stdin()?,
        words => words.join(" "),
    };
    let images = args.image.iter().map(|path| picture(path));
    let attachments = images.collect::<Result<_>>()?;
    let draft = Draft { ticket: TICKET, text: text.into(), attachments, ..Draft::default() };
    if draft.is_blank() {
        return Err(Error::usage("the prompt is empty", ""));
    }
    Ok(draft)
}

fn from_stdin() -> Result<String> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(PROMPT_LIMIT + 1).read_to_end(&mut bytes);
    read.map_err(|error| Error::failed(format!("cannot read the prompt: {error}"), "stdin"))?;
    if bytes.len() as u64 > PROMPT_LIMIT {
        return Err(Error::failed("the prompt is too long", "stdin"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn picture(path: &Path) -> Result<Attachment> {
    let io_error = |error: io::Error| Error::io("cannot read the picture", &error, path);
    let size = std::fs::metadata(path).map_err(io_error)?.len();
    if size > IMAGE_LIMIT {
        let words = format!("the picture is larger than {} MB", IMAGE_LIMIT >> 20);
        return Err(Error::failed(words, path.display().to_string()));
    }
    let bytes = std::fs::read(path).map_err(io_error)?;
    let format = image::guess_format(&bytes).ok().filter(|format| {
        use image::ImageFormat::{Gif, Jpeg, Png, WebP};
        matches!(format, Png | Jpeg | Gif | WebP)
    });
    let Some(format) = format else {
        let words = "it is no PNG, JPEG, GIF or WebP picture";
        return Err(Error::failed(words, path.display().to_string()));
    };
    Ok(Attachment::Image(Image {
        media_type: format.to_mime_type().into(),
        data: ImageData::Bytes(bytes.into()),
        size: None,
    }))
}

/// Which tools run and how they end, for those who sit in front of it.
fn say_call(told: &Told<'_>) {
    /// Characters of a call's arguments that are said.
    const ARGUMENTS: usize = 100;
    if !io::stderr().is_terminal() {
        return;
    }
    match told {
        Told::Call(call) => {
            let arguments = policy::visible(&call.arguments.to_string()).text;
            let shown: String = arguments.chars().take(ARGUMENTS).collect();
            let rest = if shown.len() < arguments.len() { "…" } else { "" };
            say(&format!("letterpress: {} {shown}{rest}", policy::visible(&call.name).text));
        }
        Told::Result(call, result) if result.is_error => {
            say(&format!("letterpress: {}: failed", policy::visible(&call.name).text));
        }
        Told::Result(..) | Told::Text { .. } | Told::Reasoning { .. } | Told::Warning(_) => {}
    }
}

/// Progress, for those who sit in front of it.
fn say_phase(phase: Phase) {
    if !io::stderr().is_terminal() {
        return;
    }
    match phase {
        Phase::Retrying { attempt, of, until } => {
            let wait = until.saturating_duration_since(perf::now()).as_secs_f64();
            say(&format!("letterpress: trying again in {wait:.1} s (attempt {attempt} of {of})"));
        }
        Phase::Stalled { .. } => say("letterpress: nothing has come for a while; still waiting"),
        Phase::Idle
        | Phase::Waiting { .. }
        | Phase::Streaming
        | Phase::Working { .. }
        | Phase::Asking { .. } => {}
    }
}

#[expect(clippy::print_stderr, reason = "words to the user of the command")]
fn say(words: &str) {
    eprintln!("{}", secrecy::redact(words));
}
