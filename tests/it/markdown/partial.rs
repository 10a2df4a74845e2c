//! How the end of a text looks while it is still arriving.

use letterpress::{
    markdown::{Options, Stream, parse},
    model::{Block, BlockKind, Style},
};

use super::dump;

/// The blocks of a text that has come this far.
fn so_far(text: &str) -> String {
    let mut stream = Stream::new(Options::default());
    stream.push(text);
    let mut blocks = stream.sealed().to_vec();
    blocks.extend(stream.tail());
    dump::check(&blocks);
    assert_eq!(stream.source(), text);
    dump::short(&blocks)
}

fn check(cases: &[(&str, &str, &str)]) {
    for (name, text, expected) in cases {
        assert_eq!(so_far(text), *expected, "{name}: {text:?}");
    }
}

#[test]
fn open_emphasis_is_closed() {
    check(&[
        ("strong", "a **bold", "P(a <b:bold>)"),
        ("both", "***bi", "P(<bi:bi>)"),
        ("emphasis", "*it", "P(<i:it>)"),
        ("underscore", "_it", "P(<i:it>)"),
        ("underscores", "__b", "P(<b:b>)"),
        ("strike", "~~s", "P(<s:s>)"),
        ("nested", "**a *b", "P(<b:a ><bi:b>)"),
        ("over lines", "**a\nb", "P(<b:a b>)"),
        ("in a list", "- x\n- **b", "L-[P(x) | P(<b:b>)]"),
        ("in a quote", "> **b", "Q[P(<b:b>)]"),
        ("in a heading", "# **b", "H1(<b:b>)"),
        ("in a cell", "| a |\n|---|\n| **b", "T1(a|<b:b>)"),
        ("space behind", "**bold ", "P(<b:bold>)"),
        ("line behind", "**bold\n", "P(<b:bold>)"),
        ("paragraph over", "**bold\n\n", "P(**bold)"),
    ]);
}

#[test]
fn half_a_closer_is_completed() {
    check(&[
        ("strong", "**bold*", "P(<b:bold>)"),
        ("underscores", "__b_", "P(<b:b>)"),
        ("strike", "~~s~", "P(<s:s>)"),
        ("formula", "so $$f$", "P(so <m:f>)"),
        ("both", "***bi**", "P(<bi:bi>)"),
    ]);
}

#[test]
fn a_bare_marker_is_left_alone() {
    check(&[
        ("two stars", "**", "P(**)"),
        ("star", "*", "P(*)"),
        ("tick", "`", "P(`)"),
        ("tildes", "~~", "P(~~)"),
        ("stars in an item", "- **", "L-[P(**)]"),
        ("star behind a word", "text*", "P(text*)"),
    ]);
}

#[test]
fn a_marker_inside_a_word_is_left_alone() {
    check(&[
        ("product", "234*123", "P(234<i:123>)"),
        ("underscore", "snake_case", "P(snake_case)"),
        ("spaces", "2 * 3", "P(2 * 3)"),
    ]);
}

#[test]
fn a_marker_that_means_nothing_is_left_alone() {
    check(&[
        ("escaped", "\\*x", "P(*x)"),
        ("in code", "`*x`", "P(<c:*x>)"),
        ("in a formula", "\\(a*b\\) c", "P(<m:a*b> c)"),
        ("in a target", "[a](b*c) d", "P(<@b*c:a> d)"),
        ("escape at the end", "a\\", "P(a)"),
    ]);
}

#[test]
fn open_code_is_closed() {
    check(&[
        ("one tick", "a `code", "P(a <c:code>)"),
        ("two ticks", "a ``co`de", "P(a <c:co`de>)"),
        ("half a closer", "a ``code`", "P(a <c:code>)"),
        ("fence", "```rust\nlet x", "C:rust…(let x)"),
        ("fence without code", "```rust", "C:rust…()"),
        ("fence after words", "a\n```\nb **c", "P(a) C:…(b **c)"),
        ("half a closing fence", "```\na\n``", "C:…(a)"),
        ("closed fence", "```\na\n```", "C:(a)"),
        ("fence in an item", "- a\n  ```\n  b", "L-[P(a) C:…(b)]"),
        ("tag in code", "```\n<div", "C:…(<div)"),
    ]);
}

#[test]
fn half_a_link_is_text_and_cannot_be_clicked() {
    check(&[
        ("text", "see [text", "P(see text)"),
        ("text closed", "see [text]", "P(see text)"),
        ("target", "see [text](url", "P(see text)"),
        ("target opened", "see [text](", "P(see text)"),
        ("target in brackets", "see [text](<url", "P(see text)"),
        ("title", "see [text](url \"ti", "P(see text)"),
        ("closed", "see [text](url)", "P(see <@url:text>)"),
        ("styled", "see [**te", "P(see <b:te>)"),
        ("reference", "see [text][re", "P(see text)"),
        ("no link after all", "see [text] more", "P(see [text] more)"),
        ("task", "- [ ", "L-[]"),
        ("task closed", "- [x] a", "L-[[x] P(a)]"),
        ("footnote", "a[^12", "P(a)"),
        ("definition", "[a]\n\n[a]: http://x.or", "P([a])"),
    ]);
}

