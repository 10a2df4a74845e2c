//! `letterpress keys`: keys are kept, taken out and listed, and shown nowhere.

use std::fmt::Write as _;

use super::{KeyError, Keys, Place, Secret, account, terminal};
use crate::{
    app::{
        cli::{General, KeyWord},
        error::{Error, Result},
        providers::Sources,
    },
    wire::PRESETS,
};

/// Carries out `letterpress keys`. Gives what stands on stdout.
///
/// # Errors
/// When there is no such provider, nothing to take out, or a key cannot be kept.
pub fn run(word: &KeyWord, general: &General) -> Result<String> {
    let sources = Sources::of_user(general)?;
    let keys = sources.keys();
    match word {
        KeyWord::Set { name, file } => {
            let name = known(&sources, name)?;
            let place = if *file { Place::File } else { Place::Keyring };
            let typed = terminal::read(&format!("Key of {name}: "))?;
            let secret = Secret::new(&typed).ok_or_else(|| failed(&KeyError::NoKey, &name))?;
            set(keys, &name, &secret, place)
        }
        KeyWord::Rm { name } => remove(keys, &known(&sources, name)?),
        KeyWord::List => list(&sources),
    }
}

/// The name that a key is kept under.
fn known(sources: &Sources, name: &str) -> Result<String> {
    let kept = account(name);
    if sources.names().iter().any(|known| **known == *kept) {
        return Ok(kept.to_owned());
    }
    let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
    let words = format!(
        "there is no provider {kept:?}; there are {}, and those of config.toml",
        names.join(", ")
    );
    Err(Error::usage(words, ""))
}

fn set(keys: &Keys, name: &str, secret: &Secret, place: Place) -> Result<String> {
    match (keys.set(name, secret, place), place) {
        (Ok(()), Place::Keyring) => Ok(format!("{name}: kept in the keyring\n")),
        (Ok(()), Place::File) => {
            let path = keys.path().map(|path| path.display().to_string()).unwrap_or_default();
            Ok(format!("{name}: kept in {path}, stored unencrypted\n"))
        }
        (Err(error @ KeyError::Keyring(_)), _) => Err(Error::failed(
            format!(
                "{error}; nothing was kept. `letterpress keys set {name} --file` keeps it in a file instead, stored unencrypted"
            ),
            name,
        )),
        (Err(error), _) => Err(failed(&error, name)),
    }
}

fn remove(keys: &Keys, name: &str) -> Result<String> {
    let places = keys.remove(name).map_err(|error| failed(&error, name))?;
    if places.is_empty() {
        return Err(Error::failed("no key is kept", name.to_owned()));
    }
    let words = places.iter().map(|place| match place {
        Place::Keyring => "the keyring",
        Place::File => "the file",
    });
    Ok(format!("{name}: taken out of {}\n", words.collect::<Vec<_>>().join(" and ")))
}

/// Names, and where their keys are: also those of the environment, which come first.
fn list(sources: &Sources) -> Result<String> {
    let kept = sources.keys().list().map_err(|error| failed(&error, "keys"))?;
    let mut rows: Vec<(String, String)> = Vec::new();
    for (name, variable) in sources.variables_set() {
        rows.push((account(&name).to_owned(), format!("{variable} is set")));
    }
    for (name, place) in kept {
        let path = sources.keys().path().map(|path| path.display().to_string());
        let words = match (place, path) {
            (Place::File, Some(path)) => format!("{place} ({path})"),
            (Place::File | Place::Keyring, _) => place.to_string(),
        };
        rows.push((name, words));
    }
    rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    rows.dedup();
    if rows.is_empty() {
        return Ok("no key is set; `letterpress keys set NAME` keeps one\n".to_owned());
    }
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for (name, words) in rows {
        // Writing into a string cannot fail.
        let _infallible = writeln!(text, "{name:<width$}  {words}");
    }
    Ok(text)
}

fn failed(error: &KeyError, name: &str) -> Error {
    Error::failed(error.to_string(), name.to_owned())
}
