//! A text in pieces gives what the whole text gives, and never takes a sealed block back.

use std::{collections::HashMap, mem::Discriminant, sync::Arc};

use letterpress::{
    markdown::{Options, Stream, parse},
    model::{Block, BlockKind, Blocks},
};
use proptest::prelude::*;

use super::dump;

const ANSWER: &str = include_str!("../../corpora/markdown/answer.md");
const FORMULAS: &str = include_str!("../../corpora/markdown/formulas.md");
const REFERENCES: &str = include_str!("../../corpora/markdown/references.md");
const HTML: &str = include_str!("../../corpora/markdown/html.md");
const SCRIPTS: &str = include_str!("../../corpora/markdown/scripts.md");
const TORN: &str = include_str!("../../corpora/markdown/torn.md");
const NESTED: &str = include_str!("../../corpora/markdown/nested.md");

const DOCUMENTS: [&str; 7] = [ANSWER, FORMULAS, REFERENCES, HTML, SCRIPTS, TORN, NESTED];

/// Documents of a hundred different orders, made of the paragraphs of the others.
fn mixed() -> Vec<String> {
    let parts: Vec<&str> = DOCUMENTS.iter().flat_map(|text| text.split("\n\n")).collect();
    let mut seed = 1u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        parts[(seed >> 33) as usize % parts.len()]
    };
    (0..100).map(|_| [next(), next(), next(), next()].join("\n\n")).collect()
}

/// Feeds a text in pieces and takes a snapshot after each; checks what must hold all the time.
fn feed(text: &str, pieces: impl Iterator<Item = usize>, options: Options) -> Stream {
    let mut stream = Stream::new(options);
    let mut seen: Vec<Arc<Block>> = Vec::new();
    let mut at = 0;
    for length in pieces {
        let end = text.ceil_char_boundary((at + length).min(text.len()));
        stream.push(&text[at..end]);
        at = end;
        let Blocks::Open { sealed, tail } = stream.snapshot() else { panic!("not open") };
        assert!(sealed.len() >= seen.len(), "a sealed block is gone at byte {at}");
        for (now, before) in sealed.iter().zip(&seen) {
            assert!(Arc::ptr_eq(now, before), "a sealed block changed at byte {at}");
        }
        dump::check(&sealed);
        dump::check(&tail);
        seen = sealed.to_vec();
        if at == text.len() {
            break;
        }
    }
    stream
}

#[test]
fn any_chunking_gives_the_blocks_of_the_whole() {
    for text in DOCUMENTS {
        for options in [Options::default(), Options { hard_breaks: true, dollar_math: true }] {
            let whole = parse(text, options);
            for length in [1, 2, 3, 5, 8, 17, 96, 1000] {
                let stream = feed(text, std::iter::repeat(length), options);
                assert_eq!(stream.finish(), whole, "pieces of {length} bytes");
            }
        }
    }
}

#[test]
fn windows_over_line_ends_change_nothing() {
    let text = DOCUMENTS.map(|text| text.replace('\n', "\r\n")).join("\r\n");
    let whole = parse(&text, Options::default());
    assert_eq!(feed(&text, std::iter::repeat(1), Options::default()).finish(), whole);
    let old = text.replace("\r\n", "\r");
    let with_old = parse(&old, Options::default());
    assert_eq!(feed(&old, std::iter::repeat(3), Options::default()).finish(), with_old);
    assert_eq!(
        dump::short(&with_old),
        dump::short(&parse(&old.replace('\r', "\n"), Options::default()))
    );
}

/// Long enough to be read in several windows, with definitions that come early, late and twice.
#[test]
fn a_long_text_is_read_in_windows() {
    let text = [ANSWER, REFERENCES, FORMULAS, HTML, NESTED, SCRIPTS].join("\n\n").repeat(200);
    assert!(text.len() > 600_000);
    let whole = parse(&text, Options::default());
    for length in [10_007, 300_001] {
        let stream = feed(&text, std::iter::repeat(length), Options::default());
        assert_eq!(stream.finish(), whole, "pieces of {length} bytes");
    }
}

#[test]
fn every_prefix_is_shown() {
    for text in DOCUMENTS {
        for (at, _) in text.char_indices() {
            let mut stream = Stream::new(Options::default());
            stream.push(&text[..at]);
            dump::check(stream.sealed());
            dump::check(&stream.tail());
            dump::check(&stream.finish());
        }
    }
}

