//! What config.toml says about tools, and what the user adds to it with a word.
//!
//! ```toml
//! [tools]
//! variables = ["DATABASE_URL"]  # commands see these, too
//!
//! [[tools.rule]]
//! decision = "allow"
//! tool = "execute_command"
//! command = ["cargo", "test", "**"]
//!
//! [mcpServers.time]
//! command = "mcp-server-time"
//! ```

use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::Deserialize as _;
use serde_json::Value;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table};

use crate::{
    app::{
        error::{Error, Result},
        settings::document,
    },
    engine::live::Keep,
    tools::{
        mcp::{ConfigWarning, McpConfig},
        policy::{Decision, Rule, visible},
    },
};

/// Rules in a settings file. Each is looked at for each call.
const MAX_RULES: usize = 4096;

/// What config.toml says about tools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Rules that hold until the user takes them back.
    pub rules: Vec<Rule>,
    /// Variables that commands see beyond the usual ones.
    pub variables: Vec<String>,
    /// Servers of tools.
    pub servers: McpConfig,
    /// What could not be used, a sentence each.
    pub warnings: Vec<String>,
}

impl Settings {
    /// Reads the file. An entry that cannot be used costs itself, with a warning; without a
    /// file there is nothing.
    ///
    /// # Errors
    /// When it cannot be read at all: what it forbids is not known then.
    pub fn read(path: &Path) -> Result<Self> {
        Ok(Self::of(document::read(path)?.as_table()))
    }

    fn of(table: &Table) -> Self {
        let mut settings = Self::default();
        let tools = table.get("tools").map(document::json);
        let tools = tools.as_ref();
        settings.read_rules(tools.and_then(|tools| tools.get("rule")));
        settings.read_variables(tools.and_then(|tools| tools.get("variables")));
        settings.read_servers(table.get("mcpServers").map(document::json));
        settings
    }

    fn read_rules(&mut self, rules: Option<&Value>) {
        let list = match rules {
            None => return,
            Some(Value::Array(list)) => list.as_slice(),
            Some(other) => std::slice::from_ref(other),
        };
        for (number, value) in (1..).zip(list) {
            let (rule, flaw) = rule(value);
            if number > MAX_RULES {
                self.warnings.push(format!("Rules beyond the first {MAX_RULES} are not used."));
                return;
            }
            self.rules.extend(rule);
            let warning = flaw.map(|flaw| format!("Rule {number} of the settings: {flaw}."));
            self.warnings.extend(warning);
        }
    }

    fn read_variables(&mut self, variables: Option<&Value>) {
        let Some(variables) = variables else { return };
        let names = variables.as_array().map_or(&[][..], Vec::as_slice);
        self.variables = names.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        if !variables.is_array() || self.variables.len() != names.len() {
            self.warnings.push("`tools.variables` of the settings is no list of names.".to_owned());
        }
    }

    fn read_servers(&mut self, servers: Option<Value>) {
        let Some(servers) = servers else { return };
        match McpConfig::read(servers) {
            Ok(config) => {
                self.warnings.extend(config.warnings.iter().map(server_warning));
                self.servers = config;
            }
            Err(_not_a_map) => {
                self.warnings.push("`mcpServers` of the settings is no table.".to_owned());
            }
        }
    }
}

fn server_warning(warning: &ConfigWarning) -> String {
    let ConfigWarning { server, message } = warning;
    let name = visible(server).text;
    if name.is_empty() {
        format!("Servers: {message}.")
    } else {
        format!("Server {name}: {message}.")
    }
}

/// A rule, and what is wrong with it. One that was meant to forbid or to ask does so for the
/// whole tool when it is not understood; one that was meant to allow allows nothing.
fn rule(value: &Value) -> (Option<Rule>, Option<String>) {
    match Rule::deserialize(value) {
        Ok(rule) => {
            let flaw = rule.flaw();
            (Some(rule), flaw)
        }
        Err(error) => {
            let tool = value.get("tool").and_then(Value::as_str).unwrap_or("*");
            let decision = match value.get("decision").and_then(Value::as_str) {
                Some("deny") => Some(Decision::Deny),
                Some("ask") => Some(Decision::Ask),
                _ => None,
            };
            let whole = decision.map(|decision| Rule {
                decision,
                tool: tool.to_owned(),
                command: None,
                path: None,
                host: None,
                arguments: None,
            });
            (whole, Some(visible(&error.to_string()).text))
        }
    }
}

/// Adds rules to the settings file as the user gives his word for them. Those of `known` are
/// there, or were when it was read: one that was taken out of the file since stays out.
pub(super) fn keeper(path: PathBuf, known: Vec<Rule>) -> Keep {
    let known = Mutex::new(known);
    Box::new(move |always: &[Rule]| {
        let mut known = known.lock();
        let new: Vec<_> = always.iter().filter(|rule| !known.contains(rule)).cloned().collect();
        match add_rules(&path, &new) {
            Ok(()) => known.extend(new),
            // It is tried again with the next one.
            Err(error) => tracing::warn!(%error, "a rule was not kept"),
        }
    })
}

/// Adds rules to a settings file, and changes nothing else in it. Those that it has are not
/// added again.
fn add_rules(path: &Path, rules: &[Rule]) -> Result<()> {
    document::edit(path, |document| {
        let there = Settings::of(document.as_table()).rules;
        let new: Vec<_> = rules.iter().filter(|rule| !there.contains(rule)).collect();
        let is_none = new.is_empty();
        if !is_none {
            insert(document, &new).ok_or_else(|| {
                Error::failed("its rules are no list", path.display().to_string())
            })?;
        }
        Ok(!is_none)
    })
}

/// None when the place of rules holds something else.
fn insert(document: &mut DocumentMut, rules: &[&Rule]) -> Option<()> {
    let place = place_of_rules(document)?;
    for rule in rules {
        let fields = fields(rule);
        match place {
            Item::ArrayOfTables(tables) => tables.push(fields.into_iter().collect()),
            Item::Value(toml_edit::Value::Array(array)) => {
                array.push(fields.into_iter().collect::<InlineTable>());
            }
            Item::None | Item::Value(_) | Item::Table(_) => return None,
        }
    }
    Some(())
}

/// Where rules stand in the settings, and where the first one will.
fn place_of_rules(document: &mut DocumentMut) -> Option<&mut Item> {
    let tools = document.entry("tools").or_insert_with(|| {
        let mut tools = Table::new();
        // Its heading alone would say nothing.
        tools.set_implicit(true);
        Item::Table(tools)
    });
    let is_inline = tools.is_inline_table();
    let tools = tools.as_table_like_mut()?;
    Some(tools.entry("rule").or_insert_with(|| match is_inline {
        true => Item::Value(Array::new().into()),
        false => Item::ArrayOfTables(ArrayOfTables::new()),
    }))
}

fn fields(rule: &Rule) -> Vec<(&'static str, toml_edit::Value)> {
    let Rule { decision, tool, command, path, host, arguments } = rule;
    let decision = match decision {
        Decision::Deny => "deny",
        Decision::Ask => "ask",
        Decision::Allow => "allow",
    };
    let mut fields = vec![("decision", decision.into()), ("tool", tool.as_str().into())];
    fields
        .extend(command.as_ref().map(|words| ("command", words.iter().collect::<Array>().into())));
    let texts = [("path", path), ("host", host), ("arguments", arguments)];
    fields
        .extend(texts.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?.into()))));
    fields
}
