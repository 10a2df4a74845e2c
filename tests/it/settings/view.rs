//! The settings view by itself: what is found, what is pressed, what a screen reader hears.

use egui::{Key, Role, Vec2};
use egui_kittest::{Harness, kittest::Queryable as _};
use letterpress::view::{
    settings::{
        Chosen, Control, Keep, Row, SecretState, Section, SettingsView, SettingsWish, Typed,
    },
    theme,
};

#[derive(Default)]
struct Desk {
    view: SettingsView,
    wishes: Vec<SettingsWish>,
}

fn row(id: &str, name: &str, control: Control) -> Row {
    Row {
        id: id.into(),
        name: name.into(),
        about: format!("What {name} does.").into(),
        origin: "from config.toml".into(),
        can_reset: true,
        control,
    }
}

fn secret(state: SecretState) -> Control {
    Control::Secret { state, news: ("".into(), true) }
}

fn sections() -> Vec<Section> {
    let options = vec![("a".into(), "First".into()), ("b".into(), "Second".into())];
    let text = |is_long| Control::Text { now: "before".into(), hint: "".into(), is_long };
    let number = Control::Number { now: 1.0, range: [0.5, 3.0], step: 0.1, percent: true };
    let one = vec![
        row("choice", "Colour", Control::Choice { options, now: "a".into() }),
        row("switch", "Map", Control::Switch(true)),
        row("number", "Size", number),
        row("text", "Model", text(false)),
        row("list", "Stars", Control::List(vec!["a/b".into(), "c/d".into()])),
    ];
    let two = vec![
        row("key.a", "Alpha", secret(SecretState::Missing)),
        row("key.b", "Beta", secret(SecretState::Kept)),
        row("key.c", "Gamma", secret(SecretState::Environment)),
    ];
    let section = |name: &str, rows| Section { name: name.into(), about: "".into(), rows };
    vec![section("Look", one), section("Keys", two)]
}

fn harness() -> Harness<'static, Desk> {
    let mut desk = Desk::default();
    desk.view.toggle();
    let mut harness = Harness::builder().with_size(Vec2::new(1000.0, 720.0)).allow_missing_glyphs();
    harness = harness.with_max_steps(20);
    let mut harness = harness.build_ui_state(
        |ui, desk: &mut Desk| {
            theme_once(ui);
            let palette = theme::palette(egui::Theme::Dark);
            desk.wishes.extend(desk.view.show(ui, &sections(), None, &palette));
        },
        desk,
    );
    harness.run_steps(4);
    harness
}

fn theme_once(ui: &egui::Ui) {
    if ui.ctx().cumulative_frame_nr() == 0 {
        theme::install(ui.ctx());
        ui.ctx().set_theme(egui::Theme::Dark);
    }
}

fn wishes(harness: &mut Harness<'static, Desk>) -> Vec<SettingsWish> {
    harness.run_steps(3);
    std::mem::take(&mut harness.state_mut().wishes)
}

#[test]
fn what_is_pressed_comes_back_as_wishes() {
    let mut harness = harness();
    picture(&mut harness, "settings-rows");
    harness.get_by_role_and_label(Role::CheckBox, "Map").click();
    let set = |id: &str, chosen| SettingsWish::Set(id.into(), chosen);
    assert_eq!(wishes(&mut harness), [set("switch", Chosen::Switch(false))]);
    harness.get_by_label("Size: more").click();
    assert_eq!(wishes(&mut harness), [set("number", Chosen::Number(1.1))]);
    harness.get_by_label("Take out c/d").click();
    assert_eq!(wishes(&mut harness), [set("list", Chosen::Without("c/d".into()))]);
    harness.get_by_label("Reset Colour").click();
    assert_eq!(wishes(&mut harness), [SettingsWish::Reset("choice".into())]);
    harness.get_by_role_and_label(Role::ComboBox, "Colour").click();
    harness.run_steps(3);
    harness.get_by_label("Second").click();
    assert_eq!(wishes(&mut harness), [set("choice", Chosen::Word("b".into()))]);
}

#[test]
fn a_text_counts_once_it_is_left() {
    let mut harness = harness();
    let field = |harness: &Harness<'static, Desk>| {
        harness.get_by_role_and_label(Role::TextInput, "Model").focus();
    };
    field(&harness);
    harness.run_steps(2);
    harness.key_press(Key::End);
    harness.get_by_role_and_label(Role::TextInput, "Model").type_text(" and after");
    assert_eq!(wishes(&mut harness), [], "not while it is written");
    harness.key_press(Key::Enter);
    let chosen = Chosen::Text("before and after".into());
    assert_eq!(wishes(&mut harness), [SettingsWish::Set("text".into(), chosen)]);
}

#[test]
fn words_find_rows_of_every_section() {
    let mut harness = harness();
    assert!(harness.query_by_label("Alpha").is_none(), "one section is shown at a time");
    harness.get_by_role(Role::SearchInput).focus();
    harness.run_steps(1);
    harness.get_by_role(Role::SearchInput).type_text("alp does");
    harness.run_steps(3);
    harness.get_by_label("Alpha");
    assert!(harness.query_by_label("Colour").is_none() && harness.query_by_label("Beta").is_none());
    harness.get_by_role(Role::SearchInput).type_text(" nothing like it");
    harness.run_steps(3);
    harness.get_by_label_contains("Nothing here is called");
    harness.get_by_role_and_label(Role::Tab, "Keys").click();
    harness.run_steps(3);
    harness.get_by_label("Gamma");
}

#[test]
fn a_key_is_typed_unseen_and_goes_where_the_user_says() {
    let mut harness = harness();
    harness.get_by_role_and_label(Role::Tab, "Keys").click();
    harness.run_steps(3);
    picture(&mut harness, "settings-keys");
    assert!(harness.query_by_label("Remove the key of Gamma").is_none(), "it is not ours");
    harness.get_by_label("Remove the key of Beta").click();
    assert_eq!(wishes(&mut harness), [SettingsWish::Forget("key.b".into())]);

    harness.get_by_label("Set the key of Alpha").click();
    harness.run_steps(3);
    picture(&mut harness, "settings-key-typed");
    let field = || (Role::PasswordInput, "Key of Alpha");
    harness.get_by_role_and_label(field().0, field().1).type_text("sk-typed-secret");
    harness.run_steps(3);
    let shown = harness.get_by_role_and_label(field().0, field().1).value().unwrap();
    assert_eq!(shown, "•".repeat(15));
    harness.get_by_label("Keep in a file, stored unencrypted").click();
    let typed = Typed("sk-typed-secret".to_owned());
    assert!(!format!("{typed:?}").contains("secret"));
    let kept = wishes(&mut harness);
    assert_eq!(kept, [SettingsWish::Keep("key.a".into(), typed, Keep::File)]);
    assert!(!format!("{:?}", harness.state().view).contains("typed-secret"));

    harness.get_by_label("Set the key of Alpha").click();
    harness.run_steps(3);
    harness.key_press(Key::Escape);
    harness.run_steps(3);
    assert!(harness.state().view.is_open(), "Escape leaves the field first");
    harness.key_press(Key::Escape);
    harness.run_steps(3);
    assert!(!harness.state().view.is_open());
}

fn picture(harness: &mut Harness<'static, Desk>, name: &str) {
    let Some(folder) = std::env::var_os("LETTERPRESS_PICTURES") else { return };
    let path = std::path::PathBuf::from(folder).join(format!("{name}.png"));
    harness.render().unwrap().save(path).unwrap();
}
