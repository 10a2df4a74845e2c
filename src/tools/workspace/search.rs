//! Searching in files.

use std::{io, path::Path};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::WalkState;

use super::{Workspace, list, words};
use crate::tools::{
    call::SearchFor,
    cancel::Stop,
    output::{MODEL_TEXT, ToolOutput},
    policy::{Place, What, is_private},
};

/// Matches that are shown.
const MAX_MATCHES: usize = 500;
/// Bytes of a line that are shown.
const MAX_LINE: usize = 400;
/// Bytes of a file that are searched at once; a longer line ends the search of its file.
const MAX_HEAP: usize = 16 * 1024 * 1024;

/// Searches in a file, or in all files below a folder that are not ignored. Files that may
/// hold keys are left out, unless one is named.
pub(in crate::tools) fn search(
    workspace: &Workspace,
    place: &Place,
    wanted: &SearchFor,
    stop: &Stop,
) -> ToolOutput {
    match search_in(workspace, place, wanted, stop) {
        Ok(found) => found.output(),
        Err(why) => ToolOutput::error(&why),
    }
}

fn search_in(
    workspace: &Workspace,
    place: &Place,
    wanted: &SearchFor,
    stop: &Stop,
) -> Result<Found, String> {
    let regex = matcher(wanted)?;
    let files = wanted.files.as_deref().map(list::matcher).transpose()?;
    let mut searcher = SearcherBuilder::new()
        .line_number(true)
        .binary_detection(BinaryDetection::quit(0))
        .before_context(wanted.context)
        .after_context(wanted.context)
        .heap_limit(Some(MAX_HEAP))
        .build();
    let mut found = Found::default();
    let failed = |error: io::Error| format!("{}: {}", place.asked, words(&error));
    if let What::File { .. } = place.what {
        let file = workspace.open_at(place).map_err(failed)?;
        found.file(&mut searcher, &regex, &file, &place.asked);
        return Ok(found);
    }
    let prefix = place.asked.trim_start_matches("./").trim_end_matches('/');
    list::walk(workspace, place, stop, &mut |below, is_folder| {
        let is_wanted = !is_folder
            && files.as_ref().is_none_or(|glob| glob.is_match(below))
            && !below.to_str().is_none_or(is_private);
        if is_wanted && let Ok(file) = workspace.open_below(place, below) {
            found.file(&mut searcher, &regex, &file, &shown(prefix, below));
        }
        if found.is_full { WalkState::Quit } else { WalkState::Continue }
    })
    .map_err(failed)?;
    Ok(found)
}

fn shown(prefix: &str, below: &Path) -> String {
    let below = below.to_string_lossy().replace('\\', "/");
    if matches!(prefix, "" | ".") { below } else { format!("{prefix}/{below}") }
}

fn matcher(wanted: &SearchFor) -> Result<RegexMatcher, String> {
    RegexMatcherBuilder::new()
        .case_insensitive(wanted.ignore_case)
        .size_limit(10 * 1024 * 1024)
        .dfa_size_limit(10 * 1024 * 1024)
        .line_terminator(Some(b'\n'))
        .build(&wanted.regex)
        .map_err(|error| format!("the regular expression cannot be understood: {error}"))
}

#[derive(Default)]
struct Found {
    text: String,
    matches: usize,
    files: usize,
    is_full: bool,
}

impl Found {
    fn file(
        &mut self,
        searcher: &mut Searcher,
        regex: &RegexMatcher,
        file: &std::fs::File,
        path: &str,
    ) {
        let before = self.matches;
        // A file that cannot be read to its end gave what it gave.
        drop(searcher.search_file(regex, file, Lines { found: self, path }));
        self.files += usize::from(self.matches > before);
    }

    fn line(&mut self, path: &str, number: Option<u64>, sign: char, bytes: &[u8]) {
        let line = String::from_utf8_lossy(bytes);
        let line = line.trim_end_matches(['\n', '\r']);
        let end = line.floor_char_boundary(MAX_LINE);
        let shown = line.get(..end).unwrap_or_default();
        let cut = if end < line.len() { " [… line cut]" } else { "" };
        let number = number.unwrap_or_default();
        self.text.push_str(&format!("{path}{sign}{number}{sign}{shown}{cut}\n"));
        self.is_full |= self.text.len() > MODEL_TEXT - 2 * MAX_LINE;
    }

    fn output(self) -> ToolOutput {
        if self.matches == 0 {
            return ToolOutput::text("(no match)");
        }
        let more = if self.is_full { "at least " } else { "" };
        let (matches, files) = (self.matches, self.files);
        let text = format!("{}[{more}{matches} lines in {files} files]", self.text);
        ToolOutput::text(&text)
    }
}

struct Lines<'a> {
    found: &'a mut Found,
    path: &'a str,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, line: &SinkMatch<'_>) -> io::Result<bool> {
        self.found.line(self.path, line.line_number(), ':', line.bytes());
        self.found.matches += 1;
        self.found.is_full |= self.found.matches >= MAX_MATCHES;
        Ok(!self.found.is_full)
    }

    fn context(&mut self, _searcher: &Searcher, line: &SinkContext<'_>) -> io::Result<bool> {
        self.found.line(self.path, line.line_number(), '-', line.bytes());
        Ok(!self.found.is_full)
    }

    fn context_break(&mut self, _searcher: &Searcher) -> io::Result<bool> {
        self.found.text.push_str("--\n");
        Ok(true)
    }
}
