//! Tools that write without end, never end, or leave others behind.

use std::{
    fs,
    process::Stdio,
    time::{Duration, Instant},
};

use letterpress::model::{Command, Decision, Snapshot, ToolState, ToolUse};
use serde_json::json;

use super::bench::{Ground, calls, calls_of, decide, question, talk};
use crate::live::{
    bench::is_settled,
    server::{Server, whole},
};

/// Memory that a call may cost, however much it writes.
const GROWTH: u64 = 64 << 20;
/// How long a stop may take.
const STOP: Duration = Duration::from_millis(200);

#[test]
fn a_hundred_megabytes_of_output_are_in_a_file_and_not_in_the_conversation() {
    let ground = Ground::new();
    let first = calls(&[("execute_command", json!({"command": writes(100_000_000)}))]);
    let (mut bench, _kit) = talk(&ground, ToolUse::Ask, vec![first, whole(&["Done."])]);
    let ticket = bench.say("go");
    let asked = question(&mut bench, None);
    decide(&bench, &asked, Decision::Once);
    let shown = |s: &Snapshot| {
        let results = calls_of(s).into_iter().filter_map(|call| call.result.clone());
        results.map(|result| result.output.source.len()).sum::<usize>()
    };
    let end = bench.until(|s| {
        // What a snapshot shows of it is bounded while it runs, too.
        assert!(shown(s) < 1 << 20);
        is_settled(s, ticket)
    });
    let call = &calls_of(&end)[0];
    assert_eq!(call.state, ToolState::Ok);
    let result = call.result.as_ref().unwrap();
    assert!(result.output.omitted > 99_000_000, "{}", result.output.omitted);
    let files: Vec<_> = fs::read_dir(ground.places().state.join("output")).unwrap().collect();
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].as_ref().unwrap().metadata().unwrap().len(), 100_000_000);
}

/// A command that writes this many bytes.
fn writes(bytes: u64) -> String {
    format!("yes 'all work and no play makes a line of text that is long' | head -c {bytes}")
}

/// The most memory that the program takes while a model has a command count to this.
#[cfg(target_os = "linux")]
fn peak_bytes(numbers: u64) -> u64 {
    let ground = Ground::new();
    let first =
        calls(&[("execute_command", json!({"command": ["seq", "1", numbers.to_string()]}))]);
    let server = Server::new(vec![first, whole(&["Done."])]);
    let base = format!("{}/v1", server.base);
    let folder = ground.places().state;
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_letterpress"));
    program.args(["ask", "--json", "--tools", "auto", "--base-url", &base, "--model", "m", "go"]);
    program.arg("--workspace").arg(ground.work()).arg("--data-dir").arg(&folder);
    let mut child = program.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
        peak = peak.max(kibibytes.unwrap_or(0) * 1024);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(child.wait().unwrap().success());
    let files = fs::read_dir(folder.join("state/output")).map(Iterator::count).unwrap_or(0);
    assert_eq!(files, usize::from(numbers > 1 << 20), "the command ran");
    peak
}

#[test]
#[cfg(target_os = "linux")]
fn a_hundred_megabytes_of_output_take_little_memory() {
    let (little, much) = (peak_bytes(1000), peak_bytes(13_000_000));
    let growth = much.saturating_sub(little);
    println!("{} MB, and {} MB more", little >> 20, growth >> 20);
    assert!(growth <= GROWTH, "{} MB", growth >> 20);
}

#[test]
fn what_never_ends_is_stopped_at_once() {
    for line in ["sleep 600", "trap '' TERM; while :; do sleep 600; done", "yes"] {
        // The fastest of three, because the machine may be busy with something else.
        let times = [(); 3].map(|()| {
            let ground = Ground::new();
            let first = calls(&[("execute_command", json!({"command": line}))]);
            let (mut bench, _kit) = talk(&ground, ToolUse::Ask, vec![first]);
            let ticket = bench.say("go");
            let asked = question(&mut bench, None);
            decide(&bench, &asked, Decision::Once);
            bench.until(|s| calls_of(s)[0].state == ToolState::Running);
            let begun = Instant::now();
            bench.command(Command::Stop);
            let end = bench.until(|s| is_settled(s, ticket));
            assert_eq!(calls_of(&end)[0].state, ToolState::Aborted);
            begun.elapsed()
        });
        println!("{line}: stopped after {times:?}");
        assert!(times.iter().min().unwrap() <= &STOP, "{line}: {times:?}");
    }
}

#[test]
fn what_a_command_leaves_behind_ends_with_it() {
    let ground = Ground::new();
    let line = "for i in 1 2 3 4; do (while :; do date +%N > alive; sleep 0.02; done) & done; wait";
    let first = calls(&[("execute_command", json!({"command": line}))]);
    let (mut bench, _kit) = talk(&ground, ToolUse::Ask, vec![first]);
    let ticket = bench.say("go");
    let asked = question(&mut bench, None);
    decide(&bench, &asked, Decision::Once);
    while ground.read("alive").is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    bench.command(Command::Stop);
    bench.until(|s| is_settled(s, ticket));
    // They are asked to end, and made to two seconds later.
    let quiet = |ground: &Ground| {
        let before = ground.read("alive");
        std::thread::sleep(Duration::from_millis(300));
        ground.read("alive") == before
    };
    let begun = Instant::now();
    while !quiet(&ground) {
        assert!(begun.elapsed() < Duration::from_secs(20), "they still write");
    }
}
