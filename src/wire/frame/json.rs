//! JSON values over chunks of bytes: one document, several, or the elements of an array.

use super::{EVENT_LIMIT, TooLarge};

/// Follows the structure of JSON without building anything.
#[derive(Clone, Debug, Default)]
pub(in crate::wire) struct Scan {
    depth: u32,
    in_string: bool,
    escaped: bool,
}

impl Scan {
    /// Takes one byte. True when a bracket just closed the outermost value.
    pub(in crate::wire) fn step(&mut self, byte: u8) -> bool {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' if self.depth > 0 => {
                self.depth -= 1;
                return self.depth == 0;
            }
            _ => {}
        }
        false
    }

    fn is_idle(&self) -> bool {
        self.depth == 0 && !self.in_string
    }
}

/// Cuts chunks of bytes into JSON values that stand one behind the other, or that are the
/// elements of one array around them all. Values arrive as soon as they are whole.
#[derive(Debug, Default)]
pub struct JsonFramer {
    scan: Scan,
    value: Vec<u8>,
    /// The first byte opened an array whose elements are the values.
    in_array: bool,
    begun: bool,
}

impl JsonFramer {
    /// A framer at the start of a body.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls `each` with every value that is complete now.
    ///
    /// # Errors
    /// When a value grows over the limit.
    pub fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8])) -> Result<(), TooLarge> {
        for &byte in bytes {
            if self.value.is_empty() && self.skips(byte) {
                continue;
            }
            if self.value.len() >= EVENT_LIMIT {
                return Err(TooLarge);
            }
            self.value.push(byte);
            if self.scan.step(byte) {
                each(&self.value);
                self.value.clear();
            }
        }
        Ok(())
    }

    /// What the end of the body cut off, if anything.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        (!self.value.is_empty()).then(|| std::mem::take(&mut self.value))
    }

    /// Bytes between values: space, commas, the brackets of the array around them, and a
    /// byte order mark.
    fn skips(&mut self, byte: u8) -> bool {
        debug_assert!(self.scan.is_idle(), "between values the scan is idle");
        if byte.is_ascii_whitespace() || matches!(byte, 0xEF | 0xBB | 0xBF) {
            return true;
        }
        let first = !std::mem::replace(&mut self.begun, true);
        match byte {
            b'[' if first => self.in_array = true,
            b',' | b']' if self.in_array => {}
            _ => return false,
        }
        true
    }
}
