//! What the user has decided for more than one call.

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Reason, Trust, command,
    facts::{At, Facts, Place},
    visible::command_line,
};
use crate::tools::{
    call::{Call, CommandLine},
    spec::Kind,
};

/// All that the user has decided beforehand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// What needs no question in general.
    pub level: Level,
    /// Rules that are kept with the settings.
    pub always: Vec<Rule>,
    /// Rules that end with the session.
    pub session: Vec<Rule>,
}

/// What needs no question in general. Only the user sets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Looking within the workspace.
    #[default]
    Ask,
    /// Changing files within the workspace, too.
    Edits,
    /// Commands and the net, too, as long as only the user has spoken: once others have,
    /// these are asked about again.
    Auto,
}

/// One decision about one tool.
///
/// In the settings, one to a table:
///
/// ```toml
/// [[tools.rule]]
/// decision = "allow"
/// tool = "execute_command"
/// command = ["cargo", "test", "**"]
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What is decided.
    pub decision: Decision,
    /// The tool, by its exact name; `*` is every tool, and can only deny or ask.
    pub tool: String,
    /// The program and its arguments, each exactly, for a command. `*` stands for any one
    /// argument, and a last `**` for any number of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// A glob that every file must fit, relative to the workspace, or else absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The host of an address, exactly; `*.` in front stands for any host below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The arguments of a server's tool, as JSON, exactly; `*` is any arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
}

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Never.
    Deny,
    /// Only after a question.
    Ask,
    /// Without a question.
    Allow,
}

impl Level {
    /// True when no question is needed for these reasons.
    pub(super) fn covers(self, call: &Call, reasons: &[Reason], trust: Trust) -> bool {
        let is_within = !reasons.iter().any(|reason| matches!(reason, Reason::Outside(_)));
        match (self, call.kind()) {
            (Self::Ask, _) => false,
            (_, Kind::Read | Kind::List | Kind::Glob | Kind::Search) => false,
            (_, Kind::Write | Kind::Edit | Kind::Patch) => is_within,
            (Self::Edits, Kind::Command | Kind::Fetch | Kind::Remote) => false,
            (Self::Auto, Kind::Command | Kind::Fetch | Kind::Remote) => {
                is_within && trust == Trust::UserOnly
            }
        }
    }
}

impl Rules {
    /// A rule that forbids the call.
    pub(super) fn denying(&self, call: &Call, facts: &Facts) -> Option<&Rule> {
        self.find(Decision::Deny, call, facts)
    }

    /// A rule that wants it asked about.
    pub(super) fn asking(&self, call: &Call, facts: &Facts) -> Option<&Rule> {
        self.find(Decision::Ask, call, facts)
    }

    /// True when a rule lets it run.
    pub(super) fn allowing(&self, call: &Call, facts: &Facts) -> bool {
        self.find(Decision::Allow, call, facts).is_some()
    }

    fn find(&self, decision: Decision, call: &Call, facts: &Facts) -> Option<&Rule> {
        let mut rules = self.always.iter().chain(&self.session);
        rules.find(|rule| rule.decision == decision && rule.fits(call, facts))
    }
}

impl Rule {
    fn new(tool: &str) -> Self {
        Self {
            decision: Decision::Allow,
            tool: tool.to_owned(),
            command: None,
            path: None,
            host: None,
            arguments: None,
        }
    }

    /// Lets this tool work on the files that a glob fits.
    #[must_use]
    pub fn for_path(tool: &str, glob: &str) -> Self {
        Self { path: Some(glob.to_owned()), ..Self::new(tool) }
    }

    /// Lets exactly this command run.
    #[must_use]
    pub fn for_command(argv: &[String]) -> Self {
        let command = argv.iter().map(|word| escaped(word)).collect();
        Self { command: Some(command), ..Self::new(Kind::Command.name()) }
    }

    /// Lets pages of this host be fetched.
    #[must_use]
    pub fn for_host(host: &str) -> Self {
        Self { host: Some(host.to_owned()), ..Self::new(Kind::Fetch.name()) }
    }

    /// Lets a server's tool be called, with exactly these arguments, or with any.
    #[must_use]
    pub fn for_arguments(tool: &str, arguments: Option<&Value>) -> Self {
        let arguments = arguments.map_or_else(|| "*".to_owned(), canonical);
        Self { arguments: Some(arguments), ..Self::new(tool) }
    }

    /// What is wrong with the rule. One that allows never fits then, and others fit whatever
    /// the tool does.
    #[must_use]
    pub fn flaw(&self) -> Option<String> {
        let subjects = [
            self.command.is_some(),
            self.path.is_some(),
            self.host.is_some(),
            self.arguments.is_some(),
        ];
        let subjects = subjects.into_iter().filter(|is_given| *is_given).count();
        if subjects > 1 {
            return Some("a rule has one of command, path, host and arguments".to_owned());
        }
        if self.decision == Decision::Allow {
            if self.tool == "*" {
                return Some("a rule that allows names its tool".to_owned());
            }
            if subjects == 0 {
                return Some("a rule that allows says what it allows".to_owned());
            }
        }
        if let Some(command) = &self.command {
            return self.command_flaw(command);
        }
        let glob = self.path.as_deref()?;
        matcher(glob).is_none().then(|| format!("{glob} is no glob"))
    }

