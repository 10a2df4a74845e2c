//! Profiles and pictures of a subject that is simple enough to know what to expect.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

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

    fn go_to(&mut self, message: u64) {
        self.offset = message as f64 * LINE_POINTS;
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
        Command::Profile(args) => profile::run(&args, host).map(|outcome| outcome.text),
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
    repaints_requested rss_mb peak_rss_mb over_empty_mb held_mb gpu_ms idle_core_percent \
    ratio_to_commonmark budget";
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
    let reports = json_of(&host, "--frames 3 --size 64x64 --giant-bytes 2000 --json");
    let word = |report: &Value, key: &str| report[key].as_str().unwrap_or_default().to_owned();
    let names: Vec<String> = array(&reports)
        .iter()
        .map(|report| format!("{} {}", word(report, "scenario"), word(report, "renderer")))
        .collect();
    let scenarios = ["open", "scroll", "fling", "stream", "resize", "idle", "giant-message"]
        .into_iter()
        .chain(["giant-result", "memory"]);
    let mut expected = Vec::new();
    for renderer in ["retained", "replay", "commonmark"] {
        // A giant is more than the reference renderer can be asked in passing.
        let asked = |name: &&str| renderer != "commonmark" || !name.starts_with("giant");
        expected.extend(scenarios.clone().filter(asked).map(|name| format!("{name} {renderer}")));
    }
    assert_eq!(names, expected);
    let asked = host.asked.borrow();
    // What weighs memory comes first, with everything unfolded in giants.
    assert!(asked.iter().take(2).all(|(_, _, expand)| *expand == Expand::All), "{asked:?}");
    assert_eq!(asked.iter().filter(|(_, _, expand)| *expand == Expand::All).count(), 4);
    let memory = array(&reports).iter().find(|report| report["scenario"] == "memory");
    assert_eq!(keys(&memory.expect("it was measured")["held_mb"]), "open scroll fling");
}

fn array(value: &Value) -> &[Value] {
    value.as_array().expect("an array")
}

