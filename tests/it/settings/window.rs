//! The window: what is changed in it comes back, what is changed in the file is seen.

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use egui::{Key, Modifiers, Role, ThemePreference, Vec2};
use egui_kittest::{Harness, kittest::Queryable as _};
use letterpress::{
    app::{
        cli::ProviderFlags,
        keys::Keys,
        places::Places,
        providers::Sources,
        settings::{Live, Settings},
        window::{Start, Window},
    },
    perf,
    view::{composer::SendKey, governor},
    wire::demo::Pace,
};
use tempfile::TempDir;

use crate::{approval::desk::on_ground, secrets_at_rest::Shelf};

struct Ground {
    folder: TempDir,
    shelf: Arc<Shelf>,
}

impl Ground {
    fn new(config: &str) -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("config.toml"), config).unwrap();
        Self { folder, shelf: Arc::default() }
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("config.toml")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.config()).unwrap()
    }

    fn places(&self) -> Places {
        Places {
            config: self.config(),
            state: self.folder.path().join("state"),
            data: self.folder.path().join("data"),
            home: None,
        }
    }

    fn window(&self) -> Harness<'static, Window> {
        let places = self.places();
        let keys = Keys::at(&places, Arc::clone(&self.shelf) as _);
        let live = Live::follow(places.config.clone());
        let sources = Sources::new(Arc::new(|_| None), keys, live).at(places);
        let demo = ProviderFlags { provider: Some("demo".to_owned()), ..ProviderFlags::default() };
        let start = Start { chat: Some(demo), pace: Pace::AtOnce, sources, ..Start::default() };
        let mut harness = Harness::builder()
            .with_size(Vec2::new(1200.0, 800.0))
            .allow_missing_glyphs()
            .build_eframe(|creation| Window::new(&creation.egui_ctx, start));
        harness.run_steps(4);
        harness
    }
}

fn until(
    harness: &mut Harness<'static, Window>,
    what: &str,
    holds: impl Fn(&mut Harness<'static, Window>) -> bool,
) {
    let limit = perf::now() + Duration::from_secs(30);
    while !holds(harness) {
        assert!(perf::now() < limit, "never: {what}");
        harness.run_steps(1);
        std::thread::park_timeout(Duration::from_millis(4));
    }
    harness.run_steps(2);
}

fn theme(harness: &Harness<'static, Window>) -> ThemePreference {
    harness.ctx.options(|options| options.theme_preference)
}

#[test]
fn what_was_chosen_in_a_window_holds_in_the_next() {
    let ground = Ground::new("# mine\n");
    let mut harness = ground.window();
    harness.ctx.set_theme(ThemePreference::Light);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Plus);
    let frames = governor::Settings {
        battery_saver: governor::Preference::On,
        ..governor::Settings::default()
    };
    governor::configure(&harness.ctx, frames);
    harness.run_steps(4);
    harness.get_by_label("Enter sends").click();
    harness.run_steps(3);
    harness.get_by_label("Ctrl Enter sends, Enter breaks the line").click();
    until(&mut harness, "all of it is written", |_| ground.text().contains("send_key"));
    drop(harness);
    let settings = Settings::read(&ground.config()).unwrap();
    assert!(ground.text().starts_with("# mine\n"), "{}", ground.text());
    assert_eq!(settings.theme(), ThemePreference::Light);
    assert_eq!((settings.minimap(), settings.send_key()), (false, SendKey::CtrlEnter));
    assert_eq!(settings.frames(), frames);
    assert!((settings.zoom() - 1.1).abs() < 0.001, "{}", settings.zoom());

    let harness = ground.window();
    assert_eq!(theme(&harness), ThemePreference::Light);
    assert!(!harness.state().view().unwrap().show_minimap);
    assert!((harness.ctx.zoom_factor() - 1.1).abs() < 0.001);
    assert_eq!(governor::settings(&harness.ctx), frames);
    harness.get_by_label("Ctrl Enter sends");
    assert_eq!(Settings::read(&ground.config()).unwrap(), settings, "opening changes nothing");
}

#[test]
fn a_window_follows_the_file_in_every_tab() {
    let ground = Ground::new("");
    let mut harness = ground.window();
    harness.key_press_modifiers(Modifiers::COMMAND, Key::N);
    harness.run_steps(3);
    fs::write(
        ground.config(),
        "[appearance]\ntheme = \"light\"\nminimap = false\n[composer]\nsend_key = \"ctrl-enter\"\n",
    )
    .unwrap();
    until(&mut harness, "it is seen", |harness| theme(harness) == ThemePreference::Light);
    for _ in 0..2 {
        harness.key_press_modifiers(Modifiers::CTRL, Key::Tab);
        harness.run_steps(3);
        harness.get_by_label("Ctrl Enter sends");
        assert!(!harness.state().view().unwrap().show_minimap);
    }
    fs::write(ground.config(), "").unwrap();
    until(&mut harness, "it is taken back", |harness| theme(harness) == ThemePreference::System);
    assert!(harness.state().view().unwrap().show_minimap);
}

