//! Claude Code sessions: seen in passing and read in full.

pub(super) mod glance;
pub(super) mod read;
