//! A word through the system when a call waits and nobody looks at the window.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
};

use tokio::sync::watch;

use crate::{
    engine::live::Engine,
    model::{Approval, ApprovalId, Snapshot},
};

/// Characters of a conversation's title that are told to the system.
const TITLE: usize = 60;

/// What the system is told. Holds nothing of what would be done: notifications are shown on
/// locked screens and kept in lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Which conversation waits.
    pub title: String,
    /// For which tool.
    pub tool: String,
}

/// How the system is told.
#[derive(Clone)]
pub struct Post(Arc<dyn Fn(Notice) + Send + Sync>);

impl Post {
    /// Tells it in another way.
    #[must_use]
    pub fn new(post: impl Fn(Notice) + Send + Sync + 'static) -> Self {
        Self(Arc::new(post))
    }
}

impl Default for Post {
    fn default() -> Self {
        Self::new(post)
    }
}

impl fmt::Debug for Post {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Post")
    }
}

/// Decides whether to tell the system of a question.
#[derive(Clone, Debug)]
pub(super) struct Announcer {
    looks: Arc<Looks>,
    post: Post,
}

#[derive(Debug)]
struct Looks {
    /// The user has the window before him.
    at_it: AtomicBool,
    /// He wants to be told.
    is_wanted: AtomicBool,
}

impl Announcer {
    pub(super) fn new(post: Post) -> Self {
        let looks = Looks { at_it: AtomicBool::new(true), is_wanted: AtomicBool::new(true) };
        Self { looks: Arc::new(looks), post }
    }

    /// Notes whether the window has the focus.
    pub(super) fn look(&self, at_it: bool) {
        self.looks.at_it.store(at_it, Relaxed);
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.looks.is_wanted.load(Relaxed)
    }

    pub(super) fn want(&self, wanted: bool) {
        self.looks.is_wanted.store(wanted, Relaxed);
    }

    /// Follows a conversation for as long as it lives, beside the UI: a window that cannot
    /// be seen lays out no frames.
    pub(super) fn follow(&self, engine: &Engine, mut snapshots: watch::Receiver<Arc<Snapshot>>) {
        let announcer = self.clone();
        engine.spawn(async move {
            let mut told = None;
            while snapshots.changed().await.is_ok() {
                let snapshot = Arc::clone(&snapshots.borrow_and_update());
                announcer.consider(&snapshot, &mut told);
            }
        });
    }

    fn consider(&self, snapshot: &Snapshot, told: &mut Option<ApprovalId>) {
        let Some(question) = snapshot.question.as_ref() else { return };
        if told.replace(question.id) == Some(question.id) {
            return;
        }
        if !self.looks.at_it.load(Relaxed) && self.is_wanted() {
            (self.post.0)(notice(snapshot, question));
        }
    }
}

fn notice(snapshot: &Snapshot, question: &Approval) -> Notice {
    Notice {
        title: super::chat::title_of(snapshot).chars().take(TITLE).collect(),
        tool: question.tool.replacen("__", " · ", 1),
    }
}

/// Tells the system, on a thread of its own: the bus may take its time.
fn post(notice: Notice) {
    let tell = move || {
        let Notice { title, tool } = notice;
        let shown = notify_rust::Notification::new()
            .appname("Letterpress")
            .summary("A tool waits for your word")
            .body(&format!("{title}\n{tool}"))
            .show();
        if let Err(error) = shown {
            say_once(&error);
        }
    };
    let started = thread::Builder::new().name("notification".to_owned()).spawn(tell);
    if let Err(error) = started {
        say_once(&error);
    }
}

/// A system without notifications is no failure, and is said once.
fn say_once(error: &dyn fmt::Display) {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, Relaxed) {
        tracing::info!(%error, "the system shows no notifications");
    }
}

#[cfg(test)]
mod tests {
    use super::{Announcer, Notice, Post};
    use crate::model::{Approval, ApprovalId, Snapshot};
    use std::sync::{Arc, mpsc::sync_channel};

    fn asking(id: u64) -> Snapshot {
        let approval = Approval {
            id: ApprovalId(id),
            tool: "github__create_issue".into(),
            what: "secret".into(),
            ..Approval::default()
        };
        Snapshot { question: Some(Arc::new(approval)), ..Snapshot::default() }
    }

    #[test]
    fn each_question_is_told_once_and_only_to_who_is_away() {
        let (sender, told) = sync_channel(9);
        let announcer = Announcer::new(Post::new(move |notice| sender.send(notice).unwrap()));
        let mut seen = None;
        announcer.consider(&asking(1), &mut seen);
        assert!(told.try_recv().is_err(), "the user looks at it");
        announcer.look(false);
        announcer.consider(&asking(1), &mut seen);
        assert!(told.try_recv().is_err(), "it was seen when it came");
        announcer.consider(&asking(2), &mut seen);
        announcer.consider(&asking(2), &mut seen);
        let notice = Notice { title: "New chat".into(), tool: "github · create_issue".into() };
        assert_eq!(told.try_iter().collect::<Vec<_>>(), [notice]);
        announcer.want(false);
        announcer.consider(&asking(3), &mut seen);
        assert!(told.try_recv().is_err(), "he does not want to be told");
    }
}
