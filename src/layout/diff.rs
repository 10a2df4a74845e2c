//! Changes of a text, line by line, for cards of tools that edit.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput, Token};
use serde_json::Value;

/// Larger texts, in bytes, are not compared: all of the old one goes, all of the new one
/// comes.
const TEXT_BYTES: usize = 2_000_000;
/// Lines that occur more than once between the first change and the last, on both sides
/// together. Comparing many of them takes almost the square of their number.
const REPEATED_LINES: usize = 16_000;
/// Lines of one diff; what is behind them is counted, not shown.
const LINES: usize = 20_000;

/// One line of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    /// What happened to it.
    pub kind: DiffKind,
    /// Bytes of its text, without sign and newline: in the old text for removed lines,
    /// in the new one for all others. See [`DiffLine::text`].
    pub text: Range<usize>,
    /// Its number in the old text, from 1; none when it is not there or not known.
    pub old_no: Option<u32>,
    /// Its number in the new text, from 1; none when it is not there or not known.
    pub new_no: Option<u32>,
}

/// What happened to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffKind {
    /// It is in both texts.
    Kept,
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// Stands for this many unchanged lines; 0 when nobody says how many.
    Skipped(u32),
    /// A word about the lines below: the name of a file, the function a hunk is in.
    Heading,
    /// Stands for this many lines of the diff that are left out because it is too long.
    Omitted(u32),
}

impl DiffLine {
    /// The line's text. For a diff that was read from a patch, both texts are the patch.
    #[must_use]
    pub fn text<'a>(&self, old: &'a str, new: &'a str) -> &'a str {
        let side = if self.kind == DiffKind::Removed { old } else { new };
        side.get(self.text.clone()).unwrap_or_default()
    }
}

/// Added and removed lines of a diff.
#[must_use]
pub fn counts(lines: &[DiffLine]) -> (usize, usize) {
    let count = |kind| lines.iter().filter(|line| line.kind == kind).count();
    (count(DiffKind::Added), count(DiffKind::Removed))
}

/// Compares two texts by lines. Up to `context` unchanged lines are kept on each side of
/// a change; equal texts give no lines at all.
///
/// Texts over 2 MB, and those with very many equal lines, are not compared: every old line
/// is removed, every new one added. So it takes at most some 50 ms; ask once, not every
/// frame.
#[must_use]
pub fn lines(old: &str, new: &str, context: usize) -> Vec<DiffLine> {
    let mut sides = Sides { old: Cursor::new(old), new: Cursor::new(new), out: Out::default() };
    if old == new {
        return Vec::new();
    }
    if old.len().max(new.len()) > TEXT_BYTES {
        sides.removed(u32::MAX);
        sides.added(u32::MAX);
        return sides.out.finish();
    }
    for (i, hunk) in hunks(old, new).iter().enumerate() {
        let gap = hunk.before.start - sides.old.done;
        let (tail, head) = (if i == 0 { 0 } else { context }, context);
        sides.gap(gap, tail, head);
        sides.removed(hunk.before.len() as u32);
        sides.added(hunk.after.len() as u32);
    }
    sides.end(context);
    sides.out.finish()
}

fn hunks(old: &str, new: &str) -> Vec<Hunk> {
    let input = InternedInput::new(old, new);
    let (before, after) = (&input.before, &input.after);
    let pairs = || before.iter().zip(after);
    let head = pairs().take_while(|(a, b)| a == b).count();
    let backward =
        before.iter().rev().zip(after.iter().rev()).take(before.len().min(after.len()) - head);
    let tail = backward.take_while(|(a, b)| a == b).count();
    let changed = head..before.len() - tail;
    let into = head..after.len() - tail;
    let tokens = input.interner.num_tokens() as usize;
    let middle = [before.get(changed.clone()), after.get(into.clone())];
    if middle.into_iter().flatten().map(|side| repeated(side, tokens)).sum::<usize>()
        > REPEATED_LINES
    {
        let range = |range: Range<usize>| range.start as u32..range.end as u32;
        return vec![Hunk { before: range(changed), after: range(into) }];
    }
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    diff.hunks().collect()
}

