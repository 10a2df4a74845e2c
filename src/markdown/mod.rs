//! Markdown: text in, blocks out.
//!
//! `CommonMark` and the additions of `GitHub` (tables, task lists, strikethrough, bare addresses,
//! footnotes, alerts), formulas, and the handful of HTML tags that models write. Everything else
//! that looks like HTML is shown as text: nothing is interpreted, fetched or hidden.
//!
//! [`parse()`] takes a finished text, [`Stream`] one that arrives in deltas; both give the same
//! blocks for the same text, however it was cut up. Input is hostile: nesting, tables and links
//! are capped, and no cost grows faster than the text.

pub mod hygiene;

mod build;
mod delimiters;
mod frames;
mod html;
mod inline;
mod leaves;
mod lines;
mod links;
mod openers;
mod parse;
mod partial;
mod raw;
mod returns;
mod scan;
mod seal;
mod spans;
mod stream;
mod table;
mod tail;
mod target;

use std::sync::Arc;

pub use stream::Stream;

use crate::model::Block;

/// How a text is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Soft breaks become line breaks: people mean them when they type.
    pub hard_breaks: bool,
    /// `$…$` is a formula by pandoc's rule. Off by default: money looks the same.
    pub dollar_math: bool,
}

/// The blocks of a finished text.
///
/// Time and memory are linear in the text. Equal to a [`Stream`] that was fed the same text.
#[must_use]
pub fn parse(text: &str, options: Options) -> Arc<[Arc<Block>]> {
    stream::parse_whole(text, options)
}
