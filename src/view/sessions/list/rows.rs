//! The rows that can be seen, and what is done with them.

use egui::{Popup, Rect, RichText, ScrollArea, Ui, pos2, vec2};

use super::{ListWish, SessionList, Shown, list_id};
use crate::{
    layout::{face, icon},
    perf::Reason,
    view::{
        governor,
        sessions::{
            CAPTION_HEIGHT, Line, Lines, Listed, ROW_HEIGHT, Shelf,
            menu::{Choice, menu_ui},
            rename::{Ended, Renaming},
            row::{self, Row},
            words,
        },
    },
};

impl SessionList {
    pub(super) fn visible_ui(
        &mut self,
        ui: &mut Ui,
        viewport: Rect,
        shown: &Shown<'_>,
        lines: &Lines,
        wishes: &mut Vec<ListWish>,
    ) {
        let origin = ui.max_rect().min;
        let width = ui.available_width();
        let place = |top: f32, height: f32| {
            Rect::from_min_size(pos2(origin.x, origin.y + top), vec2(width, height))
        };
        for at in lines.between(viewport.top(), viewport.bottom()) {
            let Some((line, top)) = lines.get(at) else { continue };
            let rect = place(top, line.height());
            match line {
                Line::Caption(group) => row::caption(ui, rect, &group.words(), shown.palette),
                Line::Session(index) => {
                    if let Some(session) = shown.listed.get(index) {
                        self.laid_out += 1;
                        let rect = rect.shrink2(vec2(0.0, 1.0));
                        self.session_ui(ui, rect, session, (shown, lines), wishes);
                    }
                }
            }
        }
        self.reveal_ui(ui, shown, lines, place);
    }

    /// Brings a line on screen that is not.
    fn reveal_ui(
        &mut self,
        ui: &Ui,
        shown: &Shown<'_>,
        lines: &Lines,
        place: impl Fn(f32, f32) -> Rect,
    ) {
        let Some(id) = self.reveal.take() else { return };
        let index = shown.listed.iter().position(|one| one.id == id);
        let found = index.and_then(|index| lines.find(index)).and_then(|at| lines.get(at));
        let Some((line, top)) = found else { return };
        let rect = place(top, line.height());
        if !ui.clip_rect().contains_rect(rect) {
            ui.scroll_to_rect_animation(rect, None, egui::style::ScrollAnimation::none());
            governor::after(ui, Reason::Input, governor::FRAME);
        }
    }

