//! Keys that are kept: in the keyring, in a file that says so, nowhere else.

#![expect(clippy::unwrap_used, reason = "tests: a panic is a failure")]

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use letterpress::app::{
    keys::{self, KeyError, Keys, Place, Secret, Vault, VaultError},
    places::Places,
    providers::{KeyOrigin, SourceError, Sources},
    settings::Live,
};
use parking_lot::Mutex;
use tempfile::TempDir;

/// A keyring that can be locked away.
#[derive(Default)]
pub(crate) struct Shelf {
    secrets: Mutex<BTreeMap<String, Secret>>,
    away: Mutex<Option<Arc<str>>>,
    asked: AtomicUsize,
}

impl Shelf {
    /// From now on it says this instead of an answer.
    pub(crate) fn lock(&self, why: Option<&str>) {
        *self.away.lock() = why.map(Into::into);
    }

    fn answer<T>(
        &self,
        work: impl FnOnce(&mut BTreeMap<String, Secret>) -> T,
    ) -> Result<T, VaultError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        match &*self.away.lock() {
            Some(why) => Err(VaultError(Arc::clone(why))),
            None => Ok(work(&mut self.secrets.lock())),
        }
    }
}

impl Vault for Shelf {
    fn get(&self, name: &str) -> Result<Option<Secret>, VaultError> {
        self.answer(|secrets| secrets.get(name).cloned())
    }

    fn set(&self, name: &str, secret: &Secret) -> Result<(), VaultError> {
        self.answer(|secrets| secrets.insert(name.to_owned(), secret.clone())).map(|_| ())
    }

    fn remove(&self, name: &str) -> Result<(), VaultError> {
        self.answer(|secrets| secrets.remove(name)).map(|_| ())
    }
}

struct Ground {
    folder: TempDir,
    shelf: Arc<Shelf>,
}

impl Ground {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap(), shelf: Arc::default() }
    }

    fn places(&self) -> Places {
        let folder = self.folder.path();
        Places {
            config: folder.join("config.toml"),
            state: folder.join("state"),
            data: folder.join("data"),
            home: None,
        }
    }

    /// As a program that was just started has them.
    fn keys(&self) -> Keys {
        Keys::at(&self.places(), Arc::clone(&self.shelf) as _)
    }

    fn file(&self) -> String {
        fs::read_to_string(self.keys().path().unwrap()).unwrap_or_default()
    }

    fn sources(&self, variable: fn(&str) -> Option<String>) -> Sources {
        Sources::new(Arc::new(variable), self.keys(), Live::once(&self.places().config))
    }
}

fn secret(text: &str) -> Secret {
    Secret::new(text).unwrap()
}

fn nothing(_: &str) -> Option<String> {
    None
}

#[test]
fn a_key_in_the_keyring_is_in_no_file_and_is_asked_for_once() {
    let ground = Ground::new();
    ground.keys().set("openai", &secret("sk-in-the-keyring"), Place::Keyring).unwrap();
    assert!(ground.file().contains("keyring = [\"openai\"]"), "{}", ground.file());
    assert!(!ground.file().contains("sk-in-the-keyring"));
    let keys = ground.keys();
    let before = ground.shelf.asked.load(Ordering::Relaxed);
    assert_eq!(keys.place("openai"), Some(Place::Keyring));
    assert_eq!(keys.get("anthropic").unwrap(), None);
    assert_eq!(ground.shelf.asked.load(Ordering::Relaxed), before, "nobody asked for the key");
    for _ in 0..3 {
        let (found, place) = keys.get("openai").unwrap().unwrap();
        assert_eq!((found.expose(), place), ("sk-in-the-keyring", Place::Keyring));
    }
    assert_eq!(ground.shelf.asked.load(Ordering::Relaxed), before + 1);
    assert_eq!(keys.remove("openai").unwrap(), [Place::Keyring]);
    assert_eq!((keys.get("openai").unwrap(), keys.list().unwrap()), (None, Vec::new()));
    assert!(ground.shelf.secrets.lock().is_empty());
}

#[test]
fn a_keyring_that_is_away_is_no_reason_to_write_a_file() {
    let ground = Ground::new();
    ground.shelf.lock(Some("no Secret Service answers"));
    let error =
        ground.keys().set("openai", &secret("sk-nowhere-to-go"), Place::Keyring).unwrap_err();
    assert_eq!(error, KeyError::Keyring("no Secret Service answers".into()));
    assert!(error.to_string().contains("cannot be reached: no Secret Service answers"));
    assert!(!ground.places().state.exists(), "nothing was written");
}

