//! Calls that ask first, as the user sees them: the card and when it may be answered, the
//! queue over conversations, calls that run, and the panel of servers.

#![expect(clippy::unwrap_used, reason = "a test may stop at its own data")]

// A window whose tools do what their arguments say.
pub(crate) mod desk;

// The card alone, with a clock of the test's.
mod card;
// Calls as cards: changes, endings, refusals.
mod cards;
// Whole conversations in a window.
mod conversation;
// Servers of tools: what waits to be accepted.
mod servers;
