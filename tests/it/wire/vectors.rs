//! Wire vectors as data: bytes, and what must come of them under every way to cut them.

use std::{path::PathBuf, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use letterpress::{
    model::stream::{EndState, OptionalField, Retry, StreamEvent, Wire},
    wire::{
        BodyEnd, Head, Reply, ReplySource,
        frame::{SseFrame, SseFramer},
    },
};
use serde_json::{Value, json};

use super::told::{Chance, Told, read};

/// 30 November 2026, in milliseconds since 1970.
const NOW_MS: i64 = 1_796_000_000_000;

pub(super) fn load(file: &str) -> Option<Vec<Value>> {
    let Some(folder) = std::env::var_os("LETTERPRESS_VECTORS") else {
        println!("skipped: LETTERPRESS_VECTORS names no folder");
        return None;
    };
    let path = PathBuf::from(folder).join(file);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Some(serde_json::from_str(&text).expect("vectors are a JSON array"))
}

fn decode(value: &Value) -> Vec<u8> {
    STANDARD.decode(value.as_str().expect("base64 text")).expect("valid base64")
}

#[test]
fn sse_vectors_at_every_cut() {
    let Some(vectors) = load("sse_vectors.json") else { return };
    assert!(!vectors.is_empty());
    let mut runs = 0;
    for vector in &vectors {
        let bytes = decode(&vector["bytes_b64"]);
        let mut check = |pieces: &[&[u8]]| {
            assert_eq!(sse_events(pieces), vector["strict"], "{} as {pieces:?}", vector["name"]);
            runs += 1;
        };
        check(&[&bytes]);
        check(&bytes.chunks(1).collect::<Vec<_>>());
        for at in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(at);
            check(&[head, tail]);
        }
        let mut chance = Chance(7);
        for _ in 0..20 {
            check(&chance.cut(&bytes));
        }
    }
    println!("{} SSE vectors, {runs} runs", vectors.len());
}

fn sse_events(pieces: &[&[u8]]) -> Value {
    let mut framer = SseFramer::new();
    let mut frames = Vec::new();
    for piece in pieces {
        framer.feed(piece, &mut frames).expect("no vector is too large");
    }
    let events = frames.into_iter().filter_map(|frame| match frame {
        SseFrame::Event(e) => Some(json!({"event": e.name, "data": e.data, "id": e.id})),
        _ => None,
    });
    events.collect()
}

