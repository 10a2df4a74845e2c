//! Tools: what a model may ask to be done, and who does it.

pub mod mcp;
