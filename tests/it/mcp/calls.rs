//! Calls: results, errors, progress, cancelling, limits.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use letterpress::{
    model::ImageData,
    tools::mcp::{CallError, Content, Limits, LogSource, Progress},
};
use serde_json::json;
use tokio::sync::watch;

use super::bench::{Bench, limits, tool};

#[tokio::test]
async fn arguments_are_an_object_or_nothing() {
    let bench = Bench::ready(&["echo"]).await;
    assert_eq!(bench.call("echo", json!({ "a": "ü" })).await.unwrap().text(), "{\"a\":\"ü\"}");
    assert_eq!(bench.call("echo", json!(null)).await.unwrap().text(), "{}");
    for arguments in [json!([]), json!("a"), json!(1), json!(true)] {
        assert_eq!(bench.call("echo", arguments).await, Err(CallError::BadArguments));
    }
    assert_eq!(bench.count("call"), 2);
    bench.servers.shut_down().await;
}

#[tokio::test]
async fn every_kind_of_part_is_read_and_bad_ones_cost_themselves() {
    let parts = json!({ "isError": true, "structuredContent": { "n": 1 }, "content": [
        { "type": "text", "text": "a\u{1b}[31mb" },
        { "type": "image", "mimeType": "image/png", "data": "AAEC" },
        { "type": "image", "mimeType": "image/png", "data": "A A\nEC" },
        { "type": "image", "mimeType": "image/png", "data": "!!" },
        { "type": "image", "mimeType": "image/png" },
        { "type": "audio", "mimeType": "audio/wav", "data": "AAE=" },
        { "type": "resource", "resource": { "uri": "a://b", "mimeType": "text/plain", "text": "t" } },
        { "type": "resource", "resource": { "uri": "a://c", "blob": "AAE" } },
        { "type": "resource", "resource": { "uri": "a://d", "mimeType": "image/png", "blob": "AAEC" } },
        { "type": "resource", "resource": { "uri": "a://e" } },
        { "type": "resource_link", "uri": "https://a.example/", "name": "n" },
        { "type": "hologram", "data": 1 },
        { "type": "text" },
        17,
    ] });
    let script = json!({ "tools": [tool("parts")], "parts": parts });
    let bench = Bench::with(&script, &json!({}), limits());
    bench.accept().await;
    let outcome = bench.call("parts", json!({})).await.unwrap();
    assert!(outcome.is_error);
    assert_eq!(outcome.structured, Some(json!({ "n": 1 })));
    let kinds: Vec<_> = outcome.content.iter().map(kind).collect();
    assert_eq!(
        kinds,
        [
            "text",
            "image 3",
            "image 3",
            "unusable",
            "unusable",
            "audio 2",
            "resource a://b",
            "blob 2",
            "image 3",
            "unknown",
            "link https://a.example/",
            "unknown",
            "unknown",
            "unknown",
        ]
    );
    let result = outcome.into_result("id".into(), "fake__parts".into());
    assert_eq!((result.is_error, result.images.len()), (true, 5));
    assert!(result.output.source.contains("[resource: a://b]\nt"), "{}", result.output.source);
    assert!(result.output.source.contains("hologram"), "what is not understood is shown");
    bench.servers.shut_down().await;
}

fn kind(content: &Content) -> String {
    match content {
        Content::Text(_) => "text".into(),
        Content::Image(image) => match &image.data {
            ImageData::Bytes(bytes) => format!("image {}", bytes.len()),
            ImageData::Address(_) | ImageData::Unusable(_) => "unusable".into(),
        },
        Content::Audio { bytes, .. } => format!("audio {}", bytes.len()),
        Content::Resource { uri, .. } => format!("resource {uri}"),
        Content::Blob { bytes, .. } => format!("blob {}", bytes.len()),
        Content::Link { uri, .. } => format!("link {uri}"),
        Content::Unknown { .. } => "unknown".into(),
    }
}

