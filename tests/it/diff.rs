//! Line diffs: compared texts, patches that were read, and what hostile ones cost.

use letterpress::layout::diff::{DiffKind, DiffLine, counts, lines, numbered, patch_text, unified};
use proptest::prelude::*;

/// One line of text for each line of a diff.
fn dump(diff: &[DiffLine], old: &str, new: &str) -> String {
    let no = |n: Option<u32>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
    diff.iter()
        .map(|line| {
            let (sign, text) = match line.kind {
                DiffKind::Kept => (" ", line.text(old, new).to_owned()),
                DiffKind::Added => ("+", line.text(old, new).to_owned()),
                DiffKind::Removed => ("-", line.text(old, new).to_owned()),
                DiffKind::Heading => ("#", line.text(old, new).to_owned()),
                DiffKind::Skipped(n) => ("~", n.to_string()),
                DiffKind::Omitted(n) => ("!", n.to_string()),
            };
            format!("{sign}{},{} {text}\n", no(line.old_no), no(line.new_no))
        })
        .collect()
}

fn check(old: &str, new: &str, context: usize, expect: &str) {
    assert_eq!(dump(&lines(old, new, context), old, new), expect);
}

fn check_patch(patch: &str, expect: &str) {
    let diff = unified(patch).expect("a patch");
    assert_eq!(dump(&diff, patch, patch), expect);
}

#[test]
fn a_changed_line_stands_between_its_neighbours() {
    check("a\nb\nc\n", "a\nB\nc\n", 1, " 1,1 a\n-2,- b\n+-,2 B\n 3,3 c\n");
}

#[test]
fn equal_texts_have_no_lines() {
    check("a\nb\n", "a\nb\n", 3, "");
    check("", "", 3, "");
}

#[test]
fn a_new_file_is_all_added_and_a_deleted_one_all_removed() {
    check("", "a\n\nb", 3, "+-,1 a\n+-,2 \n+-,3 b\n");
    check("a\n\nb", "", 3, "-1,- a\n-2,- \n-3,- b\n");
}

#[test]
fn unchanged_lines_far_from_a_change_are_counted() {
    let old: String = (1..=20).map(|n| format!("line {n}\n")).collect();
    let new = old.replace("line 5\n", "five\n").replace("line 15\n", "");
    let expect = "~-,- 3\n 4,4 line 4\n-5,- line 5\n+-,5 five\n 6,6 line 6\n~-,- 7\n \
                  14,14 line 14\n-15,- line 15\n 16,15 line 16\n~-,- 4\n";
    check(&old, &new, 1, expect);
}

#[test]
fn one_hidden_line_is_shown_instead_of_counted() {
    check("x\na\nb\n", "x\na\nB\n", 1, " 1,1 x\n 2,2 a\n-3,- b\n+-,3 B\n");
}

#[test]
fn a_missing_last_newline_is_a_change_of_that_line() {
    check("a\nb", "a\nb\n", 1, " 1,1 a\n-2,- b\n+-,2 b\n");
}

#[test]
fn texts_too_large_to_compare_are_removed_and_added_and_capped() {
    let old = "o\n".repeat(1_100_000);
    let diff = lines(&old, "new\n", 3);
    assert_eq!(diff.len(), 20_001);
    assert_eq!(diff.last().unwrap().kind, DiffKind::Omitted(1_080_001));
    assert_eq!(counts(&diff), (0, 20_000));
    let long = "o".repeat(2_100_000);
    assert_eq!(counts(&lines(&long, "new\n", 3)), (1, 1));
}

#[test]
fn a_million_equal_lines_are_compared() {
    let old = "\n".repeat(1_000_000);
    let new = format!("{}x\n{}", "\n".repeat(400_000), "\n".repeat(500_000));
    let diff = lines(&old, &new, 3);
    assert_eq!(
        diff.last().unwrap().kind,
        DiffKind::Omitted(80_009),
        "20,000 of 100,009 lines are shown"
    );
    let (a, b) = ("a\nb\n".repeat(200_000), "b\nc\na\n".repeat(150_000));
    assert!(lines(&a, &b, 3).len() <= 20_001);
}

