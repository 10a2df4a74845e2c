//! Servers that nobody here wrote. `tests/run` installs them and says where they are; without
//! them these tests say that they were skipped.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use letterpress::{
    model::{ImageData, Role},
    tools::mcp::{CallError, CallOutcome, Content, Pins, ServerState, Servers, Standing},
};
use serde_json::{Value, json};
use tokio::{sync::watch, task::JoinHandle};

use super::bench::{accept, call, limits, servers, until};

fn installed(variable: &str) -> Option<String> {
    let path = std::env::var(variable).ok().filter(|path| !path.is_empty());
    if path.is_none() {
        println!("skipped: {variable} names no program");
    }
    path
}

async fn started(entry: Value) -> Servers {
    let servers = servers(json!({ "s": entry }), Pins::default(), limits());
    accept(&servers, "s").await;
    servers
}

async fn everything() -> Option<Servers> {
    let command = installed("LETTERPRESS_MCP_EVERYTHING")?;
    Some(started(json!({ "command": command, "args": ["stdio"] })).await)
}

async fn check_everything(servers: &Servers) {
    let names: Vec<_> = servers.tools().into_iter().map(|tool| tool.name.to_string()).collect();
    for tool in ["echo", "get-sum", "get-tiny-image", "trigger-long-running-operation"] {
        assert!(names.contains(&format!("s__{tool}")), "{names:?}");
    }
    let info = servers.overview()[0].info.clone().unwrap();
    assert!(info.instructions.as_ref().is_some_and(|text| text.contains("Everything")), "{info:?}");

    let echo = call(servers, "s__echo", json!({ "message": "ü" })).await.unwrap();
    assert_eq!((echo.text().as_str(), echo.is_error), ("Echo: ü", false));
    let sum = call(servers, "s__get-sum", json!({ "a": 2, "b": 40 })).await.unwrap();
    assert!(sum.text().contains("42"), "{}", sum.text());
    // It checks what it is given.
    let bad = call(servers, "s__get-sum", json!({ "a": "two" })).await;
    let told = match &bad {
        Ok(outcome) => outcome.is_error,
        Err(error) => matches!(error, CallError::Refused { .. }),
    };
    assert!(told, "{bad:?}");

    let image = call(servers, "s__get-tiny-image", json!({})).await.unwrap();
    let bytes = image.content.iter().find_map(|content| match content {
        Content::Image(image) => match &image.data {
            ImageData::Bytes(bytes) => Some((image.media_type.to_string(), bytes.to_vec())),
            ImageData::Address(_) | ImageData::Unusable(_) => None,
        },
        _ => None,
    });
    let (media_type, bytes) = bytes.unwrap();
    assert_eq!((media_type.as_str(), bytes.get(1..4)), ("image/png", Some(b"PNG".as_slice())));

    let weather = json!({ "location": "Chicago" });
    let outcome = call(servers, "s__get-structured-content", weather).await.unwrap();
    assert!(outcome.structured.as_ref().is_some_and(Value::is_object), "{outcome:?}");
    let links = call(servers, "s__get-resource-links", json!({ "count": 3 })).await.unwrap();
    let is_link = |content: &&Content| matches!(content, Content::Link { .. });
    assert_eq!(links.content.iter().filter(is_link).count(), 3, "{links:?}");
    for kind in ["Text", "Blob"] {
        let wish = json!({ "resourceType": kind, "resourceId": 1 });
        let outcome = call(servers, "s__get-resource-reference", wish).await.unwrap();
        let is_resource = |content: &Content| match kind {
            "Text" => matches!(content, Content::Resource { .. }),
            _ => matches!(content, Content::Blob { .. }),
        };
        assert!(outcome.content.iter().any(is_resource), "{kind}: {outcome:?}");
    }
    check_progress(servers).await;
    check_resources(servers).await;
    check_prompts(servers).await;
}

