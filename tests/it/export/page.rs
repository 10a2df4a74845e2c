//! What a page may hold: read by a parser that knows the few elements and attributes that
//! pages are made of, and nothing else.

use std::collections::BTreeMap;

use letterpress::app::export::{Format, Images, Request};

use super::{fixture, run_with};

/// Elements and the attributes that they may have.
const ELEMENTS: &[(&str, &[&str])] = &[
    ("html", &[]),
    ("head", &[]),
    ("meta", &["charset", "http-equiv", "content", "name"]),
    ("title", &[]),
    ("style", &[]),
    ("body", &[]),
    ("header", &[]),
    ("footer", &[]),
    ("article", &["class"]),
    ("aside", &[]),
    ("details", &["class"]),
    ("summary", &[]),
    ("h1", &["dir"]),
    ("h2", &[]),
    ("h3", &["dir"]),
    ("h4", &["dir"]),
    ("h5", &["dir"]),
    ("h6", &["dir"]),
    ("p", &["class", "dir"]),
    ("div", &["class"]),
    ("span", &["class", "style"]),
    ("pre", &["class"]),
    ("code", &["data-language"]),
    ("ul", &[]),
    ("ol", &["start"]),
    ("li", &[]),
    ("blockquote", &["class"]),
    ("table", &[]),
    ("thead", &[]),
    ("tbody", &[]),
    ("tr", &[]),
    ("th", &["class", "dir"]),
    ("td", &["class", "dir"]),
    ("a", &["href", "rel"]),
    ("img", &["alt", "src"]),
    ("hr", &[]),
    ("br", &[]),
    ("strong", &[]),
    ("em", &[]),
    ("del", &[]),
    ("sub", &[]),
    ("sup", &[]),
    ("kbd", &[]),
];
const VOID: &[&str] = &["meta", "img", "hr", "br"];

/// What a page holds.
#[derive(Default)]
struct Page {
    counts: BTreeMap<String, usize>,
    links: Vec<String>,
    images: Vec<String>,
    text: String,
}

/// Reads a page strictly: every element known, closed in its order, every attribute known
/// and quoted, every reference to a character one of five.
fn read(page: &str) -> Page {
    let mut found = Page::default();
    let mut rest = page.strip_prefix("<!doctype html>").expect("a page");
    let mut open: Vec<&str> = Vec::new();
    while !rest.is_empty() {
        let Some(tag) = rest.strip_prefix('<') else {
            let (text, after) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
            assert!(!text.contains('>') || open.last() == Some(&"style"), "a bare > in {text:?}");
            found.text.push_str(&characters(text));
            rest = after;
            continue;
        };
        if let Some(tag) = tag.strip_prefix('/') {
            let (name, after) = tag.split_once('>').expect("a closing tag ends");
            assert_eq!(open.pop(), Some(name), "elements close in their order");
            rest = after;
            continue;
        }
        let end = tag.find(|c: char| !c.is_ascii_alphanumeric()).expect("a tag ends");
        let (name, attributes) = tag.split_at(end);
        let (_, allowed) = ELEMENTS.iter().find(|(known, _)| *known == name).expect(name);
        rest = read_attributes(name, attributes, allowed, &mut found);
        *found.counts.entry(name.to_owned()).or_default() += 1;
        if name == "style" {
            let (style, after) = rest.split_once("</style>").expect("the style ends");
            assert!(!style.contains("url(") && !style.contains("@import"), "{style}");
            rest = after;
        } else if !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<&str>::new());
    found
}

fn read_attributes<'a>(
    name: &str,
    mut rest: &'a str,
    allowed: &[&str],
    found: &mut Page,
) -> &'a str {
    loop {
        if let Some(after) = rest.strip_prefix('>') {
            return after;
        }
        rest = rest.strip_prefix(' ').expect("attributes are set apart");
        let (attribute, after) = rest.split_once("=\"").expect("attributes are quoted");
        assert!(allowed.contains(&attribute), "{attribute} of {name}");
        let (value, after) = after.split_once('"').expect("values end");
        assert!(!value.contains(['<', '>']), "{value:?}");
        check_value(attribute, &characters(value), found);
        rest = after;
    }
}

fn check_value(attribute: &str, value: &str, found: &mut Page) {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == ' ' || c == '-' || c == '_';
    match attribute {
        "href" => {
            let scheme = value.split(':').next().expect("a scheme");
            assert!(["http", "https", "mailto"].contains(&scheme), "{value}");
            found.links.push(value.to_owned());
        }
        "src" => {
            let kinds = ["png", "jpeg", "gif", "webp"];
            let is_kind = |kind: &str| value.starts_with(&format!("data:image/{kind};base64,"));
            assert!(kinds.iter().any(|kind| is_kind(kind)), "{value}");
            found.images.push(value.to_owned());
        }
        "style" => {
            let color = value.strip_prefix("color:#").expect("only colours");
            assert!(color.len() == 6 && color.chars().all(|c| c.is_ascii_hexdigit()), "{value}");
        }
        "class" => assert!(value.chars().all(is_name), "{value:?}"),
        "http-equiv" => assert_eq!(value, "Content-Security-Policy"),
        _ => {}
    }
}

fn characters(text: &str) -> String {
    let mut read = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        read.push_str(before);
        let (name, after) = after.split_once(';').expect("a reference ends");
        read.push_str(match name {
            "amp" => "&",
            "lt" => "<",
            "gt" => ">",
            "quot" => "\"",
            "#39" => "'",
            _ => panic!("&{name};"),
        });
        rest = after;
    }
    read + rest
}

fn page(name: &str, images: Images) -> Page {
    let html = |request| Request { format: Format::Html, images, ..request };
    let (text, _) = run_with(&fixture(name), html).expect("an export");
    assert!(text.contains("default-src 'none'") && text.contains("prefers-color-scheme: dark"));
    assert!(text.contains("@media print"));
    read(&text)
}

#[test]
fn nothing_hostile_becomes_markup() {
    let page = page("hostile.jsonl", Images::Inside);
    assert!(!page.counts.contains_key("script"));
    for words in ["<script>alert(1)</script>", "onerror=alert(1)", "<iframe src=", "@import url("] {
        assert!(page.text.contains(words), "{words} is shown as text");
    }
    let expected = [
        "https://example.org/%22onmouseover=%22alert(1)",
        "mailto:ada@example.org",
        "https://example.org/%20x",
        "https://example.com/pixel.png?q=1",
        "https://example.org/auto",
        "https://example.org/styled",
    ];
    for link in &page.links {
        assert!(expected.contains(&link.as_str()), "{link}");
    }
    assert!(page.links.len() >= 3, "{:?}", page.links);
    for said in ["(https://example.com/)", "(javascript:alert(1))", "(file:///etc/passwd)"] {
        assert!(page.text.contains(said), "{said}");
    }
    let [image] = &page.images[..] else { panic!("{:?}", page.images) };
    assert!(image.starts_with("data:image/gif;base64,R0lGODlh"), "by its bytes, not its name");
}

#[test]
fn every_fixture_is_a_strict_page() {
    for name in ["pi-everything.jsonl", "pi-branches.jsonl", "claude-code.jsonl", "secrets.jsonl"] {
        let with = page(name, Images::Inside);
        let without = page(name, Images::Named);
        assert_eq!(without.images, Vec::<String>::new(), "{name}");
        assert_eq!(with.links, without.links, "{name}");
        assert!(with.counts["article"] > 0, "{name}");
    }
    let page = page("pi-everything.jsonl", Images::Inside);
    assert_eq!(page.images.len(), 1);
    assert!(page.counts["details"] >= 3, "calls and thinking fold");
}
