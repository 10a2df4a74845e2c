//! The tool of the recordings: its result is recorded too, and nothing is run.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc::Sender;

use super::workbench::{Later, Permit, Said, Terms, Tool, Weighed, Workbench};
use crate::{
    model::{Output, ToolResult},
    presenter::{Call, Touch},
    tools::Stop,
    wire::{ToolSpec, demo},
};

/// Answers the calls of recordings.
#[derive(Debug)]
pub(super) struct Recorded;

struct Recording(Arc<Call>);

impl Workbench for Recorded {
    fn tools(&self) -> Vec<Tool> {
        let spec = ToolSpec {
            name: demo::RECORDED_TOOL.into(),
            description: "".into(),
            parameters: json!({"type": "object"}),
        };
        vec![Tool { spec, touch: Touch::Nothing }]
    }

    fn weigh(&self, call: Arc<Call>, _terms: Terms) -> Later<Weighed> {
        Box::pin(async { Weighed::Allowed(Box::new(Recording(call))) })
    }
}

impl Permit for Recording {
    fn run(self: Box<Self>, _stop: Stop, _said: Sender<Said>) -> Later<ToolResult> {
        let result = ToolResult {
            call_id: Arc::clone(&self.0.id),
            tool_name: Arc::clone(&self.0.name),
            is_error: false,
            output: Output::plain(demo::RECORDED_RESULT),
            told: None,
            images: Vec::new(),
            details: Value::Null,
        };
        Box::pin(async { result })
    }
}
