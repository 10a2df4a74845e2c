//! The command line: what can be asked of the program, and how it is spelled.
//!
//! `letterpress FILE` opens a file; `letterpress ./export` opens one whose name is also a
//! command's.

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use clap::{Args, Parser, Subcommand, ValueEnum, error::ErrorKind};

use super::{
    error::{Error, report},
    export::{self, Format, Images},
    synth,
};
use crate::{model::ThinkingLevel, view::wall::Night};

/// One call of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    /// What every command understands.
    pub general: General,
    /// What is to be done.
    pub command: Command,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Open a window on these files, or on the sample when there are none.
    Window {
        /// The files, in the order of their tabs.
        files: Vec<PathBuf>,
    },
    /// Open a window on a new conversation.
    Chat(Chat),
    /// Have one prompt answered without a window.
    Ask(Ask),
    /// Say which providers there are.
    Providers,
    /// Keep keys of providers.
    Keys(KeyWord),
    /// Draw a picture of a transcript without a window.
    Render(Render),
    /// Write a transcript in another format.
    Export(Export),
    /// Make up an agent history.
    Synth(Synth),
    /// Measure what showing a transcript costs.
    Profile(Profile),
    /// Show many conversations on a wall, as they happen.
    Watch(Watch),
    /// List your sessions.
    Sessions(Sessions),
    /// Find words in your sessions.
    Search(Search),
}

/// Reads this process's command line.
///
/// # Errors
/// The exit code when there is nothing to do: help and version were printed (0), or the
/// command line is wrong, which was said in one line on stderr (2).
pub fn parse() -> Result<Invocation, ExitCode> {
    parse_from(std::env::args_os()).map_err(|stop| match stop {
        Stop::Answer(text) => answer(&text),
        Stop::Wrong(error) => report(&error),
    })
}

/// Why there is nothing to do.
#[derive(Debug)]
pub enum Stop {
    /// The help or the version, which is the answer to what was asked.
    Answer(String),
    /// A wrong command line.
    Wrong(Error),
}

/// Reads a command line whose first word is the program's name.
///
/// # Errors
/// [`Stop`] when there is nothing to do.
pub fn parse_from(
    words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<Invocation, Stop> {
    let line = CommandLine::try_parse_from(words).map_err(|error| stop(&error))?;
    let command = match line.command {
        None => Command::Window { files: line.files },
        Some(_) if !line.files.is_empty() => {
            return Err(Stop::Wrong(Error::usage(
                "a command must come before its files; write ./NAME for a file named like one",
                "",
            )));
        }
        Some(Word::Chat(chat)) => Command::Chat(chat),
        Some(Word::Ask(ask)) => Command::Ask(ask),
        Some(Word::Providers) => Command::Providers,
        Some(Word::Keys(keys)) => Command::Keys(keys.word),
        Some(Word::Render(render)) => Command::Render(render),
        Some(Word::Export(export)) => Command::Export(export),
        Some(Word::Synth(synth)) => Command::Synth(synth),
        Some(Word::Profile(profile)) => Command::Profile(profile.checked()?),
        Some(Word::Watch(watch)) => Command::Watch(watch),
        Some(Word::Sessions(sessions)) => Command::Sessions(sessions),
        Some(Word::Search(search)) => Command::Search(search),
    };
    Ok(Invocation { general: line.general, command })
}

#[expect(clippy::print_stdout, reason = "help and version are the result that was asked for")]
fn answer(text: &str) -> ExitCode {
    print!("{text}");
    ExitCode::SUCCESS
}

fn stop(error: &clap::Error) -> Stop {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    ) {
        return Stop::Answer(error.to_string());
    }
    Stop::Wrong(Error::usage(complaint(&error.to_string()), "see letterpress --help"))
}

/// What is wrong, as one line: the first paragraph of clap's page without its "error: ".
fn complaint(page: &str) -> String {
    let first: Vec<&str> =
        page.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let line = first.join(" ");
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}

/// A GPU-accelerated native renderer for conversations with language models and agents.
#[derive(Debug, Parser)]
#[command(name = "letterpress", version, disable_help_subcommand = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Word>,
    /// Transcripts to open in a window; none opens the sample.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    general: General,
}

