//! Following: files, folders and streams that grow, break off and come back.

mod files; // One file: growing, rotated, cut, rewritten, gone.
mod folders; // What joins, what is left out.
mod load; // Many files at once.
mod streams; // Standard input and addresses.

use std::{
    fmt::Write as _,
    io::Write as _,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, sync_channel},
    },
    time::Duration,
};

use letterpress::{
    engine::{
        Waker,
        follow::{Config, Followed, Following, Notice, Wanted},
    },
    model::{Message, Part, activity::Link},
    perf,
};

const PATIENCE: Duration = Duration::from_secs(30);

/// What is followed in a test, and the wakes that came of it.
struct Wall {
    following: Following,
    woken: Receiver<()>,
    wakes: Arc<AtomicUsize>,
}

fn waker() -> (Waker, Receiver<()>, Arc<AtomicUsize>) {
    let (wake, woken) = sync_channel(1);
    let wakes = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&wakes);
    let waker: Waker = Arc::new(move || {
        count.fetch_add(1, Ordering::Relaxed);
        // One that waits is enough.
        wake.try_send(()).ok();
    });
    (waker, woken, wakes)
}

impl Wall {
    fn of(wanted: Vec<Wanted>, config: Config) -> Self {
        let (waker, woken, wakes) = waker();
        let following = Following::start(wanted, waker, config).expect("something to follow");
        Self { following, woken, wakes }
    }

    fn file(path: &Path) -> Self {
        Self::of(vec![Wanted::File(path.to_owned())], Config::default())
    }

    fn folder(path: &Path) -> Self {
        Self::of(vec![Wanted::Folder(path.to_owned())], Config::default())
    }

    /// Takes in what comes until something holds.
    #[track_caller]
    fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Following) -> bool) {
        let deadline = perf::now() + PATIENCE;
        loop {
            self.following.poll();
            if holds(&mut self.following) {
                return;
            }
            let Some(left) = deadline.checked_duration_since(perf::now()) else { break };
            self.woken.recv_timeout(left.min(Duration::from_millis(20))).ok();
        }
        let state: Vec<_> =
            self.following.conversations().map(|c| format!("{c:?} {}", said(c))).collect();
        panic!("not within {PATIENCE:?}: {what}\n{state:#?}\n{:?}", self.following.warnings());
    }

    /// The only conversation.
    fn only(&mut self) -> &mut Followed {
        self.following.conversations().next().expect("a conversation")
    }

    #[track_caller]
    fn until_said(&mut self, words: &str) {
        self.until(&format!("it says {words:?}"), |following| {
            following.conversations().next().is_some_and(|one| said(one) == words)
        });
    }

    fn said(&mut self) -> String {
        said(self.only())
    }

    /// Sees that nothing comes for a while.
    #[track_caller]
    fn stays_quiet(&mut self) {
        while self.woken.recv_timeout(Duration::from_millis(300)).is_ok() {
            self.following.poll();
        }
        let before = self.wakes.load(Ordering::Relaxed);
        let version = self.following.poll();
        assert!(self.woken.recv_timeout(Duration::from_millis(1_200)).is_err());
        assert_eq!((self.wakes.load(Ordering::Relaxed), self.following.poll()), (before, version));
    }
}

/// The words of all messages in order, with a mark where one is not there yet.
fn said(followed: &mut Followed) -> String {
    let source = followed.source();
    let rows = source.len();
    source.want(0..rows);
    let words: Vec<String> = (0..rows)
        .map(|row| source.message(row).map_or_else(|| "?".to_owned(), |m| words_of(&m)))
        .collect();
    words.join(" ")
}

fn words_of(message: &Message) -> String {
    let mut words = String::new();
    for part in &message.parts {
        match part {
            Part::Text(text) => words.push_str(&text.source),
            Part::ToolCall(call) => {
                let result = call.result.as_ref().map_or("…", |result| &*result.output.text);
                _ = write!(words, "[{} {result}]", call.name);
            }
            Part::Notice(notice) => _ = write!(words, "({})", notice.text.source),
            Part::Raw(raw) => _ = write!(words, "<{}>", raw.text),
            other => _ = write!(words, "{other:?}"),
        }
    }
    words
}

const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-05-01T10:00:00Z\",\"cwd\":\"/w/demo\"}\n";

/// A prompt of a pi session, as a whole line.
fn prompt(id: &str, parent: &str, words: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"message\":{{\"role\":\"user\",\"content\":\"{words}\"}}}}\n"
    )
}

/// A session whose prompts say these words, each below the one before.
fn session(words: &[&str]) -> String {
    let mut text = HEADER.to_owned();
    let mut parent = "";
    for word in words {
        text.push_str(&prompt(word, parent, word));
        parent = word;
    }
    text
}

fn append(path: &Path, text: &str) {
    append_bytes(path, text.as_bytes());
}

fn append_bytes(path: &Path, bytes: &[u8]) {
    let mut file = std::fs::OpenOptions::new().append(true).open(path).expect("a file");
    file.write_all(bytes).expect("room");
}

struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("a file");
        path
    }
}

fn noticed(notice: Notice) -> Config {
    Config { notice, ..Config::default() }
}

fn is_lost(followed: &Followed) -> bool {
    matches!(followed.link(), Link::Lost { .. })
}
