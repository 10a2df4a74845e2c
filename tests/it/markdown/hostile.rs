//! Input made to hurt: what it becomes is small, flat and countable.

use std::sync::Arc;

use letterpress::{
    markdown::{Options, Stream, parse},
    model::{Block, BlockKind, RichText},
};

use super::dump;

/// Name, text, and how many blocks and bytes of them it becomes.
fn cases() -> Vec<(&'static str, String, usize, usize)> {
    vec![
        ("nested emphasis", "*a **a ".repeat(32_500), 1, 227_631),
        ("underscores", "a_ ".repeat(32_500), 1, 97_631),
        ("open brackets", "[a".repeat(32_500), 1, 65_132),
        ("nested brackets", "[".repeat(25_000) + "a" + &"]".repeat(25_000), 1, 50_133),
        ("nested quotes", "> ".repeat(25_000) + "a", 1, 53_897),
        ("nested list", (0..500).map(|i| "  ".repeat(i) + "- a\n").collect(), 1, 259_555),
        ("list on a line", "- ".repeat(2_000) + "a", 1, 8_921),
        ("list and blank lines", "- ".repeat(30_000) + "x" + &"\n".repeat(30_000), 1, 64_921),
        ("empty items", "- \n\n".repeat(30_000), 1, 960_120),
        ("backticks", (1..2_500).map(|i| "e".to_owned() + &"`".repeat(i)).collect(), 1, 3_126_381),
        ("open targets", "[a](<b".repeat(30_000), 1, 180_132),
        ("open images", "![[]()".repeat(160_000), 1, 320_132),
        ("open comments", "<!--".repeat(300_000), 1, 1_200_120),
        ("open comments in words", "a ".to_owned() + &"<!--".repeat(300_000), 1, 1_200_134),
        ("quotes and stars", ">".repeat(100_000) + &"a*".repeat(100_000), 1, 303_928),
        ("long table", table(50, 50, 1_000), 2, 1_761_541),
        ("wide table", table(5_000, 1, 5_000), 3, 450_955),
        ("long code", format!("```\n{}```\n", "let x = f(a, b);\n".repeat(60_000)), 1, 1_020_119),
        ("long word", "a".repeat(1_000_000), 1, 1_000_132),
        ("dollars", "$a ".repeat(50_000), 1, 150_131),
        ("marks", "e".to_owned() + &"\u{301}".repeat(500_000), 1, 152),
        ("open formulas", "\\( a ".repeat(50_000), 1, 200_131),
        ("open displays", "\\[ a\n".repeat(50_000), 1, 200_131),
        ("footnotes", "[^1] ".repeat(50_000), 1, 1_300_107),
        ("addresses", "a@".repeat(200_000), 1, 400_132),
        ("tags", "<sub>".repeat(50_000) + &"</sub>".repeat(50_000), 1, 120),
        ("details", "<details>\n\n".repeat(20_000), 1, 2_579_712),
    ]
}

fn table(columns: usize, cells: usize, rows: usize) -> String {
    let row = |cell: &str, count: usize| cell.repeat(count) + "|\n";
    row("|h", columns) + &row("|-", columns) + &row("|x", cells).repeat(rows)
}

fn bytes(blocks: &[Arc<Block>]) -> usize {
    blocks.iter().map(|block| block.total_bytes()).sum()
}

#[test]
fn pathological_text_becomes_little() {
    for (name, text, count, size) in cases() {
        let blocks = parse(&text, Options::default());
        dump::check(&blocks);
        assert_eq!((blocks.len(), bytes(&blocks)), (count, size), "{name}");
        let mut stream = Stream::new(Options::default());
        stream.push(&text);
        dump::check(&stream.tail());
        assert_eq!(stream.finish(), blocks, "{name}");
    }
}

#[test]
fn nesting_past_the_cap_is_shown_as_text() {
    let blocks = parse(&("- ".repeat(40) + "deep"), Options::default());
    assert!(blocks[0].hygiene.capped);
    let shown = dump::short(&blocks);
    assert_eq!(shown, "L-[".repeat(32) + "V(- - - - - - - - deep)" + &"]".repeat(32));
    let blocks = parse(&("> ".repeat(32) + "deep"), Options::default());
    assert!(!blocks[0].hygiene.capped);
    assert_eq!(dump::short(&blocks), "Q[".repeat(32) + "P(deep)" + &"]".repeat(32));
}

#[test]
fn the_rest_of_a_wide_table_is_shown_as_text() {
    let text = table(120, 120, 2);
    let blocks = parse(&text, Options::default());
    let BlockKind::Table { align, header, rows } = &blocks[0].kind else { panic!("{blocks:?}") };
    assert_eq!((align.len(), header.len(), rows.len()), (100, 100, 2));
    assert!(blocks[0].hygiene.capped);
    assert_eq!(blocks[1].kind, BlockKind::Verbatim(text.trim_end().into()));
}

#[test]
fn the_rest_of_a_long_table_is_shown_as_text() {
    let text = table(10, 10, 2_500);
    let blocks = parse(&text, Options::default());
    let BlockKind::Table { rows, .. } = &blocks[0].kind else { panic!("{blocks:?}") };
    assert_eq!(rows.len(), 1_999, "a header and rows of 20,000 cells");
    let BlockKind::Verbatim(rest) = &blocks[1].kind else { panic!() };
    assert_eq!(rest.lines().count(), 2_500 - 1_999);
    let mut stream = Stream::new(Options::default());
    for line in text.split_inclusive('\n') {
        stream.push(line);
        assert!(!stream.tail().is_empty());
    }
    assert_eq!(stream.finish(), blocks);
}

fn links(block: &Block) -> usize {
    match &block.kind {
        BlockKind::Paragraph(RichText { links, runs, .. }) => {
            assert!(runs.iter().all(|run| run.link.is_none_or(|at| usize::from(at) < links.len())));
            links.len()
        }
        _ => 0,
    }
}

#[test]
fn links_past_the_cap_are_plain_text() {
    let text: String = (0..6_000).map(|i| format!("[a](b{i}) www.x.org\n\n")).collect();
    let blocks = parse(&text, Options::default());
    assert_eq!(blocks.iter().map(|block| links(block)).sum::<usize>(), 5_000);
    assert_eq!(links(&blocks[2_499]), 2);
    assert_eq!(links(&blocks[2_500]), 0);
    assert!(blocks[2_500].hygiene.capped);
    let mut stream = Stream::new(Options::default());
    for piece in text.as_bytes().chunks(1_000) {
        stream.push(std::str::from_utf8(piece).unwrap());
        assert!(stream.tail().len() < 60);
    }
    assert_eq!(stream.finish(), blocks);
    let one = parse(&"[a](b) ".repeat(70_000), Options::default());
    assert_eq!(links(&one[0]), 5_000);
}

/// References that copy one long address again and again stay small.
#[test]
fn a_definition_cannot_be_used_to_fill_memory() {
    let text = format!("[a]: /{}\n\n{}", "u".repeat(50_000), "[a]\n\n".repeat(20_000));
    let blocks = parse(&text, Options::default());
    assert!(blocks.iter().all(|block| links(block) == 0));
    assert!(bytes(&blocks) < 4_000_000, "{}", bytes(&blocks));
    let text = format!("[a]: /{}\n\n{}", "u".repeat(2_000), "[a]\n\n".repeat(20_000));
    let blocks = parse(&text, Options::default());
    assert_eq!(blocks.iter().map(|block| links(block)).sum::<usize>(), 5_000);
}
