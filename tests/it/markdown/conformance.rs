//! The examples of the `CommonMark` specification.
//!
//! They are not in this repository: `LETTERPRESS_COMMONMARK` names a folder that holds
//! `spec.json`, or `spec.txt` as the npm package `commonmark-spec` ships it.

use std::path::{Path, PathBuf};

use letterpress::markdown::{Options, parse};
use pulldown_cmark::{Event, Parser};

use super::dump;

struct Example {
    number: usize,
    section: String,
    markdown: String,
    html: String,
}

/// Examples whose visible text differs on purpose.
const DEVIATIONS: &[(usize, &str)] = &[
    (12, "an escaped opening and an escaped closing bracket delimit a formula"),
    (581, "an image without alternative text is shown by its file name"),
];

fn examples() -> Option<Vec<Example>> {
    let folder = PathBuf::from(std::env::var_os("LETTERPRESS_COMMONMARK")?);
    let json = folder.join("spec.json");
    let text = [folder.join("spec.txt"), folder.join("package/spec.txt")];
    if json.exists() {
        return Some(from_json(&std::fs::read_to_string(json).unwrap()));
    }
    let text = text.iter().find(|path| path.exists()).map(PathBuf::as_path);
    Some(from_text(
        &std::fs::read_to_string(text.unwrap_or_else(|| Path::new("spec.txt"))).unwrap(),
    ))
}

fn from_json(json: &str) -> Vec<Example> {
    let all: Vec<serde_json::Value> = serde_json::from_str(json).unwrap();
    let string = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    all.iter()
        .map(|example| Example {
            number: example["example"].as_u64().unwrap() as usize,
            section: string(&example["section"]),
            markdown: string(&example["markdown"]),
            html: string(&example["html"]),
        })
        .collect()
}

fn from_text(spec: &str) -> Vec<Example> {
    let fence = "`".repeat(32);
    let opening = format!("{fence} example");
    let (mut examples, mut section) = (Vec::new(), String::new());
    let mut lines = spec.lines();
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("# ").or_else(|| line.strip_prefix("## ")) {
            section = title.to_owned();
        }
        if line != opening {
            continue;
        }
        let mut part = |end: &str| {
            let body = lines.by_ref().take_while(|line| *line != end);
            body.map(|line| line.replace('→', "\t") + "\n").collect::<String>()
        };
        let (markdown, html) = (part("."), part(&fence));
        let number = examples.len() + 1;
        examples.push(Example { number, section: section.clone(), markdown, html });
    }
    examples
}

/// Quotes as entities or not, and newlines between tags, make no difference.
fn normalised(html: &str) -> String {
    let html = html.replace("&quot;", "\"");
    let lines = html.lines().collect::<Vec<_>>().join("\n");
    lines.replace(">\n<", "><").trim().to_owned()
}

#[test]
fn the_parser_gives_the_html_of_the_specification() {
    let Some(examples) = examples() else {
        println!("skipped: LETTERPRESS_COMMONMARK is not set");
        return;
    };
    assert!(examples.len() >= 652, "{} examples", examples.len());
    for example in &examples {
        let mut html = String::new();
        pulldown_cmark::html::push_html(&mut html, Parser::new(&example.markdown));
        assert_eq!(normalised(&html), normalised(&example.html), "example {}", example.number);
    }
}

#[test]
fn the_blocks_show_the_text_of_the_specification() {
    let Some(examples) = examples() else {
        println!("skipped: LETTERPRESS_COMMONMARK is not set");
        return;
    };
    let mut differing = Vec::new();
    for example in &examples {
        let blocks = parse(&example.markdown, Options::default());
        dump::check(&blocks);
        let ours = words(&dump::visible(&blocks));
        let html = with_raw_html_shown(example);
        let theirs = words(&visible_text(html.as_deref().unwrap_or(&example.html)));
        if ours != theirs {
            let Example { number, section, markdown, .. } = example;
            println!("{number} ({section}): {markdown:?}\n  ours   {ours}\n  theirs {theirs}");
            differing.push(*number);
        }
    }
    let expected: Vec<usize> = DEVIATIONS.iter().map(|(number, _)| *number).collect();
    assert_eq!(differing, expected);
}

/// The example's HTML as it is when raw HTML is text, for examples that hold some: the one rule
/// of ours that the specification does not share.
fn with_raw_html_shown(example: &Example) -> Option<String> {
    let events: Vec<_> = Parser::new(&example.markdown).collect();
    let is_raw = |event: &Event<'_>| matches!(event, Event::Html(_) | Event::InlineHtml(_));
    events.iter().any(is_raw).then(|| {
        let shown = events.into_iter().map(|event| match event {
            Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
            other => other,
        });
        let mut html = String::new();
        pulldown_cmark::html::push_html(&mut html, shown);
        html
    })
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of an HTML document: tags go, an image leaves its alternative text.
fn visible_text(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some((text, tag)) = rest.split_once('<') {
        out.push_str(&decoded(text));
        let (tag, after) = tag.split_once('>').unwrap_or((tag, ""));
        if let Some(alt) = tag.strip_prefix("img ").and_then(|tag| tag.split("alt=\"").nth(1)) {
            out.push_str(&decoded(alt.split('"').next().unwrap()));
        }
        let inline = ["a", "/a", "em", "/em", "strong", "/strong", "code", "/code", "img"];
        if !inline.contains(&tag.split(' ').next().unwrap()) {
            out.push('\n');
        }
        rest = after;
    }
    out + &decoded(rest)
}

fn decoded(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}
