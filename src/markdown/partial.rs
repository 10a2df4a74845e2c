//! The end of a text that is still arriving.
//!
//! Half a construct is shown as the whole one will look. Its closer is appended to the parser's
//! input, never to the text: the builder shows nothing that stands behind `visible`, so a wrong
//! guess costs a literal marker and no more.

use super::{
    lines::{self, Fence},
    openers,
    spans::{self, Found, Rules, Span, SpanKind},
    tail::is_wordly,
};

/// An unfinished HTML tag is held back for this many bytes.
pub(super) const TAG_HELD: usize = 64;

/// A paragraph longer than this is shown as it is so far.
const LEAF_LIMIT: usize = 16 * 1024;

/// A text made ready for the parser.
pub(super) struct Prepared {
    /// What the parser must not read.
    pub(super) found: Found,
    /// The parser's input; none when it is the text itself.
    pub(super) text: Option<String>,
    /// Bytes of the text that are shown.
    pub(super) visible: usize,
    /// Blocks that begin before this byte stay begun, whatever follows.
    pub(super) settled: usize,
    /// A byte at the start of a word before which no inline construct is open.
    pub(super) safe: Option<usize>,
    /// The end of the last word, when more words would only lengthen what is shown.
    pub(super) fluent: Option<usize>,
    /// Whether the text goes on.
    pub(super) streaming: bool,
}

/// A text that ends here.
pub(super) fn finished(text: &str, rules: Rules) -> Prepared {
    as_it_is(text, Rules { streaming: false, ..rules })
}

/// The front of a longer text, whose end will be read again.
pub(super) fn cut_short(text: &str, rules: Rules) -> Prepared {
    as_it_is(text, Rules { streaming: true, ..rules })
}

fn as_it_is(text: &str, rules: Rules) -> Prepared {
    let found = spans::find(text, rules);
    let masked = (!found.spans.is_empty()).then(|| spans::mask(text, &found.spans));
    Prepared {
        found,
        text: masked,
        visible: text.len(),
        settled: text.len(),
        safe: None,
        fluent: None,
        streaming: rules.streaming,
    }
}

/// A text that goes on.
pub(super) fn open(text: &str, rules: Rules) -> Prepared {
    let mut found = spans::find(text, Rules { streaming: true, ..rules });
    let last = last_line(text);
    let line = text.get(last..).unwrap_or_default();
    let mut end = End { visible: text.len(), closers: String::new(), safe: None, fluent: false };
    match open_fence(text.get(..last).unwrap_or_default()) {
        Some(fence) if fence.closes(line.as_bytes()) => {}
        Some(fence) if half_closes(line, fence) => end.visible = last,
        Some(fence) if line.is_empty() || !fence.is_left_by(line.as_bytes()) => {}
        None if Fence::opens(line.as_bytes()).is_some() => {}
        _ => end = paragraph_end(text, last, &mut found.spans),
    }
    let End { visible, closers, safe, fluent } = end;
    let settled = settled(text, visible);
    clip(&mut found.spans, visible);
    let plain = found.spans.is_empty() && closers.is_empty() && visible == text.len();
    let prepared = (!plain)
        .then(|| spans::mask(text.get(..visible).unwrap_or_default(), &found.spans) + &closers);
    let fluent = (fluent && settled == text.len()).then(|| text.trim_end().len());
    Prepared { found, text: prepared, visible, settled, safe, fluent, streaming: true }
}

/// Blocks that begin before this byte stay begun. What is held back settles nothing.
fn settled(text: &str, visible: usize) -> usize {
    let (shown, held) = text.split_at_checked(visible).unwrap_or((text, ""));
    let shown = if held.trim().is_empty() { text } else { shown };
    let last = last_line(shown);
    if shown.get(last..).is_none_or(is_settled) { text.len() } else { last }
}

/// How the end of a text is shown.
struct End {
    visible: usize,
    closers: String,
    safe: Option<usize>,
    fluent: bool,
}

