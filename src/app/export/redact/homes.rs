//! Homes in paths: `/home/ada/garden` is `~/garden`, whoever's home it is.
//!
//! The home of this user is hidden wherever it stands. Others are told by the folders that
//! systems keep homes in, where a path can begin.

use std::{ops::Range, path::Path};

use memchr::memmem;

/// How homes are found.
#[derive(Clone)]
pub(super) struct Homes {
    own: Vec<Own>,
}

/// A way to write this user's home.
#[derive(Clone)]
struct Own {
    text: String,
    stands: Stands,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// Nothing else is written like this.
    Anywhere,
    /// A path that also ends others, such as `/root`.
    AtStart,
}

/// Folders that hold homes.
const HOLDERS: [&str; 2] = ["home", "Users"];
/// What parts the names of a path, also in JSON and in addresses; longest first.
const SEPARATORS: [&str; 7] = ["\\\\", "\\/", "%2F", "%2f", "%5C", "%5c", "/"];
/// What stands before a folder of homes and belongs to it.
const ABOVE: [&str; 5] = ["/var", "/export", "/usr", "/Volumes", "/net"];
/// Names in those folders that are nobody's.
const NOBODY: [&str; 5] = ["Shared", "Public", "Default", "All", "linuxbrew"];
const NAME_MAX: usize = 64;

impl Homes {
    pub(super) fn new(home: Option<&Path>) -> Self {
        let home = home.map(|home| home.to_string_lossy().into_owned()).unwrap_or_default();
        let home = home.trim_end_matches(['/', '\\']);
        let names = home.split(['/', '\\']).filter(|name| !name.is_empty()).count();
        let stands = if names > 1 { Stands::Anywhere } else { Stands::AtStart };
        let mut own = Vec::new();
        if names > 0 {
            let mut forms = vec![
                home.to_owned(),
                home.replace('\\', "\\\\"),
                home.replace('\\', "/"),
                home.replace('/', "\\/"),
                home.replace('/', "%2F"),
                home.replace('/', "%2f"),
            ];
            if stands == Stands::Anywhere {
                // A path as the name of a folder, which some programs make of it.
                forms.push(home.replace(['/', '\\', '.', ':'], "-"));
            }
            forms.dedup();
            own.extend(forms.into_iter().map(|text| Own { text, stands }));
        }
        Self { own }
    }

    /// The text with `~` for every home; none when it has none.
    pub(super) fn hide(&self, text: &str) -> Option<String> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for own in &self.own {
            let starts = memmem::find_iter(text.as_bytes(), own.text.as_bytes());
            let range = |start: usize| start..start + own.text.len();
            found.extend(starts.map(range).filter(|range| own.is_at(text, range)));
        }
        for holder in HOLDERS {
            let starts = memmem::find_iter(text.as_bytes(), holder.as_bytes());
            found.extend(starts.filter_map(|at| home_at(text, at, holder)));
        }
        found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        (!found.is_empty()).then(|| replaced(text, &found))
    }
}

fn replaced(text: &str, found: &[Range<usize>]) -> String {
    let mut hidden = String::with_capacity(text.len());
    let mut at = 0;
    for range in found {
        if range.start < at {
            continue;
        }
        hidden.push_str(text.get(at..range.start).unwrap_or_default());
        hidden.push('~');
        at = range.end;
    }
    hidden.push_str(text.get(at..).unwrap_or_default());
    hidden
}

impl Own {
    fn is_at(&self, text: &str, range: &Range<usize>) -> bool {
        let after = text.get(range.end..).unwrap_or_default();
        let begins = self.stands == Stands::Anywhere || begins_path(text, range.start);
        begins && (name_length(after) == 0 || after.starts_with('-') && self.text.starts_with('-'))
    }
}

/// The home whose holding folder is named at a place.
fn home_at(text: &str, at: usize, holder: &str) -> Option<Range<usize>> {
    let (before, after) = (text.get(..at)?, text.get(at + holder.len()..)?);
    let separator = SEPARATORS.iter().copied().chain(["\\"]).find(|s| after.starts_with(s))?;
    let root = before.strip_suffix(separator)?;
    let name = after.get(separator.len()..)?;
    let length = name_length(name);
    let is_name = name.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let is_nobody = NOBODY.contains(&name.get(..length)?);
    if !is_name || is_nobody || length > NAME_MAX {
        return None;
    }
    let start = root.len() - length_above(root, holder);
    begins_path(text, start).then_some(start..at + holder.len() + separator.len() + length)
}

