//! Markdown: what text becomes, whole and in pieces.

mod conformance;
mod constructs;
mod dump;
mod hostile;
mod hygiene;
mod math;
mod partial;
mod streaming;
