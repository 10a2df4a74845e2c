//! config.toml: what the user wants of the program, read with forgiveness, edited in place,
//! and followed while the program runs.
//!
//! ```toml
//! [appearance]
//! theme = "dark"            # system, light, dark
//! zoom = 1.1
//! minimap = true
//! reduced_motion = "auto"   # auto, on, off
//! battery_saver = "auto"
//!
//! [composer]
//! send_key = "ctrl-enter"   # enter, ctrl-enter
//!
//! [notifications]
//! tools = true
//!
//! [chat]
//! provider = "work"
//! model = "large"
//! system = "Be brief."
//! max_tokens = 4096
//! thinking = "low"          # default, off, low, medium, high
//! tools = "ask"             # off, ask, edits, auto
//! favourites = ["work/large", "ollama/qwen3"]
//!
//! [providers.work]
//! base_url = "https://llm.example.com/v1"
//! wire = "openai"           # openai, openai-responses, anthropic, gemini, ollama
//! key_variable = "WORK_API_KEY"   # or key = "keyring"
//! headers = { "X-Team" = "letters" }
//! ```

pub(in crate::app) mod document;
mod live;
mod named;
mod read;
mod table;
mod value;

use std::{collections::BTreeMap, path::Path, sync::Arc};

use egui::ThemePreference;

pub use self::{
    live::{Change, Live, Now, Waker},
    named::{Named, WIRES},
    table::{Kind, Setting, Spec, TABLE},
    value::Value,
};
use super::{cli::ProviderFlags, error::Result};
use crate::{
    model::{ThinkingLevel, ToolUse},
    view::{
        composer::{Choice, SendKey},
        governor::{self, Preference},
    },
};

/// What config.toml says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    values: BTreeMap<Setting, Value>,
    /// Providers that the user named, in the order of the file.
    pub providers: Arc<[Named]>,
    /// Keys that nothing here knows. They stay in the file.
    pub unknown: Vec<Place>,
    /// What could not be used.
    pub flaws: Vec<Flaw>,
}

/// A key and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line, counted from 1.
    pub line: u32,
    /// The key with its table's name.
    pub key: String,
}

/// An entry that cannot be used; everything else is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// Where.
    pub place: Place,
    /// What is wrong, without the value.
    pub words: String,
}

impl std::fmt::Display for Flaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { place: Place { line, key }, words } = self;
        write!(f, "config.toml line {line}: {key} {words}")
    }
}

impl Settings {
    /// Reads the file. An entry that cannot be used costs itself, with a flaw; without a file
    /// there is nothing.
    ///
    /// # Errors
    /// When it cannot be read at all.
    pub fn read(path: &Path) -> Result<Self> {
        Ok(read::settings(&document::read(path)?))
    }

    /// True when the file says it; otherwise the default holds.
    #[must_use]
    pub fn is_given(&self, setting: Setting) -> bool {
        self.values.contains_key(&setting)
    }

    /// What holds.
    #[must_use]
    pub fn value(&self, setting: Setting) -> Value {
        self.values.get(&setting).cloned().unwrap_or_else(|| Value::default_of(setting.spec()))
    }

    /// The same settings after a change.
    #[must_use]
    pub fn changed(&self, change: &Change) -> Self {
        let mut settings = self.clone();
        match change {
            Change::Set(setting, value) => settings.values.insert(*setting, value.clone()),
            Change::Reset(setting) => settings.values.remove(setting),
        };
        settings
    }

    fn word(&self, setting: Setting) -> &'static str {
        match self.value(setting) {
            Value::Word(word) => word,
            _ => "",
        }
    }

    fn switch(&self, setting: Setting) -> bool {
        self.value(setting) == Value::Switch(true)
    }

    fn text(&self, setting: Setting) -> Option<Arc<str>> {
        match self.value(setting) {
            Value::Text(text) if !text.trim().is_empty() => Some(text),
            _ => None,
        }
    }

    /// Light, dark, or as the system has it.
    #[must_use]
    pub fn theme(&self) -> ThemePreference {
        match self.word(Setting::Theme) {
            "light" => ThemePreference::Light,
            "dark" => ThemePreference::Dark,
            _ => ThemePreference::System,
        }
    }

    /// How much may move, and how much power that may take.
    #[must_use]
    pub fn frames(&self) -> governor::Settings {
        let preference = |setting| match self.word(setting) {
            "on" => Preference::On,
            "off" => Preference::Off,
            _ => Preference::Auto,
        };
        governor::Settings {
            reduced_motion: preference(Setting::ReducedMotion),
            battery_saver: preference(Setting::BatterySaver),
        }
    }

    /// The minimap is shown.
    #[must_use]
    pub fn minimap(&self) -> bool {
        self.switch(Setting::Minimap)
    }

    /// How large everything is; 1 is as designed.
    #[must_use]
    pub fn zoom(&self) -> f32 {
        match self.value(Setting::Zoom) {
            Value::Factor(hundredths) => hundredths as f32 / 100.0,
            _ => 1.0,
        }
    }

    /// Which key sends.
    #[must_use]
    pub fn send_key(&self) -> SendKey {
        if self.word(Setting::SendKey) == "ctrl-enter" {
            SendKey::CtrlEnter
        } else {
            SendKey::Enter
        }
    }

    /// The system is told that a tool waits.
    #[must_use]
    pub fn notifies(&self) -> bool {
        self.switch(Setting::Notify)
    }

    /// How long models think in new conversations.
    #[must_use]
    pub fn thinking(&self) -> ThinkingLevel {
        match self.word(Setting::Thinking) {
            "off" => ThinkingLevel::Off,
            "low" => ThinkingLevel::Low,
            "medium" => ThinkingLevel::Medium,
            "high" => ThinkingLevel::High,
            _ => ThinkingLevel::Default,
        }
    }

    /// What models may do in the folder that is chosen for them.
    #[must_use]
    pub fn tools(&self) -> ToolUse {
        match self.word(Setting::Tools) {
            "off" => ToolUse::Off,
            "edits" => ToolUse::Edits,
            "auto" => ToolUse::Auto,
            _ => ToolUse::Ask,
        }
    }

    /// Models with a star.
    #[must_use]
    pub fn favourites(&self) -> Arc<[Choice]> {
        match self.value(Setting::Favourites) {
            Value::Models(models) => models,
            _ => Arc::new([]),
        }
    }

    /// The flags, with what the settings say where they say nothing. A model and a limit of
    /// the settings belong to its provider, and go to no other.
    #[must_use]
    pub fn fill(&self, flags: &ProviderFlags) -> ProviderFlags {
        let mut filled = flags.clone();
        let own = |setting| self.text(setting).map(|text| text.to_string());
        if flags.provider.is_none() && flags.base_url.is_none() {
            filled.provider = own(Setting::Provider);
        }
        let is_its = self.text(Setting::Provider).as_deref() == filled.provider.as_deref();
        if is_its && flags.base_url.is_none() {
            filled.model = flags.model.clone().or_else(|| own(Setting::Model));
        }
        filled.system = flags.system.clone().or_else(|| own(Setting::System));
        filled.max_tokens = flags.max_tokens.or_else(|| match self.value(Setting::MaxTokens) {
            Value::Count(count) if count > 0 => Some(count),
            _ => None,
        });
        filled.thinking = self.thinking();
        filled
    }
}