#[test]
fn provider_vectors_at_every_cut() {
    let Some(vectors) = load("provider_vectors.json") else { return };
    assert!(!vectors.is_empty());
    let mut failures = Vec::new();
    for vector in &vectors {
        let vector = Vector::of(vector);
        let whole = vector.run(&[&vector.bytes]);
        failures.extend(vector.check(&Told::of(&whole)));
        for pieces in vector.cuts() {
            if vector.run(&pieces) != whole {
                failures.push(format!("{}: cut as {pieces:?} gives other events", vector.id()));
            }
        }
    }
    println!("{} provider vectors", vectors.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

pub(super) struct Vector<'a> {
    value: &'a Value,
    source: ReplySource,
    head: Head,
    chunks: Vec<Vec<u8>>,
    bytes: Vec<u8>,
}

impl<'a> Vector<'a> {
    pub(super) fn of(value: &'a Value) -> Self {
        let wire = match value["wire"].as_str() {
            Some("chat") => Wire::Chat,
            Some("responses") => Wire::Responses,
            Some("anthropic") => Wire::Anthropic,
            Some("ollama") => Wire::Ollama,
            Some("gemini") => Wire::Gemini,
            other => panic!("unknown wire {other:?}"),
        };
        let status = value["status"].as_u64().expect("a status") as u16;
        let header = |name: &str| value["headers"].get(name).and_then(Value::as_str);
        let chunks: Vec<_> =
            value["chunks_b64"].as_array().expect("chunks").iter().map(decode).collect();
        Self {
            value,
            source: ReplySource { wire, host: Arc::from("host"), seed: 1 << 80 },
            head: Head::read(status, header, NOW_MS),
            bytes: chunks.concat(),
            chunks,
        }
    }

    pub(super) fn id(&self) -> &str {
        self.value["id"].as_str().unwrap_or_default()
    }

    pub(super) fn source(&self) -> &ReplySource {
        &self.source
    }

    pub(super) fn status(&self) -> u16 {
        self.head.status
    }

    pub(super) fn headers(&self) -> Vec<(&str, &str)> {
        let headers = self.value["headers"].as_object().expect("headers");
        headers.iter().map(|(name, v)| (name.as_str(), v.as_str().expect("text"))).collect()
    }

    pub(super) fn chunks(&self) -> &[Vec<u8>] {
        &self.chunks
    }

    pub(super) fn end(&self) -> &str {
        self.value["end"].as_str().expect("an end")
    }

    /// As the file says, byte by byte, at every single place, and by chance.
    fn cuts(&self) -> Vec<Vec<&[u8]>> {
        let mut cuts: Vec<Vec<&[u8]>> =
            vec![self.chunks.iter().map(Vec::as_slice).collect(), self.bytes.chunks(1).collect()];
        cuts.extend((0..self.bytes.len()).map(|at| {
            let (head, tail) = self.bytes.split_at(at);
            vec![head, tail]
        }));
        let mut chance = Chance(self.bytes.len() as u64);
        cuts.extend((0..20).map(|_| chance.cut(&self.bytes)));
        cuts
    }

    fn run(&self, pieces: &[&[u8]]) -> Vec<StreamEvent> {
        let end = match self.end() {
            "eof" => BodyEnd::Eof,
            "reset" => BodyEnd::Broken("reset".into()),
            "heartbeats:forever" => return self.run_with_heartbeats(pieces),
            stall if stall.starts_with("stall") => BodyEnd::Stalled,
            other => panic!("unknown end {other}"),
        };
        read(&self.source, &self.head, pieces, end)
    }

    /// The caller sees that the answer is finished, waits a little, and closes by itself.
    fn run_with_heartbeats(&self, pieces: &[&[u8]]) -> Vec<StreamEvent> {
        let mut reply = Reply::new(&self.source, self.head.clone());
        let mut events = Vec::new();
        for piece in pieces {
            reply.feed(piece, &mut events);
        }
        for _ in 0..5 {
            reply.feed(b": heartbeat\n\n", &mut events);
        }
        assert!(reply.is_finishing(), "{}: the caller may close", self.id());
        reply.finish(BodyEnd::Eof, &mut events);
        events
    }

    /// What differs from what is expected, one line each.
    pub(super) fn check(&self, told: &Told) -> Vec<String> {
        let expect = self.value["expect"].as_object().expect("expectations");
        let differs = expect.iter().filter_map(|(key, expected)| {
            let expected = expected.clone();
            let got = actual(key, &expected, told);
            (got != expected).then(|| {
                format!("{}: {key} is {got}, expected {expected}; {:?}", self.id(), told.end())
            })
        });
        differs.collect()
    }
}

/// What a reply says under a key of the vectors, in the shape they use.
fn actual(key: &str, expected: &Value, told: &Told) -> Value {
    match key {
        "text" => json!(told.text),
        "reasoning" => json!(told.reasoning),
        "end" => json!(match told.end() {
            EndState::Complete { .. } => "Complete",
            EndState::Incomplete => "Incomplete",
            EndState::Interrupted { .. } => "Interrupted",
            EndState::Failed(_) => "Failed",
            EndState::Cancelled => "Cancelled",
        }),
        "reason" => match told.end() {
            EndState::Complete { reason, .. } => json!(reason.name()),
            _ => Value::Null,
        },
        "class" => json!(told.error().class.name()),
        "retry" => json!(told.end().retry() != Retry::Never),
        "retry_after_ms" => match (told.error().retry, told.error().wait) {
            (Retry::After(wait), _) => json!(wait.as_millis() as u64),
            // Stated in words: a pause too long to wait for, which is told but not waited.
            (Retry::Never, Some(_)) if expected.is_string() => expected.clone(),
            _ => Value::Null,
        },
        "resend_without" => match told.end().retry() {
            Retry::Without(OptionalField::StreamOptions) => json!("stream_options"),
            _ => Value::Null,
        },
        "usage" => told.usage.map_or(Value::Null, |usage| json!([usage.input, usage.output])),
        "run" => json!(told.end().tools_may_run()),
        "calls" => told
            .calls
            .iter()
            .map(|call| json!([call.name, call.arguments.clone().unwrap_or_default()]))
            .collect(),
        "call_error" => {
            let invalid = told.calls.iter().any(|call| {
                call.arguments.as_ref().is_err_and(|e| e.to_string().contains("not valid JSON"))
            });
            if invalid { json!("invalid JSON") } else { Value::Null }
        }
        "warnings" => {
            let named = expected.as_array().expect("a list of warnings");
            named.iter().filter(|w| told.warnings.iter().any(|have| *w == have)).cloned().collect()
        }
        "raw_blocks" => json!(told.others.len()),
        "echo_exact" => told
            .echoes
            .iter()
            .map(|echo| serde_json::from_str::<Value>(&echo.json).expect("echoes are JSON"))
            .collect(),
        "minted_ids" => {
            let mut ids: Vec<_> = told.calls.iter().map(|call| &call.id).collect();
            ids.dedup();
            assert!(ids.iter().all(|id| id.starts_with("call_") && id.len() == 31), "{ids:?}");
            json!(ids.len())
        }
        // Shown with real sockets, where there is a clock.
        "closed_by" | "note2" => expected.clone(),
        other => panic!("a vector expects {other}, which this test does not know"),
    }
}
