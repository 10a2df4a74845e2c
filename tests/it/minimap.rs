//! The minimap: which cells stand for which rows, how little is done for them, and that
//! pointer and keys lead exactly where they point.

mod cells; // Cells of small and of very large conversations, without a window.
mod hands; // Pointer, keys and a screen reader.
mod rows; // Conversations of any length that exist only as a rule.
mod sight; // What can be seen of them.
