//! The user's sessions: the list beside the page, and the quick way to any of them.
//!
//! Both show plain data and give wishes back. They lay out what can be seen and nothing
//! else, so ten thousand sessions cost what twenty do; what depends on all of them is worked
//! out when they change, not in each frame.

mod fuzzy;
mod list;
mod marks;
mod menu;
mod notes;
mod rename;
mod row;
mod shelf;
mod switch;
mod switch_row;
mod words;

pub use crate::store::{
    SessionId,
    catalog::{Found, Listed},
};

pub use self::{
    fuzzy::{Meant, meant},
    list::{ListWish, Loose, SessionList, Shown, State},
    marks::{Mark, Marks},
    shelf::{CAPTION_HEIGHT, Group, Line, Lines, ROW_HEIGHT, Shelf, local_day},
    switch::{Hits, QuickSwitch, Searching, SwitchShown, SwitchWish},
};
