//! The part of a conversation that stands in its log, as rows.

use std::{io, sync::Arc};

use crate::{
    engine::{FileSource, Waker, reader::Config},
    model::{Base, MessageId, Source},
};

/// The part of a conversation that stands in its log.
pub trait Stored: Send {
    /// Its rows.
    fn rows(&self) -> &dyn Source;
    /// The same, to be polled and read.
    fn rows_mut(&mut self) -> &mut dyn Source;
    /// Shows another part from some poll on; until then the rows stay what they are.
    fn turn_to(&mut self, base: &Arc<Base>);
    /// The part that the rows are of, as of the last [`Source::poll`]; none before the first.
    fn at(&self) -> Option<&Arc<Base>>;
    /// Why it cannot be read.
    fn failure(&self) -> Option<Arc<str>>;
}

/// Opens a log at one of its parts, to be followed where somebody else writes it.
pub type Open = dyn FnMut(&Arc<Base>, bool) -> io::Result<Box<dyn Stored>> + Send;

/// Opens logs that are files, the first time around the message that is `near`.
pub(super) fn of_file(waker: Waker, near: Option<MessageId>) -> Box<Open> {
    Box::new(move |base, is_followed| {
        let (waker, config) = (Arc::clone(&waker), Config::default());
        let source = match is_followed {
            true => FileSource::follow(&base.path, waker, config)?,
            false => FileSource::stored(base, near, waker, config)?,
        };
        Ok(Box::new(File { source, wanted: Arc::clone(base), is_followed }))
    })
}

/// A log that is a file.
struct File {
    source: FileSource,
    /// The part that it was last told to show.
    wanted: Arc<Base>,
    /// All of it is shown, as it grows.
    is_followed: bool,
}

impl Stored for File {
    fn rows(&self) -> &dyn Source {
        &self.source
    }

    fn rows_mut(&mut self) -> &mut dyn Source {
        &mut self.source
    }

    fn turn_to(&mut self, base: &Arc<Base>) {
        if self.wanted == *base {
            return;
        }
        self.wanted = Arc::clone(base);
        if !self.is_followed {
            self.source.rebase(base);
        }
    }

    fn at(&self) -> Option<&Arc<Base>> {
        if self.is_followed { Some(&self.wanted) } else { self.source.base() }
    }

    fn failure(&self) -> Option<Arc<str>> {
        self.source.failure().map(|failure| failure.to_string().into())
    }
}
