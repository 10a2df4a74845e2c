//! What has to be accepted before a start, and when again.

use std::{fs, path::Path};

use letterpress::tools::mcp::{Acceptance, CallError, Digest, Pins, ServerState, Servers, What};
use serde_json::{Value, json};

use super::bench::{Bench, accept, call, limits, servers, tool};

async fn asked(servers: &Servers, server: &str) -> Acceptance {
    match servers.start(server).await {
        Err(CallError::NotAccepted(acceptance)) => acceptance.as_ref().clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn nothing_starts_before_it_is_accepted() {
    let bench = Bench::new(&[tool("echo")]);
    assert_eq!(bench.status().state, ServerState::Stopped);
    let acceptance = asked(&bench.servers, "fake").await;
    assert_eq!(bench.journal(), [""; 0], "it must not have run");
    let ServerState::NeedsAcceptance(shown) = bench.status().state else { panic!() };
    assert_eq!(*shown, acceptance);
    assert!(acceptance.before.is_none() && acceptance.changes.is_empty());
    let What::Program { path, sha256, args, env, script, cwd } = &acceptance.launch.what else {
        panic!("{acceptance:?}");
    };
    let us = std::env::current_exe().unwrap();
    assert_eq!((path, *sha256), (&us, Digest::of(&fs::read(&us).unwrap())));
    assert_eq!(args, &super::fake::ARGS);
    assert_eq!(env, &[super::fake::SCRIPT]);
    assert_eq!((script, cwd), (&None, &None));

    // Neither a call nor a wrong word starts it.
    let error = bench.call("echo", json!({})).await.unwrap_err();
    assert_eq!(error, CallError::UnknownTool("fake__echo".into()));
    assert_eq!(bench.servers.accept_start("fake", Digest::of(b"something else")), None);
    assert!(bench.servers.start("fake").await.is_err());
    assert_eq!(bench.journal(), [""; 0]);

    let digest = acceptance.launch.digest();
    let pins = bench.servers.accept_start("fake", digest).unwrap();
    assert_eq!(pins.servers["fake"].start.as_ref(), Some(&acceptance.launch.what));
    assert_eq!(bench.journal(), [""; 0], "accepting is not starting");
    bench.servers.start("fake").await.unwrap();
    assert_eq!(bench.status().state, ServerState::Ready);
    assert_eq!(bench.count("started"), 1);
    bench.servers.shut_down().await;
}

#[tokio::test]
async fn what_was_accepted_starts_again_by_itself_after_a_round_through_json() {
    let bench = Bench::new(&[tool("echo")]);
    let pins = bench.accept().await;
    bench.servers.shut_down().await;
    let stored = serde_json::to_string_pretty(&pins).unwrap();
    let pins: Pins = serde_json::from_str(&stored).unwrap();

    let later = bench.again(pins, limits());
    let offered = later.tools();
    assert_eq!(&*offered[0].name, "fake__echo", "it is offered before its server runs");
    assert_eq!(later.overview()[0].state, ServerState::Stopped);
    let outcome = call(&later, "fake__echo", json!({ "a": 1 })).await.unwrap();
    assert_eq!(outcome.text(), "{\"a\":1}");
    later.shut_down().await;
    assert_eq!(bench.count("started"), 2);
}

/// A program of one line, and a server that it will never be.
fn program(folder: &Path, name: &str, body: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.join(name);
    fs::write(&path, body).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn accepted(servers: &Servers, acceptance: &Acceptance) -> Pins {
    servers.accept_start("s", acceptance.launch.digest()).unwrap()
}

#[tokio::test]
async fn every_change_of_what_is_started_is_asked_about() {
    let folder = tempfile::tempdir().unwrap();
    let one = program(folder.path(), "one", "#!/bin/sh\nexit 7\n");
    let two = program(folder.path(), "two", "#!/bin/sh\nexit 8\n");
    let script = program(folder.path(), "script.sh", "exit 9\n");
    let was = json!({ "command": "sh", "args": [script, "a b"], "env": { "A": "1" } });
    let set_up = |entry: &Value, pins: Pins| servers(json!({ "s": entry }), pins, limits());

    let first = set_up(&was, Pins::default());
    let pins = accepted(&first, &asked(&first, "s").await);
    // It is no server, but it may be started.
    let error = set_up(&was, pins.clone()).start("s").await.unwrap_err();
    assert_eq!(error.to_string(), "the server does not run: it ended with code 9");

    let cases = [
        ("command", json!(one), "the program: "),
        ("args", json!([script, "a", "b"]), "divided in another way"),
        ("args", json!([script, "a b", "--more"]), "the arguments: "),
        ("env", json!({ "A": "1", "B": "2" }), "the variables: A → A, B"),
        ("cwd", json!(folder.path()), "the folder: ours → "),
    ];
    for (key, value, words) in cases {
        let mut is = was.clone();
        is[key] = value;
        let acceptance = asked(&set_up(&is, pins.clone()), "s").await;
        assert!(acceptance.before.is_some());
        let changes = acceptance.changes.join("\n");
        assert!(changes.contains(words), "{key}: {changes}");
    }
    // The value of a variable is no change: the configuration is the user's own.
    let mut same = was.clone();
    same["env"]["A"] = json!("2");
    assert!(matches!(set_up(&same, pins.clone()).start("s").await, Err(CallError::NotRunning(_))));

    // What an interpreter is given to run is pinned like a program.
    fs::write(&script, "exit 10\n").unwrap();
    let acceptance = asked(&set_up(&was, pins), "s").await;
    assert!(acceptance.changes[0].starts_with("the script: "), "{:?}", acceptance.changes);

    let direct = json!({ "command": two });
    let first = set_up(&direct, Pins::default());
    let pins = accepted(&first, &asked(&first, "s").await);
    fs::write(&two, "#!/bin/sh\nexit 11\n").unwrap();
    let acceptance = asked(&set_up(&direct, pins), "s").await;
    assert!(acceptance.changes[0].starts_with("the program's content: "));
}

#[tokio::test]
async fn an_address_is_accepted_without_showing_what_may_be_a_key() {
    let entry = |url: &str| json!({ "s": { "url": url, "headers": { "X-Key": "hidden-value" } } });
    let first = servers(entry("https://example.com/mcp?key=hidden-1"), Pins::default(), limits());
    let acceptance = asked(&first, "s").await;
    let What::Address { url, headers, .. } = &acceptance.launch.what else { panic!() };
    assert_eq!(
        (url.as_str(), headers.as_slice()),
        ("https://example.com/mcp", ["X-Key".to_owned()].as_slice())
    );
    let pins = accepted(&first, &acceptance);
    let all = format!("{acceptance:?}{}", serde_json::to_string(&pins).unwrap());
    assert!(!all.contains("hidden"), "{all}");
    let other = servers(entry("https://example.com/mcp?key=hidden-2"), pins.clone(), limits());
    assert!(asked(&other, "s").await.changes[0].contains("behind the `?`"));
    let other = servers(entry("https://example.org/mcp?key=hidden-1"), pins, limits());
    assert!(asked(&other, "s").await.changes[0].starts_with("the address: "));
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let cases = [
        (json!({ "command": "no-such-program-anywhere" }), "is not on PATH"),
        (json!({ "command": "/no/such/program" }), "is not a program"),
        (json!({ "command": "/etc/passwd" }), "is not a program"),
        (
            json!({ "command": "sh", "env": { "A": "${NO_SUCH_VARIABLE}" } }),
            "NO_SUCH_VARIABLE is not set",
        ),
    ];
    for (entry, words) in cases {
        let servers = servers(json!({ "s": entry }), Pins::default(), limits());
        let error = servers.start("s").await.unwrap_err().to_string();
        assert!(error.contains(words), "{entry}: {error}");
        assert!(matches!(servers.overview()[0].state, ServerState::Failed(_)));
    }
}

#[tokio::test]
async fn what_is_shown_hides_nothing() {
    let entry = json!({
        "command": "sh", "args": ["-c", "echo \u{202e}lla\u{e0041} && rm -rf \u{1b}[8m/"], "env": { "A": "b" },
    });
    let servers = servers(json!({ "s": entry }), Pins::default(), limits());
    let lines = asked(&servers, "s").await.launch.lines();
    let about: Vec<_> = lines.iter().map(|(about, _)| *about).collect();
    assert_eq!(about, ["program", "sha256", "argument", "argument", "variable"]);
    assert_eq!(lines[3].1.text, "echo ⟨RLO⟩lla⟨U+E0041⟩ && rm -rf ␛[8m/");
    assert_eq!(lines[3].1.hidden, 3);
}

#[tokio::test]
async fn a_program_gets_no_keys_of_ours() {
    let bench = Bench::ready(&["env"]).await;
    let outcome = bench.call("env", json!({})).await.unwrap();
    let names: Vec<String> = outcome.structured.unwrap()["env"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| pair[0].as_str().unwrap().to_owned())
        .collect();
    let ours: Vec<_> = names
        .iter()
        .filter(|name| {
            let usual = [
                "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "TZ",
                "TMPDIR",
            ];
            !usual.contains(&name.as_str())
                && !name.starts_with("LC_")
                && !name.starts_with("XDG_")
                && !name.starts_with("SSL_CERT_")
                && *name != "NODE_EXTRA_CA_CERTS"
        })
        .collect();
    assert_eq!(ours, [super::fake::SCRIPT]);
    // Cargo sets dozens for this test, so something was held back.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    bench.servers.shut_down().await;
}

#[tokio::test]
async fn a_server_that_is_off_stays_off() {
    let servers =
        servers(json!({ "s": { "command": "sh", "disabled": true } }), Pins::default(), limits());
    assert_eq!(servers.start("s").await, Err(CallError::UnknownServer("s".into())));
    assert_eq!(servers.overview()[0].state, ServerState::Disabled);
    assert_eq!(servers.start("t").await, Err(CallError::UnknownServer("t".into())));
    servers.shut_down().await;
}

#[tokio::test]
async fn secrets_are_kept_out_of_logs() {
    let script = json!({ "tools": [tool("echo")], "word": "sk-CANARY-0123456789" });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script.json");
    fs::write(&path, script.to_string()).unwrap();
    let entry = json!({ "fake": {
        "command": std::env::current_exe().unwrap(),
        "args": super::fake::ARGS,
        "env": { super::fake::SCRIPT: path, "MY_TOKEN": "sk-CANARY-0123456789" },
    } });
    let servers = servers(entry, Pins::default(), limits());
    accept(&servers, "fake").await;
    servers.shut_down().await;
    let (log, dropped) = servers.log("fake");
    let said: String = log.iter().map(|line| format!("{}\n", line.text)).collect();
    assert!(said.contains("its word is \"•••\""), "{said}");
    assert!(!said.contains("CANARY") && dropped == 0, "{said}");
}
