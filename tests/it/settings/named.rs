//! Providers that the user named.

use std::{fs, sync::Arc};

use letterpress::{
    app::{
        cli::ProviderFlags,
        keys::{Keys, Place},
        providers::{self, Choice, KeyOrigin, Reason, Sources},
        settings::Live,
    },
    engine::live::{Config, Engine, Provider},
    model::stream::Wire,
};
use tempfile::TempDir;

use crate::live::server::{Act, Server};

fn sources(config: &str, variable: fn(&str) -> Option<String>) -> Sources {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("config.toml");
    fs::write(&path, config).unwrap();
    Sources::new(Arc::new(variable), Keys::default(), Live::once(&path))
}

fn nothing(_: &str) -> Option<String> {
    None
}

fn choose(sources: &Sources, provider: Option<&str>) -> Result<Choice, String> {
    let engine = Engine::start(Config::new(|| 0)).unwrap();
    let flags = ProviderFlags {
        provider: provider.map(str::to_owned),
        model: Some("m".to_owned()),
        ..ProviderFlags::default()
    };
    let chosen = engine.block_on(providers::choose(&engine.http(), &flags, sources));
    chosen.map_err(|error| error.to_string())
}

const WORK: &str = r#"
[providers.work]
base_url = "https://llm.example.com/v1"
wire = "anthropic"
key_variable = "WORK_KEY"
headers = { "X-Team" = "letters", "Authorization" = "Bearer ${WORK_TOKEN}" }
"#;

#[test]
fn a_named_provider_has_its_address_language_key_and_headers() {
    let sources = sources(WORK, |name| match name {
        "WORK_KEY" => Some("key-of-work".to_owned()),
        "WORK_TOKEN" => Some("token-of-work".to_owned()),
        _ => None,
    });
    let candidate = sources.candidate("work").unwrap();
    assert_eq!(candidate.origin, KeyOrigin::Variable("WORK_KEY".into()));
    assert_eq!(candidate.line, Some(2));
    let endpoint = sources.endpoint(&candidate).unwrap();
    assert_eq!(
        (endpoint.wire, endpoint.base.as_str()),
        (Wire::Anthropic, "https://llm.example.com/v1")
    );
    assert!(endpoint.key.is_some());
    let headers: Vec<_> =
        endpoint.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(headers, [("Authorization", "Bearer token-of-work"), ("X-Team", "letters")]);
    let choice = choose(&sources, Some("work")).unwrap();
    assert_eq!((&*choice.name, choice.reason), ("work", Reason::Named));
    assert_eq!(sources.names()[0].as_ref(), "work", "what the user named comes first");
}

#[test]
fn the_settings_say_who_answers_and_what_is_missing() {
    let config = format!("[chat]\nprovider = \"work\"\n{WORK}");
    let with = |variable| choose(&sources(&config, variable), None);
    let choice = with(|name| (name == "WORK_KEY").then(|| "key-of-work".to_owned())).unwrap();
    assert_eq!((&*choice.name, choice.reason), ("work", Reason::Chosen));
    let error = with(nothing).unwrap_err();
    assert!(error.contains("WORK_KEY") && error.contains("letterpress keys set work"), "{error}");
    let error = choose(&sources("[chat]\nprovider = \"gone\"\n", nothing), None).unwrap_err();
    assert!(error.contains("there is no provider \"gone\""), "{error}");
}

#[test]
fn secrets_do_not_belong_into_the_file() {
    let sources = sources(
        "[providers.a]\nbase_url = \"https://a.example\"\nkey = \"sk-live-0123456789abcdef\"\n\
         headers = { \"X-Api-Key\" = \"0123456789abcdef\", \"X-Team\" = \"ghp_0123456789abcdefghijABCDEFGHIJ012345\" }\n\
         [providers.b]\nbase_url = \"https://b.example\"\nkey_variable = \"sk-live-0123456789abcdef\"\n",
        nothing,
    );
    let flaws: Vec<_> = sources.settings().flaws.iter().map(ToString::to_string).collect();
    assert_eq!(flaws.len(), 3, "{flaws:#?}");
    assert!(flaws[0].contains("line 3") && flaws[1].contains("X-Api-Key, X-Team"), "{flaws:#?}");
    assert!(!flaws.concat().contains("0123456789abcdef"), "{flaws:#?}");
    assert!(sources.settings().providers.iter().all(|named| named.headers.is_empty()));
}

#[test]
fn secret_headers_travel_no_more_in_the_clear_than_keys_do() {
    let config = "[providers.a]\nbase_url = \"http://llm.example.com\"\nheaders = { \"X-Auth\" = \"${T}\" }\n";
    let sources = sources(config, |_| Some("a-secret-token".to_owned()));
    let error = sources.candidate("a").unwrap().endpoint.unwrap_err().to_string();
    assert!(error.contains("plain http") && error.contains("llm.example.com"), "{error}");
}

#[test]
fn a_name_that_is_known_only_moves() {
    let config = "[providers.openai]\nbase_url = \"https://proxy.example/v1\"\n";
    let sources =
        sources(config, |name| (name == "OPENAI_API_KEY").then(|| "key-of-openai".to_owned()));
    assert_eq!(sources.names().iter().filter(|name| ***name == *"openai").count(), 1);
    let choice = choose(&sources, Some("openai")).unwrap();
    let Provider::Endpoint(endpoint) = choice.provider else { panic!("no endpoint") };
    assert_eq!(endpoint.base.host_str(), Some("proxy.example"));
    assert!(endpoint.key.is_some());
}

#[test]
fn a_named_server_without_a_key_is_looked_for_nearby_and_listed() {
    let list = br#"{"data": [{"id": "first"}]}"#.to_vec();
    let answer = vec![
        Act::Head(200, vec![("content-type", "application/json")]),
        Act::Send(list),
        Act::Finish,
    ];
    let server = Server::new(vec![answer.clone(), answer]);
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("config.toml");
    fs::write(&path, format!("[providers.box]\nbase_url = \"{}/v1\"\n", server.base)).unwrap();
    let sources = Sources::new(Arc::new(nothing), Keys::default(), Live::once(&path));
    let engine = Engine::start(Config::new(|| 0)).unwrap();
    let table = engine.block_on(providers::describe(&engine.http(), &sources));
    let row = table.lines().find(|line| line.starts_with("box ")).unwrap();
    assert!(row.contains("none needed") && row.contains("config.toml line 1"), "{table}");
    assert_eq!(sources.candidate("box").unwrap().origin, KeyOrigin::Missing(None));
    assert_eq!(Place::File.to_string(), "in a file, stored unencrypted");
}

#[test]
fn the_proxy_is_shown_without_its_password() {
    let sources = sources("", |name| match name {
        "HTTPS_PROXY" => Some("http://me:pass-of-proxy@proxy.example:3128/".to_owned()),
        "NO_PROXY" => Some("localhost,.example".to_owned()),
        _ => None,
    });
    let (variable, proxy) = sources.proxy().unwrap();
    assert_eq!((variable, proxy.as_str()), ("HTTPS_PROXY", "http://me:***@proxy.example:3128/"));
    let engine = Engine::start(Config::new(|| 0)).unwrap();
    let table = engine.block_on(providers::describe(&engine.http(), &sources));
    assert!(table.contains("me:***@proxy.example") && !table.contains("pass-of-proxy"), "{table}");
}
