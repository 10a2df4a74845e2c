//! What comes once and in order: standard input, and addresses that drop and come back.

use std::{
    io::{self, Read, Write as _},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    time::Duration,
};

use letterpress::{
    engine::follow::{Config, Following, Wanted},
    model::activity::Link,
    wire::FeedLimits,
};

use super::{HEADER, Wall, is_lost, prompt, said, session, waker};
use crate::bed_server::{Answer, Server};

/// Input that comes when the test says so.
struct Pipe(Receiver<Vec<u8>>, Vec<u8>);

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.1.is_empty() {
            let Ok(bytes) = self.0.recv() else { return Ok(0) };
            self.1 = bytes;
        }
        let count = self.1.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.1[..count]);
        self.1.drain(..count);
        Ok(count)
    }
}

fn piped(config: Config) -> (Wall, SyncSender<Vec<u8>>) {
    let (pipe, end) = sync_channel(16);
    let (waker, woken, wakes) = waker();
    let input = move || Box::new(Pipe(end, Vec::new())) as Box<dyn Read + Send>;
    let following = Following::start_with(vec![Wanted::Stdin], input, waker, config);
    let following = following.expect("something to follow");
    (Wall { following, woken, wakes }, pipe)
}

#[test]
fn standard_input_is_shown_line_by_line() {
    let (mut wall, pipe) = piped(Config::default());
    let text = session(&["one", "zwei – 二"]);
    for piece in text.as_bytes().chunks(11) {
        pipe.send(piece.to_vec()).unwrap();
    }
    wall.until_said("one zwei – 二");
    assert_eq!(&*wall.only().origin().name, "standard input");
    let line = prompt("x", "zwei – 二", "last");
    pipe.send(line.trim_end().as_bytes().to_vec()).unwrap();
    drop(pipe);
    wall.until_said("one zwei – 二 last");
    wall.until("it has ended", |f| f.conversations().all(|one| is_lost(one)));
}

#[test]
fn claude_code_on_standard_input_is_told_by_its_lines() {
    let (mut wall, pipe) = piped(Config::default());
    pipe.send(b"{\"type\":\"summary\",\"summary\":\"Title\",\"leafUuid\":\"u\"}\n".to_vec())
        .unwrap();
    pipe.send(b"{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,\"isSidechain\":false,\"sessionId\":\"s\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n".to_vec()).unwrap();
    wall.until("it is shown", |f| f.conversations().all(|one| said(one).ends_with("hi")));
    wall.until("its title", |f| f.conversations().all(|one| &*one.title() == "Title"));
}

#[test]
fn what_cannot_be_kept_is_dropped_and_said() {
    let config = Config { spool_bytes: 64 * 1024, ..Config::default() };
    let (mut wall, pipe) = piped(config);
    pipe.send(HEADER.as_bytes().to_vec()).unwrap();
    let mut parent = String::new();
    for number in 0..3_000 {
        let id = format!("w{number}");
        pipe.send(prompt(&id, &parent, &id).into_bytes()).unwrap();
        parent = id;
    }
    wall.until("the newest", |f| f.conversations().all(|one| said(one).ends_with(" w2999")));
    wall.until("what is missing is said", |f| {
        f.conversations().all(|one| {
            let words = said(one);
            words.starts_with("(") || words.contains("earlier lines")
        })
    });
    assert!(wall.only().source().len() < 1_000);
    // A line longer than all that is kept costs only itself.
    pipe.send(prompt("huge", &parent, &"x".repeat(200_000)).into_bytes()).unwrap();
    pipe.send(prompt("end", &parent, "end").into_bytes()).unwrap();
    wall.until("the end", |f| f.conversations().all(|one| said(one).ends_with(" end")));
    assert!(wall.said().contains("too long to be kept"));
}

fn quick() -> Config {
    let pause = Duration::from_millis(20);
    Config { feed: FeedLimits { pause, ..FeedLimits::default() }, ..Config::default() }
}

fn at(server: &Server) -> Wall {
    Wall::of(vec![Wanted::Url(server.url("/feed").parse().expect("an address"))], quick())
}

fn event(id: &str, data: &str) -> Vec<u8> {
    format!("id: {id}\ndata: {}\n\n", data.trim_end()).into_bytes()
}

#[test]
fn events_that_break_off_go_on_from_the_last_one() {
    let mut server = Server::new();
    let mut wall = at(&server);
    server.answer(&Answer::head(200, "content-type: text/event-stream\r\n"));
    server.send(b"retry: 15\n");
    server.send(&event("1", HEADER));
    server.send(&event("2", &prompt("one", "", "one")));
    wall.until_said("one");
    let torn = event("3", &prompt("two", "one", "two"));
    server.send(&torn[..20]);
    server.reset();
    wall.until("it is lost", |f| f.conversations().all(|one| is_lost(one)));
    assert_eq!(wall.said(), "one", "what came stays");
    let request = server.answer(&Answer::head(200, "content-type: text/event-stream\r\n"));
    assert!(request.contains("last-event-id: 2\r\n"), "{request}");
    wall.until("it is live", |f| f.conversations().all(|one| *one.link() == Link::Live));
    server.send(&torn);
    server.send(&event("4", &prompt("three", "two", "three")));
    wall.until_said("one two three");
}