    fn command_flaw(&self, command: &[String]) -> Option<String> {
        let program = command.first().map_or("", String::as_str);
        if program.is_empty() || program.contains('*') {
            return Some("a command's rule names its program".to_owned());
        }
        let rest = command.len().saturating_sub(1);
        if command.iter().take(rest).any(|word| word == "**") {
            return Some("** stands last".to_owned());
        }
        if self.decision == Decision::Allow && command::runs_others(command).is_some() {
            return Some(format!("{program} can run any other program, so no rule allows it"));
        }
        None
    }

    fn fits(&self, call: &Call, facts: &Facts) -> bool {
        if self.tool != "*" && self.tool != call.tool() {
            return false;
        }
        if self.flaw().is_some() {
            return self.decision != Decision::Allow;
        }
        if let Some(pattern) = &self.command {
            return fits_command(pattern, call, self.decision);
        }
        if let Some(glob) = &self.path {
            return fits_paths(glob, call, facts, self.decision);
        }
        if let Some(host) = &self.host {
            return matches!(call, Call::Fetch { url } if fits_host(host, url.host_str()));
        }
        if let Some(arguments) = &self.arguments {
            return match call {
                Call::Remote { arguments: given, .. } => {
                    arguments == "*" || *arguments == canonical(given)
                }
                _ => false,
            };
        }
        true
    }

    /// The rule in a few words.
    #[must_use]
    pub fn words(&self) -> String {
        let verb = match self.decision {
            Decision::Deny => "never",
            Decision::Ask => "ask before",
            Decision::Allow => "always",
        };
        let subject = match (&self.command, &self.path, &self.host, &self.arguments) {
            (Some(command), ..) => command_line(command).text,
            (_, Some(path), ..) => path.clone(),
            (_, _, Some(host), _) => host.clone(),
            (_, _, _, Some(arguments)) if arguments != "*" => arguments.clone(),
            _ => "anything".to_owned(),
        };
        format!("{verb} {} {subject}", self.tool)
    }
}

fn fits_command(pattern: &[String], call: &Call, decision: Decision) -> bool {
    let Call::Command { line, .. } = call else { return false };
    let argv = match line {
        CommandLine::Argv(argv) => argv,
        // What a shell makes of a line is not known: only what forbids or asks may guess.
        CommandLine::Shell(line) => {
            let program = pattern.first().map_or("", String::as_str);
            return decision != Decision::Allow && names_word(line, program);
        }
    };
    let (pattern, is_open) = match pattern.split_last() {
        Some((last, rest)) if last == "**" => (rest, true),
        _ => (pattern, false),
    };
    let has_length =
        if is_open { argv.len() >= pattern.len() } else { argv.len() == pattern.len() };
    has_length
        && pattern.iter().zip(argv).all(|(word, given)| word == "*" || unescaped(word) == given)
}

/// True when the line has the word in it, however it may be meant.
fn names_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !(c.is_alphanumeric() || "_-.+".contains(c))).any(|found| found == word)
}

/// All the files fit; or, for a rule that forbids or asks, one of them does.
fn fits_paths(glob: &str, call: &Call, facts: &Facts, decision: Decision) -> bool {
    if matches!(call, Call::Command { .. } | Call::Fetch { .. } | Call::Remote { .. }) {
        return false;
    }
    let Some(matcher) = matcher(glob) else { return false };
    let fits = |place: &Place| match &place.at {
        At::Inside(path) => {
            matcher.is_match(path)
                || facts.absolute(place).is_some_and(|path| matcher.is_match(path))
        }
        At::Outside(path) => matcher.is_match(path),
        At::Nowhere(_) => false,
    };
    match decision {
        Decision::Allow => !facts.places.is_empty() && facts.places.iter().all(fits),
        Decision::Deny | Decision::Ask => facts.places.iter().any(fits),
    }
}

fn fits_host(pattern: &str, host: Option<&str>) -> bool {
    let Some(host) = host else { return false };
    match pattern.strip_prefix("*.") {
        Some(parent) => host.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.')),
        None => pattern.eq_ignore_ascii_case(host),
    }
}

fn matcher(glob: &str) -> Option<GlobMatcher> {
    let glob = GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).build();
    // The flaw is told by whoever asks for it.
    glob.ok().map(|glob| glob.compile_matcher())
}

/// A word that stands for itself although it looks like a wildcard.
fn escaped(word: &str) -> String {
    if word.trim_start_matches('\\').trim_matches('*').is_empty() && word.contains('*') {
        format!("\\{word}")
    } else {
        word.to_owned()
    }
}

fn unescaped(word: &str) -> &str {
    match word.strip_prefix('\\') {
        Some(rest)
            if rest.trim_start_matches('\\').trim_matches('*').is_empty() && rest.contains('*') =>
        {
            rest
        }
        _ => word,
    }
}

/// A value as JSON with its keys in order, so that order means nothing.
fn canonical(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                let mut fields: Vec<_> = map.iter().map(|(k, v)| (k.clone(), sorted(v))).collect();
                fields.sort_by(|a, b| a.0.cmp(&b.0));
                Value::Object(fields.into_iter().collect())
            }
            Value::Array(list) => list.iter().map(sorted).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        }
    }
    sorted(value).to_string()
}