#[derive(Debug, Subcommand)]
enum Word {
    /// Open a window on a new conversation.
    Chat(Chat),
    /// Have one prompt answered, on stdout and without a window.
    Ask(Ask),
    /// List the providers, their keys and addresses, and which one would answer.
    Providers,
    /// Keep keys of providers in the system's keyring, or in a file.
    Keys(Keys),
    /// Draw a picture of a transcript without a window.
    Render(Render),
    /// Write a transcript as Markdown, HTML, JSON or text.
    Export(Export),
    /// Make up an agent history of N messages, as pi JSONL on stdout.
    Synth(Synth),
    /// Measure what showing a transcript costs.
    Profile(Profile),
    /// Show many conversations on a wall as they happen, read-only.
    Watch(Watch),
    /// List your sessions, those you pinned first, then the newest.
    Sessions(Sessions),
    /// Find words in your sessions: all of them in one message, "phrases" in quotes.
    Search(Search),
}

/// What every command understands.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct General {
    /// Folder for everything the program keeps.
    #[arg(long, value_name = "DIR", global = true, help_heading = "General")]
    pub data_dir: Option<PathBuf>,
    /// Settings file to use.
    #[arg(long, value_name = "FILE", global = true, help_heading = "General")]
    pub config: Option<PathBuf>,
    /// What to log on stderr.
    #[arg(long, value_name = "LEVEL", global = true, help_heading = "General")]
    pub log: Option<LogLevel>,
}

/// How much is logged; each level holds the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// `letterpress chat`.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct Chat {
    /// Go on with a session: its id, a beginning of it that no other has, its title, or the
    /// name of a new one. Otherwise a new one is begun.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// The folder that the model's tools work in; they ask first.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// What answers.
    #[command(flatten)]
    pub provider: ProviderFlags,
}

/// `letterpress ask`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The prompt; several words are joined by blanks, and - reads it from stdin.
    #[arg(value_name = "PROMPT", required = true)]
    pub prompt: Vec<String>,
    /// Print one JSON object a line for each thing that happens.
    #[arg(long)]
    pub json: bool,
    /// A picture to send with the prompt; may be given more than once.
    #[arg(long, value_name = "FILE")]
    pub image: Vec<PathBuf>,
    /// Go on with a session: its id, a beginning of it that no other has, its title, or the
    /// name of a new one. Otherwise a new one is begun.
    #[arg(long, value_name = "ID", conflicts_with = "no_save")]
    pub session: Option<String>,
    /// Keep nothing of it.
    #[arg(long)]
    pub no_save: bool,
    /// Which tools the model may use.
    #[arg(long, value_enum, default_value_t = Tools::None)]
    pub tools: Tools,
    /// How the model calls its tools.
    #[arg(long, value_enum, default_value_t = ToolGrammar::Native)]
    pub tool_grammar: ToolGrammar,
    /// The folder that its tools work in; otherwise the current one.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// What answers.
    #[command(flatten)]
    pub provider: ProviderFlags,
}

/// How a model calls its tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ToolGrammar {
    /// Through its provider.
    Native,
    /// With tags in its text, for models and servers that know no calls.
    Tags,
}

/// Which tools a model may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Tools {
    /// None.
    None,
    /// All, but it may only look around by itself: the rest is asked about on the terminal,
    /// and without one not done.
    Ask,
    /// All, within the folder; once it has read what others wrote it asks before commands
    /// and requests.
    Auto,
}

/// What answers a prompt, and how.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderFlags {
    /// A provider of `letterpress providers`; otherwise the one that is found.
    #[arg(long, value_name = "NAME", help_heading = "Provider")]
    pub provider: Option<String>,
    /// Its address, as the vendor's own SDK takes it.
    #[arg(long, value_name = "URL", help_heading = "Provider")]
    pub base_url: Option<String>,
    /// The model, by its provider's name for it.
    #[arg(long, value_name = "M", help_heading = "Provider")]
    pub model: Option<String>,
    /// What the model is told about its task.
    #[arg(long, value_name = "TEXT", help_heading = "Provider")]
    pub system: Option<String>,
    /// Tokens that a reply may have.
    #[arg(long, value_name = "N", help_heading = "Provider",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub max_tokens: Option<u32>,
    /// How much it should think; the settings say it, and no flag.
    #[arg(skip)]
    pub thinking: ThinkingLevel,
}

