//! Values of settings: from the file, into it, and as they are when nobody chose.

use std::sync::Arc;

use toml_edit::Array;

use super::table::{Kind, Spec};
use crate::view::composer::Choice;

/// Characters of a text in the settings.
const TEXT_MAX: usize = 100_000;
/// Models with a star.
const MODELS_MAX: usize = 200;

/// What a setting is.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// One of its words.
    Word(&'static str),
    /// On or off.
    Switch(bool),
    /// A whole number.
    Count(u32),
    /// A number, in hundredths.
    Factor(u32),
    /// A text.
    Text(Arc<str>),
    /// Models.
    Models(Arc<[Choice]>),
}

impl Value {
    /// What holds when nobody chose.
    pub(super) fn default_of(spec: &Spec) -> Self {
        match spec.kind {
            Kind::Word(_) => Self::Word(spec.default),
            Kind::Switch => Self::Switch(spec.default == "true"),
            Kind::Count { .. } => Self::Count(spec.default.parse().unwrap_or_default()),
            Kind::Factor { .. } => Self::Factor(100),
            Kind::Text { .. } => Self::Text(spec.default.into()),
            Kind::Models => Self::Models(Arc::new([])),
        }
    }

    /// A value of the file.
    ///
    /// # Errors
    /// What it should be instead.
    pub(super) fn read(kind: Kind, value: &serde_json::Value) -> Result<Self, String> {
        match kind {
            Kind::Word(words) => Self::word(words, value),
            Kind::Switch => value
                .as_bool()
                .map(Self::Switch)
                .ok_or_else(|| "is neither true nor false".to_owned()),
            Kind::Count { from, to } => value
                .as_u64()
                .and_then(|count| u32::try_from(count).ok())
                .filter(|count| (from..=to).contains(count))
                .map(Self::Count)
                .ok_or_else(|| format!("is no whole number from {from} to {to}")),
            Kind::Factor { from, to } => value
                .as_f64()
                .map(|factor| (factor * 100.0).round())
                .filter(|hundredths| (f64::from(from)..=f64::from(to)).contains(hundredths))
                .map(|hundredths| Self::Factor(hundredths as u32))
                .ok_or_else(|| {
                    let ends = [from, to].map(|end| f64::from(end) / 100.0);
                    format!("is no number from {} to {}", ends[0], ends[1])
                }),
            Kind::Text { .. } => match value.as_str() {
                Some(text) if text.chars().count() <= TEXT_MAX => Ok(Self::Text(text.into())),
                Some(_) => Err("is too long".to_owned()),
                None => Err("is no text".to_owned()),
            },
            Kind::Models => Self::models(value),
        }
    }

    fn word(
        words: &'static [(&'static str, &'static str)],
        value: &serde_json::Value,
    ) -> Result<Self, String> {
        let said = match value {
            serde_json::Value::Bool(true) => "on",
            serde_json::Value::Bool(false) => "off",
            other => other.as_str().unwrap_or_default(),
        };
        let known = words.iter().find(|(word, _)| *word == said);
        known.map(|(word, _)| Self::Word(word)).ok_or_else(|| {
            let words: Vec<_> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
            format!("is none of {}", words.join(", "))
        })
    }

    fn models(value: &serde_json::Value) -> Result<Self, String> {
        let wrong = || "is no list of \"provider/model\"".to_owned();
        let list = value.as_array().ok_or_else(wrong)?;
        let model = |value: &serde_json::Value| model(value.as_str()?);
        let models: Option<Vec<Choice>> = list.iter().take(MODELS_MAX).map(model).collect();
        models.map(|models| Self::Models(models.into())).ok_or_else(wrong)
    }

    /// A word or a text, if the setting may be that.
    #[must_use]
    pub fn of_words(spec: &Spec, words: &str) -> Option<Self> {
        Self::read(spec.kind, &words.into()).ok()
    }

    /// A number, if the setting may be that.
    #[must_use]
    pub fn of_number(spec: &Spec, number: f64) -> Option<Self> {
        let number = match spec.kind {
            Kind::Count { .. } => serde_json::Value::from(number.round().max(0.0) as u64),
            _ => number.into(),
        };
        Self::read(spec.kind, &number).ok()
    }

    /// As it stands in the file.
    pub(super) fn written(&self) -> toml_edit::Value {
        match self {
            Self::Word(word) => (*word).into(),
            Self::Switch(on) => (*on).into(),
            Self::Count(count) => i64::from(*count).into(),
            Self::Factor(hundredths) => (f64::from(*hundredths) / 100.0).into(),
            Self::Text(text) => (&**text).into(),
            Self::Models(models) => models.iter().map(words).collect::<Array>().into(),
        }
    }
}

/// A model as `provider/model`. Names of models may hold slashes, those of providers do not.
fn model(text: &str) -> Option<Choice> {
    let (provider, model) = text.split_once('/')?;
    let is_whole = !provider.is_empty() && !model.is_empty();
    is_whole.then(|| Choice { provider: provider.into(), model: model.into() })
}

fn words(choice: &Choice) -> String {
    format!("{}/{}", choice.provider, choice.model)
}
