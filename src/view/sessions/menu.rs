//! What can be done with a session.

use egui::{Button, RichText, Ui};

use super::{ListWish, Listed, Shelf};
use crate::layout::Palette;

/// What was chosen.
pub(super) enum Choice {
    /// The list itself does it: give another title.
    Rename,
    /// The list itself does it: it is asked back for a while.
    Delete,
    /// The program does it.
    Wish(ListWish),
}

/// The menu of a session.
pub(super) fn menu_ui(
    ui: &mut Ui,
    session: &Listed,
    shelf: Shelf,
    palette: &Palette,
) -> Option<Choice> {
    ui.set_min_width(190.0);
    let mut chosen = None;
    let mut choose = |ui: &mut Ui, words: &str, keys: &str, choice: Choice| {
        if ui.add(entry(words, keys)).clicked() {
            chosen = Some(choice);
            ui.close();
        }
    };
    let id = || session.id.clone();
    if shelf == Shelf::Trash {
        choose(ui, "Restore", "", Choice::Wish(ListWish::Restore(id())));
        choose(ui, "Copy id", "", Choice::Wish(ListWish::CopyId(id())));
        return chosen;
    }
    let open = ListWish::Open { id: id(), in_new_tab: true };
    choose(ui, "Open in new tab", "Ctrl click", Choice::Wish(open));
    choose(ui, "Rename", "F2", Choice::Rename);
    if shelf == Shelf::Current {
        let pin = if session.pinned { "Unpin" } else { "Pin" };
        choose(ui, pin, "", Choice::Wish(ListWish::Pin(id(), !session.pinned)));
    }
    let archive = if session.archived { "Unarchive" } else { "Archive" };
    choose(ui, archive, "", Choice::Wish(ListWish::Archive(id(), !session.archived)));
    ui.separator();
    choose(ui, "Export…", "", Choice::Wish(ListWish::Export(id())));
    choose(ui, "Copy id", "", Choice::Wish(ListWish::CopyId(id())));
    ui.separator();
    let delete = RichText::new("Delete").color(palette.err);
    if ui.add(Button::new(delete).frame(false).shortcut_text("Del")).clicked() {
        chosen = Some(Choice::Delete);
        ui.close();
    }
    chosen
}

fn entry<'a>(words: &'a str, keys: &'a str) -> Button<'a> {
    let button = Button::new(words).frame(false);
    if keys.is_empty() { button } else { button.shortcut_text(keys) }
}
