//! Messages kept ready, counted in bytes, least recently shown out first.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use crate::model::{Message, MessageId};

/// An LRU of messages.
///
/// What was shown in this frame or the one before it is never evicted, so that a screen
/// that is larger than the whole cache does not flicker.
#[derive(Debug)]
pub(super) struct Cache {
    entries: HashMap<MessageId, Entry>,
    /// Every entry by when it was last shown.
    order: BTreeMap<u64, MessageId>,
    bytes: usize,
    limit_bytes: usize,
    tick: u64,
    frame_began: u64,
    pinned_since: u64,
}

#[derive(Debug)]
struct Entry {
    message: Arc<Message>,
    bytes: usize,
    tick: u64,
    edition: u32,
}

/// Why a message arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// It is on screen: it is kept at any price.
    Now,
    /// It may be shown next: it is kept if there is room.
    Soon,
}

/// A message that is ready, and the edition of the index it was read with.
pub(super) struct Found {
    pub(super) message: Arc<Message>,
    pub(super) edition: u32,
}

impl Cache {
    pub(super) fn new(limit_bytes: usize) -> Self {
        Self {
            entries: HashMap::new(),
            order: BTreeMap::new(),
            bytes: 0,
            limit_bytes,
            tick: 0,
            frame_began: 0,
            pinned_since: 0,
        }
    }

    /// Begins a frame: what was shown two frames ago may go.
    pub(super) fn begin_frame(&mut self) {
        self.pinned_since = self.frame_began;
        self.frame_began = self.tick;
    }

    /// The message, which counts as shown.
    pub(super) fn show(&mut self, id: MessageId) -> Option<Found> {
        let entry = self.entries.get_mut(&id)?;
        self.order.remove(&entry.tick);
        self.tick += 1;
        entry.tick = self.tick;
        self.order.insert(self.tick, id);
        Some(Found { message: Arc::clone(&entry.message), edition: entry.edition })
    }

    /// True when the message is there in this edition or a later one.
    pub(super) fn holds(&self, id: MessageId, edition: u32) -> bool {
        self.entries.get(&id).is_some_and(|entry| entry.edition >= edition)
    }

    /// True when the message is there in any edition.
    pub(super) fn has(&self, id: MessageId) -> bool {
        self.entries.contains_key(&id)
    }

    /// Keeps a message. False when there was no room for one that is only needed soon.
    pub(super) fn keep(
        &mut self,
        id: MessageId,
        message: Arc<Message>,
        edition: u32,
        need: Need,
    ) -> bool {
        let bytes = message.heap_bytes() + ENTRY_BYTES;
        let old = self.remove(id);
        let need = if old.is_some() { Need::Now } else { need };
        self.evict(self.limit_bytes.saturating_sub(bytes));
        if need == Need::Soon && self.bytes + bytes > self.limit_bytes {
            return false;
        }
        let message = match old {
            Some(old) => settled(&old.message, message),
            None => message,
        };
        self.tick += 1;
        let tick = self.tick;
        self.entries.insert(id, Entry { message, bytes, tick, edition });
        self.order.insert(tick, id);
        self.bytes += bytes;
        true
    }

    /// Bytes of all messages together.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    fn evict(&mut self, down_to_bytes: usize) {
        while self.bytes > down_to_bytes {
            match self.order.first_key_value() {
                Some((tick, id)) if *tick <= self.pinned_since => {
                    let id = *id;
                    self.remove(id);
                }
                _ => return,
            }
        }
    }

    fn remove(&mut self, id: MessageId) -> Option<Entry> {
        let entry = self.entries.remove(&id)?;
        self.order.remove(&entry.tick);
        self.bytes -= entry.bytes;
        Some(entry)
    }
}

/// What an entry takes beside its message.
const ENTRY_BYTES: usize = size_of::<Message>() + size_of::<Entry>() + 64;

/// The new reading of a message, with the old one's parts when they say the same: what was
/// laid out from them stays valid.
fn settled(old: &Arc<Message>, new: Arc<Message>) -> Arc<Message> {
    if old.parts != new.parts {
        return new;
    }
    Arc::new(Message { parts: old.parts.clone(), ..Arc::unwrap_or_clone(new) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Part, Role, SourceLine, Text};

    fn message(id: u64, bytes: usize) -> Arc<Message> {
        Arc::new(Message {
            id: MessageId(id),
            key: "".into(),
            role: Role::User,
            timestamp_ms: None,
            model: None,
            parts: vec![Part::Text(Text::unparsed("x".repeat(bytes)))],
            stop: None,
            error: None,
            usage: None,
            line: SourceLine(0),
        })
    }

    fn keep(cache: &mut Cache, id: u64, bytes: usize, need: Need) -> bool {
        cache.keep(MessageId(id), message(id, bytes), 1, need)
    }

    #[test]
    fn the_least_recently_shown_goes_first() {
        let mut cache = Cache::new(10_000);
        for id in 0..3 {
            assert!(keep(&mut cache, id, 2_000, Need::Soon));
        }
        assert!(cache.show(MessageId(0)).is_some());
        cache.begin_frame();
        cache.begin_frame();
        for id in 3..5 {
            assert!(keep(&mut cache, id, 2_000, Need::Soon));
        }
        assert!(cache.holds(MessageId(0), 1), "shown later than 1");
        assert!(!cache.holds(MessageId(1), 1));
        assert!(cache.bytes() <= 10_000);
    }

    #[test]
    fn what_is_on_screen_stays_and_what_may_come_is_refused() {
        let mut cache = Cache::new(10_000);
        cache.begin_frame();
        assert!(keep(&mut cache, 1, 9_000, Need::Now));
        assert!(keep(&mut cache, 2, 9_000, Need::Now), "the screen is larger than the cache");
        assert!(!keep(&mut cache, 3, 500, Need::Soon));
        cache.begin_frame();
        assert!(cache.show(MessageId(2)).is_some());
        cache.begin_frame();
        cache.begin_frame();
        assert!(keep(&mut cache, 4, 500, Need::Soon));
        assert!(!cache.holds(MessageId(1), 1));
    }

    #[test]
    fn a_second_reading_keeps_the_parts_that_were_laid_out() {
        let mut cache = Cache::new(100_000);
        let first = message(1, 100);
        cache.keep(MessageId(1), Arc::clone(&first), 1, Need::Now);
        let again = Message { line: SourceLine(7), ..Message::clone(&message(1, 100)) };
        cache.keep(MessageId(1), Arc::new(again), 2, Need::Soon);
        let found = cache.show(MessageId(1)).expect("kept");
        assert_eq!((found.edition, found.message.line), (2, SourceLine(7)));
        let (Part::Text(old), Part::Text(new)) = (&first.parts[0], &found.message.parts[0]) else {
            panic!("texts");
        };
        assert!(Arc::ptr_eq(&old.source, &new.source));
    }

    #[test]
    fn bytes_are_counted_exactly_through_all_of_it() {
        let mut cache = Cache::new(5_000);
        for round in 0..200_u64 {
            cache.begin_frame();
            keep(&mut cache, round % 7, (round as usize * 37) % 1_500, Need::Soon);
            cache.show(MessageId(round % 3));
            let sum: usize = cache.entries.values().map(|entry| entry.bytes).sum();
            assert_eq!((cache.bytes, cache.order.len()), (sum, cache.entries.len()));
        }
    }
}
