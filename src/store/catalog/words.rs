//! What is looked for, and where it stands in a text.
//!
//! Words are plain text: nothing in them means anything to the index. Text is compared
//! folded: in lower case, with every run of blanks as one.

use std::ops::Range;

use memchr::memmem;

/// Words of one question; the rest is not looked for.
const WORDS_MAX: usize = 16;
/// Characters of one word; the rest is not looked for.
const WORD_CHARS_MAX: usize = 256;
/// Characters that the index knows words by.
pub(super) const GRAM: usize = 3;
/// Grams that one word is looked up by; more would find nothing else.
const GRAMS_MAX: usize = 8;
/// Characters of a snippet before the match, and in all.
const BEFORE: usize = 48;
const SNIPPET_CHARS: usize = 160;

/// What is looked for: folded words that must all be there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Words(Vec<String>);

impl Words {
    /// Reads a question: words between blanks, and phrases in double quotes.
    pub(super) fn parse(question: &str) -> Self {
        let mut words = Vec::new();
        for (i, piece) in question.split('"').enumerate() {
            match i % 2 {
                0 => words.extend(piece.split_whitespace().map(fold_word)),
                _ => words.push(fold_word(piece)),
            }
        }
        words.retain(|word: &String| !word.is_empty());
        words.dedup();
        words.truncate(WORDS_MAX);
        Self(words)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Are all of them in a text that is folded already?
    pub(super) fn are_all_in(&self, folded: &str) -> bool {
        self.iter().all(|word| memmem::find(folded.as_bytes(), word.as_bytes()).is_some())
    }

    /// Where they stand in a text, in order and without overlaps, as ranges of its bytes.
    pub(super) fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        let folded = Folded::new(text);
        let mut found: Vec<Range<usize>> = Vec::new();
        for word in self.iter() {
            let starts = memmem::find_iter(folded.text.as_bytes(), word.as_bytes());
            found.extend(starts.map(|start| folded.source_of(start..start + word.len())));
        }
        found.sort_by_key(|range| (range.start, range.end));
        let mut joined: Vec<Range<usize>> = Vec::new();
        for range in found {
            match joined.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                Some(_) | None => joined.push(range),
            }
        }
        joined
    }

    /// The place in a text around its first match, on one line, and where words stand in it.
    pub(super) fn snippet(&self, text: &str) -> (String, Vec<Range<usize>>) {
        let folded = fold(text);
        let first = self.iter().filter_map(|w| memmem::find(folded.as_bytes(), w.as_bytes())).min();
        let at = source_offset(text, first.unwrap_or(0));
        let before = text.get(..at).unwrap_or_default();
        let start = before.char_indices().rev().take(BEFORE).last().map_or(at, |(i, _)| i);
        let start = after_blank(text, start, at);
        let piece = text.get(start..).unwrap_or_default();
        let mut snippet = if start > 0 { "…".to_owned() } else { String::new() };
        let mut is_blank = true;
        for (count, c) in piece.chars().enumerate() {
            if count == SNIPPET_CHARS {
                snippet.push('…');
                break;
            }
            let blank = is_blank_char(c);
            match blank {
                true if is_blank => {}
                true => snippet.push(' '),
                false => snippet.push(c),
            }
            is_blank = blank;
        }
        snippet.truncate(snippet.trim_end().len());
        let ranges = self.ranges(&snippet);
        (snippet, ranges)
    }
}

/// The start of the first whole word from `start` on, when there is one before `at`.
fn after_blank(text: &str, start: usize, at: usize) -> usize {
    if start == 0 {
        return 0;
    }
    let piece = text.get(start..at).unwrap_or_default();
    piece.find(is_blank_char).map_or(start, |blank| {
        let rest = piece.get(blank..).unwrap_or_default();
        start + blank + (rest.len() - rest.trim_start_matches(is_blank_char).len())
    })
}

fn fold_word(word: &str) -> String {
    let word: String = word.chars().take(WORD_CHARS_MAX).collect();
    fold(&word).trim().to_owned()
}

/// The grams that a word of at least [`GRAM`] characters is found by; none for a shorter one.
pub(super) fn grams(word: &str) -> Vec<&str> {
    let starts: Vec<usize> = word.char_indices().map(|(i, _)| i).chain([word.len()]).collect();
    let count = starts.len().saturating_sub(GRAM);
    let step = count.div_ceil(GRAMS_MAX).max(1);
    let mut found: Vec<&str> = Vec::new();
    // The last one too, so that the word's whole length is covered as well as can be.
    for i in (0..count).step_by(step).chain(count.checked_sub(1)) {
        let gram = word.get(starts[i]..starts[i + GRAM]).unwrap_or_default();
        if !found.contains(&gram) {
            found.push(gram);
        }
    }
    found
}

fn is_blank_char(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

/// A text as it is compared.
pub(super) fn fold(text: &str) -> String {
    let mut folded = Vec::with_capacity(text.len() + 2);
    let mut folder = Folder::default();
    let mut wide = String::new();
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        // Most of a text is plain letters, which need no look at each character.
        if byte.is_ascii_graphic() {
            folded.push(byte.to_ascii_lowercase());
            folder.was_blank = false;
            at += 1;
        } else if let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
            folder.push(c, &mut wide);
            folded.extend_from_slice(wide.as_bytes());
            wide.clear();
            at += c.len_utf8();
        } else {
            at += 1;
        }
    }
    // Whole characters were put together.
    String::from_utf8(folded).unwrap_or_default()
}

