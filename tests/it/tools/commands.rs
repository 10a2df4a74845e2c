//! Commands end, whatever they do; their output is kept; nothing of the user's leaks in.

#![cfg(unix)]

use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use letterpress::{
    perf,
    tools::{
        Call, Exit, OutputPart, Progress, Stop, Stopper, Stream, ToolOutput,
        fetch::{FetchRequest, Fetched, Fetcher, Fetching},
        policy::{Answer, Rules, Trust},
        remote::{Remote, RemoteCall},
        spill::Spill,
    },
};
use serde_json::{Value, json};

use super::bench::{Place, runtime};

/// Runs a line of the shell.
fn shell(place: &Place, line: &str) -> ToolOutput {
    place.run("execute_command", &json!({ "command": line }))
}

/// Waits for something that will happen soon; says whether it did.
fn eventually(mut happened: impl FnMut() -> bool) -> bool {
    let (_nobody_sends, clock) = mpsc::sync_channel::<()>(0);
    for _ in 0..1000 {
        if happened() {
            return true;
        }
        let _time_passed = clock.recv_timeout(Duration::from_millis(10));
    }
    false
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    if cfg!(target_os = "linux") {
        // A zombie that nobody has reaped yet is not alive.
        return stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").starts_with(" Z"));
    }
    let status = std::process::Command::new("kill").args(["-0", pid]).status();
    status.is_ok_and(|status| status.success())
}

#[test]
fn an_end_is_told() {
    let place = Place::new();
    for (line, text, exit, is_error) in [
        ("echo hi", "hi", Exit::Code(0), false),
        ("true", "(no output)", Exit::Code(0), false),
        ("exit 3", "[exit code 3]", Exit::Code(3), true),
        ("echo hi; exit 1", "hi\n[exit code 1]", Exit::Code(1), true),
        ("kill -9 $$", "[ended by signal 9]", Exit::Signal(9), true),
        ("kill -TERM $$", "[ended by signal 15]", Exit::Signal(15), true),
        ("printf 'a\\0b\\377c\\n'", "ab\u{fffd}c", Exit::Code(0), false),
        ("printf 'caf\\303'", "caf\u{fffd}", Exit::Code(0), false),
        ("cat", "(no output)", Exit::Code(0), false),
        ("read x; echo \"got:$x\"", "got:", Exit::Code(0), false),
        ("test -t 0 || echo no terminal", "no terminal", Exit::Code(0), false),
    ] {
        let output = shell(&place, line);
        assert_eq!(
            (&*output.text, output.exit, output.is_error),
            (text, Some(exit), is_error),
            "{line}"
        );
    }
    let output = shell(&place, "exit 3");
    assert_eq!(output.details(), json!({"exitCode": 3}));
}

#[test]
fn arguments_come_through_as_they_are() {
    let place = Place::new();
    let words = ["%s|", "a b", "$HOME", "`id`", "*", "; rm x", "'\"\\", "-n", "é\u{301}", ""];
    let argv: Vec<_> = std::iter::once("printf").chain(words).collect();
    let output = place.run("execute_command", &json!({ "command": argv }));
    assert_eq!(&*output.text, "a b|$HOME|`id`|*|; rm x|'\"\\|-n|é\u{301}||");
    place.write("w/sub/x", "");
    let output = place.run("execute_command", &json!({"command": ["pwd"], "cwd": "sub"}));
    assert_eq!(&*output.text, place.path("w/sub").to_str().expect("UTF-8"));
    let output = place.run("execute_command", &json!({"command": ["no-such-program-here"]}));
    assert!(output.is_error && output.text.contains("no program called"), "{}", output.text);
}

#[test]
fn a_program_in_the_workspace_is_not_taken_for_another() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place.write("w/ls", "#!/bin/sh\necho planted\n");
    std::fs::set_permissions(place.path("w/ls"), std::fs::Permissions::from_mode(0o755))
        .expect("permissions");
    let run =
        |argv: &[&str]| place.run("execute_command", &json!({ "command": argv })).text.to_string();
    assert_eq!(run(&["./ls"]), "planted");
    assert_ne!(run(&["ls"]), "planted");
    assert_eq!(place.word("execute_command", &json!({"command": ["./ls"]})), "ask");
    assert_eq!(place.word("execute_command", &json!({"command": ["ls"]})), "allow");
}