/// What grew in small steps looks as if it had been read at once.
#[test]
fn the_growing_tail_is_the_tail_of_its_prefix() {
    for text in [ANSWER, FORMULAS, HTML, SCRIPTS, NESTED] {
        let mut growing = Stream::new(Options::default());
        for (at, c) in text.char_indices() {
            growing.push(c.encode_utf8(&mut [0; 4]));
            let mut fresh = Stream::new(Options::default());
            fresh.push(&text[..at + c.len_utf8()]);
            let shown = |stream: &Stream| {
                let blocks: Vec<_> = stream.sealed().iter().cloned().chain(stream.tail()).collect();
                dump::short(&blocks)
            };
            assert_eq!(shown(&growing), shown(&fresh), "before {:?}", &text[at..]);
        }
    }
}

#[test]
fn a_block_changes_its_kind_at_most_twice() {
    let mixed = mixed();
    for text in DOCUMENTS.into_iter().chain(mixed.iter().map(String::as_str)) {
        let mut kinds: HashMap<usize, (Discriminant<BlockKind>, usize)> = HashMap::new();
        let mut stream = Stream::new(Options::default());
        for (at, c) in text.char_indices() {
            stream.push(c.encode_utf8(&mut [0; 4]));
            for block in stream.tail() {
                let kind = std::mem::discriminant(&block.kind);
                let (before, flips) = kinds.entry(block.source.start).or_insert((kind, 0));
                if *before != kind {
                    *before = kind;
                    *flips += 1;
                    assert!(
                        *flips <= 2,
                        "flip {flips} to {} at {:?}",
                        dump::short(&[block]),
                        &text[..at]
                    );
                }
            }
        }
    }
}

#[test]
fn a_definition_behind_its_use_changes_only_the_blocks_that_use_it() {
    let mut stream = Stream::new(Options::default());
    stream.push("Uses [late] here.\n\nPlain paragraph.\n\nNo [[link]] here.\n\nEn");
    assert_eq!(stream.sealed().len(), 3);
    stream.push("d.\n\n[late]: /target\n");
    let before = stream.sealed().to_vec();
    assert_eq!(
        dump::short(&before),
        "P(Uses [late] here.) P(Plain paragraph.) P(No [[link]] here.)"
    );
    let after = stream.finish();
    assert_eq!(
        dump::short(&after),
        "P(Uses <@/target:late> here.) P(Plain paragraph.) P(No [[link]] here.) P(End.)"
    );
    assert!(Arc::ptr_eq(&before[1], &after[1]));
    assert!(Arc::ptr_eq(&before[2], &after[2]), "read again, but nothing changed");
}

#[test]
fn sealed_blocks_are_shared_between_snapshots() {
    let mut stream = Stream::new(Options::default());
    stream.push("one\n\ntwo\n\nthr");
    let Blocks::Open { sealed: first, .. } = stream.snapshot() else { panic!() };
    stream.push("ee");
    let Blocks::Open { sealed: second, tail } = stream.snapshot() else { panic!() };
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!(dump::short(&tail), "P(three)");
}

#[test]
fn a_stream_can_move_to_another_thread() {
    fn sendable<T: Send>(value: T) -> T {
        value
    }
    assert_eq!(sendable(Stream::new(Options::default())).source(), "");
}

#[test]
fn nothing_is_parsed_until_it_is_asked_for() {
    let mut stream = Stream::new(Options::default());
    for _ in 0..1000 {
        stream.push("words, ");
    }
    assert_eq!(stream.parsed_bytes(), 0);
    assert_eq!(stream.tail().len(), 1);
    let once = stream.parsed_bytes();
    assert_eq!(stream.tail().len(), 1);
    assert_eq!(stream.parsed_bytes(), once, "nothing new, nothing read");
}

/// Bytes parsed per byte of text when a frame shows 96 bytes more than the one before.
fn work(text: &str, delta: usize) -> f64 {
    let mut stream = Stream::new(Options::default());
    let mut at = 0;
    let mut shown = 0;
    while at < text.len() {
        let end = text.ceil_char_boundary((at + delta).min(text.len()));
        stream.push(&text[at..end]);
        at = end;
        if at - shown >= 96 || at == text.len() {
            shown = at;
            assert!(matches!(stream.snapshot(), Blocks::Open { .. }));
        }
    }
    stream.parsed_bytes() as f64 / text.len() as f64
}

#[test]
fn ordinary_text_is_parsed_less_than_three_times() {
    let text = [ANSWER, FORMULAS, SCRIPTS, HTML].join("\n\n").repeat(20);
    for delta in [1, 4, 16, 96, 1000] {
        let work = work(&text, delta);
        assert!(work <= 3.0, "deltas of {delta} bytes: {work:.2} times");
    }
}

