//! How far the target of a link has come.

/// A target, behind its `(`.
pub(super) enum Target {
    /// Closed after this many bytes.
    Closed(usize),
    /// These would close it.
    Open(String),
    /// Not a target.
    None,
}

/// Reads a target as far as it has come.
pub(super) fn target_state(bytes: &[u8]) -> Target {
    let angle = bytes.first() == Some(&b'<');
    let mut at = usize::from(angle);
    let mut depth = 0;
    loop {
        match bytes.get(at) {
            None if angle => return Target::Open(">)".into()),
            None => return Target::Open(")".repeat(depth + 1)),
            Some(b'\\') if at + 1 == bytes.len() => return Target::None,
            Some(b'\\') => at += 1,
            Some(b'\n' | b'<') => return Target::None,
            Some(b'>') if angle => {
                at += 1;
                break;
            }
            Some(b' ' | b'\t') if !angle => break,
            Some(b'(') if !angle => depth += 1,
            Some(b')') if !angle && depth == 0 => return Target::Closed(at + 1),
            Some(b')') if !angle => depth -= 1,
            Some(_) => {}
        }
        at += 1;
    }
    title_state(bytes, at)
}

fn title_state(bytes: &[u8], from: usize) -> Target {
    let rest = bytes.get(from..).unwrap_or_default();
    let spaces = rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let at = from + spaces;
    let quote = match bytes.get(at) {
        None => return Target::Open(")".into()),
        Some(b')') => return Target::Closed(at + 1),
        Some(quote @ (b'"' | b'\'')) => *quote,
        Some(b'(') => b')',
        Some(_) => return Target::None,
    };
    let body = bytes.get(at + 1..).unwrap_or_default();
    match body.iter().position(|b| *b == quote) {
        None => Target::Open(format!("{})", char::from(quote))),
        Some(end) => match body.get(end + 1) {
            None => Target::Open(")".into()),
            Some(b')') => Target::Closed(at + end + 3),
            Some(_) => Target::None,
        },
    }
}
