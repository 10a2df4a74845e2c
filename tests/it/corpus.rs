//! Tests that are data: each input file has a sibling `*.expect` with the text it must give.
//!
//! `UPDATE_EXPECT=1 cargo test` rewrites the expectations; read the difference before you commit it.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

/// Renders every `tests/corpora/<dir>/*.<extension>` and compares with its `.expect` file.
///
/// # Panics
/// With a line difference for each file that differs, and when the folder has no such file.
#[track_caller]
pub(crate) fn check_dir(dir: &str, extension: &str, render: impl Fn(&Path) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpora").join(dir);
    let update = std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1");
    if let Err(report) = check_folder(&folder, extension, update, render) {
        panic!("{report}\nUPDATE_EXPECT=1 accepts what was rendered");
    }
}

fn check_folder(
    folder: &Path,
    extension: &str,
    update: bool,
    render: impl Fn(&Path) -> String,
) -> Result<(), String> {
    let inputs = files_with(folder, extension)?;
    if inputs.is_empty() {
        return Err(format!("{}: no *.{extension} file", folder.display()));
    }
    let mut report = String::new();
    for input in &inputs {
        let expect = input.with_extension("expect");
        let mut actual = render(input);
        if !actual.ends_with('\n') {
            actual.push('\n');
        }
        let expected = fs::read_to_string(&expect).unwrap_or_default();
        if actual == expected {
            continue;
        }
        if update {
            fs::write(&expect, actual).map_err(|e| format!("{}: {e}", expect.display()))?;
        } else {
            _ = write!(report, "{}\n{}", input.display(), difference(&expected, &actual));
        }
    }
    for stale in stale_expectations(folder, &inputs)? {
        _ = writeln!(report, "{}: has no input", stale.display());
    }
    if report.is_empty() { Ok(()) } else { Err(report) }
}

fn files_with(folder: &Path, extension: &str) -> Result<BTreeSet<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files = BTreeSet::new();
    for entry in entries {
        let path = entry.map_err(|e| format!("{}: {e}", folder.display()))?.path();
        if path.is_file() && path.extension().is_some_and(|found| found == extension) {
            files.insert(path);
        }
    }
    Ok(files)
}

/// Expectations whose input is gone; inputs with other extensions still count.
fn stale_expectations(folder: &Path, inputs: &BTreeSet<PathBuf>) -> Result<Vec<PathBuf>, String> {
    let mut stale = files_with(folder, "expect")?;
    stale.retain(|expect| !inputs.iter().any(|input| input.with_extension("expect") == *expect));
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries.flatten().filter(|e| e.path().extension() != Some("expect".as_ref())) {
        stale.remove(&entry.path().with_extension("expect"));
    }
    Ok(stale.into_iter().collect())
}

/// The lines that differ, with two lines around them; equal ends are left out.
fn difference(expected: &str, actual: &str) -> String {
    const CONTEXT: usize = 2;
    let old: Vec<&str> = expected.lines().collect();
    let new: Vec<&str> = actual.lines().collect();
    let shorter = old.len().min(new.len());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tail = (old.iter().rev().zip(new.iter().rev()))
        .take(shorter - head)
        .take_while(|(a, b)| a == b)
        .count();
    let mut out = format!("  from line {}\n", head + 1);
    let mut lines = |mark: &str, lines: &[&str]| {
        for line in lines {
            _ = writeln!(out, "  {mark} {line}");
        }
    };
    lines(" ", &old[head.saturating_sub(CONTEXT)..head]);
    lines("-", &old[head..old.len() - tail]);
    lines("+", &new[head..new.len() - tail]);
    lines(" ", &old[old.len() - tail..(old.len() - tail + CONTEXT).min(old.len())]);
    out
}

fn upper(path: &Path) -> String {
    fs::read_to_string(path).expect("an input of this test").to_uppercase()
}

#[test]
fn corpus_reports_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let check = |update| check_folder(folder.path(), "txt", update, upper);

    assert!(check(false).unwrap_err().contains("no *.txt file"));
    write("a.txt", "one\ntwo\nthree\n");
    write("a.expect", "ONE\n2\nTHREE\n");
    assert!(
        check(false).unwrap_err().ends_with("from line 2\n    ONE\n  - 2\n  + TWO\n    THREE\n")
    );
    check(true).unwrap();
    check(false).unwrap();
    write("b.txt", "no expectation yet");
    assert!(check(false).unwrap_err().contains("+ NO EXPECTATION YET"));
    check(true).unwrap();
    write("c.expect", "left behind");
    assert!(check(false).unwrap_err().contains("c.expect: has no input"));
}
