//! The question that the user is asked, and what becomes of his answer.

use std::time::Duration;

use super::{
    Approved, Grant,
    facts::{At, Environment, Facts},
    reason::Reason,
    rules::Rule,
    visible::{Visible, command_line, deceptive_in, hidden_in, visible},
};
use crate::tools::{
    call::{Call, CommandLine, SearchFor},
    output::FileChange,
    spec::Kind,
};

/// A call that waits for the user's word.
#[derive(Debug)]
pub struct Question {
    call: Call,
    facts: Facts,
    approval: Approval,
}

/// What the user is shown. Every text in it shows all that is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Approval {
    /// The tool's name.
    pub tool: String,
    /// Which tool it is.
    pub kind: Kind,
    /// What exactly: the command, the paths, the address, the arguments.
    pub what: String,
    /// Where: the folder of a command, the workspace of a file.
    pub place: String,
    /// How long a command may take.
    pub timeout: Option<Duration>,
    /// Nothing outside of the workspace is named.
    pub is_inside: bool,
    /// What a command sees of the environment.
    pub environment: Environment,
    /// What would change: for the view to compare.
    pub changes: Vec<FileChange>,
    /// Why the user is asked.
    pub reasons: Vec<Reason>,
    /// What he may decide for more than this call; empty when that would be unwise.
    pub offers: Vec<Offer>,
}

/// A decision for more than one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// For how long.
    pub scope: Scope,
    /// What would be decided.
    pub rule: Rule,
}

/// How long a rule lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Until the session ends.
    Session,
    /// Until the user takes it back.
    Always,
}

/// The user's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Run it, this once.
    Once,
    /// Run it, and take this one of the offers; an offer that is not there is none.
    Offer(usize),
    /// Do not run it.
    Reject,
}

/// What the user granted.
#[derive(Debug)]
pub struct Granted {
    /// The call that may run.
    pub call: Approved<Call>,
    /// The rule to remember, and for how long.
    pub remember: Option<Offer>,
}

impl Question {
    pub(super) fn new(call: Call, facts: Facts, reasons: Vec<Reason>) -> Self {
        let approval = approval(&call, &facts, reasons);
        Self { call, facts, approval }
    }

    /// What the user is shown.
    #[must_use]
    pub fn approval(&self) -> &Approval {
        &self.approval
    }

    /// The call that waits.
    #[must_use]
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Ends the question with the user's answer; none when he rejects.
    #[must_use]
    pub fn answer(self, answer: Answer) -> Option<Granted> {
        let remember = match answer {
            Answer::Reject => return None,
            Answer::Once => None,
            Answer::Offer(index) => self.approval.offers.get(index).cloned(),
        };
        let may_be_private = self.approval.reasons.contains(&Reason::PrivateAddress);
        let grant = Box::new(Grant { facts: self.facts, may_be_private });
        Some(Granted { call: Approved { call: self.call, grant }, remember })
    }
}

fn approval(call: &Call, facts: &Facts, reasons: Vec<Reason>) -> Approval {
    let is_inside = facts.places.iter().all(|place| matches!(place.at, At::Inside(_)));
    let changes = facts.changes.as_ref().map_or_else(|_| Vec::new(), |changes| changes.clone());
    let offers = if reasons.iter().any(Reason::is_firm) { Vec::new() } else { offers(call, facts) };
    let timeout = match call {
        Call::Command { timeout, .. } => Some(*timeout),
        _ => None,
    };
    let is_command = call.kind() == Kind::Command;
    Approval {
        tool: visible(call.tool()).text,
        kind: call.kind(),
        what: what(call, facts).text,
        place: place(call, facts),
        timeout,
        is_inside,
        environment: if is_command { facts.environment.clone() } else { Environment::default() },
        changes,
        reasons,
        offers,
    }
}

/// What exactly would be done.
fn what(call: &Call, facts: &Facts) -> Visible {
    match call {
        Call::Command { line: CommandLine::Argv(argv), .. } => command_line(argv),
        Call::Command { line: CommandLine::Shell(line), .. } => visible(line),
        Call::Fetch { url } => visible(url.as_str()),
        Call::Remote { arguments, .. } => {
            // What cannot be printed cannot be approved unseen either.
            visible(
                &serde_json::to_string_pretty(arguments).unwrap_or_else(|_| arguments.to_string()),
            )
        }
        Call::Search(SearchFor { regex, path, .. }) => visible(&format!("{regex}\n{path}")),
        Call::Glob { pattern, path } => visible(&format!("{pattern}\n{path}")),
        Call::Read { .. }
        | Call::List { .. }
        | Call::Write { .. }
        | Call::Edit { .. }
        | Call::Patch { .. } => {
            let paths: Vec<_> = facts.places.iter().map(|place| place.asked.as_str()).collect();
            visible(&paths.join("\n"))
        }
    }
}

