//! What is being written in a conversation, as it survives the end of the program.
//!
//! The store saves it, on a thread of its own. What was sent stays saved beside what is
//! written next, until the conversation has it.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    path::Path,
    sync::Arc,
};

use crate::{
    app::timestamp,
    model::{Attachment, Draft, Fate, Image, ImageData, Snapshot, Ticket},
    store::{Drafts, Home, Store, StoredAttachment, StoredDraft},
    view::composer::Composer,
};

/// Bytes at the end of a log in which drafts are looked for that have arrived.
const ARRIVED_MAX: u64 = 8 << 20;

/// What is being written, as it was saved last.
#[derive(Debug)]
pub(super) struct Written {
    drafts: Drafts,
    home: Home,
    text: String,
    caret: usize,
    attachments: Vec<Attachment>,
    stored: Vec<StoredAttachment>,
    /// What was sent, and is not known to have arrived.
    sent: Vec<(Ticket, Arc<str>)>,
}

/// What was found of what was being written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::app::window) struct Restored {
    key: Option<Arc<str>>,
    text: String,
    caret: usize,
    attachments: Vec<Attachment>,
}

impl Written {
    pub(super) fn new(store: &Store, home: Home, composer: &mut Composer) -> Self {
        composer.key = StoredDraft::fresh_key();
        Self {
            drafts: store.drafts(),
            home,
            text: String::new(),
            caret: 0,
            attachments: Vec::new(),
            stored: Vec::new(),
            sent: Vec::new(),
        }
    }

    /// Puts back what was being written, unless something is by now.
    pub(super) fn restore(&mut self, composer: &mut Composer, restored: Restored) {
        let Restored { key, text, caret, attachments } = restored;
        if !composer.is_empty() {
            return;
        }
        composer.key = key.unwrap_or_else(StoredDraft::fresh_key);
        (self.text, self.caret) = (text.clone(), caret);
        composer.restore(text, caret, attachments);
    }

    /// The conversation has another home now: what is written moves there.
    pub(super) fn move_to(&mut self, home: Home, composer: &Composer) {
        let old = std::mem::replace(&mut self.home, home);
        self.drafts.clear(&old, &composer.key);
        for (_, key) in &self.sent {
            self.drafts.clear(&old, key);
        }
        self.attachments.clear();
        self.save(composer);
        self.drafts.flush(&self.home, false);
    }

    /// Something was handed over to the conversation.
    pub(super) fn note_sent(&mut self, draft: &Draft) {
        if !draft.key.is_empty() {
            self.sent.push((draft.ticket, Arc::clone(&draft.key)));
        }
    }

    /// Has saved what changed, and forgets what has arrived.
    pub(super) fn follow(&mut self, composer: &mut Composer, snapshot: &Snapshot) {
        self.settle(composer, snapshot);
        let (text, attachments) = composer.written();
        let is_same = self.text == text && self.caret == composer.caret();
        if !is_same || self.attachments != attachments {
            self.save(composer);
        }
    }

    fn settle(&mut self, composer: &mut Composer, snapshot: &Snapshot) {
        let (drafts, home) = (&self.drafts, &self.home);
        self.sent.retain(|(ticket, key)| {
            let fate = snapshot.fate(*ticket);
            // It has left the box: what is written next is another draft.
            if matches!(fate, Some(Fate::Accepted(_) | Fate::Queued)) && composer.key == *key {
                composer.key = StoredDraft::fresh_key();
            }
            match fate {
                Some(Fate::Accepted(_)) => drafts.clear(home, key),
                Some(Fate::Refused(..)) if composer.key != *key => drafts.clear(home, key),
                Some(Fate::Refused(..)) => {}
                Some(Fate::Queued) | None => return true,
            }
            false
        });
    }

    fn save(&mut self, composer: &Composer) {
        let (text, attachments) = composer.written();
        if self.attachments != attachments {
            self.stored = attachments.iter().filter_map(|one| self.keep(one)).collect();
            self.attachments = attachments;
        }
        self.text = text;
        self.caret = composer.caret();
        let draft = StoredDraft {
            key: Arc::clone(&composer.key),
            text: self.text.as_str().into(),
            caret: self.caret,
            attachments: self.stored.clone(),
            at_ms: timestamp::now_ms(),
        };
        self.drafts.edit(&self.home, draft);
    }