#[test]
fn renderers_are_chosen_one_by_one_and_once() {
    let host = Lines::default();
    let words = "--scenario fling --frames 1 --size 64x64 --json --renderer replay";
    let chosen = |more: &str| {
        let reports = json_of(&host, &format!("{words} {more}"));
        let one = std::slice::from_ref(&reports);
        let reports = reports.as_array().map_or(one, Vec::as_slice);
        let names = reports.iter().filter_map(|report| report["renderer"].as_str());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(chosen(""), ["replay"]);
    assert_eq!(chosen("--renderer commonmark --renderer replay"), ["replay", "commonmark"]);
    assert_eq!(chosen("--renderer all"), ["replay", "retained", "commonmark"]);
}

#[test]
fn a_limit_stands_beside_its_figure_and_the_ratio_comes_from_one_run() {
    let words = "--scenario scroll --frames 5 --size 200x200 --renderer all --json";
    let reports = json_of(&Lines::default(), words);
    let [retained, replay, commonmark] = array(&reports) else { panic!("{reports}") };
    let uploads = "uploaded_bytes_per_frame.p50";
    let named = format!("cpu_ms.p50 cpu_ms.p99 {uploads} ratio_to_commonmark");
    assert_eq!(keys(&retained["budget"]), named);
    assert_eq!(keys(&replay["budget"]), named.replace(&format!("{uploads} "), ""));
    assert_eq!(keys(&commonmark["budget"]), "");
    assert_eq!(commonmark["ratio_to_commonmark"], Value::Null);
    let budget = retained["budget"].as_object().expect("an object");
    for (name, entry) in budget {
        assert_eq!(keys(entry), "bound limit figure ok", "{name}");
        let figure = |key: &str| entry[key].as_f64().expect("a number");
        let holds = match entry["bound"].as_str() {
            Some("at most") => figure("figure") <= figure("limit"),
            Some("at least") => figure("figure") >= figure("limit"),
            other => panic!("{other:?}"),
        };
        assert_eq!(entry["ok"].as_bool(), Some(holds), "{name}: {entry}");
        let path = format!("/{}", name.replace('.', "/"));
        assert_eq!(retained.pointer(&path), Some(&entry["figure"]), "{name}");
    }
    let p50 = |report: &Value| report["cpu_ms"]["p50"].as_f64().expect("a number");
    let ratio = retained["ratio_to_commonmark"].as_f64().expect("both were measured");
    assert!((ratio * p50(retained) / p50(commonmark) - 1.0).abs() < 0.02, "{ratio}");
}

#[test]
fn the_table_names_limits_and_what_is_over() {
    let folder = thousand_lines();
    let words = "--scenario idle --frames 5 --size 64x64";
    let host = Lines { restless: true, ..Lines::default() };
    let table = profile_with(&host, folder.path(), words).expect("there is a driver");
    let line = table.lines().find(|line| line.contains("repaints_requested"));
    let cells: Vec<&str> = line.unwrap_or_default().split_whitespace().collect();
    assert_eq!(cells, ["idle", "retained", "repaints_requested", "≤", "0", "5", "over"]);
}

#[test]
fn giants_are_made_as_large_as_asked_and_can_be_read() {
    let words = "profile --scenario giant --giant-bytes 40000 --frames 2 --size 300x200 --json";
    let reports = printed(words, &letterpress::app::shown::Letterpress);
    let [message, result] = array(&reports) else { panic!("{reports}") };
    let bytes = |report: &Value| report["source_bytes"].as_u64().expect("a count");
    assert!((40_000..80_000).contains(&bytes(message)), "{message}");
    assert!((400_000..500_000).contains(&bytes(result)), "{result}");
    for report in [message, result] {
        // A prompt and an answer; the result stands in its call.
        assert_eq!(report["messages"], 2, "{report}");
        assert!(report["slugs_visible"].as_u64() > Some(0), "{report}");
        let limits = "first_frame_ms cpu_ms.p50 cpu_ms.p99 over_empty_mb";
        assert_eq!(keys(&report["budget"]), limits);
    }
}

fn printed(words: &str, host: &dyn Host) -> Value {
    let line = std::iter::once("letterpress").chain(words.split_whitespace());
    let Command::Profile(args) = parse_from(line).expect("they are right").command else {
        unreachable!("the word was profile")
    };
    let outcome = profile::run(&args, host).expect("there is a driver");
    outcome.verdict.expect("measuring has no verdict");
    serde_json::from_str(&outcome.text).expect("it prints JSON")
}

/// Each `*.after` file is held against `before.json`.
#[test]
fn comparing_says_what_got_worse() {
    super::corpus::check_dir("profile", "after", |after| {
        let before = after.with_file_name("before.json");
        let folder = format!("{}/", after.parent().expect("it is in a folder").display());
        let compare = |more: &[&str]| {
            let files = [before.as_os_str(), after.as_os_str()];
            let words = ["letterpress", "profile", "--compare"].map(Into::into);
            let line = words.into_iter().chain(files.map(ToOwned::to_owned));
            let line = line.chain(more.iter().map(Into::into));
            let Command::Profile(args) = parse_from(line).expect("they are right").command else {
                unreachable!("the word was profile")
            };
            let said = match profile::run(&args, &Lines::default()) {
                Ok(outcome) => match outcome.verdict {
                    Ok(()) => format!("{}=> exit 0\n", outcome.text),
                    Err(error) => format!("{}=> {error}\n", outcome.text),
                },
                Err(error) => format!("=> {error}\n"),
            };
            said.replace(&folder, "")
        };
        let json = compare(&["--json", "--threshold", "50"]);
        format!("{}--- --json --threshold 50\n{json}", compare(&[]))
    });
}

/// The rules of the trace event format.
#[test]
fn a_trace_has_a_track_for_each_thread_and_stretches_that_nest() {
    let folder = thousand_lines();
    let out = folder.path().join("trace.json");
    let words = format!(
        "profile --synthetic 40 --scenario scroll --frames 4 --size 300x200 --json --trace {}",
        out.display()
    );
    printed(&words, &letterpress::app::shown::Letterpress);
    let text = std::fs::read_to_string(&out).expect("it was written");
    let trace: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(keys(&trace), "traceEvents displayTimeUnit otherData");
    assert_eq!(trace["otherData"]["dropped_spans"], 0);
    let events = array(&trace["traceEvents"]);
    let (mut named, mut used) = (BTreeSet::new(), BTreeSet::new());
    let (mut seen, mut open): (BTreeSet<&str>, BTreeMap<u64, Vec<f64>>) = Default::default();
    let mut last_ts = 0.0;
    for event in events {
        let tid = event["tid"].as_u64().expect("every event has a thread");
        let name = event["name"].as_str().expect("every event has a name");
        let ts = event["ts"].as_f64().expect("every event has a time");
        assert_eq!(event["pid"], 1);
        match event["ph"].as_str() {
            Some("M") => {
                assert!(event["args"]["name"].is_string() && ts == 0.0, "{event}");
                named.insert(tid);
            }
            Some("C") => {
                let values = event["args"].as_object().expect("a counter has values");
                assert!(values.values().all(Value::is_number), "{event}");
                assert!(ts >= last_ts);
                last_ts = ts;
            }
            Some("X") => {
                let end = ts + event["dur"].as_f64().expect("a stretch has a length");
                assert!(ts >= last_ts && end >= ts, "{event}");
                last_ts = ts;
                seen.insert(name);
                used.insert(tid);
                // Nanoseconds are lost where microseconds are floats.
                let stack = open.entry(tid).or_default();
                stack.retain(|outer| *outer > ts + 0.01);
                assert!(stack.iter().all(|outer| end <= outer + 0.01), "{event} overlaps");
                stack.push(end);
            }
            other => panic!("{other:?} is no phase of ours"),
        }
    }
    assert!(used.is_subset(&named) && used.len() >= 3, "{used:?} of {named:?}");
    let expected = ["scroll, retained", "frame", "ui", "tessellate", "upload", "encode"]
        .into_iter()
        .chain(["rasterise", "transcript", "lay_out", "paint", "read_message"]);
    for name in expected {
        assert!(seen.contains(name), "{name} is not in {seen:?}");
    }
}

#[test]
fn a_plot_is_a_picture_of_the_asked_size_with_bars_where_frames_are() {
    let folder = thousand_lines();
    let out = folder.path().join("plot.png");
    let words = format!(
        "--scenario scroll --renderer retained --renderer commonmark --frames 40 --scale 1.5 \
         --size 800x400 --plot {}",
        out.display()
    );
    profile_with(&Lines::default(), folder.path(), &words).expect("there is a driver");
    let image = image::open(&out).expect("it is a picture").to_rgba8();
    assert_eq!(image.dimensions(), (1200, 600));
    let palette = letterpress::view::theme::palette(egui::Theme::Dark);
    let columns = |color: egui::Color32| {
        let [r, g, b, _] = color.to_array();
        let is_bar = |(_, _, pixel): &(u32, u32, &image::Rgba<u8>)| pixel.0 == [r, g, b, 255];
        // Beside the names, which are of the same colour.
        let bars = image.enumerate_pixels().filter(is_bar).filter(|(x, ..)| *x > 330);
        bars.map(|(x, ..)| x).collect::<BTreeSet<_>>()
    };
    let (ours, reference) = (columns(palette.accent), columns(palette.warn));
    assert!(ours.len() > 3 && reference.len() > 3, "{ours:?} {reference:?}");
    let room = 330..(1200 - 400);
    assert!(ours.iter().chain(&reference).all(|x| room.contains(x)), "{ours:?} {reference:?}");
}

/// Where a display is looked for.
const DISPLAYS: [&str; 3] = ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"];

/// The program itself: what goes where, and how it ends.
#[test]
fn exit_codes_and_lines_are_those_of_the_contract() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpora/profile");
    let run = |words: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_letterpress"));
        command.arg("profile").args(words).current_dir(&folder);
        for name in DISPLAYS {
            command.env_remove(name);
        }
        // Now and then Mesa's software driver comes to a bad end while the process ends, when all
        // was said and done; that is no exit code of ours.
        let mut output = command.output().expect("it can be started");
        for _ in 0..3 {
            if output.status.code().is_none() {
                output = command.output().expect("it can be started");
            }
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, out, err) = run(&["--compare", "before.json", "same.after"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.contains("scroll    retained"), "{out}");
    let (code, out, err) = run(&["--compare", "before.json", "better-and-worse.after"]);
    assert_eq!(code, Some(1));
    assert!(out.contains("worse"), "the table is printed all the same: {out}");
    assert!(err.starts_with("letterpress: ") && err.lines().count() == 1, "{err}");
    let (code, out, err) = run(&["--compare", "before.json", "no-json.after"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.ends_with(": no-json.after\n") && err.lines().count() == 1, "{err}");
    let (code, _, err) = run(&["--scenario", "scroll"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("--synthetic"), "{err}");
    let nowhere = "no/trace.json";
    let words = ["--synthetic", "5", "--scenario", "idle", "--frames", "1", "--size", "64x64"];
    let (code, _, err) = run(&[words.as_slice(), &["--trace", nowhere]].concat());
    assert_eq!(code, Some(1));
    assert!(err.contains("could not write the trace") && err.contains(nowhere), "{err}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_window_needs_a_display_and_says_so() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_letterpress"));
    command.args(["profile", "--synthetic", "5", "--scenario", "idle", "--window"]);
    for name in DISPLAYS {
        command.env_remove(name);
    }
    let output = command.output().expect("it can be started");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), b"".as_slice()));
    assert!(said.starts_with("letterpress: ") && said.lines().count() == 1, "{said}");
    assert!(said.contains("display"), "{said}");
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
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("resize")).collect();
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
    let report: Value = serde_json::from_str(&printed.text).expect("it prints JSON");
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