/// How many lines of a side occurred on it before.
fn repeated(side: &[Token], tokens: usize) -> usize {
    let mut met = vec![false; tokens];
    side.iter().filter(|token| std::mem::replace(&mut met[token.0 as usize], true)).count()
}

/// Reads a patch: unified diffs as `diff -u` and git write them, with or without line
/// numbers, and the patches that `apply_patch` tools take. None when it is not a patch.
#[must_use]
pub fn unified(patch: &str) -> Option<Vec<DiffLine>> {
    let mut reader = PatchReader::default();
    let mut cursor = Cursor::new(patch);
    while let Some(range) = cursor.next() {
        let line = patch.get(range.clone()).unwrap_or_default();
        reader.line(line, range);
    }
    reader.is_patch.then(|| reader.out.finish())
}

/// Reads a diff whose lines carry a sign and a padded line number, as some agents store
/// them: `+ 12 text`, with `...` for lines that are left out. None when it is not one.
#[must_use]
pub fn numbered(text: &str) -> Option<Vec<DiffLine>> {
    let mut out = Out::default();
    let mut cursor = Cursor::new(text);
    // How far the new text's numbers are ahead of the old one's.
    let mut shift = 0_i64;
    while let Some(range) = cursor.next() {
        let line = text.get(range.clone()).unwrap_or_default();
        if line.trim() == "..." {
            out.push(DiffKind::Skipped(0), range.end..range.end, None, None);
            continue;
        }
        let (kind, number, length) = numbered_line(line)?;
        let moved = |by: i64| u32::try_from(i64::from(number) + by).ok();
        let (old_no, new_no) = match kind {
            DiffKind::Added => (None, Some(number)),
            DiffKind::Removed => (Some(number), None),
            _ => (Some(number), moved(shift)),
        };
        shift += i64::from(kind == DiffKind::Added) - i64::from(kind == DiffKind::Removed);
        out.push(kind, range.end - length..range.end, old_no, new_no);
    }
    (!out.lines.is_empty()).then(|| out.finish())
}

/// The kind of a numbered line, its number, and how many bytes its text has.
fn numbered_line(line: &str) -> Option<(DiffKind, u32, usize)> {
    let mut rest = line.chars();
    let kind = match rest.next()? {
        '+' => DiffKind::Added,
        '-' => DiffKind::Removed,
        ' ' => DiffKind::Kept,
        _ => return None,
    };
    let rest = rest.as_str().trim_start_matches(' ');
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, text) = rest.split_at_checked(digits)?;
    let text = match text.strip_prefix(' ') {
        Some(text) => text,
        None if text.is_empty() => text,
        None => return None,
    };
    Some((kind, number.parse().ok()?, text.len()))
}

/// The text of a patch that is stored as hunks
/// (`[{"oldStart": 1, "newStart": 1, "lines": ["-a", "+b"]}]`), for [`unified`].
#[must_use]
pub fn patch_text(hunks: &Value) -> Option<String> {
    let mut patch = String::new();
    for hunk in hunks.as_array()? {
        let number = |key: &str| hunk.get(key).and_then(Value::as_u64).unwrap_or(0);
        let (old, new) = (number("oldStart"), number("newStart"));
        let (old_lines, new_lines) = (number("oldLines"), number("newLines"));
        patch += &format!("@@ -{old},{old_lines} +{new},{new_lines} @@\n");
        for line in hunk.get("lines")?.as_array()? {
            // A line break inside a line would begin a line without a sign.
            patch.extend(line.as_str()?.chars().filter(|c| *c != '\n'));
            patch.push('\n');
        }
    }
    (!patch.is_empty()).then_some(patch)
}

/// The lines of a text, one after another.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// Lines that were taken.
    done: u32,
}

impl<'a> Cursor<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0, done: 0 }
    }

    /// The bytes of the next line, without its end.
    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let start = self.at;
        let length = rest.find('\n').map_or(rest.len(), |newline| newline + 1);
        self.at += length;
        self.done += 1;
        let line = rest.get(..length)?;
        Some(start..start + line.trim_end_matches(['\r', '\n']).len())
    }

    fn count_rest(&self) -> u32 {
        let rest = self.text.get(self.at..).unwrap_or_default();
        rest.split_inclusive('\n').count() as u32
    }
}

