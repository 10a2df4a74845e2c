//! Reading config.toml: everything by itself, so that a bad entry costs itself.

use toml_edit::{Document, Item, TableLike};

use super::{
    Flaw, Place, Settings, document, named,
    table::{Spec, TABLE},
    value::Value,
};
use crate::tools::policy::visible;

/// Tables whose keys are known here.
const OWN: &[&str] = &["appearance", "composer", "notifications", "chat"];
/// What other parts of the program read.
const OTHERS: &[&str] = &["tools", "mcpServers", "export", "providers"];
/// Keys beside settings in a table of [`OWN`].
const UNKNOWN_MAX: usize = 200;

/// What a document says.
pub(super) fn settings(document: &Document<String>) -> Settings {
    let mut reader = Reader { text: document.raw(), found: Settings::default() };
    for (name, item) in document.iter() {
        if OWN.contains(&name) {
            reader.table(name, item);
        } else if name == "providers" {
            reader.providers(item);
        } else if !OTHERS.contains(&name) {
            let line = reader.line(document.key(name).and_then(toml_edit::Key::span), item);
            reader.unknown(line, name);
        }
    }
    reader.found
}

pub(super) struct Reader<'a> {
    text: &'a str,
    pub(super) found: Settings,
}

impl Reader<'_> {
    fn table(&mut self, name: &str, item: &Item) {
        let Some(table) = item.as_table_like() else {
            let line = self.line(None, item);
            return self.flaw(line, name, "is no table");
        };
        for (key, item) in table.iter() {
            let line = self.line_of(table, key, item);
            let spec = TABLE.iter().find(|spec| spec.table == name && spec.key == key);
            match spec {
                Some(spec) => self.setting(spec, line, item),
                None => self.unknown(line, &format!("{name}.{key}")),
            }
        }
    }

    fn setting(&mut self, spec: &Spec, line: u32, item: &Item) {
        match Value::read(spec.kind, &document::json(item)) {
            Ok(value) => {
                self.found.values.insert(spec.setting, value);
            }
            Err(words) => self.flaw(line, &spec.path(), &words),
        }
    }

    fn providers(&mut self, item: &Item) {
        let Some(table) = item.as_table_like() else {
            let line = self.line(None, item);
            return self.flaw(line, "providers", "is no table");
        };
        let mut providers = Vec::new();
        for (name, item) in table.iter() {
            providers.extend(named::read(self, table, name, item));
        }
        self.found.providers = providers.into();
    }

    /// Notes an entry that cannot be used.
    pub(super) fn flaw(&mut self, line: u32, key: &str, words: &str) {
        let key = visible(key).text;
        self.found.flaws.push(Flaw { place: Place { line, key }, words: words.to_owned() });
    }

    /// Notes a key that nothing here knows.
    pub(super) fn unknown(&mut self, line: u32, key: &str) {
        if self.found.unknown.len() < UNKNOWN_MAX {
            self.found.unknown.push(Place { line, key: visible(key).text });
        }
    }

    /// The line of a key of a table.
    pub(super) fn line_of(&self, table: &dyn TableLike, key: &str, item: &Item) -> u32 {
        self.line(table.key(key).and_then(toml_edit::Key::span), item)
    }

    fn line(&self, key: Option<std::ops::Range<usize>>, item: &Item) -> u32 {
        let span = key.or_else(|| item.span());
        span.map_or(1, |span| document::line_of(self.text, &span))
    }
}