#[test]
fn a_repository_that_runs_programs_is_asked_about() {
    let place = Place::new();
    let status = json!({"command": ["git", "status"]});
    place.write("w/.git/config", "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = x\n");
    assert_eq!(place.word("execute_command", &status), "allow");
    for setting in [
        "[core]\n\tfsmonitor = ./evil\n",
        "[core] fsmonitor=./evil",
        "[CORE]\nFsMonitor = x",
        "[diff \"x\"]\n\ttextconv = evil\n",
        "[diff]\n\texternal = evil\n",
        "[filter \"x\"]\n\tclean = evil\n",
        "[include]\n\tpath = /tmp/x\n",
        "[includeIf \"gitdir:x\"]\n\tpath = y\n",
        "[alias]\n\ts = !evil\n",
        "[gpg]\n\tprogram = evil\n",
        "[core]\n\thooksPath = .\n",
        "[core]\n\tsshCommand = evil\n",
        "[remote \"o\"]\n\tuploadpack = evil\n",
        "[log]\n\tshowSignature = true\n",
        "[user]\n\tname = a\\\nb\n",
        "[merge \"x\"]\n\tdriver = evil\n",
        "[extensions]\n\tpartialClone = o\n",
        "[uploadpack]\n\tx = y\n",
        "[bro\n",
    ] {
        place.write("w/.git/config", setting);
        assert_eq!(place.word("execute_command", &status), "once", "{setting}");
    }
}

#[test]
fn few_variables_are_seen_and_no_keys() {
    let place = Place::new();
    let output = shell(&place, "env");
    let names: Vec<&str> =
        output.text.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    assert!(names.contains(&"PATH") && names.contains(&"GIT_TERMINAL_PROMPT"), "{names:?}");
    let looks_like_a_key = |name: &&&str| {
        let is_ours = name.starts_with("GIT_CONFIG_KEY");
        !is_ours && ["KEY", "TOKEN", "SECRET", "PASSWORD"].iter().any(|word| name.contains(word))
    };
    assert_eq!(names.iter().find(looks_like_a_key), None);
    let call = Call::parse("execute_command", &json!({"command": ["env"]})).expect("arguments");
    let facts = place.bench.facts(&call, Trust::UserOnly);
    assert!(facts.environment.changed.iter().any(|(name, _)| name == "PAGER"));
    // Whatever this program was started with, most of it is not for commands, unless asked for.
    let withheld = std::env::vars().map(|(name, _)| name).find(|name| !names.contains(&&**name));
    let Some(name) = withheld else { return };
    assert!(facts.environment.withheld > 0);
    let place = Place::with(|bench| bench.extra_variables(vec![name.clone()]));
    assert!(shell(&place, "env").text.contains(&format!("{name}=")), "{name}");
}

