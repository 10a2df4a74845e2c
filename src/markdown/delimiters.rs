//! How far a formula reaches, and where it closes.

use super::lines::{line_content, list_marker, run};

/// How far a search for a closing delimiter may look.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// To the next blank line.
    Paragraph,
    /// To two blank lines, or a fence.
    Display,
}

/// Bytes of a label up to its bracket.
pub(super) fn label_len(rest: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\\' => at += 2,
            b'[' | b']' | b'\n' | b'\r' => break,
            _ => at += 1,
        }
    }
    at.min(rest.len())
}

/// The end of the paragraph, or of what a display formula may cover, that `from` stands in.
pub(super) fn end_of(bytes: &[u8], from: usize, reach: Reach) -> usize {
    let mut at = from;
    let mut blank_lines = 0;
    let line = memchr::memrchr(b'\n', bytes.get(..from).unwrap_or_default()).map_or(0, |at| at + 1);
    let line = bytes.get(line..).unwrap_or_default();
    let quoted = is_quoted(line);
    if reach == Reach::Paragraph && ends_with_its_line(line) {
        let rest = bytes.get(from..).unwrap_or_default();
        return memchr::memchr(b'\n', rest).map_or(bytes.len(), |at| from + at);
    }
    while let Some(found) = memchr::memchr(b'\n', bytes.get(at..).unwrap_or_default()) {
        let line_end = at + found;
        let start = line_end + 1;
        let rest = bytes.get(start..).unwrap_or_default();
        let content = rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'>' | b'\r')).count();
        let Some(first) = rest.get(content) else { return bytes.len() };
        let line = rest.get(content..).unwrap_or_default();
        if *first == b'\n' {
            blank_lines += 1;
            let enough = match reach {
                Reach::Paragraph => 1,
                Reach::Display => 2,
            };
            if blank_lines == enough {
                return line_end;
            }
        } else {
            blank_lines = 0;
            let fence = matches!(first, b'`' | b'~') && run(line, 0) >= 3;
            let block = begins_block(line) || (!quoted && is_quoted(rest));
            if fence || (block && reach == Reach::Paragraph) {
                return line_end;
            }
        }
        at = start + content;
    }
    bytes.len()
}

/// True when a line could end the paragraph above it: no formula inside a paragraph reaches over
/// it, or a block that has begun could be taken back.
fn begins_block(line: &[u8]) -> bool {
    let second = line.get(1).copied().unwrap_or(b'\n');
    match line.first() {
        Some(b'#' | b'|' | b'<') => true,
        Some(b'=') => {
            let line = line.split(|b| *b == b'\n').next().unwrap_or_default();
            line.trim_ascii_end().iter().all(|b| *b == b'=')
        }
        Some(mark @ (b'-' | b'*' | b'_')) => second == *mark || second.is_ascii_whitespace(),
        Some(b'[') => second == b'^',
        _ => list_marker(line) > 0,
    }
}

/// True when the line may be a block of its own, so that a formula in it ends there.
fn ends_with_its_line(line: &[u8]) -> bool {
    let content = line_content(line.split(|b| *b == b'\n').next().unwrap_or_default());
    let indented = line.starts_with(b"    ") || line.starts_with(b"\t");
    indented || matches!(line.get(content), Some(b'#' | b'|' | b'[' | b'<'))
}

fn is_quoted(line: &[u8]) -> bool {
    line.iter().find(|b| !matches!(b, b' ' | b'\t')) == Some(&b'>')
}

/// Finds a closing delimiter before `limit`. TeX escapes (`\\`, `\$`) are stepped over.
pub(super) fn close(
    bytes: &[u8],
    from: usize,
    limit: usize,
    closer: &[u8; 2],
    missing: &mut usize,
) -> Option<usize> {
    if from < *missing && *missing == limit {
        return None;
    }
    let mut at = from;
    while at + 1 < limit {
        let rest = bytes.get(at..limit).unwrap_or_default();
        let Some(found) = memchr::memchr2(b'\\', closer.first().copied()?, rest) else { break };
        at += found;
        if bytes.get(at..at + 2) == Some(closer) && at + 2 <= limit {
            return Some(at);
        }
        at += if bytes.get(at) == Some(&b'\\') { 2 } else { 1 };
    }
    *missing = limit;
    None
}

/// Pandoc's rule: no space inside the dollars, no digit behind them.
pub(super) fn close_dollar(
    bytes: &[u8],
    from: usize,
    limit: usize,
    missing: &mut usize,
) -> Option<usize> {
    let inner_space = |at: usize| bytes.get(at).is_none_or(u8::is_ascii_whitespace);
    if inner_space(from) || (from < *missing && *missing == limit) {
        return None;
    }
    let mut at = from;
    while at < limit {
        let rest = bytes.get(at..limit).unwrap_or_default();
        let Some(found) = memchr::memchr3(b'\\', b'$', b'`', rest) else { break };
        at += found;
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(b'$') if at > from => {
                let digit = bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
                if !inner_space(at - 1) && !digit {
                    return Some(at);
                }
                return None;
            }
            Some(b'$') => return None,
            _ => return None,
        }
    }
    *missing = limit;
    None
}