#[test]
fn events_that_come_again_are_shown_once() {
    let mut server = Server::new();
    let mut wall = at(&server);
    let all = [HEADER.to_owned(), prompt("one", "", "one"), prompt("two", "one", "two")];
    for round in 0..3 {
        server.answer(&Answer::head(200, "content-type: text/event-stream\r\n"));
        for line in &all {
            server.send(format!(": alive\n\ndata: {}\n\n", line.trim_end()).as_bytes());
        }
        wall.until_said("one two");
        assert_eq!(wall.only().lines_read(), 3, "round {round}");
        server.close();
        wall.until("it is lost", |f| f.conversations().all(|one| is_lost(one)));
    }
    server.answer(&Answer::head(200, "content-type: text/event-stream\r\n"));
    for line in &all {
        server.send(format!("data: {}\n\n", line.trim_end()).as_bytes());
    }
    server.send(format!("data: {}\n\n", prompt("three", "two", "three").trim_end()).as_bytes());
    wall.until_said("one two three");
    assert_eq!(wall.only().lines_read(), 4);
}

#[test]
fn lines_are_asked_for_from_where_they_ended() {
    let mut server = Server::new();
    let mut wall = at(&server);
    let first = session(&["one"]);
    server.answer(&Answer::whole(200, "", first.as_bytes()));
    wall.until_said("one");
    let from = first.len() - 64;
    let more = format!("{first}{}", prompt("two", "one", "two"));
    let range = format!("content-range: bytes {from}-{}/{}\r\n", more.len() - 1, more.len());
    let request = server.answer(&Answer::whole(206, &range, &more.as_bytes()[from..]));
    assert!(request.contains(&format!("range: bytes={from}-\r\n")), "{request}");
    wall.until_said("one two");
    assert_eq!(*wall.only().link(), Link::Live, "an end of lines is no loss");
    // Another resource in its place is noticed by what stood before.
    let other = session(&["alpha", "beta", "gamma"]);
    let from = more.len() - 64;
    let range = format!("content-range: bytes {from}-{}/{}\r\n", other.len() - 1, other.len());
    server.answer(&Answer::whole(206, &range, &other.as_bytes()[from..]));
    let request = server.answer(&Answer::whole(200, "", other.as_bytes()));
    assert!(!request.contains("range:"), "{request}");
    wall.until("the new words", |f| f.conversations().all(|one| said(one).contains("gamma")));
}

#[test]
fn a_server_without_ranges_sends_all_again() {
    let mut server = Server::new();
    let mut wall = at(&server);
    server.answer(&Answer::whole(200, "", session(&["one"]).as_bytes()));
    wall.until_said("one");
    server.answer(&Answer::whole(200, "", session(&["one", "two"]).as_bytes()));
    wall.until_said("one two");
    assert_eq!(wall.only().lines_read(), 3, "nothing twice");
}

#[test]
fn a_server_that_is_down_or_refuses_is_lost_until_it_is_back() {
    let mut server = Server::new();
    let mut wall = at(&server);
    server.answer(&Answer::whole(503, "", b"busy"));
    wall.until("it is lost", |f| f.conversations().all(|one| is_lost(one)));
    let Link::Lost { why, .. } = wall.only().link().clone() else { panic!("lost") };
    assert_eq!(&*why, "the server answers 503: Service Unavailable");
    server.answer(&Answer::whole(200, "content-type: text/html\r\n", b"<p>no</p>"));
    server.answer(&Answer::whole(302, "location: https://elsewhere.invalid/\r\n", b""));
    wall.until("it has moved", |f| {
        f.conversations()
            .all(|one| matches!(one.link(), Link::Lost { why, .. } if why.contains("another host")))
    });
    server.answer(&Answer::whole(302, "location: /there\r\n", b""));
    let request = server.answer(&Answer::whole(200, "", session(&["one"]).as_bytes()));
    assert!(request.starts_with("GET /there HTTP/1.1\r\n"), "{request}");
    wall.until_said("one");
    assert_eq!(*wall.only().link(), Link::Live);
}

#[test]
fn secrets_of_an_address_are_not_shown() {
    let server = Server::new();
    let url = server.url("/feed?token=hush").replace("http://", "http://me:hush@");
    let mut wall = Wall::of(vec![Wanted::Url(url.parse().unwrap())], quick());
    let only = wall.only();
    let shown = format!("{:?} {:?}", only.origin(), only.title());
    assert!(!shown.contains("hush") && !shown.contains("me@"), "{shown}");
    assert!(wall.following.watched().all(|place| !place.contains("hush")));
    io::stderr().flush().ok();
}
