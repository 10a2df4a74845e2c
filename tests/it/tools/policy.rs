//! The table of commands, and that nothing is allowed that the table does not have.

use letterpress::tools::{
    Call, CommandLine, DEFAULT_TIMEOUT, Verdict, judge,
    policy::{
        At, Facts, GitConfig, PathUse, Place, Program, Reason, Rules, Trust, What, carries_data,
        is_private, is_private_host, is_protected, paths_of,
    },
};
use proptest::prelude::*;
use serde_json::Value;

#[cfg(unix)]
use super::bench;

/// A workspace at `/w` in which every path is a file, and no path is a link.
fn place(path: &PathUse) -> Place {
    let base = path.base.as_deref().unwrap_or(".");
    let whole = if path.path.starts_with('/') {
        path.path.clone()
    } else {
        format!("/w/{base}/{}", path.path)
    };
    let mut names: Vec<&str> = Vec::new();
    for name in whole.split('/').filter(|name| !matches!(*name, "" | ".")) {
        if name == ".." {
            names.pop();
        } else {
            names.push(name);
        }
    }
    let at = match names.as_slice() {
        ["w", inside @ ..] => At::Inside(inside.join("/")),
        outside => At::Outside(format!("/{}", outside.join("/"))),
    };
    Place { asked: path.path.clone(), at, what: What::File { links: 1 } }
}

pub(super) fn facts(call: &Call) -> Facts {
    let mut places: Vec<Place> = paths_of(call).unwrap_or_default().iter().map(place).collect();
    if let (Call::Command { .. }, Some(folder)) = (call, places.first_mut()) {
        folder.what = What::Folder;
    }
    Facts {
        root: "/w".to_owned(),
        places,
        program: Program::Installed("/usr/bin/program".into()),
        git: GitConfig::Plain,
        changes: Ok(Vec::new()),
        trust: Trust::Untrusted,
        ..Facts::default()
    }
}

fn call(line: CommandLine) -> Call {
    Call::Command { line, folder: None, timeout: DEFAULT_TIMEOUT }
}

pub(super) fn command(argv: &[&str]) -> Call {
    call(CommandLine::Argv(argv.iter().map(|word| (*word).to_owned()).collect()))
}

/// `allow`; `ask`; or `once`, when nothing may be remembered.
pub(super) fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow(_) => "allow",
        Verdict::Ask(question) if question.approval().offers.is_empty() => "once",
        Verdict::Ask(_) => "ask",
        Verdict::Deny(_) => "deny",
    }
}

