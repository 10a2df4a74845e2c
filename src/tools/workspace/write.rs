//! Writing: at once or not at all, and so that it can be undone.

use std::{
    fs::File,
    hash::{BuildHasher as _, RandomState},
    io::{self, Read as _, Write as _},
    sync::Arc,
};

use cap_std::fs::Dir;
use sha2::{Digest as _, Sha256};

use super::{
    Missing, Workspace,
    encoding::{self, Encoding},
    handle::{self, FoundKind},
    words,
};
use crate::tools::{
    call::Call,
    edit,
    output::FileChange,
    patch::{self, Action},
    policy::{At, Place},
};

/// Bytes of a file that is edited.
const MAX_EDITED: u64 = 16 * 1024 * 1024;
/// Bytes of the files that one call changes, before and after.
const MAX_CHANGED: usize = 64 * 1024 * 1024;

/// What a file's content is known by.
pub(in crate::tools) type Digest = [u8; 32];

/// A change of one file, ready to be made.
pub(in crate::tools) struct Change {
    place: Place,
    moved_to: Option<Place>,
    before: Option<Content>,
    after: Option<Vec<u8>>,
    shown: FileChange,
}

/// What a file held.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Content {
    bytes: Arc<[u8]>,
    mode: u32,
}

/// How to undo a change of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Undo {
    place: Place,
    before: Option<Content>,
    /// What it must hold, so that nobody's later work is undone with it.
    after: Option<Digest>,
}

impl Undo {
    /// The file, as the call named it.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.place.asked
    }

    /// What the file held before; none if it was not there.
    #[must_use]
    pub fn before(&self) -> Option<&Arc<[u8]>> {
        self.before.as_ref().map(|content| &content.bytes)
    }
}

pub(in crate::tools) fn digest(bytes: &[u8]) -> Digest {
    Sha256::digest(bytes).into()
}

impl Change {
    /// The change as it is shown.
    pub(in crate::tools) fn shown(&self) -> &FileChange {
        &self.shown
    }
}

impl Workspace {
    /// What a call would change. Changes nothing.
    ///
    /// # Errors
    ///
    /// When it cannot be done; in words for the model.
    pub(in crate::tools) fn plan(
        &self,
        call: &Call,
        places: &[Place],
    ) -> Result<Vec<Change>, String> {
        let changes = match (call, places) {
            (Call::Write { content, .. }, [place]) => vec![self.plan_write(place, content)?],
            (Call::Edit { edits, .. }, [place]) => {
                vec![self.plan_update(place, None, |text| {
                    edit::replace(text, edits).map_err(|error| error.to_string())
                })?]
            }
            (Call::Patch { patch }, places) => self.plan_patch(patch, places)?,
            _ => return Err("the call changes no file".to_owned()),
        };
        let bytes = |change: &Change| {
            change.before.as_ref().map_or(0, |content| content.bytes.len())
                + change.after.as_ref().map_or(0, Vec::len)
        };
        if changes.iter().map(bytes).sum::<usize>() > MAX_CHANGED {
            return Err("the files are too large to be changed at once".to_owned());
        }
        Ok(changes)
    }

    fn plan_write(&self, place: &Place, content: &str) -> Result<Change, String> {
        let before = self.content(place)?;
        // A file keeps its encoding, if it has one that is known.
        let encoding = before
            .as_ref()
            .and_then(|content| encoding::decode(&content.bytes))
            .map_or(Encoding::Utf8, |(_, encoding)| encoding);
        let after = encoding::encode(content, encoding);
        Ok(change(place, None, before, Some((after, content))))
    }

