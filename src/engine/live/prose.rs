//! A text that is arriving: its blocks, and the part of the message that it is.

use std::{sync::Arc, time::Instant};

use crate::{
    markdown::{self, Options, Stream},
    model::{Blocks, Part, Text, Thinking},
    presenter::{RowKind, Saying},
};

/// A text that grows at its end.
pub(super) struct Prose {
    kind: RowKind,
    began: Instant,
    state: State,
    lines: LineCount,
}

enum State {
    Open {
        stream: Box<Stream>,
        /// The part as it was last looked at; none when there is more since.
        part: Option<Part>,
    },
    /// Nothing more comes. None when there is nothing to show.
    Final(Option<Part>),
}

impl Prose {
    pub(super) fn new(kind: RowKind, now: Instant) -> Self {
        let stream = Box::new(Stream::new(Options::default()));
        let state = State::Open { stream, part: None };
        Self { kind, began: now, state, lines: LineCount::default() }
    }

    /// Carries a change out. A final text changes no more.
    pub(super) fn apply(&mut self, saying: &Saying, now: Instant) {
        let State::Open { stream, part } = &mut self.state else { return };
        if saying.keep == stream.source().len() {
            stream.push(&saying.append);
            self.lines.push(&saying.append);
        } else {
            let mut text = stream.source().to_owned();
            saying.apply(&mut text);
            **stream = Stream::new(Options::default());
            stream.push(&text);
            self.lines = LineCount::default();
            self.lines.push(&text);
        }
        *part = None;
        if saying.is_final {
            self.finish(now);
        }
    }

    fn finish(&mut self, now: Instant) {
        let State::Open { stream, .. } = &mut self.state else { return };
        let stream = std::mem::replace(&mut **stream, Stream::new(Options::default()));
        let source: Arc<str> = stream.source().into();
        let is_blank = source.trim().is_empty();
        // A text without words is nothing; reasoning without words was kept from us.
        let is_shown = !is_blank || self.kind == RowKind::Reasoning;
        let text = Text { source, blocks: Blocks::Sealed(stream.finish()) };
        let took = u64::try_from(now.saturating_duration_since(self.began).as_millis()).ok();
        self.state = State::Final(is_shown.then(|| part(self.kind, text, is_blank, took)));
    }

    pub(super) fn is_visible(&self) -> bool {
        match &self.state {
            State::Open { stream, .. } => !stream.source().trim_start().is_empty(),
            State::Final(part) => part.is_some(),
        }
    }

    pub(super) fn is_reasoning(&self) -> bool {
        self.kind == RowKind::Reasoning
    }

    /// The text so far.
    pub(super) fn source(&self) -> &str {
        match &self.state {
            State::Open { stream, .. } => stream.source(),
            State::Final(Some(Part::Text(text))) => &text.source,
            State::Final(Some(Part::Thinking(thinking))) => &thinking.text.source,
            State::Final(_) => "",
        }
    }

    pub(super) fn open_bytes(&self) -> usize {
        match &self.state {
            State::Open { stream, .. } => stream.source().len(),
            State::Final(_) => 0,
        }
    }

    /// The part as it stands now, and about how many lines it takes.
    pub(super) fn part(&mut self) -> Option<(Part, usize)> {
        let lines = match self.kind {
            RowKind::Text | RowKind::Refusal => self.lines.total(),
            RowKind::Reasoning => 2,
        };
        let part = match &mut self.state {
            State::Final(part) => part.clone()?,
            State::Open { stream, .. } if stream.source().trim_start().is_empty() => return None,
            State::Open { stream, part: known } => {
                let new = || {
                    let blocks = stream.snapshot();
                    let text = Text { source: stream.source().into(), blocks };
                    part(self.kind, text, false, None)
                };
                known.get_or_insert_with(new).clone()
            }
        };
        Some((part, lines))
    }
}

impl std::fmt::Debug for Prose {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let open_bytes = self.open_bytes();
        f.debug_struct("Prose").field("kind", &self.kind).field("open_bytes", &open_bytes).finish()
    }
}

fn part(kind: RowKind, text: Text, redacted: bool, duration_ms: Option<u64>) -> Part {
    match kind {
        RowKind::Text | RowKind::Refusal => Part::Text(text),
        RowKind::Reasoning => Part::Thinking(Thinking { text, redacted, duration_ms }),
    }
}

/// The blocks of a finished text.
pub(super) fn parsed(text: &str) -> Blocks {
    Blocks::Sealed(markdown::parse(text, Options::default()))
}

/// Lines of running text at 90 characters a line, counted while a text grows: what
/// [`estimated_lines`](crate::model::source::estimated_lines) says of the whole.
#[derive(Clone, Copy, Debug, Default)]
struct LineCount {
    /// Lines that have ended.
    done: usize,
    /// Bytes of the line that has not.
    open: usize,
}

impl LineCount {
    fn push(&mut self, text: &str) {
        let mut pieces = text.split('\n');
        self.open += pieces.next().map_or(0, str::len);
        for piece in pieces {
            self.done += self.open.div_ceil(90).max(1);
            self.open = piece.len();
        }
    }

    fn total(self) -> usize {
        self.done + self.open.div_ceil(90)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::source::estimated_lines;

    #[test]
    fn lines_are_counted_as_of_the_whole() {
        let text = format!("a\n\n{}\n{}\nend", "b".repeat(400), "c".repeat(90));
        for step in [1, 7, 90, 1000] {
            let mut count = LineCount::default();
            let chars: Vec<char> = text.chars().collect();
            for piece in chars.chunks(step) {
                count.push(&piece.iter().collect::<String>());
            }
            assert_eq!(count.total(), estimated_lines(&text));
        }
    }
}
