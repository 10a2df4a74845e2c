//! What the user is shown is what there is: 60 and more ways to hide something.

use std::process::Command;

use letterpress::tools::{
    Call, Verdict, judge,
    policy::{Reason, Rules, command_line, hidden_in, visible},
};
use proptest::prelude::*;

use super::policy::{command, facts};

/// Arguments that would show as something else, or act on what shows them.
const TRICKS: &[&str] = &[
    "\x1b[31mred",
    "\x1b[2J",
    "\x1b[1A\x1b[2K",
    "\x1b]0;title\x07",
    "\x1b]8;;http://e\x1b\\x\x1b]8;;\x1b\\",
    "\x1b]52;c;aGk=\x07",
    "\x1bP1;2q\x1b\\",
    "\x1b_x\x1b\\",
    "\x1b^x\x1b\\",
    "\x1b[?1049h",
    "\x1b[8m",
    "\x1bc",
    "\x1b[6n",
    "\x1b]777;notify;a;b\x07",
    "\x1b]9;x\x07",
    "\x1b[200~",
    "\x1b",
    "\u{9b}31m",
    "\u{9d}0;x\u{9c}",
    "\u{90}x",
    "\u{85}",
    "a\rb",
    "a\r\nb",
    "a\nb",
    "a\tb",
    "a\x08b",
    "\x07",
    "\x0b",
    "\x0c",
    "\x7f",
    "\x01\x02\x03",
    "\x1a",
    "\u{202e}txt.exe",
    "\u{202d}x",
    "\u{202a}x\u{202c}",
    "\u{2066}x\u{2069}",
    "\u{2067}x",
    "\u{2068}x",
    "\u{200e}x",
    "\u{200f}x",
    "\u{61c}x",
    "\u{200b}",
    "a\u{200b}b",
    "\u{200c}",
    "\u{200d}",
    "\u{2060}",
    "\u{2063}",
    "\u{feff}",
    "\u{ad}",
    "\u{e0041}\u{e0042}",
    "\u{e0100}",
    "\u{fe0f}",
    "\u{34f}",
    "\u{115f}",
    "\u{3164}",
    "\u{ffa0}",
    "\u{180e}",
    "\u{2028}",
    "\u{2029}",
    "\u{a0}",
    "\u{2003}",
    "\u{3000}",
    "\u{205f}",
    "\u{2800}",
    "\u{e000}",
    "\u{f8ff}",
    "\u{fff9}x\u{fffa}y\u{fffb}",
    "\u{10fffd}",
    "z\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}",
    "\u{1d173}",
    "\u{206a}",
];

/// Arguments that show as they are.
const PLAIN: &[&str] = &[
    "",
    "a",
    "-la",
    "--x=y",
    "a b",
    "it's",
    "\"q\"",
    "\\",
    "$HOME",
    "`id`",
    "*",
    "?",
    "a;b",
    "a|b",
    "#x",
    "~",
    "!x",
    "{a,b}",
    "(x)",
    "<x>",
    "é",
    "日本語",
    "привет",
    "🙂",
    "e\u{301}",
    "'",
    "''",
    "\\'",
    "$'x'",
    "a'b\"c",
    "⟨RLO⟩",
    "␛",
    "%s",
    "[a]",
    "&",
    "ß",
    "עברית",
];

/// What bash makes of a line. None when there is no bash, or one that is too old for `\u`.
fn read_by_bash(line: &str) -> Option<Vec<String>> {
    let script = format!("printf '%s\\0' {line}");
    let output = Command::new("bash")
        .args(["--norc", "-c", &script])
        .env("LC_ALL", "C.UTF-8")
        .output()
        .ok()?;
    assert!(output.status.success(), "{line:?}");
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.split_terminator('\0').map(str::to_owned).collect())
}

fn has_new_bash() -> bool {
    read_by_bash("$'\\u200B'").is_some_and(|read| read == ["\u{200b}"])
}

/// Reads the line in the language that it is written in, without a shell.
fn read_back(line: &str) -> Vec<String> {
    let mut argv = Vec::new();
    let mut chars = line.chars().peekable();
    while chars.peek().is_some() {
        let mut word = String::new();
        while let Some(c) = chars.next().filter(|c| *c != ' ') {
            match c {
                '\'' => word.extend(chars.by_ref().take_while(|c| *c != '\'')),
                '\\' => word.extend(chars.next()),
                '$' if chars.peek() == Some(&'\'') => {
                    chars.next();
                    while let Some(c) = chars.next().filter(|c| *c != '\'') {
                        word.push(if c == '\\' { numbered(&mut chars) } else { c });
                    }
                }
                c => word.push(c),
            }
        }
        argv.push(word);
    }
    argv
}

