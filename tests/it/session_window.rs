//! Sessions in the window: the list, the quick way, tabs, drafts, places, keeping.

mod bed;
mod list;
mod shelf;
mod switch;
mod window;
