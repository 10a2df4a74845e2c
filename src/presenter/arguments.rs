//! A call's arguments while their JSON is still arriving.
//!
//! Each character is looked at once. String fields of the top object are there from their
//! first character, decoded; other fields once the object is closed, as compact JSON.

/// Fields that are kept; what comes behind them is not shown until the call is complete.
const MAX_FIELDS: usize = 256;

/// The fields read so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ArgumentView {
    fields: Vec<Field>,
    /// Which of `fields` is being read.
    filling: usize,
    at: At,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    name: String,
    value: String,
    kind: FieldKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldKind {
    Unknown,
    Text,
    Json,
}

/// What is expected next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum At {
    #[default]
    Object,
    Name,
    InName(StringReader, String),
    Colon,
    Value,
    InText(StringReader),
    InJson(JsonReader),
    Comma,
    Closed,
    /// This is no JSON object, or too large a one: what is there stays.
    Lost,
}

impl ArgumentView {
    /// Reads on.
    pub(super) fn push(&mut self, delta: &str) {
        for c in delta.chars() {
            let at = std::mem::take(&mut self.at);
            self.at = self.step(at, c);
        }
    }

    /// The fields that can be shown, in order of arrival.
    pub(super) fn params(&self) -> impl Iterator<Item = (&str, &str)> {
        let closed = self.at == At::Closed;
        self.fields.iter().filter_map(move |field| match field.kind {
            FieldKind::Text => Some((field.name.as_str(), field.value.as_str())),
            FieldKind::Json if closed => Some((field.name.as_str(), field.value.as_str())),
            FieldKind::Json | FieldKind::Unknown => None,
        })
    }

    fn step(&mut self, at: At, c: char) -> At {
        match (at, c) {
            (At::InName(reader, name), c) => self.in_name(reader, name, c),
            (At::InText(reader), c) => self.in_text(reader, c),
            (At::InJson(reader), c) => self.in_json(reader, c),
            (at, ' ' | '\t' | '\n' | '\r') => at,
            (At::Object, '{') | (At::Comma, ',') => At::Name,
            (At::Name, '"') => At::InName(StringReader::default(), String::new()),
            (At::Name | At::Comma, '}') => At::Closed,
            (At::Colon, ':') => At::Value,
            (At::Value, '"') => {
                self.begin_value(FieldKind::Text);
                At::InText(StringReader::default())
            }
            (At::Value, c) => {
                self.begin_value(FieldKind::Json);
                self.in_json(JsonReader::default(), c)
            }
            (At::Object | At::Name | At::Colon | At::Comma | At::Closed | At::Lost, _) => At::Lost,
        }
    }

    fn in_name(&mut self, mut reader: StringReader, mut name: String, c: char) -> At {
        if !reader.step(c, &mut name) {
            return At::InName(reader, name);
        }
        self.filling = match self.fields.iter().position(|field| field.name == name) {
            Some(known) => known,
            None if self.fields.len() == MAX_FIELDS => return At::Lost,
            None => {
                self.fields.push(Field { name, value: String::new(), kind: FieldKind::Unknown });
                self.fields.len() - 1
            }
        };
        At::Colon
    }

    /// A field that was there before starts anew: the last one wins.
    fn begin_value(&mut self, kind: FieldKind) {
        let field = &mut self.fields[self.filling];
        field.kind = kind;
        field.value.clear();
    }

    fn in_text(&mut self, mut reader: StringReader, c: char) -> At {
        let over = reader.step(c, &mut self.fields[self.filling].value);
        if over { At::Comma } else { At::InText(reader) }
    }

    fn in_json(&mut self, mut reader: JsonReader, c: char) -> At {
        match reader.step(c, &mut self.fields[self.filling].value) {
            JsonStep::More => At::InJson(reader),
            JsonStep::Over => At::Comma,
            // A number ends only where something else begins.
            JsonStep::OverBefore => self.step(At::Comma, c),
        }
    }
}

/// Decodes a JSON string behind its opening quote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct StringReader {
    escape: Escape,
    /// The first half of a surrogate pair.
    high: Option<u16>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    Backslash,
    Unicode {
        digits: u8,
        unit: u16,
    },
}

impl StringReader {
    /// Takes a character; true when it is the closing quote.
    fn step(&mut self, c: char, out: &mut String) -> bool {
        match (std::mem::take(&mut self.escape), c) {
            (Escape::None, '\\') => self.escape = Escape::Backslash,
            (Escape::Backslash, 'u') => self.escape = Escape::Unicode { digits: 0, unit: 0 },
            (Escape::None, '"') => {
                self.give_up_pair(out);
                return true;
            }
            (Escape::None, c) => self.push(c, out),
            (Escape::Backslash, c) => self.push(unescaped(c), out),
            (Escape::Unicode { digits, unit }, c) => match c.to_digit(16) {
                Some(digit) => self.push_digit(digits + 1, unit << 4 | digit as u16, out),
                None => {
                    self.push(char::REPLACEMENT_CHARACTER, out);
                    return self.step(c, out);
                }
            },
        }
        false
    }

