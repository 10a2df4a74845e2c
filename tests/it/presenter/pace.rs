//! Vectors S: when to present, in virtual time.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use letterpress::{
    model::{
        Usage,
        stream::{EndState, ReplyBlock, ReplyKind, StreamEvent},
    },
    perf,
    presenter::pace::{FlushId, LOCAL_BEAT, Pace, PaceStep, Priority, REMOTE_BEAT, Ticket},
};

use Priority::{Immediate, Normal};

/// A pace whose flushes take until they are told to end.
struct Run {
    pace: Pace,
    start: Instant,
    /// Flushes that began, with the milliseconds when they did.
    flushes: Vec<u64>,
    running: VecDeque<FlushId>,
    resolved: Vec<(Ticket, Result<(), Arc<str>>)>,
    reports: Vec<Arc<str>>,
    is_disposed: bool,
    at: u64,
}

impl Run {
    fn new(beat_ms: u64) -> Self {
        Self::with(Pace::new(Some(Duration::from_millis(beat_ms))))
    }

    fn with(pace: Pace) -> Self {
        Self {
            pace,
            start: perf::now(),
            flushes: Vec::new(),
            running: VecDeque::new(),
            resolved: Vec::new(),
            reports: Vec::new(),
            is_disposed: false,
            at: 0,
        }
    }

    fn now(&self) -> Instant {
        self.start + Duration::from_millis(self.at)
    }

    /// Goes to this millisecond, one at a time.
    fn until(&mut self, at: u64) -> &mut Self {
        while self.at < at {
            self.at += 1;
            let is_due = self.pace.due().is_some_and(|due| due <= self.now());
            let steps = self.pace.tick(self.now());
            assert_eq!(is_due, !steps.is_empty(), "due() and tick() agree");
            self.take(steps);
        }
        self
    }

    fn request(&mut self, priority: Priority) -> &mut Self {
        let steps = self.pace.request(priority, self.now());
        self.take(steps)
    }

    fn event(&mut self, event: &StreamEvent) -> &mut Self {
        let steps = self.pace.event(event, self.now());
        self.take(steps)
    }

    fn flush_now(&mut self) -> Ticket {
        let (ticket, steps) = self.pace.flush_now(self.now());
        self.take(steps);
        ticket
    }

    #[track_caller]
    fn end(&mut self, result: Result<(), &str>) -> &mut Self {
        let id = self.running.pop_front().expect("a flush is running");
        let steps = self.pace.finished(id, result.map_err(Arc::from), self.now());
        self.take(steps)
    }

    fn dispose(&mut self) -> &mut Self {
        let steps = self.pace.dispose();
        self.take(steps)
    }

    fn take(&mut self, steps: Vec<PaceStep>) -> &mut Self {
        for step in steps {
            match step {
                PaceStep::Flush(id) => {
                    assert!(self.running.is_empty(), "two flushes at once");
                    self.running.push_back(id);
                    self.flushes.push(self.at);
                }
                PaceStep::Report(error) => self.reports.push(error),
                PaceStep::Resolved(ticket, result) => self.resolved.push((ticket, result)),
                PaceStep::Disposed => self.is_disposed = true,
            }
        }
        self
    }
}

#[test]
fn s01() {
    let mut run = Run::new(50);
    run.request(Normal).until(20).request(Normal).until(40).request(Normal).until(49);
    assert!(run.flushes.is_empty());
    run.until(50);
    assert_eq!(run.flushes, [50]);
}

#[test]
fn s02() {
    let mut run = Run::new(50);
    run.request(Immediate);
    assert_eq!(run.flushes, [0]);
}

#[test]
fn s03() {
    let mut run = Run::new(100);
    run.request(Normal).until(50).request(Immediate).end(Ok(())).until(150);
    assert_eq!(run.flushes, [50]);
}

#[test]
fn s04() {
    let mut run = Run::new(50);
    run.request(Normal);
    run.pace.reset();
    run.until(100);
    assert!(run.flushes.is_empty());
    run.request(Normal).until(150);
    assert_eq!(run.flushes, [150]);
}

#[test]
fn s05() {
    let mut run = Run::new(50);
    run.request(Immediate);
    let ticket = run.flush_now();
    assert_eq!(run.flushes.len(), 1);
    run.end(Ok(()));
    assert!(run.resolved.is_empty());
    run.end(Ok(()));
    assert_eq!((run.flushes.len(), run.resolved), (2, vec![(ticket, Ok(()))]));
}