/// `letterpress keys`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// What is done with keys.
    #[command(subcommand)]
    pub word: KeyWord,
}

/// What is done with keys.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum KeyWord {
    /// Keep the key of a provider; it is read from stdin and never shown.
    Set {
        /// The provider.
        name: String,
        /// Keep it in a file instead of the system's keyring, where it is stored unencrypted.
        #[arg(long)]
        file: bool,
    },
    /// Take the key of a provider out of where it is kept.
    Rm {
        /// The provider.
        name: String,
    },
    /// Say which keys there are, and where; never the keys.
    List,
}

/// `letterpress render`.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct Render {
    /// The transcript.
    pub file: PathBuf,
    /// Where the picture goes; otherwise FILE's name with .png, in the current folder.
    #[arg(long, short, value_name = "OUT.png")]
    pub output: Option<PathBuf>,
    /// Width and height in points.
    #[arg(long, value_name = "WxH", default_value = "1400x900", value_parser = size)]
    pub size: [u32; 2],
    /// Pixels per point.
    #[arg(long, value_name = "S", default_value = "1", value_parser = scale)]
    pub scale: f32,
    /// Colours.
    #[arg(long, value_enum, default_value_t = Theme::Light)]
    pub theme: Theme,
    /// The place to show: the first message, the last, or message N counted from 1.
    #[arg(long, value_name = "start|end|N", default_value = "end", value_parser = at)]
    pub at: At,
    /// Which tool calls and reasoning stand open.
    #[arg(long, value_enum, default_value_t = Expand::None)]
    pub expand: Expand,
}

/// Colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Theme {
    Light,
    Dark,
}

/// A place in a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The first message at the top.
    Start,
    /// The last message at the bottom.
    End,
    /// This message, counted from 1, at the top.
    Message(u64),
}

/// Which tool calls and reasoning stand open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Expand {
    All,
    None,
}

/// `letterpress export`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// A transcript, or one of your sessions: its id, the beginning of it, or its title.
    #[arg(value_name = "FILE|SESSION")]
    pub subject: PathBuf,
    /// The format; otherwise by the ending of PATH, else md.
    #[arg(long, short, value_enum)]
    pub format: Option<Format>,
    /// Where it goes, whole or not at all; otherwise stdout.
    #[arg(long, short, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// The branch that ends in this message, instead of the active one.
    #[arg(long, value_name = "LEAF")]
    pub branch: Option<String>,
    /// Put pictures into the export; md, html, json and jsonl can hold them.
    #[arg(long)]
    pub images: bool,
    /// Write keys, passwords, headers and the paths of homes as they are, instead of
    /// covering them.
    #[arg(long)]
    pub unredacted: bool,
}

/// `letterpress synth`.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Synth {
    /// How many messages.
    #[arg(value_name = "N")]
    pub messages: u64,
    /// Chooses one of many histories; the same seed gives the same bytes.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// In which form.
    #[arg(long, value_enum, default_value_t)]
    pub format: synth::Form,
}

impl From<Export> for export::Request {
    fn from(words: Export) -> Self {
        let Export { subject, format, output, branch, images, unredacted } = words;
        let named = || output.as_deref().and_then(Format::of_path);
        let format = format.or_else(named).unwrap_or(Format::Md);
        let images = if images { Images::Inside } else { Images::Named };
        Self { subject, format, output, branch, images, unredacted }
    }
}

impl From<Synth> for synth::Request {
    fn from(Synth { messages, seed, .. }: Synth) -> Self {
        Self { messages, seed }
    }
}

