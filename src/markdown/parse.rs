//! The one place that runs the parser.

use std::{cell::Cell, collections::HashMap, ops::Range};

use pulldown_cmark::{
    BrokenLink, BrokenLinkCallback, CowStr, Event, Options, Parser, RefDefs, Tag,
};

use super::{
    build::{Builder, Input, Region, Seam},
    leaves::is_inline,
};
use crate::model::{Block, BlockKind};

/// Bytes of addresses that references may bring into one parse before the parser stops
/// resolving them (it allows 100 KB, or the length of its input).
const EXPANSION_WATCH: usize = 90_000;

/// A definition with a longer address than this gives no link: every reference copies it.
pub(super) const TARGET_LIMIT: usize = 2_048;

/// The link reference definitions of a message. The first of a label wins.
#[derive(Default)]
pub(super) struct Definitions {
    by_label: HashMap<String, Definition>,
}

struct Definition {
    label: String,
    target: String,
}

impl Definitions {
    /// How many there are; grows only.
    pub(super) fn len(&self) -> usize {
        self.by_label.len()
    }

    /// Adds those of `found` that begin before `end`.
    pub(super) fn add(&mut self, found: Vec<FoundDefinition>, end: usize) {
        for FoundDefinition { label, target, start } in found {
            if start < end {
                let target = if target.len() > TARGET_LIMIT { String::new() } else { target };
                self.by_label.entry(fold(&label)).or_insert(Definition { label, target });
            }
        }
    }

    fn target(&self, label: &str) -> Option<&str> {
        self.by_label.get(&fold(label)).map(|definition| definition.target.as_str())
    }

    /// Definitions of earlier text that `refs` would override, as markdown.
    fn overridden_by(&self, refs: &RefDefs<'_>) -> String {
        if self.by_label.is_empty() {
            return String::new();
        }
        let mut lines: Vec<_> = refs
            .iter()
            .filter_map(|(label, def)| {
                let earlier = self.by_label.get(&fold(label))?;
                let same = earlier.target == *def.dest
                    || (earlier.target.is_empty() && def.dest.len() > TARGET_LIMIT);
                (!same).then(|| earlier.to_markdown())
            })
            .collect();
        lines.sort_unstable();
        lines.concat()
    }
}

impl Definition {
    fn to_markdown(&self) -> String {
        let mut target = String::with_capacity(self.target.len());
        for c in self.target.chars() {
            match c {
                '<' | '>' | '\\' => target.extend(['\\', c]),
                '&' => target.push_str("&amp;"),
                _ => target.push(c),
            }
        }
        format!("[{}]: <{target}>\n\n", self.label)
    }
}

/// A definition that a parse came upon.
pub(super) struct FoundDefinition {
    label: String,
    target: String,
    pub(super) start: usize,
}

/// Labels match without regard to case, by full case folding.
fn fold(label: &str) -> String {
    label.to_lowercase().to_uppercase()
}

/// What a parse gives.
pub(super) struct Outcome {
    pub(super) regions: Vec<Region>,
    pub(super) seam: Seam,
    /// In the order of the text.
    pub(super) definitions: Vec<FoundDefinition>,
    /// References brought in so much that the parser may have stopped resolving them.
    pub(super) heavy: bool,
}

/// Parses `prepared`, the masked form of `input.original` with its virtual closers.
pub(super) fn parse(prepared: &str, input: Input<'_>, definitions: &Definitions) -> Outcome {
    let unresolved = Cell::new(false);
    let parser = parser(prepared, definitions, &unresolved);
    let prefix = definitions.overridden_by(parser.reference_definitions());
    if prefix.is_empty() {
        return run(parser, input, &unresolved, 0);
    }
    // An earlier definition wins, but the parser asks for those only after its own.
    let text = format!("{prefix}{prepared}");
    run(self::parser(&text, definitions, &unresolved), input, &unresolved, prefix.len())
}

fn parser<'a>(
    text: &'a str,
    definitions: &'a Definitions,
    unresolved: &'a Cell<bool>,
) -> Parser<'a, impl BrokenLinkCallback<'a>> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM;
    let resolve = move |link: BrokenLink<'a>| {
        let target = definitions.target(&link.reference);
        if target.is_none() {
            unresolved.set(true);
        }
        target.map(|target| (CowStr::from(target), CowStr::from("")))
    };
    Parser::new_with_broken_link_callback(text, options, Some(resolve))
}

fn run<'a>(
    parser: Parser<'a, impl BrokenLinkCallback<'a>>,
    input: Input<'_>,
    unresolved: &Cell<bool>,
    prefix: usize,
) -> Outcome {
    let unshift =
        |range: &Range<usize>| range.start.saturating_sub(prefix)..range.end.saturating_sub(prefix);
    let definitions = parser.reference_definitions().iter();
    let mut definitions: Vec<_> = definitions
        .filter(|(_, def)| def.span.start >= prefix)
        .map(|(label, def)| FoundDefinition {
            label: label.to_owned(),
            target: def.dest.to_string(),
            start: unshift(&def.span).start,
        })
        .collect();
    definitions.sort_unstable_by_key(|found| found.start);
    let mut expanded = 0;
    let mut builder = Builder::new(input);
    for (event, range) in parser.into_offset_iter() {
        expanded += expansion(&event);
        builder.event(event, unshift(&range), unresolved.take());
    }
    let (mut regions, seam) = builder.finish(input.visible);
    for region in &mut regions {
        leave_definitions(region, &definitions, input);
    }
    Outcome { regions, seam, definitions, heavy: expanded > EXPANSION_WATCH }
}

/// Moves the end of a region in front of the definitions that follow its last block.
///
/// They continue into what follows as a paragraph would, so they must be read together with it.
fn leave_definitions(region: &mut Region, definitions: &[FoundDefinition], input: Input<'_>) {
    // In a quote they belong to it; behind other blocks there are none.
    let is_list = |block: &&Block| matches!(block.kind, BlockKind::List { .. });
    let Some(last) = region.blocks.last().filter(is_list) else { return };
    let content_end = last.source.end - input.offset;
    let first = definitions.partition_point(|found| found.start < content_end);
    let Some(found) = definitions.get(first).filter(|found| found.start < region.end) else {
        return;
    };
    let before = input.original.get(content_end..found.start).unwrap_or_default();
    let indent = before.len() - before.trim_end_matches(' ').len();
    if before.trim().is_empty() && indent < 4 {
        region.end = found.start - indent;
    }
}

/// Bytes that a reference brings in from its definition.
fn expansion(event: &Event<'_>) -> usize {
    match event {
        Event::Start(
            Tag::Link { link_type, dest_url, title, .. }
            | Tag::Image { link_type, dest_url, title, .. },
        ) if !is_inline(*link_type) => dest_url.len() + title.len(),
        _ => 0,
    }
}
