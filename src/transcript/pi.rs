//! pi sessions, versions 1 to 3: seen in passing and read in full.

pub(super) mod glance;
pub(super) mod read;
