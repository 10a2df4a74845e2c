//! Who draws a conversation, and going from one to another in place.

use egui::{Event, Key, Modifiers, Ui};

use crate::{
    layout::Jump,
    model::Source,
    view::{ReferenceView, TranscriptView, ViewCommand},
};

/// What draws a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Renderer {
    /// Finished slugs stay on the GPU, where there is a printer; else they are replayed.
    #[default]
    Retained,
    /// Finished slugs are printed again in each frame by egui's painter.
    Replay,
    /// `egui_commonmark`, for comparison.
    Commonmark,
}

impl Renderer {
    /// All of them, ours first.
    pub const ALL: [Self; 3] = [Self::Retained, Self::Replay, Self::Commonmark];

    /// Its name, as on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Retained => "retained",
            Self::Replay => "replay",
            Self::Commonmark => "commonmark",
        }
    }
}

/// Shows one conversation by any [`Renderer`], and keeps the reader's place when it changes.
#[derive(Default)]
pub struct Shown {
    /// The reference renderer while it is in use, and where it took over.
    reference: Option<(ReferenceView, Place)>,
}

/// A row and the points that are scrolled past of it.
type Place = (usize, f64);

impl Shown {
    /// Shows the conversation in all of `ui`'s room.
    pub fn show(
        &mut self,
        renderer: Renderer,
        view: &mut TranscriptView,
        ui: &mut Ui,
        source: &mut dyn Source,
    ) -> Vec<ViewCommand> {
        match renderer {
            Renderer::Commonmark => {
                let (reference, _) = self.reference.get_or_insert_with(|| take_over(view));
                steer(reference, ui, source);
                reference.show(ui, source);
                Vec::new()
            }
            Renderer::Retained | Renderer::Replay => {
                if let Some((reference, from)) = self.reference.take() {
                    hand_back(&reference, from, view);
                }
                view.draw_with(renderer);
                view.show(ui, source)
            }
        }
    }

    /// Messages on screen, while the reference renderer shows them.
    #[must_use]
    pub fn messages_visible(&self) -> Option<usize> {
        self.reference.as_ref().map(|(reference, _)| reference.visible())
    }
}

/// The reference renderer, where the view is.
fn take_over(view: &TranscriptView) -> (ReferenceView, Place) {
    let mut reference = ReferenceView::default();
    match view.visible().placed.first() {
        Some(top) if !view.is_following() => reference.go_to_row(top.row),
        Some(_) | None => reference.follow_end(),
    }
    let place = reference.position();
    (reference, place)
}

/// Moves the view to where the reference renderer has gone, if it has.
fn hand_back(reference: &ReferenceView, from: Place, view: &mut TranscriptView) {
    if reference.is_following() {
        view.jump(Jump::End);
    } else if reference.position() != from {
        view.jump(Jump::Row(reference.position().0));
    }
}

/// Wheel and keys of the reference renderer: what comparing needs, and no more.
fn steer(reference: &mut ReferenceView, ui: &Ui, source: &dyn Source) {
    let rect = ui.available_rect_before_wrap();
    if ui.rect_contains_pointer(rect) {
        let delta = ui.input(|input| input.smooth_scroll_delta().y);
        if delta != 0.0 {
            reference.scroll_by(f64::from(-delta));
        }
    }
    let dialog = ui.memory(|memory| memory.top_modal_layer().is_some());
    let quiet = !ui.input(|input| input.events.iter().any(|e| matches!(e, Event::Key { .. })));
    if quiet || dialog || ui.egui_wants_keyboard_input() {
        return;
    }
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let page = f64::from(rect.height());
    if pressed(Key::Home) {
        reference.go_to_row(0);
    } else if pressed(Key::End) && !source.is_empty() {
        reference.follow_end();
    } else if pressed(Key::PageUp) {
        reference.scroll_by(-page);
    } else if pressed(Key::PageDown) {
        reference.scroll_by(page);
    }
}
