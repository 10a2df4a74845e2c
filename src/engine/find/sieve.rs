//! Ruling records out by their bytes, without reading what they say.
//!
//! A record is JSON around markdown or a terminal's output, so the letters of a word need
//! not stand side by side in it: `**b**old` shows `bold`. But what is taken out between two
//! letters begins and ends with something that is no letter, digit or space. So a word
//! can only be shown when the record holds it, or holds it in pieces that end and begin in
//! such a way. Few other ways remain (escape sequences, backspaces, letters written by
//! their number): a record that might use one of them passes.

use memchr::{memchr2, memchr2_iter, memchr3_iter};

/// Letters of the needle that are looked at.
const LETTERS_MAX: usize = 32;
/// Fewer letters rule nothing out.
const LETTERS_MIN: usize = 2;

/// Rules out records that cannot show a word.
#[derive(Clone, Debug)]
pub(super) struct Sieve {
    /// Small letters only.
    word: Vec<u8>,
    /// Index of the letter that is rarest in most texts.
    rarest: usize,
    /// Unicode has other letters that are the same to who ignores case: ſ and K.
    has_twins: bool,
}

impl Sieve {
    /// A sieve for the longest run of letters in a needle. None when it has no run, or one
    /// that the program itself may have written.
    pub(super) fn new(needle: &str, own_words: &[&str]) -> Option<Self> {
        let runs = needle.split(|c: char| !c.is_ascii_alphabetic());
        let longest = runs.max_by_key(|run| run.len())?;
        let word: Vec<u8> = longest.bytes().take(LETTERS_MAX).collect();
        let word = word.to_ascii_lowercase();
        let text = std::str::from_utf8(&word).ok()?;
        let is_own = own_words.iter().any(|own| own.to_ascii_lowercase().contains(text));
        if word.len() < LETTERS_MIN || is_own {
            return None;
        }
        let rarest = (0..word.len()).max_by_key(|i| rarity(word[*i]))?;
        let has_twins = word.iter().any(|letter| matches!(letter, b'k' | b's'));
        Some(Self { word, rarest, has_twins })
    }

    /// False when the record cannot show the word.
    pub(super) fn passes(&self, record: &[u8]) -> bool {
        let mut may_be_in_pieces = false;
        let letter = self.word[self.rarest];
        // The rarest letter leads to the word, or to a piece of it, or to nothing.
        for at in memchr2_iter(letter, letter.to_ascii_uppercase(), record) {
            match self.around(record, at) {
                Around::Word => return true,
                Around::Piece => may_be_in_pieces = true,
                Around::Other => {}
            }
        }
        match escapes(record) {
            Special::Unfollowed => return true,
            Special::Escape => may_be_in_pieces = true,
            Special::None => {}
        }
        self.has_twins && has_twin(record) || may_be_in_pieces && self.stands_in_pieces(record)
    }

    /// What the rarest letter is part of where it stands in a record.
    fn around(&self, record: &[u8], at: usize) -> Around {
        let (before, behind) = self.word.split_at(self.rarest);
        let record_before = record.get(..at).unwrap_or_default();
        let record_behind = record.get(at..).unwrap_or_default();
        let left = same(before.iter().rev(), record_before.iter().rev());
        let right = same(behind.iter(), record_behind.iter());
        let is_whole = (left, right) == (before.len(), behind.len());
        let ends_left =
            left == before.len() || record_before.iter().rev().nth(left).is_some_and(is_break);
        let ends_right = right == behind.len() || record_behind.get(right).is_some_and(is_break);
        match (is_whole, ends_left && ends_right) {
            (true, _) => Around::Word,
            (false, true) => Around::Piece,
            (false, false) => Around::Other,
        }
    }

    /// The word stands in pieces, in their order.
    fn stands_in_pieces(&self, record: &[u8]) -> bool {
        let mut pieces = Pieces { word: &self.word, reached: 0 };
        let mut at = 0;
        let mut behind_break = false;
        while let Some(byte) = record.get(at) {
            if byte.is_ascii_alphabetic() {
                let rest = record.get(at..).unwrap_or_default();
                let length = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
                let letters = rest.get(..length).unwrap_or_default();
                let before_break = rest.get(length).is_some_and(is_break);
                if pieces.take(&Run { letters, behind_break, before_break }) {
                    return true;
                }
                at += length;
                behind_break = false;
                continue;
            }
            at += if matches!(special(record, at), Special::Escape) { 6 } else { 1 };
            behind_break = is_break(byte);
        }
        false
    }
}

enum Around {
    Word,
    /// A piece that ends where a piece may end.
    Piece,
    Other,
}

/// How many letters from the beginning of both are the same, case aside.
fn same<'b>(a: impl Iterator<Item = &'b u8>, b: impl Iterator<Item = &'b u8>) -> usize {
    a.zip(b).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count()
}

/// Something that may be taken out can begin or end with this byte.
fn is_break(byte: &u8) -> bool {
    !byte.is_ascii_alphanumeric() && *byte != b' '
}

/// The ways of writing letters that a record uses.
fn escapes(record: &[u8]) -> Special {
    if memchr2(0x08, 0x1b, record).is_some() {
        return Special::Unfollowed;
    }
    let mut found = Special::None;
    for at in memchr3_iter(b'\\', b'&', 0xc2, record) {
        match special(record, at) {
            Special::Unfollowed => return Special::Unfollowed,
            Special::Escape => found = Special::Escape,
            Special::None => {}
        }
    }
    found
}

