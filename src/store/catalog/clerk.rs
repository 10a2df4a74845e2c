//! The thread that has the index: answers questions, and reads what is new in between.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, TryRecvError},
    },
    time::{Duration, Instant},
};

use tokio::sync::{oneshot, watch};

use super::{
    Config, Findings, Listed, Listing, Progress, Question,
    folder::{Folder, Lying},
    index::{Failure, Index, Pen, Stored},
    reading,
    search::{self, Searched},
    words::Words,
};
use crate::{perf, store::SessionId};

/// Bytes of logs that are read in one change; questions wait for no more.
const CHANGE_BYTES: u64 = 2 << 20;
/// Sessions that are read in one change.
const CHANGE_SESSIONS: usize = 256;
/// Lists are published at most this often while logs are being read.
const PUBLISH_EVERY: Duration = Duration::from_millis(200);
/// When another window writes, it is asked again after this time.
const AGAIN: Duration = Duration::from_millis(250);
/// How often an index is built anew before it is kept in memory.
const RENEWALS_MAX: u32 = 3;

/// Something to do.
#[derive(Debug)]
pub(super) enum Request {
    Search { question: Question, reply: oneshot::Sender<Findings> },
    Note(SessionId),
    Refresh,
}

/// Who does it.
pub(super) struct Clerk {
    config: Config,
    folder: Folder,
    publish: watch::Sender<Listing>,
    index: Option<Index>,
    unkept: Option<Arc<str>>,
    renewals: u32,
    entries: BTreeMap<SessionId, Entry>,
    /// What has to be read, newest first: `(when it was written, back from the end of time)`.
    unread: BTreeSet<(i64, SessionId)>,
    is_looked_at: bool,
    progress: Progress,
    is_changed: bool,
    published: Option<Instant>,
}

struct Entry {
    stored: Stored,
    listed: Listed,
}

impl Clerk {
    pub(super) fn new(config: Config, publish: watch::Sender<Listing>) -> Self {
        let folder = Folder(config.data.clone());
        Self {
            config,
            folder,
            publish,
            index: None,
            unkept: None,
            renewals: 0,
            entries: BTreeMap::new(),
            unread: BTreeSet::new(),
            is_looked_at: false,
            progress: Progress { done: 0, total: 0 },
            is_changed: false,
            published: None,
        }
    }

    /// Works until nobody can ask any more.
    pub(super) fn serve(mut self, requests: &Receiver<Request>) {
        self.open();
        self.look();
        self.publish();
        let mut pause = None;
        loop {
            let request = match (self.unread.is_empty(), pause.take()) {
                (true, _) => requests.recv().map_err(|_gone| TryRecvError::Disconnected),
                (false, None) => requests.try_recv(),
                (false, Some(pause)) => requests.recv_timeout(pause).map_err(|why| match why {
                    RecvTimeoutError::Timeout => TryRecvError::Empty,
                    RecvTimeoutError::Disconnected => TryRecvError::Disconnected,
                }),
            };
            match request {
                Ok(request) => self.answer(request),
                Err(TryRecvError::Disconnected) => return,
                Err(TryRecvError::Empty) => {}
            }
            // However much is asked, reading goes on.
            if !self.unread.is_empty() {
                pause = self.read_some();
            }
            self.publish();
        }
    }

    /// Opens the index and lists what it knows.
    fn open(&mut self) {
        match Index::open(&self.config.index) {
            Ok(index) => self.index = Some(index),
            Err(failure) => self.mend(failure),
        }
        self.list_stored();
    }

    fn list_stored(&mut self) {
        perf::scope!("list_stored");
        let stored = match self.index.as_ref().map(Index::sessions) {
            Some(Ok(stored)) => stored,
            None => return,
            Some(Err(error)) => {
                self.mend(error.into());
                match self.index.as_ref().map(Index::sessions) {
                    Some(Ok(stored)) => stored,
                    Some(Err(_)) | None => return,
                }
            }
        };
        for (id, stored) in stored {
            let has_draft = self.entries.get(&id).is_some_and(|entry| entry.listed.has_draft);
            self.enter(id, stored, has_draft);
        }
        self.publish_now();
    }

