//! Reading a key without showing it.

use std::io::{self, IsTerminal as _, Read as _};

use crate::app::error::{Error, Result};

/// Bytes of what is read.
const MAX: u64 = 16 << 10;

/// Reads a key from standard input; on a terminal, after `question` and without an echo.
///
/// # Errors
/// When nothing can be read, or the user leaves.
pub(super) fn read(question: &str) -> Result<String> {
    let failed = |error: io::Error| Error::failed(format!("cannot read the key: {error}"), "stdin");
    if io::stdin().is_terminal() {
        return unseen(question);
    }
    let mut bytes = Vec::new();
    io::stdin().lock().take(MAX).read_to_end(&mut bytes).map_err(failed)?;
    String::from_utf8(bytes).map_err(|_is_secret| Error::failed("that is no key", "stdin"))
}

#[cfg(not(unix))]
fn unseen(_question: &str) -> Result<String> {
    Err(Error::usage("write the key into this command: letterpress keys set NAME < FILE", ""))
}

/// Takes the keys of the terminal one by one: a mode that shows nothing but leaves Ctrl C to
/// the system would stay when that ends the program.
#[cfg(unix)]
fn unseen(question: &str) -> Result<String> {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    let failed = |error: rustix::io::Errno| {
        Error::failed(format!("cannot read the key: {error}"), "the terminal")
    };
    let stdin = io::stdin();
    let before = tcgetattr(&stdin).map_err(failed)?;
    let mut silent = before.clone();
    silent.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
    tcsetattr(&stdin, OptionalActions::Flush, &silent).map_err(failed)?;
    say(question);
    let typed = typed(&mut stdin.lock());
    say("\n");
    tcsetattr(&stdin, OptionalActions::Flush, &before).map_err(failed)?;
    typed
}

/// What was typed until Enter.
#[cfg_attr(not(unix), expect(dead_code, reason = "other systems show what is typed"))]
fn typed(keys: &mut impl io::BufRead) -> Result<String> {
    const INTERRUPT: u8 = 3;
    const END: u8 = 4;
    const ERASE_LINE: u8 = 21;
    let mut line = Vec::new();
    for byte in keys.bytes() {
        let byte =
            byte.map_err(|error| Error::failed(format!("cannot read the key: {error}"), "stdin"))?;
        match byte {
            b'\r' | b'\n' | END => break,
            INTERRUPT => return Err(Error::failed("nothing was changed", "")),
            ERASE_LINE => line.clear(),
            8 | 127 => {
                line.pop();
            }
            _ if line.len() as u64 >= MAX => break,
            byte => line.push(byte),
        }
    }
    String::from_utf8(line).map_err(|_is_secret| Error::failed("that is no key", "stdin"))
}

#[cfg(unix)]
#[expect(clippy::print_stderr, reason = "words to the user of the command")]
fn say(words: &str) {
    eprint!("{words}");
}

#[cfg(test)]
mod tests {
    use super::typed;

    #[test]
    fn a_line_can_be_corrected_and_left() {
        assert_eq!(typed(&mut &b"wrong\x15sk-abd\x7fc\rrest"[..]).unwrap(), "sk-abc");
        assert_eq!(typed(&mut &b"sk-abc"[..]).unwrap(), "sk-abc");
        assert!(typed(&mut &b"sk-abc\x03"[..]).is_err());
        assert!(typed(&mut &b"\xff\n"[..]).is_err());
    }
}
