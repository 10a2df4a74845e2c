//! The command line: words in, a command or a complaint out.

use letterpress::app::{
    cli::{
        self, At, Command, Expand, KeyWord, LogLevel, Renderer, Renderers, Scenario, Sessions,
        Stop, Theme,
    },
    export::{self, Format},
};

fn parse(line: &str) -> Result<cli::Invocation, String> {
    let words = std::iter::once("letterpress").chain(line.split_whitespace());
    cli::parse_from(words).map_err(|stop| match stop {
        Stop::Answer(text) => text,
        Stop::Wrong(error) => error.to_string(),
    })
}

fn command(line: &str) -> Command {
    parse(line).unwrap_or_else(|error| panic!("{line}: {error}")).command
}

#[test]
fn files_open_in_a_window() {
    let cases: [(&str, &[&str]); 6] = [
        ("", &[]),
        ("a.jsonl", &["a.jsonl"]),
        ("a.jsonl b.jsonl", &["a.jsonl", "b.jsonl"]),
        ("./export", &["./export"]),
        ("a.jsonl export", &["a.jsonl", "export"]),
        ("--log debug a.jsonl", &["a.jsonl"]),
    ];
    for (line, expected) in cases {
        let Command::Window { files } = command(line) else { panic!("{line}: no window") };
        let files: Vec<&str> = files.iter().filter_map(|file| file.to_str()).collect();
        assert_eq!(files, expected, "{line}");
    }
}

#[test]
fn keys_are_never_words_of_the_command_line() {
    let set = |name: &str, file| Command::Keys(KeyWord::Set { name: name.to_owned(), file });
    assert_eq!(command("keys set openai"), set("openai", false));
    assert_eq!(command("keys set openai --file"), set("openai", true));
    assert_eq!(command("keys rm work"), Command::Keys(KeyWord::Rm { name: "work".to_owned() }));
    assert_eq!(command("keys list"), Command::Keys(KeyWord::List));
    assert!(parse("keys set openai sk-secret").is_err(), "everybody may read a command line");
}

#[test]
fn render_takes_its_flags_and_defaults() {
    let Command::Render(plain) = command("render h.jsonl") else { panic!("no render") };
    assert_eq!((plain.size, plain.at, plain.output), ([1400, 900], At::End, None));
    assert_eq!((plain.scale, plain.theme, plain.expand), (1.0, Theme::Light, Expand::None));
    let line = "render h.jsonl --output o.png --size 800x600 --scale 1.5 --theme dark --at 12 \
                --expand all";
    let Command::Render(full) = command(line) else { panic!("no render") };
    assert_eq!((full.size, full.at), ([800, 600], At::Message(12)));
    assert_eq!((full.scale, full.theme, full.expand), (1.5, Theme::Dark, Expand::All));
    let Command::Render(start) = command("render h.jsonl --at start") else { panic!("no render") };
    assert_eq!(start.at, At::Start);
}

#[test]
fn export_takes_its_format_from_the_flag_or_the_ending() {
    let cases = [
        ("export h.jsonl", Format::Md),
        ("export h.jsonl --format json", Format::Json),
        ("export h.jsonl --output o.html", Format::Html),
        ("export h.jsonl --output o.html --format txt", Format::Txt),
        ("export h.jsonl --output o.JSONL", Format::Jsonl),
        ("export h.jsonl --output o.bin", Format::Md),
    ];
    for (line, expected) in cases {
        let Command::Export(words) = command(line) else { panic!("{line}: no export") };
        assert_eq!(export::Request::from(words).format, expected, "{line}");
    }
    let Command::Export(words) = command("export h --branch a1") else { panic!("no export") };
    assert_eq!(words.branch.as_deref(), Some("a1"));
}

#[test]
fn synth_and_profile_take_numbers() {
    let Command::Synth(synth) = command("synth 1000 --seed 7") else { panic!("no synth") };
    assert_eq!((synth.messages, synth.seed), (1000, 7));
    let Command::Profile(file) = command("profile h.jsonl") else { panic!("no profile") };
    assert_eq!((file.scenario, file.renderer, file.json), (Scenario::All, Vec::new(), false));
    assert_eq!((file.threshold, file.compare.len(), file.window), (20.0, 0, false));
    let line = "profile --synthetic 50 --scenario fling --renderer commonmark --frames 10 --json";
    let Command::Profile(made) = command(line) else { panic!("no profile") };
    assert_eq!((made.file, made.synthetic, made.frames), (None, Some(50), Some(10)));
    let commonmark = vec![Renderers::One(Renderer::Commonmark)];
    assert_eq!((made.scenario, made.renderer), (Scenario::Fling, commonmark));
    assert!(made.json);
    let line = "profile h.jsonl --renderer replay --renderer all --window --trace t.json \
                --plot p.png";
    let Command::Profile(drawn) = command(line) else { panic!("no profile") };
    assert_eq!(drawn.renderer, [Renderers::One(Renderer::Replay), Renderers::All]);
    assert_eq!((drawn.window, drawn.trace, drawn.plot), (true, path("t.json"), path("p.png")));
    let Command::Profile(giant) = command("profile --scenario giant --giant-bytes 9") else {
        panic!("no profile")
    };
    assert_eq!((giant.file, giant.giant_bytes), (None, 9));
    let Command::Profile(held) = command("profile --compare a.json b.json --threshold 5") else {
        panic!("no profile")
    };
    assert_eq!((held.compare.len(), held.threshold), (2, 5.0));
}

