//! What a model is told about the built-in tools.

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};

/// A tool as a model is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: Arc<str>,
    /// What it does.
    pub description: Arc<str>,
    /// Its arguments, as a JSON schema of an object. Only keywords that every provider
    /// takes are in it.
    pub schema: Value,
    /// Which tool it is.
    pub kind: Kind,
}

/// Which tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Reads a file.
    Read,
    /// Lists a folder.
    List,
    /// Finds files by name.
    Glob,
    /// Searches in files.
    Search,
    /// Writes a whole file.
    Write,
    /// Replaces text in a file.
    Edit,
    /// Applies a patch.
    Patch,
    /// Runs a program.
    Command,
    /// Fetches a page.
    Fetch,
    /// A tool that lives elsewhere.
    Remote,
}

/// What a tool can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Nothing.
    Looks,
    /// Files.
    Files,
    /// Who knows.
    Anything,
}

impl Kind {
    /// Those that are built in, in the order in which a model is told of them.
    pub const BUILT_IN: [Self; 9] = [
        Self::Read,
        Self::List,
        Self::Glob,
        Self::Search,
        Self::Write,
        Self::Edit,
        Self::Patch,
        Self::Command,
        Self::Fetch,
    ];

    /// The built-in tool of a name. `replace_in_file` is what the tag grammar calls an edit.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        if name == "replace_in_file" {
            return Some(Self::Edit);
        }
        Self::BUILT_IN.into_iter().find(|kind| kind.name() == name)
    }

    /// Its name; those that the tag grammar knows are called so there too.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read_file",
            Self::List => "list_files",
            Self::Glob => "glob",
            Self::Search => "search_files",
            Self::Write => "write_to_file",
            Self::Edit => "edit_file",
            Self::Patch => "apply_patch",
            Self::Command => "execute_command",
            Self::Fetch => "web_fetch",
            Self::Remote => "remote",
        }
    }

    /// What it can change. A page that is fetched may note that it was.
    #[must_use]
    pub fn effect(self) -> Effect {
        match self {
            Self::Read | Self::List | Self::Glob | Self::Search => Effect::Looks,
            Self::Write | Self::Edit | Self::Patch => Effect::Files,
            Self::Command | Self::Fetch | Self::Remote => Effect::Anything,
        }
    }
}

impl ToolSpec {
    /// The built-in tools.
    #[must_use]
    pub fn built_in() -> &'static [Self] {
        static SPECS: LazyLock<Vec<ToolSpec>> =
            LazyLock::new(|| Kind::BUILT_IN.into_iter().map(spec).collect());
        &SPECS
    }

    /// The schema for providers that hold a model to it: every argument is required, and
    /// null stands for one that is not given.
    #[must_use]
    pub fn strict_schema(&self) -> Value {
        let mut schema = self.schema.clone();
        let required = required(&schema);
        let Some(Value::Object(properties)) = schema.get_mut("properties") else { return schema };
        let all: Vec<Value> = properties.keys().map(|name| json!(name)).collect();
        for (name, property) in properties.iter_mut() {
            if !required.contains(name) {
                let description = property.get("description").cloned().unwrap_or_default();
                if let Value::Object(fields) = property {
                    fields.remove("description");
                }
                *property = json!({
                    "description": description,
                    "anyOf": [property.take(), {"type": "null"}],
                });
            }
        }
        schema["required"] = all.into();
        schema
    }
}

