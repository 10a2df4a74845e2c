//! The names under which models know tools: `server__tool`, in the letters that every
//! provider takes.

use std::{collections::BTreeMap, sync::Arc};

use super::digest::Digest;

/// The longest name that every provider takes.
const MAX_NAME: usize = 64;
/// Between server and tool.
const BETWEEN: &str = "__";

/// Which tool of which server a name means.
pub(super) type Names = BTreeMap<Arc<str>, (Arc<str>, Arc<str>)>;

/// Names for tools, by their servers and their own names.
///
/// A name that had to be changed, or that could be read in two ways, carries a digest of what
/// it stands for. So a name does not depend on the other tools, except when one of them has
/// chosen to be called like it: the tool with the plain name keeps it.
pub(super) fn names(tools: impl Iterator<Item = (Arc<str>, Arc<str>)>) -> Names {
    let mut tools: Vec<_> =
        tools.map(|(server, tool)| (plain(&server, &tool), server, tool)).collect();
    // Plain names first, then in an order that does not depend on the servers' answers.
    tools.sort_by(|a, b| (a.0.is_none(), &a.1, &a.2).cmp(&(b.0.is_none(), &b.1, &b.2)));
    tools.dedup_by(|a, b| (&a.1, &a.2) == (&b.1, &b.2));
    let mut names = Names::new();
    for (plain, server, tool) in tools {
        let mut digits = 8;
        let mut name: Arc<str> =
            plain.map_or_else(|| marked(&server, &tool, digits).into(), Into::into);
        while names.contains_key(&name) && digits < 32 {
            digits += 8;
            name = marked(&server, &tool, digits).into();
        }
        names.entry(name).or_insert((server, tool));
    }
    names
}

/// The name without a digest, when it says all.
fn plain(server: &str, tool: &str) -> Option<String> {
    let name = format!("{server}{BETWEEN}{tool}");
    // The first `__` ends the server's name, so it must not hold one, nor lend an underscore.
    let is_clear = !server.contains(BETWEEN) && !server.ends_with('_');
    let is_whole = name.len() <= MAX_NAME && name.chars().all(is_plain);
    (is_clear && is_whole && !server.is_empty() && !tool.is_empty()).then_some(name)
}

fn marked(server: &str, tool: &str, digits: usize) -> String {
    let digest = Digest::of(format!("{server}\0{tool}").as_bytes()).to_string();
    let clean = |text: &str| -> String {
        text.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
    };
    let mut name = format!("{}{BETWEEN}{}", clean(server), clean(tool));
    name.truncate(MAX_NAME - digits - 1);
    format!("{name}_{}", digest.get(..digits).unwrap_or_default())
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}