fn numbered(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> char {
    let first = chars.next().expect("something behind a backslash");
    let mut number = |digits: usize, radix: u32, first: Option<char>| {
        let text: String = first.into_iter().chain(chars.by_ref().take(digits)).collect();
        char::from_u32(u32::from_str_radix(&text, radix).expect("digits")).expect("a character")
    };
    match first {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'e' => '\x1b',
        'u' => number(4, 16, None),
        'U' => number(8, 16, None),
        digit @ '0'..='7' => number(2, 8, Some(digit)),
        c => c,
    }
}

fn argv(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn a_command_reads_back_as_what_it_is() {
    assert!(TRICKS.len() >= 60, "{}", TRICKS.len());
    let with_bash = has_new_bash();
    for word in TRICKS.iter().chain(PLAIN) {
        let argv = argv(&["tool", word, "7", word]);
        let line = command_line(&argv);
        assert_eq!(read_back(&line.text), argv, "{:?}", line.text);
        assert!(!line.text.contains(char::is_control), "{:?}", line.text);
        assert_eq!(hidden_in(&line.text), 0, "{:?}", line.text);
        if with_bash {
            assert_eq!(read_by_bash(&line.text).as_deref(), Some(&argv[..]), "{:?}", line.text);
        }
    }
}

#[test]
fn what_does_not_show_is_told_and_never_remembered() {
    for trick in TRICKS {
        let call = command(&["cargo", trick]);
        let facts = facts(&call);
        let Verdict::Ask(question) = judge(call, facts, &Rules::default()) else {
            panic!("{trick:?} is asked about");
        };
        let approval = question.approval();
        assert!(approval.reasons.iter().any(|r| matches!(r, Reason::Hidden(1..))), "{trick:?}");
        assert_eq!(approval.offers, [], "{trick:?}");
        assert!(!approval.what.contains(char::is_control), "{trick:?}");
    }
    for plain in PLAIN {
        assert_eq!(command_line(&argv(&["x", plain])).hidden, 0, "{plain:?}");
    }
}

#[test]
fn every_text_of_an_approval_shows_what_is_in_it() {
    for trick in TRICKS.iter().filter(|trick| !trick.contains(char::is_control)) {
        let calls = [
            Call::Write { path: format!("a{trick}b"), content: String::new() },
            Call::Read { path: format!("a{trick}b"), first: None, last: None },
            Call::Remote {
                server: "s".to_owned(),
                tool: format!("s__{trick}"),
                arguments: serde_json::json!({ (*trick): trick }),
            },
            Call::Fetch { url: format!("https://e.org/{trick}").parse().expect("an address") },
        ];
        for call in calls {
            let facts = facts(&call);
            let Verdict::Ask(question) = judge(call.clone(), facts, &Rules::default()) else {
                panic!("{call:?} is asked about");
            };
            let approval = question.approval();
            for text in [&approval.what, &approval.place, &approval.tool] {
                assert_eq!(hidden_in(text), 0, "{call:?}: {text:?}");
            }
        }
    }
}

#[test]
fn shown_marks_cannot_be_forged() {
    assert_eq!(visible("a\u{202e}b\u{200b}\x1b\r").text, "a⟨RLO⟩b⟨U+200B⟩␛⟨U+000D⟩");
    assert_eq!(
        visible("a\nb\tc é 日本 e\u{301}").text,
        "a\nb␉c é 日本 e\u{301}".replace('␉', "\t")
    );
    assert_eq!(visible("⟨RLO⟩␛").text, "⟨U+27E8⟩RLO⟨U+27E9⟩⟨U+241B⟩");
    assert_eq!(visible("⟨RLO⟩").hidden, 0);
    assert_eq!(visible("\u{9b}").text, "⟨U+009B⟩");
}

proptest! {
    #[test]
    fn any_command_reads_back(argv in prop::collection::vec(any::<String>(), 1..5)) {
        let argv: Vec<String> = argv.into_iter().map(|word| word.replace('\0', "")).collect();
        let line = command_line(&argv);
        prop_assert_eq!(read_back(&line.text), argv);
        prop_assert!(!line.text.contains(char::is_control));
    }

    #[test]
    fn no_two_texts_look_the_same(a in any::<String>(), b in any::<String>()) {
        prop_assert_eq!(a == b, visible(&a).text == visible(&b).text);
    }
}
