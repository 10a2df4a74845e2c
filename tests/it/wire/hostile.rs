//! Bytes that mean harm, or mean nothing at all: bounded time, bounded memory, one end.

use std::sync::Arc;

use letterpress::{
    model::stream::{EndState, ErrorClass, StreamEvent, Wire},
    wire::{
        BodyEnd, Head, Reply, ReplySource,
        frame::{JsonFramer, LINE_LIMIT, LineEnds, Lines, SseFrame, SseFramer},
    },
};
use serde_json::json;

use super::told::{Chance, Told, read};

fn source(wire: Wire) -> ReplySource {
    ReplySource { wire, host: Arc::from("host"), seed: 0 }
}

fn head(content_type: &str) -> Head {
    Head::read(200, |name| (name == "content-type").then_some(content_type), 0)
}

/// Pieces of what streams are made of, in no order.
const SOUP: &[&str] = &[
    "data: ",
    "data:",
    "event: error",
    "event: message_stop",
    ":",
    ": ping",
    "error: {",
    "id: 1",
    "\n",
    "\n\n",
    "\r",
    "\r\n",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    ",",
    "null",
    "0",
    "-1",
    "1e999",
    "\u{feff}",
    "é",
    "[DONE]",
    "\\ud83d",
    "{\"choices\":[{\"index\":0,\"delta\":",
    "{\"content\":\"a\"}}]}",
    "{\"tool_calls\":[{\"index\":4294967295,\"function\":{\"name\":\"f\"}}]}}]}",
    "{\"type\":\"content_block_start\",\"index\":18446744073709551615,\"content_block\":{\"type\":\"tool_use\"}}",
    "{\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}",
    "{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"b\"}]}}",
    "{\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"delta\":\"a\"}",
    "{\"message\":{\"content\":\"a\",\"tool_calls\":[{\"function\":{\"name\":\"g\",\"arguments\":\"{\"}}]},\"done\":false}",
    "{\"candidates\":[{\"content\":{\"parts\":[{\"thoughtSignature\":\"s\"},{\"text\":\"t\"}]}}]}",
    "{\"error\":[]}",
    "{\"error\":true}",
    "<html>",
    "\u{0}",
];

#[test]
fn any_soup_ends_once_and_is_read_alike_in_any_cut() {
    let mut chance = Chance(1);
    for round in 0..3000 {
        let mut bytes = Vec::new();
        for _ in 0..chance.below(40) {
            bytes.extend_from_slice(SOUP[chance.below(SOUP.len())].as_bytes());
            if chance.below(30) == 0 {
                bytes.push(0xFF);
            }
        }
        let wire = Wire::ALL[chance.below(5)];
        let types =
            ["text/event-stream", "application/json", "application/x-ndjson", "", "text/html"];
        let head = head(types[chance.below(5)]);
        let ends =
            [BodyEnd::Eof, BodyEnd::Broken("reset".into()), BodyEnd::Stalled, BodyEnd::Cancelled];
        let end = ends[chance.below(4)].clone();
        let whole = read(&source(wire), &head, &[&bytes], end.clone());
        Told::of(&whole);
        let cut = chance.cut(&bytes);
        let again = read(&source(wire), &head, &cut, end);
        assert_eq!(again, whole, "round {round}: {:?}", String::from_utf8_lossy(&bytes));
    }
}

/// The rules for server-sent events once more, over the whole text at once.
fn sse_by_the_book(bytes: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(bytes);
    let text =
        text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n").replace('\r', "\n");
    let (mut events, mut name, mut data) = (Vec::new(), String::new(), None::<String>);
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    for line in whole.split('\n') {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" if line.is_empty() => {
                if let Some(data) = data.take() {
                    let name = if name.is_empty() { "message".into() } else { name.clone() };
                    events.push((name, data));
                }
                name.clear();
            }
            "event" => value.clone_into(&mut name),
            "data" => {
                data = Some(data.map_or_else(|| value.to_owned(), |d| d + "\n" + value));
            }
            _ => {}
        }
    }
    events
}

