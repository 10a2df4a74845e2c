//! Which call a further result answers.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::{model::pairing::Pairing, transcript::assemble::Scope};

/// Calls that wait for their results.
#[derive(Debug)]
pub(super) struct Pairs {
    /// By their keys, newest last.
    open: FxHashMap<u64, SmallVec<[u32; 1]>>,
    /// In a window: the keys of all calls in it.
    in_window: Option<FxHashSet<u64>>,
    /// Keys of results that came before their calls: what is paired with them may change.
    early: FxHashSet<u64>,
}

/// Where a result belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Into the row of this call.
    Call(u32),
    /// Into a row before the window.
    BeforeTheWindow,
    /// It answers nothing, or what was answered.
    Unclear,
}

impl Pairs {
    pub(super) fn new(pairing: &Pairing, scope: Scope) -> Self {
        let mut open: FxHashMap<u64, SmallVec<[u32; 1]>> = FxHashMap::default();
        for (key, place) in pairing.open_calls() {
            open.entry(key).or_default().push(place);
        }
        let in_window = (scope == Scope::Tail).then(|| pairing.call_keys().collect());
        Self { open, in_window, early: pairing.early_keys().collect() }
    }

    /// Notes a call. False when it may answer to what came before.
    pub(super) fn call(&mut self, key: u64, place: u32) -> bool {
        self.open.entry(key).or_default().push(place);
        if let Some(keys) = &mut self.in_window {
            keys.insert(key);
        }
        !self.early.contains(&key)
    }

    /// Finds the owner of a result.
    pub(super) fn result(&mut self, key: u64) -> Owner {
        if self.early.contains(&key) {
            return Owner::Unclear;
        }
        if let Some(calls) = self.open.get_mut(&key) {
            let owner = calls.pop();
            if calls.is_empty() {
                self.open.remove(&key);
            }
            return owner.map_or(Owner::Unclear, Owner::Call);
        }
        match &self.in_window {
            Some(keys) if !keys.contains(&key) => Owner::BeforeTheWindow,
            _ => Owner::Unclear,
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let keys = self.in_window.as_ref().map_or(0, FxHashSet::capacity) + self.early.capacity();
        self.open.capacity() * (size_of::<(u64, SmallVec<[u32; 1]>)>() + 1)
            + keys * (size_of::<u64>() + 1)
    }
}