#[test]
fn git_patches_are_read() {
    check_patch(
        "diff --git a/src/x.rs b/src/x.rs\nindex 1..2 100644\n--- a/src/x.rs\n+++ b/src/x.rs\n\
         @@ -10,3 +10,4 @@ fn main() {\n a\n-b\n+B\n+C\n c\n\\ No newline at end of file\n\
         @@ -20 +21,0 @@\n-gone\n\
         diff --git a/y b/y\nnew file mode 100644\n--- /dev/null\n+++ b/y\n@@ -0,0 +1,2 @@\n+--- one\n++++ two\n-- \n2.39\n",
        "#-,- src/x.rs\n~-,- 9\n#-,- fn main() {\n 10,10 a\n-11,- b\n+-,11 B\n+-,12 C\n 12,13 c\n\
         ~-,- 7\n-20,- gone\n#-,- y\n+-,1 --- one\n+-,2 +++ two\n",
    );
}

#[test]
fn a_hunk_with_wrong_counts_keeps_its_lines() {
    check_patch("@@ -1,1 +1,1 @@\n-a\n+b\n+c\n d\n", "-1,- a\n+-,1 b\n+-,2 c\n 2,3 d\n");
    check_patch("@@ -1,9 +1,9 @@\n-a\n+b\n", "-1,- a\n+-,1 b\n");
}

#[test]
fn patches_of_edit_tools_without_numbers_are_read() {
    check_patch(
        "*** Begin Patch\n*** Update File: a b.py\n@@ def f():\n x\n-y\n+z\n@@\n-p\n+q\n*** Add File: n\n+1\n*** Delete File: o\n*** End Patch\n",
        "#-,- a b.py\n#-,- def f():\n -,- x\n--,- y\n+-,- z\n~-,- 0\n--,- p\n+-,- q\n#-,- n\n+-,1 1\n#-,- o\n",
    );
}

#[test]
fn prose_is_not_a_patch() {
    for text in ["", "hello", "- a\n- b\n", "--- \ntitle: x\n---\n", "+1\n", "a @@ b"] {
        assert_eq!(unified(text), None, "{text:?}");
    }
}

#[test]
fn stored_hunks_become_a_patch() {
    let hunks = serde_json::json!([{
        "oldStart": 2, "oldLines": 2, "newStart": 2, "newLines": 2,
        "lines": [" a", "-b\r", "+c\nd"]
    }]);
    let patch = patch_text(&hunks).unwrap();
    check_patch(&patch, "~-,- 1\n 2,2 a\n-3,- b\n+-,3 cd\n");
    for bad in [serde_json::json!(null), serde_json::json!([]), serde_json::json!([{"lines": 1}])] {
        assert_eq!(patch_text(&bad), None);
    }
}

#[test]
fn numbered_diffs_are_read() {
    let text = "     ...\n  12 a\n- 13 b\n+ 13 c\n+ 14 \n  14 d\n     ...";
    let expect = "~-,- 0\n 12,12 a\n-13,- b\n+-,13 c\n+-,14 \n 14,15 d\n~-,- 0\n";
    assert_eq!(dump(&numbered(text).unwrap(), text, text), expect);
    for text in ["", "a", "+ b", "@@ -1 +1 @@\n-a\n+b", "+ 99999999999 x", "+ 1x"] {
        assert_eq!(numbered(text), None, "{text:?}");
    }
}

proptest! {
    /// Kept and removed lines are the old text, kept and added ones the new text.
    #[test]
    fn both_texts_can_be_read_off_a_diff(old in "[ab\n]{0,40}", new in "[abc\r\n]{0,40}") {
        let diff = lines(&old, &new, usize::MAX);
        if old != new {
            let side = |out: DiffKind, number: fn(&DiffLine) -> Option<u32>| {
                let side = diff.iter().filter(|line| line.kind != out);
                side.enumerate().for_each(|(i, l)| assert_eq!(number(l), Some(i as u32 + 1)));
                let side = diff.iter().filter(|line| line.kind != out);
                side.map(|line| line.text(&old, &new)).collect::<Vec<_>>()
            };
            let trimmed = |text: &str| {
                text.split_inclusive('\n').map(|l| l.trim_end_matches(['\r', '\n']).to_owned()).collect::<Vec<_>>()
            };
            prop_assert_eq!(side(DiffKind::Added, |l| l.old_no).len(), trimmed(&old).len());
            prop_assert_eq!(side(DiffKind::Removed, |l| l.new_no), trimmed(&new));
        }
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in "([-+ @\\\\*\n]|@@ -1,2 \\+3 @@|--- |\\+\\+\\+ b/|[0-9]|é|\\*\\*\\* Add File: |\n){0,40}") {
        for diff in [unified(&text), numbered(&text)].into_iter().flatten() {
            for line in &diff {
                prop_assert!(text.get(line.text.clone()).is_some(), "{:?}", line);
            }
        }
    }
}
