//! The file: read with forgiveness, edited in place, followed.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use egui::ThemePreference;
use letterpress::{
    app::{
        cli::ProviderFlags,
        settings::{Change, Live, Setting, Settings, Spec, TABLE, Value},
    },
    model::{ThinkingLevel, ToolUse},
    perf,
    view::{composer::SendKey, governor::Preference},
};
use tempfile::TempDir;

const FILE: &str = r#"# mine
colour = "blue"      # nobody knows this

[appearance]
# at night
theme = "dark"       # really
zoom = 1.25
minimap = false
reduced_motion = true
shine = 3

[composer]
send_key = "ctrl-enter"

[notifications]
tools = false

[chat]
provider = "work"
model = "large"
system = "Be brief."
max_tokens = 4096
thinking = "low"
tools = "edits"
favourites = ["work/large", "openrouter/qwen/qwen3"]

[[tools.rule]]
decision = "deny"
tool = "*"

[mcpServers.time]
command = "time"
"#;

struct Folder(TempDir);

impl Folder {
    fn new(text: &str) -> Self {
        let folder = Self(TempDir::new().unwrap());
        fs::write(folder.path(), text).unwrap();
        folder
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("config.toml")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }
}

fn read(text: &str) -> Settings {
    Settings::read(&Folder::new(text).path()).unwrap()
}

#[test]
fn the_table_holds_every_setting_once_and_defaults_can_be_read() {
    for spec in TABLE {
        assert_eq!(spec.setting.spec().path(), spec.path());
        assert_eq!(TABLE.iter().filter(|other| other.path() == spec.path()).count(), 1);
        assert_eq!(Spec::of_path(&spec.path()).unwrap().setting, spec.setting);
        assert!(spec.about.ends_with('.'), "{}: a sentence", spec.name);
        let default = Settings::default().value(spec.setting);
        // What is written as the default is the default again.
        let (folder, live) = kept("");
        live.change(Change::Set(spec.setting, default.clone()));
        until("it is written", || folder.text().contains(spec.key));
        let again = Settings::read(&folder.path()).unwrap();
        assert_eq!((again.value(spec.setting), again.flaws), (default, Vec::new()));
    }
}

#[test]
fn everything_is_read() {
    let settings = read(FILE);
    assert_eq!(settings.theme(), ThemePreference::Dark);
    assert_eq!(settings.frames().reduced_motion, Preference::On);
    assert_eq!(settings.frames().battery_saver, Preference::Auto);
    assert!((settings.zoom() - 1.25).abs() < f32::EPSILON);
    assert!(!settings.minimap() && !settings.notifies());
    assert_eq!(settings.send_key(), SendKey::CtrlEnter);
    assert_eq!((settings.thinking(), settings.tools()), (ThinkingLevel::Low, ToolUse::Edits));
    let favourites = settings.favourites();
    assert_eq!((&*favourites[1].provider, &*favourites[1].model), ("openrouter", "qwen/qwen3"));
    let unknown: Vec<_> =
        settings.unknown.iter().map(|place| (place.line, place.key.as_str())).collect();
    assert_eq!(unknown, [(2, "colour"), (10, "appearance.shine")]);
    assert_eq!(settings.flaws, Vec::new());
}

