//! Escape sequences in tool output: data in, text and colours out.

use std::sync::Arc;

use letterpress::{
    markup::ansi::parse,
    model::{SgrColor, SgrRun},
};

/// `\e` stands for ESC. The expectation shows runs as `{style:text}`: `r`ed, `b`old, `d`im,
/// `i`talic, `u`nderlined, numbers for other colours.
const SEQUENCES: &[(&str, &str, &str)] = &[
    ("plain", "text", "text"),
    ("colour", "\\e[31mred\\e[0m plain", "{1:red} plain"),
    ("bright colour", "\\e[92mgreen\\e[39m", "{10:green}"),
    ("palette named", "\\e[38;5;3my\\e[0m", "{3:y}"),
    ("palette cube", "\\e[38;5;208mo", "{#ff8700:o}"),
    ("palette grey", "\\e[38;5;244mg", "{#808080:g}"),
    ("true colour", "\\e[38;2;1;2;3mx", "{#010203:x}"),
    ("true colour with colons", "\\e[38:2::1:2:3mx", "{#010203:x}"),
    ("true colour without space", "\\e[38:2:1:2:3mx", "{#010203:x}"),
    ("palette with colons", "\\e[38:5:9mx", "{9:x}"),
    ("background is not drawn", "\\e[41;48;5;1;48;2;1;2;3mx", "x"),
    ("background and style", "\\e[48;5;4;1mx", "{b:x}"),
    ("bold", "\\e[1mb\\e[22mn", "{b:b}n"),
    ("dim", "\\e[2md\\e[0mn", "{d:d}n"),
    ("italic", "\\e[3mi\\e[23mn", "{i:i}n"),
    ("underline", "\\e[4mu\\e[24mn", "{u:u}n"),
    ("no underline", "\\e[4mu\\e[4:0mn", "{u:u}n"),
    ("curly underline", "\\e[4:3mu", "{u:u}"),
    ("several", "\\e[1;3;4;31mx\\e[mn", "{1biu:x}n"),
    ("blink and reverse are ignored", "\\e[5;7;8;9mx", "x"),
    (
        "too many parameters",
        "\\e[1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1mx",
        "{b:x}",
    ),
    ("huge parameter", "\\e[99999999999mx", "x"),
    ("unfinished colour", "\\e[38;5mx", "x"),
    ("private mode", "\\e[?25lx\\e[?25h", "x"),
    ("private m", "\\e[>4;2mx", "x"),
    ("cursor up", "a\\e[1Ab", "ab"),
    ("cursor position", "\\e[10;10Hx", "x"),
    ("erase screen", "a\\e[2Jb", "ab"),
    ("erase line", "a\\e[Kb", "ab"),
    ("scroll", "a\\e[5Sb", "ab"),
    ("alternate screen", "\\e[?1049hx\\e[?1049l", "x"),
    ("device report", "\\e[6nx", "x"),
    ("reset", "\\ecx", "x"),
    ("character set", "\\e(0x\\e(B", "x"),
    ("save cursor", "\\e7x\\e8", "x"),
    ("title", "\\e]0;evil title\\x07x", "x"),
    ("title with string terminator", "\\e]2;evil\\e\\\\x", "x"),
    ("link", "\\e]8;;http://evil.example\\e\\\\text\\e]8;;\\e\\\\ more", "text more"),
    ("clipboard", "\\e]52;c;ZXZpbA==\\x07x", "x"),
    ("notification", "\\e]9;evil\\x07x", "x"),
    ("notification of another kind", "\\e]777;notify;a;b\\x07x", "x"),
    ("colours of the palette", "\\e]4;1;rgb:ff/00/00\\x07x", "x"),
    ("inline image", "\\e]1337;File=inline=1:AAAA\\x07x", "x"),
    ("unfinished title", "\\e]0;evil\nnext", "\nnext"),
    ("device control", "\\eP1$tevil\\e\\\\x", "x"),
    ("sixel", "\\ePq#0;2;0;0;0\\e\\\\x", "x"),
    ("unfinished device control", "\\ePevil\nnext", "\nnext"),
    ("application command", "\\e_evil\\e\\\\x", "x"),
    ("privacy message", "\\e^evil\\e\\\\x", "x"),
    ("start of string", "\\eXevil\\e\\\\x", "x"),
    ("split at the end", "x\\e[3", "x"),
    ("split at the escape", "x\\e", "x"),
    ("split before", "[31mx", "[31mx"),
    ("split by a line", "\\e[3\n1mx", "\n1mx"),
    ("escape in a sequence", "\\e[3\\e[1mx", "{b:x}"),
    ("cancelled", "\\e[3\\x18x", "␘x"),
    ("control in a sequence", "\\e[3\\x071mx", "␇{1:x}"),
    ("bell", "a\\x07b", "a␇b"),
    ("null and delete", "a\\x00b\\x7fc", "a␀b␡c"),
    ("eight-bit control", "a\u{9b}31mb", "a\u{FFFD}31mb"),
    ("progress", "10%\r50%\r100%\ndone", "100%\ndone"),
    ("progress in colour", "\\e[31mlong line\r\\e[32mok\\e[0m\n", "{2:ok}\n"),
    ("return at the end", "line\r", "line"),
    ("line ends of Windows", "a\r\nb\r\r\nc", "a\nb\nc"),
    ("backspace", "abc\\x08\\x08xy", "axy"),
    ("backspace at the start", "a\n\\x08\\x08b", "a\nb"),
    ("backspace in colour", "\\e[31mab\\x08\\x08c\\e[0md", "{1:c}d"),
    ("tab stays", "a\tb", "a\tb"),
    ("direction override", "a\u{202E}b", "a⟨RLO⟩b"),
    ("direction override in colour", "\\e[31m\u{202E}b\\e[0m", "{1:⟨RLO⟩b}"),
    ("hidden text", "a\u{E0041}\u{200B}b", "a⟨U+E0041⟩b"),
    ("byte order mark", "\u{FEFF}a", "a"),
    ("wide characters", "\\e[31m名前\\e[0mé", "{1:名前}é"),
    ("colour over lines", "\\e[31ma\nb\\e[0mc", "{1:a}\n{1:b}c"),
    ("runs merge", "\\e[31ma\\e[31mb", "{1:ab}"),
];

