//! Which result answers which call.
//!
//! Works on keys and positions alone, so that a file's index and an in-memory list use
//! the same rule: the nearest preceding unanswered call with the id takes the result; a
//! further result replaces it; a result may also come before its call.

use std::collections::HashMap;

/// Position of the message that holds a call or a result.
pub type Place = u32;

/// Pairs calls with results while both are met in order.
#[derive(Debug, Default)]
pub struct Pairing {
    calls: HashMap<u64, Vec<Call>>,
    early: Vec<(u64, Place)>,
}

#[derive(Clone, Copy, Debug)]
struct Call {
    place: Place,
    result: Option<Place>,
}

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
        self.calls.entry(key).or_default().push(Call { place, result: None });
    }

    /// Finds the owner of a result.
    pub fn result(&mut self, key: u64, place: Place) -> Owner {
        let Some(calls) = self.calls.get_mut(&key) else {
            self.early.push((key, place));
            return Owner::Unknown;
        };
        if let Some(open) = calls.iter_mut().rev().find(|call| call.result.is_none()) {
            open.result = Some(place);
            return Owner::First(open.place);
        }
        match calls.last_mut() {
            Some(last) => {
                let replaced = last.result.replace(place).unwrap_or(place);
                Owner::Replaces(last.place, replaced)
            }
            None => Owner::Unknown,
        }
    }

    /// Gives early results to calls that came after them and stayed unanswered; the
    /// results that appear in no pair are orphans.
    pub fn finish(mut self) -> Vec<(Place, Place)> {
        let early = std::mem::take(&mut self.early);
        early
            .into_iter()
            .filter_map(|(key, result)| {
                let calls = self.calls.get_mut(&key)?;
                let open = calls.iter_mut().find(|call| call.result.is_none())?;
                open.result = Some(result);
                Some((result, open.place))
            })
            .collect()
    }
}
