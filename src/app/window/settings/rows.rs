//! The rows of the settings view: every setting, every key, and where everything lies.

use std::sync::Arc;

use super::Desk;
use crate::{
    app::{
        keys::{self, Place},
        providers::{Candidate, KeyOrigin, Sources, covered},
        settings::{Kind, Setting, Settings, Spec, TABLE, Value},
    },
    view::{
        composer::Choice,
        settings::{Control, Row, SecretState, Section},
    },
    wire::demo,
};

/// Begins the ids of keys.
const KEY: &str = "key.";

/// Sections of settings, by their tables.
const SECTIONS: &[(&str, &[&str], &str)] = &[
    ("Appearance", &["appearance"], ""),
    ("Writing", &["composer", "notifications"], ""),
    ("New chats", &["chat"], "What a conversation begins with; each can be changed in it."),
];

/// Everything that the view shows.
pub(super) fn sections(sources: &Sources, settings: &Settings, desk: &Desk) -> Vec<Section> {
    let mut sections: Vec<_> = SECTIONS
        .iter()
        .map(|(name, tables, about)| Section {
            name: (*name).into(),
            about: (*about).into(),
            rows: TABLE
                .iter()
                .filter(|spec| tables.contains(&spec.table))
                .map(|spec| row(spec, sources, settings, desk))
                .collect(),
        })
        .collect();
    sections.push(keys_section(sources, desk));
    sections.push(places_section(sources, desk));
    let flaws = flaws_section(settings);
    if !flaws.rows.is_empty() {
        sections.push(flaws);
    }
    sections
}

fn row(spec: &Spec, sources: &Sources, settings: &Settings, desk: &Desk) -> Row {
    let is_given = settings.is_given(spec.setting);
    let flagged = flag(spec.setting, desk);
    let mut origin = if is_given { "from config.toml" } else { "default" }.to_owned();
    if let Some(flag) = flagged {
        origin.push_str(&format!("; outranked by {flag} of the command line"));
    }
    Row {
        id: spec.path().into(),
        name: spec.name.into(),
        about: spec.about.into(),
        origin: origin.into(),
        can_reset: is_given,
        control: control(spec, sources, settings),
    }
}

/// The flag of the command line that outranks the settings in the first conversation.
fn flag(setting: Setting, desk: &Desk) -> Option<&'static str> {
    let flags = &desk.flags;
    let (is_set, flag) = match setting {
        Setting::Provider => (flags.provider.is_some(), "--provider"),
        Setting::Model => (flags.model.is_some(), "--model"),
        Setting::System => (flags.system.is_some(), "--system"),
        Setting::MaxTokens => (flags.max_tokens.is_some(), "--max-tokens"),
        _ => (false, ""),
    };
    is_set.then_some(flag)
}

fn control(spec: &Spec, sources: &Sources, settings: &Settings) -> Control {
    match (spec.kind, settings.value(spec.setting)) {
        (Kind::Word(words), Value::Word(now)) => Control::Choice {
            options: words.iter().map(|(word, means)| ((*word).into(), (*means).into())).collect(),
            now: now.into(),
        },
        (_, Value::Switch(on)) => Control::Switch(on),
        (Kind::Count { from, to }, Value::Count(count)) => Control::Number {
            now: count.into(),
            range: [from.into(), to.into()],
            step: 256.0,
            percent: false,
        },
        (Kind::Factor { from, to }, Value::Factor(hundredths)) => Control::Number {
            now: f64::from(hundredths) / 100.0,
            range: [f64::from(from) / 100.0, f64::from(to) / 100.0],
            step: 0.1,
            percent: true,
        },
        (_, Value::Text(now)) if spec.setting == Setting::Provider => providers(sources, now),
        (Kind::Text { is_long }, Value::Text(now)) => {
            let hint = if is_long { "" } else { "the one that people take most" };
            Control::Text { now, hint: hint.into(), is_long }
        }
        (_, Value::Models(models)) => {
            Control::List(models.iter().map(|it| words(it).into()).collect())
        }
        (_, other) => Control::Fact { words: format!("{other:?}").into(), copies: false },
    }
}

fn providers(sources: &Sources, now: Arc<str>) -> Control {
    let mut options: Vec<(Arc<str>, Arc<str>)> = vec![("".into(), "Whoever is found".into())];
    options.extend(sources.names().into_iter().map(|name| (Arc::clone(&name), name)));
    options.push((demo::NAME.into(), "demo (recorded)".into()));
    Control::Choice { options, now }
}

/// A model as config.toml has it.
pub(super) fn words(choice: &Choice) -> String {
    format!("{}/{}", choice.provider, choice.model)
}

/// The provider whose key has this id.
pub(super) fn provider_of(id: &str) -> Option<Arc<str>> {
    id.strip_prefix(KEY).map(Into::into)
}

