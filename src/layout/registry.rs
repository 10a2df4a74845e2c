//! Renderers by name: how tools and roles of other programs are shown.
//!
//! A renderer is a pure function from data to data. It decides what is said; the
//! typesetter decides how, so a card from a host program looks like every other card.

use std::{
    cell::RefCell,
    collections::{HashMap, VecDeque},
    sync::{Arc, Weak},
};

use crate::{
    layout::{Face, diff::DiffLine, tools},
    model::{Block, Message, Part, ToolCall, ToolResult},
};

/// How a tool call is shown.
#[derive(Clone, Debug, Default)]
pub struct ToolCard {
    /// One icon of the icon font.
    pub icon: Option<char>,
    /// What was done, in one or two words or as a command line.
    pub title: String,
    /// Face of the title: [`Face::Mono`] for commands and paths.
    pub face: Option<Face>,
    /// The one argument that matters.
    pub detail: String,
    /// A short result for the right edge: `exit 0`, `140 lines`.
    pub note: String,
    /// What stands under the header when the card is open, above the pictures.
    pub body: Vec<Body>,
    /// Open unless the reader closed it.
    pub open: bool,
    /// Show the last lines of a long output instead of the first.
    pub tail: bool,
}

/// A part of a card's body.
#[derive(Clone, Debug)]
pub enum Body {
    /// The result's text.
    Output,
    /// A difference.
    Diff(Arc<Change>),
    /// Text in the code face, such as pretty JSON of the arguments.
    Text(Arc<str>),
    /// The result in another form, in the code face.
    Shaped(Arc<str>),
    /// Markdown.
    Blocks(Arc<[Arc<Block>]>),
    /// One of several files that were changed, under a line that opens and closes.
    File(u16, FileDiff),
    /// A quiet line.
    Note(String),
}

/// How a file was changed.
#[derive(Clone, Debug)]
pub struct FileDiff {
    /// Its path, and where it went.
    pub name: String,
    /// What happened to it as a whole: `new`, `deleted`, or nothing.
    pub fate: &'static str,
    /// Its lines.
    pub change: Arc<Change>,
}

/// The lines of a difference and the texts they point into.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// What was there.
    pub old: Arc<str>,
    /// What is there now. For a patch, both are the patch.
    pub new: Arc<str>,
    /// The lines to show.
    pub lines: Vec<DiffLine>,
}

/// Shows the calls of one tool; nothing means the default card.
pub type ToolRenderer = Arc<dyn Fn(&ToolCall) -> Option<ToolCard> + Send + Sync>;
/// Turns a message of one role into parts that are known; nothing means the default.
pub type RoleRenderer = Arc<dyn Fn(&Message) -> Option<Vec<Part>> + Send + Sync>;

/// Renderers by tool name and by role name. The last registration of a name wins.
///
/// A clone shows everything alike on another thread: searching looks at what is shown.
#[derive(Clone, Default)]
pub struct Registry {
    tools: HashMap<String, ToolRenderer>,
    roles: HashMap<String, RoleRenderer>,
    version: u64,
}

impl Registry {
    /// Shows calls of the tool `name` with `renderer`.
    pub fn tool(
        &mut self,
        name: &str,
        renderer: impl Fn(&ToolCall) -> Option<ToolCard> + Send + Sync + 'static,
    ) {
        self.tools.insert(name.to_owned(), Arc::new(renderer));
        self.version += 1;
    }

    /// Shows messages of the role `name` with `renderer`.
    pub fn role(
        &mut self,
        name: &str,
        renderer: impl Fn(&Message) -> Option<Vec<Part>> + Send + Sync + 'static,
    ) {
        self.roles.insert(name.to_owned(), Arc::new(renderer));
        self.version += 1;
    }

    /// True while nothing was registered.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.version == 0
    }

    /// Changes with every registration.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The card of a call: a registered one, else the built-in one.
    #[must_use]
    pub fn card(&self, call: &ToolCall) -> ToolCard {
        let own = self.tools.get(&*call.name).and_then(|renderer| renderer(call));
        own.unwrap_or_else(|| tools::card(call, &changes(call)))
    }

    /// The parts to show for a message, when its role has a renderer that knows it.
    #[must_use]
    pub fn parts(&self, message: &Message) -> Option<Vec<Part>> {
        self.roles.get(message.role.name()).and_then(|renderer| renderer(message))
    }
}

/// Results whose changes are kept as they were compared, by each thread that asks.
const COMPARED: usize = 16;

type Compared = VecDeque<(Weak<ToolResult>, Arc<[FileDiff]>)>;

thread_local! {
    /// The changes that results tell of, compared once: a message that goes on is composed
    /// anew with every word of it.
    static CHANGES: RefCell<Compared> = const { RefCell::new(VecDeque::new()) };
}

fn changes(call: &ToolCall) -> Arc<[FileDiff]> {
    match call.result.as_ref().filter(|result| tools::tells_changes(result)) {
        Some(result) => CHANGES.with_borrow_mut(|kept| compared(kept, result)),
        None => Arc::default(),
    }
}

fn compared(kept: &mut Compared, result: &Arc<ToolResult>) -> Arc<[FileDiff]> {
    let known = kept.iter().find(|(of, _)| std::ptr::eq(of.as_ptr(), Arc::as_ptr(result)));
    if let Some((_, changes)) = known {
        return Arc::clone(changes);
    }
    let changes: Arc<[FileDiff]> = tools::changes(result).into();
    kept.push_back((Arc::downgrade(result), Arc::clone(&changes)));
    if kept.len() > COMPARED {
        kept.pop_front();
    }
    changes
}