fn path(name: &str) -> Option<std::path::PathBuf> {
    Some(name.into())
}

#[test]
fn ask_and_chat_take_what_answers() {
    let line = "ask --json --image a.png --image b.png --no-save --tools none --provider ollama \
                --base-url http://localhost:1 --model m --system S --max-tokens 5 hello there";
    let Command::Ask(ask) = command(line) else { panic!("no ask") };
    assert_eq!(ask.prompt, ["hello", "there"]);
    assert_eq!((ask.json, ask.image.len(), ask.no_save), (true, 2, true));
    let flags = &ask.provider;
    assert_eq!(flags.provider.as_deref(), Some("ollama"));
    assert_eq!(flags.base_url.as_deref(), Some("http://localhost:1"));
    assert_eq!((flags.model.as_deref(), flags.system.as_deref()), (Some("m"), Some("S")));
    assert_eq!(flags.max_tokens, Some(5));
    let Command::Ask(stdin) = command("ask -") else { panic!("no ask") };
    assert_eq!((stdin.prompt.as_slice(), stdin.json), (&["-".to_owned()][..], false));
    let Command::Chat(chat) = command("chat --provider demo") else { panic!("no chat") };
    assert_eq!(chat.provider.provider.as_deref(), Some("demo"));
    assert_eq!(command("providers"), Command::Providers);
}

#[test]
fn sessions_and_search_take_their_flags() {
    assert_eq!(command("sessions"), Command::Sessions(Sessions { json: false, all: false }));
    let line = "sessions --json --all";
    assert_eq!(command(line), Command::Sessions(Sessions { json: true, all: true }));
    let Command::Search(plain) = command("search two words") else { panic!("no search") };
    assert_eq!((plain.query, plain.json, plain.limit), (words(&["two", "words"]), false, 20));
    let Command::Search(full) = command("search --json --limit 3 -- --flag") else {
        panic!("no search")
    };
    assert_eq!((full.query, full.json, full.limit), (words(&["--flag"]), true, 3));
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn general_flags_stand_before_and_after_a_command() {
    for line in ["--log debug export h", "export --log debug h", "export h --log debug"] {
        let invocation = parse(line).expect("a command");
        assert_eq!(invocation.general.log, Some(LogLevel::Debug), "{line}");
        assert!(matches!(invocation.command, Command::Export(_)), "{line}");
    }
    let general = parse("--data-dir d --config c.toml").expect("a window").general;
    assert_eq!(general.data_dir.as_deref(), Some("d".as_ref()));
    assert_eq!(general.config.as_deref(), Some("c.toml".as_ref()));
}

#[test]
fn wrong_lines_get_one_line() {
    let lines = [
        "--bogus",
        "export",
        "export a b",
        "export a --format pdf",
        "render a --size 3",
        "render a --size 0x900",
        "render a --size 99999x900",
        "render a --scale NaN",
        "render a --scale 0",
        "render a --at 0",
        "render a --at middle",
        "render a --theme blue",
        "synth",
        "synth -5",
        "synth many",
        "profile",
        "profile a --synthetic 5",
        "profile a --scenario sleep",
        "profile a --frames 0",
        "profile a --renderer none",
        "profile a --giant-bytes 0",
        "profile a --compare b",
        "profile a --compare b c",
        "profile --compare a b --window",
        "profile --compare a b --threshold -1",
        "profile --scenario memory",
        "a --log debug export b",
        "--log loud",
        "ask",
        "ask hi --tools some",
        "ask hi --max-tokens 0",
        "ask hi --session s --no-save",
        "chat hi",
        "providers now",
        "sessions now",
        "search",
        "search --limit 0 word",
        "search --limit many word",
    ];
    for line in lines {
        let words = std::iter::once("letterpress").chain(line.split_whitespace());
        let Err(Stop::Wrong(error)) = cli::parse_from(words) else { panic!("{line}: was taken") };
        let complaint = error.to_string();
        assert_eq!(complaint.lines().count(), 1, "{line}: {complaint}");
        assert!(!complaint.starts_with("error"), "{line}: {complaint}");
        let code = format!("{:?}", error.exit_code());
        assert_eq!(code, format!("{:?}", std::process::ExitCode::from(2)), "{line}");
    }
}

#[test]
fn help_and_version_are_answers_that_list_what_works() {
    let Err(help) = parse("--help") else { panic!("no answer") };
    let listed = [
        "chat",
        "ask",
        "providers",
        "keys",
        "render",
        "export",
        "synth",
        "profile",
        "watch",
        "sessions",
        "search",
        "--data-dir",
        "--config",
        "--log",
    ];
    for word in listed {
        assert!(help.contains(word), "{word}");
    }
    let Err(version) = parse("--version") else { panic!("no answer") };
    assert!(version.starts_with("letterpress "));
}
