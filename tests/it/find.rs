//! Finding words: what is searched, the thread that reads, the marks on screen, the bar.

mod bench;
mod engine;
mod files;
mod query;
mod steps;
mod view;
mod window;
