//! Escape sequences of tool output: colours become runs, everything else loses its power.
//!
//! What a terminal would do to the text is done where it matters for reading, and nothing else:
//!
//! - A carriage return that is not part of a line end starts its line over: the next character
//!   replaces the whole line, as progress bars mean it. A backspace takes back one character.
//! - SGR sets colour, bold, dim, italic and underline. All other sequences have no effect: the
//!   text of an OSC 8 link stays and its target goes.
//! - No sequence reaches past the end of its line, so that an unfinished one cannot swallow the
//!   rest of the output.
//! - Other control characters are shown as pictures, direction controls as tags.

use std::sync::Arc;

use vte::{Params, Parser, Perform};

use crate::model::{
    SgrColor, SgrRun,
    character::{bidi_name, control_picture, is_invisible, is_mark},
};

/// Runs kept; text behind them is plain.
const RUN_CAP: usize = 50_000;

/// Marks drawn on one base character before the rest become an ellipsis.
const MARKS_DRAWN: u32 = 8;

/// Leaves the current escape sequence, whatever it is.
const CANCEL: u8 = 0x18;

/// Tool output as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The text; the same pointer when nothing had to change.
    pub text: Arc<str>,
    /// Colours over the text, ordered, not overlapping; the gaps are plain.
    pub runs: Vec<SgrRun>,
}

/// Reads the escape sequences of a text. Linear in the text.
#[must_use]
pub fn parse(text: &Arc<str>) -> Parsed {
    if is_plain(text) {
        return Parsed { text: Arc::clone(text), runs: Vec::new() };
    }
    let mut screen = Screen::new(text.len());
    let mut parser: Parser = Parser::default();
    for line in text.split_inclusive('\n') {
        if line.contains('\x1b') {
            let body = line.strip_suffix('\n').unwrap_or(line);
            parser.advance(&mut screen, body.as_bytes());
            screen.cancelling = true;
            parser.advance(&mut screen, &[CANCEL]);
            screen.cancelling = false;
            if body.len() < line.len() {
                screen.line_feed();
            }
        } else {
            screen.line(line);
        }
    }
    let Screen { text: shown, runs, .. } = screen;
    let text = if *shown == **text { Arc::clone(text) } else { shown.into() };
    Parsed { text, runs }
}

/// True when there is nothing to do.
fn is_plain(text: &str) -> bool {
    let ascii = |b: &u8| matches!(b, b' '..=b'~' | b'\n' | b'\t');
    if text.as_bytes().iter().all(ascii) {
        return true;
    }
    let mut marks = 0;
    text.chars().all(|c| {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        let special = c == '\r' || control_picture(c).is_some() || bidi_name(c).is_some();
        !special && !is_invisible(c) && marks <= MARKS_DRAWN
    })
}

/// The text as far as it has been shown.
struct Screen {
    text: String,
    runs: Vec<SgrRun>,
    line_start: usize,
    /// A carriage return waits for what follows it.
    returned: bool,
    marks: u32,
    pen: Pen,
    cancelling: bool,
}

/// The style of what is printed next.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Pen {
    foreground: SgrColor,
    styles: u8,
}

const BOLD: u8 = 1;
const DIM: u8 = 1 << 1;
const ITALIC: u8 = 1 << 2;
const UNDERLINE: u8 = 1 << 3;

impl Screen {
    fn new(capacity: usize) -> Self {
        Self {
            text: String::with_capacity(capacity),
            runs: Vec::new(),
            line_start: 0,
            returned: false,
            marks: 0,
            pen: Pen::default(),
            cancelling: false,
        }
    }

    /// Shows a line that holds no escape sequence.
    fn line(&mut self, line: &str) {
        let body = line.strip_suffix('\n').unwrap_or(line);
        if self.returned || !body.bytes().all(|b| matches!(b, b' '..=b'~' | b'\t')) {
            line.chars().for_each(|c| self.character(c));
            return;
        }
        let start = self.text.len();
        self.text.push_str(body);
        self.marks = 0;
        self.paint(start);
        if body.len() < line.len() {
            self.line_feed();
        }
    }

    fn character(&mut self, c: char) {
        match c {
            '\n' => self.line_feed(),
            '\r' => self.returned = true,
            '\x08' => self.backspace(),
            _ => self.show(c),
        }
    }

    fn line_feed(&mut self) {
        self.returned = false;
        self.marks = 0;
        self.text.push('\n');
        self.line_start = self.text.len();
    }

    fn backspace(&mut self) {
        let last = self.text.get(self.line_start..).and_then(|line| line.chars().next_back());
        if let Some(last) = last {
            self.truncate(self.text.len() - last.len_utf8());
        }
    }

    fn show(&mut self, c: char) {
        if std::mem::take(&mut self.returned) {
            self.truncate(self.line_start);
        }
        let start = self.text.len();
        let invisible = is_invisible(c);
        if is_mark(c) {
            self.marks += 1;
        } else if !invisible {
            self.marks = 0;
        }
        match (self.marks, control_picture(c), bidi_name(c)) {
            (_, Some(picture), _) => self.text.push(picture),
            (_, _, Some(name)) => self.tag(name),
            _ if is_tag_character(c) => self.tag(&format!("U+{:04X}", c as u32)),
            _ if invisible => {}
            (marks, ..) if marks > MARKS_DRAWN + 1 => {}
            (marks, ..) if marks > MARKS_DRAWN => self.text.push('…'),
            _ => self.text.push(c),
        }
        self.paint(start);
    }