/// `letterpress profile`.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct Profile {
    /// The transcript.
    #[arg(conflicts_with = "synthetic")]
    pub file: Option<PathBuf>,
    /// A made-up history of N messages instead of a file.
    #[arg(long, value_name = "N")]
    pub synthetic: Option<u64>,
    /// What is done to it.
    #[arg(long, value_enum, default_value_t = Scenario::All)]
    pub scenario: Scenario,
    /// What draws it: may be given more than once, or all. Otherwise retained, and with
    /// `--scenario all` each in turn.
    #[arg(long, value_name = "retained|replay|commonmark|all", value_parser = renderers)]
    pub renderer: Vec<Renderers>,
    /// Frames to measure in each scenario instead of the scenario's own number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub frames: Option<u32>,
    /// Length of the reply that arrives.
    #[arg(long, value_name = "N", default_value_t = 18 * 1024)]
    pub reply_bytes: usize,
    /// Characters of it that arrive in each frame.
    #[arg(long, value_name = "N", default_value_t = 96)]
    pub chars_per_frame: usize,
    /// Length of the giant message; the giant result is ten times as long.
    #[arg(long, value_name = "N", default_value_t = 10_000_000,
          value_parser = giant_bytes)]
    pub giant_bytes: usize,
    /// Width and height in points.
    #[arg(long, value_name = "WxH", default_value = "1400x900", value_parser = size)]
    pub size: [u32; 2],
    /// Pixels per point.
    #[arg(long, value_name = "S", default_value = "1", value_parser = scale)]
    pub scale: f32,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub json: bool,
    /// Measure in a window, with scrolling that comes as events.
    #[arg(long)]
    pub window: bool,
    /// Also write what was done when, for Chrome and Perfetto.
    #[arg(long, value_name = "OUT.json")]
    pub trace: Option<PathBuf>,
    /// Also draw how the times of frames are distributed.
    #[arg(long, value_name = "OUT.png")]
    pub plot: Option<PathBuf>,
    /// Measure nothing: hold what --json printed after a change against what it printed
    /// before. Exit code 1 when something got worse.
    #[arg(long, num_args = 2, value_names = ["BEFORE.json", "AFTER.json"], conflicts_with_all =
        ["file", "synthetic", "scenario", "renderer", "frames", "window", "trace", "plot"])]
    pub compare: Vec<PathBuf>,
    /// How much longer a frame may take before it got worse, in percent.
    #[arg(long, value_name = "PERCENT", default_value = "20", value_parser = threshold)]
    pub threshold: f64,
}

impl Profile {
    /// What clap cannot say: giants are made up, so they alone need no file.
    fn checked(self) -> Result<Self, Stop> {
        let has_subject = self.file.is_some()
            || self.synthetic.is_some()
            || self.scenario == Scenario::Giant
            || !self.compare.is_empty();
        if has_subject {
            return Ok(self);
        }
        Err(Stop::Wrong(Error::usage("name a transcript, or --synthetic N", "")))
    }
}

/// The renderers that one word of the command line names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renderers {
    /// This one.
    One(Renderer),
    /// Each in turn.
    All,
}

/// `letterpress watch`.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct Watch {
    /// What to follow: transcripts, folders of them, patterns, http(s) addresses, - for
    /// stdin, or the word agents for this user's pi and Claude Code sessions.
    #[arg(value_name = "SOURCE", required = true)]
    pub sources: Vec<OsString>,
    /// Fill the display, and take no input but scrolling; Ctrl+Shift+Q held leaves.
    #[arg(long)]
    pub kiosk: bool,
    /// Columns of panes; otherwise as many as suit their number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8))]
    pub columns: Option<u8>,
    /// Panes at a time; otherwise as many as have something to say.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=16))]
    pub places: Option<u8>,
    /// All panes of one size, or one large and the others beside it.
    #[arg(long, value_enum, default_value_t = WallLayout::Grid)]
    pub layout: WallLayout,
    /// The display to fill, counted from 0.
    #[arg(long, value_name = "N")]
    pub monitor: Option<usize>,
    /// Seconds until conversations that wait have their turn.
    #[arg(long, value_name = "SECS", default_value_t = 20,
          value_parser = clap::value_parser!(u32).range(2..=3600))]
    pub cycle: u32,
    /// Dim the wall at night, between two times of day such as 22:00-07:00.
    #[arg(long, value_name = "FROM-TO")]
    pub dim: Option<Night>,
    /// Show keys, tokens and passwords instead of covering them.
    #[arg(long)]
    pub unmasked: bool,
    /// A file of mode 0600 with the PIN that leaving the kiosk asks for; otherwise the PIN
    /// is that of `LETTERPRESS_KIOSK_PIN`, if it is set.
    #[arg(long, value_name = "FILE", requires = "kiosk")]
    pub pin: Option<PathBuf>,
    /// Colours.
    #[arg(long, value_enum, default_value_t = Theme::Dark)]
    pub theme: Theme,
    /// Draw a picture without a window, and end.
    #[arg(long, value_name = "OUT.png", conflicts_with_all = ["kiosk", "monitor"])]
    pub screenshot: Option<PathBuf>,
    /// Seconds to follow before the picture is drawn.
    #[arg(long, value_name = "SECS", default_value = "3", value_parser = seconds)]
    pub after: f32,
    /// Width and height of the picture in points.
    #[arg(long, value_name = "WxH", default_value = "1920x1080", value_parser = size)]
    pub size: [u32; 2],
    /// Pixels per point of the picture.
    #[arg(long, value_name = "S", default_value = "1", value_parser = scale)]
    pub scale: f32,
}