#[test]
fn output_comes_in_order_with_its_stream() {
    let place = Place::new();
    let mut heard = Vec::new();
    let line = "echo a; sleep 0.2; echo b >&2; sleep 0.2; echo c";
    let output = place.watch(&json!({ "command": line }), Stop::never(), |progress| {
        if let Progress::Output { stream, bytes } = progress {
            heard.push((stream, String::from_utf8(bytes).expect("UTF-8")));
        }
    });
    let expected = [(Stream::Out, "a\n"), (Stream::Err, "b\n"), (Stream::Out, "c\n")];
    assert_eq!(heard, expected.map(|(stream, text)| (stream, text.to_owned())));
    let parts: Vec<_> = output
        .parts
        .iter()
        .map(|part| match part {
            OutputPart::Text { stream, text } => (*stream, &**text),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(parts, expected);
}

/// Counts what is written to it, and checks that it is all the same.
#[derive(Default)]
struct Counter(Arc<AtomicU64>);

struct Counting(Arc<AtomicU64>);

impl Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        assert!(bytes.iter().all(|byte| *byte == b'x'));
        self.0.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Spill for Counter {
    fn open(&self, call_id: &str) -> io::Result<(Box<dyn Write + Send>, Arc<str>)> {
        assert_eq!(call_id, "c1");
        Ok((Box::new(Counting(Arc::clone(&self.0))), "somewhere".into()))
    }
}

/// What a program prints, what of it is spilled, and whether that is all.
fn flood(bytes: u64) -> (ToolOutput, u64, u64, u64) {
    let counter = Counter::default();
    let spilled = Arc::clone(&counter.0);
    let place = Place::with(|bench| bench.spill(Arc::new(counter)));
    let line = format!("head -c {bytes} /dev/zero | tr '\\0' x");
    let (mut heard, mut most) = (0, 0);
    let before = perf::rss_bytes().unwrap_or_default();
    let output = place.watch(&json!({ "command": line }), Stop::never(), |progress| {
        if let Progress::Output { bytes, .. } = progress {
            heard += bytes.len() as u64;
            most = most.max(perf::rss_bytes().unwrap_or_default().saturating_sub(before));
        }
    });
    (output, heard, spilled.load(Ordering::Relaxed), most)
}

const MB: u64 = 1 << 20;

#[test]
fn a_hundred_megabytes_are_spilled_and_not_kept() {
    let (output, heard, spilled, growth) = flood(100 * MB);
    assert_eq!((heard, spilled), (100 * MB, 100 * MB));
    let spill = output.spill.as_ref().expect("it was spilled");
    assert_eq!((&*spill.place, spill.bytes, spill.is_whole), ("somewhere", 100 * MB, true));
    assert_eq!(output.omitted, 100 * MB - 128 * 1024);
    let sizes: Vec<_> = output
        .parts
        .iter()
        .map(|part| match part {
            OutputPart::Text { text, .. } => text.len() as u64,
            OutputPart::Gap(bytes) => *bytes,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(sizes, [64 * 1024, 100 * MB - 128 * 1024, 64 * 1024]);
    assert!(output.text.len() < 52 * 1024, "{}", output.text.len());
    println!("memory grew by {growth} bytes");
}

/// Other tests take memory, too, so the one above is run again, alone in a process.
#[test]
fn a_hundred_megabytes_take_little_memory() {
    let test = "tools::commands::a_hundred_megabytes_are_spilled_and_not_kept";
    let this = std::env::current_exe().expect("this program");
    let run = std::process::Command::new(this).args(["--exact", test, "--nocapture"]).output();
    let printed = String::from_utf8(run.expect("it runs").stdout).expect("UTF-8");
    let (_, growth) = printed.split_once("memory grew by ").expect("it was measured");
    let growth: u64 = growth.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
    println!("memory grew by {} KB", growth / 1024);
    assert!(growth <= 64 * MB, "memory grew by {} MB", growth / MB);
}

#[test]
fn what_is_over_a_hundred_megabytes_is_not_spilled() {
    let (output, heard, spilled, _) = flood(101 * MB);
    assert_eq!((heard, spilled), (101 * MB, 100 * MB));
    let spill = output.spill.as_ref().expect("it was spilled");
    assert_eq!((spill.bytes, spill.is_whole), (100 * MB, false));
    assert!(output.text.contains("the first part of the output"));
}

#[test]
fn little_output_is_not_spilled() {
    let (output, _, spilled, _) = flood(128 * 1024);
    assert_eq!((output.spill.clone(), output.omitted, spilled), (None, 0, 0));
}

#[test]
fn one_that_never_ends_is_stopped() {
    let place = Place::new();
    let (stopper, stop) = Stopper::new();
    let (mut heard, mut stopped_at) = (0, None);
    let output = place.watch(&json!({"command": ["yes"]}), stop, |progress| {
        if let Progress::Output { bytes, .. } = progress {
            heard += bytes.len();
        }
        if heard > 1_000_000 && stopped_at.is_none() {
            stopper.stop();
            stopped_at = Some(perf::now());
        }
    });
    let waited = perf::now() - stopped_at.expect("it was stopped");
    println!("stopped after {waited:?}");
    assert_eq!((output.exit, output.is_error), (Some(Exit::Stopped), true));
    assert!(
        output.text.ends_with("[stopped by the user]"),
        "{}",
        &output.text[output.text.len() - 100..]
    );
}

#[test]
fn one_that_nobody_reads_is_stopped_all_the_same() {
    let place = Place::new();
    let (stopper, stop) = Stopper::new();
    let call = Call::parse("execute_command", &json!({"command": ["yes"]})).expect("arguments");
    let facts = place.bench.facts(&call, Trust::UserOnly);
    let letterpress::tools::Verdict::Ask(question) =
        letterpress::tools::judge(call, facts, &Rules::default())
    else {
        panic!("it is asked about");
    };
    let approved = question.answer(Answer::Once).expect("granted").call;
    let (progress, _unread) = tokio::sync::mpsc::channel(1);
    let run = letterpress::tools::Run { call_id: "c".into(), stop, progress };
    let output = runtime().block_on(async {
        let stop_soon = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            stopper.stop();
        };
        tokio::join!(place.bench.run(approved, run), stop_soon).0
    });
    assert_eq!(output.exit, Some(Exit::Stopped));
}

#[test]
fn its_time_runs_out() {
    let place = Place::new();
    let output =
        place.run("execute_command", &json!({"command": "echo early; sleep 60", "timeout": 1}));
    assert_eq!(
        (output.exit, &*output.text),
        (Some(Exit::TimedOut), "early\n[stopped after 1 seconds]")
    );
}

/// The numbers of the processes that a command printed.
fn pids(output: &ToolOutput) -> Vec<String> {
    output
        .text
        .lines()
        .filter(|line| line.bytes().all(|b| b.is_ascii_digit()))
        .map(str::to_owned)
        .collect()
}

#[test]
fn what_is_left_behind_is_ended() {
    let place = Place::new();
    for line in [
        "sleep 300 & echo $!",
        "(sleep 300; echo late) & echo $!",
        "sleep 300 & echo $!; kill -9 $$",
        "sleep 300 > /dev/null 2>&1 & echo $!",
        "yes > /dev/null & echo $!",
        "for i in 1 2 3; do sleep 300 & echo $!; done",
        "trap '' TERM; sleep 300 & echo $!",
    ] {
        let output = shell(&place, line);
        let pids = pids(&output);
        assert!(!pids.is_empty() && !output.text.contains("late"), "{line}: {}", output.text);
        for pid in pids {
            assert!(eventually(|| !is_alive(&pid)), "{line}: {pid} is alive");
        }
    }
}

// Elsewhere there is no program to leave a group with.
#[cfg(target_os = "linux")]
#[test]
fn one_that_writes_on_after_its_end_holds_nothing_up() {
    let place = Place::new();
    // Not in the group, but with the pipe in its hands.
    let output = shell(&place, "setsid sh -c 'sleep 20; echo late' & echo early");
    assert_eq!((output.exit, &*output.text), (Some(Exit::Code(0)), "early"));
    let output = shell(&place, "setsid timeout 5 yes & sleep 0.1");
    assert_eq!(output.exit, Some(Exit::Code(0)));
}

#[test]
fn one_that_does_not_want_to_end_is_made_to() {
    let place = Place::new();
    let (stopper, stop) = Stopper::new();
    let line = "trap '' TERM INT HUP; echo $$; while :; do sleep 1; done";
    let output = place.watch(&json!({ "command": line }), stop, |_| stopper.stop());
    assert_eq!(output.exit, Some(Exit::Stopped));
    let pids = pids(&output);
    assert_eq!(pids.len(), 1, "{}", output.text);
    assert!(eventually(|| !is_alive(&pids[0])), "{} is alive", pids[0]);
}

#[test]
fn a_run_that_is_dropped_ends_its_processes() {
    let place = Place::new();
    let call = Call::parse("execute_command", &json!({"command": "echo $$; sleep 300"}))
        .expect("arguments");
    let facts = place.bench.facts(&call, Trust::UserOnly);
    let letterpress::tools::Verdict::Ask(question) =
        letterpress::tools::judge(call, facts, &Rules::default())
    else {
        panic!("it is asked about");
    };
    let approved = question.answer(Answer::Once).expect("granted").call;
    let (progress, mut heard) = tokio::sync::mpsc::channel(1);
    let run = letterpress::tools::Run { call_id: "c".into(), stop: Stop::never(), progress };
    let pid = runtime().block_on(async {
        tokio::select! {
            output = place.bench.run(approved, run) => panic!("{output:?}"),
            progress = heard.recv() => match progress {
                Some(Progress::Output { bytes, .. }) => String::from_utf8(bytes).expect("UTF-8"),
                other => panic!("{other:?}"),
            },
        }
    });
    assert!(eventually(|| !is_alive(pid.trim())), "{pid} is alive");
}

#[test]
fn ten_thousand_escape_sequences_are_kept_for_the_eye_and_not_for_the_model() {
    let place = Place::new();
    let line = "i=0; while [ $i -lt 10000 ]; do printf '\\033[3%dm' $((i % 8)); i=$((i+1)); done; echo end";
    let output = shell(&place, line);
    assert_eq!(&*output.text, "end");
    assert_eq!(output.shown_text().matches('\x1b').count(), 10_000);
}

#[test]
fn calls_at_the_same_time_do_not_mix() {
    let place = Arc::new(Place::new());
    let threads: Vec<_> = (0..8)
        .map(|n| {
            let place = Arc::clone(&place);
            let name = format!("call {n}");
            thread::Builder::new()
                .name(name)
                .spawn(move || shell(&place, &format!("echo {n}; sleep 0.1; echo {n}")))
                .expect("a thread")
        })
        .collect();
    for (n, thread) in threads.into_iter().enumerate() {
        assert_eq!(*thread.join().expect("it ends").text, format!("{n}\n{n}"));
    }
}

/// Answers with what it was asked.
struct Echo;

impl Fetcher for Echo {
    fn fetch(&self, request: FetchRequest) -> Fetching<'_> {
        Box::pin(async move {
            let page = |status, kind: &str, body: &str| Fetched {
                status,
                content_type: kind.to_owned(),
                body: body.as_bytes().to_vec(),
                ..Fetched::default()
            };
            Ok(match request.url.path() {
                "/html" => page(200, "text/html; charset=utf-8", "<h1>Hi</h1><script>no</script>"),
                "/missing" => page(404, "text/plain", "not here"),
                "/moved" => {
                    Fetched { location: Some("//other.org/x".to_owned()), ..page(302, "", "") }
                }
                "/binary" => page(200, "application/octet-stream", "x\0y"),
                "/cut" => Fetched { is_cut: true, ..page(200, "application/json", "{\"a\":") },
                "/private" => page(200, "text/plain", &request.may_be_private.to_string()),
                "/never" => std::future::pending().await,
                _ => return Err("no route".to_owned()),
            })
        })
    }
}

impl Remote for Echo {
    fn call(
        &self,
        tool: String,
        arguments: Value,
        _stop: Stop,
        progress: tokio::sync::mpsc::Sender<Progress>,
    ) -> RemoteCall<'_> {
        Box::pin(async move {
            drop(progress.send(Progress::Note("half way".into())).await);
            ToolOutput::text(&format!("{tool} {arguments}"))
        })
    }
}

#[test]
fn pages_are_fetched_by_whoever_knows_how() {
    let place = Place::with(|bench| bench.fetcher(Arc::new(Echo)));
    let fetch = |url: &str| place.run("web_fetch", &json!({ "url": url }));
    let text = |url: &str| fetch(url).text.to_string();
    assert_eq!(text("https://example.org/html"), "# Hi");
    assert_eq!(text("https://example.org/missing"), "[status 404]\nnot here");
    assert!(fetch("https://example.org/missing").is_error);
    assert!(
        text("https://example.org/moved")
            .contains("redirects to https://other.org/x, which was not followed")
    );
    assert!(fetch("https://example.org/binary").is_error);
    assert!(text("https://example.org/cut").starts_with("[the page is longer"));
    assert!(text("https://example.org/x").contains("was not fetched: no route"));
    assert_eq!(text("https://example.org/private"), "false");
    assert_eq!(text("http://127.0.0.1/private"), "true");
    let (stopper, stop) = Stopper::new();
    thread::scope(|scope| {
        scope.spawn(|| stopper.stop());
        let output =
            place.run_with("web_fetch", &json!({"url": "https://example.org/never"}), stop);
        assert_eq!(&*output.text, "[stopped by the user]");
    });
    let without = Place::new();
    assert!(without.run("web_fetch", &json!({"url": "https://example.org/"})).is_error);
}

#[test]
fn a_remote_call_goes_where_it_belongs() {
    let place = Place::with(|bench| bench.remote(Arc::new(Echo)));
    let call =
        Call::Remote { server: "s".into(), tool: "s__echo".into(), arguments: json!({"a": 1}) };
    let facts = place.bench.facts(&call, Trust::UserOnly);
    let letterpress::tools::Verdict::Ask(question) =
        letterpress::tools::judge(call, facts, &Rules::default())
    else {
        panic!("it is asked about");
    };
    let approved = question.answer(Answer::Once).expect("granted").call;
    let (progress, mut heard) = tokio::sync::mpsc::channel(1);
    let run = letterpress::tools::Run { call_id: "c".into(), stop: Stop::never(), progress };
    let output = runtime().block_on(place.bench.run(approved, run));
    assert_eq!(&*output.text, "s__echo {\"a\":1}");
    assert_eq!(heard.try_recv(), Ok(Progress::Note("half way".into())));
}
