//! A transcript of another program, or a branch of one of ours, as a new session of ours.
//!
//! The source is read one message at a time and never written. The new session is seen only
//! when it is whole.

use std::{path::PathBuf, sync::Arc};

use super::{
    error::{Error, Result, io_words},
    export::{Subject, subject::Matter},
    timestamp,
    work::{self, Handle, Stage, Watch, cancelled},
};
use crate::{
    engine::reader::Waker,
    model::{
        MessageId,
        record::{Imported, Kind, Meta, encode_message, placed},
    },
    store::{SessionId, Store},
};

/// What is imported.
#[derive(Clone, Debug)]
pub struct Request {
    /// The transcript.
    pub file: PathBuf,
    /// The id of the leaf whose branch is taken instead of the active one.
    pub branch: Option<String>,
    /// A message of the transcript whose place in the session is to be told.
    pub at: Option<MessageId>,
}

/// What came of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The new session.
    pub session: SessionId,
    /// How many messages it has.
    pub messages: u64,
    /// Things that were met and survived.
    pub warnings: u64,
    /// Where the message that was asked about is now.
    pub at: Option<MessageId>,
}

/// Starts an import. `waker` is called from time to time, and at its end.
///
/// # Errors
/// When the system gives no further thread.
pub fn start(request: Request, store: Store, waker: Waker) -> std::io::Result<Handle<Done>> {
    work::start("letterpress-import", waker, move |look| run(&request, &store, look))
}

/// Writes a transcript into a store as a session.
fn run(request: &Request, store: &Store, watch: &mut dyn Watch) -> Result<Done> {
    let subject = Subject::File(request.file.clone());
    let matter = Matter::open(subject, request.branch.as_deref(), watch)?;
    let rows = matter.rows(None);
    if rows.is_empty() {
        let place = request.file.display().to_string();
        return Err(Error::failed(
            "there is nothing to continue: the file holds no messages",
            place,
        ));
    }
    let failed = |error: &std::io::Error| {
        let place = store.root().display().to_string();
        Error::failed(format!("the session cannot be kept: {}", io_words(error)), place)
    };
    let now_ms = timestamp::now_ms();
    let mut whole = store.begin_whole(&meta(&matter), now_ms).map_err(|error| failed(&error))?;
    let mut done = Done { session: SessionId::fresh(now_ms), messages: 0, warnings: 0, at: None };
    let mut parent = None;
    for row in &rows {
        let row = *row as usize;
        let (message, met) = matter.message(row, |message| message);
        let body = encode_message(&message, &[], &mut |bytes| whole.blob(bytes));
        let body = placed(None, parent.as_deref(), body);
        // A message without a time must not be given that of its import.
        let at_ms = if message.timestamp_ms.is_some() { now_ms } else { 0 };
        let written = whole.append(Kind::of(&message), body, at_ms);
        let written = written.map_err(|error| failed(&error))?;
        parent = Some(format!("m{}", written.n));
        if request.at == Some(matter.id(row)) {
            done.at = Some(MessageId(written.offset));
        }
        done.messages += 1;
        done.warnings += met.len() as u64;
        if watch.saw(Stage::Writing, done.messages, rows.len() as u64).is_break() {
            return Err(cancelled());
        }
    }
    whole.finish(&done.session).map_err(|error| failed(&error))?;
    Ok(done)
}

/// What the new session says of itself.
fn meta(matter: &Matter) -> serde_json::Value {
    let title: Option<Arc<str>> = matter.title().map(Arc::from);
    let path = matter.place();
    let path = std::path::absolute(&path).map_or(path, |path| path.to_string_lossy().into_owned());
    let imported =
        Imported { format: matter.format().into(), path: path.into(), title: title.clone() };
    let program = format!("letterpress {}", env!("CARGO_PKG_VERSION"));
    let meta =
        Meta { title, imported: Some(imported), program: Some(program.into()), ..Meta::default() };
    meta.to_body()
}
