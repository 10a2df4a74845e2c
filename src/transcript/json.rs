//! A cursor over JSON bytes that only looks: nothing is unescaped and nothing allocated.
//!
//! It checks structure as strictly as a parser, but not the inside of strings: raw
//! control characters and odd escapes pass here and are mended when the record is read.

/// Containers may nest this deep, as deep as the parser that reads the record later.
const DEPTH_MAX: u8 = 126;

/// Why a value could not be walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is not JSON.
    Syntax,
    /// It ends too early.
    End,
    /// It nests too deep.
    Depth,
    /// It is not what its sum says.
    Sum,
}

impl Fault {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Syntax => "is not a JSON object",
            Self::End => "is not complete",
            Self::Depth => "is nested too deep",
            Self::Sum => "is not what was written",
        }
    }
}

pub(super) type Walk<T> = Result<T, Fault>;

/// A position in a text of JSON.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: u8,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, depth: 0 }
    }

    /// Bytes walked so far.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// The bytes that were not walked.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or(&[])
    }

    /// The bytes walked since a position.
    pub(super) fn since(&self, position: usize) -> &'a [u8] {
        self.bytes.get(position..self.at).unwrap_or(&[])
    }

    /// Walks over so many bytes without a look.
    pub(super) fn pass(&mut self, len: usize) {
        self.at = (self.at + len).min(self.bytes.len());
    }

    /// Walks over a byte, before which there may be blanks.
    pub(super) fn byte(&mut self, byte: u8) -> Walk<()> {
        self.expect(byte)
    }

    /// The first byte of the next token.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    /// Visits the members of an object. The visitor must walk each value.
    pub(super) fn members(
        &mut self,
        mut visit: impl FnMut(&mut Self, &'a [u8]) -> Walk<()>,
    ) -> Walk<()> {
        self.enter(b'{')?;
        if self.peek() == Some(b'}') {
            return self.leave();
        }
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            visit(self, key)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => return self.leave(),
                Some(_) => return Err(Fault::Syntax),
                None => return Err(Fault::End),
            }
        }
    }

    /// Visits the elements of an array. The visitor must walk each value.
    pub(super) fn elements(&mut self, mut visit: impl FnMut(&mut Self) -> Walk<()>) -> Walk<()> {
        self.enter(b'[')?;
        if self.peek() == Some(b']') {
            return self.leave();
        }
        loop {
            visit(self)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => return self.leave(),
                Some(_) => return Err(Fault::Syntax),
                None => return Err(Fault::End),
            }
        }
    }

    /// The inside of a string literal, escapes untouched.
    pub(super) fn string(&mut self) -> Walk<&'a [u8]> {
        self.expect(b'"')?;
        let start = self.at;
        let rest = self.bytes.get(start..).ok_or(Fault::End)?;
        let len = closing_quote(rest).ok_or(Fault::End)?;
        self.at = start + len + 1;
        Ok(rest.get(..len).unwrap_or(&[]))
    }

    /// The inside of a string; any other value is walked over.
    pub(super) fn string_or_skip(&mut self) -> Walk<Option<&'a [u8]>> {
        match self.peek() {
            Some(b'"') => self.string().map(Some),
            _ => self.skip().map(|()| None),
        }
    }

    /// A truth value; any other value is walked over and false.
    pub(super) fn flag(&mut self) -> Walk<bool> {
        let is_true = self.peek() == Some(b't');
        self.skip().map(|()| is_true)
    }

    /// A number; any other value is walked over.
    pub(super) fn number_or_skip(&mut self) -> Walk<Option<f64>> {
        if !matches!(self.peek(), Some(b'-' | b'0'..=b'9')) {
            return self.skip().map(|()| None);
        }
        let start = self.at;
        self.number()?;
        let text = self.bytes.get(start..self.at).and_then(|b| std::str::from_utf8(b).ok());
        Ok(text.and_then(|text| text.parse().ok()))
    }

    /// Walks over any value.
    pub(super) fn skip(&mut self) -> Walk<()> {
        match self.peek() {
            Some(b'"') => self.string().map(|_| ()),
            Some(b'{') => self.members(|cursor, _| cursor.skip()),
            Some(b'[') => self.elements(Self::skip),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => Err(Fault::Syntax),
            None => Err(Fault::End),
        }
    }

    fn enter(&mut self, bracket: u8) -> Walk<()> {
        self.expect(bracket)?;
        self.depth += 1;
        if self.depth > DEPTH_MAX { Err(Fault::Depth) } else { Ok(()) }
    }

    fn leave(&mut self) -> Walk<()> {
        self.at += 1;
        self.depth -= 1;
        Ok(())
    }

    fn expect(&mut self, byte: u8) -> Walk<()> {
        match self.peek() {
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(Fault::Syntax),
            None => Err(Fault::End),
        }
    }

    fn word(&mut self, word: &[u8]) -> Walk<()> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        if rest.starts_with(word) {
            self.at += word.len();
            return Ok(());
        }
        Err(if word.starts_with(rest) { Fault::End } else { Fault::Syntax })
    }

    fn number(&mut self) -> Walk<()> {
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        let whole = self.digits()?;
        if whole.len() > 1 && whole.first() == Some(&b'0') {
            return Err(Fault::Syntax);
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Walk<&'a [u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let count = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        self.at += count;
        match count {
            0 if rest.is_empty() => Err(Fault::End),
            0 => Err(Fault::Syntax),
            _ => Ok(&rest[..count]),
        }
    }
}

