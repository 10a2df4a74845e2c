//! Real programs at full log level, against servers that fail in every way.

use std::fs;

use serde_json::json;

use super::{canary, ground::Ground, songs, spellings};
use crate::live::server::{Act, Server, call, error, finish, sse, whole};

/// Providers whose key is in the environment, and the address that their flag takes.
const PROVIDERS: &[(&str, &str)] = &[
    ("openai", "/v1"),
    ("openai-responses", "/v1"),
    ("anthropic", ""),
    ("gemini", ""),
    ("groq", "/v1"),
];

/// A refusal that says the key in every spelling.
fn echo(status: u16, key: &str) -> Vec<Act> {
    let words = format!("Incorrect key: {}", spellings(key).join(" or "));
    let mut acts = error(status, &words, Vec::new());
    if status == 401 {
        acts[0] = Act::Head(status, vec![("content-type", "application/json")]);
    }
    acts
}

/// What goes wrong, and the answers of a server with which it does.
fn failures(key: &str) -> Vec<(&'static str, Vec<Act>)> {
    let list = vec![("content-type", "application/json")];
    let text = |status, body: String| {
        vec![Act::Head(status, list.clone()), Act::Send(body.into_bytes()), Act::Finish]
    };
    let stream = |body: String| vec![sse(), Act::Send(body.into_bytes()), Act::Finish];
    vec![
        ("refused", echo(401, key)),
        ("forbidden", echo(403, key)),
        ("a page", text(400, format!("<html>{key}</html>"))),
        ("no JSON", text(200, format!("{{\"error\": \"{key}"))),
        (
            "an error in the stream",
            stream(format!("data: {}\n\n", json!({"error": {"message": key, "type": "x"}}))),
        ),
        ("garbage in the stream", stream(format!("data: {{{key}\n\n"))),
        (
            "redirected",
            vec![Act::Head(302, vec![("location", "http://127.0.0.1:9/?key=CANARY")]), Act::Finish],
        ),
        ("cut off", vec![sse(), Act::Reset]),
        ("silence", vec![Act::AwaitClose]),
        ("busy", echo(503, key)),
    ]
}

const CONFIG: &str = r#"
[chat]
system = "Be brief."
theme = 3

[providers.work]
base_url = "BASE/v1"
key_variable = "WORK_KEY"
headers = { "X-Auth" = "Bearer ${WORK_TOKEN}" }

[providers.box]
base_url = "https://me:word-CANARY-word@127.0.0.1:9/v1?token=token-CANARY-token"
key = "keyring"
"#;

#[test]
fn no_failure_of_any_provider_shows_its_key() {
    let ground = Ground::new("");
    for (name, path) in PROVIDERS {
        let key = canary(name.split('-').next().unwrap());
        for (what, acts) in failures(&key) {
            let server = Server::new(vec![acts; 8]);
            let base = format!("{}{path}", server.base);
            let ran = ground.run(
                &[
                    "ask",
                    "--json",
                    "--provider",
                    name,
                    "--base-url",
                    &base,
                    "--model",
                    "m",
                    "hello",
                ],
                "",
            );
            ran.is_silent(&format!("{name}: {what}"));
            assert!(ran.stderr.contains("TRACE") || ran.stderr.contains("DEBUG"), "{}", ran.stderr);
            assert_ne!(ran.code, Some(0), "{name}: {what}");
            assert_ne!(ran.code, Some(2), "{name}: {what}: {}", ran.stderr);
        }
    }
}

#[test]
fn addresses_that_lead_nowhere_show_no_key() {
    let ground = Ground::new("");
    let plain = Server::new(vec![whole(&["hello"]); 9]);
    let tls = plain.base.replace("http://", "https://");
    for base in [
        tls.as_str(),
        "http://127.0.0.1:9/v1",
        "http://llm.example.com/v1",
        "https://nowhere.invalid/v1",
        "ftp://x",
        "https://me:word-CANARY-word@127.0.0.1:9/v1?token=token-CANARY-token",
    ] {
        for model in [&["--model", "m"][..], &[]] {
            let words =
                [&["ask", "--provider", "openai", "--base-url", base][..], model, &["x"]].concat();
            let ran = ground.run(&words, "");
            assert_eq!(songs(ran.stdout.as_bytes()), Vec::<String>::new(), "{base}");
            assert_eq!(songs(ran.stderr.as_bytes()), Vec::<String>::new(), "{base}");
            assert_ne!(ran.code, Some(0), "{base}");
        }
    }
}

#[test]
fn the_settings_and_the_commands_around_them_show_no_key() {
    let mut server = Server::new(vec![
        whole(&["Good."]),
        echo(401, &canary("work")),
        echo(401, &canary("header")),
    ]);
    let ground = Ground::new(&CONFIG.replace("BASE", &server.base));
    let ask = &["ask", "--provider", "work", "--model", "m", "hello"][..];
    let ran = ground.run(ask, "");
    assert_eq!((ran.code, ran.stdout.trim()), (Some(0), "Good."), "{}", ran.stderr);
    ran.is_silent("a good answer");
    assert!(server.request()["messages"].is_array());
    for _ in 0..2 {
        let ran = ground.run(ask, "");
        ran.is_silent("a refusal");
        assert_eq!(ran.code, Some(1));
    }
    for (words, stdin) in [
        (&["providers"][..], ""),
        (&["keys", "list"], ""),
        // There is no keyring: nothing is kept, and that is said.
        (&["keys", "set", "openai"], &canary("keyring")),
        (&["keys", "set", "nobody"], &canary("nobody")),
        (&["keys", "rm", "openai"], ""),
        (&["ask", "--provider", "box", "--model", "m", "x"], ""),
        (&["ask", "x"], ""),
        (&["ask", "--session", "canary", "--provider", "demo", "x"], ""),
        (&["sessions"], ""),
        (&["search", "x"], ""),
        (&["chat"], ""),
    ] {
        let ran = ground.run(words, stdin);
        ran.is_silent(&words.join(" "));
    }
    let ran = ground.run(&["keys", "set", "openai"], &canary("keyring"));
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr.contains("keyring cannot be reached: no Secret Service answers")
            && ran.stderr.contains("--file"),
        "{}",
        ran.stderr
    );
    assert_eq!(everything(&ground), Vec::<String>::new());
}

