//! What is known of providers: those that everybody knows and those that the user named,
//! where each is, and where its key comes from.
//!
//! A key comes from the environment, else from the system's keyring, else from the file of
//! keys. It is read when it is wanted, and once.

use std::{fmt, sync::Arc};

use url::Url;

use crate::{
    app::{
        cli::{General, ProviderFlags},
        error::{Error, Result},
        keys::{KeyError, Keys, Place},
        places::Places,
        secrecy,
        settings::{Live, Named, Settings},
    },
    wire::{AddressError, Endpoint, Key, PRESETS, Preset},
};

/// Reads a variable of the environment. Cheap to clone.
pub type Variable = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Variables that name a proxy, which may hold a password. The first that is set counts.
const PROXIES: &[&str] =
    &["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"];

/// What is known of providers. Cheap to clone.
#[derive(Clone)]
pub struct Sources {
    variable: Variable,
    keys: Keys,
    settings: Live,
    places: Option<Places>,
}

/// A provider that could answer.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The name it goes by.
    pub name: Arc<str>,
    /// For people.
    pub label: Arc<str>,
    /// Where it is, without its key.
    pub endpoint: std::result::Result<Endpoint, AddressError>,
    /// Where its key comes from.
    pub origin: KeyOrigin,
    /// It answers nobody without a key.
    pub needs_key: bool,
    /// It runs on this machine, or where the user says: worth a look even without a key.
    pub is_near: bool,
    /// Somebody gave it another address than its vendor's.
    pub is_elsewhere: bool,
    /// The line of config.toml that names it.
    pub line: Option<u32>,
}

/// Where a key comes from, as far as is known without asking the keyring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyOrigin {
    /// A variable of the environment.
    Variable(Arc<str>),
    /// It is kept.
    Kept(Place),
    /// There is none; this variable would be looked at.
    Missing(Option<Arc<str>>),
}

impl KeyOrigin {
    /// There is one.
    #[must_use]
    pub fn is_found(&self) -> bool {
        !matches!(self, Self::Missing(_))
    }
}

impl fmt::Display for KeyOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "{name} is set"),
            Self::Kept(place) => place.fmt(f),
            Self::Missing(Some(name)) => write!(f, "{name} is not set"),
            Self::Missing(None) => f.write_str("none needed"),
        }
    }
}

impl Sources {
    /// What a user has: the environment, the keys that are kept, and config.toml as it is now.
    ///
    /// # Errors
    /// When it is not known where settings are kept.
    pub fn of_user(general: &General) -> Result<Self> {
        let places = places(general)?;
        let settings = Live::once(&places.config);
        Ok(Self::new(environment(), Keys::of_user(&places), settings).at(places))
    }

    /// The same, with a config.toml that is followed.
    ///
    /// # Errors
    /// As [`Sources::of_user`].
    pub fn of_window(general: &General) -> Result<Self> {
        let places = places(general)?;
        let settings = Live::follow(places.config.clone());
        Ok(Self::new(environment(), Keys::of_user(&places), settings).at(places))
    }

    /// The environment alone.
    #[must_use]
    pub fn of_environment() -> Self {
        Self::new(environment(), Keys::default(), Live::default())
    }

    /// An environment, keys and settings. What of them is secret is learned.
    #[must_use]
    pub fn new(variable: Variable, keys: Keys, settings: Live) -> Self {
        let sources = Self { variable, keys, settings, places: None };
        sources.learn();
        sources
    }

    /// The same, with everything kept at these places.
    #[must_use]
    pub fn at(self, places: Places) -> Self {
        Self { places: Some(places), ..self }
    }

    /// Where everything is kept; none when nothing is.
    #[must_use]
    pub fn places(&self) -> Option<&Places> {
        self.places.as_ref()
    }

    /// The keys that are kept.
    #[must_use]
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The settings.
    #[must_use]
    pub fn live(&self) -> &Live {
        &self.settings
    }

    /// What the settings say now.
    #[must_use]
    pub fn settings(&self) -> Arc<Settings> {
        self.settings.settings()
    }

    /// The flags, with what the settings say where they say nothing.
    #[must_use]
    pub fn fill(&self, flags: &ProviderFlags) -> ProviderFlags {
        self.settings().fill(flags)
    }

