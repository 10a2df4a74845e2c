//! Every setting: where it stands in config.toml, what it may be, and what it says of itself.

/// A setting of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the table below says what each is")]
pub enum Setting {
    Theme,
    Zoom,
    Minimap,
    ReducedMotion,
    BatterySaver,
    SendKey,
    Notify,
    Provider,
    Model,
    System,
    MaxTokens,
    Thinking,
    Tools,
    Favourites,
}

/// What a setting may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// One of these words, each with what it means.
    Word(&'static [(&'static str, &'static str)]),
    /// On or off.
    Switch,
    /// A whole number.
    Count {
        /// The smallest.
        from: u32,
        /// The largest.
        to: u32,
    },
    /// A number, in hundredths.
    Factor {
        /// The smallest.
        from: u32,
        /// The largest.
        to: u32,
    },
    /// A text, of one line or more.
    Text {
        /// It may have more than one line.
        is_long: bool,
    },
    /// Models, each as `provider/model`.
    Models,
}

/// What a setting says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The setting.
    pub setting: Setting,
    /// The table it stands in.
    pub table: &'static str,
    /// Its key there.
    pub key: &'static str,
    /// For people.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// What holds when nobody chose, in words of the file; empty for nothing.
    pub default: &'static str,
}

const AUTO: &[(&str, &str)] =
    &[("auto", "As the system has it"), ("on", "Always"), ("off", "Never")];

/// Every setting, in the order of the settings view.
pub const TABLE: &[Spec] = &[
    Spec {
        setting: Setting::Theme,
        table: "appearance",
        key: "theme",
        name: "Theme",
        about: "Light, dark, or as the system has it.",
        kind: Kind::Word(&[("system", "Like the system"), ("light", "Light"), ("dark", "Dark")]),
        default: "system",
    },
    Spec {
        setting: Setting::Zoom,
        table: "appearance",
        key: "zoom",
        name: "Size of text",
        about: "How large everything is; Ctrl + and Ctrl − change it, too.",
        kind: Kind::Factor { from: 50, to: 300 },
        default: "1.0",
    },
    Spec {
        setting: Setting::Minimap,
        table: "appearance",
        key: "minimap",
        name: "Minimap",
        about: "The whole conversation at the right edge; Ctrl M shows or hides it.",
        kind: Kind::Switch,
        default: "true",
    },
    Spec {
        setting: Setting::ReducedMotion,
        table: "appearance",
        key: "reduced_motion",
        name: "Reduced motion",
        about: "Nothing moves by itself.",
        kind: Kind::Word(AUTO),
        default: "auto",
    },
    Spec {
        setting: Setting::BatterySaver,
        table: "appearance",
        key: "battery_saver",
        name: "Battery saver",
        about: "Replies are shown ten times a second, and nothing moves by itself.",
        kind: Kind::Word(&[("auto", "While on battery"), ("on", "Always"), ("off", "Never")]),
        default: "auto",
    },
    Spec {
        setting: Setting::SendKey,
        table: "composer",
        key: "send_key",
        name: "Send with",
        about: "The key that sends; the other one breaks the line.",
        kind: Kind::Word(&[("enter", "Enter"), ("ctrl-enter", "Ctrl Enter")]),
        default: "enter",
    },
    Spec {
        setting: Setting::Notify,
        table: "notifications",
        key: "tools",
        name: "Notify me when a tool waits",
        about: "The system says so while the window has no focus.",
        kind: Kind::Switch,
        default: "true",
    },
    Spec {
        setting: Setting::Provider,
        table: "chat",
        key: "provider",
        name: "Provider",
        about: "Who answers in new conversations; otherwise the first with a key, or a server nearby.",
        kind: Kind::Text { is_long: false },
        default: "",
    },
    Spec {
        setting: Setting::Model,
        table: "chat",
        key: "model",
        name: "Model",
        about: "Which of its models, by its provider's name for it.",
        kind: Kind::Text { is_long: false },
        default: "",
    },
    Spec {
        setting: Setting::System,
        table: "chat",
        key: "system",
        name: "System prompt",
        about: "What models are told about their task in new conversations.",
        kind: Kind::Text { is_long: true },
        default: "",
    },
    Spec {
        setting: Setting::MaxTokens,
        table: "chat",
        key: "max_tokens",
        name: "Longest reply",
        about: "Tokens that a reply may have; 0 leaves it to the provider.",
        kind: Kind::Count { from: 0, to: 1_000_000 },
        default: "0",
    },
    Spec {
        setting: Setting::Thinking,
        table: "chat",
        key: "thinking",
        name: "Thinking",
        about: "How long models think in new conversations.",
        kind: Kind::Word(&[
            ("default", "As the model does"),
            ("off", "Off"),
            ("low", "Low"),
            ("medium", "Medium"),
            ("high", "High"),
        ]),
        default: "default",
    },
    Spec {
        setting: Setting::Tools,
        table: "chat",
        key: "tools",
        name: "Tools",
        about: "What models may do in the folder that you choose for them.",
        kind: Kind::Word(&[
            ("off", "Nothing"),
            ("ask", "Look around, and ask for the rest"),
            ("edits", "Change files within the folder, too"),
            ("auto", "All within the folder"),
        ]),
        default: "ask",
    },
    Spec {
        setting: Setting::Favourites,
        table: "chat",
        key: "favourites",
        name: "Favourite models",
        about: "Those with a star in the list; Ctrl Shift M goes through them.",
        kind: Kind::Models,
        default: "",
    },
];

impl Setting {
    /// What it says of itself.
    ///
    /// # Panics
    /// Never: the table holds every setting, which a test looks after.
    #[must_use]
    pub fn spec(self) -> &'static Spec {
        TABLE.iter().find(|spec| spec.setting == self).expect("every setting is in the table")
    }
}

impl Spec {
    /// `table.key`, as one says it.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}.{}", self.table, self.key)
    }

    /// The setting at this path.
    #[must_use]
    pub fn of_path(path: &str) -> Option<&'static Self> {
        TABLE.iter().find(|spec| path.split_once('.') == Some((spec.table, spec.key)))
    }
}
