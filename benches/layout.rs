//! From blocks to slugs: one message of growing size in a view of its own.
//!
//! `cargo bench --bench layout`. Only what is on screen is laid out, so that no row may
//! grow with the message but by what a screen holds.

#![expect(clippy::print_stdout, reason = "a bench prints its table")]

#[path = "measure/mod.rs"]
pub(crate) mod measure;

use std::sync::Arc;

use egui::{Context, RawInput, Rect, pos2, vec2};
use letterpress::{
    app::synth,
    engine::prepare,
    layout::Jump,
    model::{MemorySource, Message, MessageId, Part, Role, SourceLine, Text},
    perf::Samples,
    view::{TranscriptView, theme},
};

use measure::{Extent, Row, Table, runs};

fn main() {
    println!("{}", table(Extent::of_args()));
}

pub(crate) fn table(extent: Extent) -> Table {
    let mut rows = Vec::new();
    for kibibytes in extent.pick([1, 16, 256].as_slice(), &[1, 16]) {
        push_rows(&mut rows, *kibibytes, extent);
    }
    Table { title: "layout: an egui pass over one message, not tessellated", rows }
}

fn push_rows(rows: &mut Vec<Row>, kibibytes: usize, extent: Extent) {
    let mut bed = Bed::new(&synth::reply(kibibytes * 1024));
    let mut push = |name: &str, bed: &mut Bed, samples: Samples, before: u64| {
        let frames = samples.len().max(1) as u64;
        let laid_out = (bed.view.laid_out() - before) / frames;
        let name = format!("{kibibytes} KiB, {name}");
        rows.push(Row::new(name, samples, [("slugs laid out a run", laid_out)]));
    };
    let count = extent.pick(50, 2);
    let before = bed.view.laid_out();
    let cold = runs(count, || {
        bed.view.purge();
        bed.frame();
    });
    push("nothing laid out", &mut bed, cold, before);
    let before = bed.view.laid_out();
    let warm = runs(count, || bed.frame());
    push("everything laid out", &mut bed, warm, before);
    let before = bed.view.laid_out();
    let mut width = 700.0;
    let resized = runs(count, || {
        width -= 1.0;
        bed.width = width;
        bed.frame();
    });
    push("another width", &mut bed, resized, before);
}

/// A view on one message.
struct Bed {
    ctx: Context,
    view: TranscriptView,
    source: MemorySource,
    width: f32,
}

impl Bed {
    fn new(text: &str) -> Self {
        let ctx = Context::default();
        theme::install(&ctx);
        let mut view = TranscriptView::new(&ctx);
        view.jump(Jump::Start);
        let source = MemorySource::new([message(text)]);
        let mut bed = Self { ctx, view, source, width: 1000.0 };
        // Glyphs are drawn into the atlas once, which is no cost of layout.
        (0..3).for_each(|_| bed.frame());
        bed
    }

    fn frame(&mut self) {
        let Self { ctx, view, source, width } = self;
        let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(*width, 800.0));
        let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
        let mut output = ctx.run_ui(input, |ui| {
            view.show(ui, source);
        });
        output.textures_delta.clear();
    }
}

fn message(text: &str) -> Message {
    prepare(Message {
        id: MessageId(1),
        key: Arc::from(""),
        role: Role::Assistant,
        timestamp_ms: None,
        model: None,
        parts: vec![Part::Text(Text::unparsed(text))],
        stop: None,
        error: None,
        usage: None,
        line: SourceLine(1),
    })
}
