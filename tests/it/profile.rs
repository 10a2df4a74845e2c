//! Profiles and pictures of a subject that is simple enough to know what to expect.

use std::{cell::RefCell, path::Path};

use egui::{Context, Ui};
use letterpress::app::{
    cli::{At, Command, Expand, Renderer, parse_from},
    error::{Error, Result},
    offscreen::{Counters, Host, Request, Subject},
    profile, render,
};
use serde_json::Value;

/// Shows the lines of a text file, and remembers what it was asked for.
#[derive(Default)]
struct Lines {
    asked: RefCell<Vec<(Renderer, At, Expand)>>,
    /// Asks for a frame in every frame.
    restless: bool,
}

struct Page {
    lines: Vec<String>,
    offset: f64,
    counters: Counters,
    restless: bool,
    reply: Vec<char>,
}

const LINE_POINTS: f64 = 20.0;

impl Host for Lines {
    fn install(&self, _: &Context) {}

    fn open(&self, request: &Request<'_>, _: &Context) -> Result<Box<dyn Subject>> {
        let text = match request.file {
            None => String::new(),
            Some(file) => {
                self.asked.borrow_mut().push((request.renderer, request.at, request.expand));
                std::fs::read_to_string(file).map_err(|error| Error::io("no", &error, file))?
            }
        };
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let counters = Counters { messages: lines.len() as u64, ..Counters::default() };
        Ok(Box::new(Page {
            lines,
            offset: 1e4,
            counters,
            restless: self.restless,
            reply: Vec::new(),
        }))
    }
}

impl Subject for Page {
    fn ui(&mut self, ui: &mut Ui) {
        let first = (self.offset / LINE_POINTS) as usize;
        let visible = (f64::from(ui.max_rect().height()) / LINE_POINTS) as usize;
        for line in self.lines.iter().skip(first).take(visible) {
            ui.label(line);
            self.counters.slugs_laid_out += 1;
        }
        if self.restless {
            ui.request_repaint_after(std::time::Duration::from_millis(1));
        }
    }

    fn scroll_by(&mut self, points: f64) {
        self.offset = (self.offset + points).max(0.0);
    }

    fn begin_reply(&mut self, text: &str) {
        self.reply = text.chars().collect();
        self.lines.push(String::new());
    }

    fn feed_reply(&mut self, characters: usize) -> bool {
        let now = characters.min(self.reply.len());
        let more: String = self.reply.drain(..now).collect();
        self.lines.last_mut().expect("the reply has a line").push_str(&more);
        !self.reply.is_empty()
    }

    fn is_ready(&self) -> bool {
        true
    }

    fn is_settled(&self) -> bool {
        true
    }

