//! One conversation that is followed.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{Config, FollowId};
use crate::{
    engine::{
        FileSource, Waker,
        reader::{self, Growing},
    },
    model::{
        Source, Warning,
        activity::{Link, Outline},
    },
    transcript::Spool,
};

/// Where a conversation comes from, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// A short name: the file's, the host, or "standard input".
    pub name: Arc<str>,
    /// The whole path or address; passwords and queries are left out.
    pub place: Arc<str>,
}

impl Origin {
    pub(super) fn new(name: &str, place: &str) -> Self {
        Self { name: name.into(), place: place.into() }
    }

    pub(super) fn of_file(path: &Path) -> Self {
        let place = path.display().to_string();
        match path.file_name() {
            Some(name) => Self::new(&name.to_string_lossy(), &place),
            None => Self::new(&place, &place),
        }
    }
}

/// One conversation that is followed.
#[derive(Debug)]
pub struct Followed {
    pub(super) id: FollowId,
    origin: Origin,
    source: FileSource,
    version: u64,
}

impl Followed {
    pub(super) fn file(
        id: FollowId,
        path: PathBuf,
        waker: &Waker,
        config: Config,
    ) -> io::Result<Self> {
        let origin = Origin::of_file(&path);
        let growing = Growing { path: Some(path.clone()), ..config.growing() };
        let source = FileSource::follow_file(path, Arc::clone(waker), config.reader(), growing)?;
        Ok(Self { id, origin, source, version: 0 })
    }

    pub(super) fn spooled(
        id: FollowId,
        origin: Origin,
        spool: &Spool,
        waker: &Waker,
        config: Config,
    ) -> io::Result<(Self, reader::Arrivals)> {
        let (source, arrivals) = FileSource::follow_spool(
            &origin.name,
            spool.clone(),
            Arc::clone(waker),
            config.reader(),
            config.growing(),
        )?;
        Ok((Self { id, origin, source, version: 0 }, arrivals))
    }

    /// Takes in what arrived. True when anything did.
    pub(super) fn poll(&mut self) -> bool {
        let version = self.source.poll();
        let has_changed = version != self.version;
        self.version = version;
        has_changed
    }

    /// Its name as long as it is followed.
    #[must_use]
    pub fn id(&self) -> FollowId {
        self.id
    }

    /// Its own title, else the beginning of its newest prompt, else the file's name or the
    /// host.
    #[must_use]
    pub fn title(&self) -> Arc<str> {
        let own = self.source.title().or_else(|| self.outline().prompt.clone());
        own.unwrap_or_else(|| Arc::clone(&self.origin.name))
    }

    /// Where it comes from.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The last part of the folder that the agent works in, when its records say.
    #[must_use]
    pub fn project(&self) -> Option<&str> {
        self.source.project().map(|project| &**project)
    }

    /// The model that spoke last.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.outline().model.as_deref()
    }

    /// When the newest thing happened, in milliseconds since 1970: by the newest record that
    /// has a time, else by the file's.
    #[must_use]
    pub fn last_event_ms(&self) -> Option<i64> {
        self.outline().last_event_ms
    }

    /// What [`state`](crate::model::activity::state) judges.
    #[must_use]
    pub fn outline(&self) -> &Outline {
        self.source.outline()
    }

    /// Whether its source is there.
    #[must_use]
    pub fn link(&self) -> &Link {
        self.source.link()
    }

    /// Its messages. Rows keep their ids while the source only grows.
    pub fn source(&mut self) -> &mut dyn Source {
        &mut self.source
    }

    /// Lines that were read since it is followed, of all files that stood in its place, each
    /// counted when it was complete.
    #[must_use]
    pub fn lines_read(&self) -> u64 {
        self.source.lines_read()
    }

    /// True when its newest message is ready to be shown, or there is none.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.source.ready()
    }

    /// What was met and survived while reading it.
    pub fn warnings(&self) -> impl Iterator<Item = &Warning> {
        self.source.warnings()
    }
}
