//! What is being written and was not sent yet.

mod clock;
mod keeper;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value, json};

use super::{
    Store, blobs,
    disk::{self, Disk, random},
    id::SessionId,
};

pub use clock::DraftClock;
pub use keeper::Drafts;

/// A file of more bytes holds no drafts.
const FILE_MAX: u64 = 64 << 20;
/// More drafts are not kept in one place.
const DRAFTS_MAX: usize = 64;
/// The folder of drafts that have no session yet.
pub(super) const FOLDER: &str = "drafts";
const FILE: &str = "draft.json";

/// Where a draft belongs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Home {
    /// To a session.
    Session(SessionId),
    /// To a conversation that has no session yet: a name of the draft's own.
    New(SessionId),
}

impl Home {
    /// Of a conversation that begins.
    #[must_use]
    pub fn fresh(now_ms: i64) -> Self {
        Self::New(SessionId::fresh(now_ms))
    }
}

/// What is being written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredDraft {
    /// Its name, under which it is sent: a record of the log that bears it says that it
    /// arrived.
    pub key: Arc<str>,
    /// The words.
    pub text: Arc<str>,
    /// Where the caret stands, in characters.
    pub caret: usize,
    /// What goes with it.
    pub attachments: Vec<StoredAttachment>,
    /// When it was written, in milliseconds since 1970.
    pub at_ms: i64,
}

/// Something that goes with a draft.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredAttachment {
    /// What it is called.
    pub name: Arc<str>,
    /// Where it came from; none for what was pasted.
    pub path: Option<PathBuf>,
    /// The SHA-256 of its bytes, in hex. What was pasted is kept under this name, see
    /// [`Drafts::keep`] and [`Store::draft_blob`].
    pub sha256: Arc<str>,
    /// What it is, as in HTTP; empty for text.
    pub media_type: Arc<str>,
}

impl StoredDraft {
    /// A name that no draft has yet.
    #[must_use]
    pub fn fresh_key() -> Arc<str> {
        format!("{:016x}", random()).into()
    }

    /// Is there nothing in it?
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty() && self.attachments.is_empty()
    }

    fn to_json(&self) -> Value {
        let attachment = |it: &StoredAttachment| {
            json!({
                "name": &*it.name,
                "path": it.path.as_ref().map(|path| path.to_string_lossy()),
                "sha256": &*it.sha256,
                "media_type": &*it.media_type,
            })
        };
        json!({
            "key": &*self.key,
            "t": self.at_ms,
            "caret": self.caret,
            "text": &*self.text,
            "attachments": self.attachments.iter().map(attachment).collect::<Vec<_>>(),
        })
    }

    fn of_json(value: &Value) -> Option<Self> {
        let text = value.get("text")?.as_str()?;
        let key = value.get("key").and_then(Value::as_str).unwrap_or_default();
        let caret = value.get("caret").and_then(Value::as_u64).unwrap_or_default();
        let attachments = value.get("attachments").and_then(Value::as_array);
        Some(Self {
            key: key.into(),
            text: text.into(),
            caret: usize::try_from(caret).unwrap_or(usize::MAX).min(text.chars().count()),
            attachments: attachments.into_iter().flatten().filter_map(attachment_of).collect(),
            at_ms: value.get("t").and_then(Value::as_i64).unwrap_or_default(),
        })
    }
}

fn attachment_of(value: &Value) -> Option<StoredAttachment> {
    let word = |name: &str| value.get(name).and_then(Value::as_str);
    Some(StoredAttachment {
        name: word("name").unwrap_or_default().into(),
        path: word("path").map(PathBuf::from),
        sha256: word("sha256")?.into(),
        media_type: word("media_type").unwrap_or_default().into(),
    })
}

impl Store {
    /// The draft of a session: the one that was written last.
    #[must_use]
    pub fn draft(&self, id: &SessionId) -> Option<StoredDraft> {
        self.drafts_at(&Home::Session(id.clone())).into_iter().next()
    }

    /// The drafts of one place: first the one that was written last, then those that were
    /// sent and of which nobody said that they arrived. Whoever finds the key of one in the
    /// log [clears](Drafts::clear) it.
    #[must_use]
    pub fn drafts_at(&self, home: &Home) -> Vec<StoredDraft> {
        read(self.disk(), &file(self.root(), home))
    }

    /// The drafts of conversations that have no session yet, oldest first.
    #[must_use]
    pub fn new_drafts(&self) -> Vec<(Home, StoredDraft)> {
        let found = self.disk().list(&self.root().join(FOLDER)).unwrap_or_default();
        let names = found.iter().filter_map(|listing| listing.name.strip_suffix(".json"));
        let homes = names.filter_map(SessionId::new).map(Home::New);
        let mut drafts: Vec<_> = homes
            .filter_map(|home| Some((home.clone(), self.drafts_at(&home).into_iter().next()?)))
            .collect();
        drafts.sort_by(|(a, first), (b, second)| (first.at_ms, a).cmp(&(second.at_ms, b)));
        drafts
    }

    /// What was pasted into a draft.
    #[must_use]
    pub fn draft_blob(&self, home: &Home, sha256: &str) -> Option<Vec<u8>> {
        blobs::blob_of(&folder(self.root(), home), sha256)
    }
}

/// The folder of a draft, which has the blobs too.
fn folder(root: &Path, home: &Home) -> PathBuf {
    match home {
        Home::Session(id) => root.join(super::SESSIONS).join(id.as_str()),
        Home::New(_) => root.join(FOLDER),
    }
}

fn file(root: &Path, home: &Home) -> PathBuf {
    let folder = folder(root, home);
    match home {
        Home::Session(_) => folder.join(FILE),
        Home::New(id) => folder.join(format!("{id}.json")),
    }
}

/// Reads drafts. A file that cannot be understood is put aside.
fn read(disk: &dyn Disk, path: &Path) -> Vec<StoredDraft> {
    let Ok(bytes) = disk::read_file(disk, path, FILE_MAX) else { return Vec::new() };
    let value: Option<Value> = serde_json::from_slice(&bytes).ok();
    let drafts = value.as_ref().and_then(|value| value.get("drafts")?.as_array());
    let Some(drafts) = drafts else {
        let folder = disk::folder_of(path);
        let torn = folder.join(format!("torn-draft-{:08x}.bin", random() >> 32));
        // Where nothing can be written it stays where it is.
        disk.rename(path, &torn).ok();
        return Vec::new();
    };
    drafts.iter().filter_map(StoredDraft::of_json).collect()
}

/// Puts drafts in the place of those before. Those of other keys stay, but for the cleared.
fn write(
    disk: &dyn Disk,
    root: &Path,
    home: &Home,
    drafts: &[StoredDraft],
    cleared: &[Arc<str>],
    is_synced: bool,
) -> io::Result<()> {
    let path = file(root, home);
    let mut all: Vec<_> = drafts.iter().rev().cloned().collect();
    for draft in read(disk, &path) {
        let is_known = drafts.iter().any(|it| it.key == draft.key);
        if !is_known && all.len() < DRAFTS_MAX {
            all.push(draft);
        }
    }
    all.retain(|draft| !draft.is_blank() && !cleared.contains(&draft.key));
    if all.is_empty() {
        return match disk.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        };
    }
    if let Home::New(_) = home {
        disk::make_folders(disk, &folder(root, home))?;
    }
    let all: Vec<_> = all.iter().map(StoredDraft::to_json).collect();
    disk::replace(disk, &path, json!({"v": 1, "drafts": all}).to_string().as_bytes(), is_synced)
}
