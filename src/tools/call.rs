//! A call as it is understood: which tool, with which arguments.

use std::time::Duration;

use serde_json::Value;
use url::Url;

use super::{
    arguments::{Arguments, BadArguments},
    edit::{self, Replacement},
    spec::Kind,
};

/// How long a command may take when the call does not say.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a command may take at most.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(3600);
/// Arguments of a command, counted.
const MAX_ARGV: usize = 1000;
/// Lines of context that a search may show around a match.
const MAX_CONTEXT: u64 = 10;

/// A call that was understood. It has not been judged, and nothing has been touched for it.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// Read a file.
    Read {
        /// Which.
        path: String,
        /// First line to read, counted from 1.
        first: Option<u64>,
        /// Last line to read.
        last: Option<u64>,
    },
    /// List a folder.
    List {
        /// Which.
        path: String,
        /// With what is in its folders.
        is_recursive: bool,
    },
    /// Find files by name.
    Glob {
        /// The pattern, relative to `path`.
        pattern: String,
        /// Where to look.
        path: String,
    },
    /// Search in files.
    Search(SearchFor),
    /// Write a whole file.
    Write {
        /// Which.
        path: String,
        /// What it is to hold.
        content: String,
    },
    /// Replace text in a file.
    Edit {
        /// Which.
        path: String,
        /// What, one after the other.
        edits: Vec<Replacement>,
    },
    /// Change files by a patch.
    Patch {
        /// A unified diff, or the form that starts with `*** Begin Patch`.
        patch: String,
    },
    /// Run a program.
    Command {
        /// What to run.
        line: CommandLine,
        /// Where; the workspace when the call does not say.
        folder: Option<String>,
        /// For how long at most.
        timeout: Duration,
    },
    /// Fetch a page.
    Fetch {
        /// Its address.
        url: Url,
    },
    /// Call a tool that lives elsewhere.
    Remote {
        /// Who has it.
        server: String,
        /// The tool's name, as the model knows it.
        tool: String,
        /// An object.
        arguments: Value,
    },
}

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandLine {
    /// A program and its arguments. No shell reads them. Never empty.
    Argv(Vec<String>),
    /// A line for the shell.
    Shell(String),
}

/// What to search for, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchFor {
    /// A regular expression.
    pub regex: String,
    /// Where to look.
    pub path: String,
    /// Only in files that this glob fits.
    pub files: Option<String>,
    /// Lines to show around a match.
    pub context: usize,
    /// Take upper and lower case for the same.
    pub ignore_case: bool,
}

impl Call {
    /// Understands a call of a built-in tool.
    ///
    /// # Errors
    ///
    /// When there is no such tool, or its arguments are not what it takes; the error says
    /// so in words for the model.
    pub fn parse(tool: &str, arguments: &Value) -> Result<Self, BadArguments> {
        let kind = Kind::of(tool).ok_or_else(|| BadArguments::unknown_tool(tool))?;
        let mut arguments = Arguments::new(tool, arguments)?;
        let call = Self::of_kind(kind, &mut arguments)?;
        arguments.finish()?;
        Ok(call)
    }

    fn of_kind(kind: Kind, from: &mut Arguments<'_>) -> Result<Self, BadArguments> {
        Ok(match kind {
            Kind::Read => Self::read(from)?,
            Kind::List => Self::List {
                path: from.path_or_here()?,
                is_recursive: from.flag("recursive")?.unwrap_or(false),
            },
            Kind::Glob => Self::Glob { pattern: from.text("pattern")?, path: from.path_or_here()? },
            Kind::Search => Self::Search(search(from)?),
            Kind::Write => Self::Write { path: from.path()?, content: from.content("content")? },
            Kind::Edit => Self::edit(from)?,
            Kind::Patch => Self::Patch { patch: from.content("input")? },
            Kind::Command => Self::command(from)?,
            Kind::Fetch => Self::Fetch { url: address(from)? },
            Kind::Remote => return Err(BadArguments::unknown_tool(from.tool())),
        })
    }

