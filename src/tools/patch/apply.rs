//! Applying hunks to a text.

use super::{Hunk, Line, PatchError};

/// How far a hunk may be from where it says it is, in lines.
const MAX_DRIFT: usize = 100_000;
/// Places that are compared for one patch, in lines; what is over it is not looked for.
const MAX_WORK: usize = 20_000_000;

/// Replaces the parts that the hunks name. Line ends stay as they are; lines that come get
/// those of the file.
///
/// # Errors
///
/// When a hunk's lines are not found; the error says which.
pub fn apply(text: &str, hunks: &[Hunk]) -> Result<String, PatchError> {
    let mut file = File::new(text);
    // Hunks stand in order, so each is looked for behind the one before it.
    let (mut from, mut drift) = (0, 0_isize);
    for (index, hunk) in hunks.iter().enumerate() {
        let old: Vec<&str> = hunk.lines.iter().filter_map(Line::old).collect();
        let at = file
            .place(hunk, &old, from, drift)
            .ok_or_else(|| not_found(index, hunks.len(), &old, &hunk.anchors))?;
        if let Some(line) = hunk.line.filter(|_| !old.is_empty()) {
            drift = at as isize - line.saturating_sub(1) as isize;
        }
        let grown = file.splice(at, hunk);
        drift += grown as isize - old.len() as isize;
        from = at + grown;
    }
    Ok(file.text())
}

impl Line {
    /// The line as it stands in the file before the patch, if it does.
    fn old(&self) -> Option<&str> {
        match self {
            Self::Keep(text) | Self::Remove(text) => Some(text),
            Self::Add(_) => None,
        }
    }
}

fn not_found(index: usize, count: usize, old: &[&str], anchors: &[String]) -> PatchError {
    let first = old.iter().find(|line| !line.trim().is_empty());
    let wanted = first.map(|line| (*line).to_owned()).or_else(|| anchors.first().cloned());
    let wanted: String = wanted.unwrap_or_default().chars().take(120).collect();
    let number = index + 1;
    PatchError(format!(
        "hunk {number} of {count} does not fit: its lines, from {wanted:?} on, were not found in \
         the file; read it again",
    ))
}

/// A text as lines with their ends.
struct File {
    lines: Vec<(String, &'static str)>,
    line_end: &'static str,
    work: usize,
}

impl File {
    fn new(text: &str) -> Self {
        let mut lines = Vec::new();
        for line in text.split_inclusive('\n') {
            lines.push(match line.strip_suffix("\r\n") {
                Some(line) => (line.to_owned(), "\r\n"),
                None => match line.strip_suffix('\n') {
                    Some(line) => (line.to_owned(), "\n"),
                    None => (line.to_owned(), ""),
                },
            });
        }
        let crlf = lines.iter().filter(|(_, end)| *end == "\r\n").count();
        let line_end = if crlf * 2 > lines.len() { "\r\n" } else { "\n" };
        Self { lines, line_end, work: 0 }
    }

    fn text(&self) -> String {
        self.lines.iter().flat_map(|(line, end)| [line.as_str(), end]).collect()
    }

    /// The line where a hunk begins.
    fn place(&mut self, hunk: &Hunk, old: &[&str], from: usize, drift: isize) -> Option<usize> {
        let mut from = from;
        for anchor in &hunk.anchors {
            from = self.find_line(anchor, from)? + 1;
        }
        if old.is_empty() {
            return Some(self.insertion(hunk, from, drift));
        }
        // White space at the end of lines is what models lose first, then that at the start.
        let loosenings: [fn(&str) -> &str; 3] = [|line| line, str::trim_end, str::trim];
        loosenings.into_iter().find_map(|loosen| self.find(hunk, old, from, drift, loosen))
    }

    /// Where lines come to stand when nothing says what is around them.
    fn insertion(&self, hunk: &Hunk, from: usize, drift: isize) -> usize {
        let end = self.lines.len();
        match hunk.line {
            // The unified form counts the line before.
            Some(line) => line.saturating_add_signed(drift).clamp(from, end.max(from)).min(end),
            None if hunk.is_at_end || hunk.anchors.is_empty() => end,
            None => from.min(end),
        }
    }

