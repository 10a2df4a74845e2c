//! Tool calls, their results, and the one function that says which state a call is in.

use std::sync::Arc;

use super::message::{Image, StopReason};

/// A call of a tool, together with its result once there is one.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The provider's id.
    pub id: Arc<str>,
    /// The tool's name.
    pub name: Arc<str>,
    /// Its arguments: an object, or whatever the model sent.
    pub arguments: serde_json::Value,
    /// Where it stands.
    pub state: ToolState,
    /// What came back.
    pub result: Option<Arc<ToolResult>>,
    /// How many earlier results with the same id this result replaced.
    pub superseded: u32,
    /// From the call to its result, when both times are known.
    pub duration_ms: Option<u64>,
}

/// What a tool gave back.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// Id of the call it answers.
    pub call_id: Arc<str>,
    /// The tool's name, when the source says.
    pub tool_name: Arc<str>,
    /// The tool says that it failed.
    pub is_error: bool,
    /// Its text.
    pub output: Output,
    /// What the model reads, where that is not the output as it is.
    pub told: Option<Arc<str>>,
    /// Its pictures.
    pub images: Vec<Image>,
    /// Structured extras of the source (exit code, diff …), else null.
    pub details: serde_json::Value,
}

/// A tool's text, ready to be set: escape sequences are gone, colours are runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The text as stored. Copying and exporting use this.
    pub source: Arc<str>,
    /// The text to show. The same pointer as `source` when nothing had to change.
    pub text: Arc<str>,
    /// Colours over `text`, ordered and not overlapping; the gaps are plain.
    pub runs: Arc<[SgrRun]>,
    /// Byte offset of the start of each line of `text`; empty for empty text.
    pub lines: Arc<[u32]>,
    /// Bytes left out of the middle because the record was too large to hold.
    pub omitted: u64,
}

/// A stretch of coloured output.
#[expect(clippy::struct_excessive_bools, reason = "a terminal's attributes are independent")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SgrRun {
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
    /// Text colour.
    pub foreground: SgrColor,
    /// Bold.
    pub bold: bool,
    /// Dim.
    pub dim: bool,
    /// Italic.
    pub italic: bool,
    /// Underlined.
    pub underline: bool,
}

/// A terminal colour, resolved against the theme when it is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SgrColor {
    /// The theme's text colour.
    #[default]
    Default,
    /// One of the 16 named colours.
    Indexed(u8),
    /// A colour of its own.
    Rgb(u8, u8, u8),
}

impl Output {
    /// Plain text without escape sequences.
    #[must_use]
    pub fn plain(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        Self { source: Arc::clone(&text), lines: line_starts(&text), text, ..Self::default() }
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let shown = if Arc::ptr_eq(&self.source, &self.text) { 0 } else { self.text.len() };
        self.source.len()
            + shown
            + self.runs.len() * size_of::<SgrRun>()
            + self.lines.len() * size_of::<u32>()
    }
}

/// Byte offset of the start of each line; a trailing newline opens no further line.
#[must_use]
pub fn line_starts(text: &str) -> Arc<[u32]> {
    if text.is_empty() {
        return Arc::new([]);
    }
    let body = text.strip_suffix('\n').unwrap_or(text);
    let after_newlines = body.bytes().enumerate().filter(|(_, b)| *b == b'\n');
    std::iter::once(0).chain(after_newlines.map(|(i, _)| i as u32 + 1)).collect()
}

/// Where a tool call stands. Exactly one holds at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolState {
    /// Its arguments are still arriving.
    Receiving,
    /// It waits for the user's word.
    Waiting,
    /// It is running.
    Running,
    /// It ended well.
    Ok,
    /// It ended badly.
    Error,
    /// The user stopped it before it ended.
    Aborted,
    /// The record ends without a result: the program was closed or crashed.
    NoResult,
    /// The request failed before the call could run.
    NotRun,
    /// The model hit its length limit inside the call, so it was not run.
    Truncated,
}

/// What decides a call's state.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToolSituation<'a> {
    /// The message that holds the call is still streaming.
    pub streaming: bool,
    /// The engine has the call in hand.
    pub pending: bool,
    /// The result's error flag, once there is a result.
    pub result_is_error: Option<bool>,
    /// Why the message stopped.
    pub stop: Option<&'a StopReason>,
}

impl ToolState {
    /// The state of a call. A result outranks everything, an abort outranks waiting.
    #[must_use]
    pub fn of(situation: ToolSituation<'_>) -> Self {
        let ToolSituation { streaming, pending, result_is_error, stop } = situation;
        match (result_is_error, stop) {
            (Some(true), _) => Self::Error,
            (Some(false), _) => Self::Ok,
            (None, Some(StopReason::Aborted)) => Self::Aborted,
            (None, Some(StopReason::Error)) => Self::NotRun,
            (None, Some(StopReason::Length)) => Self::Truncated,
            _ if pending => Self::Running,
            _ if streaming => Self::Receiving,
            _ => Self::NoResult,
        }
    }

    /// The word shown beside the mark.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Receiving => "receiving arguments",
            Self::Waiting => "waiting for approval",
            Self::Running => "running",
            Self::Ok => "done",
            Self::Error => "failed",
            Self::Aborted => "aborted",
            Self::NoResult => "no result",
            Self::NotRun => "not executed",
            Self::Truncated => "not executed (truncated)",
        }
    }

    /// The name used by exports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Aborted => "aborted",
            Self::NotRun | Self::Truncated => "not_run",
            Self::NoResult | Self::Receiving | Self::Waiting | Self::Running => "no_result",
        }
    }

    /// True while something is still going to happen.
    #[must_use]
    pub fn is_live(self) -> bool {
        matches!(self, Self::Receiving | Self::Waiting | Self::Running)
    }
}

/// A kind of call that only looks, and so may fold into a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LowStakes {
    /// Reads a file.
    Read,
    /// Lists a folder or names files.
    List,
    /// Searches in files.
    Search,
}

impl LowStakes {
    /// The kind of a tool by its name in any of the sources that are read.
    #[must_use]
    pub fn of(tool_name: &str) -> Option<Self> {
        match tool_name {
            "read" | "Read" | "read_file" | "readFile" | "NotebookRead" | "view" | "cat" => {
                Some(Self::Read)
            }
            "ls" | "LS" | "Glob" | "glob" | "find" | "list" | "list_files" | "list_dir"
            | "list_directory" | "listFilesTopLevel" | "listFilesRecursive" => Some(Self::List),
            "grep"
            | "Grep"
            | "search"
            | "search_files"
            | "searchFiles"
            | "list_code_definition_names"
            | "listCodeDefinitionNames" => Some(Self::Search),
            _ => None,
        }
    }
}
