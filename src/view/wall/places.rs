//! Which conversation stands where, decided calmly: what is on the wall keeps its place
//! for as long as nothing more important must come in.

use std::collections::BTreeMap;

use super::feed::{FeedId, Glance};
use crate::model::activity::State;

/// Most places on one wall.
pub const PLACES_MAX: usize = 16;
/// Fewest places that are offered while there are conversations for them.
const PLACES_USUAL: usize = 6;
/// How long something must have been quiet before it gives its place to what works.
const QUIET_MS: i64 = 60_000;
/// How long a smaller number of places must be enough before the wall gets fewer.
const SHRINK_MS: i64 = 120_000;

/// What decides on places, besides the conversations themselves.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// A number of places that does not change; none for as many as are needed.
    pub places: Option<usize>,
    /// How long a conversation stands before others have their turn.
    pub cycle_ms: i64,
}

/// The conversations on the wall, place by place.
#[derive(Debug, Default)]
pub struct Places {
    shown: Vec<FeedId>,
    /// When each conversation was last put on the wall, or was last on it.
    seen_ms: BTreeMap<FeedId, i64>,
    states: BTreeMap<FeedId, State>,
    cycled_ms: Option<i64>,
    /// Since when fewer places would be enough.
    roomy_since_ms: Option<i64>,
    focus: Option<FeedId>,
}

/// How important a place is held to be, whatever happens when.
fn class(state: State) -> u8 {
    match state {
        State::NeedsApproval | State::Error => 2,
        State::Working => 1,
        State::Done | State::Idle | State::Stale => 0,
    }
}

impl Places {
    /// The conversations on the wall, in order of their places.
    #[must_use]
    pub fn shown(&self) -> &[FeedId] {
        &self.shown
    }

    /// The conversation that the focus layout shows large.
    #[must_use]
    pub fn focus(&self) -> Option<FeedId> {
        self.focus
    }

    /// Decides anew. `is_read` says which ones a person is reading: they keep their place.
    pub fn update(
        &mut self,
        feeds: &[Glance],
        rules: &Rules,
        now_ms: i64,
        is_read: &dyn Fn(FeedId) -> bool,
    ) {
        let state = |id: FeedId| feeds.iter().find(|feed| feed.id == id);
        self.shown.retain(|id| state(*id).is_some());
        self.seen_ms.retain(|id, _| state(*id).is_some());
        let news = self.news(feeds);
        self.resize(feeds, rules, now_ms);
        self.fill(feeds, rules, now_ms);
        for id in &news {
            self.let_in(*id, feeds, now_ms, is_read);
        }
        self.let_work_in(feeds, now_ms, is_read);
        self.cycle(feeds, rules, now_ms, is_read);
        self.refocus(feeds, &news);
        for id in &self.shown {
            self.seen_ms.insert(*id, now_ms);
        }
        self.states = feeds.iter().map(|feed| (feed.id, feed.state)).collect();
    }

    /// Milliseconds until others have their turn; none while all are on the wall.
    #[must_use]
    pub fn until_cycle(&self, count: usize, rules: &Rules, now_ms: i64) -> Option<i64> {
        let since = now_ms - self.cycled_ms?;
        (count > self.shown.len()).then(|| (rules.cycle_ms - since).max(0))
    }

    /// Conversations that became urgent since the last time, the newest last.
    fn news(&self, feeds: &[Glance]) -> Vec<FeedId> {
        let is_new = |feed: &&Glance| {
            feed.state.is_urgent() && self.states.get(&feed.id) != Some(&feed.state)
        };
        let mut news: Vec<&Glance> = feeds.iter().filter(is_new).collect();
        news.sort_by_key(|feed| feed.last_event_ms);
        news.into_iter().map(|feed| feed.id).collect()
    }

    fn capacity(feeds: &[Glance], rules: &Rules) -> usize {
        let busy = feeds.iter().filter(|feed| class(feed.state) > 0).count();
        let wanted = rules.places.unwrap_or_else(|| busy.max(PLACES_USUAL));
        wanted.clamp(1, PLACES_MAX).min(feeds.len())
    }

    /// Gives up places that have not been needed for a while, the least important first.
    fn resize(&mut self, feeds: &[Glance], rules: &Rules, now_ms: i64) {
        let capacity = Self::capacity(feeds, rules);
        if self.shown.len() <= capacity {
            self.roomy_since_ms = None;
            return;
        }
        let since = *self.roomy_since_ms.get_or_insert(now_ms);
        if now_ms - since < SHRINK_MS && rules.places.is_none() {
            return;
        }
        while self.shown.len() > capacity {
            let least = (0..self.shown.len()).min_by_key(|i| weight(feeds, self.shown[*i]));
            let Some(place) = least else { break };
            self.shown.remove(place);
        }
        self.roomy_since_ms = None;
    }

