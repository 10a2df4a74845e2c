//! JSON of any size at constant memory: the middles of long strings are cut out.

use super::{
    json::{closing_quote, is_escaped},
    mend::code_unit,
};

/// Bytes kept of the start of a string that is cut.
pub(super) const HEAD_BYTES: usize = 192 * 1024;
/// Bytes kept of its end.
pub(super) const TAIL_BYTES: usize = 64 * 1024;
/// A string literal longer than this is cut.
const STRING_MAX: usize = HEAD_BYTES + TAIL_BYTES;
/// A picture's base64 may be this long.
const PICTURE_MAX: usize = 20 * 1024 * 1024;
/// What is left of one record may be this long.
const OUTPUT_MAX: usize = 24 * 1024 * 1024;
const DEPTH_MAX: u32 = 126;
const BITE_BYTES: usize = 64 * 1024;

/// What is left of a record.
#[derive(Debug)]
pub(super) struct Squeezed {
    pub(super) json: Vec<u8>,
    /// Bytes left out of each string that was cut, in order.
    pub(super) cuts: Vec<u64>,
}

/// Takes one record in pieces.
#[derive(Debug)]
pub(super) struct Squeezer {
    out: Vec<u8>,
    place: Place,
    depth: u32,
    /// Where the inside of the current string begins in `out`.
    string_start: usize,
    string_max: usize,
    cut: Option<Cut>,
    cuts: Vec<u64>,
    /// The string before was this key.
    key_is_data: bool,
    broken: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Between,
    InString,
    /// Behind a backslash in a string.
    InEscape,
}

impl Squeezer {
    pub(super) fn new() -> Self {
        Self {
            out: Vec::new(),
            place: Place::Between,
            depth: 0,
            string_start: 0,
            string_max: STRING_MAX,
            cut: None,
            cuts: Vec::new(),
            key_is_data: false,
            broken: None,
        }
    }

    /// Takes the next piece.
    pub(super) fn feed(&mut self, piece: &[u8]) {
        // Small bites, so that no buffer grows with the piece.
        piece.chunks(BITE_BYTES).for_each(|bite| self.bite(bite));
    }

