//! The one shape in which a command fails: one line that says what happened and where.

use std::{borrow::Cow, fmt, io, path::Path, process::ExitCode};

use super::secrecy;

/// Why a command could not do its work.
///
/// Shown as `what happened: where`; [`report`] puts the program's name in front.
#[derive(Debug)]
pub struct Error {
    what: Cow<'static, str>,
    place: String,
    usage: bool,
}

/// What a command gives back.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A failure: exit code 1. `place` may be empty.
    pub fn failed(what: impl Into<Cow<'static, str>>, place: impl Into<String>) -> Self {
        Self { what: what.into(), place: place.into(), usage: false }
    }

    /// A wrong command line: exit code 2.
    pub fn usage(what: impl Into<Cow<'static, str>>, place: impl Into<String>) -> Self {
        Self { what: what.into(), place: place.into(), usage: true }
    }

    /// A failed read or write of a file.
    #[must_use]
    pub fn io(doing: &str, error: &io::Error, path: &Path) -> Self {
        Self::failed(format!("{doing}: {}", io_words(error)), path.display().to_string())
    }

    /// 1 for a failure, 2 for a wrong command line.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(if self.usage { 2 } else { 1 })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", OneLine(&self.what))?;
        if self.place.is_empty() {
            return Ok(());
        }
        write!(f, ": {}", OneLine(&self.place))
    }
}

impl std::error::Error for Error {}

/// Writes the error as its one line on stderr and says how to exit.
#[expect(clippy::print_stderr, reason = "this is where errors meet the user of a command")]
pub fn report(error: &Error) -> ExitCode {
    eprintln!("{}", secrecy::redact(&format!("letterpress: {error}")));
    error.exit_code()
}

/// A text whose control characters are escaped, so that a file's name cannot break the
/// line or speak to the terminal.
struct OneLine<'a>(&'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            if c.is_control() {
                write!(f, "{}", c.escape_default())?;
            } else {
                write!(f, "{c}")?;
            }
        }
        Ok(())
    }
}

/// An IO error in words, without the number of the operating system's error.
#[must_use]
pub fn io_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "no permission".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        io::ErrorKind::StorageFull => "no space is left".to_owned(),
        _ => {
            let words = error.to_string();
            words.split(" (os error").next().unwrap_or_default().to_lowercase()
        }
    }
}
