//! What is done to a message before it can be set: texts become blocks, escape sequences
//! become colours, pictures get their sizes.

use std::{io::Cursor, sync::Arc};

use image::{ImageReader, Limits};

use crate::{
    markdown::{self, Options},
    markup::{ansi, tabs},
    model::{
        Blocks, Image, ImageData, Message, Output, Part, Role, Text, ToolCall, ToolResult,
        line_starts,
    },
};

/// Fills in what a source leaves open: the blocks of texts, the colours of outputs and the
/// sizes of pictures. What is already there stays.
///
/// Costs time in proportion to the message, so it runs off the UI thread.
#[must_use]
pub fn prepare(mut message: Message) -> Message {
    // People write lines; models write paragraphs.
    let options = Options { hard_breaks: message.role == Role::User, ..Options::default() };
    for part in &mut message.parts {
        prepare_part(part, options);
    }
    message
}

fn prepare_part(part: &mut Part, options: Options) {
    match part {
        Part::Text(text) => prepare_text(text, options),
        Part::Thinking(thinking) => prepare_text(&mut thinking.text, options),
        Part::Image(image) => prepare_image(image),
        Part::ToolCall(call) => prepare_call(Arc::make_mut(call)),
        Part::ToolResult(result) => prepare_result(Arc::make_mut(result)),
        Part::Notice(notice) => prepare_text(&mut notice.text, options),
        Part::Raw(_) => {}
    }
}

fn prepare_text(text: &mut Text, options: Options) {
    if matches!(text.blocks, Blocks::Unparsed) {
        text.blocks = Blocks::Sealed(markdown::parse(&text.source, options));
    }
}

fn prepare_call(call: &mut ToolCall) {
    if let Some(result) = &mut call.result {
        prepare_result(Arc::make_mut(result));
    }
}

pub(super) fn prepare_result(result: &mut ToolResult) {
    prepare_output(&mut result.output);
    result.images.iter_mut().for_each(prepare_image);
}

fn prepare_output(output: &mut Output) {
    let is_raw = output.text.is_empty() || Arc::ptr_eq(&output.text, &output.source);
    if !is_raw || !output.runs.is_empty() {
        return;
    }
    let parsed = ansi::parse(&output.source);
    let (text, runs) = tabs::expand(&parsed.text, parsed.runs);
    output.lines = line_starts(&text);
    output.text = text;
    output.runs = runs.into();
}

/// Reads the size from the header alone; a picture that lies about it is caught when it
/// is decoded.
pub(super) fn prepare_image(image: &mut Image) {
    let ImageData::Bytes(bytes) = &image.data else { return };
    if image.size.is_none() {
        image.size = header_size(bytes);
    }
}

fn header_size(bytes: &[u8]) -> Option<[u32; 2]> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(HEADER_ALLOC_MAX);
    reader.limits(limits);
    let (width, height) = reader.into_dimensions().ok()?;
    (width > 0 && height > 0).then_some([width, height])
}

/// A header needs next to no memory; one that asks for more is not read.
const HEADER_ALLOC_MAX: u64 = 4 * 1024 * 1024;