/// Folds a character after another.
#[derive(Default)]
struct Folder {
    was_blank: bool,
}

impl Folder {
    fn push(&mut self, c: char, folded: &mut String) {
        let blank = is_blank_char(c);
        match c {
            _ if blank && self.was_blank => {}
            _ if blank => folded.push(' '),
            'ς' => folded.push('σ'),
            c if c.is_ascii() => folded.push(c.to_ascii_lowercase()),
            c => folded.extend(c.to_lowercase()),
        }
        self.was_blank = blank;
    }
}

/// The byte of a text that a byte of its folded form comes from.
fn source_offset(text: &str, folded_at: usize) -> usize {
    let (mut folder, mut folded) = (Folder::default(), String::new());
    let mut before = 0;
    for (i, c) in text.char_indices() {
        folder.push(c, &mut folded);
        before += folded.len();
        folded.clear();
        if before > folded_at {
            return i;
        }
    }
    text.len()
}

/// A folded text that knows where each character came from.
struct Folded {
    text: String,
    /// Where characters begin: `(in the folded text, in the source)`, with both ends last.
    starts: Vec<(usize, usize)>,
}

impl Folded {
    fn new(source: &str) -> Self {
        let mut text = String::with_capacity(source.len());
        let mut folder = Folder::default();
        let mut starts = Vec::with_capacity(source.len() + 1);
        for (i, c) in source.char_indices() {
            let start = text.len();
            folder.push(c, &mut text);
            if text.len() > start {
                starts.push((start, i));
            }
        }
        starts.push((text.len(), source.len()));
        Self { text, starts }
    }

    fn source_of(&self, folded: Range<usize>) -> Range<usize> {
        let first = self.starts.partition_point(|(start, _)| *start <= folded.start);
        let last = self.starts.partition_point(|(start, _)| *start < folded.end);
        let start = self.starts.get(first.saturating_sub(1)).map_or(0, |(_, at)| *at);
        let end = self.starts.get(last).or_else(|| self.starts.last()).map_or(0, |(_, at)| *at);
        start..end
    }
}

/// A text on one line: blanks as one, no control characters, at most so many characters.
pub(super) fn one_line(text: &str, chars: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    for word in text.split(is_blank_char).filter(|word| !word.is_empty()) {
        if count > 0 {
            line.push(' ');
            count += 1;
        }
        for c in word.chars() {
            if count >= chars {
                line.truncate(line.trim_end().len());
                line.push('…');
                return line;
            }
            line.push(c);
            count += 1;
        }
    }
    line
}

#[cfg(test)]
#[expect(clippy::string_slice, reason = "a test may stop at its own data")]
mod tests {
    use super::*;

    fn words(question: &str) -> Vec<String> {
        Words::parse(question).0
    }

    #[test]
    fn questions_are_words_and_phrases() {
        assert_eq!(words("Fix  the \"Torn   Tail\" now"), ["fix", "the", "torn tail", "now"]);
        assert_eq!(words("\"open phrase"), ["open phrase"]);
        assert_eq!(words("a\"\"b \" \""), ["a", "b"]);
        assert_eq!(words("NOT x* AND (y) body:z"), ["not", "x*", "and", "(y)", "body:z"]);
        assert!(Words::parse(" \t\"\" ").is_empty());
        assert_eq!(words(&"w ".repeat(99)).len(), 1);
        assert_eq!(words(&"ab".repeat(999))[0].chars().count(), WORD_CHARS_MAX);
    }

    #[test]
    fn matches_point_into_the_source() {
        let text = "İstanbul: ΟΔΟΣ und\n\t Straße";
        let at = |question: &str| -> Vec<&str> {
            Words::parse(question).ranges(text).into_iter().map(|r| &text[r]).collect()
        };
        assert_eq!(at("οδος"), ["ΟΔΟΣ"]);
        assert_eq!(at("\"und straße\""), ["und\n\t Straße"]);
        assert_eq!(at("stan anbul"), ["stanbul"]);
        assert_eq!(at("nothing"), Vec::<&str>::new());
    }

    #[test]
    fn snippets_stand_around_the_match() {
        let text = format!("{}the needle\nis here{}", "word ".repeat(100), " tail".repeat(100));
        let (snippet, ranges) = Words::parse("NEEDLE here").snippet(&text);
        assert!(snippet.starts_with("…word") && snippet.ends_with('…'), "{snippet}");
        let marked: Vec<_> = ranges.into_iter().map(|range| &snippet[range]).collect();
        assert_eq!(marked, ["needle", "here"]);
        assert_eq!(Words::parse("x").snippet("x").0, "x");
    }

    #[test]
    fn grams_cover_a_word() {
        assert_eq!(grams("ab"), Vec::<&str>::new());
        assert_eq!(grams("abc"), ["abc"]);
        assert_eq!(grams("日本語版"), ["日本語", "本語版"]);
        let long: String = ('a'..='z').collect();
        let found = grams(&long);
        assert!(found.len() <= GRAMS_MAX + 1 && found.contains(&"xyz"), "{found:?}");
    }

    #[test]
    fn lines_are_cut_at_characters() {
        assert_eq!(one_line(" a\n\tb\u{7} ", 60), "a b");
        assert_eq!(one_line("äöüß", 3), "äöü…");
        assert_eq!(one_line("abc def", 3), "abc…");
    }
}
