//! What a presenter goes by.

use std::{collections::BTreeMap, sync::Arc};

use super::intake::Dialect;
use crate::markup::Vocabulary;

/// What a presenter goes by.
#[derive(Clone, Debug)]
pub struct Setup {
    /// How the model calls its tools.
    pub dialect: Dialect,
    /// The tools there are, by name; a call of any other is answered with an error.
    pub tools: BTreeMap<Arc<str>, Touch>,
    /// How many calls of one reply may run.
    pub mode: ToolMode,
    /// Whether files may be changed.
    pub planning: Planning,
}

impl Default for Setup {
    /// Native calls, several a reply, of no tools.
    fn default() -> Self {
        Self {
            dialect: Dialect::Native,
            tools: BTreeMap::new(),
            mode: ToolMode::Parallel,
            planning: Planning::Off,
        }
    }
}

/// What a tool can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Touch {
    /// Nothing: it need not wait for a checkpoint.
    Nothing,
    /// Files: it is not for planning.
    Files,
    /// Who knows.
    Anything,
}

/// The tools that the tag grammar has names for, and what they can change.
#[must_use]
pub fn tag_tools() -> BTreeMap<Arc<str>, Touch> {
    let touch = |name: &Arc<str>| match &**name {
        "list_files"
        | "read_file"
        | "search_files"
        | "list_code_definition_names"
        | "browser_action"
        | "ask_followup_question"
        | "web_search"
        | "web_fetch"
        | "use_skill"
        | "use_subagents" => Touch::Nothing,
        "write_to_file" | "replace_in_file" | "new_rule" | "apply_patch" => Touch::Files,
        _ => Touch::Anything,
    };
    Vocabulary::default().tools().map(|name| (Arc::clone(name), touch(name))).collect()
}

/// How many calls of one reply may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolMode {
    /// One; what comes behind it in the reply is not shown.
    Serial,
    /// All, in order.
    Parallel,
}

/// Whether files may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Planning {
    /// They may.
    Off,
    /// The model only plans.
    Strict,
}
