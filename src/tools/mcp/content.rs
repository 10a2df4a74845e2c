//! What a call gives back, within bounds.

use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::Value;

use super::log::clip;
use crate::model::{Image, ImageData, Output, ToolResult};

/// Parts of one result.
const MAX_PARTS: usize = 1_000;
/// Bytes of text in one result.
const MAX_TEXT: usize = 16 << 20;
/// Bytes of one picture, recording or file.
const MAX_BYTES: usize = 20 << 20;
/// Bytes of a name, an address or a media type.
const MAX_LABEL: usize = 4 * 1024;
/// Bytes of what is not understood that are kept.
const MAX_UNKNOWN: usize = 64 * 1024;

/// What a call gave back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallOutcome {
    /// The tool says that it failed.
    pub is_error: bool,
    /// What it gave, in order.
    pub content: Vec<Content>,
    /// The same as data, when the tool has a schema for it.
    pub structured: Option<Value>,
    /// Bytes that were left out because they were too many.
    pub omitted: u64,
}

/// A part of a result, of a resource, or of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Text as it came; it may hold escape sequences.
    Text(Arc<str>),
    /// A picture.
    Image(Image),
    /// A recording.
    Audio {
        /// As the server declares it.
        media_type: Arc<str>,
        /// Its bytes.
        bytes: Arc<[u8]>,
    },
    /// The text of a resource.
    Resource {
        /// Its address. Shown, never fetched.
        uri: Arc<str>,
        /// As the server declares it; may be empty.
        media_type: Arc<str>,
        /// Its text.
        text: Arc<str>,
    },
    /// The bytes of a resource.
    Blob {
        /// Its address. Shown, never fetched.
        uri: Arc<str>,
        /// As the server declares it; may be empty.
        media_type: Arc<str>,
        /// Its bytes.
        bytes: Arc<[u8]>,
    },
    /// The address of a resource. Shown, never fetched.
    Link {
        /// The address.
        uri: Arc<str>,
        /// What to call it.
        name: Arc<str>,
        /// What it is; may be empty.
        description: Arc<str>,
        /// As the server declares it; may be empty.
        media_type: Arc<str>,
    },
    /// What is not understood, or cannot be used.
    Unknown {
        /// What is wrong.
        why: Arc<str>,
        /// The part as it came, shortened.
        json: Arc<str>,
    },
}

impl CallOutcome {
    /// Reads the answer to a call.
    pub(super) fn read(mut answer: Value) -> Result<Self, String> {
        let Some(map) = answer.as_object_mut() else {
            return Err("it is no object".into());
        };
        let is_error = map.get("isError").and_then(Value::as_bool).unwrap_or(false);
        let structured = map.remove("structuredContent").filter(|value| !value.is_null());
        let mut reader = Reader::default();
        match map.remove("content") {
            Some(Value::Array(parts)) => reader.read_all(parts),
            None | Some(Value::Null) => {}
            Some(other) => reader.parts.push(unknown("its content is no list", &other)),
        }
        // Structured results are text for a model; most servers send them as text as well.
        if reader.parts.is_empty()
            && let Some(structured) = &structured
        {
            reader.text(&structured.to_string(), Content::Text);
        }
        Ok(Self { is_error, content: reader.parts, structured, omitted: reader.omitted })
    }

    /// All its text, for the model: what is no text stands as a line about it.
    #[must_use]
    pub fn text(&self) -> String {
        let mut lines: Vec<String> = self.content.iter().filter_map(Content::words).collect();
        if self.omitted > 0 {
            lines.push(format!("[{} bytes were left out]", self.omitted));
        }
        lines.join("\n")
    }

    /// The result of a call, for the conversation. Its text is not cleaned of escape
    /// sequences yet.
    #[must_use]
    pub fn into_result(self, call_id: Arc<str>, tool_name: Arc<str>) -> ToolResult {
        let output = Output::plain(self.text());
        let images = self.content.into_iter().filter_map(|content| match content {
            Content::Image(image) => Some(image),
            _ => None,
        });
        ToolResult {
            call_id,
            tool_name,
            is_error: self.is_error,
            output,
            told: None,
            images: images.collect(),
            details: self.structured.unwrap_or_default(),
        }
    }
}

impl Content {
    /// Reads one part that stands alone, as in a prompt.
    pub(super) fn read(value: Value) -> Self {
        let mut reader = Reader::default();
        reader.read(value);
        let nothing = || unknown("it is empty", &Value::Null);
        reader.parts.pop().unwrap_or_else(nothing)
    }

    /// Reads the contents of a resource.
    pub(super) fn read_resources(contents: Vec<Value>) -> (Vec<Self>, u64) {
        let mut reader = Reader::default();
        for value in contents {
            if !reader.is_full() {
                reader.resource(value);
            }
        }
        (reader.parts, reader.omitted)
    }

