//! A press bed: sheets laid out with real fonts and without a window.

use std::{cell::RefCell, collections::HashSet, ops::Range, rc::Rc, sync::Arc};

use egui::{
    FontDefinitions,
    epaint::{Fonts, TextOptions, text::ViewportKey},
};
use letterpress::{
    engine::prepare,
    layout::{Folds, Page, Palette, Registry, Sheet, Visible, highlight::Highlighter},
    model::{
        MemorySource, Message, MessageId, Part, Progress, Role, RowInfo, Source, SourceLine, Text,
    },
    view::theme,
};

pub(crate) struct Bed {
    fonts: Fonts,
    pub(crate) palette: Palette,
    highlights: Highlighter,
    pub(crate) registry: Registry,
    pub(crate) folds: Folds,
    pub(crate) sheet: Sheet,
    pub(crate) width: f32,
    pub(crate) height: f32,
    pub(crate) scale: f32,
}

impl Bed {
    pub(crate) fn new() -> Self {
        Self {
            fonts: Fonts::new(TextOptions::default(), bundled_fonts()),
            palette: theme::palette(egui::Theme::Dark),
            highlights: Highlighter::new(Arc::new(|| {})),
            registry: Registry::default(),
            folds: Folds::default(),
            sheet: Sheet::default(),
            width: 700.0,
            height: 800.0,
            scale: 1.0,
        }
    }

    pub(crate) fn frame(&mut self, source: &mut dyn Source) -> Visible {
        let key = ViewportKey::default();
        self.fonts.begin_pass(TextOptions::default(), key);
        let mut fonts = self.fonts.with_pixels_per_point(self.scale);
        let mut page = Page {
            fonts: &mut fonts,
            palette: &self.palette,
            highlights: &self.highlights,
            registry: &self.registry,
            folds: &self.folds,
            width: self.width,
            height: self.height,
            pixels_per_point: self.scale,
        };
        self.sheet.frame(source, &mut page)
    }
}

/// The bundled faces alone, so that results do not depend on the machine.
fn bundled_fonts() -> FontDefinitions {
    let mut fonts = theme::fonts();
    fonts.font_data.remove("emoji");
    for chain in fonts.families.values_mut() {
        chain.retain(|name| name != "emoji");
    }
    fonts
}

pub(crate) fn message(id: u64, role: Role, parts: Vec<Part>) -> Message {
    prepare(Message {
        id: MessageId(id),
        key: Arc::from(""),
        role,
        timestamp_ms: None,
        model: None,
        parts,
        stop: None,
        error: None,
        usage: None,
        line: SourceLine(id),
    })
}

pub(crate) fn text(source: &str) -> Part {
    Part::Text(Text::unparsed(source))
}

/// Messages of several shapes and heights, one after the other.
pub(crate) fn sample(count: u64) -> Vec<Message> {
    let bodies = [
        "One line.",
        "# A heading\n\nA paragraph that is long enough to need a second line on any column \
         that this test uses, and a third one on the narrow ones.\n\n- one\n- two\n  - three",
        "```rust\nfn main() {\n    println!(\"set once\");\n}\n```\n\nAfter the code.",
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
        "> quoted\n> text\n\nand **bold** with `code` at the end.",
    ];
    (0..count)
        .map(|i| {
            let role = if i % 4 == 0 { Role::User } else { Role::Assistant };
            message(i + 1, role, vec![text(bodies[i as usize % bodies.len()])])
        })
        .collect()
}

/// A source whose rows come and go: pages that have not arrived, rows that are found above.
#[derive(Clone)]
pub(crate) struct Shifting(Rc<RefCell<State>>);

struct State {
    messages: Vec<Arc<Message>>,
    first: usize,
    hidden: HashSet<MessageId>,
    version: u64,
}

impl Shifting {
    pub(crate) fn new(messages: Vec<Message>, first: usize) -> Self {
        let messages = messages.into_iter().map(Arc::new).collect();
        Self(Rc::new(RefCell::new(State { messages, first, hidden: HashSet::new(), version: 1 })))
    }

    pub(crate) fn reveal_above(&self, rows: usize) {
        let mut state = self.0.borrow_mut();
        state.first = state.first.saturating_sub(rows);
        state.version += 1;
    }

    pub(crate) fn hide(&self, row: usize, hide: bool) {
        let mut state = self.0.borrow_mut();
        let id = state.messages[state.first + row].id;
        if hide {
            state.hidden.insert(id);
        } else {
            state.hidden.remove(&id);
        }
        state.version += 1;
    }

    /// Puts another state of the last message in its place.
    pub(crate) fn replace_last(&self, message: Message) {
        let mut state = self.0.borrow_mut();
        *state.messages.last_mut().expect("there is a last message") = Arc::new(message);
        state.version += 1;
    }

    pub(crate) fn push(&self, message: Message) {
        let mut state = self.0.borrow_mut();
        state.messages.push(Arc::new(message));
        state.version += 1;
    }
}

impl Source for Shifting {
    fn poll(&mut self) -> u64 {
        self.0.borrow().version
    }

    fn len(&self) -> usize {
        let state = self.0.borrow();
        state.messages.len() - state.first
    }

    fn row(&self, index: usize) -> RowInfo {
        let state = self.0.borrow();
        RowInfo::of(&state.messages[state.first + index])
    }

    fn index_of(&self, id: MessageId) -> Option<usize> {
        let state = self.0.borrow();
        state.messages.get(state.first..)?.iter().position(|message| message.id == id)
    }

    fn prompt_before(&self, index: usize) -> Option<usize> {
        (0..=index).rev().find(|i| self.row(*i).kind == letterpress::model::RowKind::User)
    }

    fn message(&mut self, index: usize) -> Option<Arc<Message>> {
        let state = self.0.borrow();
        let message = state.messages.get(state.first + index)?;
        (!state.hidden.contains(&message.id)).then(|| Arc::clone(message))
    }

    fn want(&mut self, _rows: Range<usize>) {}

    fn progress(&self) -> Progress {
        Progress::Complete
    }
}

pub(crate) fn memory(messages: Vec<Message>) -> MemorySource {
    MemorySource::new(messages)
}