    /// Puts another index in the place of one that failed; it is built from the logs.
    fn mend(&mut self, failure: Failure) {
        let bad = self.index.take().and_then(|index| index.file());
        self.renewals += 1;
        let (opened, why) = match failure {
            Failure::Unusable(why) if self.renewals <= RENEWALS_MAX => {
                tracing::warn!("the index of sessions is built anew: {why}");
                (Index::renew(&self.config.index, bad), why)
            }
            Failure::Unusable(why) | Failure::NoPlace(why) => (Index::in_memory(), why),
            Failure::Busy => (Index::in_memory(), "another window has it".to_owned()),
        };
        let opened = opened.or_else(|_| Index::in_memory());
        let Ok(index) = opened else { return };
        if index.file().is_none() {
            tracing::warn!("the index of sessions is kept in memory: {why}");
            self.unkept = Some(why.into());
        }
        self.index = Some(index);
        self.entries.clear();
        self.is_changed = true;
    }

    /// Looks at the folder, and finds what has to be read.
    fn look(&mut self) {
        perf::scope!("look");
        let lying = match self.folder.sessions() {
            Ok(lying) => lying,
            Err(error) => {
                tracing::warn!("cannot list the sessions: {error}");
                Vec::new()
            }
        };
        let mut gone: BTreeSet<SessionId> = self.entries.keys().cloned().collect();
        for (id, lying) in lying {
            gone.remove(&id);
            self.see(id, lying);
        }
        // Reading what is not there any more forgets it.
        self.unread.extend(gone.into_iter().map(|id| (i64::MIN, id)));
        self.is_looked_at = true;
        self.is_changed = true;
    }

    /// Sees how a session lies there now.
    fn see(&mut self, id: SessionId, lying: Lying) {
        let known = self.entries.get_mut(&id);
        let (is_read, read) = known.as_ref().map_or((false, 0), |entry| {
            let log = &entry.stored.log;
            (log.seen == lying.log && log.is_in_trash == lying.is_in_trash, log.read)
        });
        if let Some(entry) = known.filter(|entry| entry.listed.has_draft != lying.has_draft) {
            entry.listed.has_draft = lying.has_draft;
            self.is_changed = true;
        }
        if !is_read && self.unread.insert((-lying.log.mtime, id)) {
            self.progress.total += lying.log.len.saturating_sub(read);
        }
    }

    fn answer(&mut self, request: Request) {
        match request {
            Request::Refresh => self.look(),
            Request::Note(id) => match self.folder.look(&id) {
                Some(lying) => self.see(id, lying),
                None if self.entries.contains_key(&id) => {
                    self.unread.insert((i64::MIN, id));
                }
                None => {}
            },
            // Nobody waits for the answer any more.
            Request::Search { reply, .. } if reply.is_closed() => {}
            Request::Search { question, reply } => {
                let findings = self.search(&question);
                if reply.send(findings).is_ok() {
                    (self.config.waker)();
                }
            }
        }
    }

    fn search(&mut self, question: &Question) -> Findings {
        let words = Words::parse(&question.words);
        let mut sessions: Vec<Searched> = Vec::new();
        for Entry { stored, listed } in self.entries.values() {
            let is_wanted = (question.with_archived || !listed.archived)
                && (question.with_deleted || !listed.deleted);
            if is_wanted {
                sessions.push(Searched {
                    id: listed.id.clone(),
                    title: Arc::clone(&listed.title),
                    row: stored.row,
                    updated_ms: listed.updated_ms,
                });
            }
        }
        sessions.sort_by(|a, b| (b.updated_ms, &b.id).cmp(&(a.updated_ms, &a.id)));
        let found = match &self.index {
            Some(index) => search::search(index, &sessions, &words, question),
            None => Ok((Vec::new(), false)),
        };
        let (found, is_cut) = found.unwrap_or_else(|error| {
            self.fail(error.into());
            (Vec::new(), false)
        });
        Findings { found, is_complete: self.is_complete(), is_cut }
    }

    fn is_complete(&self) -> bool {
        self.is_looked_at && self.unread.is_empty()
    }