fn paragraph_end(text: &str, last: usize, spans: &mut Vec<Span>) -> End {
    let mut end = End { visible: text.len(), closers: String::new(), safe: None, fluent: false };
    match hold_back(text, last) {
        Held::Nothing => {}
        Held::Hidden(from) => end.visible = from,
        Held::Literal(from) => {
            let to = text.trim_end().len();
            if spans.last().is_none_or(|span| span.range.end <= from) {
                spans.push(Span { range: from..to, kind: SpanKind::Literal });
            }
        }
    }
    let shown = text.get(..end.visible).unwrap_or_default();
    if paragraph_is_open(shown) {
        let trimmed = shown.trim_end().len();
        let leaf = leaf_start(shown.get(..trimmed).unwrap_or_default());
        if trimmed - leaf > LEAF_LIMIT {
            return end;
        }
        let mut open = openers::find(text, leaf..trimmed, spans);
        end.safe = open.safe;
        end.fluent = open.fluent && open.cut == trimmed && words_go_on(text, trimmed);
        let line = shown.get(last_line(shown.trim_end())..open.cut).unwrap_or_default();
        if !line.chars().any(char::is_alphanumeric) || line.contains("]:") {
            // Closers behind nothing but markers would make a rule or a fence of them, and
            // behind a definition they would lengthen its address.
            open.closers.clear();
        }
        if open.cut < trimmed || !open.closers.is_empty() {
            end.visible = open.cut;
            end.closers = open.closers;
        }
    }
    end
}

/// True when the text ends within a line, in a word or behind one that is no address.
fn words_go_on(text: &str, trimmed: usize) -> bool {
    let (body, space) = text.split_at_checked(trimmed).unwrap_or((text, ""));
    let word = body.rsplit(char::is_whitespace).next().unwrap_or_default();
    let plain = word.chars().all(is_wordly) && !word.starts_with("www") && !word.is_empty();
    plain && space.chars().all(|c| c == ' ') && word.ends_with(char::is_alphanumeric)
}

/// Ends the spans at the end of what is shown.
fn clip(spans: &mut Vec<Span>, visible: usize) {
    spans.retain(|span| span.range.start < visible);
    if let Some(last) = spans.last_mut() {
        last.range.end = last.range.end.min(visible);
        if let SpanKind::Math { inner, .. } | SpanKind::Footnote(inner) = &mut last.kind {
            inner.end = inner.end.min(visible);
            inner.start = inner.start.min(inner.end);
        }
    }
}

/// Where the last line begins; the end of a text that ends with a line end.
pub(super) fn last_line(text: &str) -> usize {
    memchr::memrchr2(b'\n', b'\r', text.as_bytes()).map_or(0, |at| at + 1)
}

/// True when no continuation of a line can change which block it belongs to or begins.
fn is_settled(line: &str) -> bool {
    let content = line.trim_start_matches([' ', '\t', '>']);
    // A tag or an info string may yet turn out to be something else.
    let open_ended = content.starts_with('<') || content.starts_with("```");
    line.trim().is_empty() || (!open_ended && content.chars().any(char::is_alphabetic))
}

enum Held {
    Nothing,
    /// The text is shown up to here.
    Hidden(usize),
    /// From here on it is shown as it stands.
    Literal(usize),
}

/// Judges a last line that is only markers so far: it may become a rule, a heading's underline,
/// a list, a table's delimiter row, or words.
fn hold_back(text: &str, last: usize) -> Held {
    let line = text.get(last..).unwrap_or_default();
    let quote = line.len() - line.trim_start_matches([' ', '\t', '>']).len();
    let start = last + lines::line_content(line.as_bytes());
    let in_item = start > last + quote;
    let content = text.get(start..).unwrap_or_default().trim_end();
    if content.is_empty() {
        // `- ` alone would be an empty item, and `* ` may become a rule.
        let marker = line.trim();
        return if in_item && marker.len() <= 1 {
            marker_alone(text, last, last + quote)
        } else {
            Held::Nothing
        };
    }
    if in_item && matches!(content, "[" | "[ " | "[x" | "[X") {
        return Held::Hidden(start);
    }
    let previous = previous_line(text, last).trim_matches(['>', ' ', '\t']);
    let follows = !previous.is_empty() && !in_item;
    if is_definition(content) || (previous.starts_with('[') && previous.ends_with("]:")) {
        return Held::Hidden(if in_item { start } else { last });
    }
    let only = |marks: &str| content.chars().all(|c| marks.contains(c));
    if only("|:- \t") && follows && previous.contains('|') {
        return Held::Hidden(last);
    }
    if only("=") || only("`~") {
        return if follows { Held::Hidden(last) } else { Held::Nothing };
    }
    let number = content.trim_end_matches(['.', ')']);
    let is_number = content.len() <= 10 && number.bytes().all(|b| b.is_ascii_digit());
    if only("-") || only("* \t") || only("- \t") || only("_ \t") || content == "+" || is_number {
        return if in_item { Held::Literal(start) } else { marker_alone(text, last, start) };
    }
    Held::Nothing
}