    /// Everybody who could answer: those that the user named, then those that are known.
    #[must_use]
    pub fn candidates(&self) -> Vec<Candidate> {
        let settings = self.settings();
        let named = settings.providers.iter().map(|named| self.named(named));
        let is_named =
            |preset: &&Preset| settings.providers.iter().all(|n| *n.name != *preset.name);
        let known = PRESETS.iter().filter(is_named).map(|preset| self.known(preset));
        named.chain(known).collect()
    }

    /// The provider of a name.
    #[must_use]
    pub fn candidate(&self, name: &str) -> Option<Candidate> {
        self.candidates().into_iter().find(|candidate| *candidate.name == *name)
    }

    /// The name of everybody who could answer, but the demo.
    #[must_use]
    pub fn names(&self) -> Vec<Arc<str>> {
        self.candidates().into_iter().map(|candidate| candidate.name).collect()
    }

    /// Providers whose key stands in the environment, and the variable.
    #[must_use]
    pub fn variables_set(&self) -> Vec<(Arc<str>, Arc<str>)> {
        let set = self.candidates().into_iter().filter_map(|candidate| match candidate.origin {
            KeyOrigin::Variable(variable) => Some((candidate.name, variable)),
            KeyOrigin::Kept(_) | KeyOrigin::Missing(_) => None,
        });
        set.collect()
    }

    fn known(&self, preset: &Preset) -> Candidate {
        let is_elsewhere = preset.base_variable.and_then(|name| self.read(name)).is_some();
        Candidate {
            name: preset.name.into(),
            label: preset.label.into(),
            endpoint: preset.endpoint(|name| (self.variable)(name)).map(|it| it.with_key(None)),
            origin: self.origin(preset.name, preset.key_variables.iter().copied(), false),
            needs_key: !preset.is_local && !is_elsewhere,
            is_near: preset.is_local || is_elsewhere,
            is_elsewhere,
            line: None,
        }
    }

    fn named(&self, named: &Named) -> Candidate {
        let preset = named.preset();
        let is_elsewhere = named.base_url.is_some()
            || preset
                .and_then(|preset| preset.base_variable)
                .and_then(|it| self.read(it))
                .is_some();
        let endpoint = match (&named.base_url, preset) {
            (Some(base), _) => Endpoint::new(&named.name, named.wire, base),
            (None, Some(preset)) => preset.endpoint(|name| (self.variable)(name)),
            (None, None) => Err(AddressError::NotAnAddress),
        };
        let endpoint = endpoint.map(|endpoint| Endpoint {
            wire: named.wire,
            key: None,
            headers: named.headers(|name| self.read(name).inspect(|text| secrecy::learn(text))),
            ..endpoint
        });
        let endpoint = endpoint.and_then(|endpoint| in_private(endpoint, named));
        // A key goes where its owner said, and not where a vendor of the same name is.
        let own = named.key_variable.as_deref();
        let usual = preset.filter(|_| own.is_none()).map_or(&[][..], |it| it.key_variables);
        let variables = own.into_iter().chain(usual.iter().copied());
        let is_known = preset.is_some_and(|preset| !preset.is_local) && !is_elsewhere;
        let needs_key = own.is_some() || named.is_in_keyring || is_known;
        Candidate {
            name: Arc::clone(&named.name),
            label: preset.map_or(&*named.name, |preset| preset.label).into(),
            endpoint,
            origin: self.origin(&named.name, variables, named.is_in_keyring),
            needs_key,
            is_near: !needs_key,
            is_elsewhere,
            line: Some(named.line),
        }
    }

