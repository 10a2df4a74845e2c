//! Why the user is asked, and why a call is refused, in words.

use std::fmt;

/// Why the user is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It changes files.
    Writes,
    /// It runs a program that is not known to only look; in a few words, what about it.
    Runs(String),
    /// It runs a program that can run any other.
    RunsOthers(String),
    /// The program is not the one that its name promises: it lies where a model or anybody
    /// may have put it.
    Planted(String),
    /// The program's name has letters that may be taken for others.
    OddName(String),
    /// A shell reads it.
    Shell,
    /// It asks this host.
    Network(String),
    /// The host is within the user's own network, or this machine.
    PrivateAddress,
    /// The address may carry what was read to somebody else.
    CarriesData,
    /// It touches a path outside of the workspace.
    Outside(String),
    /// It changes something that other programs obey.
    Protected(String),
    /// It reads something that may hold keys.
    Private(String),
    /// Characters are in it that do not show.
    Hidden(usize),
    /// A server of the user's does it.
    Remote(String),
    /// A rule of the user's says so.
    ByRule(String),
    /// Too little is known about it.
    Unknown,
}

impl Reason {
    /// No rule and no level settles it: the user is asked each time.
    #[must_use]
    pub fn is_firm(&self) -> bool {
        match self {
            Self::Shell
            | Self::PrivateAddress
            | Self::CarriesData
            | Self::Protected(_)
            | Self::Private(_)
            | Self::Hidden(_)
            | Self::ByRule(_)
            | Self::RunsOthers(_)
            | Self::Planted(_)
            | Self::OddName(_)
            | Self::Unknown => true,
            Self::Writes
            | Self::Runs(_)
            | Self::Network(_)
            | Self::Outside(_)
            | Self::Remote(_) => false,
        }
    }

    /// It is a warning, and not only what the tool does anyway.
    #[must_use]
    pub fn is_warning(&self) -> bool {
        match self {
            Self::Writes | Self::Runs(_) | Self::Network(_) | Self::Remote(_) => false,
            Self::RunsOthers(_)
            | Self::Planted(_)
            | Self::OddName(_)
            | Self::Shell
            | Self::PrivateAddress
            | Self::CarriesData
            | Self::Outside(_)
            | Self::Protected(_)
            | Self::Private(_)
            | Self::Hidden(_)
            | Self::ByRule(_)
            | Self::Unknown => true,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Writes => f.write_str("It changes files."),
            Self::Runs(why) => write!(f, "It runs a program: {why}."),
            Self::RunsOthers(program) => write!(f, "{program} can run any other program."),
            Self::Planted(path) => {
                write!(f, "The program is {path}, where anybody may have put it.")
            }
            Self::OddName(name) => write!(f, "{name} has letters that look like others."),
            Self::Shell => f.write_str("A shell reads this line, and may run anything."),
            Self::Network(host) => write!(f, "It sends a request to {host}."),
            Self::PrivateAddress => {
                f.write_str("The address is this machine or within your own network.")
            }
            Self::CarriesData => {
                f.write_str("The address is long enough to carry away what was read.")
            }
            Self::Outside(path) => write!(f, "{path} is outside of the workspace."),
            Self::Protected(path) => write!(f, "Other programs obey what stands in {path}."),
            Self::Private(path) => write!(f, "{path} may hold keys or passwords."),
            Self::Hidden(1) => f.write_str("One character in it does not show."),
            Self::Hidden(count) => write!(f, "{count} characters in it do not show."),
            Self::Remote(server) => write!(f, "The server {server} does it."),
            Self::ByRule(rule) => write!(f, "Your rule asks: {rule}."),
            Self::Unknown => f.write_str("What it touches is not known."),
        }
    }
}

/// Why a call is refused. Its words are for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// A rule of the user's forbids it.
    ByRule(String),
    /// It cannot work, or does what nobody can want.
    Impossible(String),
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByRule(rule) => write!(f, "The user's rules forbid this: {rule}."),
            Self::Impossible(why) => write!(f, "Not done: {why}."),
        }
    }
}
