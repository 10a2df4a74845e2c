//! A terminal's text without what moves its cursor and colours it, for a model.

use vte::{Parser, Perform};

/// The text that is left of a terminal's output: escape sequences are gone, a line that was
/// written over is what stands there last, and other control characters are left out.
#[must_use]
pub fn plain_text(output: &str) -> String {
    let mut page = Page { text: String::with_capacity(output.len()), line: 0, returned: false };
    Parser::new().advance(&mut page, output.as_bytes());
    page.text
}

struct Page {
    text: String,
    /// Where the last line starts.
    line: usize,
    /// The cursor is back at its start.
    returned: bool,
}

impl Perform for Page {
    fn print(&mut self, c: char) {
        if self.returned {
            self.text.truncate(self.line);
            self.returned = false;
        }
        self.text.push(c);
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.text.push('\n');
                (self.line, self.returned) = (self.text.len(), false);
            }
            b'\r' => self.returned = true,
            b'\t' => self.print('\t'),
            0x08 if self.text.len() > self.line => drop(self.text.pop()),
            _ => {}
        }
    }
}
