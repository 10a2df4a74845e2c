//! Icons: code points of the bundled icon font, one weight of Phosphor.
//!
//! The font holds exactly these glyphs; `assets/fonts/README.md` tells how it is made.
//! An icon never stands alone for a state: a word or a colour says the same.

/// Open fold.
pub const CARET_DOWN: char = '\u{e136}';
/// Closed fold.
pub const CARET_RIGHT: char = '\u{e13a}';
/// Fold away upwards.
pub const CARET_UP: char = '\u{e13c}';
/// Back.
pub const CARET_LEFT: char = '\u{e138}';
/// Done.
pub const CHECK: char = '\u{e182}';
/// Failed, or close.
pub const X: char = '\u{e4f6}';
/// Done, on its own.
pub const CHECK_CIRCLE: char = '\u{e184}';
/// Failed, on its own.
pub const X_CIRCLE: char = '\u{e4f8}';
/// Not begun.
pub const CIRCLE: char = '\u{e18a}';
/// Waiting to run.
pub const CIRCLE_DASHED: char = '\u{e602}';
/// Running.
pub const CIRCLE_NOTCH: char = '\u{eb44}';
/// Waiting for approval.
pub const PAUSE: char = '\u{e39e}';
/// Not run or aborted.
pub const PROHIBIT: char = '\u{e3de}';
/// Run.
pub const PLAY: char = '\u{e3d0}';
/// Stop.
pub const STOP: char = '\u{e46c}';
/// Copy.
pub const COPY: char = '\u{e1ca}';
/// Down.
pub const ARROW_DOWN: char = '\u{e03e}';
/// Up.
pub const ARROW_UP: char = '\u{e08e}';
/// To the end.
pub const ARROW_LINE_DOWN: char = '\u{e05c}';
/// Expand all.
pub const ARROWS_OUT_LINE_VERTICAL: char = '\u{e536}';
/// Collapse all.
pub const ARROWS_IN_LINE_VERTICAL: char = '\u{e532}';
/// Opens outside.
pub const ARROW_SQUARE_OUT: char = '\u{e5de}';
/// Try again.
pub const ARROW_COUNTER_CLOCKWISE: char = '\u{e038}';
/// A file.
pub const FILE: char = '\u{e230}';
/// A folder.
pub const FOLDER: char = '\u{e24a}';
/// An open folder.
pub const FOLDER_OPEN: char = '\u{e256}';
/// Search.
pub const MAGNIFYING_GLASS: char = '\u{e30c}';
/// A command.
pub const TERMINAL: char = '\u{e47e}';
/// A terminal.
pub const TERMINAL_WINDOW: char = '\u{eae8}';
/// The web.
pub const GLOBE: char = '\u{e288}';
/// Edit.
pub const PENCIL_SIMPLE: char = '\u{e3b4}';
/// New conversation.
pub const NOTE_PENCIL: char = '\u{e34c}';
/// Menu.
pub const LIST: char = '\u{e2f0}';
/// Tasks.
pub const LIST_CHECKS: char = '\u{eadc}';
/// Code.
pub const CODE: char = '\u{e1bc}';
/// Settings.
pub const GEAR: char = '\u{e270}';
/// The sidebar.
pub const SIDEBAR_SIMPLE: char = '\u{ec24}';
/// Light theme.
pub const SUN: char = '\u{e472}';
/// Dark theme.
pub const MOON: char = '\u{e330}';
/// Warning.
pub const WARNING: char = '\u{e4e0}';
/// Caution.
pub const WARNING_OCTAGON: char = '\u{e4e4}';
/// Note.
pub const INFO: char = '\u{e2ce}';
/// Tip.
pub const LIGHTBULB: char = '\u{e2dc}';
/// Important.
pub const MEGAPHONE: char = '\u{e324}';
/// Unknown, or help.
pub const QUESTION: char = '\u{e3e8}';
/// Add.
pub const PLUS: char = '\u{e3d4}';
/// Remove.
pub const MINUS: char = '\u{e32a}';
/// An image.
pub const IMAGE: char = '\u{e2ca}';
/// A link.
pub const LINK: char = '\u{e2e2}';
/// A branch of the conversation.
pub const GIT_BRANCH: char = '\u{e278}';
/// Compaction.
pub const SCISSORS: char = '\u{eae0}';
/// The model.
pub const ROBOT: char = '\u{e762}';
/// The user.
pub const USER: char = '\u{e4c2}';
/// Thinking.
pub const BRAIN: char = '\u{e74e}';
/// A tool.
pub const WRENCH: char = '\u{e5d4}';
/// A connected server.
pub const PLUG: char = '\u{e946}';
/// Time.
pub const CLOCK: char = '\u{e19a}';
/// More.
pub const DOTS_THREE: char = '\u{e1fe}';
/// Send.
pub const PAPER_PLANE_RIGHT: char = '\u{e396}';
/// Attach.
pub const PAPERCLIP: char = '\u{e39a}';
/// Show.
pub const EYE: char = '\u{e220}';
/// Hidden.
pub const EYE_SLASH: char = '\u{e224}';
/// Pinned.
pub const PUSH_PIN: char = '\u{e3e2}';
/// Delete.
pub const TRASH: char = '\u{e4a6}';
/// Archive.
pub const ARCHIVE: char = '\u{e00c}';
/// Save a copy.
pub const DOWNLOAD_SIMPLE: char = '\u{e20c}';
/// Wrap lines.
pub const TEXT_ALIGN_LEFT: char = '\u{e484}';
/// Usage.
pub const CHART_BAR: char = '\u{e150}';
/// A display.
pub const MONITOR: char = '\u{e32e}';
/// Keys.
pub const KEYBOARD: char = '\u{e2d8}';

/// Every icon, for the test that the font has them all.
pub const ALL: &[char] = &[
    CARET_DOWN,
    CARET_RIGHT,
    CARET_UP,
    CARET_LEFT,
    CHECK,
    X,
    CHECK_CIRCLE,
    X_CIRCLE,
    CIRCLE,
    CIRCLE_DASHED,
    CIRCLE_NOTCH,
    PAUSE,
    PROHIBIT,
    PLAY,
    STOP,
    COPY,
    ARROW_DOWN,
    ARROW_UP,
    ARROW_LINE_DOWN,
    ARROWS_OUT_LINE_VERTICAL,
    ARROWS_IN_LINE_VERTICAL,
    ARROW_SQUARE_OUT,
    ARROW_COUNTER_CLOCKWISE,
    FILE,
    FOLDER,
    FOLDER_OPEN,
    MAGNIFYING_GLASS,
    TERMINAL,
    TERMINAL_WINDOW,
    GLOBE,
    PENCIL_SIMPLE,
    NOTE_PENCIL,
    LIST,
    LIST_CHECKS,
    CODE,
    GEAR,
    SIDEBAR_SIMPLE,
    SUN,
    MOON,
    WARNING,
    WARNING_OCTAGON,
    INFO,
    LIGHTBULB,
    MEGAPHONE,
    QUESTION,
    PLUS,
    MINUS,
    IMAGE,
    LINK,
    GIT_BRANCH,
    SCISSORS,
    ROBOT,
    USER,
    BRAIN,
    WRENCH,
    PLUG,
    CLOCK,
    DOTS_THREE,
    PAPER_PLANE_RIGHT,
    PAPERCLIP,
    EYE,
    EYE_SLASH,
    PUSH_PIN,
    TRASH,
    ARCHIVE,
    DOWNLOAD_SIMPLE,
    TEXT_ALIGN_LEFT,
    CHART_BAR,
    MONITOR,
    KEYBOARD,
];
