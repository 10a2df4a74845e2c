//! What a command may do without a question: what the [table](super::table) has.

use super::{
    Reason,
    facts::{At, Facts, GitConfig, Program, What},
    find, protected,
    table::{ROWS, RUN_OTHERS},
    visible::{hidden_in, visible},
};

/// What stands between commands in a shell's language, and means nothing without one.
const OPERATORS: &[&str] = &[
    ";", "&", "&&", "|", "||", "|&", "<", ">", ">>", "<<", "<<<", "&>", ">&", "2>", "2>>", "(", ")",
];

/// Why a command is asked about.
pub(super) fn reasons(argv: &[String], facts: &Facts, reasons: &mut Vec<Reason>) {
    super::outside(facts, reasons);
    for place in facts.places.iter().skip(1) {
        if matches!(place.at, At::Nowhere(_)) || matches!(place.what, What::Other(_)) {
            super::push(reasons, Reason::Unknown);
        }
        if facts.path_of(place).is_some_and(protected::is_private) {
            super::push(reasons, Reason::Private(place.asked.clone()));
        }
    }
    let name = argv.first().map_or("", String::as_str);
    if !name.is_ascii() {
        reasons.push(Reason::OddName(visible(name).text));
    }
    if let Some(what) = runs_others(argv) {
        reasons.push(Reason::RunsOthers(what));
        return;
    }
    match &facts.program {
        Program::Loose(path) if !name.contains(['/', '\\']) => {
            reasons.push(Reason::Planted(path.display().to_string()));
        }
        Program::NotFound => reasons.push(Reason::Runs(format!("{name} was not found"))),
        Program::Loose(_) | Program::Installed(_) => {}
    }
    match only_looks(argv) {
        Err(why) => reasons.push(Reason::Runs(why)),
        // The folder comes before the paths.
        Ok(paths) if paths.len() + 1 != facts.places.len() => reasons.push(Reason::Unknown),
        Ok(_) if name == "git" => git(&facts.git, reasons),
        Ok(_) => {}
    }
}

/// The paths among the arguments of a command that only looks. A command that is asked about
/// anyway has none: what its arguments mean is not known.
pub(super) fn paths(argv: &[String]) -> Vec<String> {
    only_looks(argv).unwrap_or_default()
}

fn git(config: &GitConfig, reasons: &mut Vec<Reason>) {
    match config {
        GitConfig::None | GitConfig::Plain => {}
        GitConfig::Runs(setting) => reasons.push(Reason::RunsOthers(format!(
            "The repository's setting {setting}, which git obeys,"
        ))),
        GitConfig::Unknown => reasons.push(Reason::Unknown),
    }
}

/// What in a command runs other programs, or acts as somebody else.
pub(super) fn runs_others(argv: &[String]) -> Option<String> {
    let (program, arguments) = argv.split_first()?;
    let name = base_name(program);
    if RUN_OTHERS.contains(&name.as_str()) {
        return Some(program.clone());
    }
    let any = |dangerous: fn(&str) -> bool| arguments.iter().find(|argument| dangerous(argument));
    let found = match name.as_str() {
        "git" => any(|a| {
            let word = a.split('=').next().unwrap_or_default();
            a.contains("ext::")
                || a.starts_with("-c")
                || a.starts_with("-O")
                || matches!(
                    word,
                    "--exec"
                        | "-x"
                        | "--exec-path"
                        | "--config-env"
                        | "--config"
                        | "--upload-pack"
                        | "-u"
                        | "--receive-pack"
                        | "--ext-diff"
                        | "--open-files-in-pager"
                        | "-O"
                        | "--template"
                        | "--git-dir"
                        | "--work-tree"
                        | "--namespace"
                        | "--remote"
                        | "foreach"
                        | "run"
                        | "filter-branch"
                        | "difftool"
                        | "mergetool"
                        | "config"
                        | "-i"
                        | "--interactive"
                        | "hook"
                        | "maintenance"
                        | "daemon"
                        | "instaweb"
                        | "send-email"
                        | "--textconv"
                        | "--filters"
                        | "--extcmd"
                        | "--tool"
                )
        }),
        "find" | "gfind" | "fd" | "fdfind" => any(|a| {
            ["-exec", "-ok", "-delete", "-fprint", "-fls", "-x", "-X", "--exec"]
                .iter()
                .any(|action| a.starts_with(action))
        }),
        "tar" | "gtar" | "bsdtar" | "cpio" => any(|a| {
            [
                "--to-command",
                "--checkpoint-action",
                "--use-compress-program",
                "-I",
                "--rsh-command",
                "--rmt-command",
                "--info-script",
                "--new-volume-script",
                "-F",
            ]
            .iter()
            .any(|flag| a.starts_with(flag))
        }),
        "rg" => any(|a| a.starts_with("--pre") || a.starts_with("--hostname-bin")),
        "sort" => any(|a| a.starts_with("--compress-prog")),
        "zip" => any(|a| a.starts_with("-TT") || a.starts_with("--unzip-command")),
        "sed" | "gsed" if only_looks(argv).is_err() => return Some("A script of sed".to_owned()),
        _ => None,
    };
    found.map(|argument| format!("{name} with {argument}"))
}

