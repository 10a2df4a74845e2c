//! Text that is made to hurt: what parsing, the first frame and later frames cost.
//!
//! `cargo bench --bench hostile` prints one line for each input. The gates are 50 ms for
//! the first frame and 8 ms for later ones; parsing happens off the UI thread.

#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::{sync::Arc, time::Duration};

use egui::{Context, RawInput, Rect, pos2, vec2};
use letterpress::{
    engine::prepare,
    model::{MemorySource, Message, MessageId, Part, Role, SourceLine, Text},
    perf,
    view::{TranscriptView, theme},
};

const FIRST_GATE_MS: f64 = 50.0;
const LATER_GATE_MS: f64 = 8.0;

fn main() {
    println!(
        "{:<34} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "input", "bytes", "parse ms", "first ms", "later ms", "RSS +MB"
    );
    let mut over = 0;
    for (name, text) in inputs() {
        over += usize::from(!measure(name, &text));
    }
    println!("{over} inputs over a gate");
}

fn inputs() -> Vec<(&'static str, String)> {
    let runs: String = (1..=2500).map(|n| "`".repeat(n) + " ").collect();
    let wide = format!(
        "|{}\n|{}\n{}",
        "a|".repeat(50),
        "-|".repeat(50),
        format!("|{}\n", "x|".repeat(50)).repeat(1000)
    );
    let short = format!("|{}\n|{}\n{}", "a|".repeat(5000), "-|".repeat(5000), "|x|\n".repeat(5000));
    let mut nested = String::new();
    for level in 0..500 {
        nested.push_str(&" ".repeat(2 * level));
        nested.push_str("- a\n");
    }
    let code: String =
        (0..250_000).map(|i| format!("let value_{i} = compute({i}); // line\n")).collect();
    let prose =
        "A sentence with a [link](https://example.org/page) and **bold** words, again and again. ";
    vec![
        ("nested emphasis", "*a **a ".repeat(32_500)),
        ("a_ ", "a_ ".repeat(32_500)),
        ("[a", "[a".repeat(32_500)),
        ("nested brackets", "[".repeat(25_000) + &"]".repeat(25_000)),
        ("> ×25,000", "> ".repeat(25_000) + "a"),
        ("nested list, 500 levels", nested),
        ("- ×2,000 on one line", "- ".repeat(2_000) + "a"),
        ("- ×30,000 and blank lines", "- \n\n".repeat(30_000)),
        ("backtick runs", runs),
        ("[a](<b", "[a](<b".repeat(30_000)),
        ("![[]()", "![[]()".repeat(160_000)),
        ("<!--", "<!--".repeat(300_000)),
        ("> and a*", ">".repeat(100_000) + &"a*".repeat(100_000)),
        ("table 1,000 × 50", wide),
        ("table 5,000 columns", short),
        ("10 MB code block", format!("```rust\n{code}```\n")),
        ("1 MB word", "x".repeat(1_000_000)),
        ("5 MB prose, links", format!("{}\n\n", prose.repeat(6)).repeat(9_500)),
        ("$a ", "$a ".repeat(50_000)),
        ("1 MB combining marks", format!("e{}", "\u{301}".repeat(500_000))),
        (
            "10 MB of log lines",
            "2026-01-01T00:00:00Z INFO worker: request served in 12 ms\n\n".repeat(170_000),
        ),
    ]
}

/// Prints a line; true when the input stays within its gates.
fn measure(name: &str, text: &str) -> bool {
    let before = perf::rss_bytes();
    perf::reset_peak_rss();
    let start = perf::now();
    let message = prepare(Message {
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
    });
    let parse = start.elapsed();
    let ctx = Context::default();
    theme::install(&ctx);
    let mut view = TranscriptView::new(&ctx);
    // What every first frame costs, fonts above all, is not this input's.
    let mut warm = MemorySource::new([]);
    frame(&ctx, &mut view, &mut warm);
    let mut source = MemorySource::new([message]);
    let first = frame(&ctx, &mut view, &mut source);
    let mut later: Vec<Duration> = (0..20).map(|_| frame(&ctx, &mut view, &mut source)).collect();
    later.sort_unstable();
    let (first, later) = (perf::millis(first), perf::millis(later[later.len() / 2]));
    let peak =
        perf::peak_rss_bytes().zip(before).map_or(0, |(peak, before)| peak.saturating_sub(before));
    let ok = first <= FIRST_GATE_MS && later <= LATER_GATE_MS;
    println!(
        "{name:<34} {:>9} {:>9.1} {first:>9.2} {later:>9.2} {:>9} {}",
        text.len(),
        perf::millis(parse),
        peak / 1_048_576,
        if ok { "" } else { "over" }
    );
    ok
}

fn frame(ctx: &Context, view: &mut TranscriptView, source: &mut MemorySource) -> Duration {
    let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(1000.0, 800.0));
    let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
    let start = perf::now();
    let mut output = ctx.run_ui(input, |ui| {
        view.show(ui, source);
    });
    let _primitives = ctx.tessellate(output.shapes, output.pixels_per_point);
    let passed = start.elapsed();
    output.textures_delta.clear();
    passed
}
