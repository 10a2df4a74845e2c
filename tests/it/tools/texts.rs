//! Edits and patches as data; pages as text; what a terminal leaves.

use letterpress::tools::{
    MODEL_TEXT, clipped,
    edit::{Replacement, replace},
    fetch::text_of_html,
    patch::{Action, apply, parse},
    plain_text,
};
use proptest::prelude::*;

struct Case<'a> {
    name: &'a str,
    parts: Vec<(&'a str, String)>,
}

impl Case<'_> {
    fn part(&self, name: &str) -> Option<&str> {
        self.parts.iter().find(|(part, _)| *part == name).map(|(_, text)| text.as_str())
    }

    fn check(&self, found: Result<String, String>) {
        match (found, self.part("after"), self.part("error")) {
            (Ok(found), Some(after), _) => assert_eq!(found, after, "{}", self.name),
            (Err(found), _, Some(error)) => {
                assert!(found.contains(error.trim_end()), "{}: {found}", self.name);
            }
            (found, ..) => panic!("{}: {found:?}", self.name),
        }
    }
}

fn cases(corpus: &str) -> Vec<Case<'_>> {
    let cases = corpus.split("#### ").skip(1).map(|case| {
        let (name, rest) = case.split_once('\n').expect("a name");
        let parts = rest.split("==== ").skip(1).map(|part| {
            let (name, text) = part.split_once('\n').expect("a part");
            let text = text.replace('␍', "\r");
            let text = match text.split_once('␄') {
                Some((text, _)) => text.to_owned(),
                None => text,
            };
            (name, text)
        });
        Case { name, parts: parts.collect() }
    });
    cases.collect()
}

#[test]
fn patches_do_what_they_say() {
    let cases = cases(include_str!("../../corpora/tools/patches.txt"));
    assert!(cases.len() >= 25, "{}", cases.len());
    for case in cases {
        let (before, patch) = (case.part("before"), case.part("patch"));
        let (before, patch) = (before.expect("a file"), patch.expect("a patch"));
        let applied = parse(patch).and_then(|files| match &files[0].action {
            Action::Update { hunks, .. } => apply(before, hunks),
            other => panic!("{}: {other:?}", case.name),
        });
        case.check(applied.map_err(|error| error.to_string()));
    }
}

#[test]
fn edits_do_what_they_say() {
    let cases = cases(include_str!("../../corpora/tools/edits.txt"));
    assert!(cases.len() >= 16, "{}", cases.len());
    for case in cases {
        let part = |name: &str| case.part(name).expect(name).to_owned();
        let all = case.name.starts_with("all ");
        let edit = Replacement { old: part("old"), new: part("new"), all };
        case.check(replace(&part("before"), &[edit]).map_err(|error| error.to_string()));
    }
}

#[test]
fn patches_name_what_happens_to_files() {
    let files = parse(concat!(
        "diff --git a/new.rs b/new.rs\nnew file mode 100644\n--- /dev/null\n+++ b/new.rs\n@@ -0,0 +1,2 @@\n+a\n+b\n",
        "diff --git a/old.rs b/old.rs\n--- a/old.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
        "diff --git a/was.rs b/is.rs\nsimilarity index 100%\nrename from was.rs\nrename to is.rs\n",
        "--- a/f.rs\t2020-01-01\n+++ b/g.rs\t2020-01-01\n@@ -1 +1 @@\n-x\n+y\n",
    ));
    let files = files.expect("a patch");
    let told: Vec<_> = files
        .iter()
        .map(|file| {
            let action = match &file.action {
                Action::Add(text) => format!("add {text:?}"),
                Action::Delete => "delete".to_owned(),
                Action::Update { moved_to, hunks } => {
                    format!("update {moved_to:?} {}", hunks.len())
                }
            };
            format!("{} {action}", file.path)
        })
        .collect();
    assert_eq!(
        told,
        [
            "new.rs add \"a\\nb\\n\"",
            "old.rs delete",
            "was.rs update Some(\"is.rs\") 0",
            "f.rs update Some(\"g.rs\") 1",
        ]
    );
}

#[test]
fn several_edits_are_made_in_order() {
    let edit = |old: &str, new: &str| Replacement { old: old.into(), new: new.into(), all: false };
    assert_eq!(replace("a", &[edit("a", "b"), edit("b", "c")]).as_deref(), Ok("c"));
    assert!(replace("a", &[edit("a", "b"), edit("a", "c")]).is_err());
}

#[test]
fn a_large_file_that_does_not_fit_is_not_compared_for_ever() {
    let before = "x\n".repeat(400_000);
    let mut patch = "--- a/f\n+++ b/f\n@@ -1,2001 +1,1 @@\n".to_owned();
    patch.extend(std::iter::repeat_n("-x\n", 2000));
    patch.push_str("-y\n");
    let files = parse(&patch).expect("a patch");
    let Action::Update { hunks, .. } = &files[0].action else { panic!("an update") };
    assert!(apply(&before, hunks).is_err());
}

