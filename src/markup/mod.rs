//! Markup inside text that is not markdown.

pub mod ansi;
pub mod tabs;
