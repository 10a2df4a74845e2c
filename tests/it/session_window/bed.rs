//! The list and the quick way over plain data, without a window around them.

use std::{sync::Arc, time::Instant};

use egui::{CentralPanel, Frame, Margin, Panel, Ui, Vec2};
use egui_kittest::Harness;
use letterpress::{
    model::MessageId,
    perf,
    store::catalog::Place,
    view::{
        governor,
        sessions::{
            Found, Hits, ListWish, Listed, Loose, Mark, Marks, QuickSwitch, Searching, SessionId,
            SessionList, Shown, State, SwitchShown, SwitchWish,
        },
        theme,
        wall::Moment,
    },
};

use crate::approval::desk::{on_ground, pictures};

/// Monday, 30 November 2026, 15:40, one hour ahead of UTC.
pub(super) const NOW: Moment = Moment { unix_ms: 1_796_049_600_000, offset_secs: 3600 };
pub(super) const HOUR: i64 = 3_600_000;
pub(super) const DAY: i64 = 24 * HOUR;

pub(super) struct Bed {
    pub(super) list: SessionList,
    pub(super) switch: QuickSwitch,
    pub(super) listed: Arc<[Listed]>,
    pub(super) marks: Marks,
    pub(super) loose: Vec<Loose>,
    pub(super) state: State,
    pub(super) hits: Hits,
    pub(super) wishes: Vec<ListWish>,
    pub(super) switched: Vec<SwitchWish>,
    pub(super) clock: Instant,
}

impl Bed {
    pub(super) fn of(listed: Vec<Listed>) -> Self {
        Self {
            list: SessionList::default(),
            switch: QuickSwitch::default(),
            listed: listed.into(),
            marks: Marks::default(),
            loose: Vec::new(),
            state: State::Ready,
            hits: Hits::default(),
            wishes: Vec::new(),
            switched: Vec::new(),
            clock: perf::now(),
        }
    }

    fn ui(&mut self, ui: &mut Ui) {
        let theme = if ui.visuals().dark_mode { egui::Theme::Dark } else { egui::Theme::Light };
        let palette = theme::palette(theme);
        let frame = Frame::new().fill(palette.panel).inner_margin(Margin::same(10));
        let panel = Panel::left("sidebar").exact_size(248.0).frame(frame).resizable(false);
        panel.show_separator_line(false).show(ui, |ui| {
            let shown = Shown {
                listed: &self.listed,
                marks: &self.marks,
                loose: &self.loose,
                state: &self.state,
                now: NOW,
                clock: self.clock,
                palette: &palette,
            };
            self.wishes.extend(self.list.show(ui, &shown));
        });
        CentralPanel::default().frame(Frame::NONE).show(ui, |_ui| ());
        let shown = SwitchShown {
            listed: &self.listed,
            marks: &self.marks,
            hits: &self.hits,
            now: NOW,
            clock: self.clock,
            palette: &palette,
        };
        self.switched.extend(self.switch.show(ui, &shown));
    }
}

pub(super) type Desk = Harness<'static, Bed>;

pub(super) fn desk(bed: Bed, theme: egui::Theme) -> Desk {
    let mut desk = Harness::builder()
        .with_size(Vec2::new(1000.0, 700.0))
        .allow_missing_glyphs()
        .with_theme(theme)
        .with_context_setup(|ctx| {
            theme::install(ctx);
            governor::observe(ctx);
        })
        .build_ui_state(|ui, bed: &mut Bed| bed.ui(ui), bed);
    desk.run_steps(3);
    desk
}

pub(super) fn picture(desk: &mut Desk, name: &str) {
    let Some(folder) = pictures() else { return };
    desk.run_steps(4);
    let image = on_ground(desk.render().unwrap(), &desk.ctx);
    image.save(folder.join(format!("{name}.png"))).unwrap();
}

pub(super) fn session(id: &str, title: &str, age: i64) -> Listed {
    let updated_ms = NOW.unix_ms - age;
    Listed {
        id: SessionId::new(id).unwrap(),
        title: title.into(),
        created_ms: updated_ms - HOUR,
        updated_ms,
        messages: 12,
        model: "claude-sonnet".into(),
        pinned: false,
        archived: false,
        deleted: false,
        preview: "The growth is linear in the length of the reply".into(),
        has_draft: false,
    }
}

pub(super) fn some() -> Vec<Listed> {
    vec![
        session("a", "Lay out only the open tail", HOUR),
        session("b", "Minimap texture per strip row", 2 * HOUR),
        Listed { has_draft: true, ..session("c", "Approve: cargo fmt --check", 3 * HOUR) },
        session("d", "Torn line recovery", DAY),
        session("e", "SSE over a flaky proxy", DAY + HOUR),
        session("f", "為什麼字距不同？", DAY + 2 * HOUR),
        session(
            "g",
            "A very long title that does not fit into the row of a sidebar at all",
            4 * DAY,
        ),
        session("h", "Older things", 40 * DAY),
        Listed { pinned: true, ..session("p", "House rules", 90 * DAY) },
        Listed { archived: true, ..session("q", "Put away", 50 * DAY) },
        Listed { deleted: true, ..session("r", "Thrown away", 2 * DAY) },
    ]
}

pub(super) fn marks() -> Marks {
    let mark = |is_active, is_busy, asks| Mark { is_active, is_busy, asks };
    [("a", mark(true, true, false)), ("c", mark(false, true, true)), ("d", Mark::default())]
        .into_iter()
        .map(|(id, mark)| (SessionId::new(id).unwrap(), mark))
        .collect()
}

pub(super) fn file(key: u64, title: &str) -> Loose {
    let (title, mark) = (title.to_owned(), Mark::default());
    Loose { key, title, mark, is_file: true, has_draft: false }
}

pub(super) fn hits(query: &str) -> Hits {
    let snippet = "…a torn line is kept in a file of its own, and the log is cut back to the last whole record; recovery never deletes…";
    let at = snippet.find("torn line").unwrap();
    let found = |session: &str, title: &str| Found {
        session: SessionId::new(session).unwrap(),
        title: title.into(),
        message: Some(MessageId(77)),
        role: None,
        time_ms: NOW.unix_ms,
        place: Place::Text,
        snippet: snippet.into(),
        ranges: std::iter::once(at..at + 9).collect(),
    };
    let found = vec![found("d", "Torn line recovery"), found("b", "Minimap texture per strip row")];
    Hits { query: query.to_owned(), found, state: Searching::Done }
}
