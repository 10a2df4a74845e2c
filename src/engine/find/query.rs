//! What is looked for, ready to be found.

use std::{fmt, ops::Range};

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use super::sieve::Sieve;

/// A longer needle is refused.
pub const NEEDLE_BYTES_MAX: usize = 16 * 1024;
/// Hits lie within lines, and within so many bytes of a longer line. That is much more
/// than a slug shows, so that what is on screen is searched at once.
const PIECE_BYTES: usize = 64 * 1024;
/// A pattern that would take more memory than this is refused.
const PATTERN_BYTES_MAX: usize = 2 << 20;
/// Memory that a search may use to be fast.
const CACHE_BYTES: usize = 4 << 20;
/// Nesting of a pattern.
const NEST_MAX: u32 = 100;

/// What to look for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needle {
    /// The words, or the pattern.
    pub text: String,
    /// Small and capital letters differ. Else they differ when the needle has a capital.
    pub match_case: bool,
    /// Only whole words.
    pub whole_word: bool,
    /// The text is a regular expression.
    pub regex: bool,
}

/// A needle that is ready to be found.
#[derive(Clone)]
pub struct Query {
    matcher: RegexMatcher,
    sieve: Option<Sieve>,
}

impl Query {
    /// Makes a needle ready.
    ///
    /// # Errors
    /// In one line, why it cannot be looked for.
    pub fn new(needle: &Needle, own_words: Option<&[&str]>) -> Result<Self, String> {
        if needle.text.len() > NEEDLE_BYTES_MAX {
            return Err("too long to look for".to_owned());
        }
        let slashes = needle.text.bytes().rev().take_while(|byte| *byte == b'\\').count();
        if needle.regex && slashes % 2 == 1 {
            return Err("incomplete escape sequence at the end".to_owned());
        }
        let matcher = RegexMatcherBuilder::new()
            .fixed_strings(!needle.regex)
            .case_smart(!needle.match_case)
            .word(needle.whole_word)
            .multi_line(true)
            .line_terminator(Some(b'\n'))
            .size_limit(PATTERN_BYTES_MAX)
            .dfa_size_limit(CACHE_BYTES)
            .nest_limit(NEST_MAX)
            .build(&needle.text)
            .map_err(|error| reason(&error.to_string()))?;
        let words = own_words.filter(|_| !needle.regex);
        let sieve = words.and_then(|words| Sieve::new(&needle.text, words));
        Ok(Self { matcher, sieve })
    }

    /// The hits that touch the `shown` bytes of a text, in order. They do not overlap, are
    /// never empty, and do not depend on which bytes are shown.
    ///
    /// Costs time in proportion to what is shown, or to 64 KiB when lines are long.
    #[must_use]
    pub fn hits(&self, text: &str, shown: Range<usize>) -> Vec<Range<usize>> {
        let mut hits = Vec::new();
        self.each_hit(text, shown, |hit| hits.push(hit));
        hits
    }

    /// How many hits begin in the `shown` bytes of a text.
    #[must_use]
    pub fn count(&self, text: &str, shown: Range<usize>) -> usize {
        let (mut count, start) = (0, shown.start);
        self.each_hit(text, shown, |hit| count += usize::from(hit.start >= start));
        count
    }

    /// False when what a record holds cannot be shown as something with a hit in it.
    #[must_use]
    pub fn may_say(&self, record: &[u8]) -> bool {
        self.sieve.as_ref().is_none_or(|sieve| sieve.passes(record))
    }

    /// True when [`Query::may_say`] rules anything out.
    #[must_use]
    pub fn has_sieve(&self) -> bool {
        self.sieve.is_some()
    }

    fn each_hit(&self, text: &str, shown: Range<usize>, mut each: impl FnMut(Range<usize>)) {
        let shown = shown.start.min(text.len())..shown.end.min(text.len());
        let mut at = line_start(text, shown.start);
        while at < shown.end {
            let end = piece_end(text, at);
            if end > shown.start {
                self.in_piece(text, at..end, &shown, &mut each);
            }
            at = end;
        }
    }

    /// A pattern that matches nothing matches it everywhere: that is no hit.
    fn in_piece(
        &self,
        text: &str,
        piece: Range<usize>,
        shown: &Range<usize>,
        each: &mut impl FnMut(Range<usize>),
    ) {
        let Some(words) = text.get(piece.clone()) else { return };
        // This matcher knows no errors.
        let _infallible = self.matcher.find_iter(words.as_bytes(), |hit| {
            let hit = piece.start + hit.start()..piece.start + hit.end();
            if hit.start >= shown.end {
                return false;
            }
            // Bytes of a pattern may match inside a character, which nobody sees.
            if hit.end > shown.start && text.get(hit.clone()).is_some_and(|hit| !hit.is_empty()) {
                each(hit);
            }
            true
        });
    }
}

/// Where the line that covers `at` begins.
fn line_start(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1)
}

/// The end of the piece that begins at `at`: of as many whole lines as fit, or of a part of
/// a line that does not fit. Depends on the line alone, wherever the search began.
fn piece_end(text: &str, at: usize) -> usize {
    let limit = at + PIECE_BYTES;
    if limit >= text.len() {
        return text.len();
    }
    let within = text.as_bytes().get(at..limit).unwrap_or_default();
    memchr::memrchr(b'\n', within).map_or_else(
        // Never empty, as no character is so long.
        || text.floor_char_boundary(limit),
        |newline| at + newline + 1,
    )
}

/// The last line of an error is what is wrong; those before it show where.
fn reason(error: &str) -> String {
    if error.contains("size limit") {
        return "the pattern takes too much memory".to_owned();
    }
    let last = error.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("not valid");
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Query").field("has_sieve", &self.has_sieve()).finish_non_exhaustive()
    }
}
