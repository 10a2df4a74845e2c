//! The names that make a tag.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::Arc,
};

use super::trim::trim;

/// Longest name that can be a tag, in bytes.
pub const MAX_NAME_BYTES: usize = 128;

/// The tool and parameter names that the grammar knows.
///
/// Invariant: no name is empty, longer than [`MAX_NAME_BYTES`], begins with `/`, or holds
/// `<` or `>`; so a tag contains exactly one `<`, at its start, and one `>`, at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    tools: BTreeSet<Arc<str>>,
    dynamic: BTreeMap<Box<str>, BTreeSet<Arc<str>>>,
}

impl Default for Vocabulary {
    /// The built-in tools and no dynamic ones.
    fn default() -> Self {
        let tools = TOOLS.iter().copied().map(Arc::from).collect();
        Self { tools, dynamic: BTreeMap::new() }
    }
}

impl Vocabulary {
    /// Replaces the dynamic tool names of a namespace.
    ///
    /// Names are trimmed; those that cannot be a tag are left out.
    pub fn register<'a>(
        &mut self,
        namespace: &str,
        names: impl IntoIterator<Item = &'a str>,
    ) -> &mut Self {
        let names = names.into_iter().map(trim).filter(|name| can_be_tag(name));
        self.dynamic.insert(namespace.into(), names.map(Arc::from).collect());
        let dynamic = self.dynamic.values().flatten().map(Arc::clone);
        self.tools = TOOLS.iter().copied().map(Arc::from).chain(dynamic).collect();
        self
    }

    /// The tool of exactly this name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Arc<str>> {
        self.tools.get(name)
    }

    /// True when some tool's name begins with `prefix`.
    #[must_use]
    pub fn has_tool_prefix(&self, prefix: &str) -> bool {
        let from = (Bound::Included(prefix), Bound::Unbounded);
        self.tools.range::<str, _>(from).next().is_some_and(|name| name.starts_with(prefix))
    }

    /// True when `name` is that of a parameter.
    #[must_use]
    pub fn has_parameter(name: &str) -> bool {
        parameter(name).is_some()
    }

    /// Every tool name, in alphabetical order.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<str>> {
        self.tools.iter()
    }
}

/// The parameter of exactly this name. Any parameter is accepted inside any tool.
#[must_use]
pub(super) fn parameter(name: &str) -> Option<&'static str> {
    PARAMETERS.iter().copied().find(|parameter| *parameter == name)
}

/// True when some parameter's name begins with `prefix`.
#[must_use]
pub(super) fn has_parameter_prefix(prefix: &str) -> bool {
    PARAMETERS.iter().any(|parameter| parameter.starts_with(prefix))
}

fn can_be_tag(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_NAME_BYTES
        && !name.starts_with('/')
        && !name.contains(['<', '>'])
}

const TOOLS: [&str; 27] = [
    "ask_followup_question",
    "attempt_completion",
    "execute_command",
    "replace_in_file",
    "read_file",
    "write_to_file",
    "search_files",
    "list_files",
    "list_code_definition_names",
    "browser_action",
    "use_mcp_tool",
    "access_mcp_resource",
    "load_mcp_documentation",
    "new_task",
    "plan_mode_respond",
    "act_mode_respond",
    "focus_chain",
    "web_fetch",
    "web_search",
    "condense",
    "summarize_task",
    "report_bug",
    "new_rule",
    "apply_patch",
    "generate_explanation",
    "use_skill",
    "use_subagents",
];

const PARAMETERS: [&str; 45] = [
    "command",
    "requires_approval",
    "path",
    "absolutePath",
    "content",
    "diff",
    "regex",
    "file_pattern",
    "recursive",
    "action",
    "url",
    "coordinate",
    "text",
    "query",
    "allowed_domains",
    "blocked_domains",
    "prompt",
    "server_name",
    "tool_name",
    "arguments",
    "uri",
    "question",
    "options",
    "response",
    "result",
    "context",
    "title",
    "what_happened",
    "steps_to_reproduce",
    "api_request_output",
    "additional_context",
    "needs_more_exploration",
    "task_progress",
    "timeout",
    "input",
    "from_ref",
    "to_ref",
    "skill_name",
    "prompt_1",
    "prompt_2",
    "prompt_3",
    "prompt_4",
    "prompt_5",
    "start_line",
    "end_line",
];