#[tokio::test]
async fn odd_results_are_read() {
    let bench = Bench::ready(&["parts"]).await;
    let mut texts = Vec::new();
    for parts in [
        json!({}),
        json!({ "content": null }),
        json!({ "content": "no list" }),
        json!({ "structuredContent": { "a": [1] } }),
        json!({ "content": vec![json!({ "type": "text", "text": "x" }); 1_500] }),
        json!({ "content": [{ "type": "text", "text": "y".repeat(9 << 20) }, { "type": "text", "text": "ü".repeat(1 << 20) }] }),
    ] {
        bench.set(|script| script["parts"] = parts);
        texts.push(bench.text("parts").await);
    }
    assert_eq!((texts[0].as_str(), texts[1].as_str()), ("", ""));
    assert!(texts[2].contains("no list"), "{}", texts[2]);
    assert_eq!(texts[3], "{\"a\":[1]}");
    assert_eq!(texts[4].matches('x').count(), 1_000);
    assert!(texts[4].contains("500 further parts were left out"));
    assert_eq!(texts[5].len(), (9 << 20) + 1 + (2 << 20));
    bench.set(|script| script["parts"] = json!(["not an object"]));
    let error = bench.call("parts", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::BadAnswer(_)), "{error:?}");
    bench.servers.shut_down().await;
}

#[tokio::test]
async fn a_refusal_is_told_in_the_servers_words() {
    let bench = Bench::ready(&["refuse", "echo"]).await;
    let error = bench.call("refuse", json!({})).await.unwrap_err();
    assert_eq!(error, CallError::Refused { code: -32602, message: "not like this".into() });
    bench.call("echo", json!({})).await.unwrap();
    bench.servers.shut_down().await;
}

#[tokio::test]
async fn answers_that_cannot_be_held_or_read_end_their_call_at_once() {
    let bench = Bench::ready(&["huge", "deep", "noise", "echo"]).await;
    let error = bench.call("huge", json!({})).await.unwrap_err().to_string();
    assert!(error.contains("and 16777216 may be"), "{error}");
    let error = bench.call("deep", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::BadAnswer(_)), "{error:?}");
    // What is no message at all harms nobody.
    assert_eq!(bench.text("noise").await, "heard");
    let (log, _) = bench.servers.log("fake");
    let noise = log.iter().filter(|line| line.source == LogSource::Stdout);
    assert!(noise.clone().any(|line| line.text.contains("Loading model")), "{log:?}");
    bench.call("echo", json!({})).await.unwrap();
    assert_eq!(bench.count("started"), 1, "it is the same server all the time");
    bench.servers.shut_down().await;
}

/// All progress of a call, as far as it was not overtaken.
async fn watched(bench: &Bench, tool: &str) -> (Result<String, CallError>, Vec<Progress>) {
    let (progress, mut heard) = watch::channel(None);
    let listener = tokio::spawn(async move {
        let mut all = Vec::new();
        while heard.changed().await.is_ok() {
            all.extend(heard.borrow_and_update().clone());
        }
        all
    });
    let name = format!("fake__{tool}");
    let outcome = bench.servers.call(&name, json!({}), progress).await;
    (outcome.map(|outcome| outcome.text()), listener.await.unwrap())
}

#[tokio::test]
async fn progress_comes_in_order_and_keeps_a_call_alive() {
    // Each step takes 200 ms, all of them a second.
    let limits = Limits { silence: Duration::from_millis(700), ..limits() };
    let script = json!({ "tools": [tool("slow"), tool("hang")] });
    let bench = Bench::with(&script, &json!({}), limits);
    bench.accept().await;
    let (text, progress) = watched(&bench, "slow").await;
    assert_eq!(text.unwrap(), "done");
    let done: Vec<f64> = progress.iter().map(|progress| progress.done).collect();
    assert_eq!(done, [1.0, 2.0, 3.0, 4.0, 5.0]);
    let last = progress.last().unwrap();
    assert_eq!((last.total, last.message.as_deref()), (Some(5.0), Some("step 5")));

    // Without it, silence ends the call, and the server is told.
    let error = bench.call("hang", json!({})).await.unwrap_err();
    assert_eq!(error, CallError::Silent(Duration::from_millis(700)));
    bench.noted("cancelled", 1).await;
    bench.servers.shut_down().await;
}

