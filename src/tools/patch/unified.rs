//! The unified form, as diff and git write it.

use super::{Action, FilePatch, Hunk, Line, PatchError};

pub(super) fn parse(text: &str) -> Result<Vec<FilePatch>, PatchError> {
    let lines: Vec<&str> = text.lines().collect();
    let mut reader = Reader { lines: &lines, at: 0 };
    let mut files = Vec::new();
    while let Some(file) = reader.file()? {
        files.push(file);
    }
    Ok(files)
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn peek_is(&self, prefix: &str) -> bool {
        self.peek().is_some_and(|line| line.starts_with(prefix))
    }

    /// The next file; none at the end.
    fn file(&mut self) -> Result<Option<FilePatch>, PatchError> {
        let mut renamed: (Option<String>, Option<String>) = (None, None);
        while let Some(line) = self.peek() {
            if line.starts_with("--- ")
                && self.lines.get(self.at + 1).is_some_and(|next| next.starts_with("+++ "))
            {
                if self.is_of_another(renamed.1.as_deref()) {
                    break;
                }
                return self.changed(line).map(Some);
            }
            if line.starts_with("@@ ") {
                return Err(PatchError("a hunk stands before any file".to_owned()));
            }
            if line.starts_with("diff --git ") && renamed.1.is_some() {
                break;
            }
            if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
                return Err(PatchError("binary patches cannot be applied".to_owned()));
            }
            self.at += 1;
            if let Some(path) = line.strip_prefix("rename from ") {
                renamed.0 = Some(path.trim_end().to_owned());
            } else if let Some(path) = line.strip_prefix("rename to ") {
                renamed.1 = Some(path.trim_end().to_owned());
            }
        }
        let (Some(path), moved_to @ Some(_)) = renamed else { return Ok(None) };
        Ok(Some(FilePatch { path, action: Action::Update { moved_to, hunks: Vec::new() } }))
    }

    /// The changes here are not those of the file that was just renamed.
    fn is_of_another(&self, renamed_to: Option<&str>) -> bool {
        let name = self.lines.get(self.at + 1).and_then(|line| name(line.get(4..)?));
        renamed_to.is_some_and(|target| {
            name.is_none_or(|name| name.strip_prefix("b/").unwrap_or(&name) != target)
        })
    }

    fn changed(&mut self, line: &str) -> Result<FilePatch, PatchError> {
        let old = name(line.get(4..).unwrap_or_default());
        let new = name(self.lines.get(self.at + 1).and_then(|line| line.get(4..)).unwrap_or(""));
        self.at += 2;
        let (old, new) = stripped(old, new);
        let mut hunks = Vec::new();
        while self.peek_is("@@ ") {
            hunks.push(self.hunk()?);
        }
        match (old, new) {
            (None, None) => Err(PatchError("a file of the patch has no name".to_owned())),
            (None, Some(path)) => Ok(FilePatch { path, action: Action::Add(added(&hunks)) }),
            (Some(path), None) => Ok(FilePatch { path, action: Action::Delete }),
            (Some(old), Some(_)) if hunks.is_empty() => {
                Err(PatchError(format!("nothing is changed in {old}")))
            }
            (Some(old), Some(new)) => {
                let moved_to = (old != new).then_some(new);
                Ok(FilePatch { path: old, action: Action::Update { moved_to, hunks } })
            }
        }
    }

    fn hunk(&mut self) -> Result<Hunk, PatchError> {
        let heading = self.peek().unwrap_or_default();
        let (line, old, new) = ranges(heading)
            .ok_or_else(|| PatchError(format!("the hunk heading {heading:?} cannot be read")))?;
        self.at += 1;
        let mut hunk = Hunk { line: Some(line), ..Hunk::default() };
        // Models miscount, so that a count only says which of two readings of a line is meant.
        let (mut old_left, mut new_left) = (old, new);
        while let Some(line) = self.peek() {
            let is_done = old_left == 0 && new_left == 0;
            let line = match line.chars().next() {
                Some('-') if !(is_done && self.begins_file()) => {
                    old_left = old_left.saturating_sub(1);
                    Line::Remove(rest(line))
                }
                Some('+') => {
                    new_left = new_left.saturating_sub(1);
                    Line::Add(rest(line))
                }
                Some('\\') => {
                    hunk.no_newline |= !matches!(hunk.lines.last(), Some(Line::Remove(_)));
                    self.at += 1;
                    continue;
                }
                Some(' ') => {
                    (old_left, new_left) = (old_left.saturating_sub(1), new_left.saturating_sub(1));
                    Line::Keep(rest(line))
                }
                None if !is_done => {
                    (old_left, new_left) = (old_left.saturating_sub(1), new_left.saturating_sub(1));
                    Line::Keep(String::new())
                }
                _ => break,
            };
            hunk.lines.push(line);
            self.at += 1;
        }
        if hunk.lines.is_empty() {
            return Err(PatchError(format!("the hunk {heading:?} has no lines")));
        }
        Ok(hunk)
    }

    /// `--- a` and `+++ b` begin a file, unless they are a line that goes and one that comes.
    fn begins_file(&self) -> bool {
        self.peek_is("--- ")
            && self.lines.get(self.at + 1).is_some_and(|line| line.starts_with("+++ "))
    }
}

fn rest(line: &str) -> String {
    let line = line.get(1..).unwrap_or_default();
    line.strip_suffix('\r').unwrap_or(line).to_owned()
}

/// The name in a heading, without the time that diff puts behind it.
fn name(text: &str) -> Option<String> {
    let name = text.split('\t').next().unwrap_or_default().trim_end();
    (!name.is_empty() && name != "/dev/null").then(|| name.to_owned())
}

/// Without the `a/` and `b/` of git, if both have them.
fn stripped(old: Option<String>, new: Option<String>) -> (Option<String>, Option<String>) {
    let has = |name: &Option<String>, prefix: &str| {
        name.as_ref().is_none_or(|name| name.starts_with(prefix))
    };
    if has(&old, "a/") && has(&new, "b/") {
        let strip = |name: Option<String>| name.and_then(|name| name.get(2..).map(str::to_owned));
        return (strip(old), strip(new));
    }
    (old, new)
}

/// `@@ -3,4 +3,5 @@` is line 3, 4 lines, 5 lines.
fn ranges(heading: &str) -> Option<(usize, usize, usize)> {
    let (ranges, _) = heading.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| -> Option<(usize, usize)> {
        match text.split_once(',') {
            Some((line, count)) => Some((line.parse().ok()?, count.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let ((line, old), (_, new)) = (range(old)?, range(new)?);
    Some((line, old, new))
}

fn added(hunks: &[Hunk]) -> String {
    let mut content = String::new();
    for line in hunks.iter().flat_map(|hunk| &hunk.lines) {
        if let Line::Add(text) = line {
            content.push_str(text);
            content.push('\n');
        }
    }
    if hunks.last().is_some_and(|hunk| hunk.no_newline) {
        content.pop();
    }
    content
}