    fn push(&mut self, c: char, out: &mut String) {
        self.give_up_pair(out);
        out.push(c);
    }

    fn push_digit(&mut self, digits: u8, unit: u16, out: &mut String) {
        if digits < 4 {
            self.escape = Escape::Unicode { digits, unit };
            return;
        }
        if let Some(high) = self.high.take() {
            if let Some(Ok(c)) = char::decode_utf16([high, unit]).next() {
                out.push(c);
                return;
            }
            out.push(char::REPLACEMENT_CHARACTER);
        }
        match char::from_u32(u32::from(unit)) {
            Some(c) => out.push(c),
            None if unit < 0xdc00 => self.high = Some(unit),
            None => out.push(char::REPLACEMENT_CHARACTER),
        }
    }

    fn give_up_pair(&mut self, out: &mut String) {
        if self.high.take().is_some() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

fn unescaped(c: char) -> char {
    match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        c => c,
    }
}

/// Copies a JSON value that is no string, without the white space between its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct JsonReader {
    depth: u32,
    string: InString,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum InString {
    #[default]
    No,
    Yes,
    Escaped,
}

enum JsonStep {
    More,
    Over,
    OverBefore,
}

impl JsonReader {
    fn step(&mut self, c: char, out: &mut String) -> JsonStep {
        if self.string != InString::No {
            out.push(c);
            self.string = match (self.string, c) {
                (InString::Yes, '"') => InString::No,
                (InString::Yes, '\\') => InString::Escaped,
                _ => InString::Yes,
            };
            return JsonStep::More;
        }
        match c {
            ',' | '}' | ']' if self.depth == 0 => return JsonStep::OverBefore,
            ' ' | '\t' | '\n' | '\r' => return JsonStep::More,
            '"' => self.string = InString::Yes,
            '{' | '[' => self.depth += 1,
            '}' | ']' => self.depth -= 1,
            _ => {}
        }
        out.push(c);
        if self.depth == 0 && matches!(c, '}' | ']') { JsonStep::Over } else { JsonStep::More }
    }
}

#[cfg(test)]
mod tests {
    use super::ArgumentView;

    #[track_caller]
    fn check(json: &str, expected: &[(&str, &str)]) {
        let mut whole = ArgumentView::default();
        whole.push(json);
        assert_eq!(whole.params().collect::<Vec<_>>(), expected, "{json}");
        let mut by_characters = ArgumentView::default();
        json.chars().for_each(|c| by_characters.push(c.encode_utf8(&mut [0; 4])));
        assert_eq!(by_characters, whole, "{json}");
    }

    #[test]
    fn strings_are_there_from_their_first_character() {
        check(r#"{"pa"#, &[]);
        check(r#"{"path":"#, &[]);
        check(r#"{"path":""#, &[("path", "")]);
        check(r#"{"path":"src/ma"#, &[("path", "src/ma")]);
        check(r#"{ "a" : "1" , "b" : "2"#, &[("a", "1"), ("b", "2")]);
    }

    #[test]
    fn escapes_are_decoded_when_they_are_whole() {
        check(r#"{"s":"a\nb\"c"#, &[("s", "a\nb\"c")]);
        check(r#"{"s":"a\"#, &[("s", "a")]);
        check(r#"{"a":"\u00e"#, &[("a", "")]);
        check(r#"{"a":"\u00e9"#, &[("a", "é")]);
        check(r#"{"a":"\ud83c\udf0d!"#, &[("a", "🌍!")]);
        check(r#"{"a":"\ud83c"#, &[("a", "")]);
        check(r#"{"a":"\ud83cx\udf0d"}"#, &[("a", "\u{fffd}x\u{fffd}")]);
        check(r#"{"a":"\ud83c\ud83c\udf0d"}"#, &[("a", "\u{fffd}🌍")]);
        check(r#"{"a":"\uzz"}"#, &[("a", "\u{fffd}zz")]);
    }

    #[test]
    fn other_values_wait_for_the_object() {
        check(r#"{"n":3,"s":"x"#, &[("s", "x")]);
        check(r#"{"n":3,"s":"x"}"#, &[("n", "3"), ("s", "x")]);
        check(
            r#"{"o": { "k" : [1, "a b\""] }, "t": true }"#,
            &[("o", r#"{"k":[1,"a b\""]}"#), ("t", "true")],
        );
        check(r#"{"o":{"s":"inner"},"s":"ou"#, &[("s", "ou")]);
    }

    #[test]
    fn the_last_of_equal_names_wins() {
        check(r#"{"a":"1","b":"2","a":"3"}"#, &[("a", "3"), ("b", "2")]);
    }

    #[test]
    fn what_is_not_an_object_shows_nothing_more() {
        check("[1]", &[]);
        check(r#"{"a":"1"} x"#, &[("a", "1")]);
        check(r#"{"a":]"#, &[]);
        check(r#"{"a" "b"}"#, &[]);
        let many: String = (0..300).map(|i| format!(r#""k{i}":"v","#)).collect();
        let mut view = ArgumentView::default();
        view.push(&format!("{{{many}"));
        assert_eq!(view.params().count(), super::MAX_FIELDS);
    }
}
