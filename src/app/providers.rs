//! Which providers there are, and which one answers.
//!
//! With none named it is the first whose key is set, else the first server nearby that
//! answers, else the demo, which is labelled as such. Keys are read from the environment,
//! and shown nowhere.

use std::{fmt, fmt::Write as _, sync::Arc, time::Duration};

use tokio::time::timeout;

use super::{
    cli::ProviderFlags,
    error::{Error, Result},
    timestamp,
};
use crate::{
    engine::live::{self, Engine, LocalServer, Provider},
    model::Settings,
    wire::{Endpoint, Http, ModelInfo, PRESETS, Preset, demo, models},
};

/// Reads a variable of the environment.
pub type Variable = fn(&str) -> Option<String>;

/// How long servers nearby have to answer.
const NEARBY: Duration = Duration::from_millis(300);
/// How long a provider has to list its models.
const LISTING: Duration = Duration::from_secs(4);

/// A provider that was chosen, and its model.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The name it goes by.
    pub name: Arc<str>,
    /// Where replies come from.
    pub provider: Provider,
    /// The model, by its provider's name for it.
    pub model: Arc<str>,
    /// Why it is this one.
    pub reason: Reason,
}

/// Why a provider was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The command line says so.
    Named,
    /// Its key is set.
    KeyFound,
    /// It answers nearby.
    ServerFound,
    /// There is nothing else.
    NothingFound,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Named => "it was named",
            Self::KeyFound => "its key is set",
            Self::ServerFound => "it answers nearby",
            Self::NothingFound => "no key is set, and no server answers nearby",
        })
    }
}

impl Choice {
    /// The demo.
    #[must_use]
    pub fn demo(reason: Reason) -> Self {
        let provider = Provider::Demo(demo::Pace::default());
        Self { name: demo::NAME.into(), provider, model: demo::NAME.into(), reason }
    }

    /// How a conversation with it begins.
    #[must_use]
    pub fn settings(&self, flags: &ProviderFlags) -> Settings {
        Settings {
            provider: Arc::clone(&self.name),
            model: Arc::clone(&self.model),
            is_demo: self.provider.is_demo(),
            system: flags.system.as_deref().map(Into::into),
            max_tokens: flags.max_tokens,
            ..Settings::default()
        }
    }
}

/// The environment of this process.
#[must_use]
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// An engine that dates messages by this machine's clock.
///
/// # Errors
/// When the system gives no threads, or the network's settings cannot be used.
pub fn engine() -> Result<Engine> {
    Engine::start(live::Config::new(timestamp::now_ms))
        .map_err(|error| Error::failed(format!("cannot start: {error}"), ""))
}

/// What answers, by the command line and by what is found.
///
/// # Errors
/// When a named provider is not known, has no key or no valid address.
pub async fn choose(http: &Http, flags: &ProviderFlags, variable: Variable) -> Result<Choice> {
    match (flags.provider.as_deref(), flags.base_url.as_deref()) {
        (Some(demo::NAME), None) => Ok(Choice::demo(Reason::Named)),
        (Some(demo::NAME), Some(_)) => Err(Error::usage("the demo has no address", "--base-url")),
        (Some(name), base) => named(http, preset(name)?, base, flags, variable).await,
        // An address alone is most likely that of a server that speaks as OpenAI's does.
        (None, Some(base)) => named(http, preset("openai")?, Some(base), flags, variable).await,
        (None, None) => Ok(found(http, flags, variable).await),
    }
}

fn preset(name: &str) -> Result<&'static Preset> {
    Preset::of_name(name).ok_or_else(|| {
        let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
        let words = format!(
            "there is no provider {name:?}; there are {}, {}",
            names.join(", "),
            demo::NAME
        );
        Error::usage(words, "")
    })
}

