//! What a log says, read without the engine.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use letterpress::{
    model::{
        Message, Role, Snapshot,
        record::{self, Kind, Unfinished},
    },
    store::{self, Line},
};
use serde_json::{Value, json};

/// A message of a log.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) key: String,
    pub(crate) offset: u64,
    pub(crate) parent: Option<String>,
    pub(crate) role: Role,
    pub(crate) message: Message,
    pub(crate) is_finished: bool,
    pieces: Unfinished,
}

/// All that a log says.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) messages: BTreeMap<String, Told>,
    /// The last message of the conversation.
    pub(crate) tip: Option<String>,
    /// The kinds of all records, in order.
    pub(crate) kinds: Vec<Kind>,
    pub(crate) bodies: Vec<Value>,
}

impl Log {
    pub(crate) fn read(path: &Path) -> Self {
        let len = std::fs::metadata(path).unwrap().len();
        let folder = path.parent().unwrap();
        let blob = |sha: &str| store::blob_of(folder, sha);
        let mut log = Self::default();
        for (count, line) in (0..).zip(store::replay(path, len)) {
            let Line::Entry(entry) = line else { panic!("{line:?}") };
            assert_eq!(entry.n, count, "numbers rise by one");
            log.kinds.push(entry.kind);
            log.bodies.push(entry.body.clone());
            let key = record::id_of(&entry.body, entry.n).to_string();
            if entry.kind == Kind::Branch {
                log.tip = record::branch_of(&entry.body).map(|leaf| leaf.to_string());
                continue;
            }
            let begins =
                matches!(entry.kind, Kind::User | Kind::Edit | Kind::Error | Kind::AssistantStart);
            if begins {
                assert_eq!(key, format!("m{}", entry.n));
                let (message, ..) = record::decode_message(&entry.body, entry.kind.role(), &blob);
                let told = Told {
                    key: key.clone(),
                    offset: entry.offset,
                    parent: record::parent_of(&entry.body).map(str::to_owned),
                    role: entry.kind.role(),
                    message,
                    is_finished: entry.kind != Kind::AssistantStart,
                    pieces: Unfinished::default(),
                };
                assert!(log.messages.insert(key.clone(), told).is_none(), "{key} twice");
                log.tip = Some(key.clone());
            }
            let Some(told) = log.messages.get_mut(&key) else { continue };
            if entry.kind == Kind::AssistantFinal {
                assert!(!told.is_finished, "{key} ends twice");
                told.is_finished = true;
                told.message = record::decode_message(&entry.body, Role::Assistant, &blob).0;
            } else if told.role == Role::Assistant {
                assert!(!told.is_finished, "{key} goes on behind its end");
                told.pieces.take(entry.kind, &entry.body, entry.t, &blob);
            }
        }
        for told in log.messages.values_mut().filter(|told| !told.is_finished) {
            told.message = told.pieces.clone().interrupted().0;
        }
        log
    }

    /// The conversation, oldest first.
    pub(crate) fn path(&self) -> Vec<&Told> {
        let mut path = Vec::new();
        let mut seen = BTreeSet::new();
        let mut at = self.tip.as_deref();
        while let Some(key) = at {
            assert!(seen.insert(key), "{key} follows itself");
            let told = &self.messages[key];
            path.push(told);
            at = told.parent.as_deref();
        }
        path.reverse();
        path
    }

    pub(crate) fn words(&self) -> Vec<String> {
        self.path().into_iter().map(|told| words(&told.message)).collect()
    }
}

/// Who says what.
pub(crate) fn words(message: &Message) -> String {
    format!("{}: {}", message.role.name(), crate::live::bench::prose(message))
}

/// All that a message says, without where it stands.
pub(crate) fn plain(message: &Message) -> Value {
    let mut blob = |bytes: &[u8]| store::blob_name(bytes);
    let body = record::encode_message(message, &[], &mut blob);
    json!({"role": message.role.name(), "body": body})
}

/// What is shown of a conversation that is wholly in memory is what its log says.
pub(crate) fn assert_same(snapshot: &Snapshot, log: &Log) {
    assert!(snapshot.arriving.is_none() && snapshot.base.is_none());
    let shown: Vec<_> =
        snapshot.messages().map(|message| (&*message.key, plain(message))).collect();
    let path = log.path();
    let told: Vec<_> = path.iter().map(|told| (&*told.key, plain(&told.message))).collect();
    assert_eq!(shown, told);
    for (message, told) in snapshot.messages().zip(path) {
        assert_eq!(message.id.0, told.offset, "{} is named after its place", told.key);
        assert!(told.is_finished);
    }
}