    fn progress(&self) -> f32 {
        1.0
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

/// A folder with a file of a thousand lines.
fn thousand_lines() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let lines: String = (0..1000).map(|line| format!("line {line}\n")).collect();
    std::fs::write(folder.path().join("lines.txt"), lines).expect("it can be written");
    folder
}

fn profile_with(host: &Lines, folder: &Path, words: &str) -> Result<String> {
    let file = folder.join("lines.txt").display().to_string();
    let line = ["letterpress", "profile", &file].into_iter().chain(words.split_whitespace());
    match parse_from(line).expect("these are the words of the command line").command {
        Command::Profile(args) => profile::run(&args, host),
        other => panic!("{other:?}"),
    }
}

fn json_of(host: &Lines, words: &str) -> Value {
    let folder = thousand_lines();
    let printed = profile_with(host, folder.path(), words).expect("there is a driver");
    serde_json::from_str(&printed).expect("it prints JSON")
}

/// The names of the report, which other programs rely on.
const KEYS: &str = "scenario renderer adapter messages source_bytes frames first_frame_ms cpu_ms \
    stages_ms uploaded_bytes_per_frame slugs_laid_out slugs_visible cache_bytes gpu_bytes \
    repaints_requested rss_mb peak_rss_mb";
const INNER_KEYS: [(&str, &str); 3] = [
    ("cpu_ms", "p50 p95 p99 max"),
    ("stages_ms", "ui tessellate upload encode"),
    ("uploaded_bytes_per_frame", "p50 max"),
];

fn keys(value: &Value) -> String {
    let object = value.as_object().expect("it is an object");
    object.keys().map(String::as_str).collect::<Vec<_>>().join(" ")
}

#[test]
fn one_scenario_is_an_object_with_the_agreed_names() {
    let report = json_of(&Lines::default(), "--scenario scroll --frames 9 --size 200x200 --json");
    assert_eq!(keys(&report), KEYS);
    for (key, inner) in INNER_KEYS {
        assert_eq!(keys(&report[key]), inner, "{key}");
        let figures = report[key].as_object().expect("it is an object").values();
        assert!(figures.clone().all(|figure| figure.as_f64().is_some_and(|f| f >= 0.0)), "{key}");
    }
    let figures = ["messages", "frames", "source_bytes", "slugs_laid_out", "repaints_requested"];
    let bytes = (0..1000).map(|line| format!("line {line}\n").len() as u64).sum();
    assert_eq!(figures.map(|key| report[key].as_u64()), [1000, 9, bytes, 90, 0].map(Some));
    let [p50, p95, p99, max] =
        ["p50", "p95", "p99", "max"].map(|key| report["cpu_ms"][key].as_f64().unwrap());
    assert!(0.0 < p50 && p50 <= p95 && p95 <= p99 && p99 <= max);
}

#[test]
fn all_scenarios_are_an_array_with_each_renderer() {
    let host = Lines::default();
    let reports = json_of(&host, "--frames 3 --size 64x64 --json");
    let names: Vec<String> = reports
        .as_array()
        .expect("an array")
        .iter()
        .map(|report| {
            let word = |key: &str| report[key].as_str().unwrap_or_default().to_owned();
            format!("{} {}", word("scenario"), word("renderer"))
        })
        .collect();
    let scenarios = ["open", "scroll", "fling", "stream", "resize", "idle"];
    let expected = |renderer| scenarios.map(|scenario| format!("{scenario} {renderer}"));
    let renderers = ["retained", "replay", "commonmark"];
    assert_eq!(names, renderers.map(expected).concat());
    let asked: Vec<Renderer> = host.asked.borrow().iter().map(|(renderer, ..)| *renderer).collect();
    let each = [Renderer::Retained, Renderer::Replay, Renderer::Commonmark];
    assert_eq!(asked, each.map(|renderer| [renderer; 6]).concat());
}

#[test]
fn idling_counts_who_asks_for_frames() {
    let idle = |restless| {
        let host = Lines { restless, ..Lines::default() };
        let report = json_of(&host, "--scenario idle --frames 5 --size 64x64 --json");
        report["repaints_requested"].as_u64().expect("it is a count")
    };
    assert_eq!([idle(false), idle(true)], [0, 5]);
}

#[test]
fn the_table_has_a_row_for_each_scenario() {
    let folder = thousand_lines();
    let words = "--scenario resize --renderer commonmark --frames 250 --size 300x100 --scale 1.5";
    let table = profile_with(&Lines::default(), folder.path(), words).expect("there is a driver");
    let rows: Vec<&str> = table.lines().filter(|line| line.contains("commonmark")).collect();
    assert!(table.starts_with("1000 messages, 0.0 MB of source, on "), "{table}");
    assert!(rows.len() == 1 && rows[0].starts_with("resize    commonmark     250 "), "{table}");
}

#[test]
fn a_synthetic_history_is_written_and_removed() {
    let host = Lines::default();
    let words = "letterpress profile --synthetic 20 --scenario open --frames 2 --size 64x64 --json";
    let Command::Profile(args) = parse_from(words.split(' ')).expect("they are right").command
    else {
        unreachable!("the word was profile")
    };
    let printed = profile::run(&args, &host).expect("there is a driver");
    let report: Value = serde_json::from_str(&printed).expect("it prints JSON");
    assert!(report["source_bytes"].as_u64() > Some(5_000), "{report}");
    assert_eq!(report["frames"], 3, "the first frame and two more");
}

#[test]
fn a_picture_is_as_large_as_asked_and_where_asked() {
    let folder = thousand_lines();
    let output = folder.path().join("out.png");
    let host = Lines::default();
    let draw = |words: &[&str]| {
        let file = folder.path().join("lines.txt").display().to_string();
        let line = ["letterpress", "render", &file].into_iter().chain(words.iter().copied());
        match parse_from(line).expect("these are the words of the command line").command {
            Command::Render(args) => render::run(&args, &host),
            other => panic!("{other:?}"),
        }
    };
    let path = output.display().to_string();
    let words =
        ["--output", &path, "--size", "120x80", "--scale", "1.5", "--at", "7", "--expand", "all"];
    assert_eq!(draw(&words).expect("there is a driver"), output);
    let image = image::open(&output).expect("it is a picture");
    assert_eq!((image.width(), image.height()), (180, 120));
    assert_eq!(*host.asked.borrow(), [(Renderer::Retained, At::Message(7), Expand::All)]);
    let nowhere = folder.path().join("no").join("out.png").display().to_string();
    let error = draw(&["--output", &nowhere]).expect_err("there is no such folder").to_string();
    assert!(
        error.starts_with("could not write the picture: ") && error.ends_with(&nowhere),
        "{error}"
    );
}

#[test]
fn a_file_that_cannot_be_opened_is_the_hosts_error() {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let error = profile_with(&Lines::default(), folder.path(), "--scenario open");
    let line = error.expect_err("there is no file").to_string();
    assert!(line.starts_with("no: there is no such file: "), "{line}");
}
