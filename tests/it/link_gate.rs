//! Links: which open, which ask, which are text; and what reaches the opener.

use std::{cell::RefCell, rc::Rc};

use letterpress::view::link_gate::{
    Link, LinkContext, LinkGate, Opener, Reason, TARGET_BYTES, Verdict, data, display,
};
use proptest::prelude::*;
use url::Url;

/// An opener that only writes down what it was given.
#[derive(Clone, Default)]
struct Recorder(Rc<RefCell<Vec<String>>>);

impl Opener for Recorder {
    fn open(&self, url: &str) -> Result<(), String> {
        self.0.borrow_mut().push(url.to_owned());
        Ok(())
    }
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match (c, c == '\\') {
            (_, false) => out.push(c),
            (_, true) => match rest.next().expect("something behind a backslash") {
                't' => out.push('\t'),
                'n' => out.push('\n'),
                '\\' => out.push('\\'),
                'u' => {
                    let hex: String = rest.by_ref().skip(1).take_while(|c| *c != '}').collect();
                    let code = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32);
                    out.push(code.expect("the number of a character"));
                }
                other => panic!("\\{other} is not an escape"),
            },
        }
    }
    out
}

fn name(reason: &Reason) -> &'static str {
    match reason {
        Reason::NotAnAddress => "NotAnAddress",
        Reason::TooLong => "TooLong",
        Reason::Scheme(_) => "Scheme",
        Reason::Attachment => "Attachment",
        Reason::OtherHost(_) => "OtherHost",
        Reason::UserInfo => "UserInfo",
        Reason::MixedScripts => "MixedScripts",
        Reason::Lookalike => "Lookalike",
        Reason::Invisible => "Invisible",
        Reason::NumericHost => "NumericHost",
        Reason::Ambiguous => "Ambiguous",
        Reason::CarriesData(_) => "CarriesData",
    }
}

fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Open(_) => "open".to_owned(),
        Verdict::Ask { reasons, .. } => {
            format!("ask {}", reasons.iter().map(name).collect::<Vec<_>>().join(" "))
        }
        Verdict::Refuse(reason) => format!("refuse {}", name(reason)),
    }
}

fn judge(target: &str, shown: &str) -> Verdict {
    LinkGate::judge(Link { target, shown, context: LinkContext::Trusted })
}

#[test]
fn the_table_of_links() {
    let table = include_str!("../corpora/links.tsv");
    let rows: Vec<&str> = table.lines().filter(|row| !row.starts_with("# ")).collect();
    assert!(rows.len() >= 60, "{} rows", rows.len());
    let mut wrong = String::new();
    for row in rows {
        let [target, shown, context, expected]: [&str; 4] =
            row.split('\t').collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("{row:?}"));
        let context = match context {
            "t" => LinkContext::Trusted,
            "u" => LinkContext::Untrusted,
            other => panic!("{other:?} is not a context"),
        };
        let (target, shown) = (unescape(target), unescape(shown));
        let found = verdict(&LinkGate::judge(Link { target: &target, shown: &shown, context }));
        if found != expected {
            wrong += &format!("{row}\n    found: {found}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn an_address_is_shown_in_ascii_with_its_host_apart() {
    for (target, text, host) in [
        (
            "https://good.com@evil.com:81/good.com?q=é",
            "https://good.com@evil.com:81/good.com?q=%C3%A9",
            "evil.com",
        ),
        ("https://аррӏе.com/я", "https://xn--80ak6aa92e.com/%D1%8F", "xn--80ak6aa92e.com"),
        ("http://2899945070/", "http://172.217.166.110/", "172.217.166.110"),
        ("http://[::1]:80/x", "http://[::1]/x", "[::1]"),
        ("mailto:a@good.com?subject=x", "mailto:a@good.com?subject=x", "good.com"),
    ] {
        let shown = display(&Url::parse(target).unwrap());
        assert_eq!(shown.text, text);
        assert_eq!(shown.text.get(shown.host.clone()), Some(host));
    }
}

#[test]
fn what_an_address_carries_is_decoded_and_made_visible() {
    let url = Url::parse("https://e.com/?key=sk%2D1%0A%E2%80%AE&b#frag").unwrap();
    assert_eq!(data(&url), ["key = sk-1\\u{a}\\u{202e}", "b", "#frag"]);
}

#[test]
fn a_very_long_address_is_refused() {
    let target = format!("https://good.com/{}", "a".repeat(TARGET_BYTES));
    assert_eq!(judge(&target, "x"), Verdict::Refuse(Reason::TooLong));
}

#[test]
fn a_long_text_is_read_to_its_end() {
    let shown = format!("{} good.com", "word.of.many.labels ".repeat(20_000));
    assert_eq!(verdict(&judge("https://evil.com/", &shown)), "ask OtherHost");
}

#[test]
fn the_gate_opens_what_it_is_told_to_and_nothing_off_the_list() {
    let recorder = Recorder::default();
    let gate = LinkGate::new(Box::new(recorder.clone()));
    gate.open(&Url::parse("https://good.com/").unwrap()).unwrap();
    for target in ["file:///etc/passwd", "javascript:1", "data:,x", "ssh://good.com"] {
        let error = gate.open(&Url::parse(target).unwrap()).unwrap_err();
        assert!(error.contains("not opened"), "{error}");
    }
    assert_eq!(*recorder.0.borrow(), ["https://good.com/"]);
}

#[test]
fn every_reason_is_one_sentence() {
    let reasons = [
        Reason::NotAnAddress,
        Reason::TooLong,
        Reason::Scheme("a\u{202e}\nb".to_owned()),
        Reason::Attachment,
        Reason::OtherHost("good.com".to_owned()),
        Reason::UserInfo,
        Reason::MixedScripts,
        Reason::Lookalike,
        Reason::Invisible,
        Reason::NumericHost,
        Reason::Ambiguous,
        Reason::CarriesData(70),
    ];
    for reason in reasons {
        let text = reason.to_string();
        assert!(text.ends_with('.') && !text.contains(['\n', '\u{202e}']), "{text:?}");
    }
}

proptest! {
    #[test]
    fn nothing_off_the_list_reaches_the_opener(
        target in "(https?|javascript|file|data|mailto|\\PC{0,3})?[:/\\\\@.%a-z0-9\t\n\u{202e}é?#]{0,30}",
        shown in "(\\PC|good\\.com|https://|[ .@/]){0,12}",
    ) {
        let recorder = Recorder::default();
        let gate = LinkGate::new(Box::new(recorder.clone()));
        let verdict = judge(&target, &shown);
        if let Verdict::Open(url) | Verdict::Ask { url, .. } = &verdict {
            gate.open(url).unwrap();
            let text = display(url).text;
            prop_assert!(text.bytes().all(|b| (b' '..=b'~').contains(&b)), "{text:?}");
        }
        for opened in recorder.0.borrow().iter() {
            let allowed = ["http://", "https://", "mailto:"];
            prop_assert!(allowed.iter().any(|start| opened.starts_with(start)), "{opened:?}");
        }
        if let Verdict::Ask { reasons, .. } = verdict {
            prop_assert!(!reasons.is_empty());
        }
    }
}