#[test]
fn one_long_block_is_not_read_again_and_again() {
    let line = "let answer = compute(&input)?;\n";
    let cases = [
        ("fence", "```rust\n".to_owned() + &line.repeat(4000), 0.1),
        ("list", "- item with **bold** words and some more text\n".repeat(2500), 3.0),
        ("table", "| a | b |\n|---|---|\n".to_owned() + &"| one | **two** |\n".repeat(3000), 3.0),
        ("paragraph", "words of a **paragraph** that does not end, ".repeat(2500), 3.0),
        ("word", "a".repeat(100_000), 16.0),
        ("quote", "> words of a quote\n".repeat(5000), 16.0),
        ("details", "<details>\n\n".to_owned() + &"words\n\n".repeat(14_000), 16.0),
        ("one item", "- top\n".to_owned() + &"  - **nested** item\n".repeat(5000), 16.0),
    ];
    for (name, text, limit) in cases {
        let work = work(&text, 4);
        assert!(work <= limit, "{name}: parsed {work:.2} times");
        let whole = parse(&text, Options::default());
        assert_eq!(
            feed(&text, std::iter::repeat(997), Options::default()).finish(),
            whole,
            "{name}"
        );
    }
}

/// Fragments that fight each other when they meet.
fn fragment() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "# H\n",
        "para ",
        "text\n",
        "\n",
        "\n\n",
        "- item\n",
        "- [x] t\n",
        "  - sub\n",
        "1. one\n",
        "2) two\n",
        "> quote\n",
        "> [!NOTE]\n",
        "```rs\n",
        "```\n",
        "~~~\n",
        "    code\n",
        "| a | b |\n",
        "|---|---|\n",
        "| 1 | 2 |\n",
        "[foo]",
        "[foo]: /url\n",
        "[foo]: /other 'ti'\n",
        "[^1]",
        "[^1]: note\n",
        "**",
        "*",
        "__",
        "_",
        "~~",
        "~",
        "`",
        "``",
        "$$",
        "\\(",
        "\\)",
        "\\[",
        "\\]",
        "$",
        "<div>\n",
        "<details>\n<summary>S</summary>\n",
        "</details>\n",
        "<br>",
        "<kbd>",
        "</kbd>",
        "<!-- ",
        "-->",
        "---\n",
        "===\n",
        "-",
        "=",
        "+ b\n",
        "http://x.com/a_b",
        "www.foo.org.",
        "a@b.co",
        "&amp;",
        "![alt](u)",
        "[l](u",
        "[l](u)",
        "(",
        ")",
        "\t",
        "  ",
        "\\",
        "é",
        "中文",
        "\u{202E}",
        "\u{200B}",
        "\r\n",
        "\r",
        "1",
        "*  *  *\n",
        "<x",
        "\n> ",
        "\n  ",
        "|",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hostile_text_in_random_pieces_gives_the_blocks_of_the_whole(
        fragments in prop::collection::vec(fragment(), 1..25),
        lengths in prop::collection::vec(1usize..12, 1..40),
        hard_breaks in any::<bool>(),
        dollar_math in any::<bool>(),
    ) {
        let text = fragments.concat();
        let options = Options { hard_breaks, dollar_math };
        let whole = parse(&text, options);
        dump::check(&whole);
        let stream = feed(&text, lengths.into_iter().cycle(), options);
        prop_assert_eq!(stream.finish(), whole);
    }

    #[test]
    fn any_bytes_are_shown(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        let whole = parse(&text, Options::default());
        dump::check(&whole);
        let stream = feed(&text, std::iter::repeat(7), Options::default());
        prop_assert_eq!(stream.finish(), whole);
    }
}

/// However the text is cut, a table is one from the end of its rule on, and its head was never
/// taken for finished words.
#[test]
fn a_table_shows_from_its_rule_on_however_it_is_cut() {
    let text = "A finished message is laid out **once**.\n\n\
        | Part of the page | Laid out | What a frame costs |\n|:--|:-:|--:|\n\
        | finished messages | once | a copy |\n| the open paragraph | on every change | much |\n\
        \nThe rule behind it, with a | bar | in | a | long enough line of words\n";
    let ready = text.find("--:|\n").expect("a rule") + 5;
    for size in 1..64 {
        let mut stream = Stream::new(Options::default());
        let mut end = 0;
        for chunk in text.as_bytes().chunks(size) {
            stream.push(std::str::from_utf8(chunk).expect("ASCII"));
            end += chunk.len();
            let tail = stream.tail();
            let mut blocks = stream.sealed().iter().chain(&tail);
            let is_table = |block: &&Arc<Block>| matches!(block.kind, BlockKind::Table { .. });
            assert!(end < ready || blocks.any(|block| is_table(&block)), "{size}: {end}");
        }
    }
}