#[test]
fn a_bad_value_costs_itself_and_is_named_by_line_and_key() {
    let settings = read(
        "[appearance]\ntheme = \"pink\"\nzoom = 9\nminimap = \"yes\"\nbattery_saver = \"on\"\n\
         [chat]\nmax_tokens = -1\nfavourites = [\"x\"]\nprovider = 7\n\
         [composer]\nsend_key = []\n[notifications]\ntools = 1\n[providers]\nx = 3\n",
    );
    let said: Vec<_> = settings.flaws.iter().map(ToString::to_string).collect();
    let begins = [
        "config.toml line 2: appearance.theme is none of \"system\", \"light\", \"dark\"",
        "config.toml line 3: appearance.zoom is no number from 0.5 to 3",
        "config.toml line 4: appearance.minimap is neither true nor false",
        "config.toml line 7: chat.max_tokens is no whole number",
        "config.toml line 8: chat.favourites is no list",
        "config.toml line 9: chat.provider is no text",
        "config.toml line 11: composer.send_key is none of",
        "config.toml line 13: notifications.tools is neither",
        "config.toml line 15: providers.x is no table",
    ];
    assert_eq!(said.len(), begins.len(), "{said:#?}");
    for (said, begin) in said.iter().zip(begins) {
        assert!(said.starts_with(begin), "{said} / {begin}");
    }
    assert_eq!(settings.frames().battery_saver, Preference::On, "the good one beside them holds");
    assert_eq!(settings.theme(), ThemePreference::System);
}

#[test]
fn a_broken_file_is_refused_with_its_line() {
    let folder = Folder::new("[appearance]\ntheme = \"dark\nzoom = 1\n");
    let error = Settings::read(&folder.path()).unwrap_err().to_string();
    assert!(error.contains("config.toml:2"), "{error}");
}

