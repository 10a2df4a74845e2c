//! The system's keyring, which may take its time: it is asked on a thread of its own, and
//! given up on.

use std::{
    fmt,
    sync::{
        Arc,
        mpsc::{RecvTimeoutError, sync_channel},
    },
    thread,
    time::Duration,
};

use super::{KeyError, Secret};

/// What keys are kept under.
const SERVICE: &str = "letterpress";
/// The keyring may ask the user to unlock it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why a keyring did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultError(pub Arc<str>);

impl fmt::Display for VaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for VaultError {}

impl From<VaultError> for KeyError {
    fn from(VaultError(why): VaultError) -> Self {
        Self::Keyring(why)
    }
}

/// A place that keeps secrets by name.
pub trait Vault: Send + Sync {
    /// The secret of a name; none when it has none. May wait.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn get(&self, name: &str) -> Result<Option<Secret>, VaultError>;

    /// Keeps a secret in the place of the one before. May wait.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn set(&self, name: &str, secret: &Secret) -> Result<(), VaultError>;

    /// Takes a secret out. One that is not there is no failure. May wait.
    ///
    /// # Errors
    /// When it cannot be taken out.
    fn remove(&self, name: &str) -> Result<(), VaultError>;
}

/// The keyring of the system: Secret Service, Keychain, Credential Manager.
#[derive(Clone, Copy, Debug)]
pub struct Keyring {
    patience: Duration,
}

impl Keyring {
    /// The keyring of this user.
    #[must_use]
    pub fn new() -> Self {
        Self { patience: PATIENCE }
    }

    /// Does something with an entry, on a thread of its own.
    fn ask<T: Send + 'static>(
        self,
        name: &str,
        work: impl FnOnce(&keyring::Entry) -> keyring::Result<T> + Send + 'static,
    ) -> Result<Option<T>, VaultError> {
        let (sender, receiver) = sync_channel(1);
        let name = name.to_owned();
        let ask = move || {
            let done = open(&name).and_then(|entry| match work(&entry) {
                Ok(done) => Ok(Some(done)),
                Err(keyring::Error::NoEntry) => Ok(None),
                Err(error) => Err(VaultError(words(&error).into())),
            });
            // Whoever asked may have given up.
            let _nobody_waits = sender.try_send(done);
        };
        thread::Builder::new()
            .name("keyring".to_owned())
            .spawn(ask)
            .map_err(|error| VaultError(error.to_string().into()))?;
        match receiver.recv_timeout(self.patience) {
            Ok(done) => done,
            Err(RecvTimeoutError::Timeout) => {
                let words = format!("it did not answer within {} s", self.patience.as_secs());
                Err(VaultError(words.into()))
            }
            Err(RecvTimeoutError::Disconnected) => Err(VaultError("it failed".into())),
        }
    }
}

impl Default for Keyring {
    fn default() -> Self {
        Self::new()
    }
}

fn open(name: &str) -> Result<keyring::Entry, VaultError> {
    if let Err(error) = keyring::Entry::store_status() {
        return Err(VaultError(words(error).into()));
    }
    keyring::Entry::new(SERVICE, name).map_err(|error| VaultError(words(&error).into()))
}

impl Vault for Keyring {
    fn get(&self, name: &str) -> Result<Option<Secret>, VaultError> {
        let secret = self.ask(name, keyring::Entry::get_password)?;
        Ok(secret.as_deref().and_then(Secret::new))
    }

    fn set(&self, name: &str, secret: &Secret) -> Result<(), VaultError> {
        let secret = secret.clone();
        self.ask(name, move |entry| entry.set_password(secret.expose())).map(|_kept| ())
    }

    fn remove(&self, name: &str) -> Result<(), VaultError> {
        self.ask(name, keyring::Entry::delete_credential).map(|_gone| ())
    }
}

/// What went wrong, without anything of what is kept.
fn words(error: &keyring::Error) -> String {
    use keyring::Error;
    let words = match error {
        Error::PlatformFailure(why) if cfg!(target_os = "linux") => {
            format!("no Secret Service answers ({why})")
        }
        Error::PlatformFailure(why) => why.to_string(),
        Error::NoStorageAccess(why) => format!("it is locked: {why}"),
        Error::NoDefaultStore => "this system has none".to_owned(),
        Error::BadEncoding(_) | Error::BadDataFormat(..) => "what it holds is no key".to_owned(),
        Error::Ambiguous(_) => "it holds more than one".to_owned(),
        other => other.to_string(),
    };
    words.lines().next().unwrap_or_default().trim_end_matches('.').to_owned()
}