    fn session_ui(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        session: &Listed,
        (shown, lines): (&Shown<'_>, &Lines),
        wishes: &mut Vec<ListWish>,
    ) {
        let id = ui.scope_id().with(&session.id);
        if let Some(renaming) = self.renaming.as_mut().filter(|r| r.id == session.id) {
            let field = id.with("title");
            if let Some(ended) = renaming.show(ui, rect, field, shown.palette) {
                self.renaming = None;
                ui.ctx().memory_mut(|memory| memory.request_focus(list_id()));
                if let Ended::Renamed(title) = ended {
                    wishes.push(ListWish::Rename(session.id.clone(), title));
                }
            }
            return;
        }
        let put_away = match (self.shelf, session.archived) {
            (Shelf::Trash, _) => (icon::ARROW_COUNTER_CLOCKWISE, "Restore"),
            (_, true) => (icon::ARCHIVE, "Unarchive"),
            (_, false) => (icon::ARCHIVE, "Archive"),
        };
        let more = id.with("More");
        let has_focus = ui.ctx().memory(|memory| memory.has_focus(list_id()));
        let row = Row {
            title: &session.title,
            mark: shown.marks.of(&session.id),
            has_draft: session.has_draft,
            is_at: has_focus && self.at.as_ref() == Some(&session.id),
            actions: &[(icon::DOTS_THREE, "More"), put_away],
            shows_actions: Popup::is_id_open(ui.ctx(), more.with("popup")),
        };
        let done = row.show(ui, rect, id, shown.palette);
        let chosen = self.act(ui, &done, session, shown, wishes);
        match chosen {
            Some(Choice::Rename) => {
                self.renaming = Some(Renaming::new(session.id.clone(), &session.title));
            }
            Some(Choice::Delete) => self.delete(session, (shown, lines), wishes),
            Some(Choice::Wish(ListWish::CopyId(id))) => ui.ctx().copy_text(id.as_str().to_owned()),
            Some(Choice::Wish(wish)) => wishes.push(wish),
            None => {}
        }
    }

    /// What was done with a row.
    fn act(
        &mut self,
        ui: &Ui,
        done: &row::Done,
        session: &Listed,
        shown: &Shown<'_>,
        wishes: &mut Vec<ListWish>,
    ) -> Option<Choice> {
        let (shelf, palette) = (self.shelf, shown.palette);
        let mut chosen = None;
        if let Some(more) = done.actions.first() {
            Popup::menu(more).show(|ui| chosen = menu_ui(ui, session, shelf, palette));
        }
        done.row.context_menu(|ui| chosen = menu_ui(ui, session, shelf, palette));
        if done.actions.get(1).is_some_and(egui::Response::clicked) {
            let id = session.id.clone();
            return Some(Choice::Wish(match shelf {
                Shelf::Trash => ListWish::Restore(id),
                Shelf::Current | Shelf::Archive => ListWish::Archive(id, !session.archived),
            }));
        }
        // The first click of two shows it for a look, the second one keeps it.
        let in_new_tab = done.row.middle_clicked()
            || done.row.double_clicked()
            || ui.input(|input| input.modifiers.command);
        if done.row.clicked() || done.row.middle_clicked() {
            self.at = Some(session.id.clone());
            if shelf != Shelf::Trash {
                wishes.push(ListWish::Open { id: session.id.clone(), in_new_tab });
            }
        }
        done.row.clone().on_hover_ui(|ui| about_ui(ui, session, shown));
        chosen
    }
}

/// What is known of a session, beside its title.
fn about_ui(ui: &mut Ui, session: &Listed, shown: &Shown<'_>) {
    ui.set_max_width(320.0);
    ui.label(words::title(&session.title));
    let messages = match session.messages {
        1 => "1 message".to_owned(),
        n => format!("{} messages", words::count(u64::from(n))),
    };
    let mut about = vec![words::when(session.updated_ms, shown.now), messages];
    if !session.model.is_empty() {
        about.push(words::title(&session.model));
    }
    let about = RichText::new(about.join(" · ")).size(face::CAPTION_SIZE);
    ui.label(about.color(shown.palette.dim));
    if !session.preview.is_empty() {
        let preview: String = words::title(&session.preview);
        let preview = RichText::new(preview).size(face::CAPTION_SIZE).color(shown.palette.faint);
        ui.label(preview);
    }
}

/// What is open and not among the sessions: files below them, conversations above.
pub(super) fn loose_ui(ui: &mut Ui, shown: &Shown<'_>, files: bool, wishes: &mut Vec<ListWish>) {
    let mut loose = shown.loose.iter().filter(|loose| loose.is_file == files).peekable();
    if loose.peek().is_none() {
        return;
    }
    let caption = if files { "OPENED FILES" } else { "OPEN" };
    let rect = row::take(ui, CAPTION_HEIGHT);
    row::caption(ui, rect, caption, shown.palette);
    let rows = |ui: &mut Ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for one in loose {
            let rect = row::take(ui, ROW_HEIGHT).shrink2(vec2(0.0, 1.0));
            let close = format!("Close {}", words::title(&one.title));
            let row = Row {
                title: &one.title,
                mark: Some(one.mark),
                has_draft: one.has_draft,
                is_at: false,
                actions: &[(icon::X, &close)],
                shows_actions: false,
            };
            let done = row.show(ui, rect, ui.scope_id().with(("loose", one.key)), shown.palette);
            let closes = done.actions.first().is_some_and(egui::Response::clicked);
            if closes || done.row.middle_clicked() {
                wishes.push(ListWish::Close(one.key));
            } else if done.row.clicked() {
                wishes.push(ListWish::Focus(one.key));
            }
        }
    };
    ScrollArea::vertical().id_salt(("loose", files)).max_height(ROW_HEIGHT * 6.4).show(ui, rows);
}