fn kept(text: &str) -> (Folder, Live) {
    let folder = Folder::new(text);
    let live = Live::follow(folder.path());
    (folder, live)
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let limit = perf::now() + Duration::from_secs(20);
    while !holds() {
        assert!(perf::now() < limit, "never: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

#[test]
fn an_edit_keeps_comments_order_and_what_is_not_known() {
    let (folder, live) = kept(FILE);
    live.change(Change::Set(Setting::Theme, Value::Word("light")));
    live.change(Change::Set(Setting::BatterySaver, Value::Word("on")));
    assert_eq!(live.settings().theme(), ThemePreference::Light, "it holds at once");
    until("it is written", || folder.text().contains("battery_saver"));
    let expected = FILE
        .replace("theme = \"dark\"       # really", "theme = \"light\"       # really")
        .replace("shine = 3\n", "shine = 3\nbattery_saver = \"on\"\n");
    assert_eq!(folder.text(), expected);

    live.change(Change::Reset(Setting::Theme));
    until("it is taken out", || !folder.text().contains("theme ="));
    let expected = expected.replace("theme = \"light\"       # really\n", "");
    assert_eq!(folder.text(), expected, "the comment above it stays");
    assert!(!live.settings().is_given(Setting::Theme));
}

#[test]
fn the_last_comment_of_a_file_survives_the_setting_below_it() {
    let (folder, live) = kept("[appearance]\n# why\nzoom = 2.0\n");
    live.change(Change::Reset(Setting::Zoom));
    until("it is taken out", || !folder.text().contains("zoom ="));
    assert!(folder.text().contains("# why"), "{}", folder.text());
}

#[cfg(unix)]
#[test]
fn what_is_written_is_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("new/config.toml");
    let live = Live::follow(path.clone());
    live.change(Change::Set(Setting::Minimap, Value::Switch(false)));
    until("it is written", || path.exists());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn a_running_program_sees_the_file_change_and_is_woken_once() {
    let (folder, live) = kept("[appearance]\ntheme = \"dark\"\n");
    let woken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&woken);
    live.wake(Arc::new(move || {
        count.fetch_add(1, Ordering::Relaxed);
    }));
    let version = live.version();
    std::thread::park_timeout(Duration::from_millis(1700));
    assert_eq!((live.version(), woken.load(Ordering::Relaxed)), (version, 0), "nothing changed");

    fs::write(folder.path(), "[appearance]\ntheme = \"light\"\n").unwrap();
    let wrote = perf::now();
    until("it is seen", || live.version() != version);
    assert!(wrote.elapsed() < Duration::from_secs(2), "{:?}", wrote.elapsed());
    assert_eq!(live.settings().theme(), ThemePreference::Light);
    assert_eq!(woken.load(Ordering::Relaxed), 1);
}

#[test]
fn a_file_that_breaks_leaves_the_last_good_settings_and_says_so() {
    let (folder, live) = kept("[appearance]\ntheme = \"dark\"\n");
    fs::write(folder.path(), "[appearance\n").unwrap();
    until("it is seen", || live.now().trouble.is_some());
    let trouble = live.now().trouble.unwrap();
    assert!(trouble.contains("not valid TOML") && trouble.contains(":1"), "{trouble}");
    assert_eq!(live.settings().theme(), ThemePreference::Dark);

    live.change(Change::Set(Setting::Theme, Value::Word("light")));
    assert_eq!(live.settings().theme(), ThemePreference::Light, "in this window it holds");
    until("it is said", || live.now().trouble.is_some_and(|it| it.contains("not kept")));
    assert_eq!(folder.text(), "[appearance\n", "a broken file is never overwritten");

    fs::write(folder.path(), "[composer]\nsend_key = \"ctrl-enter\"\n").unwrap();
    until("it is good again", || live.now().trouble.is_none());
    assert_eq!(live.settings().send_key(), SendKey::CtrlEnter);
}

#[test]
fn two_programs_change_one_file() {
    let (folder, one) = kept("# both\n");
    let other = Live::follow(folder.path());
    one.change(Change::Set(Setting::Theme, Value::Word("dark")));
    until("the first is written", || folder.text().contains("theme"));
    other.change(Change::Set(Setting::Minimap, Value::Switch(false)));
    until("both see both", || {
        [&one, &other].iter().all(|live| {
            live.settings().theme() == ThemePreference::Dark && !live.settings().minimap()
        })
    });
    assert!(folder.text().starts_with("# both\n"));
}

#[test]
fn flags_come_first_and_a_model_stays_with_its_provider() {
    let settings = read(FILE);
    let own = settings.fill(&ProviderFlags::default());
    assert_eq!((own.provider.as_deref(), own.model.as_deref()), (Some("work"), Some("large")));
    assert_eq!((own.system.as_deref(), own.max_tokens), (Some("Be brief."), Some(4096)));
    assert_eq!(own.thinking, ThinkingLevel::Low);
    let said = ProviderFlags { provider: Some("openai".to_owned()), ..ProviderFlags::default() };
    let other = settings.fill(&said);
    assert_eq!((other.provider.as_deref(), other.model), (Some("openai"), None));
    let address = ProviderFlags { base_url: Some("http://x".to_owned()), ..Default::default() };
    assert_eq!(settings.fill(&address).provider, None, "an address is no word for the provider");
    let said = ProviderFlags { system: Some("Else.".to_owned()), ..ProviderFlags::default() };
    assert_eq!(settings.fill(&said).system.as_deref(), Some("Else."));
}

/// Whatever stands in the file: no panic, and the rest is read.
#[test]
fn strange_files_are_survived() {
    let strange = [
        "appearance = 3",
        "appearance.theme = \"dark\"",
        "appearance = { theme = \"dark\", zoom = 1.5 }",
        "[[appearance]]\ntheme = \"dark\"",
        "[chat]\nsystem = \"\"\"\n\\u0000\"\"\"",
        "[providers.\"a b\"]\nbase_url = \"x\"",
        "[providers.demo]\nbase_url = \"http://x\"",
        "\u{feff}[appearance]\ntheme = \"dark\"",
        "[chat]\nfavourites = [[\"a/b\"], 3]",
        "[chat]\nmax_tokens = 99999999999999999999999",
    ];
    for text in strange {
        let folder = Folder::new(text);
        let Ok(settings) = Settings::read(&folder.path()) else { continue };
        let live = Live::follow(folder.path());
        live.change(Change::Set(Setting::Theme, Value::Word("light")));
        until("it is written, or that is said", || {
            folder.text().contains("light") || live.now().trouble.is_some()
        });
        let after = Settings::read(&folder.path()).unwrap();
        assert_eq!(after.flaws.len(), settings.flaws.len(), "{text}");
    }
}