/// `letterpress sessions`.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sessions {
    /// Print one JSON object a line for each session.
    #[arg(long)]
    pub json: bool,
    /// Also those that are archived or deleted.
    #[arg(long)]
    pub all: bool,
}

/// `letterpress search`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// The words, and phrases in double quotes; several are joined by blanks.
    #[arg(value_name = "QUERY", required = true)]
    pub query: Vec<String>,
    /// Print one JSON object a line for each hit.
    #[arg(long)]
    pub json: bool,
    /// The most hits that are wanted.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = limit)]
    pub limit: usize,
}

/// How panes are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum WallLayout {
    Grid,
    Focus,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scenario {
    /// From opening the file to the first painted frame.
    Open,
    /// Steady scrolling through what is cached.
    Scroll,
    /// 1,000 pixels a frame through what is not.
    Fling,
    /// A reply that arrives below the history.
    Stream,
    /// A width that changes every frame.
    Resize,
    /// Nothing happens.
    Idle,
    /// A message of 10 MB, and a tool's result of 100 MB, which are made up.
    Giant,
    /// What is held after opening, reading and flinging through all of it.
    Memory,
    /// Each of these.
    All,
}

/// What draws the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Renderer {
    /// Finished messages are laid out once and printed from plates that stay on the GPU.
    Retained,
    /// Finished messages are laid out once and replayed through egui's painter.
    Replay,
    /// `egui_commonmark`, for comparison.
    Commonmark,
}

/// The largest side of a picture or window, in points.
const SIDE_MAX: u32 = 16_384;

fn size(text: &str) -> Result<[u32; 2], String> {
    let side = |word: &str| word.parse().ok().filter(|n| (16..=SIDE_MAX).contains(n));
    text.split_once(['x', 'X', '×'])
        .and_then(|(width, height)| Some([side(width)?, side(height)?]))
        .ok_or_else(|| format!("write WIDTHxHEIGHT, each from 16 to {SIDE_MAX}"))
}

fn renderers(text: &str) -> Result<Renderers, String> {
    match text {
        "all" => Ok(Renderers::All),
        word => Renderer::from_str(word, false)
            .map(Renderers::One)
            .map_err(|_unknown| "write retained, replay, commonmark or all".to_owned()),
    }
}

/// Ten times this fits on any disk.
const GIANT_MAX: usize = 1_000_000_000;

fn giant_bytes(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|bytes| (1..=GIANT_MAX).contains(bytes))
        .ok_or_else(|| format!("write a number from 1 to {GIANT_MAX}"))
}

/// More hits than anybody reads.
const HITS_MAX: usize = 10_000;

fn limit(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|hits| (1..=HITS_MAX).contains(hits))
        .ok_or_else(|| format!("write a number from 1 to {HITS_MAX}"))
}

fn threshold(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|percent| (0.0..=1000.0).contains(percent))
        .ok_or_else(|| "write a number from 0 to 1000".to_owned())
}

fn scale(text: &str) -> Result<f32, String> {
    text.parse()
        .ok()
        .filter(|scale| (0.25..=8.0).contains(scale))
        .ok_or_else(|| "write a number from 0.25 to 8".to_owned())
}

fn seconds(text: &str) -> Result<f32, String> {
    text.parse()
        .ok()
        .filter(|secs| (0.0..=86_400.0).contains(secs))
        .ok_or_else(|| "write a number of seconds, at most 86400".to_owned())
}

fn at(text: &str) -> Result<At, String> {
    match text {
        "start" => Ok(At::Start),
        "end" => Ok(At::End),
        number => number.parse().ok().filter(|n| *n > 0).map(At::Message).ok_or_else(|| {
            "write start, end or the number of a message, counted from 1".to_owned()
        }),
    }
}