    fn plan_update(
        &self,
        place: &Place,
        moved_to: Option<&Place>,
        update: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<Change, String> {
        let failed = |why: &str| format!("{}: {why}", place.asked);
        let before = self.content(place)?.ok_or_else(|| failed("there is no such file"))?;
        let (text, encoding) = encoding::decode(&before.bytes).ok_or_else(|| {
            failed("it is not text in UTF-8 or UTF-16, and an edit would damage it")
        })?;
        let text = update(&text).map_err(|why| failed(&why))?;
        let after = encoding::encode(&text, encoding);
        Ok(change(place, moved_to, Some(before), Some((after, &text))))
    }

    fn plan_patch(&self, patch: &str, places: &[Place]) -> Result<Vec<Change>, String> {
        let files = patch::parse(patch).map_err(|error| error.to_string())?;
        let mut places = places.iter();
        let mut changes = Vec::with_capacity(files.len());
        for file in &files {
            let place = places.next().ok_or("the patch names more files than were judged")?;
            let failed = |why: &str| format!("{}: {why}", place.asked);
            changes.push(match &file.action {
                Action::Add(content) => {
                    if self.content(place)?.is_some() {
                        return Err(failed("the patch adds this file, but it is there already"));
                    }
                    self.plan_write(place, content)?
                }
                Action::Delete => {
                    let before = self.content(place)?;
                    let before = before.ok_or_else(|| failed("there is no such file"))?;
                    change(place, None, Some(before), None)
                }
                Action::Update { moved_to, hunks } => {
                    let target = match moved_to {
                        Some(_) => Some(places.next().ok_or("a target was not judged")?),
                        None => None,
                    };
                    if let Some(target) = target
                        && self.content(target)?.is_some()
                    {
                        return Err(format!("{}: there is a file already", target.asked));
                    }
                    self.plan_update(place, target, |text| {
                        patch::apply(text, hunks).map_err(|error| error.to_string())
                    })?
                }
            });
        }
        Ok(changes)
    }

    /// What a file holds; none if it is not there.
    fn content(&self, place: &Place) -> Result<Option<Content>, String> {
        let failed = |error: &io::Error| format!("{}: {}", place.asked, words(error));
        let opened = self
            .parent(&place.at, Missing::Fail)
            .and_then(|(dir, name)| handle::open_file(&dir, name));
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(&error)),
        };
        content_of(file, &place.asked)
    }

    /// Makes the changes, all or none, and says how to undo them.
    ///
    /// # Errors
    ///
    /// When one cannot be made; those before it are undone. In words for the model.
    pub(in crate::tools) fn make(&self, changes: Vec<Change>) -> Result<Vec<Undo>, String> {
        let mut undo = Vec::with_capacity(changes.len());
        for change in changes {
            if let Err(why) = self.make_one(&change, &mut undo) {
                let failed: Vec<String> =
                    undo.iter().rev().filter_map(|undo| self.undo(undo).err()).collect();
                let note = if failed.is_empty() {
                    String::new()
                } else {
                    format!("; undoing what was done failed too: {}", failed.join("; "))
                };
                return Err(format!("{why}{note}"));
            }
        }
        Ok(undo)
    }

    fn make_one(&self, change: &Change, undo: &mut Vec<Undo>) -> Result<(), String> {
        let Change { place, moved_to, before, after, .. } = change;
        let mode = before.as_ref().map(|content| content.mode);
        if let Some(target) = moved_to {
            let bytes = after.as_deref().unwrap_or_default();
            self.replace(target, None, bytes, mode)?;
            undo.push(Undo { place: target.clone(), before: None, after: Some(digest(bytes)) });
        }
        let new = after.as_deref().filter(|_| moved_to.is_none());
        match new {
            Some(bytes) => {
                self.replace(place, before.as_ref().map(|c| digest(&c.bytes)), bytes, mode)?;
            }
            None => self.remove(place, before.as_ref())?,
        }
        undo.push(Undo { place: place.clone(), before: before.clone(), after: new.map(digest) });
        Ok(())
    }

    /// Puts a file's former content back.
    ///
    /// # Errors
    ///
    /// When the file is not as the change left it, or cannot be written; in words.
    pub fn undo(&self, undo: &Undo) -> Result<(), String> {
        let now = self.content(&undo.place)?;
        if now.as_ref().map(|content| digest(&content.bytes)) != undo.after {
            return Err(format!("{} was changed since", undo.place.asked));
        }
        match &undo.before {
            Some(before) => self.replace(&undo.place, undo.after, &before.bytes, Some(before.mode)),
            None => self.remove(&undo.place, now.as_ref()),
        }
    }

    /// Replaces a file that still holds what is expected.
    fn replace(
        &self,
        place: &Place,
        expected: Option<Digest>,
        bytes: &[u8],
        mode: Option<u32>,
    ) -> Result<(), String> {
        let failed = |error: &io::Error| format!("{}: {}", place.asked, words(error));
        let (dir, name) = self.parent(&place.at, Missing::Make).map_err(|e| failed(&e))?;
        let temporary = temporary_name();
        let written = write_new(&dir, &temporary, bytes, mode)
            .map_err(|error| failed(&error))
            .and_then(|()| still_holds(&dir, name, expected, &place.asked))
            .and_then(|()| {
                handle::rename(&dir, &temporary, &dir, name).map_err(|error| failed(&error))
            });
        if written.is_err() && handle::look(&dir, &temporary).is_ok() {
            // The error that is told already is the one that matters.
            drop(handle::remove(&dir, &temporary));
        }
        written
    }

    fn remove(&self, place: &Place, before: Option<&Content>) -> Result<(), String> {
        let failed = |error: &io::Error| format!("{}: {}", place.asked, words(error));
        let (dir, name) = self.parent(&place.at, Missing::Fail).map_err(|e| failed(&e))?;
        still_holds(&dir, name, before.map(|content| digest(&content.bytes)), &place.asked)?;
        handle::remove(&dir, name).map_err(|error| failed(&error))
    }
}

