//! The thread that reads a part of a log: what belongs to a conversation, which goes on
//! elsewhere.

use std::{io, sync::Arc};

use super::{
    Waker,
    loader::{Loader, WHOLE_MAX},
    mailbox::{Edition, Mailbox, Work},
};
use crate::{
    model::{Base, MessageId, Progress},
    perf,
    transcript::{self, Index, Transcript},
};

/// The window around the reader's place that is shown first of a large log.
const PLACE_WINDOW: u64 = 768 * 1024;

/// Reads a part of a log, and another when that is asked for.
pub(super) struct Stored {
    loader: Loader,
    /// What is shown first, once.
    near: Option<MessageId>,
    /// What is shown.
    shown: Option<(Arc<Base>, Edition)>,
}

/// Starts the thread. It ends when the mailbox is closed.
///
/// # Errors
/// When the system gives no further thread.
pub(super) fn start(
    base: Arc<Base>,
    near: Option<MessageId>,
    mailbox: Arc<Mailbox>,
    waker: Waker,
) -> io::Result<()> {
    let name = "letterpress-reader".to_owned();
    let stored = Stored { loader: Loader::new(mailbox, waker), near, shown: None };
    std::thread::Builder::new().name(name).spawn(move || stored.run(base))?;
    Ok(())
}

impl Stored {
    fn run(mut self, first: Arc<Base>) {
        let mut next = Some(first);
        while let Some(base) = next {
            self.loader.base = Some(Arc::clone(&base));
            next = match transcript::open_log(&base.path, base.len) {
                Ok(transcript) => self.show(&transcript, &base),
                Err(error) => {
                    self.loader.mailbox.failed(error);
                    (self.loader.waker)();
                    self.wait(None)
                }
            };
        }
    }

    /// Shows a part of the log until another is asked for. None at the end.
    fn show(&mut self, transcript: &Transcript, base: &Arc<Base>) -> Option<Arc<Base>> {
        if self.shown.as_ref().is_some_and(|(shown, _)| shown.path != base.path) {
            self.loader.generation = self.loader.generation.wrapping_add(1);
            self.shown = None;
        }
        self.loader.mailbox.opened(transcript);
        let near = self.near.take();
        let window = self.shown.is_none().then(|| self.window(transcript, base, near)).flatten();
        let is_shown = window.is_some();
        let indexer = transcript.indexer();
        let Some(indexer) = self.loader.index_behind(transcript, indexer, None) else {
            return self.wait(None);
        };
        let index = match &base.leaf {
            Some(leaf) => indexer.finish_at(leaf),
            None => indexer.finish(),
        };
        let edition = self.publish(index);
        let first = near.and_then(|near| edition.index.index_of(near));
        match first {
            _ if is_shown || self.shown.is_some() => {}
            Some(first) => self.loader.serve_from(transcript, &edition, first),
            None => self.loader.serve_first(transcript, &edition, 0),
        }
        self.shown = Some((Arc::clone(base), edition));
        self.loader.mailbox.progress(Progress::Complete);
        (self.loader.waker)();
        self.wait(Some(transcript))
    }

    /// Messages of a log stay what they are, but for one that had no end.
    fn publish(&mut self, index: Index) -> Edition {
        match &self.shown {
            Some((_, before)) => {
                let changed = before.index.unfinished().into_iter().collect();
                self.loader.publish_same(index, changed)
            }
            None => self.loader.publish(index, None),
        }
    }

    /// Shows a part of a large log around the reader's place, or around its end.
    fn window(
        &mut self,
        transcript: &Transcript,
        base: &Base,
        near: Option<MessageId>,
    ) -> Option<Edition> {
        if transcript.len_bytes() <= WHOLE_MAX {
            return None;
        }
        perf::scope!("open_near");
        let around = near.and_then(|near| transcript.around(near, PLACE_WINDOW));
        if let (Some(index), Some(near)) = (around, near) {
            let edition = self.loader.publish(index, None);
            let first = edition.index.index_of(near).unwrap_or(0);
            self.loader.serve_from(transcript, &edition, first);
            return Some(edition);
        }
        let Some(leaf) = &base.leaf else {
            return self.loader.open_tail(transcript).map(|tail| tail.edition);
        };
        let edition = self.loader.publish(transcript.around_end(leaf, PLACE_WINDOW)?, None);
        self.loader.serve_first(transcript, &edition, 0);
        Some(edition)
    }

    /// Serves what is asked for until another part of the log is. None at the end.
    fn wait(&self, transcript: Option<&Transcript>) -> Option<Arc<Base>> {
        loop {
            match self.loader.mailbox.wait_for_work(None) {
                Work::Serve(wish) => match transcript {
                    Some(transcript) => self.loader.serve(transcript, &wish),
                    None => self.loader.mailbox.served(wish.ticket),
                },
                Work::Rebase(base) => return Some(base),
                Work::Look | Work::Time => {}
                Work::End => return None,
            }
        }
    }
}
