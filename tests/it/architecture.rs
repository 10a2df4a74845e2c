//! The architecture as a test: which module may use which, and who alone may do what.
//!
//! A text scan is enough in one crate. Comments and unit tests are not looked at.

use std::{collections::BTreeSet, fs, path::Path};

/// The layers of `src/lib.rs`, bottom first. A module imports only from rows before its own.
const ROWS: &[&[&str]] = &[
    &["model", "perf"],
    &["wire", "markup", "markdown", "transcript", "store", "tools"],
    &["presenter"],
    &["engine", "layout", "gpu"],
    &["view"],
    &["app", "main"],
];

/// Crates that only some places may name: `(crate, places, reason)`.
const RESERVED_CRATES: &[(&str, &[&str], &str)] = &[
    ("egui", &["layout", "gpu", "view", "app"], "below layout nothing knows the toolkit"),
    ("epaint", &["layout", "gpu", "view", "app"], "below layout nothing knows the toolkit"),
    ("eframe", &["gpu", "view", "app"], "windows belong to the app"),
    ("egui_wgpu", &["gpu", "app"], "only gpu knows pipelines"),
    ("wgpu", &["gpu", "app"], "only gpu knows pipelines"),
    ("tokio", &["wire", "store", "tools", "transcript", "engine", "app"], "the UI never waits"),
    ("reqwest", &["wire", "tools/mcp/"], "only wire knows HTTP, and the protocol of tool servers"),
    ("notify", &["engine/watch/"], "one watcher for all"),
    ("pulldown_cmark", &["markdown"], "only markdown parses markdown"),
    ("egui_commonmark", &["view/", "app/"], "the reference renderer, not the transcript"),
    ("grep_regex", &["engine", "tools"], "matching costs time, so it is asked for"),
    ("grep_matcher", &["engine", "tools"], "matching costs time, so it is asked for"),
    ("rusqlite", &["store/catalog/"], "an index that can be built anew, and nothing else"),
    ("webbrowser", &["view/link_gate.rs"], "only a click on a link leaves the program"),
];

/// Calls that only some places may make: `(text, places, reason)`.
const RESERVED_CALLS: &[(&str, &[&str], &str)] = &[
    ("fs::write(", WRITERS, ONLY_STORE),
    ("fs::rename(", WRITERS, ONLY_STORE),
    ("fs::copy(", WRITERS, ONLY_STORE),
    ("fs::create_dir", WRITERS, ONLY_STORE),
    ("fs::remove_", WRITERS, ONLY_STORE),
    ("File::create", WRITERS, ONLY_STORE),
    (".create(true)", WRITERS, ONLY_STORE),
    (".create_new(true)", WRITERS, ONLY_STORE),
    (".append(true)", WRITERS, ONLY_STORE),
    (".truncate(true)", WRITERS, ONLY_STORE),
    (".write(true)", WRITERS, ONLY_STORE),
    ("OFlags::CREATE", WRITERS, ONLY_STORE),
    ("renameat(", WRITERS, ONLY_STORE),
    ("unlinkat(", WRITERS, ONLY_STORE),
    ("mkdirat(", WRITERS, ONLY_STORE),
    ("Command::new(", PROGRAMS, "no approval, no run: only an approved call starts a program"),
    ("Color32::from_rgb(", COLOURS, "colours live in one place"),
    ("Color32::from_gray(", COLOURS, "colours live in one place"),
    ("Color32::from_rgba_", COLOURS, "colours live in one place"),
    ("Color32::from_black_alpha(", COLOURS, "colours live in one place"),
    ("Color32::from_white_alpha(", COLOURS, "colours live in one place"),
    (".open_url(", LINKS, "every link passes the gate"),
    ("OpenUrl", LINKS, "every link passes the gate"),
    (".hyperlink(", LINKS, "every link passes the gate"),
    (".hyperlink_to(", LINKS, "every link passes the gate"),
    ("Hyperlink::", LINKS, "every link passes the gate"),
    // Tests and the off-screen surface listen to requests; they make none.
    (".request_repaint(", FRAMES, "the governor alone asks for frames"),
    (".request_repaint_after", FRAMES, "the governor alone asks for frames"),
    (".request_repaint_of(", FRAMES, "the governor alone asks for frames"),
];
// perf resets a counter of the kernel, which is not a file.
const FRAMES: &[&str] = &["view/governor.rs"];
// A tool writes what was approved, and only by steps from the workspace's handle.
// Checkpoints are kept in a repository of our own, beside the workspace.
const WRITERS: &[&str] =
    &["store", "app", "perf/memory.rs", "tools/workspace/handle.rs", "tools/checkpoint/"];
