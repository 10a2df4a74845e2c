//! Characters that cannot be seen, or that change what is seen.

use letterpress::{
    markdown::{Options, hygiene::visible, parse},
    model::{BlockKind, Hygiene},
};

use super::dump;

fn first(markdown: &str) -> (String, Hygiene) {
    let blocks = parse(markdown, Options::default());
    dump::check(&blocks);
    (dump::short(&blocks), blocks[0].hygiene)
}

const CLEAN: Hygiene = Hygiene { hidden: 0, bidi: false, capped: false };

#[test]
fn control_characters_are_pictures() {
    assert_eq!(first("a\0b\x07c\x1b[31md"), ("P(a␀b␇c␛[31md)".into(), CLEAN));
    assert_eq!(first("```\na\x1b[0m\n```"), ("C:(a␛[0m)".into(), CLEAN));
    assert_eq!(first("a\x7f\u{9b}31m"), ("P(a␡\u{FFFD}31m)".into(), CLEAN));
}

#[test]
fn a_carriage_return_ends_a_line() {
    assert_eq!(first("a\rb"), ("P(a b)".into(), CLEAN));
    assert_eq!(first("```\r\na\r\nb\rc\r\n```"), ("C:(a\nb\nc)".into(), CLEAN));
    assert_eq!(first("- a\r- b\r"), ("L-[P(a) | P(b)]".into(), CLEAN));
}

#[test]
fn direction_overrides_are_tags_in_code_and_closed_in_prose() {
    let found = Hygiene { bidi: true, ..CLEAN };
    let trojan = "access = \"user\u{202E} \u{2066}// admin\u{2069} \u{2066}\"";
    let code = "access = \"user⟨RLO⟩ ⟨LRI⟩// admin⟨PDI⟩ ⟨LRI⟩\"";
    assert_eq!(first(&format!("```\n{trojan}\n```")), (format!("C:({code})"), found));
    assert_eq!(first(&format!("`{trojan}`")), (format!("P(<c:{code}>)"), found));
    let (prose, hygiene) = first("a \u{202E}b \u{2067}c");
    assert_eq!(prose, "P(a \u{202E}b \u{2067}c\u{2069}\u{202C})");
    assert_eq!(hygiene, found);
    assert_eq!(first("שלום\u{200F}").1, CLEAN, "marks are no overrides");
}

#[test]
fn hidden_characters_are_counted_and_not_drawn() {
    let tags: String =
        "ignore".chars().map(|c| char::from_u32(0xE0000 + c as u32).unwrap()).collect();
    let (text, hygiene) = first(&format!("a{tags}b\u{200B}c\u{AD}d\u{FEFF}"));
    assert_eq!(text, "P(abcd)");
    assert_eq!(hygiene.hidden, 9);
    let nested = parse(&format!("> - x{tags}"), Options::default());
    assert_eq!(nested[0].hygiene.hidden, 6, "a container counts what is in it");
}

#[test]
fn joiners_stay() {
    let family = "👨\u{200D}👩\u{200D}👧 \u{645}\u{6CC}\u{200C}\u{62E}\u{648}\u{627}\u{647}\u{645}";
    assert_eq!(first(family), (format!("P({family})"), CLEAN));
}

#[test]
fn piles_of_marks_are_cut_at_eight() {
    let pile = |marks: usize| format!("e{}", "\u{301}".repeat(marks));
    assert_eq!(first(&pile(8)).0, format!("P({})", pile(8)));
    assert_eq!(first(&pile(9)).0, format!("P({}…)", pile(8)));
    assert_eq!(first(&(pile(90_000) + "x")).0, format!("P({}…x)", pile(8)));
    let hidden_between = format!("e{}", "\u{301}\u{200B}".repeat(50));
    assert_eq!(first(&hidden_between).0, format!("P({}…)", pile(8)));
}

#[test]
fn names_and_arguments_show_everything() {
    assert_eq!(visible("photo\u{202E}gpj.exe"), "photo⟨RLO⟩gpj.exe");
    assert_eq!(visible("a\u{200B}b\u{E0041}\u{1b}"), "a⟨U+200B⟩b⟨U+E0041⟩␛");
    assert_eq!(visible("two\nlines\tand tabs"), "two\nlines\tand tabs");
    let plain = "plain ütf-8 名前.txt";
    assert!(matches!(visible(plain), std::borrow::Cow::Borrowed(text) if text == plain));
}

#[test]
fn the_source_is_never_changed() {
    let text = "a\u{200B}b `c\u{202E}d` \x1b";
    let blocks = parse(text, Options::default());
    assert_eq!(&text[blocks[0].source.clone()], text);
    let BlockKind::Paragraph(shown) = &blocks[0].kind else { panic!() };
    assert_eq!(shown.text, "ab c⟨RLO⟩d ␛");
}