    fn find_line(&self, wanted: &str, from: usize) -> Option<usize> {
        let lines = self.lines.get(from..)?;
        let exact = lines.iter().position(|(line, _)| line == wanted);
        let at = exact.or_else(|| lines.iter().position(|(line, _)| line.trim() == wanted.trim()));
        Some(from + at?)
    }

    /// The place that fits and is nearest to where the hunk should be.
    fn find(
        &mut self,
        hunk: &Hunk,
        old: &[&str],
        from: usize,
        drift: isize,
        loosen: fn(&str) -> &str,
    ) -> Option<usize> {
        let last = self.lines.len().checked_sub(old.len())?;
        if last < from {
            return None;
        }
        if hunk.is_at_end && self.fits(last, old, loosen) {
            return Some(last);
        }
        let wanted = match hunk.line {
            Some(line) => line.saturating_sub(1).saturating_add_signed(drift).clamp(from, last),
            None => from,
        };
        for distance in 0..=MAX_DRIFT.min(last) {
            let below = wanted.checked_add(distance).filter(|at| *at <= last);
            let above = wanted.checked_sub(distance).filter(|at| *at >= from);
            if below.is_none() && above.is_none() {
                break;
            }
            let mut places = [below, above].into_iter().flatten();
            if let Some(at) = places.find(|at| self.fits(*at, old, loosen)) {
                return Some(at);
            }
        }
        None
    }

    fn fits(&mut self, at: usize, old: &[&str], loosen: fn(&str) -> &str) -> bool {
        for (wanted, (line, _)) in old.iter().zip(self.lines.get(at..).unwrap_or_default()) {
            self.work += 1;
            if self.work > MAX_WORK || loosen(line) != loosen(wanted) {
                return false;
            }
        }
        true
    }

    /// Puts a hunk's lines in place, and says how many they are.
    fn splice(&mut self, at: usize, hunk: &Hunk) -> usize {
        let old_count = hunk.lines.iter().filter_map(Line::old).count();
        let mut old = self.lines.get(at..at + old_count).unwrap_or_default().iter();
        let was_last = at + old_count == self.lines.len();
        let mut new: Vec<(String, &'static str)> = Vec::with_capacity(hunk.lines.len());
        let mut last_end = self.line_end;
        for line in &hunk.lines {
            match line {
                // The line of the file, not of the patch: white space may differ.
                Line::Keep(_) => new.extend(old.next().cloned()),
                Line::Remove(_) => last_end = old.next().map_or(self.line_end, |(_, end)| end),
                Line::Add(text) => new.push((text.clone(), self.line_end)),
            }
        }
        if let Some((_, end)) = new.last_mut().filter(|_| was_last) {
            // A file that had no line break at its end has none now, if its last line went.
            if hunk.no_newline || last_end.is_empty() {
                *end = "";
            }
        }
        self.end_line_before(at, &new);
        let count = new.len();
        self.lines.splice(at..at + old_count, new);
        self.end_inner_lines(at, count);
        count
    }

    /// Lines that come behind an unfinished last line finish it.
    fn end_line_before(&mut self, at: usize, new: &[(String, &'static str)]) {
        let line_end = self.line_end;
        if let Some((_, end)) = at.checked_sub(1).and_then(|before| self.lines.get_mut(before))
            && end.is_empty()
            && !new.is_empty()
        {
            *end = line_end;
        }
    }

    fn end_inner_lines(&mut self, at: usize, count: usize) {
        let (line_end, last) = (self.line_end, self.lines.len().saturating_sub(1));
        let inner = self.lines.iter_mut().enumerate().skip(at).take(count);
        for (index, (_, end)) in inner {
            if end.is_empty() && index < last {
                *end = line_end;
            }
        }
    }
}