/// `python3.12` and `/usr/bin/Python.EXE` are `python`.
fn base_name(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    if RUN_OTHERS.contains(&bare) { bare.to_owned() } else { name.to_owned() }
}

/// The paths among the arguments, if the table has the command; else why it does not.
fn only_looks(argv: &[String]) -> Result<Vec<String>, String> {
    let (program, arguments) = argv.split_first().ok_or("there is no program")?;
    let is_bracket = |word: &str| program == "find" && matches!(word, "(" | ")");
    let is_talk = |word: &&String| is_shell_talk(word) && !is_bracket(word);
    if let Some(operator) = arguments.iter().find(is_talk) {
        return Err(format!("{operator} means nothing to {program}; no shell reads this"));
    }
    if program == "find" {
        return find::only_looks(arguments);
    }
    let mut arguments = arguments;
    if program == "git" && arguments.first().is_some_and(|word| word == "--no-pager") {
        arguments = arguments.get(1..).unwrap_or_default();
    }
    let (row, skipped) =
        row_of(program, arguments).ok_or_else(|| format!("{program} is not known to only look"))?;
    Reader::new(row).read(arguments.get(skipped..).unwrap_or_default())
}

fn is_shell_talk(word: &str) -> bool {
    OPERATORS.contains(&word)
        || word.starts_with(['>', '<', '`'])
        || word.starts_with("$(")
        || word.starts_with("2>")
        || word.starts_with("&>")
        || word.ends_with(';')
}

/// The row of a program, and how many arguments are part of its name.
fn row_of(program: &str, arguments: &[String]) -> Option<(&'static super::table::Row, usize)> {
    ROWS.iter().find_map(|row| {
        let mut words = row.0.split(' ');
        if words.next() != Some(program) {
            return None;
        }
        let mut given = arguments.iter();
        let mut skipped = 0;
        for word in words {
            if given.next().map(String::as_str) != Some(word) {
                return None;
            }
            skipped += 1;
        }
        Some((row, skipped))
    })
}

/// How a flag takes its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value(&'static str),
    ValueBehindEquals(&'static str),
}

struct Reader {
    flags: Vec<(&'static str, Takes)>,
    kinds: Vec<&'static str>,
    program: &'static str,
    operands: Vec<String>,
    paths: Vec<String>,
    /// The expression came as a flag, so no operand is one.
    has_expression: bool,
}

impl Reader {
    fn new(row: &'static super::table::Row) -> Self {
        Self {
            flags: row.1.split_whitespace().map(flag).collect(),
            kinds: row.2.split_whitespace().collect(),
            program: row.0,
            operands: Vec::new(),
            paths: Vec::new(),
            has_expression: false,
        }
    }

    fn read(mut self, arguments: &[String]) -> Result<Vec<String>, String> {
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            if argument == "--" {
                self.operands.extend(rest.by_ref().cloned());
            } else if argument.starts_with("--") {
                self.long(argument, &mut rest)?;
            } else if argument.len() > 1 && argument.starts_with('-') {
                self.short(argument, &mut rest)?;
            } else {
                self.operands.push(argument.clone());
            }
        }
        self.take_operands()?;
        Ok(self.paths)
    }