async fn named(
    http: &Http,
    preset: &Preset,
    base: Option<&str>,
    flags: &ProviderFlags,
    variable: Variable,
) -> Result<Choice> {
    let address = |error: &dyn fmt::Display| Error::usage(error.to_string(), preset.name);
    let mut endpoint = preset.endpoint(variable).map_err(|error| address(&error))?;
    let is_own_address = base.is_none() && !is_elsewhere(preset, variable);
    if let Some(base) = base {
        let moved = Endpoint::new(preset.name, preset.wire, base);
        endpoint = moved.map_err(|error| address(&error))?.with_key(endpoint.key);
    }
    if let (None, true, Some(key)) = (&endpoint.key, is_own_address, preset.key_variables.first()) {
        return Err(Error::failed(format!("{} needs a key: set {key}", preset.label), ""));
    }
    let model = model(http, &endpoint, flags).await?;
    Ok(choice(endpoint, model, Reason::Named))
}

fn choice(endpoint: Endpoint, model: Arc<str>, reason: Reason) -> Choice {
    let name = Arc::clone(&endpoint.name);
    Choice { name, provider: Provider::Endpoint(Arc::new(endpoint)), model, reason }
}

/// A variable gives it another address than its vendor's.
fn is_elsewhere(preset: &Preset, variable: Variable) -> bool {
    preset.base_variable.and_then(variable).is_some()
}

async fn found(http: &Http, flags: &ProviderFlags, variable: Variable) -> Choice {
    for endpoint in PRESETS.iter().filter_map(|preset| preset.endpoint(variable).ok()) {
        if endpoint.key.is_some()
            && let Ok(model) = model(http, &endpoint, flags).await
        {
            return choice(endpoint, model, Reason::KeyFound);
        }
    }
    let servers = nearby(http, variable).await;
    for LocalServer { endpoint, models } in servers {
        let first = models.first().map(|model| model.id.as_str());
        if let Some(model) = flags.model.as_deref().or(first) {
            return Choice {
                name: Arc::clone(&endpoint.name),
                provider: Provider::Endpoint(endpoint),
                model: model.into(),
                reason: Reason::ServerFound,
            };
        }
    }
    Choice::demo(Reason::NothingFound)
}

/// Servers that answer nearby: where they usually are, and where the environment says.
async fn nearby(http: &Http, variable: Variable) -> Vec<LocalServer> {
    let candidates =
        PRESETS.iter().filter(|preset| preset.is_local || is_elsewhere(preset, variable));
    let endpoints = candidates.filter_map(|preset| preset.endpoint(variable).ok());
    live::local_servers(http, endpoints, NEARBY).await
}

/// Those whose key is set and those nearby, without asking any of them.
pub fn keyed(variable: Variable) -> impl Iterator<Item = (Arc<str>, Provider)> {
    let endpoints = PRESETS.iter().filter_map(move |preset| {
        let endpoint = preset.endpoint(variable).ok()?;
        (endpoint.key.is_some() || preset.is_local).then_some(endpoint)
    });
    endpoints.map(|one| (Arc::clone(&one.name), Provider::Endpoint(Arc::new(one))))
}

/// Everybody who could answer, with the models they list: providers whose key is set and
/// servers nearby.
pub async fn offers(http: &Http, variable: Variable) -> Vec<(Arc<str>, Provider, Vec<Arc<str>>)> {
    let mut offers = Vec::new();
    for endpoint in PRESETS.iter().filter_map(|preset| preset.endpoint(variable).ok()) {
        if endpoint.key.is_some()
            && let Ok(Ok(listed)) = timeout(LISTING, models(http, &endpoint)).await
        {
            let ids = listed.iter().map(|model| model.id.as_str().into()).collect();
            let name = Arc::clone(&endpoint.name);
            offers.push((name, Provider::Endpoint(Arc::new(endpoint)), ids));
        }
    }
    for LocalServer { endpoint, models } in nearby(http, variable).await {
        let ids = models.iter().map(|model| model.id.as_str().into()).collect();
        offers.push((Arc::clone(&endpoint.name), Provider::Endpoint(endpoint), ids));
    }
    offers
}

