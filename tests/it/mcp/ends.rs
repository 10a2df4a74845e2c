//! Ends: crashes, restarts, stops.

use std::{process::Command, time::Duration};

use letterpress::tools::mcp::{CallError, Limits, ServerState};
use serde_json::json;
use tokio::sync::watch;

use super::bench::{Bench, limits, tool, until};

fn is_alive(pid: &str) -> bool {
    let stat = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    let stat = String::from_utf8_lossy(&stat.stdout).trim().to_owned();
    // One that has ended may wait for its parent to take notice.
    !stat.is_empty() && !stat.starts_with('Z')
}

async fn is_gone(pid: &str) {
    for _ in 0..500 {
        if !is_alive(pid) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{pid} is still there");
}

#[tokio::test]
async fn killed_in_mid_call_the_call_ends_and_the_server_comes_back() {
    let bench = Bench::ready(&["hang", "pid", "echo"]).await;
    let pid = bench.text("pid").await;
    let servers = bench.servers.clone();
    let hanging = tokio::spawn(async move {
        servers.call("fake__hang", json!({}), watch::Sender::new(None)).await
    });
    bench.noted("call hang", 1).await;
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    let error = hanging.await.unwrap().unwrap_err();
    let CallError::Ended(why) = &error else { panic!("{error:?}") };
    assert!(why.starts_with("it was ended by signal 9"), "{why}");
    // A call waits for the restart.
    assert_eq!(bench.call("echo", json!({})).await.unwrap().text(), "{}");
    assert_ne!(bench.text("pid").await, pid);
    assert_eq!(bench.status().state, ServerState::Ready);
    assert_eq!(bench.count("started"), 2);
    bench.servers.shut_down().await;
}

#[tokio::test]
async fn a_crash_tells_its_last_words_and_too_many_are_enough() {
    let limits = Limits { restarts: 2, ..limits() };
    let script = json!({ "tools": [tool("die"), tool("echo")] });
    let bench = Bench::with(&script, &json!({}), limits);
    bench.accept().await;
    for _ in 0..3 {
        let error = bench.call("die", json!({})).await.unwrap_err();
        assert_eq!(error, CallError::Ended("it ended with code 3: I cannot go on".into()));
    }
    let is_failed = |state: &ServerState| matches!(state, ServerState::Failed(_));
    let ServerState::Failed(why) = until(&bench.servers, "fake", is_failed).await else { panic!() };
    assert_eq!(&*why, "it ended 3 times within 10 minutes: I cannot go on");
    assert_eq!(bench.call("echo", json!({})).await, Err(CallError::NotRunning(why)));
    assert_eq!(bench.count("started"), 3);
    // The user may want it all the same.
    bench.servers.stop("fake").await;
    bench.call("echo", json!({})).await.unwrap();
    bench.servers.shut_down().await;
}

#[tokio::test]
async fn restarts_wait_longer_each_time() {
    let limits = Limits {
        first_restart: Duration::from_millis(40),
        longest_restart: Duration::from_millis(100),
        ..limits()
    };
    let bench = Bench::with(&json!({ "tools": [tool("die")] }), &json!({}), limits);
    bench.accept().await;
    let mut waits = Vec::new();
    for _ in 0..4 {
        bench.call("die", json!({})).await.unwrap_err();
        let is_restarting = |state: &ServerState| matches!(state, ServerState::Restarting { .. });
        if let ServerState::Restarting { after, why } =
            until(&bench.servers, "fake", is_restarting).await
        {
            assert_eq!(&*why, "it ended with code 3: I cannot go on");
            waits.push(after.as_millis());
        }
    }
    assert_eq!(waits, [40, 80, 100, 100]);
    bench.servers.shut_down().await;
}

#[tokio::test]
async fn an_answer_right_before_the_end_arrives() {
    let bench = Bench::ready(&["last"]).await;
    assert_eq!(bench.text("last").await, "my last words");
    bench.servers.shut_down().await;
}

#[tokio::test]
async fn a_stop_ends_the_whole_group() {
    let bench = Bench::ready(&["fork", "pid"]).await;
    let (pid, child) = (bench.text("pid").await, bench.text("fork").await);
    assert!(is_alive(&pid) && is_alive(&child));
    bench.servers.stop("fake").await;
    assert_eq!(bench.status().state, ServerState::Stopped);
    assert_eq!(bench.count("input closed"), 1, "it was given the time to end by itself");
    is_gone(&pid).await;
    is_gone(&child).await;
}

#[tokio::test]
async fn a_stubborn_server_is_ended_all_the_same() {
    let limits = Limits { parting: Duration::from_millis(200), ..limits() };
    let script = json!({ "tools": [tool("pid")], "stubborn": true });
    let bench = Bench::with(&script, &json!({}), limits);
    bench.accept().await;
    let pid = bench.text("pid").await;
    bench.servers.stop("fake").await;
    is_gone(&pid).await;
}

#[tokio::test]
async fn dropping_everything_ends_everything() {
    let bench = Bench::ready(&["fork", "pid"]).await;
    let (pid, child) = (bench.text("pid").await, bench.text("fork").await);
    drop(bench);
    is_gone(&pid).await;
    is_gone(&child).await;
}

#[test]
fn the_end_of_the_runtime_ends_everything() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (bench, pid, child) = runtime.block_on(async {
        let bench = Bench::ready(&["fork", "pid"]).await;
        let (pid, child) = (bench.text("pid").await, bench.text("fork").await);
        (bench, pid, child)
    });
    runtime.shutdown_timeout(Duration::from_millis(100));
    let later = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    later.block_on(async {
        is_gone(&pid).await;
        is_gone(&child).await;
        let error = bench.servers.start("fake").await.unwrap_err();
        assert!(matches!(error, CallError::NotRunning(_)), "{error:?}");
    });
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    let limits = Limits { start: Duration::from_secs(1), ..limits() };
    let script = json!({ "tools": [], "silent": true });
    let bench = Bench::with(&script, &json!({}), limits);
    bench.servers.start("fake").await.unwrap_err();
    let ServerState::NeedsAcceptance(acceptance) = bench.status().state else { panic!() };
    bench.servers.accept_start("fake", acceptance.launch.digest()).unwrap();
    let error = bench.servers.start("fake").await.unwrap_err();
    assert_eq!(error, CallError::NotRunning("it did not answer within 1 s".into()));
    // A stop during a start is a stop.
    let servers = bench.servers.clone();
    let starting = tokio::spawn(async move { servers.start("fake").await });
    until(&bench.servers, "fake", |state| *state == ServerState::Starting).await;
    bench.servers.stop("fake").await;
    assert_eq!(starting.await.unwrap(), Err(CallError::NotRunning("it was stopped".into())));
    assert_eq!(bench.status().state, ServerState::Stopped);
}

#[tokio::test]
async fn many_who_need_it_start_it_once() {
    let bench = Bench::new(&[tool("echo")]);
    let pins = bench.accept().await;
    bench.servers.shut_down().await;
    let later = bench.again(pins, limits());
    let calls: Vec<_> = (0..30)
        .map(|_| {
            let later = later.clone();
            tokio::spawn(async move {
                later.call("fake__echo", json!({}), watch::Sender::new(None)).await
            })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap().text(), "{}");
    }
    assert_eq!(bench.count("started"), 2, "once here, and once before");
    later.shut_down().await;
}
