//! A frame without a GPU: the egui pass and tessellation over a long conversation.
//!
//! `cargo bench --bench frame`. Top, middle and bottom of 10,000 messages must cost the
//! same, and as much as those of ten.

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
    view::{TranscriptView, theme},
};

use measure::{Extent, Row, Table, runs};

fn main() {
    println!("{}", table(Extent::of_args()));
}

pub(crate) fn table(extent: Extent) -> Table {
    let mut rows = Vec::new();
    for messages in extent.pick([10, 10_000].as_slice(), &[10, 100]) {
        let mut bed = Bed::new(*messages);
        let places =
            [("top", Jump::Start), ("middle", Jump::Row(messages / 2)), ("bottom", Jump::End)];
        for (place, jump) in places {
            rows.push(still(&mut bed, place, jump, extent));
        }
        rows.push(scrolled(&mut bed, extent));
    }
    Table { title: "frame: egui pass and tessellation, egui's painter", rows }
}

fn still(bed: &mut Bed, place: &str, jump: Jump, extent: Extent) -> Row {
    bed.view.jump(jump);
    let triangles = (0..3).map(|_| bed.frame()).last().unwrap_or_default();
    let samples = runs(extent.pick(200, 3), || bed.frame());
    let visible = bed.view.visible_slugs() as u64;
    let name = format!("{} messages, {place}", bed.messages);
    Row::new(name, samples, [("slugs", visible), ("triangles", triangles)])
}

/// Down and up again over a stretch that is laid out.
fn scrolled(bed: &mut Bed, extent: Extent) -> Row {
    bed.view.jump(Jump::Row(bed.messages / 2));
    let mut down = false;
    let frames = extent.pick(60, 2);
    let mut leg = |bed: &mut Bed| {
        down = !down;
        for _ in 0..frames {
            bed.view.scroll_by(if down { 20.0 } else { -20.0 });
            bed.frame();
        }
    };
    leg(bed);
    leg(bed);
    let before = bed.view.laid_out();
    let samples = runs(extent.pick(20, 2), || leg(bed));
    let laid_out = bed.view.laid_out() - before;
    let name = format!("{} messages, {frames} frames of scrolling", bed.messages);
    Row::new(name, samples, [("slugs laid out", laid_out)])
}

/// A view on a conversation.
struct Bed {
    ctx: Context,
    view: TranscriptView,
    source: MemorySource,
    messages: usize,
}

impl Bed {
    fn new(messages: usize) -> Self {
        let ctx = Context::default();
        theme::install(&ctx);
        let view = TranscriptView::new(&ctx);
        let text = synth::reply(1300);
        let source = MemorySource::new((1..=messages).map(|id| message(id as u64, &text)));
        Self { ctx, view, source, messages }
    }

    /// Runs a frame and gives the number of its triangles.
    fn frame(&mut self) -> u64 {
        let Self { ctx, view, source, .. } = self;
        let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(1400.0, 900.0));
        let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
        let mut output = ctx.run_ui(input, |ui| {
            view.show(ui, source);
        });
        output.textures_delta.clear();
        let primitives = ctx.tessellate(output.shapes, output.pixels_per_point);
        let indices = primitives.iter().map(|primitive| match &primitive.primitive {
            egui::epaint::Primitive::Mesh(mesh) => mesh.indices.len() as u64,
            egui::epaint::Primitive::Callback(_) => 0,
        });
        indices.sum::<u64>() / 3
    }
}

fn message(id: u64, text: &str) -> Message {
    prepare(Message {
        id: MessageId(id),
        key: Arc::from(""),
        role: if id % 5 == 1 { Role::User } else { Role::Assistant },
        timestamp_ms: None,
        model: None,
        parts: vec![Part::Text(Text::unparsed(text))],
        stop: None,
        error: None,
        usage: None,
        line: SourceLine(id),
    })
}
