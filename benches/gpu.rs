//! A whole frame up to the driver: retained plates beside egui's painter.
//!
//! `cargo bench --bench gpu`. Prints why when there is no adapter. The times are the
//! CPU's, rasterising left out; what the GPU takes, `letterpress profile` says.

#![expect(clippy::print_stdout, reason = "a bench prints its table")]

#[expect(dead_code, reason = "frames are timed by those who make them")]
#[path = "measure/mod.rs"]
pub(crate) mod measure;

use std::{io::Write as _, path::Path};

use letterpress::{
    app::{
        cli::Renderer,
        error::Result,
        offscreen::{FrameStats, Host as _, Offscreen, Request, Subject},
        shown::Letterpress,
        synth,
    },
    perf::{Samples, millis},
};

use measure::{Extent, Row, Table};

fn main() {
    match table(Extent::of_args()) {
        Ok(table) => println!("{table}"),
        Err(error) => println!("gpu: skipped: {error}"),
    }
}

const SIZE: [u32; 2] = [1400, 900];

pub(crate) fn table(extent: Extent) -> Result<Table> {
    let mut file = tempfile::NamedTempFile::with_suffix(".jsonl").expect("a file can be made");
    let request = synth::Request { messages: extent.pick(1000, 100), seed: 1 };
    synth::write(request, &mut file).and_then(|()| file.flush()).expect("it can be written");
    let mut rows = Vec::new();
    for (name, renderer) in [("retained", Renderer::Retained), ("replay", Renderer::Replay)] {
        push_rows(&mut rows, name, renderer, file.path(), extent)?;
    }
    Ok(Table { title: "gpu: egui pass, tessellation, upload and encoding", rows })
}

fn push_rows(
    rows: &mut Vec<Row>,
    name: &str,
    renderer: Renderer,
    file: &Path,
    extent: Extent,
) -> Result<()> {
    let mut bed = Bed::new(renderer, file)?;
    bed.settle()?;
    let frames = extent.pick(300, 4);
    rows.push(bed.row(&format!("{name}, still"), frames, 0.0)?);
    // Once in each direction, so that everything is laid out and cast.
    for _ in 0..2 {
        bed.row("", frames, -20.0)?;
        bed.row("", frames, 20.0)?;
        bed.settle()?;
    }
    rows.push(bed.row(&format!("{name}, warm scroll"), frames, -20.0)?);
    Ok(())
}

struct Bed {
    offscreen: Offscreen,
    subject: Box<dyn Subject>,
    frames: u64,
}

impl Bed {
    fn new(renderer: Renderer, file: &Path) -> Result<Self> {
        let offscreen = Offscreen::new(SIZE, 1.0, egui::Theme::Dark, |context| {
            Letterpress.install(context);
        })?;
        let request = Request { renderer, ..Request::new(Some(file)) };
        let subject = Letterpress.open(&request, offscreen.context())?;
        Ok(Self { offscreen, subject, frames: 0 })
    }

    fn frame(&mut self) -> Result<FrameStats> {
        self.frames += 1;
        let Self { offscreen, subject, frames } = self;
        let stats = offscreen.frame(Vec::new(), *frames as f64 / 60.0, |ui| subject.ui(ui));
        // What the driver has to do does not pile up, nor stand beside what is timed.
        if self.frames.is_multiple_of(8) {
            self.offscreen.rasterise()?;
        }
        Ok(stats)
    }

    fn settle(&mut self) -> Result<()> {
        loop {
            self.frame()?;
            if self.subject.is_settled() {
                break;
            }
            self.offscreen.wait(std::time::Duration::from_millis(50));
        }
        (0..8).try_for_each(|_| self.frame().map(drop))
    }

    fn row(&mut self, name: &str, frames: usize, points: f64) -> Result<Row> {
        let draws = |bed: &Self| bed.offscreen.printer().map_or(0, |p| p.counters().draws);
        let laid_out_before = self.subject.counters().slugs_laid_out;
        let draws_before = draws(self);
        let (mut cpu, mut uploaded) = (Samples::new(frames), Samples::new(frames));
        for _ in 0..frames {
            self.subject.scroll_by(points);
            let stats = self.frame()?;
            cpu.push(millis(stats.cpu()));
            uploaded.push(stats.uploaded_bytes as f64);
        }
        let laid_out = self.subject.counters().slugs_laid_out - laid_out_before;
        let counts = [
            ("bytes a frame", uploaded.summary().p50 as u64),
            ("slugs laid out", laid_out),
            ("draws", draws(self) - draws_before),
        ];
        Ok(Row::new(name, cpu, counts))
    }
}