proptest! {
    /// A patch made from two texts turns the one into the other, wherever it says it is.
    #[test]
    fn a_patch_of_everything_is_the_other_text(
        before in prop::collection::vec("[abc]{0,2}", 0..8),
        after in prop::collection::vec("[abc]{0,2}", 1..8),
        line in 1..20_usize,
    ) {
        let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let mut patch = format!("--- a/f\n+++ b/f\n@@ -{line},{} +{line},{} @@\n", before.len(), after.len());
        for (sign, lines) in [('-', &before), ('+', &after)] {
            patch.extend(lines.iter().map(|line| format!("{sign}{line}\n")));
        }
        let files = parse(&patch).expect("a patch");
        let Action::Update { hunks, .. } = &files[0].action else { panic!("an update") };
        prop_assert_eq!(apply(&text(&before), hunks), Ok(text(&after)));
    }

    #[test]
    fn no_patch_breaks_anything(text in "([-+ @*a\\\\]{0,3}(Begin Patch|End Patch|Update File: f|@ -1,2 \\+1 @@)?\n){0,12}", before in "([a-c]{0,2}\n){0,5}") {
        if let Ok(files) = parse(&text) {
            for file in files {
                if let Action::Update { hunks, .. } = &file.action {
                    prop_assert!(apply(&before, hunks).is_ok_and(|_| true) || !hunks.is_empty());
                }
            }
        }
    }

    #[test]
    fn no_page_breaks_anything(html in "(<|>|</|<!--|-->|<a href=|\"|'|&#x|&amp;|&|;|<script>|</script>|<li>|<pre>|x| |\n|é){0,40}") {
        let text = text_of_html(&html);
        prop_assert!(text.len() <= 4 * html.len() + 16);
    }

    #[test]
    fn no_output_breaks_anything(text in any::<String>()) {
        let plain = plain_text(&text);
        prop_assert!(!plain.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t')), "{:?}", plain);
        prop_assert!(clipped(&plain).len() <= MODEL_TEXT + 100);
    }
}

#[test]
fn a_page_is_read_as_text() {
    let html = "<!doctype html><html><head><title>A &amp; B</title><style>p{}</style>\
        <script>if (a < b) {}</script></head><body><!-- no <p>no</p> --><h2>Head</h2>\
        <p>One <b>bold</b> word, <a href=\"/x?a=1&amp;b=2\">a link</a>.</p><ul><li>first</li>\
        <li>second</li></ul><pre>  kept\n    so</pre><img alt=\"a cat\" src=x>\
        <table><tr><td>1</td><td>2</td></tr></table>1 < 2 &#233;&#x2014;&bogus; <SCRIPT>x</SCRIPT></body>";
    let text = text_of_html(html);
    for part in [
        "# A & B",
        "## Head",
        "One bold word, a link (/x?a=1&b=2).",
        "- first\n- second",
        "  kept\n    so",
        "[picture: a cat]",
        "1 | 2 |",
        "1 < 2 é—&bogus;",
    ] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    assert!(
        !text.contains("no") && !text.contains("p{}") && !text.contains('x')
            || text.contains("/x?")
    );
    assert_eq!(text_of_html("<script>").as_str(), "");
    assert_eq!(text_of_html("<p a=\"").as_str(), "");
}

#[test]
fn a_terminal_leaves_text() {
    for (output, text) in [
        ("a\x1b[31mb\x1b[0mc", "abc"),
        ("\x1b]0;title\x07x\x1b]8;;http://e\x1b\\link\x1b]8;;\x1b\\", "xlink"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("ab\x08c", "ac"),
        ("a\tb\x07\x00", "a\tb"),
        ("\x1b]52;c;aGk=\x07\x1bP1q\x1b\\y", "y"),
        ("é\u{9b}31m日", "é31m日"),
        ("line\r", "line"),
    ] {
        assert_eq!(plain_text(output), text, "{output:?}");
    }
}

#[test]
fn a_long_text_keeps_its_head_and_tail() {
    let lines: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
    let text = clipped(&lines);
    assert!(text.len() <= MODEL_TEXT + 100, "{}", text.len());
    assert!(text.starts_with("line 0\n") && text.ends_with("line 19999\n"));
    let note = text.lines().find(|line| line.starts_with("[…")).expect("a note");
    let omitted: usize = note.split(' ').nth(1).and_then(|n| n.parse().ok()).expect("a number");
    let kept = text.len() - note.len() - 2;
    assert_eq!(omitted + kept, lines.len());
    let one = "é".repeat(100_000);
    assert!(clipped(&one).len() <= MODEL_TEXT + 100);
}