#[test]
fn sse_framing_equals_the_book_on_soup() {
    let mut chance = Chance(2);
    for _ in 0..20_000 {
        let mut bytes = Vec::new();
        for _ in 0..chance.below(24) {
            bytes.extend_from_slice(SOUP[chance.below(16)].as_bytes());
        }
        let mut framer = SseFramer::new();
        let mut frames = Vec::new();
        for piece in chance.cut(&bytes) {
            framer.feed(piece, &mut frames).unwrap();
        }
        let events: Vec<_> = frames
            .into_iter()
            .filter_map(|frame| match frame {
                SseFrame::Event(event) => Some((event.name, event.data)),
                _ => None,
            })
            .collect();
        assert_eq!(events, sse_by_the_book(&bytes), "{:?}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn a_line_without_end_is_refused_and_what_came_is_kept() {
    let mut reply = Reply::new(&source(Wire::Chat), head("text/event-stream"));
    let mut events = Vec::new();
    reply.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"kept\"}}]}\n\ndata: ", &mut events);
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..LINE_LIMIT >> 20 {
        reply.feed(&piece, &mut events);
    }
    assert!(reply.is_over());
    let told = Told::of(&events);
    assert_eq!((told.text.as_str(), told.error().class), ("kept", ErrorClass::TooLarge));
}

#[test]
fn every_framer_has_a_limit() {
    let piece = vec![b'1'; 4 << 20];
    let mut lines = Lines::new(LineEnds::Lf);
    assert!((0..5).any(|_| lines.feed(&piece, |_| ()).is_err()));
    let mut json = JsonFramer::new();
    assert!((0..9).any(|_| json.feed(&piece, |_| ()).is_err()));
    let mut sse = SseFramer::new();
    let line = [b"data: ".as_slice(), &piece, b"\n"].concat();
    assert!((0..9).any(|_| sse.feed(&line, &mut Vec::new()).is_err()));
}

#[test]
fn an_error_page_of_any_size_is_read_in_part() {
    let mut reply = Reply::new(&source(Wire::Chat), Head { status: 500, ..Head::default() });
    let mut events = Vec::new();
    reply.feed(&vec![b'a'; 1 << 20], &mut events);
    assert!(reply.has_enough());
    reply.finish(BodyEnd::Eof, &mut events);
    let told = Told::of(&events);
    assert!(told.error().message.len() <= 2000);
}

#[test]
fn errors_are_understood_in_any_dress() {
    let cases = [
        (400, "{\"error\":\"plain words\"}", ErrorClass::BadRequest, "plain words"),
        (422, "{\"detail\":\"no such field\"}", ErrorClass::BadRequest, "no such field"),
        (401, "{\"message\":\"who are you\"}", ErrorClass::Auth, "who are you"),
        (
            404,
            "[{\"error\":{\"status\":\"NOT_FOUND\",\"message\":\"m\"}}]",
            ErrorClass::NotFound,
            "m",
        ),
        (
            500,
            "data: {\"error\":{\"message\":\"framed\"}}\n\ndata: [DONE]\n\n",
            ErrorClass::Server,
            "framed",
        ),
        (500, "event: error\ndata: {\"error\":\"cut\"}", ErrorClass::Server, "cut"),
        (503, "upstream is\ngone", ErrorClass::Overloaded, "upstream is gone"),
        (
            502,
            "<HTML><Title>\n Bad\n  Gateway</title>",
            ErrorClass::ProxyHtml,
            "HTTP 502: Bad Gateway",
        ),
        (418, "", ErrorClass::BadRequest, "HTTP 418"),
        (
            400,
            "{\"error\":{\"message\":\"torn",
            ErrorClass::BadRequest,
            "{\"error\":{\"message\":\"torn",
        ),
        (
            400,
            "{\"error\":{\"message\":\"prompt is too long\"}}",
            ErrorClass::ContextLength,
            "prompt is too long",
        ),
        (
            429,
            "{\"error\":{\"code\":429,\"message\":\"Provider error\",\"metadata\":{\"raw\":\"busy\"}}}",
            ErrorClass::RateLimit,
            "Provider error: busy",
        ),
    ];
    for (status, body, class, message) in cases {
        let head = Head { status, ..Head::default() };
        let events = read(&source(Wire::Chat), &head, &[body.as_bytes()], BodyEnd::Eof);
        let told = Told::of(&events);
        assert_eq!((told.error().class, &*told.error().message), (class, message), "{body}");
    }
}

#[test]
fn a_bomb_is_stopped_by_the_limit_of_the_body() {
    use std::io::Write as _;
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let line = [vec![b'x'; (1 << 20) - 1], vec![b'\n']].concat();
    for _ in 0..600 {
        bomb.write_all(&line).unwrap();
    }
    let bomb = bomb.finish().unwrap();
    let header = |name: &str| match name {
        "content-encoding" => Some("gzip"),
        "content-type" => Some("text/event-stream"),
        _ => None,
    };
    let events = read(&source(Wire::Chat), &Head::read(200, header, 0), &[&bomb], BodyEnd::Eof);
    assert_eq!(Told::of(&events).error().class, ErrorClass::TooLarge);
}

#[test]
fn signs_of_life_alone_end_the_reply_some_time() {
    let body = ":\n".repeat(70_000);
    let events =
        read(&source(Wire::Chat), &head("text/event-stream"), &[body.as_bytes()], BodyEnd::Stalled);
    let told = Told::of(&events);
    assert_eq!((told.error().class, told.keep_alives), (ErrorClass::Protocol, 65_536));
}

#[test]
fn calls_and_their_arguments_are_bounded() {
    let mut body = String::new();
    for index in 0..1000 {
        let call = json!({"index": index, "id": format!("c{index}"), "function": {"name": "f", "arguments": "{}"}});
        let chunk = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
        body += &format!("data: {chunk}\n\n");
    }
    let events =
        read(&source(Wire::Chat), &head("text/event-stream"), &[body.as_bytes()], BodyEnd::Eof);
    let told = Told::of(&events);
    assert_eq!(told.calls.len(), 128);
    assert!(told.warnings.contains(&"too_many_calls"));
    assert!(told.warnings.len() < 20, "warnings of a kind are passed on a few times only");

    let piece = "x".repeat(1 << 20);
    let mut body = String::new();
    for _ in 0..12 {
        let call = json!({"index": 0, "function": {"name": "f", "arguments": piece}});
        body += &format!("data: {}\n\n", json!({"choices": [{"delta": {"tool_calls": [call]}}]}));
    }
    body +=
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
    let events =
        read(&source(Wire::Chat), &head("text/event-stream"), &[body.as_bytes()], BodyEnd::Eof);
    let told = Told::of(&events);
    assert!(told.calls[0].streamed.len() <= 8 << 20);
    assert!(told.calls[0].arguments.is_err());
    assert!(!told.end().tools_may_run());
}

#[test]
fn three_events_in_a_row_that_are_no_json_cost_the_reply() {
    let good = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    let bad = "data: {oh\n\n";
    let body = [good, bad, bad, good, bad, bad].concat();
    let events =
        read(&source(Wire::Chat), &head("text/event-stream"), &[body.as_bytes()], BodyEnd::Eof);
    assert_eq!(Told::of(&events).end(), &EndState::Incomplete);
    let body = [good, bad, bad, bad, good].concat();
    let events =
        read(&source(Wire::Chat), &head("text/event-stream"), &[body.as_bytes()], BodyEnd::Eof);
    let told = Told::of(&events);
    assert_eq!((told.text.as_str(), told.error().class), ("a", ErrorClass::Protocol));
}

#[test]
fn deep_json_is_refused_not_followed() {
    let body = format!("data: {}\n\n", "[".repeat(1 << 20)).repeat(3);
    for wire in Wire::ALL {
        let events =
            read(&source(wire), &head("text/event-stream"), &[body.as_bytes()], BodyEnd::Eof);
        assert_eq!(Told::of(&events).error().class, ErrorClass::Protocol, "{wire:?}");
    }
}

/// Reading costs the same for each byte, whatever the sizes of pieces, lines and arguments.
#[test]
fn a_megabyte_in_small_pieces_is_read_in_linear_time() {
    let long = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n",
        "é".repeat(500_000)
    );
    let mut small = String::new();
    for _ in 0..20_000 {
        let call = json!({"index": 0, "function": {"name": "f", "arguments": "{\"a\":["}});
        small += &format!("data: {}\n\n", json!({"choices": [{"delta": {"tool_calls": [call]}}]}));
    }
    for body in [long, small] {
        let source = source(Wire::Chat);
        let mut reply = Reply::new(&source, head("text/event-stream"));
        let mut events: Vec<StreamEvent> = Vec::new();
        for piece in body.as_bytes().chunks(7) {
            reply.feed(piece, &mut events);
        }
        reply.finish(BodyEnd::Eof, &mut events);
        Told::of(&events);
    }
}
