//! From the scopes of a grammar to classes.

use std::collections::HashMap;

use syntect::parsing::Scope;

use super::Class;

/// Scopes that are looked at, from the innermost outward. Real ones are found in the
/// first few; grammars that nest without end must not make every token slower.
const DEPTH: usize = 24;

/// Classes of scopes that were met.
#[derive(Default)]
pub(super) struct Classes {
    known: HashMap<Scope, Option<Class>>,
}

impl Classes {
    /// The class of text inside these scopes, outermost first.
    pub(super) fn of(&mut self, scopes: &[Scope]) -> Class {
        let inward = scopes.iter().rev().take(DEPTH);
        let found = inward.enumerate().find_map(|(i, scope)| Some((i, self.scope(*scope)?)));
        match found {
            Some((i, Class::String)) if is_key(scopes, i) => Class::Attribute,
            Some((_, class)) => class,
            None => Class::Plain,
        }
    }

    fn scope(&mut self, scope: Scope) -> Option<Class> {
        *self.known.entry(scope).or_insert_with(|| class(&scope.build_string()))
    }
}

/// True when the string `depth` scopes inward from the innermost is the key of a mapping.
fn is_key(scopes: &[Scope], depth: usize) -> bool {
    let outward = scopes.iter().rev().skip(depth + 1);
    outward.take(2).any(|scope| {
        let name = scope.build_string();
        name.starts_with("meta.mapping.key") || name.starts_with("meta.structure.dictionary.key")
    })
}

/// The class that a scope stands for; none when the scope around it decides.
fn class(scope: &str) -> Option<Class> {
    let fits = |prefix: &str| {
        scope.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    RULES.iter().find(|(prefix, _)| fits(prefix)).and_then(|(_, class)| *class)
}

/// The first that fits decides, so special ones stand before general ones.
const RULES: &[(&str, Option<Class>)] = &[
    ("comment", Some(Class::Comment)),
    ("constant.numeric", Some(Class::Number)),
    ("constant.other.placeholder", Some(Class::Constant)),
    ("constant.other.symbol", Some(Class::String)),
    ("constant", Some(Class::Constant)),
    ("string", Some(Class::String)),
    ("punctuation.definition.tag", Some(Class::Punctuation)),
    ("punctuation.definition.generic", Some(Class::Punctuation)),
    ("punctuation.definition", None),
    ("punctuation.section.interpolation", Some(Class::Constant)),
    ("punctuation", Some(Class::Punctuation)),
    ("keyword.operator.word", Some(Class::Keyword)),
    ("keyword.operator.logical.python", Some(Class::Keyword)),
    ("keyword.operator", Some(Class::Operator)),
    ("keyword.other.unit", Some(Class::Number)),
    ("keyword", Some(Class::Keyword)),
    ("storage.type.annotation", Some(Class::Attribute)),
    ("storage", Some(Class::Keyword)),
    ("variable.function", Some(Class::Function)),
    ("variable.annotation", Some(Class::Attribute)),
    ("variable.language", Some(Class::Keyword)),
    ("variable.other.constant", Some(Class::Constant)),
    ("variable", Some(Class::Plain)),
    ("entity.name.function", Some(Class::Function)),
    ("entity.name.macro", Some(Class::Function)),
    ("entity.name.tag", Some(Class::Tag)),
    ("entity.name.table", Some(Class::Heading)),
    ("entity.name.section", Some(Class::Heading)),
    ("entity.name.constant", Some(Class::Constant)),
    ("entity.name.label", Some(Class::Constant)),
    ("entity.name", Some(Class::Type)),
    ("entity.other.inherited-class", Some(Class::Type)),
    ("entity.other", Some(Class::Attribute)),
    ("support.function", Some(Class::Function)),
    ("support.macro", Some(Class::Function)),
    ("support.constant", Some(Class::Constant)),
    ("support.type.property-name", Some(Class::Attribute)),
    ("support.type", Some(Class::Type)),
    ("support.class", Some(Class::Type)),
    ("support.module", Some(Class::Type)),
    ("meta.property-name", Some(Class::Attribute)),
    ("meta.annotation", Some(Class::Attribute)),
    ("meta.attribute", Some(Class::Attribute)),
    ("meta.interpolation", Some(Class::Plain)),
    ("meta.diff.header", Some(Class::Heading)),
    ("meta.diff.range", Some(Class::Function)),
    ("meta.diff.index", Some(Class::Comment)),
    ("markup.inserted", Some(Class::Inserted)),
    ("markup.deleted", Some(Class::Deleted)),
    ("markup.changed", Some(Class::Attribute)),
    ("markup.heading", Some(Class::Heading)),
    ("markup.raw", Some(Class::String)),
    ("markup.underline.link", Some(Class::String)),
    ("markup.quote", Some(Class::Comment)),
    // The language of an embedded piece begins anew, whatever stands around it.
    ("source", Some(Class::Plain)),
    ("text", Some(Class::Plain)),
];