#[test]
fn the_table_of_commands() {
    let table = include_str!("../../corpora/tools/commands.tsv");
    let rows: Vec<&str> = table.lines().filter(|row| !row.starts_with('#')).collect();
    assert!(rows.len() >= 200, "{} rows", rows.len());
    let mut wrong = String::new();
    for row in rows {
        let (expected, json) = row.split_once('\t').expect("a verdict and a command");
        let line = match serde_json::from_str(json).expect("a command is JSON") {
            Value::String(line) => CommandLine::Shell(line),
            Value::Array(words) => CommandLine::Argv(
                words.iter().map(|word| word.as_str().expect("a text").to_owned()).collect(),
            ),
            other => panic!("{other}"),
        };
        let call = call(line);
        let facts = facts(&call);
        let found = judge(call, facts, &Rules::default());
        // A question about a path outside may be remembered for the command; what matters is
        // that it is asked.
        if word(&found) != expected {
            wrong += &format!("{row}\n    found: {} {}\n", word(&found), reasons(&found));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

fn reasons(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Ask(question) => {
            let reasons = question.approval().reasons.iter();
            reasons.map(ToString::to_string).collect::<Vec<_>>().join(" ")
        }
        Verdict::Deny(denial) => denial.to_string(),
        Verdict::Allow(_) => String::new(),
    }
}

/// The programs of the rows that are allowed.
const LOOKS: &[&str] = &[
    "ls",
    "cat",
    "head",
    "tail",
    "wc",
    "nl",
    "tac",
    "cut",
    "sort",
    "uniq",
    "comm",
    "cmp",
    "diff",
    "sed",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "tree",
    "du",
    "df",
    "stat",
    "file",
    "readlink",
    "realpath",
    "basename",
    "dirname",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "cksum",
    "strings",
    "hexdump",
    "od",
    "echo",
    "pwd",
    "true",
    "false",
    "whoami",
    "id",
    "uname",
    "arch",
    "nproc",
    "uptime",
    "date",
    "which",
    "git",
    "find",
];

/// Arguments that no allowed command has.
const NEVER: &[&str] = &[
    "-exec",
    "-execdir",
    "-ok",
    "-okdir",
    "-delete",
    "-fprint",
    "-fprint0",
    "-fprintf",
    "-fls",
    "--output",
    "--pre",
    "--to-command",
    "-c",
    "--upload-pack",
    "--compress-program",
    "--ext-diff",
    ";",
    "|",
    ">",
    "&&",
    "/etc/passwd",
    "../x",
    "~/x",
    ".env",
];

fn words() -> impl Strategy<Value = Vec<String>> {
    let program = prop_oneof![
        4 => prop::sample::select(LOOKS).prop_map(str::to_owned),
        1 => prop::sample::select(&["sh", "env", "python3", "./ls", "xargs", "awk", "lѕ"][..])
            .prop_map(str::to_owned),
        1 => "[a-z./$(){};|&` ]{1,8}",
    ];
    let argument = prop_oneof![
        3 => prop::sample::select(NEVER).prop_map(str::to_owned),
        2 => prop::sample::select(
            &["-n", "-l", "-la", "-1", "--", "log", "status", "diff", "show", ".", "src", "HEAD",
              "-e", "--stat", "-name", "-type", "f", "5", "1,5p", "+%s", "-rn", "--oneline"][..]
        ).prop_map(str::to_owned),
        1 => "-{0,2}[a-zA-Z]{1,6}(=[a-z]{0,4})?",
        1 => "[ -~\u{200b}\u{202e}\n]{0,8}",
    ];
    (program, prop::collection::vec(argument, 0..6))
        .prop_map(|(program, rest)| std::iter::once(program).chain(rest).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn what_is_allowed_is_in_the_table(argv in words()) {
        let call = call(CommandLine::Argv(argv.clone()));
        let facts = facts(&call);
        if let Verdict::Allow(_) = judge(call, facts, &Rules::default()) {
            prop_assert!(LOOKS.contains(&argv[0].as_str()), "{argv:?}");
            for word in &argv[1..] {
                prop_assert!(!word.contains(['\u{200b}', '\u{202e}', '\n']), "{argv:?}");
                prop_assert!(!matches!(word.as_str(), ";" | "|" | ">" | "&&"), "{argv:?}");
            }
        }
    }
}

/// What runs without a question leaves everything as it was, whatever its arguments mean to it.
#[cfg(unix)]
#[test]
fn what_is_allowed_changes_nothing_when_it_runs() {
    use proptest::{strategy::ValueTree as _, test_runner::TestRunner};

    let place = bench::Place::new();
    for name in ["src", "f", "5", "HEAD", "a.tar", "-exec", "x=", "1,5p"] {
        place.write(&format!("w/{name}"), "one\ntwo\n");
    }
    // Without git, its commands are asked about.
    let mut git = std::process::Command::new("git");
    let git = git.args(["init", "-q"]).current_dir(place.path("w")).status();
    let has_git = git.is_ok_and(|status| status.success());
    let before = bench::inventory(place.folder.path());
    let (mut runner, mut ran) = (TestRunner::deterministic(), 0);
    for _ in 0..4000 {
        let argv = words().new_tree(&mut runner).expect("a command").current();
        let arguments = serde_json::json!({ "command": argv });
        let Ok(Verdict::Allow(_)) = place.judge("execute_command", &arguments) else { continue };
        let output = place.run("execute_command", &arguments);
        assert!(output.exit.is_some(), "{argv:?}: {}", output.text);
        assert!(bench::inventory(place.folder.path()) == before, "{argv:?}: {}", output.text);
        ran += 1;
    }
    println!("{ran} commands ran, git: {has_git}");
    assert!(ran > 100, "{ran}");
}

#[test]
fn a_program_that_lies_about_is_asked_for_by_any_name() {
    let call = command(&["ls"]);
    for (program, expected) in [
        (Program::Installed("/usr/bin/ls".into()), "allow"),
        (Program::Loose("/w/ls".into()), "once"),
        (Program::NotFound, "ask"),
    ] {
        let facts = Facts { program, ..facts(&call) };
        assert_eq!(word(&judge(call.clone(), facts, &Rules::default())), expected);
    }
}

#[test]
fn git_is_asked_for_where_its_settings_run_programs() {
    let call = command(&["git", "status"]);
    for (git, expected) in [
        (GitConfig::Plain, "allow"),
        (GitConfig::None, "allow"),
        (GitConfig::Runs("core.fsmonitor".to_owned()), "once"),
        (GitConfig::Unknown, "once"),
    ] {
        let facts = Facts { git, ..facts(&call) };
        assert_eq!(word(&judge(call.clone(), facts, &Rules::default())), expected);
    }
}

#[test]
fn facts_that_are_missing_count_against_a_call() {
    for call in [
        command(&["cat", "a"]),
        Call::Read { path: "a".to_owned(), first: None, last: None },
        Call::List { path: ".".to_owned(), is_recursive: false },
    ] {
        let verdict = judge(call, Facts::default(), &Rules::default());
        assert_ne!(word(&verdict), "allow", "{verdict:?}");
    }
}

#[test]
fn places_that_programs_obey() {
    for path in [
        ".git/hooks/pre-commit",
        ".git/config",
        "a/.git/config",
        ".GIT/hooks/x",
        ".git./hooks/x",
        ".git /hooks/x",
        "git~1/hooks/x",
        ".g\u{200c}it/hooks/x",
        ".git::$INDEX_ALLOCATION/x",
        ".ssh/authorized_keys",
        "a\\.ssh\\config",
        ".bashrc",
        ".zshenv",
        "x/.profile",
        ".envrc",
        ".config/fish/config.fish",
        ".config/fish/functions/ls.fish",
        ".vscode/tasks.json",
        ".husky/pre-push",
        ".mcp.json",
        ".gitmodules",
        ".cargo/config.toml",
        ".npmrc",
        ".config/autostart/x.desktop",
        ".config/systemd/user/x.service",
        "Library/LaunchAgents/x.plist",
        ".BASHRC",
        ".bashrc.",
        "sitecustomize.py",
    ] {
        assert!(is_protected(path), "{path}");
    }
    for path in [
        "src/main.rs",
        "git/hooks/x",
        ".github/workflows/ci.yml",
        "bashrc",
        "a.git/x",
        ".gitignore",
    ] {
        assert!(!is_protected(path), "{path}");
    }
}

#[test]
fn places_that_hold_keys() {
    for path in [
        ".env",
        "a/.env",
        ".ENV",
        ".env.local",
        ".env.production",
        "id_rsa",
        ".ssh/known_hosts",
        ".aws/credentials",
        "server.pem",
        "tls.KEY",
        ".netrc",
        ".git-credentials",
        ".git/config",
        ".kube/config",
        ".docker/config.json",
        "secrets.yaml",
        ".npmrc",
        ".pypirc",
        "a.p12",
        ".password-store/x.gpg",
        ".bash_history",
    ] {
        assert!(is_private(path), "{path}");
    }
    for path in [
        ".env.example",
        ".env.sample",
        "src/env.rs",
        "environment",
        "key.rs",
        ".gitignore",
        "id_rsa.rs",
    ] {
        assert!(!is_private(path), "{path}");
    }
}

#[test]
fn addresses_of_ones_own() {
    for url in [
        "http://localhost/",
        "http://localhost:8080/",
        "http://a.localhost/",
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://017700000001/",
        "http://0.0.0.0/",
        "http://10.0.0.1/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[fe80::1]/",
        "http://[fc00::1]/",
        "http://[fd12::1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://100.64.0.1/",
        "http://router/",
        "http://printer.local/",
        "http://x.internal/",
        "http://127.0.0.1.nip.io/",
        "http://lvh.me/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://localhost./",
        "http://x.home.arpa/",
        "http://metadata.google.internal/",
    ] {
        assert!(is_private_host(&url.parse().expect("an address")), "{url}");
    }
    for url in [
        "https://example.org/",
        "https://1.1.1.1/",
        "http://172.15.0.1/",
        "http://192.169.0.1/",
        "https://[2606:4700::1111]/",
        "https://localhost.example.org/",
        "https://notlocal/..",
    ] {
        let url = url.parse().expect("an address");
        let is_named = matches!(url, ref url if url::Url::host_str(url) == Some("notlocal"));
        assert_eq!(is_private_host(&url), is_named, "{url}");
    }
}

#[test]
fn an_address_that_carries_data_is_asked_about_after_others_have_spoken() {
    let rules = Rules {
        always: vec![letterpress::tools::policy::Rule::for_host("docs.rs")],
        ..Rules::default()
    };
    let long = format!("https://docs.rs/?q={}", "x".repeat(80));
    let path = format!("https://docs.rs/{}", "x".repeat(80));
    for (url, trust, expected) in [
        ("https://docs.rs/serde", Trust::Untrusted, "allow"),
        ("https://docs.rs/serde?q=a", Trust::Untrusted, "allow"),
        (long.as_str(), Trust::UserOnly, "allow"),
        (long.as_str(), Trust::Untrusted, "once"),
        (path.as_str(), Trust::Untrusted, "once"),
        ("https://docs.rs.evil.org/", Trust::UserOnly, "ask"),
        ("https://evil.org/docs.rs", Trust::UserOnly, "ask"),
        ("http://127.0.0.1/", Trust::UserOnly, "once"),
    ] {
        let url: url::Url = url.parse().expect("an address");
        let call = Call::Fetch { url: url.clone() };
        let facts = Facts { trust, ..facts(&call) };
        assert_eq!(word(&judge(call, facts, &rules)), expected, "{url} {}", carries_data(&url));
    }
}

#[test]
fn hidden_text_in_a_file_that_is_written_is_told() {
    let write =
        |content: &str| Call::Write { path: "a.rs".to_owned(), content: content.to_owned() };
    let told = |content: &str| {
        let call = write(content);
        let facts = facts(&call);
        let rules = Rules { level: letterpress::tools::policy::Level::Edits, ..Rules::default() };
        match judge(call, facts, &rules) {
            Verdict::Ask(question) => question.approval().reasons.clone(),
            Verdict::Allow(_) => Vec::new(),
            Verdict::Deny(denial) => panic!("{denial}"),
        }
    };
    assert_eq!(told("let x = 1; // 👩‍👩‍👧 می‌خواهم ⚠️"), []);
    assert!(
        told("if access != \"user\u{202e} \u{2066}// admin\u{2069}\"").contains(&Reason::Hidden(3))
    );
    assert!(told("x \u{e0041}\u{e0042}").contains(&Reason::Hidden(2)));
}