const ONLY_STORE: &str = "showing touches nothing: only store and app write files";
// The watchdog starts nothing but this program itself.
const PROGRAMS: &[&str] = &["tools/command/process.rs", "tools/mcp/", "app/watch/watchdog.rs"];
const COLOURS: &[&str] = &["view/theme.rs"];
const LINKS: &[&str] = &["view/link_gate.rs"];

/// Modules without IO, clock and environment, and what of `std` would bring them in.
const PURE: &[&str] =
    &["model", "markdown", "markup", "presenter", "tools/policy/", "tools/patch/", "tools/edit.rs"];
const IMPURE_STD: &[&str] = &["env", "fs", "io", "net", "process", "thread"];
const CLOCKS: &[&str] = &["Instant::now", "SystemTime", "perf::now"];

const MAX_LINES: usize = 800;
const MAX_MEDIAN_LINES: usize = 260;

/// One file of `src`: its path there with `/`, and its whole text.
struct Source {
    path: String,
    text: String,
}

impl Source {
    fn module(&self) -> &str {
        let first = self.path.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// How many modules deep the file is: 1 for `a.rs` and `a/mod.rs`, 2 for `a/b.rs`.
    fn depth(&self) -> usize {
        self.path.split('/').count() - usize::from(self.path.ends_with("/mod.rs"))
    }

    /// The lines that are compiled outside of tests, without their comments.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let tests = self.text.find("#[cfg(test)]\nmod ").unwrap_or(self.text.len());
        let code = self.text.get(..tests).unwrap_or_default();
        (1..).zip(code.lines().map(|line| line.split("//").next().unwrap_or_default()))
    }

    fn is_within(&self, places: &[&str]) -> bool {
        let holds = |place: &&str| match place.contains('/') {
            true => self.path.starts_with(place),
            false => self.module() == *place,
        };
        places.iter().any(holds)
    }
}

fn read_sources() -> Vec<Source> {
    fn walk(folder: &Path, root: &Path, found: &mut Vec<Source>) {
        for entry in fs::read_dir(folder).expect("src can be read") {
            let path = entry.expect("src can be read").path();
            if path.is_dir() {
                walk(&path, root, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let inside = path.strip_prefix(root).expect("it was found below src");
                let text = fs::read_to_string(&path).expect("sources are UTF-8");
                let path = inside.to_string_lossy().replace('\\', "/");
                found.push(Source { path, text: text.replace("\r\n", "\n") });
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    walk(&root, &root, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn row_of(module: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.contains(&module))
}

/// The first segments that follow `prefix`, with those of a group: `a` and `b` of `crate::{a::x, b}`.
fn segments_after<'a>(code: &'a str, prefix: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        let before = code.get(..at).and_then(|head| head.chars().next_back());
        if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '$')) {
            continue;
        }
        let rest = code.get(at + prefix.len()..).unwrap_or_default();
        let Some(group) = rest.strip_prefix('{') else {
            found.push(first_word(rest));
            continue;
        };
        let (mut depth, mut start) = (0, 0);
        for (i, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    found.push(first_word(group.get(start..i).unwrap_or_default()));
                    start = i + 1;
                    if c == '}' {
                        break;
                    }
                }
                _ => {}
            }
        }
    }
    found.retain(|word| !word.is_empty());
    found
}

fn first_word(text: &str) -> &str {
    let text = text.trim_start();
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// Does the line name this crate: `use name…`, or `name::`?
fn names_crate(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line.get(..at).unwrap_or_default();
        let after = line.get(at + name.len()..).unwrap_or_default();
        let starts = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let imported = before.trim_end().ends_with("use")
            && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        starts && (after.starts_with("::") || imported)
    })
}

