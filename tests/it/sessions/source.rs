//! The rows of a conversation that goes on behind what is in its log: each message is there
//! exactly once, whatever comes first.

use std::{
    collections::BTreeSet,
    io,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use letterpress::{
    engine::{
        SessionSource,
        live::LiveSource,
        session_source::{Open, Stored},
    },
    model::{
        Base, Census, Entry, Fork, Grouping, List, MemorySource, Message, MessageId, Part,
        Progress, Reading, Role, RowInfo, RowKind, Snapshot, Source, SourceLine, Text,
    },
};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::live::server::Chance;

fn message(id: u64) -> Message {
    let role = if id.is_multiple_of(3) { Role::User } else { Role::Assistant };
    Message {
        id: MessageId(id),
        key: format!("m{id}").into(),
        role,
        timestamp_ms: None,
        model: None,
        parts: vec![Part::Text(Text::unparsed(format!("message {id}")))],
        stop: None,
        error: None,
        usage: None,
        line: SourceLine(0),
    }
}

fn entry(id: u64) -> Entry {
    let message = message(id);
    let row = RowInfo::of(&message);
    let (keys, echoes) = (Arc::default(), Arc::default());
    Entry { message: Arc::new(message), row, grouping: Grouping::default(), keys, echoes }
}

/// What a part of the log holds: its leaf says.
fn ids_of(base: &Base) -> Vec<u64> {
    let leaf = base.leaf.as_deref().unwrap_or("m9");
    let leaf: u64 = leaf.trim_start_matches('m').parse().unwrap();
    (1..=leaf).filter(|id| (id + leaf).is_multiple_of(2)).collect()
}

fn rows_of(base: &Base) -> MemorySource {
    MemorySource::new(ids_of(base).into_iter().map(message))
}

/// A log that takes some polls to show another part.
struct Slow {
    chance: Arc<Mutex<Chance>>,
    rows: MemorySource,
    base: Option<Arc<Base>>,
    next: Vec<(Arc<Base>, usize)>,
    version: u64,
}

impl Source for Slow {
    fn poll(&mut self) -> u64 {
        if let Some((_, polls)) = self.next.first_mut() {
            *polls = polls.saturating_sub(1);
        }
        if self.next.first().is_some_and(|(_, polls)| *polls == 0) {
            let (base, _) = self.next.remove(0);
            self.rows = rows_of(&base);
            self.base = Some(base);
            self.version += 1;
        }
        self.version
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn row(&self, index: usize) -> RowInfo {
        self.rows.row(index)
    }

    fn index_of(&self, id: MessageId) -> Option<usize> {
        self.rows.index_of(id)
    }

    fn prompt_before(&self, index: usize) -> Option<usize> {
        self.rows.prompt_before(index)
    }

    fn message(&mut self, index: usize) -> Option<Arc<Message>> {
        self.rows.message(index)
    }

    fn want(&mut self, rows: Range<usize>) {
        assert!(rows.end <= self.rows.len());
    }

    fn census(&self, rows: Range<usize>) -> Census {
        self.rows.census(rows)
    }

    fn progress(&self) -> Progress {
        Progress::Complete
    }

    fn reading(&self) -> Option<Arc<dyn Reading>> {
        self.rows.reading()
    }
}

impl Stored for Slow {
    fn rows(&self) -> &dyn Source {
        self
    }

    fn rows_mut(&mut self) -> &mut dyn Source {
        self
    }

    fn turn_to(&mut self, base: &Arc<Base>) {
        let wanted = self.next.last().map(|(next, _)| next).or(self.base.as_ref());
        if wanted != Some(base) {
            // What was on its way may still come first.
            if self.chance.lock().below(2) == 0 {
                self.next.clear();
            }
            self.next.push((Arc::clone(base), 1 + self.chance.lock().below(4)));
        }
    }

    fn at(&self) -> Option<&Arc<Base>> {
        self.base.as_ref()
    }

    fn failure(&self) -> Option<Arc<str>> {
        None
    }
}

fn log(chance: &Arc<Mutex<Chance>>, opened: &Arc<AtomicUsize>) -> Box<Open> {
    let (chance, opened) = (Arc::clone(chance), Arc::clone(opened));
    Box::new(move |base, is_followed| {
        assert!(!is_followed);
        opened.fetch_add(1, Ordering::SeqCst);
        let polls = 1 + chance.lock().below(3);
        let (rows, next) = (MemorySource::default(), vec![(Arc::clone(base), polls)]);
        let chance = Arc::clone(&chance);
        Ok(Box::new(Slow { chance, rows, base: None, next, version: 0 }))
    })
}

/// What a snapshot shows.
fn all(snapshot: &Snapshot) -> Vec<u64> {
    let base = snapshot.base.as_deref().map(ids_of).unwrap_or_default();
    base.into_iter().chain(snapshot.messages().map(|message| message.id.0)).collect()
}

fn base(leaf: Option<u64>) -> Arc<Base> {
    let leaf = leaf.map(|leaf| format!("m{leaf}").into());
    Arc::new(Base { path: "log.jsonl".into(), len: 1000, leaf })
}

/// The next thing that happens to a conversation.
fn next(last: &Snapshot, chance: &Mutex<Chance>, fresh: &mut u64) -> Snapshot {
    let mut snapshot = Snapshot { version: last.version + 1, ..last.clone() };
    let below = |limit| chance.lock().below(limit);
    match below(6) {
        0 => {
            let leaf = [None, Some(4), Some(7), Some(8)][below(4)];
            snapshot.base = (below(4) > 0).then(|| base(leaf));
            (snapshot.entries, snapshot.arriving) = (List::default(), None);
        }
        1 if !snapshot.entries.is_empty() => {
            let keep = below(snapshot.entries.len());
            snapshot.entries.truncate(keep);
            snapshot.arriving = None;
        }
        2 => {
            *fresh += 1;
            snapshot.arriving.get_or_insert_with(|| entry(*fresh));
        }
        _ => {
            *fresh += 1;
            let done = snapshot.arriving.take().unwrap_or_else(|| entry(*fresh));
            snapshot.entries.push(done);
        }
    }
    snapshot
}

fn check(source: &mut SessionSource) -> Vec<u64> {
    let ids: Vec<u64> = (0..source.len()).map(|row| source.row(row).id.0).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
    let prompts: Vec<_> =
        (0..ids.len()).filter(|row| source.row(*row).kind == RowKind::User).collect();
    let reading = source.reading().unwrap();
    assert_eq!(reading.len(), ids.len());
    for (row, id) in ids.iter().enumerate() {
        assert_eq!(source.index_of(MessageId(*id)), Some(row));
        assert_eq!(source.message(row).unwrap().id.0, *id);
        assert_eq!((reading.id(row).0, reading.message(row).id.0), (*id, *id));
        let before = prompts.iter().rev().find(|prompt| **prompt <= row);
        assert_eq!(source.prompt_before(row), before.copied());
        assert_eq!(source.prompt_after(row), prompts.iter().find(|p| **p >= row).copied());
    }
    let middle = ids.len() / 2;
    source.want(middle..ids.len());
    let (shown, _) = source.estimate(middle..ids.len());
    assert_eq!(shown as usize, ids.len() - middle);
    assert_eq!(source.census(0..ids.len()).shown as usize, ids.len());
    ids
}

#[test]
fn in_any_order_each_message_is_there_once() {
    let mut turns = 0;
    for seed in 0..400 {
        let chance = Arc::new(Mutex::new(Chance(seed)));
        let opened = Arc::new(AtomicUsize::new(0));
        let mut fresh = 100;
        let first = Snapshot { base: (seed % 2 == 0).then(|| base(None)), ..Snapshot::default() };
        let mut published = vec![Arc::new(first)];
        let (sender, receiver) = watch::channel(Arc::clone(&published[0]));
        let live = LiveSource::new(receiver);
        let mut source = SessionSource::new(live, log(&chance, &opened));
        let (mut at, mut version, mut has_read) = (0, source.poll(), false);
        for _ in 0..60 {
            if chance.lock().below(2) == 0 {
                let snapshot = next(published.last().unwrap(), &chance, &mut fresh);
                published.push(Arc::new(snapshot));
                sender.send_replace(Arc::clone(published.last().unwrap()));
            }
            let before = check(&mut source);
            let polled = source.poll();
            let ids = check(&mut source);
            assert!(polled > version || ids == before, "a change is told");
            version = polled;
            // Before the log was read for the first time there is only what is in memory.
            let live = |s: &Arc<Snapshot>| s.messages().map(|m| m.id.0).eq(ids.iter().copied());
            let starts = !has_read && published.iter().any(live);
            let later = (at..published.len()).rev().find(|n| all(&published[*n]) == ids);
            assert!(later.is_some() || starts, "{seed}: {ids:?}");
            has_read |= later.is_some_and(|n| published[n].base.is_some());
            turns += usize::from(later.is_some_and(|n| published[n].base != published[at].base));
            at = later.unwrap_or(at);
        }
        for _ in 0..40 {
            source.poll();
        }
        assert_eq!(check(&mut source), all(published.last().unwrap()), "{seed}");
        assert!(opened.load(Ordering::SeqCst) <= 1, "one log is opened once");
    }
    assert!(turns > 1000, "{turns}");
}

#[test]
fn a_path_that_leaves_at_the_seam_is_marked_on_both_sides() {
    let fork = |id: u64| Fork { message: MessageId(id), siblings: [].into(), at: 0 };
    let entries: List<Entry> = vec![entry(100), entry(101), entry(102)].into();
    let forks = [fork(100), fork(102)].into();
    let snapshot = Snapshot { base: Some(base(Some(4))), entries, forks, ..Snapshot::default() };
    let chance = Arc::new(Mutex::new(Chance(1)));
    let opened = Arc::new(AtomicUsize::new(0));
    let (_sender, receiver) = watch::channel(Arc::new(snapshot));
    let mut source = SessionSource::new(LiveSource::new(receiver), log(&chance, &opened));
    while source.len() < 5 {
        source.poll();
    }
    let marked: Vec<_> = (0..5).filter(|row| source.row(*row).forks).collect();
    assert_eq!(marked, [1, 3]);
}

#[test]
fn a_log_that_cannot_be_opened_is_said_and_the_rest_is_shown() {
    let snapshot = Snapshot {
        base: Some(base(None)),
        entries: vec![entry(100)].into(),
        ..Snapshot::default()
    };
    let (_sender, receiver) = watch::channel(Arc::new(snapshot));
    let open: Box<Open> = Box::new(|_, _| Err(io::Error::other("no threads")));
    let mut source = SessionSource::new(LiveSource::new(receiver), open);
    source.poll();
    assert_eq!((source.len(), source.row(0).id), (1, MessageId(100)));
    assert_eq!(source.failure().as_deref(), Some("no threads"));
}
