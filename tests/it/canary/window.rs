//! The window with a provider that says the key in its refusal.

use std::{sync::Arc, time::Duration};

use egui::{Key, OutputCommand, Role, Vec2};
use egui_kittest::{Harness, kittest::NodeT as _, kittest::Queryable as _};
use letterpress::{
    app::{
        cli::ProviderFlags,
        keys::Keys,
        providers::Sources,
        settings::Live,
        window::{Start, Window},
    },
    model::Phase,
    perf,
};

use super::{canary, songs, spellings};
use crate::live::server::{Server, error};

fn window(server: &Server) -> Harness<'static, Window> {
    let flags = ProviderFlags {
        provider: Some("openai".to_owned()),
        base_url: Some(format!("{}/v1", server.base)),
        model: Some("m".to_owned()),
        ..ProviderFlags::default()
    };
    let key = |name: &str| (name == "OPENAI_API_KEY").then(|| canary("openai"));
    let sources = Sources::new(Arc::new(key), Keys::default(), Live::default());
    let start = Start { chat: Some(flags), sources, ..Start::default() };
    Harness::builder()
        .with_size(Vec2::new(1200.0, 800.0))
        .allow_missing_glyphs()
        .build_eframe(|creation| Window::new(&creation.egui_ctx, start))
}

fn until(harness: &mut Harness<'static, Window>, what: &str, holds: impl Fn(&Window) -> bool) {
    let limit = perf::now() + Duration::from_secs(30);
    while !holds(harness.state()) {
        assert!(perf::now() < limit, "never: {what}");
        harness.run_steps(1);
        std::thread::park_timeout(Duration::from_millis(4));
    }
    harness.run_steps(3);
}

fn copied(harness: &Harness<'static, Window>) -> Vec<String> {
    let commands = harness.output().platform_output.commands.iter();
    let texts = commands.filter_map(|command| match command {
        OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn a_refusal_that_says_the_key_is_shown_and_copied_without_it() {
    let words = format!("Wrong key: {}", spellings(&canary("openai")).join(" "));
    let server = Server::new(vec![error(401, &words, Vec::new())]);
    let mut harness = window(&server);
    until(&mut harness, "the server is chosen", |window| {
        window.snapshot().is_some_and(|snapshot| &*snapshot.settings.provider == "openai")
    });
    harness.get_by_role(Role::MultilineTextInput).focus();
    harness.run_steps(2);
    harness.get_by_role(Role::MultilineTextInput).type_text("hello");
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    until(&mut harness, "it is refused", |window| {
        window.snapshot().is_some_and(|it| it.end.is_some() && it.phase == Phase::Idle)
    });
    let snapshot = Arc::clone(harness.state().snapshot().unwrap());
    assert_eq!(songs(format!("{snapshot:?}").as_bytes()), Vec::<String>::new());
    assert!(format!("{snapshot:?}").contains("[secret]"), "the server said it: {snapshot:?}");

    harness.get_by_label("Copy error").click();
    let mut texts = Vec::new();
    for _ in 0..3 {
        harness.step();
        texts.extend(copied(&harness));
    }
    assert!(texts.len() == 1 && texts[0].contains("Wrong key"), "{texts:?}");
    assert_eq!(songs(texts[0].as_bytes()), Vec::<String>::new());

    let tree: Vec<String> = harness
        .root()
        .children_recursive()
        .map(|node| format!("{:?}", node.accesskit_node().label()))
        .collect();
    assert!(!tree.is_empty());
    assert_eq!(songs(tree.join("\n").as_bytes()), Vec::<String>::new());
}
