//! Addresses written without brackets, and the cap on links.

use std::sync::{Arc, LazyLock};

use linkify::{LinkFinder, LinkKind};

use super::inline::LINK_CAP;
use crate::model::{Block, BlockKind, ListItem, RichText, Run, Style};

/// A word longer than this is no address anyone would follow.
const WORD_LIMIT: usize = 2_048;

static FINDER: LazyLock<LinkFinder> = LazyLock::new(|| {
    let mut finder = LinkFinder::new();
    // `www.` has no scheme; what else is found that way is filtered below.
    finder.url_must_have_scheme(false);
    finder
});

/// Turns bare addresses (`www.`, `http://`, `https://`, e-mail) in plain text into links.
pub(super) fn find_bare(rich: &mut RichText) {
    if !could_hold_address(&rich.text) {
        return;
    }
    let old = std::mem::take(&mut rich.runs);
    let mut start = 0;
    for run in old {
        let end = run.end as usize;
        let closed = run.link.is_some()
            || [Style::CODE, Style::MATH, Style::IMAGE, Style::FOOTNOTE]
                .into_iter()
                .any(|style| run.style.has(style));
        if !closed {
            let text = rich.text.get(start..end).unwrap_or_default();
            let found = addresses(text);
            for (from, to, target) in found {
                if rich.links.len() >= LINK_CAP {
                    break;
                }
                push_run(&mut rich.runs, Run { end: (start + from) as u32, ..run });
                let link = Some(rich.links.len() as u16);
                rich.links.push(target);
                push_run(&mut rich.runs, Run { end: (start + to) as u32, link, ..run });
            }
        }
        push_run(&mut rich.runs, run);
        start = end;
    }
}

fn push_run(runs: &mut Vec<Run>, run: Run) {
    let at = runs.last().map_or(0, |last| last.end);
    if run.end > at {
        runs.push(run);
    }
}

fn could_hold_address(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr(b'@', bytes).is_some()
        || memchr::memmem::find(bytes, b"://").is_some()
        || memchr::memchr_iter(b'.', bytes).any(|dot| ends_with_www(bytes, dot))
}

fn ends_with_www(bytes: &[u8], dot: usize) -> bool {
    dot.checked_sub(3)
        .and_then(|start| bytes.get(start..dot))
        .is_some_and(|word| word.eq_ignore_ascii_case(b"www"))
}

/// The addresses in `text`: byte range and target.
///
/// Word by word, so that a pathological text costs at most the square of [`WORD_LIMIT`].
fn addresses(text: &str) -> Vec<(usize, usize, Arc<str>)> {
    let mut found = Vec::new();
    let mut at = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        if word.len() <= WORD_LIMIT && could_hold_address(word) {
            for link in FINDER.links(word) {
                if let Some(target) = target_of(link.as_str(), link.kind(), word, link.start()) {
                    found.push((at + link.start(), at + link.end(), target));
                }
            }
        }
        at += word.len();
    }
    found
}

fn target_of(text: &str, kind: &LinkKind, word: &str, start: usize) -> Option<Arc<str>> {
    if *kind == LinkKind::Email {
        return Some(format!("mailto:{text}").into());
    }
    let begins = |prefix: &str| {
        text.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
    };
    if begins("http://") || begins("https://") {
        return Some(text.into());
    }
    let before = word.get(..start)?.chars().next_back();
    let free =
        before.is_none_or(|c| matches!(c, '(' | '*' | '_' | '~' | '"' | '\'') || !c.is_ascii());
    (begins("www.") && free).then(|| format!("http://{text}").into())
}

/// Number of links in a block.
pub(super) fn count(block: &Block) -> usize {
    let mut links = 0;
    visit(block, &mut |rich| links += rich.links.len());
    links
}

/// Keeps the first `keep` links of a block; the text of the others becomes plain.
pub(super) fn keep_first(block: &mut Block, keep: &mut usize) {
    visit_mut(block, &mut |rich| {
        let kept = rich.links.len().min(*keep);
        *keep -= kept;
        rich.links.truncate(kept);
        for run in &mut rich.runs {
            run.link = run.link.filter(|link| usize::from(*link) < kept);
        }
    });
}

// Both walks are as deep as blocks nest, which the builder caps.

fn visit(block: &Block, f: &mut impl FnMut(&RichText)) {
    match &block.kind {
        BlockKind::Paragraph(text) | BlockKind::Heading { text, .. } => f(text),
        BlockKind::List { items, .. } => {
            for ListItem { blocks, .. } in items {
                blocks.iter().for_each(|block| visit(block, f));
            }
        }
        BlockKind::Quote { blocks, .. } | BlockKind::Footnote { blocks, .. } => {
            blocks.iter().for_each(|block| visit(block, f));
        }
        BlockKind::Details { summary, blocks } => {
            f(summary);
            blocks.iter().for_each(|block| visit(block, f));
        }
        BlockKind::Table { header, rows, .. } => {
            header.iter().for_each(&mut *f);
            rows.iter().flatten().for_each(f);
        }
        BlockKind::Code { .. }
        | BlockKind::Rule
        | BlockKind::Math { .. }
        | BlockKind::Verbatim(_) => {}
    }
}

fn visit_mut(block: &mut Block, f: &mut impl FnMut(&mut RichText)) {
    match &mut block.kind {
        BlockKind::Paragraph(text) | BlockKind::Heading { text, .. } => f(text),
        BlockKind::List { items, .. } => {
            for ListItem { blocks, .. } in items {
                blocks.iter_mut().for_each(|block| visit_mut(block, f));
            }
        }
        BlockKind::Quote { blocks, .. } | BlockKind::Footnote { blocks, .. } => {
            blocks.iter_mut().for_each(|block| visit_mut(block, f));
        }
        BlockKind::Details { summary, blocks } => {
            f(summary);
            blocks.iter_mut().for_each(|block| visit_mut(block, f));
        }
        BlockKind::Table { header, rows, .. } => {
            header.iter_mut().for_each(&mut *f);
            rows.iter_mut().flatten().for_each(f);
        }
        BlockKind::Code { .. }
        | BlockKind::Rule
        | BlockKind::Math { .. }
        | BlockKind::Verbatim(_) => {}
    }
}
