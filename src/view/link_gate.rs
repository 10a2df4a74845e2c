//! The only place where an address leaves the program.
//!
//! A link is judged before it is opened: most open at once, some are shown to the reader
//! first with what is odd about them, and whatever is not on the list of schemes is text.

mod judge;
mod script;

use std::{fmt, ops::Range, thread};

use url::{Position, Url};

/// Longer addresses, in bytes, are refused.
pub const TARGET_BYTES: usize = 8192;

/// A link as it stands in a message.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    /// Where it points.
    pub target: &'a str,
    /// The text that the reader sees.
    pub shown: &'a str,
    /// What the model had read when it wrote the link.
    pub context: LinkContext,
}

/// What a model had read before it wrote a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkContext {
    /// Only what the user wrote.
    #[default]
    Trusted,
    /// Output of tools or files, which may have told it to send something out.
    Untrusted,
}

/// What is to be done with a link that was clicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Open it.
    Open(Url),
    /// Show where it goes and why that is odd; open it only if the reader says so.
    Ask {
        /// Where it goes.
        url: Url,
        /// What is odd, at least one thing.
        reasons: Vec<Reason>,
    },
    /// Never open it. It is text.
    Refuse(Reason),
}

/// What is wrong with a link, or odd about it. Its [`fmt::Display`] is one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is not an address.
    NotAnAddress,
    /// It is longer than [`TARGET_BYTES`].
    TooLong,
    /// Its scheme is not on the list.
    Scheme(String),
    /// A mail would be sent with a file attached.
    Attachment,
    /// The text names this host, and the link goes elsewhere.
    OtherHost(String),
    /// A name or password stands in front of the host.
    UserInfo,
    /// A label of the host mixes scripts.
    MixedScripts,
    /// A label of the host is written in letters that look like Latin ones.
    Lookalike,
    /// Invisible or reordering characters are in the text or the address.
    Invisible,
    /// The host is an IP address in disguise.
    NumericHost,
    /// The address is written so that programs read it differently.
    Ambiguous,
    /// It carries this many characters of data, and may have been written by somebody
    /// who wants to have them.
    CarriesData(usize),
}

/// An address as it is shown to the reader: ASCII, with the host apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The whole address.
    pub text: String,
    /// Bytes of the host in it; for mail, of the part behind the `@`.
    pub host: Range<usize>,
}

/// Opens addresses outside the program.
pub trait Opener {
    /// Opens an address that was judged.
    ///
    /// # Errors
    /// One line that says why it could not be opened.
    fn open(&self, url: &str) -> Result<(), String>;
}

/// The program that the system has for an address.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemOpener;

impl Opener for SystemOpener {
    /// Starts it on a thread of its own, because a terminal browser runs until it is left.
    fn open(&self, url: &str) -> Result<(), String> {
        let url = url.to_owned();
        let open = move || {
            if let Err(error) = webbrowser::open(&url) {
                tracing::warn!("a link could not be opened: {error}");
            }
        };
        let thread = thread::Builder::new().name("open link".to_owned()).spawn(open);
        thread.map(|_| ()).map_err(|error| format!("the link could not be opened: {error}"))
    }
}

/// Judges links and opens them.
pub struct LinkGate {
    opener: Box<dyn Opener>,
}

impl Default for LinkGate {
    fn default() -> Self {
        Self::new(Box::new(SystemOpener))
    }
}

impl LinkGate {
    /// A gate in front of an opener.
    #[must_use]
    pub fn new(opener: Box<dyn Opener>) -> Self {
        Self { opener }
    }

    /// Says what is to be done with a link. Touches nothing.
    #[must_use]
    pub fn judge(link: Link<'_>) -> Verdict {
        judge::judge(link)
    }

    /// Opens an address. Call it for [`Verdict::Open`], or when the reader agreed.
    ///
    /// # Errors
    /// One line: the scheme is not on the list, or the system could not open it.
    pub fn open(&self, url: &Url) -> Result<(), String> {
        if !judge::is_allowed(url.scheme()) {
            return Err(Reason::Scheme(url.scheme().to_owned()).to_string());
        }
        self.opener.open(url.as_str())
    }
}

/// An address as it is shown to the reader. Never holds anything but printable ASCII.
#[must_use]
pub fn display(url: &Url) -> Shown {
    let text = url.as_str().to_owned();
    let host = match mail_host(url) {
        Some(host) => text.find(host).map_or(0..0, |at| at..at + host.len()),
        None => url[..Position::BeforeHost].len()..url[..Position::AfterHost].len(),
    };
    Shown { text, host }
}

/// The part behind the `@` of a mail address.
fn mail_host(url: &Url) -> Option<&str> {
    let address = (url.scheme() == "mailto").then(|| url.path())?;
    address.rsplit_once('@').map(|(_, host)| host).filter(|host| !host.is_empty())
}

/// What an address carries, decoded and made visible, one piece a line: the pairs of its
/// query and its fragment.
#[must_use]
pub fn data(url: &Url) -> Vec<String> {
    let pairs = url.query_pairs().map(|(key, value)| match value.is_empty() {
        true => visible(&key),
        false => format!("{} = {}", visible(&key), visible(&value)),
    });
    pairs.chain(url.fragment().map(|fragment| format!("#{}", visible(fragment)))).collect()
}

/// Spells out what cannot be seen.
fn visible(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        if c.is_control() || script::is_invisible(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
        out
    })
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnAddress => f.write_str("This is not an address."),
            Self::TooLong => f.write_str("The address is too long."),
            Self::Scheme(scheme) => {
                write!(f, "Addresses that begin with “{}:” are not opened.", visible(scheme))
            }
            Self::Attachment => f.write_str("The address would attach a file to a mail."),
            Self::OtherHost(host) => {
                write!(f, "The text names {}, but the link goes elsewhere.", visible(host))
            }
            Self::UserInfo => f.write_str("What stands before the “@” is not where it goes."),
            Self::MixedScripts => f.write_str("The host mixes letters of several scripts."),
            Self::Lookalike => {
                f.write_str("The host is written in letters that look like Latin ones.")
            }
            Self::Invisible => f.write_str("Invisible characters are in the text or the address."),
            Self::NumericHost => f.write_str("The host is an IP address in disguise."),
            Self::Ambiguous => f.write_str("Programs read this address in different ways."),
            Self::CarriesData(characters) => {
                write!(f, "The address carries {characters} characters of data.")
            }
        }
    }
}