/// Lines that were found, as many as there may be.
#[derive(Default)]
struct Out {
    lines: Vec<DiffLine>,
    omitted: u32,
}

impl Out {
    fn push(
        &mut self,
        kind: DiffKind,
        text: Range<usize>,
        old_no: Option<u32>,
        new_no: Option<u32>,
    ) {
        if self.lines.len() < LINES {
            self.lines.push(DiffLine { kind, text, old_no, new_no });
        } else {
            self.omitted += 1;
        }
    }

    fn finish(mut self) -> Vec<DiffLine> {
        if self.omitted > 0 {
            let kind = DiffKind::Omitted(self.omitted);
            self.lines.push(DiffLine { kind, text: 0..0, old_no: None, new_no: None });
        }
        self.lines
    }
}

/// Both texts, walked at the same time.
struct Sides<'a> {
    old: Cursor<'a>,
    new: Cursor<'a>,
    out: Out,
}

impl Sides<'_> {
    fn removed(&mut self, count: u32) {
        for _ in 0..count {
            let Some(text) = self.old.next() else { return };
            self.out.push(DiffKind::Removed, text, Some(self.old.done), None);
        }
    }

    fn added(&mut self, count: u32) {
        for _ in 0..count {
            let Some(text) = self.new.next() else { return };
            self.out.push(DiffKind::Added, text, None, Some(self.new.done));
        }
    }

    /// Unchanged lines between two changes: `tail` of them behind the first, `head`
    /// before the second.
    fn gap(&mut self, count: u32, tail: usize, head: usize) {
        let (tail, head) = (clamp(tail, count), clamp(head, count));
        // A mark for one line takes as much room as the line.
        let skipped = count.saturating_sub(tail.saturating_add(head));
        if skipped <= 1 {
            return self.kept(count);
        }
        self.kept(tail);
        self.skip(skipped);
        self.kept(head);
    }

    /// What is behind the last change.
    fn end(&mut self, context: usize) {
        let rest = self.old.count_rest();
        self.gap(rest, context, 0);
    }

    fn kept(&mut self, count: u32) {
        for _ in 0..count {
            let (Some(_), Some(text)) = (self.old.next(), self.new.next()) else { return };
            self.out.push(DiffKind::Kept, text, Some(self.old.done), Some(self.new.done));
        }
    }

    fn skip(&mut self, count: u32) {
        for _ in 0..count {
            self.old.next();
            self.new.next();
        }
        let at = self.new.at;
        self.out.push(DiffKind::Skipped(count), at..at, None, None);
    }
}

fn clamp(wanted: usize, count: u32) -> u32 {
    u32::try_from(wanted).map_or(count, |wanted| wanted.min(count))
}

/// Where in a patch a reader is.
#[derive(Default)]
struct PatchReader {
    out: Out,
    is_patch: bool,
    in_hunk: bool,
    /// Numbers of the next lines, when the hunk says them.
    next: Option<(u32, u32)>,
    /// Lines of the hunk that are still to come on either side, when it says so.
    left: Option<(u32, u32)>,
    /// Number of the old line behind the last hunk of this file.
    old_end: Option<u32>,
    /// A line of this file's hunks was found.
    has_lines: bool,
}

impl PatchReader {
    fn line(&mut self, line: &str, range: Range<usize>) {
        let text = range.start + 1..range.end;
        let inside = self.in_hunk && !(self.left == Some((0, 0)) && ends_hunk(line));
        match line.as_bytes().first() {
            Some(b'@') if line.starts_with("@@") => self.hunk(line, &range),
            Some(b'+') if inside => self.push(DiffKind::Added, text),
            Some(b'-') if inside => self.push(DiffKind::Removed, text),
            Some(b' ') if inside => self.push(DiffKind::Kept, text),
            // Editors and models strip the blank that an empty kept line should have.
            None if inside => self.push(DiffKind::Kept, range),
            Some(b'\\') => {} // "No newline at end of file"
            _ => self.outside(line, &range),
        }
    }