    /// The squeezed record, or why there is none.
    pub(super) fn finish(self) -> Result<Squeezed, &'static str> {
        match self.broken {
            Some(reason) => Err(reason),
            None if self.place != Place::Between || self.depth != 0 => Err("is not complete"),
            None => Ok(Squeezed { json: self.out, cuts: self.cuts }),
        }
    }

    fn bite(&mut self, mut bite: &[u8]) {
        while !bite.is_empty() && self.broken.is_none() {
            let used = match self.place {
                Place::Between => self.between(bite),
                Place::InString => self.in_string(bite),
                Place::InEscape => {
                    self.literal(bite.get(..1).unwrap_or(&[]));
                    self.place = Place::InString;
                    1
                }
            };
            bite = bite.get(used..).unwrap_or(&[]);
            if self.out.len() > OUTPUT_MAX {
                self.broken = Some("is too large to hold");
            }
        }
    }

    fn between(&mut self, bite: &[u8]) -> usize {
        for (at, byte) in bite.iter().enumerate() {
            match byte {
                b'"' => {
                    self.out.extend(bite.iter().take(at + 1));
                    self.begin_string();
                    return at + 1;
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if self.depth > DEPTH_MAX {
                self.broken = Some("is nested too deep");
                return at + 1;
            }
        }
        self.out.extend(bite);
        bite.len()
    }

    fn begin_string(&mut self) {
        self.place = Place::InString;
        self.string_start = self.out.len();
        let room = OUTPUT_MAX - STRING_MAX * 4;
        let is_picture = self.key_is_data && self.out.len() + PICTURE_MAX < room;
        self.string_max = if is_picture { PICTURE_MAX } else { STRING_MAX };
    }

    fn in_string(&mut self, bite: &[u8]) -> usize {
        if let Some(end) = closing_quote(bite) {
            self.literal(bite.get(..end).unwrap_or(&[]));
            self.end_string();
            return end + 1;
        }
        self.literal(bite);
        if is_escaped(bite, bite.len()) {
            self.place = Place::InEscape;
        }
        bite.len()
    }

    fn literal(&mut self, bytes: &[u8]) {
        if let Some(cut) = &mut self.cut {
            return cut.push(bytes);
        }
        self.out.extend(bytes);
        if self.out.len() - self.string_start > self.string_max {
            let inside = self.out.split_off(self.string_start);
            let (head_end, _) = token_around(&inside, HEAD_BYTES);
            let (head, rest) = inside.split_at(head_end);
            self.out.extend(head);
            let mut cut = Cut::default();
            cut.push(rest);
            self.cut = Some(cut);
        }
    }

    fn end_string(&mut self) {
        self.place = Place::Between;
        self.key_is_data = self.out.get(self.string_start..) == Some(b"data");
        if let Some(mut cut) = self.cut.take() {
            cut.trim();
            self.out.extend(marker_literal(cut.dropped).bytes());
            self.out.extend(&cut.tail);
            self.cuts.push(cut.dropped);
        }
        self.out.push(b'"');
    }
}

/// The end of a string whose middle is being dropped.
#[derive(Debug, Default)]
struct Cut {
    tail: Vec<u8>,
    dropped: u64,
}

impl Cut {
    fn push(&mut self, bytes: &[u8]) {
        self.tail.extend(bytes);
        if self.tail.len() > 8 * TAIL_BYTES {
            self.trim();
        }
    }

    fn trim(&mut self) {
        let surplus = self.tail.len().saturating_sub(TAIL_BYTES);
        let (_, start) = token_around(&self.tail, surplus);
        self.tail.drain(..start);
        self.dropped += start as u64;
    }
}

/// Start and end of the escape or character that `at` falls into; `at` twice when it
/// falls between two. `inside` must begin at such a boundary.
fn token_around(inside: &[u8], at: usize) -> (usize, usize) {
    const LONGEST: usize = 12;
    let at = at.min(inside.len());
    // The first escape that begins near enough before, and those that follow it.
    let mut from = at.saturating_sub(LONGEST);
    while let Some(start) = next_escape(inside, from, at) {
        let pair_start = start.checked_sub(6).filter(|before| is_pair(inside, *before));
        let start = pair_start.unwrap_or(start);
        let end = start + escape_len(inside.get(start..).unwrap_or(&[]));
        if end > at {
            return (start, end.min(inside.len()));
        }
        from = end;
    }
    let continues = |i: &usize| inside.get(*i).is_some_and(|b| b & 0xc0 == 0x80);
    let start = (from.min(at)..=at).rev().find(|i| !continues(i)).unwrap_or(at);
    let end = (at..inside.len()).find(|i| !continues(i)).unwrap_or(inside.len());
    (start, end)
}

/// The first escape that begins in `from..to`.
fn next_escape(inside: &[u8], from: usize, to: usize) -> Option<usize> {
    let part = inside.get(from..to)?;
    let mut backslashes = memchr::memchr_iter(b'\\', part).map(|found| from + found);
    backslashes.find(|at| !is_escaped(inside, *at))
}

/// True when both halves of a surrogate pair stand at `at`, as escapes.
fn is_pair(inside: &[u8], at: usize) -> bool {
    let rest = inside.get(at..).unwrap_or(&[]);
    rest.first() == Some(&b'\\') && !is_escaped(inside, at) && escape_len(rest) == 12
}

fn escape_len(rest: &[u8]) -> usize {
    let is_low = |unit: u16| (0xdc00..0xe000).contains(&unit);
    match code_unit(rest) {
        Some(0xd800..=0xdbff) if rest.get(6..).and_then(code_unit).is_some_and(is_low) => 12,
        Some(_) => 6,
        None => 2,
    }
}

fn marker_literal(dropped: u64) -> String {
    format!("\\u0000cut:{dropped}\\u0000")
}

/// Puts a visible note in place of each mark that a cut left in a string.
fn note_cuts(text: &mut String, cuts: &[u64]) {
    for dropped in cuts {
        let marker = format!("\0cut:{dropped}\0");
        if text.contains(&marker) {
            *text = text.replacen(&marker, &note(*dropped), 1);
        }
    }
}

/// Puts notes into every string of a value.
pub(super) fn note_cuts_in(value: &mut serde_json::Value, cuts: &[u64]) {
    use serde_json::Value;
    match value {
        // An escape is at most six times as long as what it stands for.
        Value::String(text) if text.len() >= STRING_MAX / 8 => note_cuts(text, cuts),
        Value::Array(items) => items.iter_mut().for_each(|item| note_cuts_in(item, cuts)),
        Value::Object(members) => {
            members.values_mut().for_each(|member| note_cuts_in(member, cuts));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The words that stand where bytes are missing.
pub(super) fn note(dropped: u64) -> String {
    format!("\n… {dropped} bytes not shown …\n")
}

/// Cuts the middle out of a text longer than `max` bytes and says how much that was.
pub(super) fn shorten(text: &str, max: usize, head: usize, tail: usize) -> Option<(String, u64)> {
    if text.len() <= max {
        return None;
    }
    let start = text.get(..text.floor_char_boundary(head))?;
    let end = text.get(text.ceil_char_boundary(text.len().saturating_sub(tail))..)?;
    let dropped = (text.len() - start.len() - end.len()) as u64;
    Some((format!("{start}{}{end}", note(dropped)), dropped))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cutting anywhere gives the same tokens as walking from the start.
    #[test]
    fn cuts_fall_between_tokens() {
        let inside = r#"a\n\\\\\"é😀\u00e9\ud83d\ude00\ud83dx\ude00\\u0041z\ud83d\ud83d\ude00\t"#;
        let inside = inside.as_bytes();
        let mut bounds = vec![0];
        while let Some(first) = inside.get(bounds[bounds.len() - 1]) {
            let from = bounds[bounds.len() - 1];
            let len = match first {
                b'\\' => escape_len(&inside[from..]),
                first => (first.leading_ones() as usize).max(1),
            };
            bounds.push(from + len);
        }
        for at in 0..=inside.len() {
            let start = bounds.iter().rev().find(|bound| **bound <= at).copied();
            let end = bounds.iter().find(|bound| **bound >= at).copied();
            assert_eq!(Some(token_around(inside, at)), start.zip(end), "at {at}");
        }
    }
}