    fn takes(&self, name: &str) -> Result<Takes, String> {
        let found = self.flags.iter().find(|(flag, _)| *flag == name);
        found.map(|(_, takes)| *takes).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> String {
        format!("{} with {name} is not known to only look", self.program)
    }

    fn long<'a>(
        &mut self,
        argument: &str,
        rest: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), String> {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (argument, None),
        };
        // A listing of files has no expression: what would be one is a path.
        self.has_expression |= matches!(name, "--files" | "--type-list");
        match (self.takes(name)?, value) {
            (Takes::Nothing | Takes::ValueBehindEquals(_), None) => Ok(()),
            (Takes::Nothing, Some(_)) => Err(self.unknown(argument)),
            (Takes::Value(kind) | Takes::ValueBehindEquals(kind), Some(value)) => {
                self.value(name, kind, value)
            }
            (Takes::Value(kind), None) => {
                let value = rest.next().ok_or_else(|| self.unknown(name))?;
                self.value(name, kind, value)
            }
        }
    }

    /// `-la`, `-n5`, `-n 5`, `-20`.
    fn short<'a>(
        &mut self,
        argument: &str,
        rest: &mut impl Iterator<Item = &'a String>,
    ) -> Result<(), String> {
        let letters = argument.get(1..).unwrap_or_default();
        if letters.bytes().all(|b| b.is_ascii_digit()) && self.takes("-#").is_ok() {
            return Ok(());
        }
        let letters = letters.char_indices();
        for (at, letter) in letters {
            let name = format!("-{letter}");
            let Takes::Value(kind) = self.takes(&name)? else { continue };
            let attached = argument.get(1 + at + letter.len_utf8()..).unwrap_or_default();
            return match attached {
                "" => {
                    let value = rest.next().ok_or_else(|| self.unknown(&name))?;
                    self.value(&name, kind, value)
                }
                attached => self.value(&name, kind, attached),
            };
        }
        Ok(())
    }

    fn value(&mut self, flag: &str, kind: &str, value: &str) -> Result<(), String> {
        self.has_expression |= matches!(flag, "-e" | "--regexp");
        self.check(kind, value)
    }

    fn take_operands(&mut self) -> Result<(), String> {
        let operands = std::mem::take(&mut self.operands);
        let mut kinds = self.kinds.clone();
        if self.has_expression && kinds.first() == Some(&"regex") {
            kinds.remove(0);
        }
        let mut at = 0;
        for operand in &operands {
            let Some(kind) = kinds.get(at) else {
                return Err(format!("{} with {operand} is not known to only look", self.program));
            };
            self.check(kind.trim_end_matches(['*', '?']), operand)?;
            at += usize::from(!kind.ends_with('*'));
        }
        let is_missing = |kind: &&str| !kind.ends_with(['*', '?']);
        match kinds.get(at..).unwrap_or_default().iter().find(|kind| is_missing(kind)) {
            // Left without an expression, the program says how it is used, and ends.
            Some(&"regex") | None => Ok(()),
            Some(_) => Err(format!("{} lacks an operand", self.program)),
        }
    }

    fn check(&mut self, kind: &str, value: &str) -> Result<(), String> {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let is_fine = match kind {
            "path" => is_plain_path(value) && !climbs_in_git(self.program, value),
            "number" => digits(value),
            "offset" => digits(value.trim_start_matches(['+', '-'])),
            "format" => value.starts_with('+'),
            "print" => prints_lines(value),
            // A regular expression with `|` and `$` is what it is for.
            "text" | "regex" => hidden_in(value) == 0,
            _ => false,
        };
        if !is_fine {
            return Err(format!("{} with {value} is not known to only look", self.program));
        }
        if kind == "path" {
            self.paths.push(value.to_owned());
        }
        Ok(())
    }
}

/// A path without what a shell would read into it. `-` is the standard input, which is empty.
fn is_plain_path(path: &str) -> bool {
    hidden_in(path) == 0
        && !path.contains([';', '&', '|', '<', '>', '$', '(', ')', '{', '}', '`', '\n', '\t'])
        && !path.starts_with('~')
}

/// `HEAD:../x` is a path behind the colon.
fn climbs_in_git(program: &str, path: &str) -> bool {
    program.starts_with("git ") && path.contains(':') && path.contains("..")
}

/// `5p`, `5,20p`, `5,$p`.
fn prints_lines(script: &str) -> bool {
    let Some(lines) = script.strip_suffix('p') else { return false };
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match lines.split_once(',') {
        Some((from, to)) => number(from) && (number(to) || to == "$"),
        None => number(lines) || lines == "$",
    }
}

fn flag(text: &'static str) -> (&'static str, Takes) {
    let behind = |at: usize| text.get(at + 1..).unwrap_or_default();
    match text.find([':', '=']) {
        Some(at) if text.as_bytes().get(at) == Some(&b':') => {
            (text.get(..at).unwrap_or_default(), Takes::Value(behind(at)))
        }
        Some(at) => (text.get(..at).unwrap_or_default(), Takes::ValueBehindEquals(behind(at))),
        None => (text, Takes::Nothing),
    }
}
