//! What each construct becomes: markdown, and the blocks in the notation of `dump::short`.

use letterpress::{
    markdown::{Options, parse},
    model::{Align, BlockKind},
};

use super::dump;

fn check(cases: &[(&str, &str)]) {
    for (markdown, expected) in cases {
        let blocks = parse(markdown, Options::default());
        dump::check(&blocks);
        assert_eq!(dump::short(&blocks), *expected, "{markdown:?}");
    }
}

#[test]
fn inline_styles_nest_and_merge() {
    check(&[
        ("plain", "P(plain)"),
        ("*a **b** c*", "P(<i:a ><bi:b><i: c>)"),
        ("**a** and __b__", "P(<b:a> and <b:b>)"),
        ("`code` and ``co`de``", "P(<c:code> and <c:co`de>)"),
        ("a\nb  \nc\\\nd", "P(a b\nc\nd)"),
        ("a &amp; b &copy; &#x41;", "P(a & b © A)"),
        ("\\*not\\*", "P(*not*)"),
        ("snake_case and 2*3*4", "P(snake_case and 2<i:3>4)"),
    ]);
}

#[test]
fn a_soft_break_is_a_line_break_in_what_people_type() {
    let options = Options { hard_breaks: true, ..Options::default() };
    assert_eq!(dump::short(&parse("a\nb", options)), "P(a\nb)");
}

#[test]
fn two_tildes_strike_and_one_does_not() {
    check(&[
        ("~~gone~~", "P(<s:gone>)"),
        ("~kept~", "P(~kept~)"),
        ("20~25 and 30~35", "P(20~25 and 30~35)"),
        ("~~a ~b~ c~~", "P(<s:a ~b~ c>)"),
    ]);
}

#[test]
fn links_keep_their_target_as_it_was_written() {
    check(&[
        ("[a](http://x.org/b?c&amp;d)", "P(<@http://x.org/b?c&d:a>)"),
        ("[a](<b c> \"title\")", "P(<@b c:a>)"),
        ("[**a** b](c)", "P(<b@c:a><@c: b>)"),
        ("[a](javascript:alert(1))", "P(<@javascript:alert(1):a>)"),
        (
            "<https://x.org/a_b> <me@x.org>",
            "P(<@https://x.org/a_b:https://x.org/a_b> <@mailto:me@x.org:me@x.org>)",
        ),
        ("[a]\n\n[a]: /first\n[a]: /second", "P(<@/first:a>)"),
        ("[empty]()", "P(empty)"),
        ("[](x) [nothing](y)", "P( <@y:nothing>)"),
    ]);
}

#[test]
fn bare_addresses_become_links() {
    check(&[
        ("see www.x.org.", "P(see <@http://www.x.org:www.x.org>.)"),
        ("(https://x.org/a_b_c)", "P((<@https://x.org/a_b_c:https://x.org/a_b_c>))"),
        ("mail me@x.org now", "P(mail <@mailto:me@x.org:me@x.org> now)"),
        ("**http://x.org**", "P(<b@http://x.org:http://x.org>)"),
        ("x.org and file.rs and a@b", "P(x.org and file.rs and a@b)"),
        ("ftp://x.org `http://x.org`", "P(ftp://x.org <c:http://x.org>)"),
        ("[http://x.org](y)", "P(<@y:http://x.org>)"),
    ]);
}

#[test]
fn images_are_placeholders() {
    check(&[
        ("![alt text](http://x.org/a.png)", "P(<!@http://x.org/a.png:alt text>)"),
        ("![](dir/pic.png)", "P(<!@dir/pic.png:pic.png>)"),
        ("![a *b* c](d)", "P(<!@d:a ><i!@d:b><!@d: c>)"),
        ("[![badge](b.svg)](home)", "P(<!@b.svg:badge>)"),
    ]);
}

#[test]
fn footnotes_do_not_depend_on_order() {
    check(&[
        ("a[^1]\n\n[^1]: note", "P(a<f:1>) F:1[P(note)]"),
        ("[^1]: note\n\na[^1]", "F:1[P(note)] P(a<f:1>)"),
        ("never defined[^x-y]", "P(never defined<f:x-y>)"),
        ("[^a b] is no footnote", "P([^a b] is no footnote)"),
        ("`[^1]` and \\[^1]", "P(<c:[^1]> and [^1])"),
        ("[^n]: one\n\n    two\n\nafter", "F:n[P(one) P(two)] P(after)"),
    ]);
}

