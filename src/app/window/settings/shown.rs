//! What of the settings a window shows, and can be changed there.

use std::collections::BTreeSet;

use egui::{Context, ThemePreference};

use crate::{
    app::settings::{Change, Setting, Settings, Value},
    view::{
        composer::{Choice, SendKey},
        governor::{self, Preference},
    },
};

/// What of the settings a window shows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shown {
    pub(super) theme: ThemePreference,
    pub(super) frames: governor::Settings,
    /// In hundredths.
    pub(super) zoom: u32,
    pub(super) minimap: bool,
    pub(super) notifies: bool,
    pub(super) send_key: SendKey,
    pub(super) favourites: BTreeSet<Choice>,
}

impl Shown {
    /// As a context shows it; the rest as when nobody chose.
    pub(super) fn of_context(ctx: &Context) -> Self {
        Self {
            theme: ctx.options(|options| options.theme_preference),
            frames: governor::settings(ctx),
            zoom: (ctx.zoom_factor() * 100.0).round() as u32,
            minimap: true,
            notifies: true,
            send_key: SendKey::default(),
            favourites: BTreeSet::new(),
        }
    }

    /// As the settings have it. What they do not say, and did not say before, stays as it is.
    pub(super) fn of(settings: &Settings, before: Option<&Settings>, now: &Self) -> Self {
        let says = |setting| {
            settings.is_given(setting) || before.is_some_and(|before| before.is_given(setting))
        };
        let frames = settings.frames();
        let frames = governor::Settings {
            reduced_motion: match says(Setting::ReducedMotion) {
                true => frames.reduced_motion,
                false => now.frames.reduced_motion,
            },
            battery_saver: match says(Setting::BatterySaver) {
                true => frames.battery_saver,
                false => now.frames.battery_saver,
            },
        };
        let zoom = (settings.zoom() * 100.0).round() as u32;
        Self {
            theme: if says(Setting::Theme) { settings.theme() } else { now.theme },
            frames,
            zoom: if says(Setting::Zoom) { zoom } else { now.zoom },
            minimap: if says(Setting::Minimap) { settings.minimap() } else { now.minimap },
            notifies: if says(Setting::Notify) { settings.notifies() } else { now.notifies },
            send_key: if says(Setting::SendKey) { settings.send_key() } else { now.send_key },
            favourites: match says(Setting::Favourites) {
                true => settings.favourites().iter().cloned().collect(),
                false => now.favourites.clone(),
            },
        }
    }

    /// What has to be kept for `now` to come back.
    pub(super) fn changes(&self, now: &Self) -> Vec<Change> {
        let word = Value::Word;
        let mut changes = Vec::new();
        let mut note = |setting, differs: bool, value: Value| {
            if differs {
                changes.push(Change::Set(setting, value));
            }
        };
        let theme = match now.theme {
            ThemePreference::System => "system",
            ThemePreference::Light => "light",
            ThemePreference::Dark => "dark",
        };
        let (motion, saver) = (now.frames.reduced_motion, now.frames.battery_saver);
        let send = match now.send_key {
            SendKey::Enter => "enter",
            SendKey::CtrlEnter => "ctrl-enter",
        };
        let favourites = now.favourites.iter().cloned().collect();
        note(Setting::Theme, self.theme != now.theme, word(theme));
        let before = self.frames;
        note(Setting::ReducedMotion, before.reduced_motion != motion, word(preference(motion)));
        note(Setting::BatterySaver, before.battery_saver != saver, word(preference(saver)));
        note(Setting::Zoom, self.zoom != now.zoom, Value::Factor(now.zoom));
        note(Setting::Minimap, self.minimap != now.minimap, Value::Switch(now.minimap));
        note(Setting::Notify, self.notifies != now.notifies, Value::Switch(now.notifies));
        note(Setting::SendKey, self.send_key != now.send_key, word(send));
        note(Setting::Favourites, self.favourites != now.favourites, Value::Models(favourites));
        changes
    }
}

fn preference(preference: Preference) -> &'static str {
    match preference {
        Preference::Auto => "auto",
        Preference::On => "on",
        Preference::Off => "off",
    }
}