    fn hunk(&mut self, line: &str, range: &Range<usize>) {
        self.is_patch = true;
        self.in_hunk = true;
        let parsed = hunk_header(line);
        self.next = parsed.as_ref().map(|h| (h.old.0, h.new.0));
        self.left = parsed.as_ref().map(|h| (h.old.1, h.new.1));
        let heading = parsed.as_ref().map_or_else(|| line.trim_matches(['@', ' ']), |h| h.heading);
        let skipped = match self.next {
            Some((start, _)) => Some(start.saturating_sub(self.old_end.unwrap_or(1))),
            // Without numbers nobody knows how many, only that there is a gap.
            None => self.has_lines.then_some(0),
        };
        if let Some(count) = skipped.filter(|n| *n > 0 || self.next.is_none()) {
            self.out.push(DiffKind::Skipped(count), range.end..range.end, None, None);
        }
        if !heading.is_empty() {
            self.out.push(DiffKind::Heading, place(line, range, heading), None, None);
        }
    }

    fn push(&mut self, kind: DiffKind, text: Range<usize>) {
        let (old, new) = (kind != DiffKind::Added, kind != DiffKind::Removed);
        let number = |side: bool, n: u32| side.then_some(n).filter(|n| *n > 0);
        let (old_no, new_no) =
            self.next.map_or((None, None), |(o, n)| (number(old, o), number(new, n)));
        let by = |n: u32, side: bool| n.saturating_add(u32::from(side));
        self.next = self.next.map(|(o, n)| (by(o, old), by(n, new)));
        self.old_end = self.next.map(|(o, _)| o);
        let less = |n: u32, side: bool| n.saturating_sub(u32::from(side));
        self.left = self.left.map(|(o, n)| (less(o, old), less(n, new)));
        self.has_lines = true;
        self.out.push(kind, text, old_no, new_no);
    }

    /// A line that belongs to no hunk: names of files are shown, the rest is noise.
    fn outside(&mut self, line: &str, range: &Range<usize>) {
        let starts = |marks: &[&str]| marks.iter().any(|mark| line.starts_with(mark));
        if starts(&["*** Begin Patch", "--- ", "diff --git "]) {
            self.is_patch |= !line.starts_with("--- ");
            self.leave_hunk();
        } else if starts(&["*** Add File: "]) {
            self.leave_hunk();
            self.in_hunk = true;
            self.next = Some((0, 1));
        } else if starts(&["*** Update File: ", "*** Delete File: ", "+++ ", "rename "]) {
            self.leave_hunk();
        } else {
            return;
        }
        if starts(&["+++ ", "*** Add", "*** Update", "*** Delete"]) {
            let name = place(line, range, name_of_file(line));
            self.out.push(DiffKind::Heading, name, None, None);
        }
    }

    fn leave_hunk(&mut self) {
        self.in_hunk = false;
        self.has_lines = false;
        (self.next, self.left, self.old_end) = (None, None, None);
    }
}

/// True for lines that end a hunk which has all the lines it promised. Without such a
/// line it goes on: models often count wrong.
fn ends_hunk(line: &str) -> bool {
    line.is_empty() || ["--- ", "+++ ", "-- "].iter().any(|mark| line.starts_with(mark))
}

/// The name in a line that names a file.
fn name_of_file(line: &str) -> &str {
    let name = line.split_once(": ").map_or(line, |(_, name)| name);
    let name = name.strip_prefix("+++ ").unwrap_or(name);
    let name = name.strip_prefix("b/").unwrap_or(name);
    name.split('\t').next().unwrap_or_default()
}

/// Bytes of a part of a line, where `range` is the whole line.
fn place(line: &str, range: &Range<usize>, part: &str) -> Range<usize> {
    let start = range.start + (part.as_ptr().addr() - line.as_ptr().addr());
    start..start + part.len()
}

struct HunkHeader<'a> {
    /// First line and number of lines.
    old: (u32, u32),
    new: (u32, u32),
    heading: &'a str,
}

/// Reads `@@ -1,2 +3,4 @@ heading`.
fn hunk_header(line: &str) -> Option<HunkHeader<'_>> {
    let (ranges, heading) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    Some(HunkHeader { old: line_range(old)?, new: line_range(new)?, heading: heading.trim() })
}

fn line_range(range: &str) -> Option<(u32, u32)> {
    match range.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((range.parse().ok()?, 1)),
    }
}