#[test]
fn half_an_image_is_a_placeholder_without_a_target() {
    check(&[
        ("text", "see ![alt", "P(see <!:alt>)"),
        ("target", "see ![alt](url", "P(see <!:alt>)"),
        ("closed", "see ![alt](url)", "P(see <!@url:alt>)"),
    ]);
}

#[test]
fn an_open_formula_is_dim_source() {
    check(&[
        ("dollars", "so $$x", "P(so <d:$$x>)"),
        ("dollar", "so $x", "P(so $x)"),
        ("parenthesis", "so \\(x", "P(so <d:\\(x>)"),
        ("display", "\\[\nx +", "M…(x +)"),
        ("display after words", "so:\n\\[\n- x", "P(so:) M…(- x)"),
        ("half a closer", "$$\nx$", "M…(x)"),
        ("two blank lines", "\\[\nx\n\n\ny", "P([ x) P(y)"),
    ]);
    assert_eq!(dump::short(&parse("\\[\nx +", Options::default())), "P([ x +)");
}

#[test]
fn no_heading_flashes() {
    check(&[
        ("dash", "text\n-", "P(text)"),
        ("dashes", "text\n--", "P(text)"),
        ("equals", "text\n=", "P(text)"),
        ("two equals", "text\n==", "P(text)"),
        ("line end", "text\n==\n", "H1(text)"),
        ("in a quote", "> text\n> -", "Q[P(text)]"),
        ("next item", "- a\n-", "L-[P(a)]"),
        ("next number", "1. a\n2.", "L1.[P(a)]"),
        ("rule or strong", "***", "P(***)"),
        ("rule", "***\n", "R"),
    ]);
}

#[test]
fn a_single_tilde_never_strikes() {
    check(&[("range", "20~25", "P(20~25)"), ("open", "~x", "P(~x)")]);
}

#[test]
fn a_quote_in_a_list_is_accepted() {
    check(&[("comparison", "- > 25", "L-[Q[P(25)]]")]);
}

#[test]
fn half_a_tag_is_held_back_for_a_while() {
    let long = format!("text <div {}", "x".repeat(80));
    check(&[
        ("tag", "text <div", "P(text)"),
        ("end tag", "text </di", "P(text)"),
        ("attribute", "text <a href=\"x", "P(text)"),
        ("tag complete", "text <a href=\"x\">", "P(text <a href=\"x\">)"),
        ("comparison", "a < b", "P(a < b)"),
        ("block", "text\n\n<div", "P(text)"),
        ("too long", &long, &format!("P({long})")),
    ]);
}

#[test]
fn a_table_begins_with_its_delimiter_row() {
    check(&[
        ("header", "| a | b |", "P(| a | b |)"),
        ("header line", "| a | b |\n", "P(| a | b |)"),
        ("half a delimiter row", "| a | b |\n|--", "P(| a | b |)"),
        ("delimiter row", "| a | b |\n|--|--|", "P(| a | b |)"),
        ("delimiter line", "| a | b |\n|--|--|\n", "T2(a,b|)"),
        ("half a row", "| a | b |\n|--|--|\n| 1", "T2(a,b|1,)"),
        ("row", "| a | b |\n|--|--|\n| 1 | 2 |\n", "T2(a,b|1,2)"),
        ("next row", "| a | b |\n|--|--|\n| 1 | 2 |\n|", "T2(a,b|1,2)"),
    ]);
}

#[test]
fn space_at_the_end_is_not_shown() {
    check(&[("space", "text ", "P(text)"), ("spaces", "text   ", "P(text)")]);
}

#[test]
fn several_open_constructs() {
    check(&[
        ("two brackets", "[a [b", "P([a b)"),
        ("link in strong", "**a [b](c", "P(<b:a b>)"),
        ("code in strong", "**a `b", "P(<b:a ><bc:b>)"),
    ]);
}

#[test]
fn details_are_open_until_they_end() {
    check(&[
        ("summary", "<details>\n<summary>S</summary>\n\na **b", "D(S)[P(a <b:b>)]"),
        ("behind", "<details>\n\na\n\n</details>\n\nb", "D()[P(a)] P(b)"),
    ]);
}

/// Nothing that is still open can be clicked or fetched, whatever the prefix.
#[test]
fn no_prefix_gives_a_target_that_is_not_complete() {
    let targets = ["https://example.org/path(a)", "pic.png", "/defined"];
    let text = "See [the **page**](https://example.org/path(a) \"title\"), ![a](pic.png), and \
                [ref].\n\n[ref]: /defined\n";
    for (at, _) in text.char_indices() {
        let mut stream = Stream::new(Options::default());
        stream.push(&text[..at]);
        for block in stream.tail().iter().chain(stream.sealed()) {
            for (_, target) in links(block) {
                assert!(targets.contains(&target.as_str()), "{target:?} at {:?}", &text[..at]);
            }
        }
    }
}

fn links(block: &Block) -> Vec<(Style, String)> {
    match &block.kind {
        BlockKind::Paragraph(text) => text
            .runs
            .iter()
            .filter_map(|run| Some((run.style, text.links[run.link? as usize].to_string())))
            .collect(),
        _ => Vec::new(),
    }
}
