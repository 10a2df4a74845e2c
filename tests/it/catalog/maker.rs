//! Makes logs, as the store writes them.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

/// Writes the log of one session.
#[derive(Debug)]
pub(crate) struct Maker {
    pub(crate) log: PathBuf,
    next: u64,
    pub(crate) time_ms: i64,
    pub(crate) last: Option<String>,
}

impl Maker {
    /// A session of which nothing is written yet, in a folder of data.
    pub(crate) fn new(data: &Path, id: &str, time_ms: i64) -> Self {
        let folder = data.join("sessions").join(id);
        fs::create_dir_all(&folder).unwrap();
        Self { log: folder.join("log.jsonl"), next: 0, time_ms, last: None }
    }

    /// A session with a first record.
    pub(crate) fn begun(data: &Path, id: &str, time_ms: i64) -> Self {
        let mut maker = Self::new(data, id, time_ms);
        maker.write("meta", &json!({"program": "letterpress 0.1.0"}));
        maker
    }

    /// Writes bytes as they are.
    pub(crate) fn write_raw(&self, bytes: &[u8]) {
        let mut file = OpenOptions::new().append(true).create(true).open(&self.log).unwrap();
        file.write_all(bytes).unwrap();
    }

    /// Writes a record; gives where it begins.
    pub(crate) fn write(&mut self, kind: &str, body: &Value) -> u64 {
        let offset = fs::metadata(&self.log).map_or(0, |meta| meta.len());
        self.write_raw(&self.line(kind, body));
        self.next += 1;
        self.time_ms += 1_000;
        offset
    }

    /// The next record as it would be written.
    pub(crate) fn line(&self, kind: &str, body: &Value) -> Vec<u8> {
        let Self { next, time_ms, .. } = self;
        let body = body.to_string();
        let sum = crc32c::crc32c(body.as_bytes());
        format!(
            "{{\"v\":1,\"n\":{next},\"k\":\"{kind}\",\"t\":{time_ms},\"c\":{sum},\"b\":{body}}}\n"
        )
        .into_bytes()
    }

    /// The id of the next record's message.
    pub(crate) fn id(&self) -> String {
        format!("m{}", self.next)
    }

    /// Writes a message that stands behind the last one; gives where it begins.
    fn message(&mut self, kind: &str, mut body: Value) -> u64 {
        let id = self.id();
        body["id"] = json!(id);
        body["parent"] = json!(self.last);
        self.last = Some(id);
        self.write(kind, &body)
    }

    pub(crate) fn user(&mut self, text: &str) -> u64 {
        self.message("user", json!({"parts": [{"type": "text", "text": text}]}))
    }

    pub(crate) fn reply(&mut self, text: &str) -> u64 {
        self.reply_of(&json!([{"type": "text", "text": text}]))
    }

    pub(crate) fn reply_of(&mut self, parts: &Value) -> u64 {
        self.message(
            "assistant_final",
            json!({"provider": "demo", "model": "demo-1", "parts": parts, "stop": "end"}),
        )
    }

    /// Begins a reply; gives its id and where it begins.
    pub(crate) fn start(&mut self) -> (String, u64) {
        let offset =
            self.message("assistant_start", json!({"provider": "demo", "model": "demo-1"}));
        (self.last.clone().unwrap(), offset)
    }

    pub(crate) fn partial(&mut self, id: &str, key: u32, text: &str) {
        let parts = json!([{"key": key, "type": "text", "add": text}]);
        self.write("partial", &json!({"id": id, "parts": parts}));
    }

    pub(crate) fn finish(&mut self, id: &str, text: &str) {
        let parts = json!([{"type": "text", "text": text}]);
        self.write(
            "assistant_final",
            &json!({"id": id, "model": "demo-2", "parts": parts, "stop": "end"}),
        );
    }

    pub(crate) fn branch(&mut self, leaf: &str) {
        let id = self.id();
        self.write("branch", &json!({"id": id, "leaf": leaf}));
        self.last = Some(leaf.to_owned());
    }

    pub(crate) fn meta(&mut self, body: &Value) {
        self.write("meta", body);
    }
}
