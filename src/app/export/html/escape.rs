//! Text inside a page: nothing in it is markup, and no link leads anywhere unexpected.

use std::fmt::{self, Write as _};

use url::Url;

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

/// The address of a link that may be followed: `http`, `https` and `mailto` only.
pub(super) fn followed(target: &str) -> Option<String> {
    let url = Url::parse(target).ok()?;
    matches!(url.scheme(), "http" | "https" | "mailto").then(|| url.into())
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
    fn only_harmless_schemes_are_followed() {
        for target in ["https://example.org/a?b=1", "http://example.org/", "mailto:a@example.org"] {
            assert!(followed(target).is_some(), "{target}");
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
        ] {
            assert_eq!(followed(target), None, "{target}");
        }
    }
}