/// Where canaries sing in what was left on the disk, but in the settings that were given.
fn everything(ground: &Ground) -> Vec<String> {
    let files = ground.left().into_iter().filter(|path| path.is_file());
    let files = files.filter(|path| !path.ends_with("letterpress/config.toml"));
    files
        .filter(|path| !songs(&fs::read(path).unwrap()).is_empty())
        .map(|path| path.display().to_string())
        .collect()
}

#[test]
fn a_key_of_the_file_is_there_and_nowhere_else() {
    let ground = Ground::new("");
    let set = ground.run_with(
        &["keys", "set", "openai", "--file"],
        &format!("{}\n", canary("file")),
        false,
    );
    assert_eq!(set.code, Some(0), "{}", set.stderr);
    assert!(set.stdout.contains("stored unencrypted"), "{}", set.stdout);
    set.is_silent("keys set --file");
    for words in [&["keys", "list"][..], &["providers"]] {
        let ran = ground.run_with(words, "", false);
        ran.is_silent(&words.join(" "));
        assert!(ran.stdout.contains("in a file, stored unencrypted"), "{}", ran.stdout);
    }
    let server = Server::new(vec![echo(401, &canary("file"))]);
    let base = format!("{}/v1", server.base);
    let ask = ["ask", "--provider", "openai", "--base-url", &base, "--model", "m", "x"];
    let ran = ground.run_with(&ask, "", false);
    ran.is_silent("a refusal");
    assert!(ran.stderr.contains("[secret]"), "the key was sent and came back: {}", ran.stderr);
    let singing = everything(&ground);
    assert!(singing.len() == 1 && singing[0].ends_with("keys/keys.toml"), "{singing:?}");
    let gone = ground.run_with(&["keys", "rm", "openai"], "", false);
    assert_eq!((gone.code, gone.stdout.as_str()), (Some(0), "openai: taken out of the file\n"));
    assert_eq!(everything(&ground), Vec::<String>::new());
}

/// Programs that the model starts get none of the keys, though this program holds them all.
#[test]
fn programs_of_the_model_get_no_keys() {
    let env = json!({"command": ["printenv"]}).to_string();
    let first = vec![
        sse(),
        Act::Send(call(0, Some("execute_command"), &env)),
        Act::Send(finish("tool_calls")),
        Act::Finish,
    ];
    let mut server = Server::new(vec![first, whole(&["Done."])]);
    let ground = Ground::new("");
    let base = format!("{}/v1", server.base);
    let ran = ground.run(
        &[
            "ask",
            "--json",
            "--tools",
            "auto",
            "--provider",
            "openai",
            "--base-url",
            &base,
            "--model",
            "m",
            "x",
        ],
        "",
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("PATH="), "it ran: {}", ran.stdout);
    ran.is_silent("env");
    server.request();
    assert_eq!(songs(server.request().to_string().as_bytes()), Vec::<String>::new());
    assert_eq!(everything(&ground), Vec::<String>::new());
}

/// With a umask that lets everybody read everything.
#[test]
fn all_that_is_made_is_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let write = json!({"path": "new.txt", "content": "x"}).to_string();
    let first = vec![
        sse(),
        Act::Send(call(0, Some("write_to_file"), &write)),
        Act::Send(call(
            1,
            Some("execute_command"),
            &json!({"command": ["seq", "1", "90000"]}).to_string(),
        )),
        Act::Send(finish("tool_calls")),
        Act::Finish,
    ];
    let server = Server::new(vec![first, whole(&["Done."]), whole(&["Kept."])]);
    let ground = Ground::new("");
    let base = format!("{}/v1", server.base);
    let ask = ["ask", "--provider", "openai", "--base-url", &base, "--model", "m"];
    let tools = ground.run(&[&ask[..], &["--tools", "auto", "x"]].concat(), "");
    assert_eq!(tools.code, Some(0), "{}", tools.stderr);
    ground.run(&[&ask[..], &["--session", "kept", "x"]].concat(), "");
    ground.run(&["keys", "set", "groq", "--file"], &canary("file"));
    let left = ground.left();
    let under =
        |path: &std::path::PathBuf| path.components().any(|part| part.as_os_str() == "letterpress");
    let open: Vec<_> = left
        .iter()
        .filter(|path| under(path))
        .map(|path| (path, fs::metadata(path).unwrap()))
        .filter(|(_, about)| about.permissions().mode() & 0o077 != 0)
        .map(|(path, about)| format!("{:o} {}", about.permissions().mode() & 0o777, path.display()))
        .collect();
    assert!(left.iter().any(|path| path.ends_with("keys/keys.toml")), "{left:?}");
    assert_eq!(open, Vec::<String>::new());
}
