//! The messages of a conversation: those that are shown, and those beside them.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    composition::Composed,
    tree::{NewNode, NodeKind, Place, Tree, key},
};
use crate::{
    engine::prepare,
    model::{
        Aside, Attachment, Draft, Entry, Fork, GroupTraits, Grouping, List, Message, MessageId,
        Notice, NoticeKind, Part, Role, RowInfo, SourceLine, Text,
    },
    wire::Turn,
};

/// The messages of a conversation. Ids count up and are never used again.
#[derive(Debug, Default)]
pub(super) struct Talk {
    entries: List<Entry>,
    aside: List<Aside>,
    tree: Tree,
    /// All messages that were said since the conversation was opened.
    known: BTreeMap<Place, Entry>,
    /// What stands before the entries, and is only in the log.
    base: Option<Place>,
    /// The last message.
    tip: Option<Place>,
    /// The message that is arriving.
    open: Option<Place>,
    forks: Arc<[Fork]>,
}

/// What names a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) id: MessageId,
    /// What names it in the log; the id for what is not in one.
    pub(super) n: u64,
    pub(super) is_logged: bool,
}

impl Spot {
    /// The log's name for it; empty for what is not in one.
    pub(super) fn key(self) -> Arc<str> {
        if self.is_logged { key(self.n) } else { "".into() }
    }
}

impl Talk {
    /// A conversation that goes on behind what is in a log.
    pub(super) fn load(&mut self, tree: Tree) {
        self.base = tree.newest();
        self.tip = self.base;
        self.tree = tree;
        self.forks = self.tree.forks(self.tip);
    }

    pub(super) fn entries(&self) -> &List<Entry> {
        &self.entries
    }

    pub(super) fn aside(&self) -> &List<Aside> {
        &self.aside
    }

    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(super) fn forks(&self) -> &Arc<[Fork]> {
        &self.forks
    }

    pub(super) fn base(&self) -> Option<Place> {
        self.base
    }

    pub(super) fn tip(&self) -> Option<Place> {
        self.tip
    }

    /// The log's name for the message that the next one follows.
    pub(super) fn tip_key(&self) -> Option<Arc<str>> {
        self.tip.map(|tip| self.tree.key(tip))
    }

    /// What names the next message of a conversation without a log.
    pub(super) fn next_spot(&self) -> Spot {
        let n = self.tree.last_number().map_or(1, |last| last + 1);
        Spot { id: MessageId(n), n, is_logged: false }
    }

    /// Appends a message that came whole.
    pub(super) fn push(&mut self, message: Message, spot: Spot) -> MessageId {
        let kind = match message.role {
            Role::User => NodeKind::Prompt,
            Role::Assistant => NodeKind::Reply,
            Role::Tool | Role::System | Role::Custom(_) => NodeKind::Notice,
        };
        let message = Message { id: spot.id, key: spot.key(), ..message };
        let entry = self.entry(Composed::whole(message));
        if let Some(place) = self.add(spot, kind) {
            self.settle(place, entry);
        }
        spot.id
    }

    /// A reply begins to arrive.
    pub(super) fn begin(&mut self, spot: Spot) {
        self.open = self.add(spot, NodeKind::Unfinished);
    }

    /// The reply that was arriving is there.
    pub(super) fn finish(&mut self, entry: Entry) {
        if let Some(place) = self.open.take() {
            self.tree.complete(place, 0);
            self.settle(place, entry);
        }
    }

    fn add(&mut self, Spot { id, n, .. }: Spot, kind: NodeKind) -> Option<Place> {
        let place = self.tree.push(NewNode { id, n, parent: self.tip, kind })?;
        if self.tree.has_siblings(place) {
            self.forks = self.tree.forks(Some(place));
        }
        Some(place)
    }

    fn settle(&mut self, place: Place, entry: Entry) {
        self.known.insert(place, entry.clone());
        self.entries.push(entry);
        self.tip = Some(place);
    }

    /// The entry of a message that stands behind all others.
    pub(super) fn entry(&self, composed: Composed) -> Entry {
        let Composed { message, lines, keys, echoes } = composed;
        let row = RowInfo::of_lines(&message, lines);
        self.behind(Entry {
            message: Arc::new(message),
            row,
            grouping: Grouping::default(),
            keys: keys.into(),
            echoes: echoes.into(),
        })
    }

