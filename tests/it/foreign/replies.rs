//! aimock on all five wires: texts, reasoning, calls, blocks, usage, pictures, pace.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{
    fixtures::{content, expected, fixtures, usage},
    program::{CHAT, OLLAMA, RESPONSES, Told, WIRES, ask},
    server::Server,
};

#[test]
fn replies_come_out_as_the_server_has_them() {
    let Some(server) = Server::aimock() else { return };
    let prompts = [
        ("page", "Set a page"),
        ("thought", "Think first"),
        ("tools", "Use two tools"),
        ("blocks", "Speak between the calls"),
        ("call-first", "Call before you speak"),
    ];
    for wire in WIRES {
        for (name, prompt) in prompts {
            let name = format!("{name}-{}", wire.provider);
            let run = ask(wire, &server.address, &name, "set-in-type", &[prompt]);
            let fixtures = fixtures(prompt);
            run.assert_complete("stop");
            assert_eq!(run.told(), expected(&fixtures), "{name}: {run:?}");
            assert_eq!(run.warnings(), [""; 0], "{name}: {run:?}");
            assert_eq!(run.end()["message"]["model"], "set-in-type", "{name}");
            if let Some(sum) = usage(&fixtures) {
                // For Ollama it counts nothing, whatever the fixture says.
                let sum = (wire.provider != OLLAMA.provider).then_some(sum);
                assert_eq!(run.usage(), sum, "{name}: {run:?}");
            }
            assert_rounds(&server.journal(&name), &fixtures, &name);
        }
    }
}

/// Each reply had one request, and each request after the first tells the whole story.
fn assert_rounds(journal: &[Value], fixtures: &[Value], name: &str) {
    assert_eq!(journal.len(), fixtures.len(), "{name}: {journal:?}");
    for (round, request) in journal.iter().enumerate() {
        assert_eq!(request["response"]["status"], 200, "{name}");
        assert_eq!(request["body"]["stream"], true, "{name}");
        if round == 0 {
            continue;
        }
        let messages = request["body"]["messages"].as_array().unwrap();
        let of_role = |role: &'static str| messages.iter().filter(move |m| m["role"] == role);
        let calls = of_role("assistant").flat_map(|m| m["tool_calls"].as_array()).flatten();
        let calls: Vec<_> = calls.map(|call| &call["function"]["name"]).collect();
        let known = expected(&fixtures[..round]);
        let known: Vec<_> = known
            .iter()
            .filter_map(|told| match told {
                Told::Call(name, _) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(calls, known, "{name}: {messages:?}");
        assert_eq!(of_role("tool").count(), calls.len(), "{name}: {messages:?}");
        assert!(of_role("tool").all(|m| m["content"].as_str().unwrap().contains("no tool")));
    }
}

#[test]
fn a_reply_without_room_and_calls_without_end_stop() {
    let Some(server) = Server::aimock() else { return };
    for wire in WIRES {
        let name = format!("again-{}", wire.provider);
        let run = ask(wire, &server.address, &name, "set-in-type", &["Call without end"]);
        let rounds = server.journal(&name).len();
        assert!((2..=16).contains(&rounds), "{name}: {rounds} requests");
        let calls = run.told().iter().filter(|told| **told == Told::NoTool).count();
        assert_eq!(calls, rounds, "{name}: every call is answered: {run:?}");

        let name = format!("length-{}", wire.provider);
        let run = ask(wire, &server.address, &name, "set-in-type", &["Stop in the middle"]);
        // aimock has no word for it where Ollama would, and calls the response complete
        // where OpenAI would not.
        let is_told = ![OLLAMA.provider, RESPONSES.provider].contains(&wire.provider);
        run.assert_complete(if is_told { "length" } else { "stop" });
        assert_eq!(run.text(), content("Stop in the middle"), "{name}");
    }
}

/// aimock cuts texts between the halves of characters, as programs in JavaScript do.
#[test]
fn halves_of_characters_cost_only_themselves() {
    let Some(server) = Server::aimock() else { return };
    let prompt = "Cut characters in two";
    let whole = content(prompt);
    let units: Vec<_> = whole.encode_utf16().collect();
    let halves: String = units.chunks(4).map(String::from_utf16_lossy).collect();
    assert_ne!(halves, whole);
    for wire in WIRES {
        let name = format!("halves-{}", wire.provider);
        let run = ask(wire, &server.address, &name, "set-in-type", &[prompt]);
        run.assert_complete("stop");
        assert!(run.warnings().contains(&"bad_surrogate"), "{name}: {run:?}");
        let text = run.end()["message"]["parts"].as_array().unwrap().last().unwrap();
        // Only this wire says the whole text once more.
        let is_told_whole = wire.provider == RESPONSES.provider;
        assert_eq!(text["text"], *if is_told_whole { &whole } else { &halves }, "{name}");
    }
}

#[test]
fn pictures_arrive() {
    let Some(server) = Server::aimock() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("square.png");
    image::RgbImage::from_fn(32, 32, |x, y| image::Rgb([x as u8 * 7, y as u8 * 5, (x * y) as u8]))
        .save(&path)
        .unwrap();
    let encoded = STANDARD.encode(std::fs::read(&path).unwrap());
    for wire in WIRES {
        let name = format!("picture-{}", wire.provider);
        let more = ["--image", path.to_str().unwrap(), "Look at the picture"];
        let run = ask(wire, &server.address, &name, "set-in-type", &more);
        run.assert_complete("stop");
        assert_eq!(run.text(), content("Look at the picture"), "{name}");
        let journal = server.journal(&name);
        assert_eq!(journal.len(), 1, "{name}");
        // It keeps the whole request for one wire, and for the others its length.
        let length = journal[0]["headers"]["content-length"].as_str().unwrap();
        assert!(length.parse::<usize>().unwrap() > encoded.len(), "{name}: {length}");
        if wire.provider == CHAT.provider {
            let parts = journal[0]["body"]["messages"][0]["content"].as_array().unwrap();
            let address = format!("data:image/png;base64,{encoded}");
            assert!(parts.iter().any(|part| part["image_url"]["url"] == json!(address)));
        }
    }
}

/// What is told follows the server's pace, piece by piece.
#[test]
fn a_slow_reply_is_told_while_it_comes() {
    let Some(server) = Server::aimock() else { return };
    let prompt = "Take your time";
    for wire in WIRES {
        let name = format!("pace-{}", wire.provider);
        let run = ask(wire, &server.address, &name, "set-in-type", &[prompt]);
        run.assert_complete("stop");
        assert_eq!(run.text(), content(prompt), "{name}");
        let times = run.text_times();
        let (first, last) = (times[0], times[times.len() - 1]);
        // 400 ms, less or more by 30 %, and 20 ms for each of 41 pieces, likewise.
        assert!(first >= Duration::from_millis(280), "{name}: {times:?}");
        assert!(last - first >= Duration::from_millis(350), "{name}: {times:?}");
        assert!(times.len() >= 8, "{name}: {times:?}");
    }
}
