//! What should be followed, as people name it on the command line.

use std::{
    ffi::OsStr,
    fmt,
    path::{Path, PathBuf},
};

use globset::{GlobBuilder, GlobMatcher};
use url::Url;

/// Something to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// One file, which need not be there yet.
    File(PathBuf),
    /// All transcripts in a folder and the folders in it. It need not be there yet.
    Folder(PathBuf),
    /// All transcripts whose path matches.
    Glob(String),
    /// The session folders of the known agents of this user.
    Agents,
    /// JSONL on standard input.
    Stdin,
    /// JSONL or server-sent events over HTTP.
    Url(Url),
}

impl Wanted {
    /// Reads an argument: `-` is standard input, `agents` the known agents, an address with
    /// `http` or `https` a URL, a name with `*`, `?`, `[` or `{` a pattern unless there is
    /// such a file; anything else is a path. Looks whether a path is a folder, which is the
    /// only thing it asks the system.
    ///
    /// # Errors
    /// When it is empty, or an address or a pattern that cannot be used.
    pub fn parse(argument: &OsStr) -> Result<Self, FollowError> {
        let text = argument.to_str();
        match text {
            Some("") => return Err(FollowError::Nothing),
            Some("-") => return Ok(Self::Stdin),
            Some("agents") => return Ok(Self::Agents),
            _ => {}
        }
        if let Some(text) = text.filter(|text| is_address(text)) {
            return address(text);
        }
        let path = Path::new(argument);
        if let Some(text) = text.filter(|text| has_pattern(text) && !path.exists()) {
            return matcher(text).map(|_| Self::Glob(text.to_owned()));
        }
        let ends_as_folder = text.is_some_and(|text| text.ends_with(std::path::MAIN_SEPARATOR));
        if path.is_dir() || ends_as_folder {
            Ok(Self::Folder(path.to_owned()))
        } else {
            Ok(Self::File(path.to_owned()))
        }
    }
}

/// As a person would name it; an address without its user and password.
impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) | Self::Folder(path) => write!(f, "{}", path.display()),
            Self::Glob(pattern) => f.write_str(pattern),
            Self::Agents => f.write_str("agents"),
            Self::Stdin => f.write_str("standard input"),
            Self::Url(url) => f.write_str(&shown_address(url)),
        }
    }
}

/// Why nothing can be followed.
#[derive(Debug)]
pub enum FollowError {
    /// Nothing was named.
    Nothing,
    /// An address that cannot be used, and why.
    Address(String, String),
    /// A pattern that cannot be used, and why.
    Pattern(String, String),
    /// Standard input was named twice.
    StdinTwice,
    /// The system gives no further thread.
    Thread(std::io::Error),
}

impl fmt::Display for FollowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing to follow was named"),
            Self::Address(address, why) => {
                write!(f, "this address cannot be followed ({why}): {address}")
            }
            Self::Pattern(pattern, why) => {
                write!(f, "this pattern cannot be used ({why}): {pattern}")
            }
            Self::StdinTwice => f.write_str("standard input can only be followed once"),
            Self::Thread(error) => write!(f, "the system gives no further thread: {error}"),
        }
    }
}

impl std::error::Error for FollowError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Thread(error) => Some(error),
            Self::Nothing | Self::Address(..) | Self::Pattern(..) | Self::StdinTwice => None,
        }
    }
}

/// A pattern over whole paths: `*` stays inside a folder, `**` does not. Gives the pattern
/// as an absolute one, too.
pub(super) fn matcher(pattern: &str) -> Result<(String, GlobMatcher), FollowError> {
    let relative = pattern.strip_prefix("./").unwrap_or(pattern);
    let whole = match std::env::current_dir() {
        Ok(here) if !Path::new(pattern).is_absolute() => {
            format!("{}/{relative}", globset::escape(&here.to_string_lossy()))
        }
        _ => pattern.to_owned(),
    };
    let glob = GlobBuilder::new(&whole).literal_separator(true).build();
    glob.map(|glob| (whole.clone(), glob.compile_matcher()))
        .map_err(|error| FollowError::Pattern(pattern.to_owned(), error.kind().to_string()))
}

/// An address for people: no user, no password, no query.
pub(super) fn shown_address(url: &Url) -> String {
    let mut shown = url.clone();
    // Both only fail for addresses that have no host, which are not followed.
    shown.set_username("").ok();
    shown.set_password(None).ok();
    shown.set_query(None);
    shown.set_fragment(None);
    shown.to_string()
}

fn has_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

fn is_address(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    })
}

fn address(text: &str) -> Result<Wanted, FollowError> {
    let failed = |why: &str| {
        let shown = Url::parse(text).map_or_else(|_| text.to_owned(), |url| shown_address(&url));
        FollowError::Address(shown, why.to_owned())
    };
    let url = Url::parse(text).map_err(|error| failed(&error.to_string()))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(Wanted::Url(url)),
        "file" => match url.to_file_path() {
            Ok(path) => Ok(Wanted::File(path)),
            Err(()) => Err(failed("no path on this machine")),
        },
        _ => Err(failed("only http and https can be followed")),
    }
}
