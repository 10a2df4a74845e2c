//! Every tool's schema suits every provider, and arguments come through, or are told to be
//! wrong in words.

use letterpress::tools::{Call, CommandLine, Kind, ToolSpec};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Keywords that Anthropic, OpenAI (strict, too) and Gemini all take.
const KEYWORDS: &[&str] = &[
    "type",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "enum",
];

fn check_schema(schema: &Value, is_strict: bool) {
    let fields = schema.as_object().unwrap_or_else(|| panic!("{schema} is an object"));
    for keyword in fields.keys() {
        assert!(KEYWORDS.contains(&keyword.as_str()), "{keyword} in {schema}");
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => {
            let properties = schema["properties"].as_object().expect("properties");
            let required = schema["required"].as_array().expect("required");
            assert_eq!(schema["additionalProperties"], false);
            for name in required {
                assert!(properties.contains_key(name.as_str().expect("a name")), "{name}");
            }
            assert!(!is_strict || required.len() == properties.len());
            for property in properties.values() {
                assert!(property["description"].as_str().is_some_and(|text| text.ends_with('.')));
                check_schema(property, is_strict);
            }
        }
        Some("array") => check_schema(&schema["items"], is_strict),
        Some("string" | "integer" | "boolean" | "null") => {}
        None => {
            let forms = schema["anyOf"].as_array().expect("a type or several");
            forms.iter().for_each(|form| check_schema(form, is_strict));
        }
        Some(other) => panic!("{other} in {schema}"),
    }
}

#[test]
fn schemas_suit_every_provider() {
    let specs = ToolSpec::built_in();
    assert_eq!(specs.len(), Kind::BUILT_IN.len());
    for spec in specs {
        assert!(
            spec.name.len() <= 64 && spec.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        );
        assert!(spec.description.ends_with('.') && spec.description.len() <= 1024, "{}", spec.name);
        assert_eq!(Kind::of(&spec.name), Some(spec.kind));
        assert_eq!(spec.schema["type"], "object");
        check_schema(&spec.schema, false);
        check_schema(&spec.strict_schema(), true);
    }
    assert_eq!(Kind::of("replace_in_file"), Some(Kind::Edit));
    assert_eq!(Kind::of("remote"), None);
}