/// Imports that do not look down.
fn layer_breaches(source: &Source, breaches: &mut Vec<String>) {
    let module = source.module();
    if module == "lib" {
        return;
    }
    let Some(row) = row_of(module) else {
        breaches.push(format!("{}:1: '{module}' has no layer", source.path));
        return;
    };
    let code: Vec<_> = source.code().collect();
    let climb = format!("{}::", vec!["super"; source.depth()].join("::"));
    for (number, line, group) in statements(&code) {
        for target in
            ["crate::", climb.as_str()].iter().flat_map(|prefix| segments_after(&group, prefix))
        {
            let allowed = row_of(target).is_none_or(|other| other < row || target == module);
            if !allowed {
                breaches.push(format!(
                    "{}:{number}: '{module}' imports '{target}': {}",
                    source.path,
                    line.trim()
                ));
            }
        }
    }
}

/// Joins a `use` that was broken over lines, so that its group is seen whole.
fn statements<'a>(code: &[(usize, &'a str)]) -> Vec<(usize, &'a str, String)> {
    let mut joined: Vec<(usize, &str, String)> = Vec::new();
    let mut open = false;
    for &(number, line) in code {
        match joined.last_mut() {
            Some((_, _, statement)) if open => statement.push_str(line.trim()),
            _ => joined.push((number, line, line.to_owned())),
        }
        let starts_use = line
            .trim_start()
            .trim_start_matches("pub ")
            .trim_start_matches("pub(crate) ")
            .starts_with("use ");
        open = (open || starts_use) && !line.contains(';');
    }
    joined
}

/// What only some places may name or do.
fn reserve_breaches(source: &Source, breaches: &mut Vec<String>) {
    let code: Vec<_> = source.code().collect();
    let mut breach = |number, what: &str, reason| {
        breaches.push(format!("{}:{number}: {what}: {reason}", source.path));
    };
    for &(number, line) in &code {
        for &(name, places, reason) in RESERVED_CRATES {
            if names_crate(line, name) && !source.is_within(places) {
                breach(number, name, reason);
            }
        }
        for &(text, places, reason) in RESERVED_CALLS {
            if line.contains(text) && !source.is_within(places) {
                breach(number, text, reason);
            }
        }
    }
    if source.is_within(PURE) {
        for (number, _, statement) in statements(&code) {
            let modules = segments_after(&statement, "std::").into_iter();
            let impure = modules.filter(|name| IMPURE_STD.contains(name));
            let clocks = CLOCKS.iter().copied().filter(|clock| statement.contains(clock));
            for name in impure.chain(clocks) {
                breach(number, name, "pure layers do no IO and take `now`");
            }
        }
    }
}

fn breaches(sources: &[Source]) -> Vec<String> {
    let mut breaches = Vec::new();
    for source in sources {
        layer_breaches(source, &mut breaches);
        reserve_breaches(source, &mut breaches);
    }
    breaches
}

