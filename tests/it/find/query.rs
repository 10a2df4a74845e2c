//! Needles: case, words, patterns, and those that somebody made to hurt.

use letterpress::engine::find::{NEEDLE_BYTES_MAX, Needle, Query};

fn needle(text: &str) -> Needle {
    Needle { text: text.to_owned(), ..Needle::default() }
}

fn hits(needle: &Needle, text: &str) -> Vec<String> {
    let query = Query::new(needle, None).expect("a needle that can be found");
    let hits = query.hits(text, 0..text.len());
    assert_eq!(query.count(text, 0..text.len()), hits.len());
    hits.into_iter().map(|hit| text.get(hit).expect("whole characters").to_owned()).collect()
}

fn smart(text: &str, words: &str) -> Vec<String> {
    hits(&needle(text), words)
}

#[test]
fn case_counts_when_the_needle_has_a_capital() {
    assert_eq!(smart("press", "Press press PRESS"), ["Press", "press", "PRESS"]);
    assert_eq!(smart("Press", "Press press PRESS"), ["Press"]);
    let exact = Needle { match_case: true, ..needle("press") };
    assert_eq!(hits(&exact, "Press press PRESS"), ["press"]);
    // A class of a pattern is no capital letter.
    let pattern = Needle { regex: true, ..needle(r"pr\Sss") };
    assert_eq!(hits(&pattern, "Press press"), ["Press", "press"]);
}

#[test]
fn letters_of_other_scripts_fold_too() {
    assert_eq!(smart("straße", "STRAẞE Straße strasse"), ["STRAẞE", "Straße"]);
    assert_eq!(smart("σοφός", "ΣΟΦΌΣ σοφός Σοφόσ"), ["ΣΟΦΌΣ", "σοφός", "Σοφόσ"]);
    // İ folds to two characters, which is more than one letter for another.
    assert_eq!(smart("istanbul", "ISTANBUL İstanbul istanbul"), ["ISTANBUL", "istanbul"]);
    assert_eq!(smart("İstanbul", "ISTANBUL İstanbul istanbul"), ["İstanbul"]);
    assert_eq!(smart("дом", "ДОМ дом"), ["ДОМ", "дом"]);
    assert_eq!(smart("日本", "日本語 日本"), ["日本", "日本"]);
}

#[test]
fn whole_words_end_where_words_end() {
    let word = Needle { whole_word: true, ..needle("art") };
    assert_eq!(hits(&word, "art start art. cart, (art) arts").len(), 3);
    let symbol = Needle { whole_word: true, ..needle("->x") };
    assert_eq!(hits(&symbol, "a->x, ->x y->xy").len(), 1);
    let pattern = Needle { whole_word: true, regex: true, ..needle("a|art") };
    assert_eq!(hits(&pattern, "a art arty"), ["a", "art"]);
}

#[test]
fn what_is_typed_is_no_pattern_until_it_is_said_to_be() {
    assert_eq!(smart("a.c(", "abc a.c( ac"), ["a.c("]);
    assert_eq!(smart(r"\d+", r"12 \d+"), [r"\d+"]);
    let pattern = Needle { regex: true, ..needle("a.c") };
    assert_eq!(hits(&pattern, "abc a.c ac"), ["abc", "a.c"]);
    let lines = Needle { regex: true, ..needle("^x|y$") };
    assert_eq!(hits(&lines, "x x\nx y\ny y"), ["x", "x", "y", "y"]);
}

#[test]
fn a_hit_lies_within_a_line_and_is_never_empty() {
    assert_eq!(smart("one two", "one\ntwo one two"), ["one two"]);
    let all = Needle { regex: true, ..needle(".*") };
    assert_eq!(hits(&all, "one\n\ntwo"), ["one", "two"]);
    let nothing = Needle { regex: true, ..needle("x*") };
    assert_eq!(hits(&nothing, "axxb"), ["xx"]);
    let space = Needle { regex: true, ..needle(r"e\s+t") };
    assert_eq!(hits(&space, "one\ntwo e  t"), ["e  t"]);
}

#[test]
fn why_a_pattern_is_none_is_said_in_one_line() {
    for (pattern, part) in [
        ("(", "unclosed group"),
        ("[a", "unclosed character class"),
        ("*", "repetition operator missing expression"),
        (r"(\w{500}){500}", "too much memory"),
        ("a\\", "incomplete escape"),
        ("(?P<n", "capture group"),
    ] {
        let error = Query::new(&Needle { regex: true, ..needle(pattern) }, None).unwrap_err();
        assert!(error.contains(part) && !error.contains('\n'), "{pattern}: {error}");
    }
    let deep = "(".repeat(5_000) + &")".repeat(5_000);
    assert!(Query::new(&Needle { regex: true, ..needle(&deep) }, None).is_err());
}

#[test]
fn long_needles_are_found_and_longer_ones_refused() {
    let long = "ein langer Satz, ".repeat(600).to_lowercase();
    assert!(long.len() > 10_000 && long.len() < NEEDLE_BYTES_MAX);
    assert_eq!(smart(&long, &format!("vor {long} nach {}", long.to_uppercase())).len(), 2);
    let longer = "x".repeat(NEEDLE_BYTES_MAX + 1);
    assert_eq!(Query::new(&needle(&longer), None).unwrap_err(), "too long to look for");
}

/// Which part of a text is shown decides on nothing: all parts together have the same hits.
#[test]
fn parts_have_the_hits_of_the_whole() {
    let long_line = "needle in a very long line; ".repeat(20_000);
    let texts = [
        "a needle\nand a needle, needle\n\nneedle".to_owned(),
        format!("first needle\n{long_line}\nlast needle\n"),
        "needle".repeat(30_000),
        "🦀needle🦀 ".repeat(9_000),
    ];
    for text in &texts {
        let query = Query::new(&needle("needle"), None).expect("a needle");
        let whole = query.hits(text, 0..text.len());
        assert!(whole.is_sorted_by(|a, b| a.end <= b.start));
        for step in [5, 64, 4_096, 70_001] {
            let cuts: Vec<_> =
                (0..=text.len()).step_by(step * (1 + text.len() / step / 300)).collect();
            let mut count = 0;
            for pair in cuts.windows(2).chain([[*cuts.last().unwrap(), text.len()].as_slice()]) {
                count += query.count(text, pair[0]..pair[1]);
                for hit in query.hits(text, pair[0]..pair[1]) {
                    assert!(whole.binary_search_by_key(&hit.start, |hit| hit.start).is_ok());
                }
            }
            assert_eq!(count, whole.len(), "steps of {step}");
        }
    }
}
