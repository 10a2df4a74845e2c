//! Set slugs, kept by place and look, counted in bytes, the least recently shown dropped first.

use std::{collections::VecDeque, sync::Arc};

use rustc_hash::FxHashMap;

use crate::{
    layout::{slug::Slug, spec::SlugKey},
    model::MessageId,
};

/// The identity of a set slug within one epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlugId {
    /// The message.
    pub message: MessageId,
    /// The place in it.
    pub key: SlugKey,
    /// The look of that place.
    pub look: u64,
}

struct Entry {
    slug: Arc<Slug>,
    used: u64,
}

/// The cache of set slugs.
pub struct SlugCache {
    entries: FxHashMap<SlugId, Entry>,
    /// Ids by the frame they were last queued in; an entry used since is queued again.
    queue: VecDeque<(u64, SlugId)>,
    bytes: usize,
    limit: usize,
    frame: u64,
}

impl SlugCache {
    /// A cache of at most `limit` bytes. What one frame shows is kept in any case.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { entries: FxHashMap::default(), queue: VecDeque::new(), bytes: 0, limit, frame: 0 }
    }

    /// Begins a frame and drops what is over the limit.
    pub fn begin_frame(&mut self) {
        self.frame += 1;
        while self.bytes > self.limit {
            let Some((queued, id)) = self.queue.pop_front() else { break };
            let Some(entry) = self.entries.get(&id) else { continue };
            if entry.used > queued {
                self.queue.push_back((entry.used, id));
                if entry.used + 1 >= self.frame {
                    break;
                }
            } else {
                self.remove(id);
            }
        }
    }

    /// A slug, if it is set.
    pub fn get(&mut self, id: SlugId) -> Option<Arc<Slug>> {
        let entry = self.entries.get_mut(&id)?;
        entry.used = self.frame;
        Some(Arc::clone(&entry.slug))
    }

    /// Keeps a slug.
    pub fn insert(&mut self, id: SlugId, slug: Arc<Slug>) {
        self.bytes += slug.bytes;
        self.queue.push_back((self.frame, id));
        let entry = Entry { slug, used: self.frame };
        if let Some(old) = self.entries.insert(id, entry) {
            self.bytes -= old.slug.bytes;
        }
    }

    /// Puts another state of a slug in its place, if it is still there.
    pub fn replace(&mut self, id: SlugId, old: &Arc<Slug>, new: Arc<Slug>) {
        let entry = self.entries.get_mut(&id).filter(|entry| Arc::ptr_eq(&entry.slug, old));
        if let Some(entry) = entry {
            self.bytes = self.bytes + new.bytes - old.bytes;
            entry.slug = new;
        }
    }

    /// Keeps those that are wanted and forgets the others.
    pub fn retain(&mut self, is_wanted: impl Fn(&Slug) -> bool) {
        let bytes = &mut self.bytes;
        self.entries.retain(|_, entry| {
            let keep = is_wanted(&entry.slug);
            *bytes -= if keep { 0 } else { entry.slug.bytes };
            keep
        });
    }

    /// Forgets one slug.
    pub fn remove(&mut self, id: SlugId) {
        if let Some(entry) = self.entries.remove(&id) {
            self.bytes -= entry.slug.bytes;
        }
    }

    /// Forgets everything: the epoch changed.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.queue.clear();
        self.bytes = 0;
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Number of slugs held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True when nothing is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