/// How much of a word was met in pieces.
struct Pieces<'w> {
    word: &'w [u8],
    /// Bit `n`: its first `n` letters were met, and something that may be taken out begins
    /// behind them.
    reached: u32,
}

/// Letters that stand side by side, and whether something that may be taken out stands
/// right before and right behind them.
struct Run<'r> {
    letters: &'r [u8],
    behind_break: bool,
    before_break: bool,
}

impl Pieces<'_> {
    /// Takes the next run of letters. True when it completes the word.
    fn take(&mut self, run: &Run<'_>) -> bool {
        let Run { letters: run, behind_break, before_break } = *run;
        let mut reached = self.reached;
        let mut open = if behind_break { self.reached } else { 0 };
        while open != 0 {
            let met = open.trailing_zeros() as usize;
            open &= open - 1;
            let rest = self.word.get(met..).unwrap_or_default();
            if starts_with(run, rest) {
                return true;
            }
            if before_break && starts_with(rest, run) {
                reached |= 1 << (met + run.len());
            }
        }
        if before_break {
            for length in 1..self.word.len().min(run.len() + 1) {
                let tail = run.get(run.len() - length..).unwrap_or_default();
                if starts_with(self.word, tail) {
                    reached |= 1 << length;
                }
            }
        }
        self.reached = reached;
        false
    }
}

fn starts_with(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start))
}

enum Special {
    None,
    /// Six bytes that stand for one character, which is no letter.
    Escape,
    /// From here on letters may be anywhere.
    Unfollowed,
}

fn special(record: &[u8], at: usize) -> Special {
    let next = |n: usize| record.get(at + n).copied();
    match (record.get(at), next(1)) {
        (Some(b'\\'), Some(b'u')) => match code(record.get(at + 2..at + 6)) {
            // Control sequences, backspaces, letters by their number.
            Some(0x08 | 0x1b | 0x30..=0x7a | 0x80..=0x9f) => Special::Unfollowed,
            Some(_) => Special::Escape,
            None => Special::None,
        },
        (Some(b'\\'), Some(b'b'))
        | (Some(b'&'), Some(b'#'))
        | (Some(0xc2), Some(0x80..=0x9f))
        | (Some(0x08 | 0x1b), _) => Special::Unfollowed,
        // The one name of a character that is two letters.
        (Some(b'&'), Some(b'f')) if next(2) == Some(b'j') => Special::Unfollowed,
        _ => Special::None,
    }
}

fn code(hex: Option<&[u8]>) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(hex?).ok()?, 16).ok()
}

/// The long s or the sign of kelvin, as themselves or escaped.
fn has_twin(record: &[u8]) -> bool {
    const TWINS: [&[u8]; 6] =
        ["ſ".as_bytes(), "\u{212a}".as_bytes(), b"\\u017f", b"\\u017F", b"\\u212a", b"\\u212A"];
    TWINS.iter().any(|twin| memchr::memmem::find(record, twin).is_some())
}

/// Larger for letters that are rarer in English and in code.
fn rarity(letter: u8) -> usize {
    b"etaoinsrlcdhupmfgbywvkxjqz".iter().position(|other| *other == letter).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(needle: &str, record: &str) -> bool {
        Sieve::new(needle, &["written"]).is_none_or(|sieve| sieve.passes(record.as_bytes()))
    }

    #[test]
    fn a_word_in_one_piece_or_in_several_passes() {
        for record in [
            "so BOLD a move",
            "b**ol**d",
            "**b**_o_*l*`d`",
            "<b>b</b>old",
            "bo[ld](https://example.com/x y)",
            "[bo](https://example.com/or more)ld",
            r"bo\u200bld",
            r"bo\u001b[01;31mld",
            r"x\bbold",
            "bo&#108;d",
            r"bo\u006cd",
            "bo\u{200b}ld",
            "**sym**bo**ld**",
        ] {
            assert!(passes("bold", record), "{record}");
        }
    }

    #[test]
    fn what_cannot_show_the_word_does_not_pass() {
        for record in ["nothing here", "bo ld", r#"{"b":1,"text":"symbol and old"}"#, "b old", ""] {
            assert!(!passes("bold", record), "{record}");
        }
    }

    #[test]
    fn a_needle_that_tells_too_little_lets_all_pass() {
        for needle in ["", "x", "12345", "==", "ё", "writ", "WRITTEN"] {
            assert!(Sieve::new(needle, &["written"]).is_none(), "{needle}");
        }
    }

    #[test]
    fn letters_that_are_the_same_without_case_pass() {
        assert!(passes("kelvin", "\u{212a}elvin"));
        assert!(passes("sum", r"\u017fum"));
        assert!(!passes("sum", "dum"));
    }

    /// What markup may take out, put between the letters of a word in all ways.
    #[test]
    fn no_split_of_a_word_is_missed() {
        let gaps = ["", "**", "</b>", "](x y z)", "<a href=\"u v\">", r"\u200b", "~~"];
        let word = b"wrench";
        for choice in 0..gaps.len().pow(word.len() as u32 - 1) {
            let mut record = String::from("a ");
            let mut rest = choice;
            for letter in word {
                record.push(char::from(*letter));
                record.push_str(gaps[rest % gaps.len()]);
                rest /= gaps.len();
            }
            record.push_str(" z");
            assert!(passes("wrench", &record), "{record}");
        }
    }
}