#[tokio::test]
async fn progress_without_end_does_not_keep_a_call_alive_for_ever() {
    let limits = Limits {
        silence: Duration::from_millis(400),
        call: Duration::from_secs(1),
        parting: Duration::from_millis(100),
        ..limits()
    };
    let bench = Bench::with(&json!({ "tools": [tool("endless")] }), &json!({}), limits);
    bench.accept().await;
    let begun = Instant::now();
    let error = bench.call("endless", json!({})).await.unwrap_err();
    assert_eq!(error, CallError::TooLong(Duration::from_secs(1)));
    assert!(begun.elapsed() >= Duration::from_secs(1));
    bench.servers.shut_down().await;
}

#[tokio::test]
async fn the_configuration_sets_how_long_a_server_may_be_silent() {
    let script = json!({ "tools": [tool("hang")] });
    let bench = Bench::with(&script, &json!({ "timeout": 0.3 }), limits());
    bench.accept().await;
    let error = bench.call("hang", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "the server said nothing for 0.3 s");
    bench.servers.shut_down().await;
}

#[tokio::test]
async fn giving_up_a_call_tells_the_server_and_frees_the_place() {
    let bench = Bench::ready(&["hang", "echo"]).await;
    let mut calls = Vec::new();
    // More than may run at once.
    for _ in 0..70 {
        let servers = bench.servers.clone();
        calls.push(tokio::spawn(async move {
            servers.call("fake__hang", json!({}), watch::Sender::new(None)).await
        }));
    }
    bench.noted("call hang", 60).await;
    let given_up = Instant::now();
    for call in &calls {
        call.abort();
    }
    for call in calls {
        assert!(call.await.unwrap_err().is_cancelled());
    }
    assert!(given_up.elapsed() < Duration::from_millis(200), "{:?}", given_up.elapsed());
    bench.noted("cancelled", bench.count("call hang")).await;
    println!("told after {:?}", given_up.elapsed());
    bench.call("echo", json!({})).await.unwrap();
    bench.servers.shut_down().await;
}

#[tokio::test]
async fn a_flood_is_drained() {
    let bench = Bench::ready(&["flood", "echo"]).await;
    let (text, progress) = watched(&bench, "flood").await;
    assert_eq!(text.unwrap(), "dry");
    let done: Vec<f64> = progress.iter().map(|progress| progress.done).collect();
    assert!(done.is_sorted(), "the newest counts, and none comes late");
    let (log, dropped) = bench.servers.log("fake");
    assert!(log.len() <= 2_000 && dropped > 7_000, "{} kept, {dropped} dropped", log.len());
    bench.servers.shut_down().await;
}

#[tokio::test]
async fn a_server_that_asks_gets_refusals() {
    let bench = Bench::ready(&["ask"]).await;
    assert_eq!(bench.text("ask").await, "[-32601, -32601, -32601]");
    bench.servers.shut_down().await;
}

#[tokio::test]
async fn calls_run_beside_each_other() {
    let bench = Arc::new(Bench::ready(&["hang", "echo"]).await);
    let servers = bench.servers.clone();
    let hanging = tokio::spawn(async move {
        servers.call("fake__hang", json!({}), watch::Sender::new(None)).await
    });
    bench.noted("call hang", 1).await;
    for n in 0..20 {
        assert_eq!(
            bench.call("echo", json!({ "n": n })).await.unwrap().text(),
            format!("{{\"n\":{n}}}")
        );
    }
    assert!(!hanging.is_finished());
    bench.servers.stop("fake").await;
    let error = hanging.await.unwrap().unwrap_err();
    assert_eq!(error, CallError::Ended("it was stopped".into()));
}
