//! Whether the end of a growing markdown text stands inside code.
//!
//! This decides only whether a `<tag>` is meant or quoted. It follows fences and code
//! spans one character at a time; a span is given up at the end of its line, so that a
//! stray backtick costs no more than that.

/// What the end of a text stands in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Running prose.
    #[default]
    Prose,
    /// A code span or a fenced block.
    Code,
}

impl Place {
    /// The place at the end of a whole text.
    #[must_use]
    pub fn at_end_of(text: &str) -> Self {
        let mut tracker = CodeTracker::default();
        tracker.push(text);
        tracker.place()
    }
}

/// Follows the code in a growing text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CodeTracker {
    code: Code,
    /// The backticks or tildes just met.
    run: Option<Run>,
    /// Something other than indentation and markers stands on the line.
    inked: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Code {
    #[default]
    None,
    /// A span opened by this many backticks.
    Span(usize),
    /// A fence whose info string is still being read.
    Info(Run),
    /// The inside of a fence.
    Fence(Run),
    /// A fence whose closing line has nothing else on it so far.
    Closing(Run),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    mark: char,
    length: usize,
}

impl CodeTracker {
    /// Reads on.
    pub(super) fn push(&mut self, text: &str) {
        text.chars().for_each(|c| self.step(c));
    }

    /// Where the text read so far ends.
    #[must_use]
    pub(super) fn place(&self) -> Place {
        let mut ended = *self;
        ended.end_run();
        match ended.code {
            Code::None => Place::Prose,
            Code::Span(_) | Code::Info(_) | Code::Fence(_) | Code::Closing(_) => Place::Code,
        }
    }

    fn step(&mut self, c: char) {
        match &mut self.run {
            Some(run) if run.mark == c => {
                run.length += 1;
                return;
            }
            _ => self.end_run(),
        }
        match c {
            '`' | '~' => self.run = Some(Run { mark: c, length: 1 }),
            '\n' => self.end_line(),
            _ => self.ink(c),
        }
    }

    fn end_line(&mut self) {
        self.inked = false;
        self.code = match self.code {
            Code::None | Code::Span(_) | Code::Closing(_) => Code::None,
            Code::Info(fence) | Code::Fence(fence) => Code::Fence(fence),
        };
    }

    fn ink(&mut self, c: char) {
        let is_marker = matches!(c, ' ' | '\t' | '\r' | '>' | '-' | '*' | '+' | '.' | ')')
            || c.is_ascii_digit();
        self.inked |= !is_marker;
        if let Code::Closing(fence) = self.code
            && !c.is_whitespace()
        {
            self.code = Code::Fence(fence);
        }
    }

    fn end_run(&mut self) {
        let Some(run) = self.run.take() else { return };
        self.code = self.after_run(run);
        self.inked = true;
    }

    fn after_run(&self, run: Run) -> Code {
        let begins_line = !self.inked;
        let is_fence = begins_line && run.length >= 3;
        match self.code {
            Code::None if is_fence => Code::Info(run),
            Code::None if run.mark == '`' => Code::Span(run.length),
            Code::Span(length) if run.mark == '`' && run.length == length => Code::None,
            // Backticks in an info string: it was a span and no fence.
            Code::Info(fence) if fence.mark == '`' && run.mark == '`' => {
                if run.length == fence.length { Code::None } else { Code::Span(fence.length) }
            }
            Code::Fence(fence)
                if begins_line && run.mark == fence.mark && run.length >= fence.length =>
            {
                Code::Closing(fence)
            }
            Code::Closing(fence) => Code::Fence(fence),
            unchanged @ (Code::None | Code::Span(_) | Code::Info(_) | Code::Fence(_)) => unchanged,
        }
    }
}