/// Where it would be done: as it really is, when a link leads elsewhere.
fn place(call: &Call, facts: &Facts) -> String {
    let place = match call.kind() {
        Kind::Fetch | Kind::Remote => return String::new(),
        Kind::Read
        | Kind::List
        | Kind::Glob
        | Kind::Search
        | Kind::Write
        | Kind::Edit
        | Kind::Patch
        | Kind::Command => match facts.places.as_slice() {
            [one] => facts.absolute(one),
            [folder, ..] if call.kind() == Kind::Command => facts.absolute(folder),
            _ => None,
        },
    };
    visible(&place.unwrap_or_else(|| facts.root.clone())).text
}

/// How many characters of what is asked do not show.
pub(super) fn hidden_characters(call: &Call, facts: &Facts) -> usize {
    let contents = match call {
        Call::Write { content, .. } => deceptive_in(content),
        Call::Edit { edits, .. } => edits.iter().map(|edit| deceptive_in(&edit.new)).sum(),
        Call::Patch { patch } => deceptive_in(patch),
        Call::Command { line: CommandLine::Argv(argv), .. } => command_line(argv).hidden,
        Call::Command { line: CommandLine::Shell(line), .. } => hidden_in(line),
        Call::Remote { tool, arguments, .. } => hidden_in(tool) + hidden_in(&arguments.to_string()),
        Call::Read { .. } | Call::List { .. } => 0,
        Call::Glob { pattern, .. } => hidden_in(pattern),
        Call::Search(search) => {
            hidden_in(&search.regex) + search.files.as_deref().map_or(0, hidden_in)
        }
        Call::Fetch { url } => hidden_in(url.as_str()),
    };
    let paths = facts.places.iter().map(|place| hidden_in(&place.asked));
    let really = facts.places.iter().map(|place| facts.path_of(place).map_or(0, hidden_in));
    contents + paths.sum::<usize>().max(really.sum())
}

fn offers(call: &Call, facts: &Facts) -> Vec<Offer> {
    let both = |rule: Rule| {
        [Scope::Session, Scope::Always].map(|scope| Offer { scope, rule: rule.clone() })
    };
    match call {
        Call::Command { line: CommandLine::Argv(argv), .. } => both(Rule::for_command(argv)).into(),
        Call::Fetch { url } => both(Rule::for_host(url.host_str().unwrap_or_default())).into(),
        Call::Remote { tool, arguments, .. } => {
            let exactly = Rule::for_arguments(tool, Some(arguments));
            let any = Rule::for_arguments(tool, None);
            vec![
                Offer { scope: Scope::Session, rule: exactly },
                Offer { scope: Scope::Session, rule: any.clone() },
                Offer { scope: Scope::Always, rule: any },
            ]
        }
        Call::Read { .. }
        | Call::List { .. }
        | Call::Glob { .. }
        | Call::Search(_)
        | Call::Write { .. }
        | Call::Edit { .. }
        | Call::Patch { .. } => path_offers(call, facts),
        Call::Command { line: CommandLine::Shell(_), .. } => Vec::new(),
    }
}

/// The file itself, then everything in its folder. A patch of several files has neither.
fn path_offers(call: &Call, facts: &Facts) -> Vec<Offer> {
    let [place] = facts.places.as_slice() else { return Vec::new() };
    let Some(path) = facts.path_of(place) else { return Vec::new() };
    let literal = globset::escape(path);
    let exactly = Rule::for_path(call.tool(), &literal);
    let mut offers = vec![
        Offer { scope: Scope::Session, rule: exactly.clone() },
        Offer { scope: Scope::Always, rule: exactly },
    ];
    if let At::Inside(_) = place.at {
        let folder = path
            .rsplit_once('/')
            .map_or_else(String::new, |(folder, _)| format!("{}/", globset::escape(folder)));
        let rule = Rule::for_path(call.tool(), &format!("{folder}**"));
        offers.push(Offer { scope: Scope::Session, rule });
    }
    offers
}