#[test]
fn lists() {
    check(&[
        ("- a\n- b", "L-[P(a) | P(b)]"),
        ("- a\n\n- b", "L-loose[P(a) | P(b)]"),
        ("3. a\n4. b", "L3.[P(a) | P(b)]"),
        ("- a\n  - b\n    - c", "L-[P(a) L-[P(b) L-[P(c)]]]"),
        ("- [x] done\n- [ ] open\n- [y] text", "L-[[x] P(done) | [ ] P(open) | P([y] text)]"),
        ("- ```rs\n  x\n  ```\n- b", "L-[C:rs(x) | P(b)]"),
        ("-\n- a", "L-[ | P(a)]"),
        ("- a\n+ b", "L-[P(a)] L-[P(b)]"),
    ]);
}

#[test]
fn quotes_and_alerts() {
    check(&[
        ("> a\n> > b", "Q[P(a) Q[P(b)]]"),
        ("> [!NOTE]\n> a", "QNote[P(a)]"),
        ("> [!WARNING]\n> a\n>\n> - b", "QWarning[P(a) L-[P(b)]]"),
        ("> [!ODD]\n> a", "Q[P([!ODD] a)]"),
    ]);
}

#[test]
fn code_blocks() {
    check(&[
        ("```rust,ignore more\nfn a() {}\n\n```", "C:rust,ignore(fn a() {}\n)"),
        ("    a\n      b", "C:(a\n  b)"),
        ("~~~\n```\n~~~", "C:(```)"),
        ("```\nnever closed", "C:(never closed)"),
        ("a\n***\nb", "P(a) R P(b)"),
    ]);
}

#[test]
fn tables_have_a_cell_for_every_column() {
    check(&[
        ("| a | b |\n|---|---|\n| 1 | 2 |", "T2(a,b|1,2)"),
        ("a | b\n--|--\n1\n1 | 2 | 3", "T2(a,b|1,;1,2)"),
        ("| `a\\|b` | **c** |\n|---|---|", "T2(<c:a|b>,<b:c>|)"),
        ("| a |\n|---|---|", "P(| a | |---|---|)"),
    ]);
    let blocks = parse("|a|b|c|d|\n|-|:-|:-:|-:|", Options::default());
    let BlockKind::Table { align, .. } = &blocks[0].kind else { panic!("{blocks:?}") };
    assert_eq!(*align, [Align::None, Align::Left, Align::Center, Align::Right]);
}

#[test]
fn the_tags_that_mean_something() {
    check(&[
        ("a<br>b<br/>c", "P(a\nb\nc)"),
        ("<kbd>Ctrl</kbd>+<kbd>C</kbd>", "P(<k:Ctrl>+<k:C>)"),
        ("H<sub>2</sub>O x<sup>**2**</sup>", "P(H<_:2>O x<b^:2>)"),
        ("<sub>never closed", "P(<sub>never closed)"),
        ("never opened</sub>", "P(never opened</sub>)"),
        ("<sub>a</sup>", "P(<sub>a</sup>)"),
        ("<KBD>k</KBD>", "P(<k:k>)"),
    ]);
}

#[test]
fn other_html_is_shown() {
    check(&[
        ("a <b>c</b> d", "P(a <b>c</b> d)"),
        ("<div>\n*x*\n</div>", "V(<div>\n*x*\n</div>)"),
        ("<!-- hidden? -->", "V(<!-- hidden? -->)"),
        ("a <!-- no --> b", "P(a <d:<!-- no -->> b)"),
        ("<script>\nalert(1)\n</script>", "V(<script>\nalert(1)\n</script>)"),
        ("<img src=x onerror=y>", "V(<img src=x onerror=y>)"),
    ]);
}

#[test]
fn details_fold_whatever_stands_between_their_tags() {
    check(&[
        (
            "<details>\n<summary>S</summary>\n\n**in**\n\n- l\n\n</details>\n\nout",
            "D(S)[P(<b:in>) L-[P(l)]] P(out)",
        ),
        ("<details><summary>S</summary>\nplain\n</details>", "D(S)[V(plain)]"),
        (
            "<details open>\n\na\n\n<details>\n<summary>T</summary>\n\nb\n\n</details>\n</details>",
            "D()[P(a) D(T)[P(b)]]",
        ),
        ("<details>\n\n<summary>later</summary>\n\na", "D(later)[P(a)]"),
        ("</details>", "V(</details>)"),
        ("> <details>\n> <summary>S</summary>\n>\n> a\n\nout", "Q[D(S)[P(a)]] P(out)"),
    ]);
}

#[test]
fn blocks_know_where_they_came_from() {
    let text = "# A\n\npara\ngraph\n\n- a\n- b\n\n```\ncode\n```\n";
    let blocks = parse(text, Options::default());
    let sources: Vec<_> = blocks.iter().map(|block| &text[block.source.clone()]).collect();
    assert_eq!(sources, ["# A", "para\ngraph", "- a\n- b", "```\ncode\n```"]);
}