async fn check_progress(servers: &Servers) {
    let (progress, mut heard) = watch::channel(None);
    let listener = tokio::spawn(async move {
        let mut all = Vec::new();
        while heard.changed().await.is_ok() {
            all.extend(heard.borrow_and_update().clone());
        }
        all
    });
    let wish = json!({ "duration": 1, "steps": 4 });
    let name = "s__trigger-long-running-operation";
    let outcome = servers.call(name, wish, progress).await.unwrap();
    assert!(outcome.text().contains("completed"), "{}", outcome.text());
    let steps = listener.await.unwrap();
    let done: Vec<f64> = steps.iter().map(|step| step.done).collect();
    assert_eq!((done.as_slice(), steps[0].total), ([1.0, 2.0, 3.0, 4.0].as_slice(), Some(4.0)));
}

async fn check_resources(servers: &Servers) {
    let resources = servers.resources("s").await.unwrap();
    let found = resources.iter().find(|resource| resource.uri.ends_with("features.md")).unwrap();
    assert_eq!(found.media_type.as_deref(), Some("text/markdown"));
    let contents = servers.read_resource("s", &found.uri).await.unwrap();
    let [Content::Resource { uri, text, .. }] = contents.as_slice() else { panic!("{contents:?}") };
    assert!(**uri == *found.uri && text.contains('#'));
    let templates = servers.resource_templates("s").await.unwrap();
    assert!(
        templates.iter().any(|t| t.uri_template == "demo://resource/dynamic/text/{resourceId}")
    );
    let blob = servers.read_resource("s", "demo://resource/dynamic/blob/1").await.unwrap();
    assert!(matches!(blob.as_slice(), [Content::Blob { .. }]), "{blob:?}");
    let error = servers.read_resource("s", "demo://no/such/thing").await.unwrap_err();
    assert!(matches!(error, CallError::Refused { .. }), "{error:?}");
}

async fn check_prompts(servers: &Servers) {
    let prompts = servers.prompts("s").await.unwrap();
    let found = prompts.iter().find(|prompt| prompt.name == "args-prompt").unwrap();
    let arguments: Vec<_> = found.arguments.iter().map(|a| (a.name.as_str(), a.required)).collect();
    assert_eq!(arguments, [("city", true), ("state", false)]);
    let Value::Object(wish) = json!({ "city": "Mainz" }) else { panic!() };
    let messages = servers.prompt("s", "args-prompt", &wish).await.unwrap();
    assert_eq!(messages[0].role, Role::User);
    assert!(matches!(&messages[0].content, Content::Text(text) if text.contains("Mainz")));
    let error = servers.prompt("s", "args-prompt", &serde_json::Map::new()).await.unwrap_err();
    assert!(matches!(error, CallError::Refused { .. }), "{error:?}");
}

#[tokio::test]
async fn everything_over_stdio() {
    let Some(servers) = everything().await else { return };
    check_everything(&servers).await;
    servers.shut_down().await;
}

#[tokio::test]
async fn everything_over_http() {
    let Some(site) = Site::start() else { return };
    let servers = started(json!({ "type": "http", "url": site.url })).await;
    check_everything(&servers).await;
    servers.shut_down().await;
}

#[tokio::test]
async fn everything_over_http_begun_again() {
    let Some(site) = Site::start() else { return };
    let servers = started(json!({ "url": site.url })).await;
    let port = site.port;
    drop(site);
    let error = call(&servers, "s__echo", json!({ "message": "a" })).await.unwrap_err();
    assert!(error.to_string().contains("refused"), "{error}");
    // Another process, which knows nothing of the session.
    let Some(_site) = Site::on(port) else { return };
    let echo = call(&servers, "s__echo", json!({ "message": "b" })).await.unwrap();
    assert_eq!(echo.text(), "Echo: b");
    servers.shut_down().await;
}

