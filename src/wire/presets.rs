//! The providers that are known by name.

use super::endpoint::{AddressError, Endpoint, Key};
use crate::model::stream::Wire;

/// A provider that needs no settings but a key, or none at all.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name it goes by.
    pub name: &'static str,
    /// For people.
    pub label: &'static str,
    /// The language it speaks.
    pub wire: Wire,
    /// Its address.
    pub base: &'static str,
    /// Environment variables that hold its key; the first that is set counts.
    pub key_variables: &'static [&'static str],
    /// The environment variable that holds another address.
    pub base_variable: Option<&'static str>,
    /// It runs on this machine and needs no key.
    pub is_local: bool,
}

/// Every provider that is known by name, in the order they are offered.
pub const PRESETS: &[Preset] = &[
    Preset {
        base_variable: Some("OPENAI_BASE_URL"),
        ..cloud("openai", "OpenAI", Wire::Chat, "https://api.openai.com/v1", &["OPENAI_API_KEY"])
    },
    Preset {
        base_variable: Some("OPENAI_BASE_URL"),
        ..cloud(
            "openai-responses",
            "OpenAI (Responses)",
            Wire::Responses,
            "https://api.openai.com/v1",
            &["OPENAI_API_KEY"],
        )
    },
    Preset {
        base_variable: Some("ANTHROPIC_BASE_URL"),
        ..cloud(
            "anthropic",
            "Anthropic",
            Wire::Anthropic,
            "https://api.anthropic.com",
            &["ANTHROPIC_API_KEY"],
        )
    },
    cloud(
        "gemini",
        "Google Gemini",
        Wire::Gemini,
        "https://generativelanguage.googleapis.com",
        &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    ),
    Preset {
        base_variable: Some("OLLAMA_HOST"),
        ..local("ollama", "Ollama", Wire::Ollama, "http://127.0.0.1:11434")
    },
    cloud(
        "openrouter",
        "OpenRouter",
        Wire::Chat,
        "https://openrouter.ai/api/v1",
        &["OPENROUTER_API_KEY"],
    ),
    cloud("groq", "Groq", Wire::Chat, "https://api.groq.com/openai/v1", &["GROQ_API_KEY"]),
    cloud("deepseek", "DeepSeek", Wire::Chat, "https://api.deepseek.com", &["DEEPSEEK_API_KEY"]),
    cloud("mistral", "Mistral", Wire::Chat, "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"]),
    cloud("xai", "xAI", Wire::Chat, "https://api.x.ai/v1", &["XAI_API_KEY"]),
    local("llama.cpp", "llama.cpp", Wire::Chat, "http://127.0.0.1:8080/v1"),
    local("lmstudio", "LM Studio", Wire::Chat, "http://127.0.0.1:1234/v1"),
    local("vllm", "vLLM", Wire::Chat, "http://127.0.0.1:8000/v1"),
];

impl Preset {
    /// The provider of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// The endpoint, with what `variable` knows of address and key. `variable` reads the
    /// environment; it is a parameter so that this stays free of it.
    ///
    /// # Errors
    /// When the address that a variable gives is none.
    pub fn endpoint(
        &self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Endpoint, AddressError> {
        let base = self.base_variable.and_then(&variable).filter(|base| !base.trim().is_empty());
        let key = self.key_variables.iter().filter_map(|name| variable(name));
        let key = key.filter_map(|text| Key::new(&text)).next();
        let base = base.as_deref().unwrap_or(self.base);
        Ok(Endpoint::new(self.name, self.wire, base)?.with_key(key))
    }
}

const fn cloud(
    name: &'static str,
    label: &'static str,
    wire: Wire,
    base: &'static str,
    key_variables: &'static [&'static str],
) -> Preset {
    Preset { name, label, wire, base, key_variables, base_variable: None, is_local: false }
}

const fn local(name: &'static str, label: &'static str, wire: Wire, base: &'static str) -> Preset {
    Preset { name, label, wire, base, key_variables: &[], base_variable: None, is_local: true }
}
