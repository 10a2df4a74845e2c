//! `mcpServers`, good and bad.

use std::time::Duration;

use letterpress::tools::mcp::{McpConfig, Permission, TransportConfig, reveal};
use serde_json::{Value, json};

fn read(servers: Value) -> McpConfig {
    McpConfig::read(servers).unwrap()
}

#[test]
fn the_shape_of_other_clients_is_read() {
    let config = read(json!({
        "files": {
            "command": "npx",
            "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp", 7],
            "env": { "TOKEN": "secret", "LEVEL": 3 },
            "cwd": "/srv",
            "timeout": 90,
            "alwaysAllow": ["read_file"],
            "disabledTools": ["write_file"],
            "tools": { "move_file": { "permission": "deny" }, "edit_file": { "disabled": true } },
        },
        "far": { "type": "http", "url": "https://example.com/mcp", "headers": { "A": "b" } },
        "plain": { "url": "http://localhost:3000/mcp" },
        "off": { "command": "x", "disabled": true },
        "off too": { "command": "x", "enabled": false },
    }));
    assert_eq!(config.warnings, []);
    let [far, files, off, off_too, plain] = config.servers.as_slice() else { panic!() };
    assert_eq!(
        files.transport,
        TransportConfig::Program {
            command: "npx".into(),
            args: ["-y", "@modelcontextprotocol/server-filesystem", "/tmp", "7"]
                .map(str::to_owned)
                .into(),
            env: [("TOKEN", "secret"), ("LEVEL", "3")].map(|(a, b)| (a.into(), b.into())).into(),
            cwd: Some("/srv".into()),
        }
    );
    assert_eq!(files.timeout, Some(Duration::from_secs(90)));
    assert_eq!(files.tools.of("read_file").permission, Some(Permission::Allow));
    assert!(files.tools.of("write_file").disabled && files.tools.of("edit_file").disabled);
    assert_eq!(files.tools.of("move_file").permission, Some(Permission::Deny));
    assert_eq!(files.tools.of("other").permission, None);
    assert_eq!(
        far.transport,
        TransportConfig::Address {
            url: "https://example.com/mcp".into(),
            headers: [("A".to_owned(), "b".to_owned())].into(),
        }
    );
    assert!(off.disabled && off_too.disabled && !plain.disabled);
    assert!(!format!("{config:?}").contains("secret"), "{config:?}");
}

#[test]
fn toml_is_read_alike() {
    let text = "[files]\ncommand = \"npx\"\nargs = [\"-y\"]\ntimeout = 1.5\n\
                [files.env]\nA = \"b\"\n[far]\nurl = \"https://example.com\"\n";
    // Whatever is a map of serde will do; this is one that the program has.
    let document: toml_edit::DocumentMut = text.parse().unwrap();
    let as_json = json_of(document.as_item());
    let config = read(as_json);
    assert_eq!(config.warnings, []);
    assert_eq!(config.servers.len(), 2);
    assert_eq!(config.servers[1].timeout, Some(Duration::from_millis(1500)));
}

fn json_of(item: &toml_edit::Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return table.iter().map(|(key, item)| (key.to_owned(), json_of(item))).collect();
    }
    if let Some(list) = item.as_array() {
        return list.iter().map(|value| json_of(&toml_edit::Item::Value(value.clone()))).collect();
    }
    match (item.as_str(), item.as_float(), item.as_integer()) {
        (Some(text), ..) => text.into(),
        (_, Some(number), _) => number.into(),
        (_, _, Some(number)) => number.into(),
        _ => item.as_bool().into(),
    }
}

#[test]
fn a_bad_entry_costs_itself() {
    let bad = [
        (json!(3), "it is not a map"),
        (json!({}), "neither a `command` nor a `url`"),
        (json!({ "command": "a", "url": "https://b" }), "both"),
        (json!({ "command": ["a"] }), "`command` is no text"),
        (json!({ "command": " " }), "`command` is empty"),
        (json!({ "command": "a", "args": "b" }), "`args` are no list"),
        (json!({ "command": "a", "args": [{}] }), "an argument is no text"),
        (json!({ "command": "a", "args": ["x\u{0}y"] }), "an argument is no text"),
        (json!({ "command": "a", "env": [] }), "`env` is no map"),
        (json!({ "command": "a", "env": { "A": {} } }), "a value in its `env`"),
        (json!({ "command": "a", "disabled": "yes" }), "neither true nor false"),
        (json!({ "url": "file:///etc/passwd" }), "neither https nor http"),
        (json!({ "url": "https://a", "type": "sse" }), "`sse` is not supported"),
        (json!({ "url": "https://a", "type": "pigeon" }), "`pigeon`"),
        (json!({ "type": "stdio" }), "no `command`"),
    ];
    for (entry, words) in bad {
        let config = read(json!({ "bad": entry, "good": { "command": "a" } }));
        assert_eq!(config.servers.len(), 1, "{entry}");
        let [warning] = config.warnings.as_slice() else { panic!("{entry}: {config:?}") };
        assert_eq!(warning.server, "bad");
        assert!(warning.message.contains(words), "{entry}: {}", warning.message);
    }
    for name in ["", "a\u{1b}[31mb", "a\u{202e}b", "a\u{e0041}b", &"n".repeat(101)] {
        let config = read(json!({ name: { "command": "a" } }));
        assert_eq!((config.servers.len(), config.warnings.len()), (0, 1), "{name:?}");
        assert_eq!(reveal(&config.warnings[0].server).hidden, 0);
    }
    assert!(McpConfig::read(json!([])).is_err());
}

#[test]
fn a_setting_that_is_not_understood_disables_its_tool() {
    for setting in [json!(3), json!({ "permission": "alow" }), json!({ "disabled": "no" })] {
        let config = read(json!({ "s": { "command": "a", "tools": { "t": setting } } }));
        assert_eq!(config.warnings.len(), 1, "{setting}");
        let setting = config.servers[0].tools.of("t");
        assert!(setting.disabled && setting.permission == Some(Permission::Deny));
    }
    let config = read(json!({ "s": { "command": "a", "timeout": 90_000_000 } }));
    assert_eq!((config.warnings.len(), config.servers[0].timeout), (1, None));
}

#[test]
fn what_is_hidden_is_made_visible() {
    let cases = [
        ("plain, with ümläuts and 日本", "plain, with ümläuts and 日本", 0),
        ("a\u{202e}b", "a⟨RLO⟩b", 1),
        ("a\u{200b}b", "a⟨U+200B⟩b", 1),
        ("\u{e0049}\u{e0047}", "⟨U+E0049⟩⟨U+E0047⟩", 2),
        ("a\u{1b}[2Jb\u{7}", "a␛[2Jb␇", 2),
        ("tab\tand\nline", "tab\tand\nline", 0),
        ("\u{e000}", "⟨U+E000⟩", 1),
    ];
    for (text, shown, hidden) in cases {
        let revealed = reveal(text);
        assert_eq!((revealed.text.as_str(), revealed.hidden), (shown, hidden), "{text:?}");
    }
}
