//! Text inside a page: nothing in it is markup, and no link leads anywhere unexpected.

use std::fmt::{self, Write as _};

use crate::{
    app::export::visible::one_line,
    view::link_gate::{self, Link, LinkContext, LinkGate, Verdict},
};

/// A text in which `& < > " '` stand for themselves, in content and in attributes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'', '\0']) {
            let Some((plain, special)) = rest.split_at_checked(at) else { break };
            f.write_str(plain)?;
            let mut chars = special.chars();
            match chars.next() {
                Some('&') => f.write_str("&amp;")?,
                Some('<') => f.write_str("&lt;")?,
                Some('>') => f.write_str("&gt;")?,
                Some('"') => f.write_str("&quot;")?,
                Some('\'') => f.write_str("&#39;")?,
                _ => f.write_char('\u{fffd}')?,
            }
            rest = chars.as_str();
        }
        f.write_str(rest)
    }
}

/// Where a link leads, as a page has it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// It can be followed.
    Followed(String),
    /// It is only said: the window would ask before it follows it, or refuse, and a page
    /// cannot ask.
    Said(String),
}

impl Target {
    /// As the gate judges a link that anybody may have written.
    pub(super) fn of(target: &str, shown: &str) -> Self {
        match LinkGate::judge(Link { target, shown, context: LinkContext::Untrusted }) {
            Verdict::Open(url) => Self::Followed(url.into()),
            Verdict::Ask { url, .. } => Self::Said(link_gate::display(&url).text),
            Verdict::Refuse(_) => Self::Said(one_line(target)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_text() {
        let text = "<a href=\"x\" title='y'>&\0</a>";
        let expected = "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;\u{fffd}&lt;/a&gt;";
        assert_eq!(Escaped(text).to_string(), expected);
    }

    #[test]
    fn links_are_followed_by_the_gates_rules() {
        for target in ["https://example.org/a?b=1", "http://example.org/", "mailto:a@example.org"] {
            assert!(matches!(Target::of(target, "here"), Target::Followed(_)), "{target}");
        }
        for target in [
            "javascript:alert(1)",
            " java\nscript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "vbscript:x",
            "//example.org",
            "a.html",
            "#top",
            "",
            "https://example.org@example.com/",
        ] {
            assert!(matches!(Target::of(target, "here"), Target::Said(_)), "{target}");
        }
        let spoof = Target::of("https://example.com/", "https://example.org");
        assert_eq!(spoof, Target::Said("https://example.com/".to_owned()));
    }
}