#[tokio::test]
async fn everything_is_cancelled_and_killed_in_mid_call() {
    let Some(command) = installed("LETTERPRESS_MCP_EVERYTHING") else { return };
    // It takes no notice of a second argument, by which it is found again.
    let mark = format!("mark-{:?}", std::thread::current().id());
    let servers = started(json!({ "command": command, "args": ["stdio", mark] })).await;
    let running = long_call(&servers).await;
    let begun = Instant::now();
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    assert!(begun.elapsed() < Duration::from_millis(200), "{:?}", begun.elapsed());
    assert_eq!(
        call(&servers, "s__echo", json!({ "message": "a" })).await.unwrap().text(),
        "Echo: a"
    );

    let running = long_call(&servers).await;
    kill_child_with(&mark);
    let error = running.await.unwrap().unwrap_err();
    assert!(matches!(&error, CallError::Ended(why) if why.contains("signal 9")), "{error:?}");
    let echo = call(&servers, "s__echo", json!({ "message": "b" })).await.unwrap();
    assert_eq!(echo.text(), "Echo: b");
    until(&servers, "s", |state| *state == ServerState::Ready).await;
    servers.shut_down().await;
}

/// A call that takes ten minutes, once it has begun.
async fn long_call(servers: &Servers) -> JoinHandle<Result<CallOutcome, CallError>> {
    let servers = servers.clone();
    let (progress, mut heard) = watch::channel(None);
    let call = tokio::spawn(async move {
        let wish = json!({ "duration": 600, "steps": 6000 });
        servers.call("s__trigger-long-running-operation", wish, progress).await
    });
    heard.changed().await.unwrap();
    call
}

/// Kills the child of this process whose command line holds this mark.
fn kill_child_with(mark: &str) {
    let listed = Command::new("ps").args(["-axo", "pid=,ppid=,args="]).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let us = std::process::id().to_string();
    let child = listed.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let (pid, parent) = (words.next()?, words.next()?);
        (parent == us && line.contains(mark)).then(|| pid.to_owned())
    });
    let pid = child.expect("the server is a child of this process");
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
}

#[tokio::test]
async fn everything_changed_between_two_runs() {
    let Some(servers) = everything().await else { return };
    let mut pins = servers.pins();
    servers.shut_down().await;
    // What was accepted then is not what it is now.
    let command = installed("LETTERPRESS_MCP_EVERYTHING").unwrap();
    let entry = json!({ "s": { "command": command, "args": ["stdio"] } });
    let tools = &mut pins.servers.get_mut("s").unwrap().tools;
    let old = tools["get-sum"].clone();
    tools.get_mut("echo").unwrap().sha256 = old.sha256;
    tools.remove("get-tiny-image");
    let later = super::bench::servers(entry, pins, limits());
    for tool in ["s__echo", "s__get-tiny-image"] {
        later.start("s").await.unwrap();
        let error = call(&later, tool, json!({ "message": "a" })).await.unwrap_err();
        assert!(matches!(error, CallError::ToolNotAccepted { .. }), "{error:?}");
    }
    assert!(call(&later, "s__get-sum", json!({ "a": 1, "b": 2 })).await.is_ok());
    let status = later.overview()[0].clone();
    let standing = |name: &str| {
        status.tools.iter().find(|tool| &*tool.definition.name == name).unwrap().standing.clone()
    };
    assert_eq!(standing("get-tiny-image"), Standing::New);
    assert_eq!(standing("echo"), Standing::Moved);
    later.shut_down().await;
}