/// How much of what stands before a folder of homes belongs to its path: a drive, or the
/// folder of one.
fn length_above(root: &str, holder: &str) -> usize {
    if let Some(above) = ABOVE.iter().find(|above| root.ends_with(*above)) {
        return above.len();
    }
    if holder != "Users" {
        return 0;
    }
    let drive = |rest: &str| rest.ends_with(|c: char| c.is_ascii_alphabetic());
    let before_drive = |rest: &str, length: usize| {
        let before = rest.get(..rest.len() - length).unwrap_or_default();
        !before.ends_with(|c: char| c.is_alphanumeric())
    };
    match root.strip_suffix(':') {
        Some(rest) if drive(rest) && before_drive(rest, 1) => return 2,
        Some(_) | None => {}
    }
    let mounted = drive(root) && root.get(..root.len() - 1).is_some_and(|r| r.ends_with('/'));
    match root.get(..root.len().saturating_sub(2)) {
        Some(rest) if mounted && rest.ends_with("/mnt") => 6,
        Some(rest) if mounted && !rest.ends_with(|c: char| c.is_alphanumeric() || c == '/') => 2,
        Some(_) | None => 0,
    }
}

/// Letters, digits, `_`, `-` and inner full stops.
fn name_length(text: &str) -> usize {
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let end = text.find(|c: char| !is_inside(c) && c != '.').unwrap_or(text.len());
    text.get(..end).map_or(0, |name| name.trim_end_matches('.').len())
}

/// True where a path can begin, which is not in the middle of another or of an address.
fn begins_path(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let Some(last) = before.chars().next_back() else { return true };
    let continues = last.is_alphanumeric() || "_-.~/\\%)]}$*".contains(last);
    if !continues {
        return true;
    }
    // `file:///home`, `\n/home` in JSON, `-I/home`, `%20%2Fhome`.
    let escape = ["\\n", "\\t", "\\r"].iter().any(|escape| before.ends_with(escape));
    let encoded = before.len() >= 3
        && before.as_bytes().get(before.len() - 3) == Some(&b'%')
        && !before.to_ascii_lowercase().ends_with("%2f");
    let option = before.strip_suffix(last).and_then(|rest| rest.strip_suffix('-'));
    before.ends_with("file://")
        || escape
        || encoded
        || last.is_ascii_alphabetic()
            && option.is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(home: &str, cases: &[(&str, &str)]) {
        let homes = Homes::new((!home.is_empty()).then(|| Path::new(home)));
        for (text, expected) in cases {
            let hidden = homes.hide(text).unwrap_or_else(|| (*text).to_owned());
            assert_eq!(hidden, *expected, "{text}");
        }
    }

    #[test]
    fn everybodys_homes_are_hidden() {
        check(
            "",
            &[
                ("/home/ada/garden", "~/garden"),
                ("cd /home/ada.", "cd ~."),
                ("a:/home/ada.b/x", "a:~/x"),
                ("(/Users/ada/x)", "(~/x)"),
                ("file:///home/ada/x", "file://~/x"),
                ("C:\\Users\\ada\\x", "~\\x"),
                ("\"C:\\\\Users\\\\ada\\\\x\"", "\"~\\\\x\""),
                ("C:/Users/ada", "~"),
                ("/c/Users/ada/x", "~/x"),
                ("/mnt/c/Users/ada/x", "~/x"),
                ("/var/home/ada/x", "~/x"),
                ("\"\\/home\\/ada\\/x\"", "\"~\\/x\""),
                ("?p=%2Fhome%2Fada%2Fx", "?p=~%2Fx"),
                ("line\\n/home/ada", "line\\n~"),
                ("cc -I/home/ada/include", "cc -I~/include"),
                ("/home/gärtner/x", "~/x"),
                // These are no homes.
                ("https://example.org/home/news", "https://example.org/home/news"),
                ("src/home/page.rs", "src/home/page.rs"),
                ("/home/$USER", "/home/$USER"),
                ("/home/", "/home/"),
                ("/home/*/x", "/home/*/x"),
                ("/Users/Shared/x", "/Users/Shared/x"),
                ("at home/ada", "at home/ada"),
                ("~/home/ada", "~/home/ada"),
                ("./home/ada", "./home/ada"),
                ("", ""),
            ],
        );
    }

    #[test]
    fn ones_own_home_is_hidden_wherever_it_is() {
        check(
            "/data/people/ada",
            &[
                ("/data/people/ada", "~"),
                ("x=/data/people/ada/a /data/people/ada", "x=~/a ~"),
                ("/data/people/adam/a", "/data/people/adam/a"),
                ("x/data/people/ada/", "x~/"),
                ("%2Fdata%2Fpeople%2Fada%2Fa", "~%2Fa"),
                ("projects/-data-people-ada-garden/a", "projects/~-garden/a"),
                ("/data/people/ada/home/ada", "~/home/ada"),
            ],
        );
        check("/ada", &[("/ada/x", "~/x"), ("src/ada/x", "src/ada/x"), ("/adam", "/adam")]);
        check("/", &[("/a", "/a")]);
    }
}
