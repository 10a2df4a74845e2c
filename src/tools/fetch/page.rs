//! The text of a page of HTML: enough for a model to read it, in one pass.

/// Elements whose content is not read.
const SKIPPED: &[&str] =
    &["script", "style", "noscript", "template", "svg", "head", "iframe", "object", "canvas"];

/// Elements with a blank line around them.
const BLOCKS: &[&str] = &[
    "p",
    "section",
    "article",
    "header",
    "footer",
    "main",
    "nav",
    "aside",
    "ul",
    "ol",
    "dl",
    "table",
    "blockquote",
    "pre",
    "hr",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "figure",
    "form",
    "details",
];

/// Elements that stand on lines of their own.
const LINES: &[&str] = &["div", "tr", "br", "li", "dt", "dd", "figcaption", "summary", "option"];

/// The text of a page, with headings, list items and the targets of links marked as in
/// markdown. Scripts and styles are left out.
#[must_use]
pub fn text_of_html(html: &str) -> String {
    let mut page = Page::default();
    let mut rest = html;
    while let Some(at) = memchr::memchr(b'<', rest.as_bytes()) {
        page.text(rest.get(..at).unwrap_or_default());
        rest = rest.get(at..).unwrap_or_default();
        rest = page.tag(rest);
    }
    page.text(rest);
    page.finish()
}

#[derive(Default)]
struct Page {
    out: String,
    /// A blank is due before the next word.
    blank: bool,
    /// White space stands as it is.
    is_preformatted: bool,
    /// Where the link that is open leads.
    link: Option<String>,
}

impl Page {
    /// Takes what begins with `<`, and gives what follows it.
    fn tag<'a>(&mut self, html: &'a str) -> &'a str {
        if let Some(rest) = html.strip_prefix("<!--") {
            return rest.split_once("-->").map_or("", |(_, rest)| rest);
        }
        let inner = html.get(1..).unwrap_or_default();
        if !inner.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')) {
            self.text("<");
            return inner;
        }
        let Some(end) = tag_end(inner) else { return "" };
        let (tag, rest) = inner.split_at(end);
        let rest = rest.get(1..).unwrap_or_default();
        let is_end = tag.starts_with('/');
        let name = tag.trim_start_matches('/');
        let length = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
        let (name, attributes) = name.split_at(length);
        let name = name.to_ascii_lowercase();
        if !is_end && SKIPPED.contains(&name.as_str()) && !tag.ends_with('/') {
            return self.skip(&name, rest);
        }
        self.element(&name, attributes, is_end);
        rest
    }

    /// Leaves out an element, but not the title of the page that is in its head.
    fn skip<'a>(&mut self, name: &str, html: &'a str) -> &'a str {
        let close = format!("</{name}");
        let Some(at) = find_ignoring_case(html, &close) else { return "" };
        let inner = html.get(..at).unwrap_or_default();
        if name == "head"
            && let Some(start) = find_ignoring_case(inner, "<title")
            && let Some((_, title)) = inner.get(start..).and_then(|it| it.split_once('>'))
        {
            self.out.push_str("# ");
            self.text(title.split('<').next().unwrap_or_default());
            self.line();
        }
        let rest = html.get(at..).unwrap_or_default();
        rest.split_once('>').map_or("", |(_, rest)| rest)
    }

    fn element(&mut self, name: &str, attributes: &str, is_end: bool) {
        if LINES.contains(&name) {
            self.line();
        } else if BLOCKS.contains(&name) {
            self.line();
            self.out.push('\n');
        }
        match (name, is_end) {
            ("pre", _) => self.is_preformatted = !is_end,
            ("h1" | "h2" | "h3" | "h4" | "h5" | "h6", false) => {
                let level = name.bytes().last().map_or(1, |digit| usize::from(digit - b'0'));
                self.out.push_str(&"#".repeat(level));
                self.blank = true;
            }
            ("li", false) => {
                self.out.push('-');
                self.blank = true;
            }
            ("td" | "th", true) => {
                self.out.push_str(" |");
                self.blank = true;
            }
            ("a", false) => self.link = attribute(attributes, "href"),
            ("a", true) => {
                let link = self.link.take().filter(|link| !link.starts_with(['#', 'j', 'J']));
                if let Some(link) = link {
                    self.out.extend([" (", link.as_str(), ")"]);
                }
            }
            ("img", false) => {
                if let Some(text) = attribute(attributes, "alt").filter(|text| !text.is_empty()) {
                    self.text(&format!(" [picture: {text}] "));
                }
            }
            _ => {}
        }
    }

    fn line(&mut self) {
        self.blank = false;
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    fn text(&mut self, html: &str) {
        let text = unescaped(html);
        if self.is_preformatted {
            self.out.push_str(&text);
            return;
        }
        self.blank |= text.starts_with(char::is_whitespace);
        for word in text.split_whitespace() {
            if self.blank && !self.out.is_empty() && !self.out.ends_with('\n') {
                self.out.push(' ');
            }
            self.out.push_str(word);
            self.blank = true;
        }
        if !text.trim().is_empty() {
            self.blank = text.ends_with(char::is_whitespace);
        }
    }

    fn finish(self) -> String {
        let mut text = String::with_capacity(self.out.len());
        let mut empty = 0;
        for line in self.out.lines() {
            let line = line.trim_end();
            empty = if line.is_empty() { empty + 1 } else { 0 };
            // An item or a heading without words is an ornament.
            if empty < 2 && !matches!(line, "-" | "#" | "##" | "###") {
                text.push_str(line);
                text.push('\n');
            }
        }
        text.trim().to_owned()
    }
}

