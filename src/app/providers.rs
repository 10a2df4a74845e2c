//! Which providers there are, and which one answers.
//!
//! With none named it is the first whose key is set, else the first server nearby that
//! answers, else the demo, which is labelled as such. Keys come from where [`Sources`] finds
//! them, and are shown nowhere.

mod sources;

use std::{fmt, fmt::Write as _, sync::Arc, time::Duration};

use tokio::time::timeout;

pub use self::sources::{
    Candidate, KeyOrigin, SourceError, Sources, Variable, covered, environment,
};
use super::{
    cli::{General, ProviderFlags},
    error::{Error, Result},
    timestamp,
};
use crate::{
    engine::live::{self, Engine, LocalServer, Provider},
    model::Settings,
    wire::{Endpoint, Http, ModelInfo, demo, models},
};

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
    /// The settings say so.
    Chosen,
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
            Self::Chosen => "config.toml names it",
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
            thinking: flags.thinking,
            ..Settings::default()
        }
    }
}

/// An engine that dates messages by this machine's clock.
///
/// # Errors
/// When the system gives no threads, or the network's settings cannot be used.
pub fn engine() -> Result<Engine> {
    Engine::start(live::Config::new(timestamp::now_ms))
        .map_err(|error| Error::failed(format!("cannot start: {error}"), ""))
}

/// What answers, by the command line, the settings, and by what is found.
///
/// # Errors
/// When a named provider is not known, has no key or no valid address.
pub async fn choose(http: &Http, flags: &ProviderFlags, sources: &Sources) -> Result<Choice> {
    let filled = sources.fill(flags);
    let reason = if flags.provider.is_some() || flags.base_url.is_some() {
        Reason::Named
    } else {
        Reason::Chosen
    };
    match (filled.provider.as_deref(), filled.base_url.as_deref()) {
        (Some(demo::NAME), None) => Ok(Choice::demo(reason)),
        (Some(demo::NAME), Some(_)) => Err(Error::usage("the demo has no address", "--base-url")),
        // An address alone is most likely that of a server that speaks as OpenAI's does.
        (None, Some(_)) => named(http, "openai", &filled, sources, reason).await,
        (Some(name), _) => named(http, name, &filled, sources, reason).await,
        (None, None) => Ok(found(http, &filled, sources).await),
    }
}

async fn named(
    http: &Http,
    name: &str,
    flags: &ProviderFlags,
    sources: &Sources,
    reason: Reason,
) -> Result<Choice> {
    let candidate = sources.candidate(name).ok_or_else(|| unknown(name, sources))?;
    let mut endpoint = match with_key(sources, &candidate).await {
        Ok(endpoint) => endpoint,
        Err(SourceError::Address(error)) => return Err(Error::usage(error.to_string(), name)),
        Err(error @ SourceError::Key(_)) => return Err(Error::failed(error.to_string(), name)),
    };
    if let Some(base) = flags.base_url.as_deref() {
        let moved = Endpoint::new(&endpoint.name, endpoint.wire, base);
        let moved = moved.map_err(|error| Error::usage(error.to_string(), name))?;
        endpoint = Endpoint { headers: endpoint.headers, ..moved.with_key(endpoint.key) };
    } else if endpoint.key.is_none() && candidate.needs_key {
        return Err(Error::failed(lacks_key(&candidate), ""));
    }
    let model = model(http, &endpoint, flags).await?;
    Ok(choice(endpoint, model, reason))
}

fn unknown(name: &str, sources: &Sources) -> Error {
    let names: Vec<_> = sources.names().iter().map(ToString::to_string).collect();
    let words =
        format!("there is no provider {name:?}; there are {}, {}", names.join(", "), demo::NAME);
    Error::usage(words, "")
}

fn lacks_key(candidate: &Candidate) -> String {
    let Candidate { name, label, origin, .. } = candidate;
    match origin {
        KeyOrigin::Missing(Some(variable)) => {
            format!(
                "{label} needs a key: set {variable}, or keep one with `letterpress keys set {name}`"
            )
        }
        KeyOrigin::Missing(None) | KeyOrigin::Kept(_) | KeyOrigin::Variable(_) => {
            format!("{label} needs a key: keep one with `letterpress keys set {name}`")
        }
    }
}

/// The provider with its key. A keyring may take its time, so it is asked where nobody waits.
async fn with_key(
    sources: &Sources,
    candidate: &Candidate,
) -> std::result::Result<Endpoint, SourceError> {
    if !matches!(candidate.origin, KeyOrigin::Kept(_)) {
        return sources.endpoint(candidate);
    }
    let (sources, candidate) = (sources.clone(), candidate.clone());
    let asking = tokio::task::spawn_blocking(move || sources.endpoint(&candidate));
    let failed = |_| SourceError::Key(super::keys::KeyError::Keyring("it failed".into()));
    asking.await.map_err(failed)?
}

fn choice(endpoint: Endpoint, model: Arc<str>, reason: Reason) -> Choice {
    let name = Arc::clone(&endpoint.name);
    Choice { name, provider: Provider::Endpoint(Arc::new(endpoint)), model, reason }
}