#[test]
fn s06() {
    let mut run = Run::new(50);
    run.request(Immediate);
    let ticket = run.flush_now();
    run.end(Err("first")).end(Ok(()));
    assert_eq!((run.flushes.len(), run.resolved), (2, vec![(ticket, Ok(()))]));
    assert_eq!(run.reports, ["first".into()]);
}

#[test]
fn s07() {
    let mut run = Run::new(50);
    run.request(Immediate).request(Immediate).end(Ok(()));
    let ticket = run.flush_now();
    run.end(Ok(())).end(Ok(()));
    assert_eq!((run.flushes.len(), run.resolved), (3, vec![(ticket, Ok(()))]));
}

#[test]
fn s08() {
    let mut run = Run::new(50);
    let ticket = run.flush_now();
    run.end(Err("mine"));
    assert_eq!(run.resolved, [(ticket, Err("mine".into()))]);
    assert!(run.reports.is_empty());
}

#[test]
fn s09() {
    let mut run = Run::new(50);
    run.request(Immediate).request(Normal).until(30);
    assert_eq!(run.pace.due(), None, "no timer while one runs");
    run.end(Ok(())).until(79);
    assert_eq!(run.flushes, [0]);
    run.until(80);
    assert_eq!(run.flushes, [0, 80]);
}

#[test]
fn s10() {
    let mut run = Run::new(50);
    run.request(Immediate).request(Normal).request(Immediate).until(10).end(Ok(()));
    assert_eq!(run.flushes, [0, 10]);
    run.end(Ok(())).until(200);
    assert_eq!(run.flushes, [0, 10]);
}

#[test]
fn s11() {
    let mut run = Run::new(50);
    run.dispose().request(Normal).request(Immediate);
    let ticket = run.flush_now();
    run.until(200);
    assert!(run.flushes.is_empty() && run.is_disposed);
    assert_eq!(run.resolved, [(ticket, Ok(()))]);
}

#[test]
fn s12() {
    let mut run = Run::new(50);
    run.request(Immediate).dispose();
    assert!(!run.is_disposed);
    run.end(Ok(()));
    assert!(run.is_disposed);
}

#[test]
fn s12_whoever_waits_is_let_go() {
    let mut run = Run::new(50);
    run.request(Immediate);
    let ticket = run.flush_now();
    run.dispose().end(Ok(()));
    assert_eq!((run.flushes.len(), run.resolved), (1, vec![(ticket, Ok(()))]));
}

#[test]
fn s13() {
    let mut run = Run::new(40);
    run.request(Immediate);
    for _ in 0..500 {
        run.until(run.at + 7).request(Normal);
    }
    run.until(600_000);
    assert_eq!(run.flushes, [0]);
    run.end(Ok(())).until(700_000);
    assert_eq!(run.flushes, [0, 600_040]);
}

#[test]
fn s14() {
    for (beat, due) in [(LOCAL_BEAT, 70), (REMOTE_BEAT, 120)] {
        let mut run = Run::with(Pace::new(None));
        run.request(Normal).until(30);
        assert!(run.flushes.is_empty());
        let steps = run.pace.set_beat(beat, run.now());
        run.take(steps).until(200);
        assert_eq!(run.flushes, [due]);
    }
    let mut run = Run::with(Pace::new(None));
    run.request(Immediate).until(30);
    let steps = run.pace.set_beat(LOCAL_BEAT, run.now());
    run.take(steps);
    assert_eq!(run.flushes, [30]);
}

#[test]
fn events_are_seen_as_soon_as_they_deserve() {
    let block = ReplyBlock(0);
    let text = StreamEvent::Text { block, delta: "a".to_owned() };
    let mut run = Run::new(40);
    run.event(&StreamEvent::Started { id: None, model: None });
    run.event(&StreamEvent::Usage(Usage::default())).event(&StreamEvent::KeepAlive).until(100);
    assert!(run.flushes.is_empty());
    run.event(&StreamEvent::BlockOpen { block, kind: ReplyKind::Text }).until(110);
    run.event(&text).end(Ok(())).until(120).event(&text).until(140).event(&text);
    assert_eq!(run.flushes, [110], "the first words are seen at once");
    run.until(160).end(Ok(()));
    assert_eq!(run.flushes, [110, 160], "a cadence: further words put nothing off");
    run.event(&StreamEvent::ToolArgs { block, delta: "{".to_owned() }).end(Ok(()));
    run.until(170).event(&StreamEvent::End(EndState::Incomplete)).end(Ok(()));
    assert_eq!(run.flushes, [110, 160, 160, 170]);
    run.pace.reset();
    run.until(180).event(&text);
    assert_eq!(run.flushes.last(), Some(&180));
}
