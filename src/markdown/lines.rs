//! Lines as the scans before the parser see them.

/// A fence that opened and what closes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    /// Backtick or tilde.
    pub(super) mark: u8,
    /// Length of the opening run.
    pub(super) len: usize,
    /// It stands in a quote, and ends with it.
    quoted: bool,
    /// It stands in a list item, most likely, and ends with it.
    in_item: bool,
}

impl Fence {
    /// The fence that a line opens.
    pub(super) fn opens(line: &[u8]) -> Option<Self> {
        let start = line_content(line);
        let (prefix, content) = line.split_at_checked(start)?;
        let mark = *content.first().filter(|b| matches!(b, b'`' | b'~'))?;
        let len = run(content, 0);
        let info = content.get(len..).unwrap_or_default();
        let quoted = prefix.contains(&b'>');
        let in_item = !quoted && prefix.len() >= 2;
        let opens = len >= 3 && !(mark == b'`' && info.contains(&b'`'));
        opens.then_some(Self { mark, len, quoted, in_item })
    }

    /// True when the line closes this fence.
    pub(super) fn closes(self, line: &[u8]) -> bool {
        let prefix = line.iter().take_while(|b| is_prefix(**b)).count();
        let content = line.get(prefix..).unwrap_or_default();
        content.first() == Some(&self.mark) && {
            let len = run(content, 0);
            len >= self.len && content.iter().skip(len).all(u8::is_ascii_whitespace)
        }
    }

    /// True when the line stands outside the container of the fence, which ends it as well.
    pub(super) fn is_left_by(self, line: &[u8]) -> bool {
        match line.first() {
            None | Some(b'\r') => self.quoted,
            Some(b' ' | b'\t' | b'>') => false,
            Some(_) => self.quoted || self.in_item,
        }
    }
}

/// Space or quote mark.
pub(super) fn is_prefix(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'>')
}

/// A line without the quote markers, list markers and indentation before its content.
pub(super) fn line_content(line: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += line.iter().skip(at).take_while(|b| is_prefix(**b)).count();
        let marker = list_marker(line.get(at..).unwrap_or_default());
        if marker == 0 {
            return at;
        }
        at += marker;
    }
}

/// Bytes of a list marker and the space behind it; zero when there is none.
pub(super) fn list_marker(content: &[u8]) -> usize {
    let digits = content.iter().take(10).take_while(|b| b.is_ascii_digit()).count();
    let mark = match (digits, content.get(digits)) {
        (0, Some(b'-' | b'*' | b'+')) | (1..=9, Some(b'.' | b')')) => digits + 1,
        _ => return 0,
    };
    match content.get(mark) {
        Some(b' ' | b'\t') => mark + 1,
        _ => 0,
    }
}

/// Length of the run of the byte at `at`.
pub(super) fn run(bytes: &[u8], at: usize) -> usize {
    let Some(first) = bytes.get(at) else { return 0 };
    bytes.iter().skip(at).take_while(|b| *b == first).count()
}
