//! The arguments of find, whose flags are words and whose paths come first.

use super::table::FIND;

/// The paths, if the command only looks; else why that is not known.
pub(super) fn only_looks(arguments: &[String]) -> Result<Vec<String>, String> {
    let starts_expression = |word: &&String| word.starts_with('-') || is_connective(word);
    let mut paths: Vec<String> =
        arguments.iter().take_while(|word| !starts_expression(word)).cloned().collect();
    if let Some(path) = paths.iter().find(|path| path.starts_with('~') || path.contains('$')) {
        return Err(format!("find in {path} is not known to only look"));
    }
    let mut rest = arguments.iter().skip(paths.len());
    while let Some(word) = rest.next() {
        if is_connective(word) {
            continue;
        }
        let kind =
            kind_of(word).ok_or_else(|| format!("find with {word} is not known to only look"))?;
        let Some(kind) = kind else { continue };
        let value = rest.next().ok_or_else(|| format!("find lacks what follows {word}"))?;
        match kind {
            "number" if !value.bytes().all(|b| b.is_ascii_digit()) => {
                return Err(format!("find with {word} {value} is not known to only look"));
            }
            "path" => paths.push(value.clone()),
            _ => {}
        }
    }
    Ok(paths)
}

fn is_connective(word: &str) -> bool {
    matches!(word, "(" | ")" | "!" | "," | "-not")
}

/// The kind of value that a test takes, if it is known: none for a test that takes none.
fn kind_of(word: &str) -> Option<Option<&'static str>> {
    FIND.split_whitespace().find_map(|known| match known.split_once(':') {
        Some((name, kind)) => (name == word).then_some(Some(kind)),
        None => (known == word).then_some(None),
    })
}
