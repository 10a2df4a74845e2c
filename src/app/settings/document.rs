//! config.toml as a document: read with the place of everything, edited in place. Comments,
//! order and what is not known here survive an edit.

use std::{ops::Range, path::Path};

use parking_lot::Mutex;
use serde_json::{Map, Value};
use toml_edit::{Document, DocumentMut, Item, KeyMut, RawString, Table, TableLike};

use crate::app::{
    error::{Error, Result},
    private_file,
};

/// Bytes of a settings file.
const MAX_SETTINGS: u64 = 8 << 20;

/// Edits of this process come one after the other: each begins with what the one before left.
static EDITING: Mutex<()> = Mutex::new(());

/// Reads the file, with the place of everything in it; an empty document where there is no
/// file.
///
/// # Errors
/// When it cannot be read, or is no TOML.
pub(in crate::app) fn read(path: &Path) -> Result<Document<String>> {
    let text = private_file::read(path, MAX_SETTINGS)
        .map_err(|error| Error::io("cannot read the settings", &error, path))?;
    let text = text.unwrap_or_default();
    // The error holds the text, of which only a place is said.
    Document::parse(text.clone()).map_err(|error| {
        let words = error.message().lines().next().unwrap_or_default().to_owned();
        let place = match error.span() {
            Some(span) => format!("{}:{}", path.display(), line_of(&text, &span)),
            None => path.display().to_string(),
        };
        Error::failed(format!("the settings are not valid TOML: {words}"), place)
    })
}

/// Changes the file, whole or not at all, for the user alone. `change` says whether there is
/// something to write.
///
/// # Errors
/// When it cannot be read or written, is no TOML, or `change` fails.
pub(in crate::app) fn edit(
    path: &Path,
    change: impl FnOnce(&mut DocumentMut) -> Result<bool>,
) -> Result<()> {
    let _others_wait = EDITING.lock();
    let mut document = read(path)?.into_mut();
    if !change(&mut document)? {
        return Ok(());
    }
    private_file::replace(path, document.to_string().as_bytes())
        .map_err(|error| Error::io("cannot write the settings", &error, path))
}

/// The line of a place, counted from 1.
pub(super) fn line_of(text: &str, span: &Range<usize>) -> u32 {
    let before = text.as_bytes().get(..span.start).unwrap_or_default();
    let line = 1 + memchr::memchr_iter(b'\n', before).count();
    u32::try_from(line).unwrap_or(u32::MAX)
}

/// Puts a value in the place of the one before, with the comment behind it, or at the end of
/// its table. None when the table is none.
pub(super) fn set(
    document: &mut DocumentMut,
    table: &str,
    key: &str,
    mut value: toml_edit::Value,
) -> Option<()> {
    if !document.contains_key(table) {
        add_table(document, table);
    }
    let table = document.get_mut(table)?.as_table_like_mut()?;
    match table.get_mut(key) {
        Some(Item::Value(before)) => {
            *value.decor_mut() = before.decor().clone();
            *before = value;
        }
        Some(_) | None => {
            table.insert(key, Item::Value(value));
        }
    }
    Some(())
}

/// Adds a table below everything that is there, also below what was said at the end.
fn add_table(document: &mut DocumentMut, name: &str) {
    let end = document.trailing().as_str().unwrap_or_default().to_owned();
    let gap = if document.is_empty() && end.is_empty() { "" } else { "\n" };
    let mut table = Table::new();
    table.decor_mut().set_prefix(format!("{end}{gap}"));
    document.insert(name, Item::Table(table));
    document.set_trailing("");
}

/// Takes a value out. Comments above it stay: they go to what stands below. False when there
/// was none.
pub(super) fn remove(document: &mut DocumentMut, table: &str, key: &str) -> bool {
    let Some(values) = document.get_mut(table).and_then(Item::as_table_like_mut) else {
        return false;
    };
    let comments = comments_above(values, key);
    let below = values.iter().skip_while(|(name, _)| *name != key).nth(1);
    let below = below.map(|(name, _)| name.to_owned());
    if values.remove(key).is_none() {
        return false;
    }
    if let Some(comments) = comments {
        let key = below.as_deref().and_then(|name| values.key_mut(name));
        match key {
            Some(mut key) => prepend(&mut key, &comments),
            None => {
                let last = document.trailing().as_str().unwrap_or_default().to_owned();
                document.set_trailing(format!("{comments}{last}"));
            }
        }
    }
    true
}

/// What stands above a key, if it says something.
fn comments_above(table: &dyn TableLike, key: &str) -> Option<String> {
    let above = table.key(key)?.leaf_decor().prefix().and_then(RawString::as_str)?;
    above.contains('#').then(|| above.to_owned())
}

fn prepend(key: &mut KeyMut<'_>, comments: &str) {
    let decor = key.leaf_decor_mut();
    let there = decor.prefix().and_then(RawString::as_str).unwrap_or_default();
    let all = format!("{comments}{there}");
    decor.set_prefix(all);
}

/// A part of the settings, as data without its spelling.
pub(in crate::app) fn json(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => plain(value),
        Item::Table(table) => object(table.iter().map(|(key, item)| (key, json(item)))),
        Item::ArrayOfTables(tables) => {
            let table = |table: &Table| object(table.iter().map(|(key, item)| (key, json(item))));
            tables.iter().map(table).collect()
        }
    }
}

fn plain(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Float(number) => (*number.value()).into(),
        toml_edit::Value::Boolean(flag) => (*flag.value()).into(),
        toml_edit::Value::Datetime(time) => time.value().to_string().into(),
        toml_edit::Value::Array(array) => array.iter().map(plain).collect(),
        toml_edit::Value::InlineTable(table) => {
            object(table.iter().map(|(key, value)| (key, plain(value))))
        }
    }
}

fn object<'a>(fields: impl Iterator<Item = (&'a str, Value)>) -> Value {
    Value::Object(fields.map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
}