    /// The part as text; none for a picture, which stands for itself.
    fn words(&self) -> Option<String> {
        Some(match self {
            Self::Text(text) => text.as_ref().to_owned(),
            Self::Image(image) => match &image.data {
                ImageData::Bytes(_) => return None,
                ImageData::Address(why) | ImageData::Unusable(why) => format!("[picture: {why}]"),
            },
            Self::Audio { media_type, bytes } => {
                format!("[recording: {media_type}, {} bytes]", bytes.len())
            }
            Self::Resource { uri, text, .. } => format!("[resource: {uri}]\n{text}"),
            Self::Blob { uri, media_type, bytes } => {
                format!("[resource: {uri}, {media_type}, {} bytes]", bytes.len())
            }
            Self::Link { uri, name, description, .. } if description.is_empty() => {
                format!("[link: {name}, {uri}]")
            }
            Self::Link { uri, name, description, .. } => {
                format!("[link: {name}, {uri}: {description}]")
            }
            Self::Unknown { why, json } => format!("[{why}: {json}]"),
        })
    }
}

/// Reads parts until there are too many.
#[derive(Default)]
struct Reader {
    parts: Vec<Content>,
    text: usize,
    omitted: u64,
}

impl Reader {
    fn is_full(&self) -> bool {
        self.parts.len() >= MAX_PARTS
    }

    fn read_all(&mut self, parts: Vec<Value>) {
        let count = parts.len();
        for value in parts {
            if self.is_full() {
                let why = format!("{} further parts were left out", count - MAX_PARTS);
                self.parts.push(unknown(&why, &Value::Null));
                return;
            }
            self.read(value);
        }
    }

    fn read(&mut self, mut value: Value) {
        let kind = value.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let media_type = label(&value, "mimeType");
        match (kind.as_str(), value.as_object_mut()) {
            ("text", Some(map)) => match map.remove("text") {
                Some(Value::String(text)) => self.text(&text, Content::Text),
                _ => self.parts.push(unknown("a text without text", &value)),
            },
            ("image", Some(map)) => {
                let data = match decode(map.remove("data")) {
                    Ok(bytes) => ImageData::Bytes(bytes),
                    Err(why) => ImageData::Unusable(why.into()),
                };
                self.parts.push(Content::Image(Image { media_type, data, size: None }));
            }
            ("audio", Some(map)) => self.parts.push(match decode(map.remove("data")) {
                Ok(bytes) => Content::Audio { media_type, bytes },
                Err(why) => unknown(&format!("a recording: {why}"), &Value::Null),
            }),
            ("resource", Some(map)) => {
                let resource = map.remove("resource").unwrap_or_default();
                self.resource(resource);
            }
            ("resource_link", _) => self.parts.push(Content::Link {
                uri: label(&value, "uri"),
                name: label(&value, "name"),
                description: label(&value, "description"),
                media_type,
            }),
            _ => self.parts.push(unknown("a part of an unknown kind", &value)),
        }
    }

    fn resource(&mut self, mut value: Value) {
        let (uri, media_type) = (label(&value, "uri"), label(&value, "mimeType"));
        let (text, blob) = match value.as_object_mut() {
            Some(map) => (map.remove("text"), map.remove("blob")),
            None => (None, None),
        };
        match (text, blob) {
            (Some(Value::String(text)), _) => {
                self.text(&text, |text| Content::Resource { uri, media_type, text });
            }
            (_, Some(blob)) => self.parts.push(match decode(Some(blob)) {
                Ok(bytes) if media_type.starts_with("image/") => {
                    Content::Image(Image { media_type, data: ImageData::Bytes(bytes), size: None })
                }
                Ok(bytes) => Content::Blob { uri, media_type, bytes },
                Err(why) => unknown(&format!("the resource {uri}: {why}"), &Value::Null),
            }),
            _ => self.parts.push(unknown("a resource without content", &value)),
        }
    }

    fn text(&mut self, text: &str, part: impl FnOnce(Arc<str>) -> Content) {
        let room = MAX_TEXT - self.text;
        let kept = text.floor_char_boundary(room);
        let short = text.get(..kept).unwrap_or_default();
        self.omitted += (text.len() - kept) as u64;
        self.text += kept;
        self.parts.push(part(short.into()));
    }
}

fn label(value: &Value, key: &str) -> Arc<str> {
    clip(value.get(key).and_then(Value::as_str).unwrap_or_default(), MAX_LABEL).into()
}

fn decode(data: Option<Value>) -> Result<Arc<[u8]>, &'static str> {
    let Some(Value::String(data)) = data else {
        return Err("it has no data");
    };
    if data.len() / 4 * 3 > MAX_BYTES {
        return Err("it is larger than 20 MB");
    }
    // Some encoders break lines, and some leave the padding out.
    let clean: Vec<u8> = data.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let whole = BASE64_STANDARD.decode(&clean);
    let bytes = whole.or_else(|_| base64::prelude::BASE64_STANDARD_NO_PAD.decode(&clean));
    bytes.map(Into::into).map_err(|_error| "it is not valid base64")
}

fn unknown(why: &str, value: &Value) -> Content {
    Content::Unknown {
        why: clip(why, MAX_LABEL).into(),
        json: clip(&value.to_string(), MAX_UNKNOWN).into(),
    }
}