    /// Which tool it is of.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Read { .. } => Kind::Read,
            Self::List { .. } => Kind::List,
            Self::Glob { .. } => Kind::Glob,
            Self::Search(_) => Kind::Search,
            Self::Write { .. } => Kind::Write,
            Self::Edit { .. } => Kind::Edit,
            Self::Patch { .. } => Kind::Patch,
            Self::Command { .. } => Kind::Command,
            Self::Fetch { .. } => Kind::Fetch,
            Self::Remote { .. } => Kind::Remote,
        }
    }

    /// The name of its tool.
    #[must_use]
    pub fn tool(&self) -> &str {
        match self {
            Self::Remote { tool, .. } => tool,
            _ => self.kind().name(),
        }
    }

    fn read(from: &mut Arguments<'_>) -> Result<Self, BadArguments> {
        let (path, first, last) =
            (from.path()?, from.number("start_line")?, from.number("end_line")?);
        if first == Some(0) || last == Some(0) {
            return Err(from.bad("lines are counted from 1"));
        }
        if let (Some(first), Some(last)) = (first, last)
            && first > last
        {
            return Err(from.bad("start_line is behind end_line"));
        }
        Ok(Self::Read { path, first, last })
    }

    fn edit(from: &mut Arguments<'_>) -> Result<Self, BadArguments> {
        let path = from.path()?;
        if let Some(blocks) = from.optional_content("diff")? {
            let edits = edit::search_replace_blocks(&blocks).map_err(|why| from.bad(&why))?;
            return Ok(Self::Edit { path, edits });
        }
        let edit = Replacement {
            old: from.content("old_string")?,
            new: from.content("new_string")?,
            all: from.flag("replace_all")?.unwrap_or(false),
        };
        Ok(Self::Edit { path, edits: vec![edit] })
    }

    fn command(from: &mut Arguments<'_>) -> Result<Self, BadArguments> {
        let line = match from.list_or_text("command")? {
            Ok(argv) => CommandLine::Argv(argv),
            Err(line) => CommandLine::Shell(line),
        };
        match &line {
            CommandLine::Argv(argv) if argv.first().is_none_or(String::is_empty) => {
                return Err(from.bad("command must name a program"));
            }
            CommandLine::Argv(argv) if argv.len() > MAX_ARGV => {
                return Err(from.bad(&format!("command has more than {MAX_ARGV} arguments")));
            }
            CommandLine::Shell(line) if line.trim().is_empty() => {
                return Err(from.bad("command is empty"));
            }
            CommandLine::Argv(_) | CommandLine::Shell(_) => {}
        }
        let folder = from.optional_path("cwd")?;
        let timeout = match from.number("timeout")? {
            Some(0) => return Err(from.bad("timeout must be at least 1 second")),
            Some(secs) => Duration::from_secs(secs).min(MAX_TIMEOUT),
            None => DEFAULT_TIMEOUT,
        };
        Ok(Self::Command { line, folder, timeout })
    }
}

fn search(from: &mut Arguments<'_>) -> Result<SearchFor, BadArguments> {
    Ok(SearchFor {
        regex: from.text("regex")?,
        path: from.path_or_here()?,
        files: from.optional_text("file_pattern")?,
        context: from.number("context_lines")?.unwrap_or(0).min(MAX_CONTEXT) as usize,
        ignore_case: from.flag("ignore_case")?.unwrap_or(false),
    })
}

fn address(from: &mut Arguments<'_>) -> Result<Url, BadArguments> {
    let text = from.text("url")?;
    let url = Url::parse(text.trim())
        .map_err(|error| from.bad(&format!("url cannot be understood: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(from.bad("only http and https addresses can be fetched"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(from.bad("url names no host"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(from.bad("an address with a user name or password is not fetched"));
    }
    Ok(url)
}
