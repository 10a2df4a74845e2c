//! The part of a conversation that stands in its log.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;

use crate::{
    engine::live::{
        actor::sum,
        tree::{NewNode, NodeKind, Place, Tree, number},
    },
    model::{
        Message, MessageId, Settings, Usage,
        record::{self, Kind, Meta, Unfinished, line},
    },
    store::{self, Line},
    wire::Turn,
};

/// Text of turns that is kept ready for the next request, in bytes.
const READY_MAX: usize = 8 << 20;

/// What a log says about the conversation in it, without what was said.
#[derive(Debug, Default)]
pub(in crate::engine::live) struct Loaded {
    pub(in crate::engine::live) tree: Tree,
    pub(in crate::engine::live) settings: Option<Settings>,
    pub(in crate::engine::live) usage: Usage,
}

/// The part of a log that a conversation goes on from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::engine::live) struct Ground {
    pub(in crate::engine::live) path: PathBuf,
    pub(in crate::engine::live) len: u64,
}

/// Turns that were read last, for the next request.
#[derive(Debug, Default)]
pub(in crate::engine::live) struct Ready(Option<(Place, Arc<[Turn]>)>);

impl Ready {
    pub(in crate::engine::live) fn get(&self, of: Place) -> Option<Arc<[Turn]>> {
        self.0.as_ref().filter(|(place, _)| *place == of).map(|(_, turns)| Arc::clone(turns))
    }

    pub(in crate::engine::live) fn keep(&mut self, of: Place, turns: &Arc<[Turn]>) {
        let bytes: usize = turns.iter().map(|turn| turn.message.heap_bytes()).sum();
        self.0 = (bytes <= READY_MAX).then(|| (of, Arc::clone(turns)));
    }
}

impl Ground {
    /// Goes through the whole log. Takes its time.
    pub(in crate::engine::live) fn load(&self) -> Loaded {
        let mut loaded = Loaded::default();
        for line in store::replay(&self.path, self.len) {
            if let Line::Entry(entry) = line {
                loaded.take(entry.kind, entry.n, entry.offset, &entry.body);
            }
        }
        loaded
    }

    /// Reads what was said. Takes its time.
    pub(in crate::engine::live) fn read(&self, wanted: &[Wanted]) -> Arc<[Turn]> {
        let unfinished = self.unfinished(wanted);
        let folder = self.path.parent().unwrap_or_else(|| Path::new("."));
        let file = File::open(&self.path).ok();
        let mut reader = file.map(|file| BufReader::with_capacity(1 << 16, file));
        let turn = |wanted: &Wanted| match unfinished.get(&wanted.n) {
            Some(pieces) => Some(wanted.turn(pieces.clone().interrupted().0, Vec::new())),
            None => {
                let body = body_at(reader.as_mut()?, wanted.body)?;
                let blob = |sha: &str| store::blob_of(folder, sha);
                let (message, echoes, _) = record::decode_message(&body, wanted.role(), &blob);
                Some(wanted.turn(message, echoes))
            }
        };
        wanted.iter().filter_map(turn).collect()
    }

    /// Puts replies together whose end was never written.
    fn unfinished(&self, wanted: &[Wanted]) -> BTreeMap<u64, Unfinished> {
        let is_unfinished = |wanted: &&Wanted| wanted.kind == NodeKind::Unfinished;
        let mut found: BTreeMap<u64, Unfinished> =
            wanted.iter().filter(is_unfinished).map(|w| (w.n, Unfinished::default())).collect();
        if found.is_empty() {
            return found;
        }
        let folder = self.path.parent().unwrap_or_else(|| Path::new("."));
        let blob = |sha: &str| store::blob_of(folder, sha);
        for line in store::replay(&self.path, self.len) {
            let Line::Entry(entry) = line else { continue };
            let of = number(&record::id_of(&entry.body, entry.n));
            if let Some(pieces) = of.and_then(|n| found.get_mut(&n)) {
                pieces.take(entry.kind, &entry.body, entry.t, &blob);
            }
        }
        found
    }
}

/// A message that is to be read.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine::live) struct Wanted {
    id: MessageId,
    n: u64,
    body: u64,
    kind: NodeKind,
}

impl Wanted {
    pub(in crate::engine::live) fn of(tree: &Tree, place: Place) -> Self {
        let key = tree.key(place);
        Self {
            id: tree.id(place),
            n: number(&key).unwrap_or_default(),
            body: tree.body(place),
            kind: tree.kind(place),
        }
    }

    fn role(&self) -> crate::model::Role {
        match self.kind {
            NodeKind::Prompt => Kind::User.role(),
            NodeKind::Reply | NodeKind::Unfinished => Kind::AssistantFinal.role(),
            NodeKind::Notice | NodeKind::Branch => Kind::Error.role(),
        }
    }

    fn turn(&self, message: Message, echoes: Vec<(usize, crate::model::stream::Echo)>) -> Turn {
        Turn { message: Arc::new(Message { id: self.id, ..message }), echoes }
    }
}

impl Loaded {
    fn take(&mut self, kind: Kind, n: u64, offset: u64, body: &Value) {
        match kind {
            Kind::Meta => self.settings = Meta::of(body).settings.or_else(|| self.settings.take()),
            Kind::User | Kind::Edit => drop(self.add(NodeKind::Prompt, n, offset, body)),
            Kind::AssistantStart => drop(self.add(NodeKind::Unfinished, n, offset, body)),
            Kind::AssistantFinal => self.complete(n, offset, body),
            Kind::Error => drop(self.add(NodeKind::Notice, n, offset, body)),
            Kind::Branch => drop(self.add(NodeKind::Branch, n, offset, body)),
            Kind::Usage => self.spend(body),
            Kind::Partial | Kind::ToolCall | Kind::Approval | Kind::ToolResult | Kind::Other => {}
        }
    }

    fn add(&mut self, kind: NodeKind, n: u64, offset: u64, body: &Value) -> Option<Place> {
        let parent = match record::parent_of(body) {
            // What a message followed may be among what is damaged.
            Some(key) => {
                number(key).and_then(|n| self.tree.named(n)).or_else(|| self.tree.newest())
            }
            None => None,
        };
        self.tree.push(NewNode { id: MessageId(offset), n, parent, kind })
    }

    fn complete(&mut self, n: u64, offset: u64, body: &Value) {
        self.spend(body);
        let known = number(&record::id_of(body, n)).and_then(|n| self.tree.named(n));
        let place = known.or_else(|| self.add(NodeKind::Unfinished, n, offset, body));
        if let Some(place) = place {
            self.tree.complete(place, offset);
        }
    }

    fn spend(&mut self, body: &Value) {
        if let Some(usage) = body.get("usage").and_then(record::usage_of) {
            self.usage = sum(self.usage, usage);
        }
    }
}

/// The body of the record that stands at a place in a log.
fn body_at(reader: &mut BufReader<File>, offset: u64) -> Option<Value> {
    reader.seek(SeekFrom::Start(offset)).ok()?;
    let mut bytes = Vec::new();
    let limit = line::LINE_MAX as u64;
    reader.by_ref().take(limit).read_until(b'\n', &mut bytes).ok()?;
    let record = line::parse(&bytes).ok()?;
    serde_json::from_str(record.body).ok()
}
