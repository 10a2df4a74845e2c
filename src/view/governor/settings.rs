//! What the user and the system want of frames that nobody asked for.

use egui::Context;

/// A choice that can be left to the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// As the system has it.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

impl Preference {
    /// What it comes to when the system says `system`.
    #[must_use]
    pub fn decide(self, system: bool) -> bool {
        match self {
            Self::Auto => system,
            Self::On => true,
            Self::Off => false,
        }
    }
}

/// What the user chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Nothing moves by itself.
    pub reduced_motion: Preference,
    /// A reply is shown ten times a second and nothing moves by itself.
    pub battery_saver: Preference,
}

/// What is known of the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct System {
    /// It asks for less motion.
    pub reduces_motion: bool,
    /// It runs from a battery.
    pub on_battery: bool,
}

/// How long egui's transitions took, and whether its caret blinked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    animation_secs: f32,
    caret_blinks: bool,
    scroll: egui::style::ScrollAnimation,
}

/// Has egui's own transitions and its caret keep still, or move again as before.
pub(super) fn keep_still(ctx: &Context, still: bool, moved: &mut Option<Moved>) {
    match (still, *moved) {
        (true, None) => {
            *moved = Some(ctx.global_style().as_ref().into());
            ctx.all_styles_mut(|style| {
                style.animation_time = 0.0;
                style.visuals.text_cursor.blink = false;
                style.scroll_animation = egui::style::ScrollAnimation::none();
            });
        }
        (false, Some(before)) => {
            *moved = None;
            ctx.all_styles_mut(|style| {
                style.animation_time = before.animation_secs;
                style.visuals.text_cursor.blink = before.caret_blinks;
                style.scroll_animation = before.scroll;
            });
        }
        (true, Some(_)) | (false, None) => {}
    }
}

impl From<&egui::Style> for Moved {
    fn from(style: &egui::Style) -> Self {
        Self {
            animation_secs: style.animation_time,
            caret_blinks: style.visuals.text_cursor.blink,
            scroll: style.scroll_animation,
        }
    }
}
