//! Fences and spans that their content cannot close, and what a text leaves open.

/// A fence longer than any run of backticks in the text.
pub(super) fn around(text: &str) -> String {
    "`".repeat(longest_run(text).max(2) + 1)
}

/// A code span around a text without line breaks.
pub(super) fn span(text: &str) -> String {
    let ticks = "`".repeat(longest_run(text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{space}{text}{space}{ticks}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// The line that closes the fence or HTML block that is still open at the end of a text.
pub(super) fn left_open(text: &str) -> Option<String> {
    let mut open: Option<Open<'_>> = None;
    for line in text.lines() {
        open = match open {
            Some(block) if block.closes(line) => None,
            Some(block) => Some(block),
            None => Open::of(line),
        };
    }
    open.map(Open::closing)
}

#[derive(Clone, Copy)]
enum Open<'a> {
    Fence { indent: &'a str, mark: char, length: usize },
    Html { end: &'static str },
}

/// The HTML blocks of `CommonMark` that a blank line does not end.
const HTML: [(&str, &str); 7] = [
    ("<!--", "-->"),
    ("<?", "?>"),
    ("<![cdata[", "]]>"),
    ("<script", "</script>"),
    ("<pre", "</pre>"),
    ("<style", "</style>"),
    ("<textarea", "</textarea>"),
];

impl<'a> Open<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let body = line.trim_start_matches(' ');
        let (indent, _) = line.split_at_checked(line.len() - body.len())?;
        if indent.len() > 3 {
            return None;
        }
        Self::fence(indent, body).or_else(|| Self::html(body))
    }

    fn fence(indent: &'a str, body: &str) -> Option<Self> {
        let mark = body.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = body.trim_start_matches(mark);
        let length = body.len() - info.len();
        let opens = length >= 3 && !(mark == '`' && info.contains('`'));
        opens.then_some(Self::Fence { indent, mark, length })
    }

    fn html(body: &str) -> Option<Self> {
        let line = body.to_ascii_lowercase();
        let (start, end) = HTML.iter().find(|(start, _)| line.starts_with(start))?;
        let closed = line.strip_prefix(start).is_some_and(|rest| rest.contains(end));
        (!closed).then_some(Self::Html { end })
    }

    fn closes(self, line: &str) -> bool {
        match self {
            Self::Fence { mark, length, .. } => {
                let body = line.trim();
                body.len() >= length && body.chars().all(|c| c == mark)
            }
            Self::Html { end } => line.to_ascii_lowercase().contains(end),
        }
    }

    fn closing(self) -> String {
        match self {
            Self::Fence { indent, mark, length } => {
                format!("{indent}{}", mark.to_string().repeat(length))
            }
            Self::Html { end } => end.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_open_is_closed() {
        let cases: [(&str, Option<&str>); 10] = [
            ("plain", None),
            ("```rust\nfn a() {}\n```", None),
            ("```rust\nfn a() {}", Some("```")),
            ("  ~~~~\n```\n~~~", Some("  ~~~~")),
            ("    ```\nindented code", None),
            ("``` a`b\ntext", None),
            ("```\na\n```\n```\nb", Some("```")),
            ("<!-- note", Some("-->")),
            ("<!-- note -->\ntext", None),
            ("<PRE>\nx", Some("</pre>")),
        ];
        for (text, expected) in cases {
            assert_eq!(left_open(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn fences_outgrow_their_content() {
        assert_eq!(around("a"), "```");
        assert_eq!(around("```\n````"), "`````");
        assert_eq!(span("a"), "`a`");
        assert_eq!(span("`a"), "`` `a ``");
    }
}