    fn origin<'a>(
        &self,
        name: &str,
        variables: impl Iterator<Item = &'a str> + Clone,
        is_in_keyring: bool,
    ) -> KeyOrigin {
        let set = variables.clone().find(|variable| self.key(variable).is_some());
        let kept = || if is_in_keyring { Some(Place::Keyring) } else { self.keys.place(name) };
        match (set, kept()) {
            (Some(variable), _) => KeyOrigin::Variable(variable.into()),
            (None, Some(place)) => KeyOrigin::Kept(place),
            (None, None) => KeyOrigin::Missing(variables.map(Into::into).next()),
        }
    }

    /// The provider with its key. May wait for the keyring.
    ///
    /// # Errors
    /// When its key cannot be read, or its address is none.
    pub fn endpoint(&self, candidate: &Candidate) -> std::result::Result<Endpoint, SourceError> {
        let endpoint = candidate.endpoint.clone().map_err(SourceError::Address)?;
        Ok(endpoint.with_key(self.key_of(candidate).map_err(SourceError::Key)?))
    }

    fn key_of(&self, candidate: &Candidate) -> std::result::Result<Option<Key>, KeyError> {
        let named = self.settings();
        let named = named.providers.iter().find(|named| named.name == candidate.name);
        let secret = match &candidate.origin {
            KeyOrigin::Variable(variable) => return Ok(self.key(variable)),
            KeyOrigin::Kept(Place::Keyring) if named.is_some_and(|it| it.is_in_keyring) => {
                self.keys.in_keyring_of(&candidate.name)?
            }
            KeyOrigin::Kept(_) => self.keys.get(&candidate.name)?.map(|(secret, _)| secret),
            KeyOrigin::Missing(_) => None,
        };
        Ok(secret.and_then(|secret| Key::new(secret.expose())))
    }

    fn key(&self, variable: &str) -> Option<Key> {
        let text = self.read(variable)?;
        secrecy::learn(&text);
        Key::new(&text)
    }

    fn read(&self, variable: &str) -> Option<String> {
        (self.variable)(variable).filter(|text| !text.trim().is_empty())
    }

    /// Learns every secret of the environment that something here could use.
    fn learn(&self) {
        let settings = self.settings();
        let own = settings.providers.iter().flat_map(Named::variables);
        let known = PRESETS.iter().flat_map(|preset| preset.key_variables.iter().copied());
        own.chain(known).filter_map(|name| self.read(name)).for_each(|key| secrecy::learn(&key));
        let bases = PRESETS.iter().filter_map(|preset| preset.base_variable);
        let addresses = bases.chain(PROXIES.iter().copied()).filter_map(|name| self.read(name));
        let named = settings.providers.iter().filter_map(|named| named.base_url.as_deref());
        addresses.chain(named.map(str::to_owned)).for_each(|address| learn_address(&address));
    }

    /// The proxy that stands between this program and public servers, and the variable that
    /// names it; without the password.
    #[must_use]
    pub fn proxy(&self) -> Option<(&'static str, String)> {
        let (name, address) = PROXIES.iter().find_map(|name| Some((*name, self.read(name)?)))?;
        Some((name, covered(&address)))
    }

    /// Hosts that are reached without the proxy.
    #[must_use]
    pub fn no_proxy(&self) -> Option<String> {
        ["NO_PROXY", "no_proxy"].iter().find_map(|name| self.read(name))
    }
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { variable: _, keys, settings, places: _ } = self;
        f.debug_struct("Sources")
            .field("keys", keys)
            .field("settings", settings)
            .finish_non_exhaustive()
    }
}

impl Default for Sources {
    fn default() -> Self {
        Self::of_environment()
    }
}

/// Why a provider cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceError {
    /// Its address is none.
    Address(AddressError),
    /// Its key cannot be read.
    Key(KeyError),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(error) => error.fmt(f),
            Self::Key(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SourceError {}

/// The environment of this process.
#[must_use]
pub fn environment() -> Variable {
    Arc::new(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()))
}

fn places(general: &General) -> Result<Places> {
    Places::find(general)
        .ok_or_else(|| Error::failed("it is not known where settings are kept", "--data-dir"))
}

/// Headers that come from the environment hold secrets, and travel only where a key may.
fn in_private(endpoint: Endpoint, named: &Named) -> std::result::Result<Endpoint, AddressError> {
    let is_open = endpoint.base.scheme() == "http" && !endpoint.is_private();
    if is_open && named.header_variables().next().is_some() {
        return Err(AddressError::KeyInTheClear { host: endpoint.host().to_string() });
    }
    Ok(endpoint)
}

/// What of an address is secret.
fn learn_address(address: &str) {
    let Ok(url) = Url::parse(address) else { return };
    url.password().into_iter().for_each(secrecy::learn);
    url.query_pairs().for_each(|(_, value)| secrecy::learn(&value));
}

/// An address without what is secret in it.
#[must_use]
pub fn covered(address: &str) -> String {
    let Ok(mut url) = Url::parse(address) else {
        return secrecy::redact(address).into_owned();
    };
    if url.password().is_some() && url.set_password(Some("***")).is_err() {
        return url.host_str().unwrap_or_default().to_owned();
    }
    url.set_query(None);
    url.to_string()
}
