//! Who decides: deny before ask before allow. Pure; the facts are given.
//!
//! A call that may run is an [`Approved`], and only this module makes one: from a judgement
//! that allows, or from a question together with the user's answer. What the user is shown is
//! what runs: the question holds the call until it is answered.
//!
//! Nothing that a model, a tool or a page says can raise the level: rules are learnt from
//! answers, levels are set by the user, and arguments such as `requires_approval` are passed
//! over.

mod address;
mod approval;
mod command;
mod facts;
mod find;
mod protected;
mod reason;
mod rules;
mod table;
mod visible;

pub use address::{carries_data, is_private_host, is_private_ip};
pub use approval::{Answer, Approval, Granted, Offer, Question, Scope};
pub use facts::{
    At, Environment, Facts, GitConfig, PathUse, Place, Program, Trust, Use, What, paths_of,
};
pub use protected::{is_private, is_protected};
pub use reason::{Denial, Reason};
pub use rules::{Decision, Level, Rule, Rules};
pub use visible::{Visible, command_line, hidden_in, visible};

pub(super) use facts::base_of;

use super::call::{Call, CommandLine};

/// Something that was approved, with what it may touch.
///
/// ```compile_fail
/// // Nobody else can make one.
/// let approved = letterpress::tools::policy::Approved { call: (), grant: Default::default() };
/// ```
#[derive(Debug)]
pub struct Approved<T> {
    call: T,
    grant: Box<Grant>,
}

/// What an approved call may touch: the places and the program as they were judged. A run
/// goes to exactly these, and fails where they are no longer what they were.
#[derive(Debug, Default)]
pub(super) struct Grant {
    pub(super) facts: Facts,
    /// The user was warned that the address is within his own network.
    pub(super) may_be_private: bool,
}

impl<T> Approved<T> {
    /// What was approved.
    #[must_use]
    pub fn call(&self) -> &T {
        &self.call
    }

    pub(super) fn into_parts(self) -> (T, Grant) {
        (self.call, *self.grant)
    }
}

/// What becomes of a call.
#[derive(Debug)]
pub enum Verdict {
    /// It may run.
    Allow(Approved<Call>),
    /// The user decides.
    Ask(Box<Question>),
    /// It may not run, whatever anyone says.
    Deny(Denial),
}

/// Judges a call by the facts and the user's rules.
///
/// The facts must be those of [`paths_of`] this call; what is missing in them counts against
/// it.
#[must_use]
pub fn judge(call: Call, facts: Facts, rules: &Rules) -> Verdict {
    if let Some(denial) = denial(&call, &facts) {
        return Verdict::Deny(denial);
    }
    if let Some(rule) = rules.denying(&call, &facts) {
        return Verdict::Deny(Denial::ByRule(rule.words()));
    }
    let mut reasons = reasons(&call, &facts);
    if let Some(rule) = rules.asking(&call, &facts) {
        reasons.push(Reason::ByRule(rule.words()));
    }
    let is_settled = !reasons.iter().any(Reason::is_firm)
        && (rules.allowing(&call, &facts) || rules.level.covers(&call, &reasons, facts.trust));
    if reasons.is_empty() || is_settled {
        return Verdict::Allow(Approved {
            call,
            grant: Box::new(Grant { facts, may_be_private: false }),
        });
    }
    Verdict::Ask(Box::new(Question::new(call, facts, reasons)))
}

/// What nobody can want, or what cannot work.
fn denial(call: &Call, facts: &Facts) -> Option<Denial> {
    let uses = paths_of(call);
    if let Err(why) = uses {
        return Some(Denial::Impossible(why));
    }
    if matches!(call, Call::Command { .. }) {
        return facts.folder_flaw();
    }
    let is_write = matches!(call, Call::Write { .. } | Call::Edit { .. } | Call::Patch { .. });
    for place in &facts.places {
        if let At::Nowhere(why) = &place.at {
            return Some(Denial::Impossible(format!("{}: {why}", place.asked)));
        }
        let flaw = match &place.what {
            What::Other(kind) => Some(format!("is {kind}, not a file")),
            What::Link(target) if is_write => {
                Some(format!("is a symbolic link to {target}; write to that instead"))
            }
            What::Folder if is_write => Some("is a folder".to_owned()),
            What::File { links } if is_write && *links > 1 => {
                Some(format!("is one file with {links} names, and writing would change them all"))
            }
            What::Missing | What::File { .. } | What::Folder | What::Link(_) => None,
        };
        if let Some(flaw) = flaw {
            return Some(Denial::Impossible(format!("{} {flaw}", place.asked)));
        }
    }
    match (&facts.changes, is_write) {
        (Err(why), true) => Some(Denial::Impossible(why.clone())),
        _ => None,
    }
}

/// Why the user is asked, if nothing he said before settles it. None means that the call only
/// looks, and only where it may.
fn reasons(call: &Call, facts: &Facts) -> Vec<Reason> {
    let mut reasons = Vec::new();
    match call {
        Call::Read { .. } | Call::List { .. } | Call::Glob { .. } | Call::Search(_) => {
            looks(facts, &mut reasons);
        }
        Call::Write { .. } | Call::Edit { .. } | Call::Patch { .. } => writes(facts, &mut reasons),
        Call::Command { line: CommandLine::Shell(_), .. } => {
            reasons.push(Reason::Shell);
            outside(facts, &mut reasons);
        }
        Call::Command { line: CommandLine::Argv(argv), .. } => {
            command::reasons(argv, facts, &mut reasons);
        }
        Call::Fetch { url } => {
            reasons.push(Reason::Network(url.host_str().unwrap_or_default().to_owned()));
            if is_private_host(url) {
                reasons.push(Reason::PrivateAddress);
            }
            if facts.trust == Trust::Untrusted && carries_data(url) {
                reasons.push(Reason::CarriesData);
            }
        }
        Call::Remote { server, .. } => reasons.push(Reason::Remote(server.clone())),
    }
    let hidden = approval::hidden_characters(call, facts);
    if hidden > 0 {
        reasons.push(Reason::Hidden(hidden));
    }
    reasons
}

fn outside(facts: &Facts, reasons: &mut Vec<Reason>) {
    for place in &facts.places {
        if let At::Outside(path) = &place.at {
            push(reasons, Reason::Outside(path.clone()));
        }
    }
}

fn looks(facts: &Facts, reasons: &mut Vec<Reason>) {
    outside(facts, reasons);
    for place in &facts.places {
        if facts.path_of(place).is_some_and(is_private) {
            push(reasons, Reason::Private(place.asked.clone()));
        }
    }
    if facts.places.is_empty() {
        reasons.push(Reason::Unknown);
    }
}

fn writes(facts: &Facts, reasons: &mut Vec<Reason>) {
    for place in &facts.places {
        push(reasons, Reason::Writes);
        if let At::Outside(path) = &place.at {
            push(reasons, Reason::Outside(path.clone()));
        }
        if facts.is_protected(place) {
            push(reasons, Reason::Protected(place.asked.clone()));
        }
    }
    if facts.places.is_empty() {
        reasons.push(Reason::Unknown);
    }
}

fn push(reasons: &mut Vec<Reason>, reason: Reason) {
    if !reasons.contains(&reason) {
        reasons.push(reason);
    }
}