    fn fill(&mut self, feeds: &[Glance], rules: &Rules, now_ms: i64) {
        let capacity = Self::capacity(feeds, rules);
        let mut waiting = self.waiting(feeds);
        waiting.sort_by_key(|feed| {
            std::cmp::Reverse((feed.state.is_urgent(), feed.last_event_ms, feed.id.0))
        });
        for feed in waiting.into_iter().take(capacity.saturating_sub(self.shown.len())) {
            self.shown.push(feed.id);
            self.cycled_ms = self.cycled_ms.or(Some(now_ms));
        }
    }

    fn waiting<'a>(&self, feeds: &'a [Glance]) -> Vec<&'a Glance> {
        feeds.iter().filter(|feed| !self.shown.contains(&feed.id)).collect()
    }

    /// Puts something urgent on the wall at once, in the least important place.
    fn let_in(
        &mut self,
        id: FeedId,
        feeds: &[Glance],
        now_ms: i64,
        is_read: &dyn Fn(FeedId) -> bool,
    ) {
        if self.shown.contains(&id) {
            return;
        }
        let weight = |i: &usize| (is_read(self.shown[*i]), weight(feeds, self.shown[*i]));
        if let Some(place) = (0..self.shown.len()).min_by_key(weight) {
            self.put(place, id, now_ms);
        }
    }

    /// What began to work takes the places of what has long been quiet.
    fn let_work_in(&mut self, feeds: &[Glance], now_ms: i64, is_read: &dyn Fn(FeedId) -> bool) {
        let mut working = self.waiting(feeds);
        working.retain(|feed| class(feed.state) > 0);
        working.sort_by_key(|feed| std::cmp::Reverse(weight(feeds, feed.id)));
        for feed in working {
            let is_quiet = |id: FeedId| {
                let shown = feeds.iter().find(|feed| feed.id == id);
                shown.is_none_or(|shown| {
                    class(shown.state) == 0 && now_ms - shown.last_event_ms >= QUIET_MS
                })
            };
            let place = (0..self.shown.len())
                .filter(|i| is_quiet(self.shown[*i]) && !is_read(self.shown[*i]))
                .min_by_key(|i| weight(feeds, self.shown[*i]));
            let Some(place) = place else { return };
            self.put(place, feed.id, now_ms);
        }
    }

    /// Gives those that wait their turn, longest unseen first. Nothing gives its place to
    /// what matters less.
    fn cycle(
        &mut self,
        feeds: &[Glance],
        rules: &Rules,
        now_ms: i64,
        is_read: &dyn Fn(FeedId) -> bool,
    ) {
        let due = self.until_cycle(feeds.len(), rules, now_ms).is_some_and(|ms| ms == 0);
        if !due {
            return;
        }
        self.cycled_ms = Some(now_ms);
        let mut waiting = self.waiting(feeds);
        waiting.sort_by_key(|feed| {
            let seen = self.seen_ms.get(&feed.id).copied().unwrap_or(i64::MIN);
            (std::cmp::Reverse(class(feed.state)), seen, std::cmp::Reverse(feed.last_event_ms))
        });
        let mut waiting = waiting.into_iter().peekable();
        for place in 0..self.shown.len() {
            let id = self.shown[place];
            let Some(shown) = feeds.iter().find(|feed| feed.id == id) else { continue };
            let Some(next) = waiting.peek() else { return };
            let stays = is_read(id) || shown.state.is_urgent();
            if !stays && class(next.state) >= class(shown.state) {
                let next = next.id;
                waiting.next();
                self.put(place, next, now_ms);
            }
        }
    }

    fn put(&mut self, place: usize, id: FeedId, now_ms: i64) {
        if let Some(shown) = self.shown.get_mut(place) {
            self.seen_ms.insert(*shown, now_ms);
            *shown = id;
        }
    }

    /// What became urgent is shown large; else what was, while it has something to say.
    fn refocus(&mut self, feeds: &[Glance], news: &[FeedId]) {
        let shown = |id: &FeedId| self.shown.contains(id);
        if let Some(id) = news.iter().rev().find(|id| shown(id)) {
            self.focus = Some(*id);
            return;
        }
        let keeps = self
            .focus
            .filter(shown)
            .filter(|id| feeds.iter().any(|feed| feed.id == *id && class(feed.state) > 0));
        let best = || {
            let on_wall = feeds.iter().filter(|feed| shown(&feed.id));
            on_wall.max_by_key(|feed| weight(feeds, feed.id)).map(|feed| feed.id)
        };
        self.focus = keeps.or_else(best);
    }
}

/// What matters more weighs more: first its state, then how lately something happened.
fn weight(feeds: &[Glance], id: FeedId) -> (u8, u8, i64) {
    let weight = |feed: &Glance| (class(feed.state), rank(feed.state), feed.last_event_ms);
    feeds.iter().find(|feed| feed.id == id).map_or((0, 0, i64::MIN), weight)
}

fn rank(state: State) -> u8 {
    match state {
        State::Idle => 0,
        State::Stale => 1,
        State::Done => 2,
        State::Working => 3,
        State::Error => 4,
        State::NeedsApproval => 5,
    }
}
