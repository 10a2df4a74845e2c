//! config.toml and the other files: what is read, what an answer adds, what survives.

use std::{fs, io::Write as _, sync::Arc};

use letterpress::{
    app::toolbox::{self, Settings, Spills},
    model::{Decision, Scope, ToolState, ToolUse},
    tools::{
        mcp::{Pins, ServerPins},
        policy::Decision as Ruling,
        spill::Spill as _,
    },
};
use serde_json::json;

use super::bench::{Ground, calls, calls_of, decide, question, talk};
use crate::live::{
    bench::{engine, is_settled, limits},
    server::whole,
};

const CONFIG: &str = r#"# my settings
theme = "dark"   # at night

[tools]
variables = ["DATABASE_URL"]
later = { kept = true }

# never that
[[tools.rule]]
decision = "deny"
tool = "execute_command"
command = ["rm", "**"]

[mcpServers.time]
command = "mcp-server-time"   # from PyPI
"#;

#[test]
fn settings_are_read_and_a_bad_entry_costs_itself() {
    let ground = Ground::new();
    let bad = r#"
[[tools.rule]]
decision = "deny"
tool = "write_to_file"
pth = "secret/**"

[[tools.rule]]
decision = "allow"
tool = "fetch_url"
hosts = ["example.com"]

[[tools.rule]]
decision = "allow"
tool = "execute_command"
command = ["sh", "**"]

[mcpServers.broken]
args = []
"#;
    ground.configure(&format!("{CONFIG}{bad}"));
    let settings = Settings::read(&ground.places().config).unwrap();
    assert_eq!(settings.variables, ["DATABASE_URL"]);
    let names: Vec<_> = settings.servers.servers.iter().map(|server| &*server.name).collect();
    assert_eq!(names, ["time"]);
    let words: Vec<_> = settings.rules.iter().map(|rule| rule.words()).collect();
    // What was meant to forbid forbids the whole tool; what was meant to allow allows nothing.
    assert_eq!(
        words,
        [
            "never execute_command rm '**'",
            "never write_to_file anything",
            "always execute_command sh '**'"
        ]
    );
    assert_eq!(settings.rules[1].decision, Ruling::Deny);
    let told = |part: &str| settings.warnings.iter().any(|words| words.contains(part));
    assert!(told("Rule 2") && told("Rule 3") && told("Rule 4") && told("Server broken"));
    assert_eq!(settings.warnings.len(), 4, "{:?}", settings.warnings);
}

#[test]
fn without_a_file_there_is_nothing_and_a_broken_one_stops_everything() {
    let ground = Ground::new();
    assert_eq!(Settings::read(&ground.places().config).unwrap(), Settings::default());
    ground.configure("[tools\nrule = 3");
    let error = Settings::read(&ground.places().config).unwrap_err().to_string();
    assert!(error.contains("not valid TOML") && error.contains("config.toml"), "{error}");
    let engine = engine(limits());
    assert!(toolbox::open_at(&ground.work(), &ground.places(), &engine.handle()).is_err());
    let missing = ground.work().join("nowhere");
    assert!(toolbox::open_at(&missing, &ground.places(), &engine.handle()).is_err());
}

#[test]
fn always_is_written_down_and_everything_else_in_the_file_stays() {
    let ground = Ground::new();
    ground.configure(CONFIG);
    let run = || calls(&[("execute_command", json!({"command": ["touch", "made"]}))]);
    let (mut bench, _kit) = talk(&ground, ToolUse::Ask, vec![run(), whole(&["Done."])]);
    let ticket = bench.say("go");
    let asked = question(&mut bench, None);
    let always = asked.offers.iter().position(|offer| offer.scope == Scope::Always).unwrap();
    decide(&bench, &asked, Decision::Offer(always));
    bench.until(|s| is_settled(s, ticket));
    drop(bench);
    let config = ground.config();
    let added = "\n[[tools.rule]]\ndecision = \"allow\"\ntool = \"execute_command\"\n\
                 command = [\"touch\", \"made\"]\n";
    assert_eq!(config.replacen(added, "", 1), CONFIG, "{config}");
    assert_ne!(config, CONFIG);
    #[cfg(unix)]
    assert_eq!(super::bench::mode(&ground.places().config), 0o600);

    // The next conversation knows it, and what is taken out of the file stays out.
    fs::remove_file(ground.work().join("made")).unwrap();
    let (mut bench, _kit) = talk(&ground, ToolUse::Ask, vec![run(), whole(&["Done."])]);
    let end = bench.ask("go");
    assert_eq!(calls_of(&end)[0].state, ToolState::Ok);
    assert!(ground.read("made").is_some());
}