    /// An entry as it stands behind all others.
    fn behind(&self, entry: Entry) -> Entry {
        let mut grouping = self.entries.last().map_or_else(Grouping::default, |e| e.grouping);
        let group = grouping.place(GroupTraits::of(&entry.message));
        Entry { row: RowInfo { group, ..entry.row }, grouping, ..entry }
    }

    /// A mark in the log says that the conversation goes on at its end.
    pub(super) fn mark(&mut self, Spot { id, n, .. }: Spot) {
        self.tree.push(NewNode { id, n, parent: self.tip, kind: NodeKind::Branch });
    }

    /// The prompt that was said last.
    pub(super) fn last_prompt(&self) -> Option<Place> {
        self.tree.prompt_at(self.tip)
    }

    /// Lets a message be the last. What is shown changes to the path that leads to it; what
    /// no longer stands there is put aside.
    pub(super) fn go_to(&mut self, tip: Option<Place>) {
        if tip == self.tip {
            return;
        }
        let mut path: Vec<Place> =
            self.tree.upwards(tip).take_while(|place| self.known.contains_key(place)).collect();
        path.reverse();
        let base = match path.first() {
            Some(first) => self.tree.parent(*first),
            None => tip,
        };
        let stays = if base == self.base { self.shared(&path) } else { 0 };
        (self.base, self.tip) = (base, tip);
        self.entries.truncate(stays);
        for place in path.iter().skip(stays) {
            if let Some(entry) = self.known.get(place).cloned() {
                let entry = self.behind(entry);
                self.entries.push(entry);
            }
        }
        self.put_aside(&path);
        self.forks = self.tree.forks(tip);
    }

    /// How many messages at the beginning are the same.
    fn shared(&self, path: &[Place]) -> usize {
        let is_same = |(place, entry): &(&Place, &Entry)| self.tree.id(**place) == entry.message.id;
        path.iter().zip(self.entries.iter()).take_while(is_same).count()
    }

    fn put_aside(&mut self, path: &[Place]) {
        let mut aside: Vec<Aside> = Vec::new();
        let mut before = None;
        for (place, entry) in &self.known {
            if path.binary_search(place).is_ok() {
                continue;
            }
            let parent = self.tree.parent(*place);
            match aside.last_mut().filter(|_| parent.is_some() && parent == before) {
                Some(aside) => aside.entries.push(entry.clone()),
                None => aside.push(Aside {
                    after: parent.map(|parent| self.tree.id(parent)),
                    entries: vec![entry.clone()].into(),
                }),
            }
            before = Some(*place);
        }
        self.aside = aside.into();
    }

    /// What is in memory of the conversation, as it is sent.
    pub(super) fn turns(&self) -> impl Iterator<Item = Turn> {
        self.entries.iter().map(|entry| Turn {
            message: Arc::clone(&entry.message),
            echoes: entry.echoes.to_vec(),
        })
    }
}

/// What the user wrote as a message.
pub(super) fn prompt(draft: &Draft, timestamp_ms: i64) -> Message {
    let words = Some(&draft.text).filter(|text| !text.trim().is_empty());
    let words = words.map(|text| Part::Text(Text::unparsed(Arc::clone(text))));
    let attached = draft.attachments.iter().filter_map(attached);
    let parts = words.into_iter().chain(attached).collect();
    prepare(Message { parts, ..blank(MessageId(0), Role::User, timestamp_ms) })
}

/// A word of ours as a message.
pub(super) fn notice(kind: NoticeKind, text: &str, timestamp_ms: i64) -> Message {
    let parts = vec![Part::Notice(Notice { kind, text: Text::unparsed(text) })];
    prepare(Message { parts, ..blank(MessageId(0), Role::System, timestamp_ms) })
}

pub(super) fn blank(id: MessageId, role: Role, timestamp_ms: i64) -> Message {
    Message {
        id,
        key: "".into(),
        role,
        timestamp_ms: Some(timestamp_ms),
        model: None,
        parts: Vec::new(),
        stop: None,
        error: None,
        usage: None,
        line: SourceLine(0),
    }
}

fn attached(attachment: &Attachment) -> Option<Part> {
    match attachment {
        Attachment::Image(image) => Some(Part::Image(image.clone())),
        Attachment::Document { text, .. } if text.trim().is_empty() => None,
        Attachment::Document { name, text } => {
            Some(Part::Text(Text::unparsed(format!("\n\n[Document: {name}]\n{text}"))))
        }
    }
}
