//! From the word behind a fence to the grammar that is meant.

use syntect::parsing::{SyntaxReference, SyntaxSet};

/// Longer words are not names of languages.
const NAME_BYTES: usize = 64;

/// How code is to be read.
pub(super) enum Grammar<'a> {
    /// By a grammar.
    Syntax(&'a SyntaxReference),
    /// As a terminal session: commands behind a prompt, and what they printed.
    Console(&'a SyntaxReference),
}

/// True for words that say "no language", so that nobody has to be asked.
pub(super) fn is_plain(language: &str) -> bool {
    matches!(name(language).as_str(), "" | "text" | "txt" | "plain" | "plaintext" | "none")
}

/// The grammar of a language, by its name, an alias or a file name.
pub(super) fn find<'a>(syntaxes: &'a SyntaxSet, language: &str) -> Option<Grammar<'a>> {
    let name = name(language);
    if name.is_empty() {
        return None;
    }
    let is_console = matches!(
        name.as_str(),
        "console" | "shell-session" | "shellsession" | "sh-session" | "bash-session" | "terminal"
    );
    if is_console {
        return syntaxes.find_syntax_by_extension("sh").map(Grammar::Console);
    }
    let extension = || name.rsplit_once('.').map(|(_, extension)| extension);
    by_token(syntaxes, &name).or_else(|| by_token(syntaxes, extension()?)).map(Grammar::Syntax)
}

fn by_token<'a>(syntaxes: &'a SyntaxSet, token: &str) -> Option<&'a SyntaxReference> {
    let token = alias(token);
    syntaxes.find_syntax_by_token(token).filter(|syntax| syntax.name != "Plain Text")
}

/// The name in what was written: `rust,ignore`, `{.python}`, `language-js`, `a/b.rs`.
fn name(language: &str) -> String {
    let word = language.trim_start_matches(['{', '.', ' ']);
    let word = word.split([',', '{', '}', ' ', '\t', ';']).next().unwrap_or_default();
    let word = word.rsplit(['/', '\\', ':']).next().unwrap_or_default();
    let word =
        word.strip_prefix("language-").or_else(|| word.strip_prefix("lang-")).unwrap_or(word);
    if word.len() > NAME_BYTES { String::new() } else { word.to_lowercase() }
}

/// Names in use whose grammar goes by another.
fn alias(name: &str) -> &str {
    match name {
        "jsonc" | "json5" | "jsonl" | "ndjson" | "geojson" | "webmanifest" | "ipynb" => "json",
        // TypeScript's own grammar compiles to 100 MB; JavaScript's reads all but its types.
        "ts" | "typescript" | "mts" | "cts" | "tsx" | "jsx" | "react" | "typescriptreact"
        | "javascriptreact" | "mjs" | "cjs" | "node" | "ecmascript" => "js",
        "shell" | "shellscript" | "ksh" | "posix" => "sh",
        "python3" | "py2" | "pycon" | "ipython" | "starlark" | "bzl" => "py",
        "csharp" | "c#" | "dotnet" => "cs",
        "fsharp" => "f#",
        "cplusplus" | "cuda" | "cu" | "ino" | "arduino" => "cpp",
        "objc" | "objectivec" => "objective-c",
        "golang" => "go",
        "gomod" => "go.mod",
        "rustlang" => "rs",
        "docker" | "containerfile" => "dockerfile",
        "elisp" | "emacs-lisp" | "common-lisp" => "lisp",
        "scheme" => "scm",
        "viml" | "vimscript" => "vim",
        "protobuf3" | "proto3" => "proto",
        "hcl2" | "opentofu" => "tf",
        "udiff" | "gitdiff" => "diff",
        "postgresql" | "postgres" | "psql" | "mysql" | "sqlite" | "plsql" | "tsql" => "sql",
        "xhtml" | "htmx" => "html",
        "svg" | "plist" | "xsl" => "xml",
        "batch" => "bat",
        "mdx" | "gfm" => "md",
        "dotenv" => ".env",
        "nasm" | "assembly" | "x86asm" => "asm",
        "ocaml-interface" => "mli",
        "conf" | "properties" => "ini",
        other => other,
    }
}
