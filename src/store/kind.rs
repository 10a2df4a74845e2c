//! Kinds of records.

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// What is true of the whole session: title, pins, settings.
    Meta,
    /// What the user said.
    User,
    /// What the user said in the place of another message.
    Edit,
    /// A reply begins.
    AssistantStart,
    /// What arrived of a reply since the last record of this kind.
    Partial,
    /// A call that is about to be made.
    ToolCall,
    /// The word on a call.
    Approval,
    /// How a call ended.
    ToolResult,
    /// A whole reply.
    AssistantFinal,
    /// A notice.
    Error,
    /// The conversation goes on from an earlier message.
    Branch,
    /// Tokens of what was put aside.
    Usage,
    /// Of a later version.
    Other,
}

impl Kind {
    /// All that have a name.
    const NAMED: [(Self, &'static str); 12] = [
        (Self::Meta, "meta"),
        (Self::User, "user"),
        (Self::Edit, "edit"),
        (Self::AssistantStart, "assistant_start"),
        (Self::Partial, "partial"),
        (Self::ToolCall, "tool_call"),
        (Self::Approval, "approval"),
        (Self::ToolResult, "tool_result"),
        (Self::AssistantFinal, "assistant_final"),
        (Self::Error, "error"),
        (Self::Branch, "branch"),
        (Self::Usage, "usage"),
    ];

    /// As the log has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(kind, _)| *kind == self).map_or("other", |(_, name)| name)
    }

    /// By the log's name for it.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        Self::NAMED.iter().find(|(_, known)| *known == name).map_or(Self::Other, |(kind, _)| *kind)
    }
}