/// True for the beginning of a link's definition, which shows nothing when it is whole. Half an
/// address must not become a link's target.
fn is_definition(content: &str) -> bool {
    content.starts_with('[') && !content.starts_with("[^") && content.contains("]:")
}

/// A marker that could go on a list, or underline a paragraph, is not shown yet.
fn marker_alone(text: &str, last: usize, start: usize) -> Held {
    let before = text.get(..last).unwrap_or_default();
    let previous = previous_line(text, last);
    let follows = !previous.trim_matches(['>', ' ', '\t']).is_empty();
    let kept = before.trim_end();
    let above = kept.get(last_line(kept)..).unwrap_or_default();
    let indent = above.len() - above.trim_start().len();
    let in_list = indent >= 2 || lines::line_content(above.as_bytes()) > indent;
    if follows || (in_list && !above.is_empty()) {
        Held::Hidden(last)
    } else {
        Held::Literal(start)
    }
}

/// The line above the one that begins at `start`, without its end.
fn previous_line(text: &str, start: usize) -> &str {
    let before = text.get(..start).unwrap_or_default();
    let before = before.strip_suffix('\n').unwrap_or(before);
    let before = before.strip_suffix('\r').unwrap_or(before);
    before.get(last_line(before)..).unwrap_or_default()
}

/// The fence that is open at the end of a text.
pub(super) fn open_fence(text: &str) -> Option<Fence> {
    let bytes = text.as_bytes();
    let has = |needle| memchr::memmem::find(bytes, needle).is_some();
    if !has(b"```") && !has(b"~~~") {
        return None;
    }
    let mut open: Option<Fence> = None;
    for line in bytes.split(|b| *b == b'\n') {
        open = match open {
            Some(fence) if fence.closes(line) => None,
            Some(fence) if !fence.is_left_by(line) => Some(fence),
            _ => Fence::opens(line),
        };
    }
    open
}

/// True when a line may be the beginning of the fence's end.
fn half_closes(line: &str, fence: Fence) -> bool {
    let content = line.trim_matches([' ', '\t', '>']).as_bytes();
    !content.is_empty() && content.len() < fence.len && content.iter().all(|b| *b == fence.mark)
}

/// True when more words on the next line would go on in the last paragraph.
fn paragraph_is_open(text: &str) -> bool {
    let body = text.trim_end_matches([' ', '\t']);
    let body = body.strip_suffix('\n').unwrap_or(body);
    let body = body.strip_suffix('\r').unwrap_or(body);
    let line = body.get(last_line(body)..).unwrap_or_default();
    !line.trim_matches(['>', ' ', '\t']).is_empty()
}

/// Where the paragraph, heading or cell at the end of a text begins, or later.
fn leaf_start(text: &str) -> usize {
    let floor = text.len().saturating_sub(LEAF_LIMIT);
    let mut start = last_line(text);
    loop {
        let line = text.get(start..).unwrap_or_default();
        let line = line.lines().next().unwrap_or_default().as_bytes();
        let content = lines::line_content(line);
        let prefix = line.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'>')).count();
        match line.get(content) {
            Some(b'#') => return start + content,
            Some(b'|') => {
                let cell = memchr::memrchr(b'|', line).unwrap_or(content);
                return start + cell + 1;
            }
            _ if content > prefix || start <= floor => return start + content,
            _ => {}
        }
        if previous_line(text, start).trim_matches(['>', ' ', '\t']).is_empty() {
            return start + content;
        }
        let before = text.get(..start).unwrap_or_default();
        let before = before.strip_suffix('\n').unwrap_or(before);
        let before = before.strip_suffix('\r').unwrap_or(before);
        start = last_line(before);
    }
}
