//! Many writers, one follower: how soon a line is known, and what that costs.
//!
//! `cargo bench --bench follow -- [SECONDS] [FILES] [LINES_A_SECOND]` writes to so many
//! files, with lines in two pieces, rotation and truncation, and follows them as a wall
//! does. It prints how long it took from a whole line to the poll that knew it, the memory
//! at each quarter, and the time of the processor, writers included.

use std::{
    collections::VecDeque,
    error::Error,
    fmt::Write as _,
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    time::{Duration, Instant},
};

use letterpress::{
    engine::{
        Waker,
        follow::{Config, Following, Wanted},
    },
    perf,
};

/// What happens to each file beside lines, once in so many of its lines.
const ROTATED_EVERY: u64 = 997;
const CUT_EVERY: u64 = 1_499;
/// A reader needs a moment to see what was written before it is cut off.
const BEFORE_CUT: Duration = Duration::from_millis(120);

/// A line that became whole, by the number of all lines of its file so far.
struct Written {
    file: usize,
    lines: u64,
    at: Instant,
}

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test --benches` and `cargo bench` pass flags of their own.
    let numbers: Vec<u64> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let number = |place: usize, usual: u64| numbers.get(place).copied().unwrap_or(usual);
    let is_test = std::env::args().any(|word| word == "--test");
    let seconds = number(0, if is_test { 1 } else { 20 });
    let (files, rate) = (number(1, 16) as usize, number(2, 100));
    let folder = tempfile::tempdir()?;
    let paths: Vec<PathBuf> =
        (0..files).map(|n| folder.path().join(format!("{n:03}.jsonl"))).collect();
    let writers = paths.iter().map(|path| Writer::new(path)).collect::<Result<Vec<_>, _>>()?;
    let (tell, told) = sync_channel(1 << 16);
    let writing = std::thread::Builder::new()
        .name("writers".to_owned())
        .spawn(move || write_all(writers, Duration::from_secs(seconds), rate, &tell))?;
    let report = follow(paths, seconds, &told)?;
    writing.join().map_err(|_panic| "the writers failed")??;
    print(&report)?;
    Ok(())
}

/// One file that is written.
struct Writer {
    path: PathBuf,
    file: File,
    /// Lines of all files that stood here.
    lines: u64,
    /// Lines of this file.
    number: u64,
    rest: Vec<u8>,
    cut_at: Option<Instant>,
}

const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/w\"}\n";

impl Writer {
    fn new(path: &Path) -> std::io::Result<Self> {
        let mut file = File::create(path)?;
        file.write_all(HEADER.as_bytes())?;
        let (rest, cut_at) = (Vec::new(), None);
        Ok(Self { path: path.to_owned(), file, lines: 1, number: 0, rest, cut_at })
    }

    /// Writes one line, or the beginning of one. Gives the number of lines that are whole.
    fn line(&mut self) -> std::io::Result<u64> {
        let mut bytes = std::mem::take(&mut self.rest);
        let was_torn = !bytes.is_empty();
        if !was_torn {
            self.number += 1;
            bytes = entry(self.number).into_bytes();
        }
        if !was_torn && self.number.is_multiple_of(5) {
            self.rest = bytes.split_off(bytes.len() / 2);
        } else {
            self.lines += 1;
        }
        self.file.write_all(&bytes)?;
        Ok(self.lines)
    }

    fn begin_anew(&mut self) -> std::io::Result<()> {
        self.file = File::create(&self.path)?;
        self.file.write_all(HEADER.as_bytes())?;
        self.number = 0;
        self.lines += 1;
        Ok(())
    }

    /// Rotates or cuts the file when it is time for that. True while it is not written to.
    fn is_resting(&mut self, now: Instant) -> std::io::Result<bool> {
        if let Some(at) = self.cut_at {
            if now < at {
                return Ok(true);
            }
            self.cut_at = None;
            self.begin_anew()?;
        } else if self.rest.is_empty() && self.number > 0 {
            if self.number.is_multiple_of(ROTATED_EVERY) {
                fs::rename(&self.path, self.path.with_extension("1"))?;
                self.begin_anew()?;
            } else if self.number.is_multiple_of(CUT_EVERY) {
                self.cut_at = Some(now + BEFORE_CUT);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn entry(number: u64) -> String {
    let mut line = format!("{{\"type\":\"message\",\"id\":\"w{number}\",\"parentId\":");
    // Writing to a string does not fail.
    if number == 1 {
        line.push_str("null");
    } else {
        _ = write!(line, "\"w{}\"", number - 1);
    }
    line.push_str(",\"message\":{\"role\":\"assistant\",\"stopReason\":\"stop\",\"content\":[");
    _ = writeln!(
        line,
        "{{\"type\":\"text\",\"text\":\"Line {number}, *some* `words` – だけ\"}}]}}}}"
    );
    line
}

fn write_all(
    mut writers: Vec<Writer>,
    lasts: Duration,
    rate: u64,
    tell: &SyncSender<Written>,
) -> std::io::Result<()> {
    let began = perf::now();
    let pause = Duration::from_secs(1) / u32::try_from(rate.max(1)).unwrap_or(u32::MAX);
    let mut next = began;
    while next.duration_since(began) < lasts {
        for (file, writer) in writers.iter_mut().enumerate() {
            if writer.is_resting(perf::now())? {
                continue;
            }
            let lines = writer.line()?;
            if tell.send(Written { file, lines, at: perf::now() }).is_err() {
                return Ok(());
            }
        }
        next += pause;
        std::thread::park_timeout(next.saturating_duration_since(perf::now()));
    }
    for (file, writer) in writers.iter_mut().enumerate() {
        while !writer.rest.is_empty() {
            let lines = writer.line()?;
            tell.send(Written { file, lines, at: perf::now() }).ok();
        }
    }
    Ok(())
}

#[derive(Default)]
struct Report {
    waits_ms: Vec<f64>,
    missing: usize,
    polls: u64,
    rss_mb: Vec<f64>,
    cpu: f64,
}

fn follow(
    paths: Vec<PathBuf>,
    seconds: u64,
    told: &Receiver<Written>,
) -> Result<Report, Box<dyn Error>> {
    let (wake, woken) = sync_channel(1);
    let waker: Waker = Arc::new(move || _ = wake.try_send(()));
    let wanted = paths.into_iter().map(Wanted::File).collect();
    let mut following = Following::start(wanted, waker, Config::default())?;
    let mut awaited: Vec<VecDeque<Written>> =
        (0..following.len()).map(|_| VecDeque::new()).collect();
    let mut report = Report::default();
    let (began, cpu) = (perf::now(), cpu_secs());
    let quarter = Duration::from_secs(seconds) / 4;
    let pause = Duration::from_millis(50);
    while !matches!(woken.recv_timeout(pause), Err(RecvTimeoutError::Disconnected)) {
        for written in told.try_iter() {
            if let Some(queue) = awaited.get_mut(written.file) {
                queue.push_back(written);
            }
        }
        following.poll();
        report.polls += 1;
        let now = perf::now();
        for (followed, queue) in following.conversations().zip(&mut awaited) {
            // As a wall does, it shows the end.
            let rows = followed.source().len();
            followed.source().want(rows.saturating_sub(40)..rows);
            (rows.saturating_sub(20)..rows).for_each(|row| _ = followed.source().message(row));
            let known = followed.lines_read();
            while queue.front().is_some_and(|written| written.lines <= known) {
                let Some(written) = queue.pop_front() else { break };
                report.waits_ms.push(perf::millis(now.saturating_duration_since(written.at)));
            }
        }
        let elapsed = now.duration_since(began);
        if elapsed >= quarter * (report.rss_mb.len() as u32 + 1) && report.rss_mb.len() < 4 {
            report.rss_mb.push(perf::rss_bytes().unwrap_or(0) as f64 / 1e6);
        }
        if elapsed > Duration::from_secs(seconds) + Duration::from_secs(2) {
            break;
        }
    }
    report.missing = awaited.iter().map(VecDeque::len).sum();
    report.cpu = (cpu_secs() - cpu) / perf::now().duration_since(began).as_secs_f64();
    Ok(report)
}

/// Seconds of the processor that this process has used; 0 where that is not told.
fn cpu_secs() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind = stat.rsplit(')').next().unwrap_or_default();
    let ticks = behind.split_whitespace().skip(11).take(2).filter_map(|t| t.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

fn print(report: &Report) -> std::io::Result<()> {
    let mut waits = report.waits_ms.clone();
    waits.sort_by(f64::total_cmp);
    let at = |part: f64| {
        let place = ((waits.len().saturating_sub(1)) as f64 * part).round() as usize;
        waits.get(place).copied().unwrap_or(0.0)
    };
    let rss: Vec<String> = report.rss_mb.iter().map(|mb| format!("{mb:.1}")).collect();
    let mut out = std::io::stdout().lock();
    writeln!(out, "lines known {}, missing {}", waits.len(), report.missing)?;
    writeln!(
        out,
        "from whole line to poll, ms: p50 {:.1}, p90 {:.1}, p99 {:.1}, max {:.1}",
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0)
    )?;
    writeln!(
        out,
        "polls {}, cores {:.3}, RSS in MB by quarter: {}",
        report.polls,
        report.cpu,
        rss.join(", ")
    )
}