/// Arguments of every type that a schema names, for its required ones or for all.
fn sample(spec: &ToolSpec, all: bool) -> Value {
    let required = spec.schema["required"].as_array().expect("required");
    let wanted = |name: &str| all || required.iter().any(|it| it == name);
    let properties = spec.schema["properties"].as_object().expect("properties").iter();
    let value = |name: &str, schema: &Value| match (name, schema["type"].as_str()) {
        ("url", _) => json!("https://example.org/"),
        ("input", _) => json!("*** Begin Patch\n*** Delete File: a\n*** End Patch"),
        (_, Some("string")) => json!("text"),
        (_, Some("integer")) => json!(3),
        (_, Some("boolean")) => json!(true),
        _ => json!(["ls", "-la"]),
    };
    let sample = properties.filter(|(name, _)| wanted(name));
    sample
        .map(|(name, schema)| (name.clone(), value(name, schema)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[test]
fn arguments_that_fit_a_schema_are_understood() {
    for spec in ToolSpec::built_in() {
        for all in [false, true] {
            let arguments = sample(spec, all);
            let call = Call::parse(&spec.name, &arguments);
            let call = call.unwrap_or_else(|error| panic!("{}: {error}", spec.name));
            assert_eq!((call.kind(), call.tool()), (spec.kind, &*spec.name));
        }
        // Providers that hold a model to the schema send null for what is not given.
        let mut arguments = sample(spec, false);
        for (name, _) in spec.schema["properties"].as_object().expect("properties") {
            if arguments.get(name).is_none() {
                arguments[name] = Value::Null;
            }
        }
        assert_eq!(
            Call::parse(&spec.name, &arguments),
            Call::parse(&spec.name, &sample(spec, false)),
        );
        for name in spec.schema["required"].as_array().expect("required") {
            let name = name.as_str().expect("a name");
            let mut arguments = sample(spec, true);
            arguments.as_object_mut().expect("an object").remove(name);
            let error = Call::parse(&spec.name, &arguments).expect_err("it is missing").to_string();
            assert!(error.contains(name) && error.contains("missing"), "{error}");
        }
    }
}

#[test]
fn texts_for_numbers_and_flags_are_understood() {
    let call = Call::parse("read_file", &json!({"path": "a", "start_line": "2", "end_line": 4.0}));
    assert_eq!(call, Ok(Call::Read { path: "a".to_owned(), first: Some(2), last: Some(4) }));
    let call = Call::parse("list_files", &json!({"recursive": "true", "task_progress": "x"}));
    assert_eq!(call, Ok(Call::List { path: ".".to_owned(), is_recursive: true }));
    let call = Call::parse(
        "execute_command",
        &json!({"command": "ls | wc", "requires_approval": "false"}),
    );
    assert!(
        matches!(call, Ok(Call::Command { line: CommandLine::Shell(line), .. }) if line == "ls | wc")
    );
    let diff = "------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n<<<<<<< SEARCH\nc\n=======\n>>>>>>> REPLACE\n";
    let Ok(Call::Edit { edits, .. }) =
        Call::parse("replace_in_file", &json!({"path": "a", "diff": diff}))
    else {
        panic!("an edit");
    };
    let edits: Vec<_> = edits.iter().map(|edit| (edit.old.as_str(), edit.new.as_str())).collect();
    assert_eq!(edits, [("a\n", "b\n"), ("c\n", "")]);
}

#[test]
fn bad_arguments_are_told_in_words() {
    let cases = [
        ("nothing", json!({}), "no tool called \"nothing\""),
        ("remote", json!({}), "no tool called"),
        ("read_file", json!([]), "must be an object"),
        ("read_file", json!("x"), "must be an object"),
        ("read_file", json!({"path": 3}), "path must be text, not a number"),
        ("read_file", json!({"path": ""}), "path is missing"),
        ("read_file", json!({"path": "a\nb"}), "control character"),
        ("read_file", json!({"path": "a\u{1b}[2J"}), "control character"),
        ("read_file", json!({"path": "~/.ssh/id_rsa"}), "no shell reads the ~"),
        ("read_file", json!({"path": "x".repeat(5000)}), "longer than 4096 bytes"),
        ("read_file", json!({"path": "a", "start_line": 0}), "counted from 1"),
        ("read_file", json!({"path": "a", "start_line": -1}), "whole number"),
        ("read_file", json!({"path": "a", "start_line": 1.5}), "whole number"),
        ("read_file", json!({"path": "a", "start_line": "x"}), "whole number"),
        ("read_file", json!({"path": "a", "start_line": 1e300}), "whole number"),
        ("read_file", json!({"path": "a", "start_line": 5, "end_line": 4}), "behind end_line"),
        ("read_file", json!({"path": "a", "lines": 4}), "no argument \"lines\""),
        ("list_files", json!({"recursive": "perhaps"}), "true or false"),
        ("search_files", json!({"regex": ""}), "regex is empty"),
        ("execute_command", json!({"command": []}), "name a program"),
        ("execute_command", json!({"command": [""]}), "name a program"),
        ("execute_command", json!({"command": " "}), "command is empty"),
        ("execute_command", json!({"command": ["a", {}]}), "texts only, not an object"),
        ("execute_command", json!({"command": ["a\u{0}b"]}), "NUL"),
        ("execute_command", json!({"command": vec!["a"; 2000]}), "more than 1000"),
        ("execute_command", json!({"command": ["x".repeat(200_000)]}), "longer than"),
        ("execute_command", json!({"command": ["a"], "timeout": 0}), "at least 1 second"),
        ("execute_command", json!({"command": {"a": 1}}), "must be text"),
        ("web_fetch", json!({"url": "ftp://x/"}), "only http and https"),
        ("web_fetch", json!({"url": "file:///etc/passwd"}), "only http and https"),
        ("web_fetch", json!({"url": "javascript:alert(1)"}), "only http and https"),
        ("web_fetch", json!({"url": "x"}), "cannot be understood"),
        ("web_fetch", json!({"url": "https://user:pw@example.org/"}), "user name or password"),
        ("replace_in_file", json!({"path": "a", "diff": "nonsense"}), "SEARCH and REPLACE"),
        (
            "replace_in_file",
            json!({"path": "a", "diff": "------- SEARCH\na\n"}),
            "no ======= after",
        ),
        ("edit_file", json!({"path": "a", "old_string": "x"}), "new_string is missing"),
    ];
    for (tool, arguments, expected) in cases {
        let error = Call::parse(tool, &arguments).expect_err(expected).to_string();
        assert!(error.contains(expected), "{tool} {expected}: {error}");
        assert!(error.len() < 500, "{error}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z]{1,6}", inner, 0..4)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

proptest! {
    #[test]
    fn no_arguments_break_anything(index in 0..9_usize, values in prop::collection::vec(any_json(), 8)) {
        let spec = &ToolSpec::built_in()[index];
        let names = spec.schema["properties"].as_object().expect("properties").keys();
        let arguments: serde_json::Map<_, _> = names.cloned().zip(values.clone()).collect();
        for arguments in [arguments.into(), values[0].clone()] {
            match Call::parse(&spec.name, &arguments) {
                Ok(call) => prop_assert_eq!(call.kind(), spec.kind),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}
