//! A list that grows at its end, of which anyone may keep the state of a moment.

use std::{fmt, sync::Arc};

/// Elements that are copied together when one of them changes while the list is shared.
const CHUNK: usize = 64;

/// A list whose clones share their elements.
///
/// Cloning costs two pointers. Changing a clone copies one chunk of elements, and now and
/// then the pointers to all chunks; the other clones do not notice.
#[derive(Clone)]
pub struct List<T> {
    /// Chunks of exactly [`CHUNK`] elements.
    full: Arc<Vec<Arc<Vec<T>>>>,
    /// What follows them: fewer than [`CHUNK`].
    tail: Arc<Vec<T>>,
}

impl<T> List<T> {
    /// How many elements there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.full.len() * CHUNK + self.tail.len()
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at a place.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        match self.full.get(index / CHUNK) {
            Some(chunk) => chunk.get(index % CHUNK),
            None => self.tail.get(index - self.full.len() * CHUNK),
        }
    }

    /// The last element.
    #[must_use]
    pub fn last(&self) -> Option<&T> {
        self.get(self.len().checked_sub(1)?)
    }

    /// The elements in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.full.iter().flat_map(|chunk| chunk.iter()).chain(self.tail.iter())
    }

    /// Bytes that the elements take, without what they point to.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let chunk = CHUNK * size_of::<T>() + size_of::<Vec<T>>() + 2 * size_of::<usize>();
        self.full.len() * (chunk + size_of::<usize>()) + self.tail.capacity() * size_of::<T>()
    }

    /// How many leading elements meet a condition that all those behind them fail.
    #[must_use]
    pub fn partition_point(&self, mut meets: impl FnMut(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(middle).is_some_and(&mut meets) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

impl<T: Clone> List<T> {
    /// Appends an element.
    pub fn push(&mut self, element: T) {
        let tail = Arc::make_mut(&mut self.tail);
        tail.push(element);
        if tail.len() == CHUNK {
            let chunk = std::mem::take(&mut self.tail);
            Arc::make_mut(&mut self.full).push(chunk);
        }
    }

    /// The element at a place, to be changed; copies its chunk when that is shared.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let full = self.full.len();
        if index < full * CHUNK {
            let chunk = Arc::make_mut(&mut self.full).get_mut(index / CHUNK)?;
            return Arc::make_mut(chunk).get_mut(index % CHUNK);
        }
        if index >= self.len() {
            return None;
        }
        Arc::make_mut(&mut self.tail).get_mut(index - full * CHUNK)
    }

    /// Keeps the first `length` elements.
    pub fn truncate(&mut self, length: usize) {
        if length >= self.len() {
            return;
        }
        let chunks = length / CHUNK;
        if chunks < self.full.len() {
            let full = Arc::make_mut(&mut self.full);
            full.truncate(chunks + 1);
            self.tail = full.pop().unwrap_or_default();
        }
        Arc::make_mut(&mut self.tail).truncate(length - chunks * CHUNK);
    }
}

impl<T: Clone> From<Vec<T>> for List<T> {
    fn from(elements: Vec<T>) -> Self {
        let mut chunks = elements.chunks_exact(CHUNK);
        let full: Vec<_> = chunks.by_ref().map(|chunk| Arc::new(chunk.to_vec())).collect();
        Self { full: Arc::new(full), tail: Arc::new(chunks.remainder().to_vec()) }
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self { full: Arc::default(), tail: Arc::default() }
    }
}

impl<T: Clone> Extend<T> for List<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, elements: I) {
        elements.into_iter().for_each(|element| self.push(element));
    }
}

impl<T: Clone> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut list = Self::default();
        list.extend(elements);
        list
    }
}

impl<T: fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: PartialEq> PartialEq for List<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_keep_their_state() {
        let mut list = List::default();
        let mut kept = Vec::new();
        for n in 0..300 {
            kept.push(list.clone());
            list.push(n);
        }
        for (length, old) in kept.iter().enumerate() {
            assert_eq!(old.len(), length);
            assert!(old.iter().copied().eq(0..length));
            assert_eq!(old.last().copied(), length.checked_sub(1));
        }
        assert_eq!((list.get(299), list.get(300)), (Some(&299), None));
        assert_eq!(list.partition_point(|n| *n < 130), 130);
    }

    #[test]
    fn any_length_can_be_kept() {
        let list: List<usize> = (0..200).collect();
        for length in 0..=201 {
            let mut cut = list.clone();
            cut.truncate(length);
            cut.push(7);
            let kept = length.min(200);
            assert!(cut.iter().copied().eq((0..kept).chain([7])), "{length}");
        }
        assert_eq!(list.len(), 200);
    }

    #[test]
    fn a_change_is_seen_by_nobody_else() {
        for length in [1, 63, 64, 65, 200] {
            let before: List<usize> = List::from((0..length).collect::<Vec<_>>());
            assert!(before.iter().copied().eq(0..length));
            for place in 0..length {
                let mut after = before.clone();
                *after.get_mut(place).expect("it is there") = 1_000;
                assert_eq!((before.get(place), after.get(place)), (Some(&place), Some(&1_000)));
                assert_eq!(after.get_mut(length), None);
            }
        }
    }

    #[test]
    fn pushing_shares_all_full_chunks() {
        let before: List<usize> = (0..1000).collect();
        let mut after = before.clone();
        after.push(1000);
        assert!(Arc::ptr_eq(&before.full, &after.full));
    }
}
