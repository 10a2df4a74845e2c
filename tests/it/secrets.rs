//! Secrets in text: what is covered, what passes, and what holds for any text.

use letterpress::{
    engine::veil::covered,
    markup::secrets::{COVER, Ending, cover, find},
    model::{Blocks, Part, Role, Text},
};
use proptest::prelude::*;

use crate::bed::{message, text};

fn corpus(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpora/secrets");
    std::fs::read_to_string(path.join(name)).expect("it is there")
}

/// Each line of the table holds one secret between « and »; they are not part of it.
#[test]
fn every_secret_of_the_table_is_covered_and_nothing_beside_it() {
    let mut count = 0;
    for line in
        corpus("secrets.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let (before, rest) = line.split_once('«').expect("a secret");
        let (secret, after) = rest.split_once('»').expect("its end");
        let plain = format!("{before}{secret}{after}");
        let found: Vec<&str> =
            find(&plain, Ending::Final).into_iter().filter_map(|range| plain.get(range)).collect();
        assert_eq!(found, [secret], "in {plain}");
        let covered = cover(&plain, Ending::Final).expect("covered");
        assert!(covered.starts_with(before) && covered.ends_with(after), "{covered}");
        assert!(!covered.contains(secret));
        count += 1;
    }
    assert!(count >= 40, "{count}");
}

#[test]
fn prose_and_code_pass_untouched() {
    for (number, line) in (1..).zip(corpus("ordinary.txt").lines()) {
        assert_eq!(cover(line, Ending::Final), None, "line {number}: {line}");
    }
    assert_eq!(cover(&corpus("ordinary.txt"), Ending::Final), None, "as a whole");
}

#[test]
fn a_private_key_is_covered_as_a_block() {
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\nQyNTUxOQAAACD\n\
               -----END OPENSSH PRIVATE KEY-----";
    let covered = cover(&format!("Use\n{key}\nthen go."), Ending::Final).expect("a key");
    assert!(covered.starts_with("Use\n-----BEGIN OPENSSH PRIVATE KEY-----\n•"), "{covered}");
    assert!(covered.ends_with("•\n-----END OPENSSH PRIVATE KEY-----\nthen go."), "{covered}");
    // While it arrives there is no end yet.
    let begun = cover("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN", Ending::Open).expect("a key");
    assert!(!begun.contains("MIIE"), "{begun}");
    let public = "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIE\n-----END CERTIFICATE-----";
    assert_eq!(cover(public, Ending::Final), None);
}

#[test]
fn a_token_that_arrives_is_covered_before_it_is_whole() {
    let token = "Use ghp_R4nd0mR4nd0mR4nd0mR4nd0mR4nd0mR4nd";
    for end in "Use ghp_R4nd".len()..=token.len() {
        let arrived = token.get(..end).expect("ASCII");
        let covered = cover(arrived, Ending::Open).expect("a token begins");
        assert!(!covered.contains("R4nd"), "{covered}");
    }
    assert_eq!(cover("the prefix is ghp_", Ending::Open), None);
    assert_eq!(cover("the prefix is sk-", Ending::Open), None);
}

#[test]
fn how_long_a_secret_is_stays_unsaid() {
    let signs = |length: usize| {
        let text = format!("token=\"{}\"", "a1".repeat(length / 2));
        cover(&text, Ending::Final).map_or(0, |text| text.matches(COVER).count())
    };
    assert_eq!([10, 16, 18, 64, 66, 4000].map(signs), [8, 8, 16, 16, 24, 24]);
}

#[test]
fn a_streaming_message_is_covered_too() {
    let mut open = message(1, Role::Assistant, vec![text("x")]);
    open.parts = vec![Part::Text(Text {
        source: "Here: sk-ant-api03-4eC39HqLyj".into(),
        blocks: Blocks::Open { sealed: Vec::new().into(), tail: Vec::new().into() },
    })];
    let covered = covered(&open).expect("a secret");
    let Some(Part::Text(shown)) = covered.parts.first() else { panic!("a text") };
    assert!(!shown.source.contains("4eC39"), "{}", shown.source);
    assert!(shown.blocks().next().is_some(), "it is ready to be shown");
}

#[test]
fn a_message_without_secrets_is_left_as_it_is() {
    assert_eq!(
        covered(&message(1, Role::User, vec![text("Nothing to hide: token count 42.")])),
        None
    );
}

fn any_text() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        "\\PC{0,12}",
        "[A-Za-z0-9_.=:\"' /+-]{0,24}",
        Just("sk-".to_owned()),
        Just("ghp_abcdEFGH1234abcdEFGH1234".to_owned()),
        Just("password=".to_owned()),
        Just("\"api_key\": \"".to_owned()),
        Just("Bearer ".to_owned()),
        Just("eyJhbGciOi.eyJzdWIiOiIx.".to_owned()),
        Just("-----BEGIN PRIVATE KEY-----\n".to_owned()),
        Just("-----END ".to_owned()),
        Just("https://me:pass1234@".to_owned()),
        Just("•••".to_owned()),
        Just("\n".to_owned()),
    ];
    proptest::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn covering_never_panics_and_covering_twice_changes_nothing(text in any_text()) {
        for ending in [Ending::Final, Ending::Open] {
            let once = cover(&text, ending).unwrap_or_else(|| text.clone());
            prop_assert_eq!(cover(&once, ending), None, "{}", once);
        }
    }

    #[test]
    fn only_what_is_found_is_changed(text in any_text()) {
        let found = find(&text, Ending::Final);
        prop_assert!(found.windows(2).all(|pair| pair[0].end < pair[1].start));
        let mut rest = String::new();
        let mut at = 0;
        for range in &found {
            rest.push_str(text.get(at..range.start).expect("whole characters"));
            at = range.end;
        }
        rest.push_str(text.get(at..).expect("whole characters"));
        let covered = cover(&text, Ending::Final).unwrap_or_else(|| text.clone());
        let (left, rest) = (covered.replace(COVER, ""), rest.replace(COVER, ""));
        let mut letters = rest.chars();
        prop_assert!(left.chars().all(|left| letters.any(|letter| letter == left)), "{}", covered);
    }
}

/// Work grows with the text and not faster: each of these is a megabyte of openings.
#[test]
fn hostile_texts_end() {
    for piece in
        ["sk-", "eyJ.", "password=", "-----BEGIN PRIVATE KEY-----", "://a:", "a:\"", "Bearer "]
    {
        let text = piece.repeat(1_000_000 / piece.len());
        let _found = find(&text, Ending::Open);
    }
}
