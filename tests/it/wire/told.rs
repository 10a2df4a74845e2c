//! What a list of events tells: folded for comparing, and held against its contract.

use std::collections::BTreeMap;

use letterpress::{
    model::{
        Image, Usage,
        stream::{
            ArgumentError, Close, Echo, EndState, ReplyBlock, ReplyKind, StreamError, StreamEvent,
        },
    },
    wire::{BodyEnd, Head, Reply, ReplySource},
};
use serde_json::Value;

/// A reply put together.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) text: String,
    pub(super) reasoning: String,
    pub(super) refusal: String,
    pub(super) calls: Vec<Call>,
    pub(super) others: Vec<String>,
    pub(super) images: Vec<Image>,
    pub(super) echoes: Vec<Echo>,
    pub(super) usage: Option<Usage>,
    pub(super) warnings: Vec<&'static str>,
    pub(super) keep_alives: usize,
    pub(super) end: Option<EndState>,
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) streamed: String,
    pub(super) arguments: Result<Value, ArgumentError>,
}

/// What is being put together for one block.
#[derive(Debug, Default)]
struct Open {
    kind: Option<ReplyKind>,
    call: Option<(String, String)>,
    content: String,
}

impl Told {
    /// Folds events, and panics where they break the contract of [`StreamEvent`].
    pub(super) fn of(events: &[StreamEvent]) -> Self {
        let mut told = Self::default();
        let mut open = BTreeMap::new();
        let mut closed = BTreeMap::new();
        let mut next = 0;
        for (index, event) in events.iter().enumerate() {
            assert!(told.end.is_none(), "an event behind the end: {event:?}");
            match event {
                StreamEvent::Started { .. } => {
                    assert!(
                        !events[..index].iter().any(|e| matches!(e, StreamEvent::Started { .. })),
                        "started twice"
                    );
                }
                StreamEvent::BlockOpen { block, kind } => {
                    begin(&mut open, &mut next, *block).kind = Some(kind.clone());
                }
                StreamEvent::ToolOpen { block, id, name } => {
                    begin(&mut open, &mut next, *block).call =
                        Some((id.to_string(), name.to_string()));
                }
                StreamEvent::Text { block, delta } => {
                    let block = fill(&mut open, *block, delta);
                    assert!(block.kind.is_some() && block.kind != Some(ReplyKind::Reasoning));
                }
                StreamEvent::Reasoning { block, delta } => {
                    let block = fill(&mut open, *block, delta);
                    assert_eq!(block.kind, Some(ReplyKind::Reasoning));
                }
                StreamEvent::ToolArgs { block, delta } => {
                    assert!(fill(&mut open, *block, delta).call.is_some());
                }
                StreamEvent::BlockClose { block, close } => {
                    let content = open.remove(block).expect("only open blocks close");
                    closed.insert(*block, (content, close));
                }
                StreamEvent::Opaque { block, echo } => {
                    assert!(block.0 < next, "what goes back belongs to a block that was opened");
                    told.echoes.push(echo.clone());
                }
                StreamEvent::Usage(usage) => told.usage = Some(*usage),
                StreamEvent::RateLimit(_) => {}
                StreamEvent::Warning(warning) => told.warnings.push(warning.code.name()),
                StreamEvent::KeepAlive => told.keep_alives += 1,
                StreamEvent::End(end) => told.end = Some(end.clone()),
            }
        }
        assert!(open.is_empty(), "blocks are open at the end: {open:?}");
        assert!(told.end.is_some(), "no end");
        for (content, close) in closed.into_values() {
            told.close(content, close);
        }
        told
    }

    pub(super) fn end(&self) -> &EndState {
        self.end.as_ref().expect("checked when folded")
    }

    /// The error of a failed reply.
    pub(super) fn error(&self) -> &StreamError {
        match self.end() {
            EndState::Failed(error) => error,
            other => panic!("did not fail but ended as {other:?}"),
        }
    }

    fn close(&mut self, block: Open, close: &Close) {
        let content = match close {
            Close::Replaced(text) => text.clone(),
            _ => block.content,
        };
        if let Some((id, name)) = block.call {
            let Close::Arguments(arguments) = close else { panic!("a call closes as {close:?}") };
            let arguments = arguments.clone();
            return self.calls.push(Call { id, name, streamed: content, arguments });
        }
        match block.kind.expect("no call, so it has a kind") {
            ReplyKind::Text => self.text.push_str(&content),
            ReplyKind::Reasoning => self.reasoning.push_str(&content),
            ReplyKind::Refusal => self.refusal.push_str(&content),
            ReplyKind::Image => match close {
                Close::Image(image) => self.images.push(image.clone()),
                other => panic!("a picture closes as {other:?}"),
            },
            ReplyKind::Other(name) => self.others.push(name.to_string()),
        }
    }
}

fn begin<'a>(
    open: &'a mut BTreeMap<ReplyBlock, Open>,
    next: &mut u32,
    block: ReplyBlock,
) -> &'a mut Open {
    assert_eq!(block.0, *next, "blocks are numbered in order of arrival");
    *next += 1;
    open.entry(block).or_default()
}

fn fill<'a>(
    open: &'a mut BTreeMap<ReplyBlock, Open>,
    block: ReplyBlock,
    delta: &str,
) -> &'a mut Open {
    assert!(!delta.is_empty(), "empty deltas are not passed on");
    let block = open.get_mut(&block).expect("only open blocks are filled");
    block.content.push_str(delta);
    block
}

/// Reads a body that comes in these pieces.
pub(super) fn read(
    source: &ReplySource,
    head: &Head,
    pieces: &[&[u8]],
    end: BodyEnd,
) -> Vec<StreamEvent> {
    let mut reply = Reply::new(source, head.clone());
    let mut events = Vec::new();
    for piece in pieces {
        reply.feed(piece, &mut events);
    }
    reply.finish(end, &mut events);
    events
}

/// A generator of numbers that are the same in every run.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound.max(1) as u64) as usize
    }

    /// Pieces of chance lengths: mostly a few bytes, sometimes many, sometimes none.
    pub(super) fn cut<'a>(&mut self, bytes: &'a [u8]) -> Vec<&'a [u8]> {
        let mut pieces = Vec::new();
        let mut rest = bytes;
        let longest = [1, 3, 17, 200, 4096][self.below(5)];
        while !rest.is_empty() {
            let (piece, tail) = rest.split_at((self.below(longest) + 1).min(rest.len()));
            pieces.push(piece);
            if self.below(20) == 0 {
                pieces.push(&[]);
            }
            rest = tail;
        }
        pieces
    }
}
