//! Which result answers which call.
//!
//! Works on keys and positions alone, so that a file's index and an in-memory list use
//! the same rule: the nearest preceding unanswered call with the id takes the result; a
//! further result replaces it; a result may also come before its call.

use std::collections::HashMap;

/// Position of the message that holds a call or a result.
pub type Place = u32;

/// Pairs calls with results while both are met in order. Every step costs the same, also
/// when all calls share one id.
#[derive(Debug, Default)]
pub struct Pairing {
    keys: HashMap<u64, Key>,
    calls: Vec<Call>,
    early: Vec<(u64, Place)>,
}

/// The calls of one key, by their number in the list of calls.
#[derive(Clone, Copy, Debug)]
struct Key {
    last: u32,
    /// The newest call without a result, or [`NONE`].
    open: u32,
}

#[derive(Clone, Copy, Debug)]
struct Call {
    place: Place,
    /// Its result, or [`NONE`].
    result: Place,
    /// The next older call of the key that had no result when this one was met.
    open_before: u32,
}

const NONE: u32 = u32::MAX;

/// Where a result belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// It answers the call in the message at this place.
    First(Place),
    /// It replaces an earlier result of the call in the message at this place.
    Replaces(Place, Place),
    /// No call was met yet; [`Pairing::finish`] decides.
    Unknown,
}

impl Pairing {
    /// Notes a call.
    pub fn call(&mut self, key: u64, place: Place) {
        let number = self.calls.len() as u32;
        let calls = self.keys.entry(key).or_insert(Key { last: NONE, open: NONE });
        self.calls.push(Call { place, result: NONE, open_before: calls.open });
        *calls = Key { last: number, open: number };
    }

    /// Finds the owner of a result.
    pub fn result(&mut self, key: u64, place: Place) -> Owner {
        let Some(calls) = self.keys.get_mut(&key) else {
            self.early.push((key, place));
            return Owner::Unknown;
        };
        if let Some(open) = self.calls.get_mut(calls.open as usize) {
            open.result = place;
            calls.open = open.open_before;
            return Owner::First(open.place);
        }
        match self.calls.get_mut(calls.last as usize) {
            Some(last) => Owner::Replaces(last.place, std::mem::replace(&mut last.result, place)),
            None => Owner::Unknown,
        }
    }

    /// Gives early results to calls that came after them and stayed unanswered; the
    /// results that appear in no pair are orphans.
    pub fn finish(&self) -> Vec<(Place, Place)> {
        let mut open_by_key: HashMap<u64, Vec<Place>> = HashMap::new();
        let mut pairs = Vec::new();
        for (key, result) in &self.early {
            // The oldest is last.
            let open = open_by_key.entry(*key).or_insert_with(|| self.open_places(*key));
            pairs.extend(open.pop().map(|place| (*result, place)));
        }
        pairs
    }

    /// The calls without a result, oldest first.
    pub fn open_calls(&self) -> impl Iterator<Item = (u64, Place)> {
        let mut open: Vec<(u64, Place)> = Vec::new();
        #[expect(clippy::iter_over_hash_type, reason = "sorted below")]
        for (key, calls) in &self.keys {
            if calls.open != NONE {
                open.extend(self.open_places(*key).into_iter().map(|place| (*key, place)));
            }
        }
        open.sort_by_key(|(key, place)| (*place, *key));
        open.into_iter()
    }

    /// The keys of all calls that were met, in no order.
    pub fn call_keys(&self) -> impl Iterator<Item = u64> {
        self.keys.keys().copied()
    }

    /// The keys of results that came before any call of theirs.
    pub fn early_keys(&self) -> impl Iterator<Item = u64> {
        self.early.iter().map(|(key, _)| *key)
    }

    /// Places of the unanswered calls of a key, newest first.
    fn open_places(&self, key: u64) -> Vec<Place> {
        let call = |number: u32| self.calls.get(number as usize);
        let newest = self.keys.get(&key).and_then(|calls| call(calls.open));
        std::iter::successors(newest, |open| call(open.open_before))
            .map(|open| open.place)
            .collect()
    }
}
