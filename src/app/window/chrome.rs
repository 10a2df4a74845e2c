//! What surrounds the page: the sidebar with the open files, the bar above, the empty state.

use egui::{
    Align, Align2, CornerRadius, FontId, Frame, Layout, Margin, Panel, RichText, Role, Sense,
    Stroke, ThemePreference, Ui, WidgetInfo, pos2, vec2,
};

use super::{Window, announce::Announcer, dialogs::Dialogs};
use crate::{
    app::cli::ProviderFlags,
    layout::{Palette, face, icon},
    view::{
        governor::{self, Preference, Settings},
        theme,
    },
};

const SIDEBAR_WIDTH: f32 = 248.0;
const BAR_HEIGHT: f32 = 44.0;
const ROW_HEIGHT: f32 = 32.0;

pub(super) fn palette(ui: &Ui) -> Palette {
    theme::palette(if ui.visuals().dark_mode { egui::Theme::Dark } else { egui::Theme::Light })
}

pub(super) fn icon_font(size: f32) -> FontId {
    FontId::new(size, egui::FontFamily::Name(face::ICON_NAME.into()))
}

impl Window {
    pub(super) fn sidebar_ui(&mut self, ui: &mut Ui) {
        let palette = palette(ui);
        let frame = Frame::new().fill(palette.panel).inner_margin(Margin::same(10));
        let panel = Panel::left("sidebar")
            .exact_size(SIDEBAR_WIDTH)
            .resizable(false)
            .show_separator_line(false)
            .frame(frame);
        let response = panel.show(ui, |ui| {
            if button_row(ui, &palette, "New chat", "Ctrl N") {
                self.chat(ui.ctx(), &ProviderFlags::default());
            }
            ui.add_space(6.0);
            let waiting = self.waiting();
            if waiting > 0 && waiting_row(ui, &palette, waiting) {
                self.next_question();
            }
            let (marks, loose) = (self.marks(), self.loose());
            for wish in self.desk.list_ui(ui, &marks, &loose, &palette) {
                self.carry_out_list(ui.ctx(), wish);
            }
        });
        let edge = response.response.rect;
        ui.painter().vline(edge.right(), edge.y_range(), hairline(ui, &palette));
    }

    pub(super) fn top_bar_ui(&mut self, ui: &mut Ui) {
        let palette = palette(ui);
        let (rect, _) =
            ui.allocate_exact_size(vec2(ui.available_width(), BAR_HEIGHT), Sense::hover());
        ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, hairline(ui, &palette));
        let mut bar = ui.new_child(
            egui::UiBuilder::new()
                .max_rect(rect.shrink2(vec2(14.0, 0.0)))
                .layout(Layout::left_to_right(Align::Center)),
        );
        if !self.sidebar && icon_button(&mut bar, icon::SIDEBAR_SIMPLE, "Show the sidebar (Ctrl B)")
        {
            self.sidebar = true;
        }
        let Some(tab) = self.tabs.get_mut(self.active) else { return };
        let (title, words) = (tab.title(), tab.caption());
        let warnings = tab.warnings();
        bar.with_layout(Layout::right_to_left(Align::Center), |ui| {
            theme_menu(ui, &self.around.announcer);
            if icon_button(ui, icon::GEAR, "Settings (Ctrl ,)") {
                self.toggle_settings(ui.ctx());
            }
            let has_servers = self.servers().is_some();
            if has_servers && icon_button(ui, icon::PLUG, "Servers of tools") {
                self.panel.toggle();
            }
            if icon_button(ui, icon::QUESTION, "Keys and help (F1)") {
                self.dialogs.toggle_manual();
            }
            let exports = icon_button(ui, icon::DOWNLOAD_SIMPLE, "Export (Ctrl Shift E)");
            if exports {
                self.export();
            }
            let collapse =
                icon_button(ui, icon::ARROWS_IN_LINE_VERTICAL, "Fold everything (Ctrl Shift O)");
            let expand =
                icon_button(ui, icon::ARROWS_OUT_LINE_VERTICAL, "Unfold everything (Ctrl O)");
            if let Some(view) = self.tabs.get_mut(self.active).and_then(|tab| tab.view()) {
                if expand {
                    view.expand(crate::layout::Openness::All);
                } else if collapse {
                    view.expand(crate::layout::Openness::None);
                }
            }
            if icon_button(ui, icon::MAGNIFYING_GLASS, "Find in this conversation (Ctrl F)")
                && let Some(view) = self.tabs.get_mut(self.active).and_then(|tab| tab.view())
            {
                view.open_find();
            }
            ui.add_space(8.0);
            let dim = RichText::new(words).color(palette.faint).size(face::CAPTION_SIZE);
            let response = ui.add(egui::Label::new(dim).truncate());
            if !warnings.is_empty() {
                response.on_hover_text(
                    warnings.iter().take(20).cloned().collect::<Vec<_>>().join("\n"),
                );
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                if self.tabs.len() > 1 {
                    return self.strip_ui(ui, &palette);
                }
                let strong = RichText::new(title).color(palette.text).variation("wght", 600.0);
                ui.add(egui::Label::new(strong).truncate());
            });
        });
    }
}