#[test]
fn stars_are_kept_and_a_key_goes_through_them() {
    let ground = Ground::new("[chat]\nfavourites = [\"demo/one\", \"demo/two\"]\n");
    let mut harness = ground.window();
    let model = |harness: &Harness<'static, Window>| {
        harness.state().snapshot().unwrap().settings.model.to_string()
    };
    for expected in ["one", "two", "one"] {
        harness.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::M);
        until(&mut harness, expected, |harness| model(harness) == expected);
    }
    harness.get_by_role_and_label(Role::Button, "demo · one (recorded)").click();
    harness.run_steps(3);
    harness.get_by_role_and_label(Role::Button, "Star for demo · two").click();
    until(&mut harness, "it is kept", |_| !ground.text().contains("two"));
    assert_eq!(ground.text(), "[chat]\nfavourites = [\"demo/one\"]\n");
}

#[test]
fn the_settings_open_by_key_and_change_the_file() {
    let ground = Ground::new("[appearance]\nshine = 1\n");
    let mut harness = ground.window();
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Comma);
    harness.run_steps(4);
    harness.get_by_role_and_label(Role::CheckBox, "Minimap").click();
    until(&mut harness, "it is written", |_| ground.text().contains("minimap = false"));
    assert!(!harness.state().view().unwrap().show_minimap);
    harness.get_by_label("Reset Minimap").click();
    until(&mut harness, "it is taken back", |_| !ground.text().contains("minimap"));
    assert!(harness.state().view().unwrap().show_minimap);
    harness.get_by_role_and_label(Role::Tab, "Not used").click();
    harness.run_steps(3);
    harness.get_by_label("appearance.shine");
    harness.get_by_role_and_label(Role::Tab, "Places").click();
    until(&mut harness, "the disk is measured", |harness| {
        harness.query_by_label("Storage").is_some()
    });
    harness.get_by_label("Copy Settings file");
}

#[test]
fn keys_are_kept_from_the_window_and_shown_by_state_alone() {
    let ground = Ground::new("");
    let mut harness = ground.window();
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Comma);
    harness.run_steps(4);
    harness.get_by_role_and_label(Role::Tab, "Keys").click();
    harness.run_steps(3);
    harness.get_by_label("Set the key of OpenAI").click();
    harness.run_steps(3);
    let field = || (Role::PasswordInput, "Key of OpenAI");
    harness.get_by_role_and_label(field().0, field().1).type_text("sk-window-secret-key");
    harness.run_steps(2);
    ground.shelf.lock(Some("no Secret Service answers"));
    harness.get_by_label("Keep in the keyring").click();
    until(&mut harness, "it is refused", |harness| {
        harness.query_by_label_contains("no Secret Service answers").is_some()
    });
    assert!(!ground.places().state.join("keys/keys.toml").exists(), "no silent fallback");

    harness.get_by_label("Set the key of OpenAI").click();
    harness.run_steps(3);
    harness.get_by_role_and_label(field().0, field().1).type_text("sk-window-secret-key");
    harness.run_steps(2);
    harness.get_by_label("Keep in a file, stored unencrypted").click();
    until(&mut harness, "it is kept", |harness| {
        harness.query_by_label("Kept in a file, stored unencrypted.").is_some()
    });
    harness.get_by_label("in a file, stored unencrypted");
    let file = fs::read_to_string(ground.places().state.join("keys/keys.toml")).unwrap();
    assert!(file.contains("sk-window-secret-key"));
    harness.get_by_label("Remove the key of OpenAI").click();
    until(&mut harness, "it is removed", |harness| harness.query_by_label("Removed.").is_some());
}

/// Draws the settings, when pictures are asked for by the environment.
#[test]
fn pictures_of_every_section() {
    let Some(folder) = std::env::var_os("LETTERPRESS_PICTURES").map(PathBuf::from) else { return };
    let config = "[appearance]\nzoom = 1.0\nshine = 1\n[chat]\nmodel = \"large\"\nprovider = \"work\"\n\
                  system = \"Be brief.\"\nmax_tokens = -2\nfavourites = [\"work/large\", \"ollama/qwen3\"]\n\
                  [providers.work]\nbase_url = \"https://llm.example.com/v1\"\nkey_variable = \"WORK_KEY\"\n";
    for (theme, name) in [(ThemePreference::Light, "light"), (ThemePreference::Dark, "dark")] {
        let ground = Ground::new(config);
        let mut harness = ground.window();
        harness.ctx.set_theme(theme);
        harness.key_press_modifiers(Modifiers::COMMAND, Key::Comma);
        harness.run_steps(6);
        for section in ["Appearance", "Writing", "New chats", "Keys", "Places", "Not used"] {
            harness.get_by_role_and_label(Role::Tab, section).click();
            harness.run_steps(12);
            let image = on_ground(harness.render().unwrap(), &harness.ctx);
            image.save(folder.join(format!("settings-{name}-{section}.png"))).unwrap();
        }
        harness.get_by_role(Role::SearchInput).focus();
        harness.run_steps(2);
        harness.get_by_role(Role::SearchInput).type_text("key");
        harness.run_steps(12);
        let image = on_ground(harness.render().unwrap(), &harness.ctx);
        image.save(folder.join(format!("settings-{name}-search.png"))).unwrap();
    }
}
