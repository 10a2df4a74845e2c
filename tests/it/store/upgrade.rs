//! D11: sessions of every version open, and say what they said.
//!
//! `tests/corpora/store/<version>` is a data folder as that version left it, after a crash;
//! `expected.json` beside it says what is in it. A version adds a folder, and changes none.

use std::{
    fs,
    path::{Path, PathBuf},
};

use letterpress::{
    model::record::Kind,
    store::{Home, Line, Sync, replay},
};
use serde_json::{Value, json};

use super::{NOW, id, real, saved, wait, writer};

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpora/store")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        match path.is_dir() {
            true => copy(&path, &to),
            false => drop(fs::copy(&path, &to).unwrap()),
        }
    }
}

/// What is in a data folder, as `expected.json` has it.
fn describe(data: &Path) -> Value {
    let store = real(data);
    let opened = store.open_session(&id("a"), NOW).unwrap();
    let lines = replay(&opened.path, opened.len).map(|line| match line {
        Line::Entry(it) => json!([it.n, it.offset, it.kind.name(), it.t, it.body]),
        Line::Damaged(it) => json!({"damaged": [it.offset, it.len]}),
    });
    let lines: Vec<Value> = lines.collect();
    let torn = opened.found.torn.as_ref().map(|torn| fs::read_to_string(torn).unwrap());
    let named = lines.iter().filter_map(|line| line.pointer("/4/parts/1/data/blob")?.as_str());
    let blobs: Vec<_> = named.map(|sha| store.blob(&id("a"), sha).unwrap()).collect();
    let blobs: Vec<_> = blobs.iter().map(|bytes| String::from_utf8_lossy(bytes)).collect();
    let draft = |home| {
        let drafts = store.drafts_at(&home);
        drafts.iter().map(|it| json!([&*it.key, &*it.text, it.caret])).collect::<Vec<_>>()
    };
    let (next, is_interrupted) = (opened.next, opened.found.is_interrupted);
    wait(writer(opened).close()).unwrap();
    json!({
        "next": next,
        "is_interrupted": is_interrupted,
        "torn": torn,
        "lines": lines,
        "blobs": blobs,
        "draft": draft(Home::Session(id("a"))),
        "new_draft": draft(Home::New(id("d"))),
    })
}

#[test]
fn d11_sessions_of_every_version_open_and_are_equal() {
    let mut versions = 0;
    for version in fs::read_dir(corpora()).unwrap() {
        let version = version.unwrap().path();
        let folder = tempfile::tempdir().unwrap();
        copy(&version.join("data"), folder.path());
        let expected = fs::read_to_string(version.join("expected.json")).unwrap();
        let expected: Value = serde_json::from_str(&expected).unwrap();
        assert_eq!(describe(folder.path()), expected, "{}", version.display());
        // It goes on in this version.
        let store = real(folder.path());
        let opened = store.open_session(&id("a"), NOW).unwrap();
        assert_eq!(json!(opened.next), expected["next"]);
        saved(wait(writer(opened).append(Kind::User, json!("on"), Sync::Now)));
        versions += 1;
    }
    assert!(versions >= 1);
}