    /// Reads some of what is new; how long to wait before the next, when others write.
    fn read_some(&mut self) -> Option<Duration> {
        perf::scope!("read_some");
        let mut budget = CHANGE_BYTES;
        let wanted: Vec<_> = self.unread.iter().take(CHANGE_SESSIONS).cloned().collect();
        let read = match self.index.as_mut() {
            Some(index) => read_in(index, &self.folder, &wanted, &mut budget),
            None => {
                self.unread.clear();
                return None;
            }
        };
        match read {
            Ok(read) => {
                for Reading { key, stored, is_whole } in read {
                    self.take(&key, stored, is_whole);
                }
                self.progress.done += CHANGE_BYTES - budget;
                None
            }
            Err(Failure::Busy) => Some(AGAIN),
            Err(failure) => {
                self.fail(failure);
                None
            }
        }
    }

    fn take(&mut self, key: &(i64, SessionId), stored: Option<Stored>, is_whole: bool) {
        let id = key.1.clone();
        if is_whole {
            self.unread.remove(key);
        }
        self.is_changed = true;
        let Some(stored) = stored else {
            self.entries.remove(&id);
            return;
        };
        let has_draft = match self.entries.get(&id) {
            Some(entry) => entry.listed.has_draft,
            None => self.folder.look(&id).is_some_and(|lying| lying.has_draft),
        };
        self.enter(id, stored, has_draft);
    }

    fn enter(&mut self, id: SessionId, stored: Stored, has_draft: bool) {
        let digest = &stored.digest;
        let listed = Listed {
            id: id.clone(),
            title: digest.name().into(),
            created_ms: digest.created_ms,
            updated_ms: digest.updated_ms,
            messages: digest.messages,
            model: digest.model.as_str().into(),
            pinned: digest.marks.pinned,
            archived: digest.marks.archived,
            deleted: digest.marks.deleted || stored.log.is_in_trash,
            preview: digest.preview.as_str().into(),
            has_draft,
        };
        self.entries.insert(id, Entry { stored, listed });
        self.is_changed = true;
    }

    /// After a failure: another index, and everything is read again.
    fn fail(&mut self, failure: Failure) {
        if matches!(failure, Failure::Busy) {
            return;
        }
        self.mend(failure);
        self.unread.clear();
        self.is_looked_at = false;
        self.progress = Progress { done: 0, total: 0 };
        self.list_stored();
        self.look();
    }

    fn publish(&mut self) {
        let is_done = self.unread.is_empty();
        let now = perf::now();
        let is_due = self.published.is_none_or(|at| now - at >= PUBLISH_EVERY);
        if self.is_changed && (is_done || is_due) {
            self.published = Some(now);
            self.publish_now();
        }
    }

    fn publish_now(&mut self) {
        self.is_changed = false;
        if self.unread.is_empty() {
            self.progress = Progress { done: 0, total: 0 };
        }
        let mut sessions: Vec<Listed> =
            self.entries.values().map(|entry| entry.listed.clone()).collect();
        sessions.sort_by(|a, b| (b.updated_ms, &b.id).cmp(&(a.updated_ms, &a.id)));
        let listing = Listing {
            sessions: sessions.into(),
            is_complete: self.is_complete(),
            progress: (self.progress.total > 0).then_some(self.progress),
            unkept: self.unkept.clone(),
        };
        let is_new = self.publish.send_if_modified(|before| {
            let is_new = *before != listing;
            *before = listing;
            is_new
        });
        if is_new {
            (self.config.waker)();
        }
    }
}

/// What was read of a session.
struct Reading {
    key: (i64, SessionId),
    stored: Option<Stored>,
    is_whole: bool,
}

/// Reads sessions in one change, until the budget is spent.
fn read_in(
    index: &mut Index,
    folder: &Folder,
    wanted: &[(i64, SessionId)],
    budget: &mut u64,
) -> Result<Vec<Reading>, Failure> {
    let change = index.begin()?;
    let mut read = Vec::new();
    {
        let mut pen = Pen::new(&change)?;
        for key in wanted {
            let (stored, is_whole) = reading::read(&mut pen, folder, &key.1, budget)?;
            read.push(Reading { key: key.clone(), stored, is_whole });
            if *budget == 0 {
                break;
            }
        }
    }
    change.commit()?;
    Ok(read)
}
