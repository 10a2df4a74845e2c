//! The names of records that only the host program needs.

/// Singular and plural; a record's code is its place here.
const NAMES: [(&str, &str); 19] = [
    ("other record", "other records"),
    ("progress record", "progress records"),
    ("queue operation", "queue operations"),
    ("file history snapshot", "file history snapshots"),
    ("mode", "modes"),
    ("permission mode", "permission modes"),
    ("last prompt", "last prompts"),
    ("attachment", "attachments"),
    ("pull request link", "pull request links"),
    ("hidden message", "hidden messages"),
    ("agent name", "agent names"),
    ("agent setting", "agent settings"),
    ("tag", "tags"),
    ("bridge session", "bridge sessions"),
    ("extension state", "extension states"),
    ("artifact", "artifacts"),
    ("hook attachment", "hook attachments"),
    ("session header", "session headers"),
    ("record of a newer version", "records of a newer version"),
];

pub(super) const HIDDEN_MESSAGE: u16 = 9;
pub(super) const EXTENSION_STATE: u16 = 14;
pub(super) const ARTIFACT: u16 = 15;
pub(super) const SESSION_HEADER: u16 = 17;
pub(super) const NEWER_RECORD: u16 = 18;

/// The code of a Claude Code record type that is housekeeping.
pub(super) fn claude_code(record_type: &[u8]) -> Option<u16> {
    Some(match record_type {
        b"progress" => 1,
        b"queue-operation" => 2,
        b"file-history-snapshot" => 3,
        b"mode" => 4,
        b"permission-mode" => 5,
        b"last-prompt" => 6,
        b"attachment" => 7,
        b"pr-link" => 8,
        b"agent-name" => 10,
        b"agent-setting" => 11,
        b"tag" => 12,
        b"bridge-session" => 13,
        _ => return None,
    })
}

/// "29 progress records, 2 queue operations", in the order first met.
pub(super) fn summary(codes: impl Iterator<Item = u16>) -> String {
    let mut counts: Vec<(usize, usize)> = Vec::new();
    for code in codes {
        let code = usize::from(code).min(NAMES.len() - 1);
        match counts.iter_mut().find(|(seen, _)| *seen == code) {
            Some((_, count)) => *count += 1,
            None => counts.push((code, 1)),
        }
    }
    let words = counts.iter().map(|(code, count)| {
        let (one, many) = NAMES.get(*code).unwrap_or(&NAMES[0]);
        format!("{count} {}", if *count == 1 { one } else { many })
    });
    words.collect::<Vec<_>>().join(", ")
}

/// The name of one record.
pub(super) fn name(code: u16) -> &'static str {
    NAMES.get(usize::from(code)).unwrap_or(&NAMES[0]).0
}