async fn found(http: &Http, flags: &ProviderFlags, sources: &Sources) -> Choice {
    for endpoint in with_keys(sources).await {
        if let Ok(model) = model(http, &endpoint, flags).await {
            return choice(endpoint, model, Reason::KeyFound);
        }
    }
    let servers = nearby(http, sources).await;
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

/// Everybody who has a key. One that cannot be read is said, and costs its provider.
async fn with_keys(sources: &Sources) -> Vec<Endpoint> {
    let mut endpoints = Vec::new();
    for candidate in sources.candidates().into_iter().filter(|it| it.origin.is_found()) {
        match with_key(sources, &candidate).await {
            Ok(endpoint) if endpoint.key.is_some() => endpoints.push(endpoint),
            Ok(_) => {}
            Err(error) => tracing::warn!(provider = %candidate.name, %error, "not asked"),
        }
    }
    endpoints
}

/// Everybody who has a key and every server that may be nearby, without asking any of them.
/// May wait for the keyring: not for the UI thread.
pub fn keyed(sources: &Sources) -> impl Iterator<Item = (Arc<str>, Provider)> {
    let candidates = sources.candidates().into_iter();
    let wanted = candidates.filter(|candidate| candidate.origin.is_found() || candidate.is_near);
    let endpoints = wanted.filter_map(|candidate| sources.endpoint(&candidate).ok());
    endpoints.map(|one| (Arc::clone(&one.name), Provider::Endpoint(Arc::new(one))))
}

/// Servers that answer nearby: where they usually are, and where the environment and the
/// settings say.
async fn nearby(http: &Http, sources: &Sources) -> Vec<LocalServer> {
    let candidates = sources.candidates().into_iter().filter(|candidate| candidate.is_near);
    let endpoints = candidates.filter_map(|candidate| candidate.endpoint.ok());
    live::local_servers(http, endpoints, NEARBY).await
}

/// Those that can be named at once: their key stands in the environment, or they need none.
/// Nobody is asked, not even the keyring.
#[must_use]
pub fn at_hand(sources: &Sources) -> Vec<(Arc<str>, Provider)> {
    let is_at_hand = |candidate: &Candidate| {
        matches!(candidate.origin, KeyOrigin::Variable(_)) || candidate.is_near
    };
    let candidates = sources.candidates().into_iter().filter(is_at_hand);
    let endpoint = |candidate: Candidate| sources.endpoint(&candidate).ok();
    let provider = |one: Endpoint| (Arc::clone(&one.name), Provider::Endpoint(Arc::new(one)));
    candidates.filter_map(endpoint).map(provider).collect()
}

/// Everybody who could answer, with the models they list: providers that have a key or were
/// named, and servers nearby. One that does not list its models has none of them.
pub async fn offers(http: &Http, sources: &Sources) -> Vec<(Arc<str>, Provider, Vec<Arc<str>>)> {
    let mut offers = Vec::new();
    for endpoint in with_keys(sources).await {
        let listed = timeout(LISTING, models(http, &endpoint)).await;
        let ids = match &listed {
            Ok(Ok(listed)) => listed.iter().map(|model| model.id.as_str().into()).collect(),
            Ok(Err(_)) | Err(_) => Vec::new(),
        };
        let name = Arc::clone(&endpoint.name);
        offers.push((name, Provider::Endpoint(Arc::new(endpoint)), ids));
    }
    for LocalServer { endpoint, models } in nearby(http, sources).await {
        if offers.iter().all(|(name, ..)| *name != endpoint.name) {
            let ids = models.iter().map(|model| model.id.as_str().into()).collect();
            offers.push((Arc::clone(&endpoint.name), Provider::Endpoint(endpoint), ids));
        }
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
pub fn run(general: &General) -> Result<String> {
    let engine = engine()?;
    let sources = Sources::of_user(general)?;
    Ok(engine.block_on(describe(&engine.http(), &sources)))
}

/// The table of providers, and which of them would answer.
pub async fn describe(http: &Http, sources: &Sources) -> String {
    let servers = nearby(http, sources).await;
    let mut rows = vec![["NAME", "KEY", "ADDRESS", ""].map(str::to_owned)];
    rows.extend(sources.candidates().iter().map(|candidate| row(candidate, &servers)));
    rows.push([demo::NAME, "none needed", "recordings inside this program", ""].map(str::to_owned));
    let mut text = table(&rows);
    let chosen = choose(http, &ProviderFlags::default(), sources).await;
    // Writing into a string cannot fail.
    let _infallible = match chosen {
        Ok(chosen) => writeln!(
            text,
            "\nWith none named, {} would answer with {}, because {}.",
            chosen.name, chosen.model, chosen.reason
        ),
        Err(error) => writeln!(text, "\nconfig.toml names who answers, but {error}."),
    };
    if let Some((variable, proxy)) = sources.proxy() {
        let _infallible =
            writeln!(text, "Public servers are reached through {proxy} ({variable}).");
    }
    let now = sources.live().now();
    let flaws = now.settings.flaws.iter().map(|flaw| format!("{flaw}."));
    for words in now.trouble.iter().map(ToString::to_string).chain(flaws) {
        let _infallible = writeln!(text, "{words}");
    }
    text
}

fn row(candidate: &Candidate, servers: &[LocalServer]) -> [String; 4] {
    let address = match &candidate.endpoint {
        Ok(endpoint) => address(endpoint),
        Err(error) => error.to_string(),
    };
    let server = servers.iter().find(|server| server.endpoint.name == candidate.name);
    let mut state: Vec<String> = Vec::new();
    match server {
        Some(server) => state.push(format!("running, {} models", server.models.len())),
        None if candidate.is_near && !candidate.is_elsewhere => {
            state.push("not running".to_owned());
        }
        None => {}
    }
    state.extend(candidate.line.map(|line| format!("config.toml line {line}")));
    [candidate.name.to_string(), candidate.origin.to_string(), address, state.join(", ")]
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
