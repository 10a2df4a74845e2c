//! Titles that are meant by a few letters.

/// How well a title is meant, and by which of its characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meant {
    /// The higher the better.
    pub score: i32,
    /// The characters that stand for the letters, by their number, rising.
    pub characters: Vec<usize>,
}

/// Characters of a title that are looked at.
const TITLE_MAX: usize = 160;
/// Characters of a query that are looked at.
const QUERY_MAX: usize = 48;

const CONSECUTIVE: i32 = 8;
const WORD_START: i32 = 10;
const EXACT_WORD: i32 = 30;
const GAP: i32 = -1;

/// How well a title is meant by a query: each of its words has to be found, as a piece of the
/// title or at least letter by letter. Nothing when one is not.
#[must_use]
pub fn meant(query: &str, title: &str) -> Option<Meant> {
    let title: Vec<char> = title.chars().take(TITLE_MAX).map(lower).collect();
    let query: String = query.chars().take(QUERY_MAX).collect();
    let mut meant = Meant { score: 0, characters: Vec::new() };
    for word in query.split_whitespace() {
        let word: Vec<char> = word.chars().map(lower).collect();
        let (score, characters) = piece(&word, &title).or_else(|| letters(&word, &title))?;
        meant.score += score;
        meant.characters.extend(characters);
    }
    meant.characters.sort_unstable();
    meant.characters.dedup();
    // Of two that are meant alike the shorter one says less else.
    meant.score -= i32::try_from(title.len() / 16).unwrap_or(0);
    Some(meant)
}

fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

fn begins_word(title: &[char], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| title.get(before)).is_none_or(|c| !c.is_alphanumeric())
}

/// The word stands there as it is, best at the beginning of a word.
fn piece(word: &[char], title: &[char]) -> Option<(i32, Vec<usize>)> {
    let places = title.windows(word.len().max(1)).enumerate();
    let score = |at: usize| {
        let start = if begins_word(title, at) { WORD_START } else { 0 };
        EXACT_WORD + start + CONSECUTIVE * i32::try_from(word.len()).unwrap_or(0)
    };
    let found = places.filter(|(_, window)| *window == word).map(|(at, _)| (score(at), at));
    let (score, at) = found.max_by_key(|(score, at)| (*score, std::cmp::Reverse(*at)))?;
    Some((score, (at..at + word.len()).collect()))
}

/// The letters stand there one after another; beginnings of words are taken first.
fn letters(word: &[char], title: &[char]) -> Option<(i32, Vec<usize>)> {
    let (mut score, mut characters, mut from) = (0, Vec::with_capacity(word.len()), 0);
    for letter in word {
        let places = || (from..title.len()).filter(|at| title.get(*at) == Some(letter));
        let next = places().next()?;
        let rest_fits = |at: usize| fits(word, characters.len() + 1, title, at + 1);
        let start = places().find(|at| begins_word(title, *at)).filter(|at| rest_fits(*at));
        let follows = characters.last().is_some_and(|last: &usize| last + 1 == next);
        let at = if follows { next } else { start.unwrap_or(next) };
        score += match (follows, begins_word(title, at)) {
            (true, _) => CONSECUTIVE,
            (false, true) => WORD_START,
            (false, false) => 1,
        };
        score += GAP * i32::try_from((at - from).min(12)).unwrap_or(0);
        characters.push(at);
        from = at + 1;
    }
    Some((score, characters))
}

/// True when the letters from one on are still to be had behind a place.
fn fits(word: &[char], letter: usize, title: &[char], from: usize) -> bool {
    let mut rest = title.get(from..).unwrap_or_default().iter();
    word.get(letter..).unwrap_or_default().iter().all(|wanted| rest.any(|c| c == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best<'a>(query: &str, titles: &[&'a str]) -> Option<&'a str> {
        let scored = titles.iter().filter_map(|title| Some((meant(query, title)?.score, *title)));
        scored.max_by_key(|(score, _)| *score).map(|(_, title)| title)
    }

    #[test]
    fn the_meant_title_is_found() {
        let titles = ["Lay out only the open tail", "Torn line recovery", "Minimap texture"];
        assert_eq!(best("torn", &titles), Some("Torn line recovery"));
        assert_eq!(best("mt", &titles), Some("Minimap texture"));
        assert_eq!(best("open tail", &titles), Some("Lay out only the open tail"));
        assert_eq!(best("tail open", &titles), Some("Lay out only the open tail"));
        assert_eq!(best("xyz", &titles), None);
        assert_eq!(best("字", &["為什麼字距不同？", "other"]), Some("為什麼字距不同？"));
    }

    #[test]
    fn a_piece_beats_scattered_letters() {
        assert_eq!(best("line", &["l i n e s apart", "Torn line"]), Some("Torn line"));
        assert_eq!(best("rec", &["a record", "error chain"]), Some("a record"));
    }

    #[test]
    fn the_marked_characters_are_those_that_were_typed() {
        assert_eq!(meant("min", "Minimap").map(|m| m.characters), Some(vec![0, 1, 2]));
        assert_eq!(meant("mt", "Minimap texture").map(|m| m.characters), Some(vec![0, 8]));
        assert_eq!(meant("", "anything").map(|m| m.characters), Some(vec![]));
    }
}