#[tokio::test]
async fn files_are_read_and_written_where_they_may() {
    let Some(command) = installed("LETTERPRESS_MCP_FILESYSTEM") else { return };
    let folder = tempfile::tempdir().unwrap();
    let inside = fs::canonicalize(folder.path()).unwrap();
    fs::write(inside.join("a.txt"), "one\ntwo\n").unwrap();
    let servers = started(json!({ "command": command, "args": [inside] })).await;
    let at = |name: &str| inside.join(name);
    let listed = call(&servers, "s__list_directory", json!({ "path": inside })).await.unwrap();
    assert!(listed.text().contains("[FILE] a.txt"), "{}", listed.text());
    let read = call(&servers, "s__read_text_file", json!({ "path": at("a.txt") })).await.unwrap();
    assert!(read.text().starts_with("one\ntwo\n"), "{}", read.text());
    let wish = json!({ "path": at("b.txt"), "content": "three" });
    call(&servers, "s__write_file", wish).await.unwrap();
    assert_eq!(fs::read_to_string(at("b.txt")).unwrap(), "three");
    let outside =
        call(&servers, "s__read_text_file", json!({ "path": "/etc/passwd" })).await.unwrap();
    assert!(outside.is_error, "{outside:?}");
    let missing = call(&servers, "s__read_text_file", json!({ "path": at("c") })).await.unwrap();
    assert!(missing.is_error);
    assert_eq!(servers.resources("s").await.unwrap(), [], "it has none, and is not asked");
    assert_eq!(servers.prompts("s").await.unwrap(), []);
    servers.shut_down().await;
}

#[tokio::test]
async fn time_is_told() {
    let Some(command) = installed("LETTERPRESS_MCP_TIME") else { return };
    let servers = started(json!({ "command": command })).await;
    let now = call(&servers, "s__get_current_time", json!({ "timezone": "Europe/Berlin" })).await;
    let now = now.unwrap();
    assert!(!now.is_error && now.text().contains("Europe/Berlin"), "{}", now.text());
    let wish = json!({
        "source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "Asia/Kolkata",
    });
    let converted = call(&servers, "s__convert_time", wish).await.unwrap();
    assert!(converted.text().contains("-3.5h"), "{}", converted.text());
    let wrong = call(&servers, "s__get_current_time", json!({ "timezone": "Moon/Crater" })).await;
    assert!(wrong.unwrap().is_error);
    servers.shut_down().await;
}

#[tokio::test]
async fn a_repository_is_looked_into() {
    let Some(command) = installed("LETTERPRESS_MCP_GIT") else { return };
    let folder = tempfile::tempdir().unwrap();
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args);
        assert!(git.current_dir(folder.path()).output().unwrap().status.success());
    };
    git(&["init", "-q"]);
    fs::write(folder.path().join("a"), "one\n").unwrap();
    git(&["add", "a"]);
    git(&["commit", "-q", "-m", "Begin"]);
    fs::write(folder.path().join("a"), "two\n").unwrap();
    let servers = started(json!({ "command": command })).await;
    let here = json!({ "repo_path": folder.path() });
    let status = call(&servers, "s__git_status", here.clone()).await.unwrap();
    assert!(status.text().contains("modified"), "{}", status.text());
    let diff = call(&servers, "s__git_diff_unstaged", here.clone()).await.unwrap();
    assert!(diff.text().contains("-one\n+two"), "{}", diff.text());
    let log = call(&servers, "s__git_log", here).await.unwrap();
    assert!(log.text().contains("Begin"), "{}", log.text());
    let nowhere = json!({ "repo_path": "/nowhere" });
    let outcome = call(&servers, "s__git_status", nowhere).await.unwrap();
    assert!(outcome.is_error);
    servers.shut_down().await;
}

/// server-everything as a server of HTTP, ended when this is dropped.
struct Site {
    child: Child,
    url: String,
    port: u16,
}

impl Site {
    fn start() -> Option<Self> {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        Self::on(port)
    }

    fn on(port: u16) -> Option<Self> {
        let program = PathBuf::from(installed("LETTERPRESS_MCP_EVERYTHING")?);
        let mut command = Command::new(program);
        command.arg("streamableHttp").env("PORT", port.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let site = Self { child, url: format!("http://127.0.0.1:{port}/mcp"), port };
        let mut lines = stderr.lines();
        assert!(lines.any(|line| line.unwrap().contains("listening")), "it did not start");
        // It must not be stopped by a full pipe.
        let drain = std::thread::Builder::new().name("stderr".into());
        drain.spawn(move || lines.for_each(drop)).unwrap();
        Some(site)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