    fn keep(&self, attachment: &Attachment) -> Option<StoredAttachment> {
        let (name, media_type, bytes): (Arc<str>, Arc<str>, Arc<[u8]>) = match attachment {
            Attachment::Document { name, text } => {
                (Arc::clone(name), "".into(), text.as_bytes().into())
            }
            Attachment::Image(Image { media_type, data: ImageData::Bytes(bytes), .. }) => {
                ("".into(), Arc::clone(media_type), Arc::clone(bytes))
            }
            Attachment::Image(_) => return None,
        };
        let sha256 = self.drafts.keep(&self.home, bytes).into();
        Some(StoredAttachment { name, path: None, sha256, media_type })
    }

    /// Has saved at once what is not saved yet.
    pub(super) fn flush(&self, is_synced: bool) {
        self.drafts.flush(&self.home, is_synced);
    }
}

impl Restored {
    /// Reads what was being written. Waits for the disk.
    ///
    /// What was sent and never arrived comes first: it was said, and nobody heard it.
    pub(in crate::app::window) fn read(store: &Store, home: &Home) -> Self {
        let mut stored = store.drafts_at(home);
        if let (Home::Session(id), false) = (home, stored.is_empty()) {
            let tail = tail(&store.log_path(id));
            let (arrived, rest) = stored.into_iter().partition(|one: &StoredDraft| {
                let mark = format!("\"draft\":\"{}\"", one.key);
                !one.key.is_empty() && memchr::memmem::find(&tail, mark.as_bytes()).is_some()
            });
            let arrived: Vec<StoredDraft> = arrived;
            arrived.iter().for_each(|one| store.drafts().clear(home, &one.key));
            stored = rest;
        }
        Self::of(store, home, stored)
    }

    fn of(store: &Store, home: &Home, mut stored: Vec<StoredDraft>) -> Self {
        let Some(newest) = stored.first().cloned() else { return Self::default() };
        stored.sort_by_key(|one| one.at_ms);
        let attachment = |one: &StoredAttachment| attachment(store, home, one);
        let attachments = stored.iter().flat_map(|one| &one.attachments).filter_map(attachment);
        let attachments = attachments.collect();
        if let [one] = stored.as_slice() {
            let (key, text) = (Some(Arc::clone(&one.key)), one.text.to_string());
            return Self { key, text, caret: one.caret, attachments };
        }
        let texts: Vec<&str> = stored.iter().map(|one| one.text.trim_end()).collect();
        let text = texts.join("\n\n");
        let caret = text.chars().count();
        // Together they are one draft now, under the newest name.
        let drafts = store.drafts();
        for one in stored.iter().filter(|one| one.key != newest.key) {
            drafts.clear(home, &one.key);
        }
        Self { key: Some(newest.key), text, caret, attachments }
    }
}

fn attachment(store: &Store, home: &Home, stored: &StoredAttachment) -> Option<Attachment> {
    let bytes = store.draft_blob(home, &stored.sha256)?;
    if stored.media_type.is_empty() {
        let text: Arc<str> = String::from_utf8(bytes).ok()?.into();
        return Some(Attachment::Document { name: Arc::clone(&stored.name), text });
    }
    let (media_type, data) = (Arc::clone(&stored.media_type), ImageData::Bytes(bytes.into()));
    Some(Attachment::Image(Image { media_type, data, size: None }))
}

/// The end of a log; nothing when it cannot be read.
fn tail(path: &Path) -> Vec<u8> {
    let read = || {
        let mut file = File::open(path)?;
        let len = file.metadata()?.len();
        file.seek(SeekFrom::Start(len.saturating_sub(ARRIVED_MAX)))?;
        let mut bytes = Vec::new();
        file.take(ARRIVED_MAX).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(bytes)
    };
    read().unwrap_or_default()
}
