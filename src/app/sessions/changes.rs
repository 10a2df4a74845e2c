//! What is done to a session from outside of it: named, pinned, put away, thrown away.

use std::{io, sync::Arc};

use super::super::{error::io_words, timestamp};
use crate::{
    model::record::{Kind, Meta},
    store::{Access, SessionId, Store, Sync, catalog::Catalog},
};

/// Why a session was not changed, in one sentence.
pub type Refused = Arc<str>;

/// Says something about a session in its log. One that is open here is told through its own
/// writer: `open` hands the record to it. Returns when it is on the disk.
///
/// # Errors
/// When another window writes the session, or it cannot be written.
pub async fn change<W>(
    store: &Store,
    catalog: &Catalog,
    id: &SessionId,
    meta: &Meta,
    open: Option<W>,
) -> Result<(), Refused>
where
    W: AsyncFnOnce(&Meta) -> Result<(), Refused>,
{
    let changed = match open {
        Some(open) => open(meta).await,
        None => append(store.clone(), id, meta).await,
    };
    catalog.note(id);
    changed
}

async fn append(store: Store, id: &SessionId, meta: &Meta) -> Result<(), Refused> {
    let name = id.clone();
    let opening = move || store.open_session(&name, timestamp::now_ms());
    let opened = tokio::task::spawn_blocking(opening).await;
    let opened = opened.map_err(|_panicked| Refused::from("The session cannot be opened."))?;
    match opened.map_err(|error| format!("It was not changed: {error}."))?.log {
        Access::Read { why, .. } => Err(format!("It was not changed. {why}").into()),
        Access::Write(log) => {
            let appended = log.append(Kind::Meta, meta.to_body(), Sync::Now).await;
            let saved = appended.saved.await;
            let closed = log.close().await;
            saved.and(closed).map(drop)
        }
    }
}

/// Throws a session away; it can be [had back](restore) for a month. Waits for the disk.
///
/// # Errors
/// When it is open, here or in another window, or cannot be moved.
pub fn delete(store: &Store, catalog: &Catalog, id: &SessionId) -> Result<(), Refused> {
    let thrown = store.trash(id, timestamp::now_ms());
    catalog.note(id);
    thrown.map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => "It is open. Close it first.".into(),
        _ => format!("It was not deleted: {}.", io_words(&error)).into(),
    })
}

/// Takes a session back that was thrown away. Waits for the disk.
///
/// # Errors
/// When there is another one of its name by now, or it cannot be moved.
pub fn restore(store: &Store, catalog: &Catalog, id: &SessionId) -> Result<(), Refused> {
    let restored = store.restore(id);
    catalog.note(id);
    restored.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => "There is another session of its name.".into(),
        _ => format!("It was not taken back: {}.", io_words(&error)).into(),
    })
}