fn decoded(text: &str) -> String {
    text.replace("\\e", "\x1b")
        .replace("\\x07", "\x07")
        .replace("\\x08", "\x08")
        .replace("\\x18", "\x18")
        .replace("\\x00", "\0")
        .replace("\\x7f", "\x7f")
        .replace("\\\\", "\\")
}

fn shown(text: &str, runs: &[SgrRun]) -> String {
    let mut out = String::new();
    let mut at = 0;
    for run in runs {
        let (start, end) = (run.start as usize, run.end as usize);
        assert!(at <= start && start < end, "runs are ordered and not empty");
        out.push_str(&text[at..start]);
        let color = match run.foreground {
            SgrColor::Default => String::new(),
            SgrColor::Indexed(index) => index.to_string(),
            SgrColor::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        };
        let styles = [(run.bold, 'b'), (run.dim, 'd'), (run.italic, 'i'), (run.underline, 'u')];
        let styles: String = styles.iter().filter(|(on, _)| *on).map(|(_, c)| c).collect();
        out.push_str(&format!("{{{color}{styles}:{}}}", &text[start..end]));
        at = end;
    }
    out + &text[at..]
}

#[test]
fn sequences() {
    assert!(SEQUENCES.len() >= 60);
    for (name, text, expected) in SEQUENCES {
        let parsed = parse(&Arc::from(decoded(text)));
        assert_eq!(shown(&parsed.text, &parsed.runs), *expected, "{name}");
    }
}

/// Wherever a stream is cut, no escape, control or direction override comes through.
#[test]
fn every_cut_of_every_sequence_is_harmless() {
    for (name, text, _) in SEQUENCES {
        let text = decoded(text);
        for (at, _) in text.char_indices() {
            for part in [&text[..at], &text[at..]] {
                let parsed = parse(&Arc::from(part));
                let bad = |c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{202E}';
                assert!(!parsed.text.contains(bad), "{name}: {:?}", parsed.text);
                shown(&parsed.text, &parsed.runs);
            }
        }
    }
}

#[test]
fn clean_text_is_the_same_text() {
    for text in ["", "plain\ntext\twith tabs\n", "ünïcödé 名前 👨‍👩‍👧", "e\u{301}"]
    {
        let text: Arc<str> = text.into();
        let parsed = parse(&text);
        assert!(Arc::ptr_eq(&parsed.text, &text));
        assert!(parsed.runs.is_empty());
    }
}

#[test]
fn runs_are_capped_and_the_text_is_whole() {
    let text: Arc<str> = "\x1b[31ma\x1b[32mb".repeat(40_000).into();
    let parsed = parse(&text);
    assert_eq!(parsed.text.len(), 80_000);
    assert_eq!(parsed.runs.len(), 50_000);
}

#[test]
fn piles_of_marks_are_cut() {
    let text: Arc<str> = ("e".to_owned() + &"\u{301}".repeat(100_000) + "x").into();
    assert_eq!(&*parse(&text).text, "e".to_owned() + &"\u{301}".repeat(8) + "…x");
}