    fn tag(&mut self, name: &str) {
        self.text.push('⟨');
        self.text.push_str(name);
        self.text.push('⟩');
    }

    /// Gives what was shown since `start` the colours of the pen.
    fn paint(&mut self, start: usize) {
        let end = self.text.len();
        if self.pen == Pen::default() || end == start {
            return;
        }
        let run = self.pen.run(start as u32, end as u32);
        let full = self.runs.len() >= RUN_CAP;
        match self.runs.last_mut() {
            Some(last)
                if last.end == run.start
                    && run == (SgrRun { start: run.start, end: run.end, ..*last }) =>
            {
                last.end = run.end;
            }
            _ if full => {}
            _ => self.runs.push(run),
        }
    }

    /// Takes back everything behind `len`.
    fn truncate(&mut self, len: usize) {
        self.text.truncate(len);
        let len = len as u32;
        while self.runs.last().is_some_and(|run| run.start >= len) {
            self.runs.pop();
        }
        if let Some(last) = self.runs.last_mut() {
            last.end = last.end.min(len);
        }
    }
}

/// Characters that spell text nobody sees.
fn is_tag_character(c: char) -> bool {
    matches!(c, '\u{E0000}'..='\u{E007F}' | '\u{E0100}'..='\u{E01EF}')
}

impl Pen {
    fn run(self, start: u32, end: u32) -> SgrRun {
        SgrRun {
            start,
            end,
            foreground: self.foreground,
            bold: self.styles & BOLD != 0,
            dim: self.styles & DIM != 0,
            italic: self.styles & ITALIC != 0,
            underline: self.styles & UNDERLINE != 0,
        }
    }

    fn set(&mut self, style: u8) {
        self.styles |= style;
    }

    fn clear(&mut self, style: u8) {
        self.styles &= !style;
    }

    /// Applies one SGR sequence.
    fn apply(&mut self, params: &Params) {
        let mut params = params.iter();
        while let Some(param) = params.next() {
            match *param {
                [0] => *self = Self::default(),
                [1] => self.set(BOLD),
                [2] => self.set(DIM),
                [3] => self.set(ITALIC),
                [4, 0] | [24] => self.clear(UNDERLINE),
                [4 | 21, ..] => self.set(UNDERLINE),
                [22] => self.clear(BOLD | DIM),
                [23] => self.clear(ITALIC),
                [code @ 30..=37] => self.foreground = SgrColor::Indexed((code - 30) as u8),
                [code @ 90..=97] => self.foreground = SgrColor::Indexed((code - 90 + 8) as u8),
                [39] => self.foreground = SgrColor::Default,
                [38, ref rest @ ..] => {
                    if let Some(color) = extended(rest, &mut params) {
                        self.foreground = color;
                    }
                }
                // A background is not drawn, but its numbers must not be read as styles.
                [48 | 58, ref rest @ ..] => {
                    extended(rest, &mut params);
                }
                _ => {}
            }
        }
    }
}

/// An extended colour, from its sub-parameters or else from the parameters that follow.
fn extended<'a>(rest: &[u16], params: &mut impl Iterator<Item = &'a [u16]>) -> Option<SgrColor> {
    let byte = |value: u16| value.min(255) as u8;
    if let [kind, values @ ..] = rest {
        return match (kind, values) {
            (5, [index, ..]) => Some(palette(byte(*index))),
            // The colour space may be left out or empty.
            (2, [_, r, g, b, ..] | [r, g, b]) => Some(SgrColor::Rgb(byte(*r), byte(*g), byte(*b))),
            _ => None,
        };
    }
    let mut next = || params.next().and_then(|param| param.first().copied());
    match next()? {
        5 => Some(palette(byte(next()?))),
        2 => Some(SgrColor::Rgb(byte(next()?), byte(next()?), byte(next()?))),
        _ => None,
    }
}

/// A colour of the 256-colour palette: 16 named ones, a cube of 6³, and 24 greys.
fn palette(index: u8) -> SgrColor {
    let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    match index {
        0..=15 => SgrColor::Indexed(index),
        16..=231 => {
            let cube = index - 16;
            SgrColor::Rgb(level(cube / 36), level(cube / 6 % 6), level(cube % 6))
        }
        232..=255 => {
            let grey = 8 + 10 * (index - 232);
            SgrColor::Rgb(grey, grey, grey)
        }
    }
}

impl Perform for Screen {
    fn print(&mut self, c: char) {
        self.character(c);
    }

    fn execute(&mut self, byte: u8) {
        if !(self.cancelling && byte == CANCEL) {
            self.character(char::from(byte));
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], _ignore: bool, action: char) {
        if action == 'm' && intermediates.is_empty() {
            self.pen.apply(params);
        }
    }
}