fn change(
    place: &Place,
    moved_to: Option<&Place>,
    before: Option<Content>,
    after: Option<(Vec<u8>, &str)>,
) -> Change {
    let text = |content: &Content| {
        encoding::decode(&content.bytes)
            .map_or_else(|| String::from_utf8_lossy(&content.bytes).into_owned(), |(text, _)| text)
    };
    let shown = FileChange {
        path: shown_path(place),
        moved_to: moved_to.map(shown_path),
        before: before.as_ref().map(|content| text(content).into()),
        after: after.as_ref().map(|(_, text)| (*text).into()),
    };
    let after = after.map(|(bytes, _)| bytes);
    Change { place: place.clone(), moved_to: moved_to.cloned(), before, after, shown }
}

fn shown_path(place: &Place) -> Arc<str> {
    match &place.at {
        At::Inside(path) | At::Outside(path) => path.as_str().into(),
        At::Nowhere(_) => place.asked.as_str().into(),
    }
}

fn content_of(file: File, asked: &str) -> Result<Option<Content>, String> {
    let failed = |error: io::Error| format!("{asked}: {}", words(&error));
    if file.metadata().map_err(failed)?.len() > MAX_EDITED {
        return Err(format!("{asked} is larger than {} MB", MAX_EDITED >> 20));
    }
    let mode = handle::mode(&file).map_err(failed)?;
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(MAX_EDITED + 1).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some(Content { bytes: bytes.into(), mode }))
}

/// The last look before a file is replaced: it is a file of one name, and holds what was
/// shown.
fn still_holds(dir: &Dir, name: &str, expected: Option<Digest>, asked: &str) -> Result<(), String> {
    let changed = || format!("{asked} was changed in the meantime; read it again");
    let found = match handle::look(dir, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return if expected.is_none() { Ok(()) } else { Err(changed()) };
        }
        found => found.map_err(|error| format!("{asked}: {}", words(&error)))?,
    };
    match found.kind {
        FoundKind::File if found.links > 1 => {
            Err(format!("{asked} is one file with {} names", found.links))
        }
        FoundKind::File => {
            let file =
                handle::open_file(dir, name).map_err(|e| format!("{asked}: {}", words(&e)))?;
            let now = content_of(file, asked)?.map(|content| digest(&content.bytes));
            if now == expected { Ok(()) } else { Err(changed()) }
        }
        FoundKind::Link => Err(format!("{asked}: {}", super::LINK)),
        FoundKind::Folder => Err(format!("{asked} is a folder")),
        FoundKind::Pipe | FoundKind::Socket | FoundKind::Device => {
            Err(format!("{asked} is no file"))
        }
    }
}

fn write_new(dir: &Dir, name: &str, bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
    let mut file = handle::new_file(dir, name, mode.unwrap_or(0o666))?;
    file.write_all(bytes)?;
    if let Some(mode) = mode {
        // What is given at creation is cut down by the umask.
        handle::set_mode(&file, mode)?;
    }
    file.sync_data()
}

/// A name that nobody can foresee; that nobody has it is checked when the file is made.
fn temporary_name() -> String {
    format!(".letterpress-{:016x}.tmp", RandomState::new().hash_one(0_u8))
}