/// The named model; else the one of those that the provider lists that people take most, or
/// the first of them.
async fn model(http: &Http, endpoint: &Endpoint, flags: &ProviderFlags) -> Result<Arc<str>> {
    if let Some(model) = &flags.model {
        return Ok(model.as_str().into());
    }
    let usual = USUAL_MODELS.iter().find(|(name, _)| *name == &*endpoint.name);
    let usual = usual.map_or(&[][..], |(_, models)| models);
    let listed = timeout(LISTING, models(http, endpoint)).await;
    let model = match &listed {
        Ok(Ok(listed)) => pick(listed, usual),
        // It may not like to list; then it says what is wrong when it is asked.
        Ok(Err(_)) | Err(_) => usual.first().copied(),
    };
    model.map(Into::into).ok_or_else(|| {
        Error::failed(
            format!("{} does not say which models it has: name one", endpoint.name),
            "--model",
        )
    })
}

fn pick<'a>(listed: &'a [ModelInfo], usual: &[&'static str]) -> Option<&'a str> {
    let has = |name: &str| listed.iter().find(|model| model.id == name);
    let usual = usual.iter().find_map(|name| has(name));
    usual.or_else(|| listed.first()).map(|model| model.id.as_str())
}

/// What is asked when no model is named, best first.
const USUAL_MODELS: &[(&str, &[&str])] = &[
    ("openai", &["gpt-5", "gpt-5-mini", "gpt-4.1", "gpt-4o"]),
    ("openai-responses", &["gpt-5", "gpt-5-mini", "gpt-4.1", "gpt-4o"]),
    ("anthropic", &["claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "claude-sonnet-4-20250514"]),
    ("gemini", &["gemini-2.5-flash", "gemini-2.5-pro", "gemini-2.0-flash"]),
    ("openrouter", &["openrouter/auto"]),
    ("groq", &["llama-3.3-70b-versatile"]),
    ("deepseek", &["deepseek-chat"]),
    ("mistral", &["mistral-medium-latest", "mistral-large-latest"]),
    ("xai", &["grok-4", "grok-3"]),
];

/// Carries out `letterpress providers`: the table, and which of them would answer.
///
/// # Errors
/// When the network's settings cannot be used.
pub fn run() -> Result<String> {
    let engine = engine()?;
    Ok(engine.block_on(describe(&engine.http(), environment)))
}

/// The table of providers, and which of them would answer.
pub async fn describe(http: &Http, variable: Variable) -> String {
    let servers = nearby(http, variable).await;
    let mut rows = vec![["NAME", "KEY", "ADDRESS", ""].map(str::to_owned)];
    rows.extend(PRESETS.iter().map(|preset| row(preset, &servers, variable)));
    rows.push([demo::NAME, "none needed", "recordings inside this program", ""].map(str::to_owned));
    let chosen = found(http, &ProviderFlags::default(), variable).await;
    let mut text = table(&rows);
    // Writing into a string cannot fail.
    let _infallible = writeln!(
        text,
        "\nWith none named, {} would answer with {}, because {}.",
        chosen.name, chosen.model, chosen.reason
    );
    text
}

fn row(preset: &Preset, servers: &[LocalServer], variable: Variable) -> [String; 4] {
    let set = preset.key_variables.iter().find(|name| variable(name).is_some());
    let key = match (set, preset.key_variables.first()) {
        (Some(name), _) => format!("{name} is set"),
        (None, Some(name)) => format!("{name} is not set"),
        (None, None) => "none needed".to_owned(),
    };
    let address = match preset.endpoint(variable) {
        Ok(endpoint) => address(&endpoint),
        Err(error) => error.to_string(),
    };
    let server = servers.iter().find(|server| *server.endpoint.name == *preset.name);
    let state = match server {
        Some(server) => format!("running, {} models", server.models.len()),
        None if preset.is_local => "not running".to_owned(),
        None => String::new(),
    };
    [preset.name.to_owned(), key, address, state]
}

/// The address without what may be secret in it.
fn address(endpoint: &Endpoint) -> String {
    let mut url = endpoint.base.clone();
    let has_secrets = url.set_username("").is_err() || url.set_password(None).is_err();
    url.set_query(None);
    if has_secrets { endpoint.host().to_string() } else { url.to_string() }
}

fn table(rows: &[[String; 4]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths = [0, 1, 2].map(|column| width(column).unwrap_or(0));
    let line = |row: &[String; 4]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}  "));
        let line: String = cells.chain(row.last().cloned()).collect();
        format!("{}\n", line.trim_end())
    };
    rows.iter().map(line).collect()
}