#[cfg(unix)]
#[test]
fn the_file_is_for_the_user_alone_and_says_what_it_is() {
    use std::os::unix::fs::PermissionsExt as _;
    let ground = Ground::new();
    let folder = ground.places().state.join("keys");
    // Somebody made it wider before.
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let keys = ground.keys();
    keys.set("groq", &secret("gsk-in-the-file"), Place::File).unwrap();
    let path = keys.path().unwrap().to_owned();
    assert_eq!((mode(&path), mode(&folder)), (0o600, 0o700));
    assert!(ground.file().starts_with("# ") && ground.file().contains("stored unencrypted"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let (found, place) = ground.keys().get("groq").unwrap().unwrap();
    assert_eq!((found.expose(), place), ("gsk-in-the-file", Place::File));
    assert_eq!(mode(&path), 0o600, "it is closed when it is read");
    assert_eq!(
        ground.shelf.asked.load(Ordering::Relaxed),
        0,
        "the keyring has nothing to do with it"
    );
}

#[test]
fn a_key_that_moves_to_the_keyring_leaves_no_copy() {
    let ground = Ground::new();
    ground.keys().set("groq", &secret("gsk-before-it-moved"), Place::File).unwrap();
    ground.keys().set("groq", &secret("gsk-after-it-moved"), Place::Keyring).unwrap();
    assert!(!ground.file().contains("gsk-"), "{}", ground.file());
    let (found, _) = ground.keys().get("groq").unwrap().unwrap();
    assert_eq!(found.expose(), "gsk-after-it-moved");
}

#[test]
fn the_environment_comes_first_then_the_keyring_then_the_file() {
    let ground = Ground::new();
    let origin = |sources: &Sources| sources.candidate("openai").unwrap().origin;
    assert_eq!(origin(&ground.sources(nothing)), KeyOrigin::Missing(Some("OPENAI_API_KEY".into())));
    ground.keys().set("openai", &secret("sk-of-the-file"), Place::File).unwrap();
    assert_eq!(origin(&ground.sources(nothing)), KeyOrigin::Kept(Place::File));
    ground.keys().set("openai", &secret("sk-of-the-keyring"), Place::Keyring).unwrap();
    ground.keys().set("openai", &secret("sk-of-the-file"), Place::File).unwrap();
    let sources = ground.sources(nothing);
    assert_eq!(origin(&sources), KeyOrigin::Kept(Place::Keyring));
    assert_eq!(sources.keys().get("openai").unwrap().unwrap().0.expose(), "sk-of-the-keyring");
    let with = |name: &str| (name == "OPENAI_API_KEY").then(|| "sk-of-the-environment".to_owned());
    let sources = ground.sources(with);
    let asked = ground.shelf.asked.load(Ordering::Relaxed);
    assert_eq!(origin(&sources), KeyOrigin::Variable("OPENAI_API_KEY".into()));
    sources.endpoint(&sources.candidate("openai").unwrap()).unwrap();
    assert_eq!(ground.shelf.asked.load(Ordering::Relaxed), asked, "the keyring is not asked");
}

#[test]
fn a_key_that_cannot_be_read_is_said_and_not_passed_over() {
    let ground = Ground::new();
    ground.keys().set("openai", &secret("sk-of-the-keyring"), Place::Keyring).unwrap();
    ground.shelf.lock(Some("it is locked"));
    let sources = ground.sources(nothing);
    let error = sources.endpoint(&sources.candidate("openai").unwrap()).unwrap_err();
    assert_eq!(error, SourceError::Key(KeyError::Keyring("it is locked".into())));
    // The settings can say so, too.
    fs::write(
        ground.places().config,
        "[providers.work]\nbase_url = \"https://w.example\"\nkey = \"keyring\"\n",
    )
    .unwrap();
    let sources = ground.sources(nothing);
    let candidate = sources.candidate("work").unwrap();
    assert_eq!(candidate.origin, KeyOrigin::Kept(Place::Keyring));
    sources.endpoint(&candidate).unwrap_err();
    ground.shelf.lock(None);
    ground.keys().set("work", &secret("key-of-work"), Place::Keyring).unwrap();
    let sources = ground.sources(nothing);
    assert!(sources.endpoint(&candidate).unwrap().key.is_some());
}

#[test]
fn names_that_mean_the_same_key_share_it() {
    for name in ["openai", "openai-responses", "OPENAI_API_KEY"] {
        assert_eq!(keys::account(name), "openai");
    }
    assert_eq!(keys::account("GOOGLE_API_KEY"), "gemini");
    assert_eq!((keys::account("ollama"), keys::account("work")), ("ollama", "work"));
}

#[test]
fn what_is_no_key_is_refused_and_what_is_one_is_not_shown() {
    for text in ["", "  \n", "two\nlines", "bell\u{7}", &"x".repeat(20_000)] {
        assert_eq!(Secret::new(text), None);
    }
    let key = secret(" sk-with-blanks \n");
    assert_eq!(key.expose(), "sk-with-blanks");
    assert_eq!(format!("{key:?}"), "Secret(…)");
}

#[test]
fn a_file_that_is_no_toml_is_said_without_what_it_holds() {
    let ground = Ground::new();
    let keys = ground.keys();
    fs::create_dir_all(keys.path().unwrap().parent().unwrap()).unwrap();
    fs::write(keys.path().unwrap(), "[file\ngroq = \"gsk-half-written-key").unwrap();
    let error = keys.get("groq").unwrap_err().to_string();
    assert!(error.contains("no TOML") && !error.contains("gsk-"), "{error}");
    keys.set("groq", &secret("gsk-another-key"), Place::File).unwrap_err();
    assert!(ground.file().contains("gsk-half-written-key"), "it is not overwritten");
}