fn keys_section(sources: &Sources, desk: &Desk) -> Section {
    let about = "Keys are never shown. A key of the environment counts first, then the keyring, then the file, which is stored unencrypted.";
    let mut seen = Vec::new();
    let rows = sources.candidates().into_iter().filter(|candidate| {
        // Providers that take the same key have one row.
        let account = keys::account(&candidate.name).to_owned();
        let is_new = !seen.contains(&account);
        seen.push(account);
        is_new && (candidate.needs_key || candidate.origin.is_found())
    });
    let rows = rows.map(|candidate| key_row(&candidate, desk)).collect();
    Section { name: "Keys".into(), about: about.into(), rows }
}

fn key_row(candidate: &Candidate, desk: &Desk) -> Row {
    let state = match &candidate.origin {
        KeyOrigin::Variable(_) => SecretState::Environment,
        KeyOrigin::Kept(_) => SecretState::Kept,
        KeyOrigin::Missing(_) => SecretState::Missing,
    };
    let account: Arc<str> = keys::account(&candidate.name).into();
    let (state, news) = match desk.news.get(&account) {
        Some(None) => (SecretState::Busy, ("".into(), true)),
        Some(Some(news)) => (state, news.clone()),
        None => (state, ("".into(), true)),
    };
    let origin = match &candidate.origin {
        KeyOrigin::Missing(None) => "no key".to_owned(),
        origin @ (KeyOrigin::Missing(Some(_)) | KeyOrigin::Kept(_) | KeyOrigin::Variable(_)) => {
            origin.to_string()
        }
    };
    let host = match &candidate.endpoint {
        Ok(endpoint) => endpoint.host().to_string(),
        Err(error) => error.to_string(),
    };
    Row {
        id: format!("{KEY}{account}").into(),
        name: Arc::clone(&candidate.label),
        about: host.into(),
        origin: origin.into(),
        can_reset: false,
        control: Control::Secret { state, news },
    }
}

fn places_section(sources: &Sources, desk: &Desk) -> Section {
    let fact = |id: &str, name: &str, about: &str, words: String, copies| Row {
        id: id.into(),
        name: name.into(),
        about: about.into(),
        origin: "".into(),
        can_reset: false,
        control: Control::Fact { words: words.into(), copies },
    };
    let mut rows = Vec::new();
    if let Some(path) = sources.live().path() {
        let about = "All of this, to be edited by hand, too: it is read again within a second.";
        rows.push(fact("place.config", "Settings file", about, path.display().to_string(), true));
    }
    if let Some(places) = sources.places() {
        let about = "What the program keeps that is no setting.";
        let path = places.state.display().to_string();
        rows.push(fact("place.data", "Data folder", about, path, true));
    }
    let has_file = sources.keys().list().unwrap_or_default();
    if let (Some(path), true) =
        (sources.keys().path(), has_file.iter().any(|(_, place)| *place == Place::File))
    {
        let about = "Keys that are stored unencrypted.";
        rows.push(fact("place.keys", "File of keys", about, path.display().to_string(), true));
    }
    if let Some(storage) = desk.storage {
        rows.push(fact(
            "place.storage",
            "Storage",
            "What lies in the data folder.",
            storage.words(),
            false,
        ));
    }
    let (proxy, about) = match sources.proxy() {
        Some((variable, proxy)) => {
            (covered(&proxy), format!("From {variable}; without its password."))
        }
        None => ("none".to_owned(), "HTTPS_PROXY would name one.".to_owned()),
    };
    rows.push(fact("place.proxy", "Proxy", &about, proxy, false));
    if let Some(hosts) = sources.no_proxy() {
        rows.push(fact("place.no_proxy", "Without the proxy", "From NO_PROXY.", hosts, false));
    }
    Section { name: "Places".into(), about: "".into(), rows }
}

/// What of config.toml is not used.
fn flaws_section(settings: &Settings) -> Section {
    let row = |id: String, name: &str, about: &str, line: u32| Row {
        id: id.into(),
        name: name.into(),
        about: about.into(),
        origin: "".into(),
        can_reset: false,
        control: Control::Fact { words: format!("line {line}").into(), copies: false },
    };
    let flaws = settings.flaws.iter().map(|flaw| {
        let place = &flaw.place;
        row(format!("flaw.{}", place.line), &place.key, &flaw.words, place.line)
    });
    let unknown = settings.unknown.iter().map(|place| {
        let about = "not known; it stays in the file";
        row(format!("unknown.{}", place.line), &place.key, about, place.line)
    });
    Section {
        name: "Not used".into(),
        about: "Entries of config.toml that this program cannot use.".into(),
        rows: flaws.chain(unknown).collect(),
    }
}
