//! The JSON that other programs rely on: the exported shape of a message, apart from the
//! model so that neither binds the other.

use base64::{display::Base64Display, engine::general_purpose::STANDARD};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::Images;

use crate::{
    app::timestamp::Iso,
    model::{self, ImageData, Part as ModelPart, Role, ToolCall as Call, ToolResult as Outcome},
};

/// One message.
#[derive(Debug, Serialize)]
pub(in crate::app) struct Message<'a> {
    id: Id<'a>,
    role: &'a str,
    /// The source's own name of a custom role.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    timestamp: Option<Text<Iso>>,
    model: Option<&'a str>,
    parts: Vec<Part<'a>>,
    stop_reason: Option<&'a str>,
    usage: Option<Usage>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    orphan: Option<Orphan<'a>>,
}

/// What a tool result that found no call says of itself.
#[derive(Debug, Serialize)]
struct Orphan<'a> {
    tool_call_id: &'a str,
    tool_name: &'a str,
    is_error: bool,
}

/// The source's id, or the place in the file when the source gives none.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Id<'a> {
    Key(&'a str),
    Place(Text<model::MessageId>),
}

/// Something that is written as the text it prints.
#[derive(Debug)]
struct Text<T>(T);

impl<T: std::fmt::Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// Bytes that are written in base64.
#[derive(Debug)]
struct Encoded<'a>(&'a [u8]);

impl Serialize for Encoded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Base64Display::new(self.0, &STANDARD))
    }
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text {
        text: &'a str,
    },
    Thinking {
        text: &'a str,
        #[serde(skip_serializing_if = "is_false")]
        redacted: bool,
    },
    Image {
        media_type: &'a str,
        bytes: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        address: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        problem: Option<&'a str>,
        /// In base64, where pictures are wanted.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<Encoded<'a>>,
    },
    ToolCall {
        id: &'a str,
        name: &'a str,
        arguments: &'a Value,
        state: &'static str,
        result: Option<ToolResult<'a>>,
    },
    Notice {
        kind: &'a str,
        text: std::borrow::Cow<'a, str>,
    },
    Raw {
        json: Value,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Debug, Serialize)]
struct ToolResult<'a> {
    is_error: bool,
    parts: Vec<Part<'a>>,
}

/// Tokens and cost.
#[derive(Debug, Serialize)]
pub(in crate::app) struct Usage {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    cost: Option<f64>,
}

/// Where a conversation came from.
#[derive(Debug, Serialize)]
pub(super) struct Source<'a> {
    pub(super) format: &'a str,
    pub(super) path: &'a str,
}

/// Something that was met and survived.
#[derive(Debug, Serialize)]
pub(super) struct Warning<'a> {
    line: u64,
    message: &'a str,
}

impl<'a> From<&'a model::Warning> for Warning<'a> {
    fn from(warning: &'a model::Warning) -> Self {
        Self { line: warning.line.0, message: &warning.message }
    }
}

impl<'a> From<&'a model::Message> for Message<'a> {
    fn from(message: &'a model::Message) -> Self {
        Self::new(message, Images::Named)
    }
}

impl<'a> Message<'a> {
    /// The exported shape of a message, with its pictures inside or only named.
    pub(super) fn new(message: &'a model::Message, images: Images) -> Self {
        let id = match &*message.key {
            "" => Id::Place(Text(message.id)),
            key => Id::Key(key),
        };
        let (role, name) = match &message.role {
            Role::Custom(name) => ("custom", Some(&**name)),
            role => (role.name(), None),
        };
        Self {
            id,
            role,
            name,
            timestamp: message.timestamp_ms.map(|ms| Text(Iso(ms))),
            model: message.model.as_deref(),
            parts: parts(message, images),
            stop_reason: message.stop.as_ref().map(model::StopReason::name),
            usage: message.usage.map(Usage::from),
            orphan: message.parts.iter().find_map(Orphan::of),
        }
    }
}

impl<'a> Orphan<'a> {
    fn of(part: &'a ModelPart) -> Option<Self> {
        let ModelPart::ToolResult(result) = part else { return None };
        Some(Self {
            tool_call_id: &result.call_id,
            tool_name: &result.tool_name,
            is_error: result.is_error,
        })
    }
}

impl From<model::Usage> for Usage {
    fn from(usage: model::Usage) -> Self {
        let model::Usage { input, output, cache_read, cache_write, cost } = usage;
        Self { input, output, cache_read, cache_write, cost }
    }
}

/// The parts, and behind them the error that ended the message.
fn parts(message: &model::Message, images: Images) -> Vec<Part<'_>> {
    let mut parts = Vec::with_capacity(message.parts.len());
    for part in &message.parts {
        match part {
            ModelPart::Text(text) => parts.push(Part::Text { text: &text.source }),
            ModelPart::Thinking(thinking) => parts
                .push(Part::Thinking { text: &thinking.text.source, redacted: thinking.redacted }),
            ModelPart::Image(image) => parts.push(Part::image(image, images)),
            ModelPart::ToolCall(call) => parts.push(Part::call(call, images)),
            ModelPart::ToolResult(result) => result_parts(result, images, &mut parts),
            ModelPart::Notice(notice) => parts.push(Part::Notice {
                kind: notice.kind.name(),
                text: (&*notice.text.source).into(),
            }),
            ModelPart::Raw(raw) => parts.push(Part::Raw { json: raw_json(&raw.text) }),
        }
    }
    if let Some(error) = &message.error {
        parts.push(Part::Notice { kind: "error", text: (&**error).into() });
    }
    parts
}

fn result_parts<'a>(result: &'a Outcome, images: Images, parts: &mut Vec<Part<'a>>) {
    if !result.output.source.is_empty() {
        parts.push(Part::Text { text: &result.output.source });
    }
    if result.output.omitted > 0 {
        let text = format!("{} bytes are left out of the middle", result.output.omitted);
        parts.push(Part::Notice { kind: "omitted", text: text.into() });
    }
    parts.extend(result.images.iter().map(|image| Part::image(image, images)));
}

impl<'a> Part<'a> {
    fn image(image: &'a model::Image, images: Images) -> Self {
        let (held, address, problem): (&[u8], _, _) = match &image.data {
            ImageData::Bytes(bytes) => (bytes, None, None),
            ImageData::Address(address) => (&[], Some(&**address), None),
            ImageData::Unusable(problem) => (&[], None, Some(&**problem)),
        };
        let is_inside = images == Images::Inside && !held.is_empty();
        let data = is_inside.then_some(Encoded(held));
        let (media_type, bytes) = (&*image.media_type, held.len());
        Self::Image { media_type, bytes, address, problem, data }
    }

    fn call(call: &'a Call, images: Images) -> Self {
        let result = call.result.as_ref().map(|result| {
            let mut parts = Vec::new();
            result_parts(result, images, &mut parts);
            ToolResult { is_error: result.is_error, parts }
        });
        Self::ToolCall {
            id: &call.id,
            name: &call.name,
            arguments: &call.arguments,
            state: call.state.name(),
            result,
        }
    }
}

/// The record itself when it is JSON, else its text.
fn raw_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
