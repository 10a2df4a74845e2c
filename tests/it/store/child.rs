//! This program again, as one that is killed.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

const ROLE: &str = "LETTERPRESS_STORE_ROLE";
const WORDS: &str = "LETTERPRESS_STORE_WORDS";
/// What a child says begins with this; what the harness says does not.
const SAYS: &str = "> ";

/// Does nothing, unless this process was started by [`start`]: then it plays a part.
#[test]
fn child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let words = std::env::var(WORDS).unwrap();
    let words: Vec<&str> = words.split(' ').collect();
    match role.as_str() {
        "kill" => super::kill::write_until_killed(&words),
        "point" => super::kill::write_to_a_point(&words),
        "limit" => super::fault::write_to_a_limit(&words),
        "modes" => super::basics::make_everything(&words),
        "write" => super::two::write_in_turns(&words),
        "read" => super::two::read_along(&words),
        "type" => super::drafts::type_until_killed(&words),
        other => panic!("no such part: {other}"),
    }
}

/// Says something to whoever started this process.
pub(super) fn say(words: &str) {
    let mut out = io::stdout().lock();
    writeln!(out, "\n{SAYS}{words}").unwrap();
    out.flush().unwrap();
}

/// A process that is ended with the test.
pub(super) struct Started {
    child: Child,
    out: BufReader<ChildStdout>,
}

/// Starts a process that plays a part. `shell` is run before it, by a shell.
pub(super) fn start(role: &str, folder: &Path, words: &str, shell: &str) -> Started {
    let exe = std::env::current_exe().unwrap();
    let mut child = Command::new("sh")
        .args(["-c", &format!(r#"{shell}exec "$0" "$@""#)])
        .arg(exe)
        .args(["--exact", "store::child::child", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(WORDS, format!("{} {words}", folder.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    Started { child, out }
}

impl Started {
    /// The next thing that it says; none at its end.
    pub(super) fn hear(&mut self) -> Option<String> {
        let mut line = Vec::new();
        loop {
            line.clear();
            if self.out.read_until(b'\n', &mut line).unwrap() == 0 {
                return None;
            }
            // The last line may have been cut by the kill.
            let said = line.strip_suffix(b"\n").and_then(|line| line.strip_prefix(SAYS.as_bytes()));
            if let Some(said) = said {
                return Some(String::from_utf8(said.to_vec()).unwrap());
            }
        }
    }

    /// Kills it; all that it had said and was not heard.
    pub(super) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.rest().0
    }

    /// Waits for its end; what it said, and whether it ended well.
    pub(super) fn rest(&mut self) -> (Vec<String>, bool) {
        let said = std::iter::from_fn(|| self.hear()).collect();
        (said, self.child.wait().unwrap().success())
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended long ago.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