#[test]
fn imports_look_down_and_reserved_things_stay_home() {
    let sources = read_sources();
    assert!(sources.iter().any(|source| source.path == "lib.rs"), "the sources were not found");
    let breaches = breaches(&sources);
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn one_file_alone_knows_the_reference_renderer() {
    let sources = read_sources();
    let uses =
        |source: &&Source| source.code().any(|(_, line)| names_crate(line, "egui_commonmark"));
    let files: Vec<_> = sources.iter().filter(uses).map(|source| &source.path).collect();
    assert!(files.len() <= 1, "{files:?}");
}

#[test]
fn files_stay_small() {
    let sources = read_sources();
    let mut lengths: Vec<_> = sources.iter().map(|s| (s.text.lines().count(), &s.path)).collect();
    lengths.sort();
    let over: Vec<_> = lengths.iter().filter(|(lines, _)| *lines > MAX_LINES).collect();
    assert!(over.is_empty(), "over {MAX_LINES} lines: {over:?}");
    let (median, _) = lengths[lengths.len() / 2];
    println!("{} files, median {median} lines, longest {:?}", lengths.len(), lengths.last());
    assert!(median <= MAX_MEDIAN_LINES, "median {median} lines");
}

#[test]
fn the_architecture_document_names_every_module() {
    let sources = read_sources();
    let document = sources.iter().find(|source| source.path == "lib.rs").expect("lib.rs exists");
    let prose = document.text.lines().filter(|line| line.starts_with("//!"));
    let words: BTreeSet<&str> =
        prose.flat_map(|l| l.split(|c: char| !c.is_alphanumeric() && c != '_')).collect();
    let modules: BTreeSet<&str> =
        sources.iter().map(Source::module).filter(|m| !["lib", "main"].contains(m)).collect();
    let unnamed: Vec<_> = modules.difference(&words).collect();
    assert!(unnamed.is_empty(), "src/lib.rs does not name {unnamed:?}");
}

#[test]
fn planted_breaches_are_found() {
    let found =
        |path: &str, text: &str| breaches(&[Source { path: path.into(), text: text.into() }]);
    let clean = |path: &str, text: &str| assert_eq!(found(path, text), Vec::<String>::new());
    let one = |path: &str, text: &str, part: &str| {
        let found = found(path, text);
        assert!(found.len() == 1 && found[0].contains(part), "{text}: {found:?}");
    };

    one("model/mod.rs", "use crate::view::Thing;", "model/mod.rs:1: 'model' imports 'view'");
    one(
        "markdown/seal.rs",
        "\nuse crate::{model::{Block, Run}, layout};",
        ":2: 'markdown' imports 'layout'",
    );
    one(
        "store/log.rs",
        "use crate::{\n    model,\n    tools::Policy,\n};",
        "'store' imports 'tools'",
    );
    one("layout/mod.rs", "fn f() -> super::gpu::Arena {}", "'layout' imports 'gpu'");
    one("layout/slug.rs", "fn f() -> super::super::view::Theme {}", "'layout' imports 'view'");
    one("model/id.rs", "use crate::perf;", "'model' imports 'perf'");
    one("oddments.rs", "", "'oddments' has no layer");
    clean("layout/slug.rs", "use crate::{model::Block, perf, markdown};\nuse super::gpu_free;");
    clean("view/mod.rs", "pub(crate) use crate::view::icon; // crate::app is above");
    clean(
        "model/mod.rs",
        "//! See [`crate::view`].\n#[cfg(test)]\nmod tests {\n    use crate::view;\n}",
    );

    one("transcript/pi.rs", "fn f(ui: &mut egui::Ui) {}", "egui: ");
    one("engine/mod.rs", "use egui::Context;", "egui: ");
    one("view/chat.rs", "tokio::spawn(f);", "tokio: ");
    one("engine/turn.rs", "use reqwest;", "reqwest: ");
    one("layout/mod.rs", "use wgpu::Buffer;", "wgpu: ");
    one("transcript/index.rs", "std::fs::write(path, b\"\")?;", "fs::write(");
    one("view/card.rs", "let c = Color32::from_rgb(1, 2, 3);", "from_rgb");
    one("view/card.rs", "ui.ctx().open_url(url);", ".open_url(");
    one("app/window/tab.rs", "ctx.request_repaint_after(SOON);", ".request_repaint_after");
    clean("view/governor.rs", "ctx.request_repaint_after_for(delay, ViewportId::ROOT);");
    one("markdown/mod.rs", "use std::{\n    fmt,\n    fs::File,\n};", "fs: pure");
    one("presenter/mod.rs", "let now = Instant::now();", "Instant::now: pure");
    one("tools/policy/rules.rs", "use std::fs;", "fs: pure");
    one("tools/run.rs", "let child = Command::new(name);", "Command::new(");
    clean("tools/bench.rs", "use std::fs;");
    clean("view/link_gate.rs", "ui.ctx().open_url(OpenUrl::new_tab(url));");
    clean("view/theme.rs", "const INK: egui::Color32 = egui::Color32::from_rgb(1, 2, 3);");
    clean("store/log.rs", "std::fs::write(path, bytes)?;");
    clean("presenter/mod.rs", "use std::{sync::Arc, ops::Range};\nuse std::time::Duration;");
}
