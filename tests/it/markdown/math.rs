//! Which delimiters make a formula.

use letterpress::markdown::{Options, parse};

use super::dump;

fn check(options: Options, cases: &[(&str, &str, &str)]) {
    for (name, markdown, expected) in cases {
        let blocks = parse(markdown, options);
        dump::check(&blocks);
        assert_eq!(dump::short(&blocks), *expected, "{name}: {markdown:?}");
    }
}

#[test]
fn delimiters() {
    check(
        Options::default(),
        &[
            ("two prices", "$5 and $6", "P($5 and $6)"),
            ("price per", "$/PR", "P($/PR)"),
            ("two variables", "$HOME/$USER", "P($HOME/$USER)"),
            ("escaped dollar", "\\$5", "P($5)"),
            ("dollars in code", "`$x$`", "P(<c:$x$>)"),
            ("bracket in a link", "[a\\]b](c)", "P(<@c:a]b>)"),
            ("escaped backslash", "\\\\(", "P(\\()"),
            ("function call", "f\\(x\\)", "P(f<m:x>)"),
            ("three dollars", "$$$", "P($$$)"),
            ("uneven dollars", "$$x$", "P($$x$)"),
            ("inline", "so \\(a_1 * b_1 * c\\) holds", "P(so <m:a_1 * b_1 * c> holds)"),
            ("inline over lines", "so \\(a\n= b\\) holds", "P(so <m:a = b> holds)"),
            ("display", "\\[\nx = 1\n+ 2\n\\]", "M(x = 1\n+ 2)"),
            ("display on a line", "\\[ x \\]", "M(x)"),
            ("display in a paragraph", "so:\n\\[\nx\n\\]\nholds", "P(so:) M(x) P(holds)"),
            ("display within words", "so \\[x\\] holds", "P(so <m:x> holds)"),
            ("dollars display", "$$\nx\n$$", "M(x)"),
            ("dollars inline", "so $$x$$ holds", "P(so <m:x> holds)"),
            ("display with a blank line", "\\[\nx\n\ny\n\\]", "M(x\n\ny)"),
            ("two blank lines end it", "\\[\nx\n\n\ny\n\\]", "P([ x) P(y ])"),
            ("never closed", "\\[ x", "P([ x)"),
            ("setext inside", "\\[\na\n=\nb\n\\]", "M(a\n=\nb)"),
            ("math fence", "```math\nx\n```", "M(x)"),
            ("latex fence", "```latex\nx\n```", "C:latex(x)"),
            ("in a fence", "```\n\\[ x \\]\n```", "C:(\\[ x \\])"),
            ("in an indented block", "    \\(x\\)", "C:(\\(x\\))"),
            ("in an address", "[a](b_\\(c\\))", "P(<@b_(c):a>)"),
            ("in a list", "- a:\n  \\[\n  x\n  \\]\n- b", "L-[P(a:) M(x) | P(b)]"),
            ("in a quote", "> \\[\n> x\n> y\n> \\]", "Q[M(x\ny)]"),
            ("bar in a table", "| a |\n|---|\n| \\(x|y\\) |", "T1(a|<m:x|y>)"),
            ("in a heading", "# \\(x\\)", "H1(<m:x>)"),
            ("in strong", "**\\(x\\)**", "P(<bm:x>)"),
            ("empty", "\\(\\) \\[ \\]", "P(() [ ])"),
        ],
    );
}

#[test]
fn single_dollars_by_the_rule_of_pandoc() {
    let options = Options { dollar_math: true, ..Options::default() };
    check(
        options,
        &[
            ("formula", "so $x_1 + y_1$ holds", "P(so <m:x_1 + y_1> holds)"),
            ("two prices", "$5 and $6", "P($5 and $6)"),
            ("space inside", "$ x$ and $x $", "P($ x$ and $x $)"),
            ("digit behind", "$x$5", "P($x$5)"),
            ("escaped", "\\$x$", "P($x$)"),
            ("in code", "`$x$`", "P(<c:$x$>)"),
            ("not over a blank line", "$x\n\ny$", "P($x) P(y$)"),
        ],
    );
}
