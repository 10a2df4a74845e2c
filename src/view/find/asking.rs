//! Asking the thread that reads, and taking what it found.

use std::sync::Arc;

use egui::Ui;

use super::{Find, Origin, results::Results, stepping::Step};
use crate::{
    engine::find::{Finder, Needle, News, Request, Words},
    layout::{
        Registry,
        compose::Surroundings,
        reading::{OWN_WORDS, stretches, unfolded},
    },
    model::{Message, Source},
    perf::Reason,
    view::{find::Strands, governor, transcript::TranscriptView},
};

/// What was asked last.
#[derive(Debug, PartialEq)]
pub(super) struct Asked {
    needle: Needle,
    strands: Strands,
    registry: u64,
    /// The moment of the source.
    stamp: u64,
}

impl Find {
    /// Asks anew when the needle, the choice of words or the conversation changed.
    pub(super) fn ask(&mut self, view: &mut TranscriptView, ui: &Ui, source: &dyn Source) {
        if self.needle.text.is_empty() {
            return self.forget(view);
        }
        let Some(reading) = source.reading() else {
            if source.is_empty() {
                // Nothing has arrived; it is asked for when something has.
                return;
            }
            self.error = Some("this conversation cannot be searched".to_owned());
            return;
        };
        let asked = Asked {
            needle: self.needle.clone(),
            strands: self.strands,
            registry: view.registry.version(),
            stamp: reading.stamp(),
        };
        if self.asked.as_ref() == Some(&asked) {
            return;
        }
        let is_new = self.asked.as_ref().is_none_or(|old| !old.is_same_question(&asked));
        let place = self.origin.as_ref().map_or_else(|| view.sheet.anchor(), |o| o.anchor);
        let from = match reading.is_resident() {
            true => 0,
            false => source.index_of(place.message).unwrap_or(0),
        };
        if is_new {
            self.begin(view);
        }
        let results = Results::from_row(from);
        if is_new || !reading.is_resident() {
            (self.results, self.coming) = (results, None);
        } else {
            self.coming = Some(results);
        }
        self.is_done = false;
        self.edition += 1;
        let words = self.words(&view.registry);
        let own_words = view.registry.is_plain().then_some(OWN_WORDS);
        let request = Request { needle: asked.needle.clone(), reading, from, words, own_words };
        self.asked = Some(asked);
        match self.finder(ui) {
            Ok(finder) => finder.ask(request),
            Err(error) => self.error = Some(format!("cannot search: {error}")),
        }
    }

    /// Another needle: the nearest hit from where the reader was is looked at.
    fn begin(&mut self, view: &mut TranscriptView) {
        (self.error, self.target, self.current) = (None, None, None);
        self.has_wrapped = false;
        let is_moving = self.step.is_some();
        match &self.origin {
            Some(origin) => origin.refold(view),
            None if is_moving => {}
            None => self.origin = Some(Origin::of(view)),
        }
        if let Some(origin) = &mut self.origin {
            origin.folds.clear();
        }
        self.step.get_or_insert(Step::Nearest);
    }

    /// An empty needle finds nothing, and the reader is back where he was.
    fn forget(&mut self, view: &mut TranscriptView) {
        if self.asked.take().is_none() {
            self.error = None;
            return;
        }
        if let Some(finder) = &mut self.finder {
            finder.cancel();
        }
        (self.error, self.query, self.target) = (None, None, None);
        (self.current, self.step, self.coming) = (None, None, None);
        self.results = Results::default();
        self.edition += 1;
        self.is_done = true;
        let origin = self.origin.is_some();
        self.go_back(view);
        if origin {
            self.moves = view.sheet.moves();
            self.origin = Some(Origin::of(view));
        }
    }

    fn finder(&mut self, ui: &Ui) -> std::io::Result<&mut Finder> {
        if self.finder.is_none() {
            self.finder = Some(Finder::start(governor::waker(ui.ctx(), Reason::Find))?);
        }
        self.finder.as_mut().ok_or_else(|| std::io::Error::other("no thread"))
    }

    /// What is shown of a message; the same pointer while nothing about that changed.
    fn words(&mut self, registry: &Registry) -> Arc<Words> {
        let key = (self.strands, registry.version());
        match &self.words {
            Some((strands, version, words)) if (*strands, *version) == key => Arc::clone(words),
            _ => {
                let words = words(registry.clone(), self.strands);
                self.words = Some((key.0, key.1, Arc::clone(&words)));
                words
            }
        }
    }

    /// Takes what was found since the last frame.
    pub(super) fn take_news(&mut self, view: &mut TranscriptView, source: &dyn Source) {
        let Some(finder) = self.finder.as_mut().filter(|_| self.asked.is_some()) else { return };
        let News { query, found, done } = finder.poll();
        match query {
            Some(Ok(query)) => {
                let is_same = self.query.as_ref().is_some_and(|old| Arc::ptr_eq(old, &query));
                if !is_same {
                    self.marks.clear();
                }
                (self.query, self.error) = (Some(query), None);
            }
            Some(Err(reason)) => {
                (self.query, self.error, self.step) = (None, Some(reason), None);
                if let Some(origin) = &self.origin {
                    // What was looked at for the needle before is no hit of this one.
                    origin.refold(view);
                }
            }
            None => {}
        }
        self.coming.as_mut().unwrap_or(&mut self.results).take(found);
        self.is_done |= done;
        if done && let Some(results) = self.coming.take() {
            self.results = results;
            self.edition += 1;
            let gone = self.current.filter(|current| {
                let row = source.index_of(current.id);
                row.and_then(|row| self.results.at_row(row)).is_none()
            });
            if gone.is_some() {
                self.current = None;
            }
        }
    }
}

impl Asked {
    fn is_same_question(&self, other: &Self) -> bool {
        (&self.needle, self.strands, self.registry)
            == (&other.needle, other.strands, other.registry)
    }
}

/// The words of these kinds that are shown of a message, with everything unfolded.
pub(super) fn words(registry: Registry, strands: Strands) -> Arc<Words> {
    Arc::new(move |message: &Message, each| {
        for spec in unfolded(message, &Surroundings::default(), &registry) {
            for stretch in stretches(&spec) {
                if strands.has(stretch.strand) {
                    each(&stretch.text, stretch.shown);
                }
            }
        }
    })
}