/// How many questions wait, and the way to the next one.
fn waiting_row(ui: &mut Ui, palette: &Palette, waiting: usize) -> bool {
    let words = match waiting {
        1 => "1 waits for your word".to_owned(),
        n => format!("{n} wait for your word"),
    };
    let size = vec2(ui.available_width(), ROW_HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &words));
    let alpha = if response.hovered() { 0.28 } else { 0.16 };
    let fill = palette.warn.gamma_multiply(alpha);
    ui.painter().rect_filled(rect, CornerRadius::same(8), fill);
    let left = pos2(rect.left() + 12.0, rect.center().y);
    let sign = icon::PAUSE;
    ui.painter().text(left, Align2::LEFT_CENTER, sign, icon_font(13.0), palette.warn);
    let font = FontId::new(face::INTERFACE_SIZE, face::TEXT);
    let at = left + vec2(20.0, 0.0);
    ui.painter().text(at, Align2::LEFT_CENTER, words, font, palette.text);
    response.on_hover_text("Go to the next one (Ctrl Shift A)").clicked()
}

fn button_row(ui: &mut Ui, palette: &Palette, words: &str, keys: &str) -> bool {
    let size = vec2(ui.available_width(), 36.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, words));
    let raised = if palette.dark { palette.raised } else { palette.bg };
    let fill = if response.hovered() { palette.line } else { raised };
    let stroke = Stroke::new(1.0, palette.line);
    ui.painter().rect(rect, CornerRadius::same(8), fill, stroke, egui::StrokeKind::Inside);
    let font = FontId::new(face::INTERFACE_SIZE, face::TEXT);
    let left = pos2(rect.left() + 12.0, rect.center().y);
    ui.painter().text(left, Align2::LEFT_CENTER, words, font.clone(), palette.text);
    let right = pos2(rect.right() - 12.0, rect.center().y);
    ui.painter().text(right, Align2::RIGHT_CENTER, keys, font, palette.faint);
    response.clicked()
}

fn icon_button(ui: &mut Ui, icon: char, words: &str) -> bool {
    let text = RichText::new(icon.to_string()).font(icon_font(17.0));
    let response = ui.add(egui::Button::new(text).frame(false)).on_hover_text(words);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, words));
    response.clicked()
}

/// System, light, dark; how much moves, and how much power that may take.
fn theme_menu(ui: &mut Ui, announcer: &Announcer) {
    let now = ui.ctx().options(|options| options.theme_preference);
    let sign = if ui.visuals().dark_mode { icon::MOON } else { icon::SUN };
    let text = RichText::new(sign.to_string()).font(icon_font(17.0));
    let menu = ui.menu_button(text, |ui| {
        for (preference, words) in [
            (ThemePreference::System, "Like the system"),
            (ThemePreference::Light, "Light"),
            (ThemePreference::Dark, "Dark"),
        ] {
            if ui.radio(now == preference, words).clicked() {
                Window::set_theme(ui.ctx(), preference);
                ui.close();
            }
        }
        frames_menu(ui);
        ui.separator();
        let mut wanted = announcer.is_wanted();
        if ui.checkbox(&mut wanted, "Notify me when a tool waits").changed() {
            announcer.want(wanted);
        }
    });
    menu.response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Theme"));
}

/// What may be painted though nobody touched anything.
fn frames_menu(ui: &mut Ui) {
    let before = governor::settings(ui);
    let mut settings = before;
    let Settings { reduced_motion, battery_saver } = &mut settings;
    ui.separator();
    ui.weak("Motion");
    ui.radio_value(reduced_motion, Preference::Auto, "As the system has it");
    ui.radio_value(reduced_motion, Preference::Off, "Full");
    ui.radio_value(reduced_motion, Preference::On, "Reduced");
    ui.separator();
    ui.weak("Battery saver");
    ui.radio_value(battery_saver, Preference::Auto, "While on battery");
    ui.radio_value(battery_saver, Preference::On, "Always");
    ui.radio_value(battery_saver, Preference::Off, "Never");
    if settings != before {
        governor::configure(ui, settings);
        ui.close();
    }
}

fn hairline(ui: &Ui, palette: &Palette) -> Stroke {
    Stroke::new(1.0 / ui.pixels_per_point(), palette.line)
}

/// No tab is open: one sentence, and what can be done.
pub(super) fn empty_ui(ui: &mut Ui, dialogs: &mut Dialogs) {
    ui.vertical_centered(|ui| {
        ui.add_space(ui.available_height() * 0.32);
        ui.heading("Open a conversation to read it.");
        ui.add_space(12.0);
        if ui.button("Open a file   Ctrl P").clicked() {
            dialogs.pick_file(ui.ctx());
        }
        ui.add_space(4.0);
        ui.weak("Or drop transcripts of pi or Claude Code here. F1 shows the keys.");
    });
}