/// Where the string ends whose inside `rest` begins with. Quotes are rarer than escapes,
/// so it looks for them and only then back at the backslashes before.
pub(super) fn closing_quote(rest: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'"', rest).find(|at| !is_escaped(rest, *at))
}

/// True when an odd number of backslashes stands before `at`.
pub(super) fn is_escaped(inside: &[u8], at: usize) -> bool {
    let before = inside.get(..at).unwrap_or(&[]);
    before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// The text of a string literal's inside. Escapes that mean nothing stay as they are.
pub(super) fn unescaped(inside: &[u8]) -> String {
    if !inside.contains(&b'\\') {
        return String::from_utf8_lossy(inside).into_owned();
    }
    let quoted = [b"\"", inside, b"\""].concat();
    super::mend::parse(&quoted)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_else(|| String::from_utf8_lossy(inside).into_owned())
}

/// Lines of running text at 90 characters a line, counted on the escaped inside of a
/// string: the same rule as [`crate::model::source::estimated_lines`].
pub(super) fn escaped_lines(inside: &[u8]) -> u32 {
    const LINES_MAX: u32 = u16::MAX as u32;
    let (mut lines, mut width, mut at) = (0_u32, 0_usize, 0_usize);
    while let Some(rest) = inside.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        width += plain;
        at += plain;
        let Some(escape) = inside.get(at + 1) else { break };
        if *escape == b'n' {
            lines = lines.saturating_add(set_lines(width));
            width = 0;
        } else {
            width += 1;
        }
        at += if *escape == b'u' { 6 } else { 2 };
        if lines >= LINES_MAX {
            return LINES_MAX;
        }
    }
    if width > 0 { lines.saturating_add(set_lines(width)).min(LINES_MAX) } else { lines }
}

fn set_lines(width: usize) -> u32 {
    u32::try_from(width.div_ceil(90).max(1)).unwrap_or(u32::MAX)
}

/// True when the escaped inside of a string shows nothing.
pub(super) fn is_blank(inside: &[u8]) -> bool {
    match inside.first() {
        None => true,
        Some(byte) if byte.is_ascii_graphic() && *byte != b'\\' => false,
        // Long texts that begin blank are taken as words: telling costs more than it gives.
        Some(_) => inside.len() < 4096 && unescaped(inside).trim().is_empty(),
    }
}