/// Where a tag ends; `>` in a quoted value does not end it.
fn tag_end(tag: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in tag.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at),
            (None, b'"' | b'\'') if tag.as_bytes().get(at.wrapping_sub(1)) == Some(&b'=') => {
                quote = Some(byte);
            }
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
        if at > 64 * 1024 {
            break;
        }
    }
    // An open quote runs to the end of the page; then the first `>` counts.
    memchr::memchr(b'>', tag.as_bytes())
}

fn attribute(attributes: &str, name: &str) -> Option<String> {
    let at = find_ignoring_case(attributes, &format!("{name}="))?;
    let value = attributes.get(at + name.len() + 1..)?;
    let value = match value.chars().next()? {
        quote @ ('"' | '\'') => value.get(1..)?.split(quote).next()?,
        _ => value.split(|c: char| c.is_whitespace()).next()?,
    };
    Some(unescaped(value))
}

fn find_ignoring_case(text: &str, ascii: &str) -> Option<usize> {
    let (text, wanted) = (text.as_bytes(), ascii.as_bytes());
    let first = *wanted.first()?;
    let candidates =
        memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), text);
    let fits = |at: &usize| {
        text.get(*at..at + wanted.len()).is_some_and(|found| found.eq_ignore_ascii_case(wanted))
    };
    candidates.into_iter().find(fits)
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'&', rest.as_bytes()) {
        out.push_str(rest.get(..at).unwrap_or_default());
        rest = rest.get(at..).unwrap_or_default();
        let entity = rest.get(1..).and_then(|it| it.get(..it.find(';').filter(|at| *at < 10)?));
        match entity.and_then(character) {
            Some(c) => {
                out.push(c);
                rest = rest.split_once(';').map_or("", |(_, rest)| rest);
            }
            None => {
                out.push('&');
                rest = rest.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

fn character(entity: &str) -> Option<char> {
    if let Some(number) = entity.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => number.parse(),
        };
        // What is no number is no entity, and stands as it is.
        return code.ok().and_then(char::from_u32);
    }
    Some(match entity {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "mdash" => '—',
        "ndash" => '–',
        "hellip" => '…',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "copy" => '©',
        "times" => '×',
        _ => return None,
    })
}