fn required(schema: &Value) -> Vec<String> {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn spec(kind: Kind) -> ToolSpec {
    let (description, schema) = match kind {
        Kind::Read => (READ, object(&["path"], &[PATH, START, END])),
        Kind::List => (LIST, object(&[], &[FOLDER, RECURSIVE])),
        Kind::Glob => (GLOB, object(&["pattern"], &[PATTERN, FOLDER])),
        Kind::Search => {
            (SEARCH, object(&["regex"], &[REGEX, SEARCHED, FILES, CONTEXT, IGNORE_CASE]))
        }
        Kind::Write => (WRITE, object(&["path", "content"], &[PATH, CONTENT])),
        Kind::Edit => (EDIT, object(&["path", "old_string", "new_string"], &[PATH, OLD, NEW, ALL])),
        Kind::Patch => (PATCH, object(&["input"], &[INPUT])),
        Kind::Command => (COMMAND, command()),
        Kind::Fetch => (FETCH, object(&["url"], &[ADDRESS])),
        Kind::Remote => ("", object(&[], &[])),
    };
    ToolSpec { name: kind.name().into(), description: description.into(), schema, kind }
}

/// Name, type and meaning of an argument.
type Property = (&'static str, &'static str, &'static str);

fn object(required: &[&str], properties: &[Property]) -> Value {
    let property = |(name, kind, meaning): &Property| {
        ((*name).to_owned(), json!({"type": kind, "description": meaning}))
    };
    let properties: Map<_, _> = properties.iter().map(property).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// The one argument of two forms.
fn command() -> Value {
    let mut schema = object(&["command"], &[WHERE, TIMEOUT]);
    let command = json!({
        "description": "The program and its arguments as a list, such as [\"git\", \"status\"]: \
            no shell reads it, so there are no pipes, globs, variables or redirections. \
            A text instead of a list is run by a shell, and the user is always asked first.",
        "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}],
    });
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let others = std::mem::take(properties);
        properties.insert("command".to_owned(), command);
        properties.extend(others);
    }
    schema
}

const READ: &str = "Read a file. Text comes with at most 2000 lines or 50 KB at a time; \
    read on with start_line. Pictures are shown.";
const LIST: &str = "List the files and folders in a folder. Folders end in a slash. \
    A recursive list leaves out what .gitignore names.";
const GLOB: &str = "Find files by name with a glob such as src/**/*.rs. \
    Leaves out what .gitignore names.";
const SEARCH: &str = "Search in files with a regular expression. Gives path, line number and \
    line of each match. Leaves out binary files and what .gitignore names.";
const WRITE: &str = "Write a file, with its folders where they are missing. \
    What the file held before is replaced.";
const EDIT: &str = "Replace text in a file. old_string must be exactly what stands there, with \
    its white space, and must occur once unless replace_all is set.";
const PATCH: &str = "Change several files at once by a patch: a unified diff, or the form \
    between \"*** Begin Patch\" and \"*** End Patch\". All of it is applied, or nothing.";
const COMMAND: &str = "Run a program in the workspace and wait for it. It gets no input and no \
    keys of the user's. Processes that it leaves behind are ended with it.";
const FETCH: &str = "Fetch a page over http or https and give its text. A redirect to another \
    host is reported, not followed.";

const PATH: Property = ("path", "string", "Path of the file, relative to the workspace.");
const START: Property = ("start_line", "integer", "First line to read, counted from 1.");
const END: Property = ("end_line", "integer", "Last line to read.");
const FOLDER: Property =
    ("path", "string", "Path of the folder, relative to the workspace. The workspace if left out.");
const RECURSIVE: Property = ("recursive", "boolean", "List what is in its folders too.");
const PATTERN: Property = ("pattern", "string", "The glob, relative to path.");
const REGEX: Property = ("regex", "string", "The regular expression, in Rust's syntax.");
const SEARCHED: Property =
    ("path", "string", "File or folder to search in. The workspace if left out.");
const FILES: Property = ("file_pattern", "string", "Search only in files that this glob fits.");
const CONTEXT: Property = ("context_lines", "integer", "Lines to show around each match.");
const IGNORE_CASE: Property = ("ignore_case", "boolean", "Take upper and lower case for the same.");
const CONTENT: Property = ("content", "string", "All that the file is to hold.");
const OLD: Property = ("old_string", "string", "The text to replace.");
const NEW: Property = ("new_string", "string", "The text to put in its place.");
const ALL: Property = ("replace_all", "boolean", "Replace every occurrence.");
const INPUT: Property = ("input", "string", "The patch.");
const WHERE: Property =
    ("cwd", "string", "Folder to run it in, relative to the workspace. The workspace if left out.");
const TIMEOUT: Property = ("timeout", "integer", "Seconds it may take. 120 if left out.");
const ADDRESS: Property = ("url", "string", "The address.");