#[test]
fn a_rule_that_the_user_took_out_meanwhile_stays_out() {
    let ground = Ground::new();
    ground.configure(CONFIG);
    let run = calls(&[("execute_command", json!({"command": ["touch", "made"]}))]);
    let (mut bench, _kit) = talk(&ground, ToolUse::Ask, vec![run, whole(&["Done."])]);
    let ticket = bench.say("go");
    let asked = question(&mut bench, None);
    ground.configure("# empty now\n");
    let always = asked.offers.iter().position(|offer| offer.scope == Scope::Always).unwrap();
    decide(&bench, &asked, Decision::Offer(always));
    bench.until(|s| is_settled(s, ticket));
    drop(bench);
    let config = ground.config();
    assert!(config.contains("touch") && !config.contains("\"rm\""), "{config}");
    assert!(config.contains("# empty now"), "{config}");
}

#[test]
fn rules_in_an_inline_list_get_company() {
    let ground = Ground::new();
    ground.configure("tools = { rule = [ { decision = \"ask\", tool = \"fetch_url\" } ] } # so\n");
    let run = calls(&[("execute_command", json!({"command": ["touch", "made"]}))]);
    let (mut bench, _kit) = talk(&ground, ToolUse::Ask, vec![run, whole(&["Done."])]);
    let ticket = bench.say("go");
    let asked = question(&mut bench, None);
    let always = asked.offers.iter().position(|offer| offer.scope == Scope::Always).unwrap();
    decide(&bench, &asked, Decision::Offer(always));
    bench.until(|s| is_settled(s, ticket));
    drop(bench);
    assert_eq!(Settings::read(&ground.places().config).unwrap().rules.len(), 2);
    assert!(ground.config().ends_with("# so\n"), "{}", ground.config());
}

#[test]
fn what_was_accepted_of_servers_survives_and_what_is_broken_is_put_aside() {
    let ground = Ground::new();
    let engine = engine(limits());
    let open = || toolbox::open_at(&ground.work(), &ground.places(), &engine.handle()).unwrap();
    ground.configure("[mcpServers.time]\ncommand = \"mcp-server-time\"\n");
    let mut pins = Pins::default();
    pins.servers.insert("time".into(), ServerPins::default());
    open().pins.keep(&pins).unwrap();
    assert_eq!(open().toolbox.servers().unwrap().pins(), pins);
    let file = ground.places().state.join("mcp-pins.json");
    #[cfg(unix)]
    {
        assert_eq!(super::bench::mode(&file), 0o600);
        assert_eq!(super::bench::mode(&ground.places().state), 0o700);
    }

    fs::write(&file, "{\"servers\": {\"ti").unwrap();
    let kit = open();
    assert_eq!(kit.toolbox.servers().unwrap().pins(), Pins::default(), "nobody accepted that");
    assert!(
        kit.warnings.iter().any(|words| words.contains("accepted again")),
        "{:?}",
        kit.warnings
    );
    kit.pins.keep(&pins).unwrap();
    assert_eq!(open().toolbox.servers().unwrap().pins(), pins);
    assert!(file.with_extension("broken").exists(), "it is not deleted");
}

#[test]
fn long_output_goes_into_files_of_ones_own() {
    let ground = Ground::new();
    let spills = Spills::new(&ground.places().state);
    let (mut one, place) = spills.open("../../call\u{1b}_1").unwrap();
    let (_two, other) = spills.open("../../call\u{1b}_1").unwrap();
    one.write_all(b"all of it").unwrap();
    drop(one);
    assert_ne!(place, other, "each has a file of its own");
    let place = std::path::Path::new(&*place);
    assert_eq!(place.parent(), Some(ground.places().state.join("output").as_path()));
    assert!(place.file_name().unwrap().to_str().unwrap().starts_with("call_1."));
    assert_eq!(fs::read(place).unwrap(), b"all of it");
    #[cfg(unix)]
    assert_eq!(super::bench::mode(place), 0o600);

    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1);
    fs::File::open(place).unwrap().set_modified(old).unwrap();
    spills.open("x").unwrap();
    assert!(!place.exists(), "what is old goes");
    assert!(std::path::Path::new(&*other).exists());
}

#[test]
fn the_programs_own_files_are_asked_about_even_when_edits_are_free() {
    let ground = Ground::new();
    ground.configure(CONFIG);
    let config = ground.places().config;
    let path = config.to_str().unwrap();
    let write = calls(&[("write_to_file", json!({"path": path, "content": "theme = 1"}))]);
    let (mut bench, _kit) = talk(&ground, ToolUse::Edits, vec![write, whole(&["Done."])]);
    let ticket = bench.say("go");
    let asked = question(&mut bench, None);
    assert!(!asked.is_inside);
    decide(&bench, &asked, Decision::Reject);
    let end = bench.until(|s| is_settled(s, ticket));
    assert_eq!(calls_of(&end)[0].state, ToolState::NotRun);
    assert_eq!(ground.config(), CONFIG);
    assert_eq!(Arc::strong_count(&asked), 1, "nothing holds a question that was answered");
}
