//! Tools: what a model is told, who decides, what they touch, how they end.

mod approval;
mod bench;
mod commands;
mod files;
mod paths;
mod policy;
mod rules;
mod specs;
mod texts;
