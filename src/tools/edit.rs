//! Replacing text exactly, with care for line ends. Pure.

use std::{error::Error, fmt};

use memchr::memmem;

/// A text to replace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// What stands there.
    pub old: String,
    /// What is to stand there.
    pub new: String,
    /// Wherever it occurs; else it must occur once.
    pub all: bool,
}

/// Why a replacement cannot be made, in words for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditError {
    /// There is nothing to look for.
    Empty,
    /// Old and new are the same.
    NoChange,
    /// The text does not occur; the line where it almost does, if there is one.
    NotFound(Option<usize>),
    /// It occurs on these lines, and so many times.
    Ambiguous(Vec<usize>, usize),
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str(
                "the text to replace is empty; use write_to_file for a new file, or take in a \
                 line that stands beside the place",
            ),
            Self::NoChange => f.write_str("the new text is the same as the old one"),
            Self::NotFound(None) => {
                f.write_str("the text to replace does not occur in the file; read it again")
            }
            Self::NotFound(Some(line)) => write!(
                f,
                "the text to replace does not occur in the file; line {line} is like its first \
                 line but for white space, or what follows differs",
            ),
            Self::Ambiguous(lines, count) => {
                let lines: Vec<_> = lines.iter().map(usize::to_string).collect();
                write!(
                    f,
                    "the text to replace occurs {count} times, on lines {}; take in more of what \
                     is around it, or set replace_all",
                    lines.join(", ")
                )
            }
        }
    }
}

impl Error for EditError {}

/// Lines that an ambiguous text is told to be on.
const MAX_LINES_TOLD: usize = 10;

/// Makes one replacement after the other.
///
/// In a file whose lines all end in CRLF, line ends of the old and the new text stand for
/// CRLF whichever they are. Elsewhere a text is taken as it is, and with CRLF where that is
/// how it occurs.
///
/// # Errors
///
/// When one of them cannot be made. Then none is.
pub fn replace(text: &str, edits: &[Replacement]) -> Result<String, EditError> {
    let is_crlf = has_only_crlf(text);
    let mut text = if is_crlf { text.replace("\r\n", "\n") } else { text.to_owned() };
    for edit in edits {
        text = replace_one(&text, edit, is_crlf)?;
    }
    Ok(if is_crlf { text.replace('\n', "\r\n") } else { text })
}

fn has_only_crlf(text: &str) -> bool {
    let mut ends = memchr::memchr_iter(b'\n', text.as_bytes()).peekable();
    let is_crlf = |at: usize| at > 0 && text.as_bytes().get(at - 1) == Some(&b'\r');
    ends.peek().is_some() && ends.all(is_crlf)
}

fn replace_one(text: &str, edit: &Replacement, is_crlf: bool) -> Result<String, EditError> {
    if edit.old.is_empty() {
        return Err(EditError::Empty);
    }
    if edit.old == edit.new {
        return Err(EditError::NoChange);
    }
    if is_crlf {
        let (old, new) = (edit.old.replace("\r\n", "\n"), edit.new.replace("\r\n", "\n"));
        return substitute(text, &old, &new, edit.all);
    }
    match substitute(text, &edit.old, &edit.new, edit.all) {
        Err(EditError::NotFound(near)) if edit.old.contains('\n') && text.contains("\r\n") => {
            let crlf = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
            match substitute(text, &crlf(&edit.old), &crlf(&edit.new), edit.all) {
                Err(EditError::NotFound(_)) => Err(EditError::NotFound(near)),
                found => found,
            }
        }
        found => found,
    }
}

fn substitute(text: &str, old: &str, new: &str, all: bool) -> Result<String, EditError> {
    let found: Vec<usize> = memmem::find_iter(text.as_bytes(), old.as_bytes()).collect();
    match found.as_slice() {
        [] => Err(EditError::NotFound(near(text, old))),
        [at] => {
            let (head, tail) = (text.get(..*at), text.get(at + old.len()..));
            Ok([head.unwrap_or_default(), new, tail.unwrap_or_default()].concat())
        }
        _ if all => Ok(text.replace(old, new)),
        many => {
            let lines = many.iter().take(MAX_LINES_TOLD).map(|at| line_of(text, *at)).collect();
            Err(EditError::Ambiguous(lines, many.len()))
        }
    }
}

fn line_of(text: &str, at: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', text.as_bytes().get(..at).unwrap_or_default()).count()
}

/// The first line that differs from the first line of `old` in white space only.
fn near(text: &str, old: &str) -> Option<usize> {
    let first = old.lines().map(str::trim).find(|line| !line.is_empty())?;
    text.lines().position(|line| line.trim() == first).map(|index| index + 1)
}

/// The edits of the form that models of the tag grammar write:
///
/// ```text
/// ------- SEARCH
/// old
/// =======
/// new
/// +++++++ REPLACE
/// ```
///
/// # Errors
///
/// When a block is not closed or there is none; in words for the model.
pub fn search_replace_blocks(text: &str) -> Result<Vec<Replacement>, String> {
    let mut edits = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if !is_marker(line, &['-', '<'], "SEARCH") {
            if line.trim().is_empty() {
                continue;
            }
            return Err("diff must consist of SEARCH and REPLACE blocks".to_owned());
        }
        let old = until(&mut lines, is_divider).ok_or("a SEARCH block has no ======= after it")?;
        let new = until(&mut lines, |line| is_marker(line, &['+', '>'], "REPLACE"))
            .ok_or("a REPLACE block is not closed")?;
        edits.push(Replacement { old, new, all: false });
    }
    if edits.is_empty() { Err("diff has no SEARCH block".to_owned()) } else { Ok(edits) }
}

fn until<'a>(
    lines: &mut impl Iterator<Item = &'a str>,
    is_end: impl Fn(&str) -> bool,
) -> Option<String> {
    let mut text = String::new();
    for line in lines {
        if is_end(line) {
            return Some(text);
        }
        text.push_str(line);
        text.push('\n');
    }
    None
}

fn is_marker(line: &str, signs: &[char], word: &str) -> bool {
    let line = line.trim_end().trim_end_matches('>');
    let Some(rest) = line.strip_suffix(word) else { return false };
    let rest = rest.trim_end();
    rest.len() >= 3 && signs.iter().any(|sign| rest.chars().all(|c| c == *sign))
}

fn is_divider(line: &str) -> bool {
    let line = line.trim_end();
    line.len() >= 5 && line.bytes().all(|b| b == b'=')
}
