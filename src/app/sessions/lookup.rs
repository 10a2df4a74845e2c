//! Which session is meant by a word.

use std::{path::PathBuf, sync::Arc};

use super::{
    super::{
        error::{Error, Result},
        places::Places,
    },
    catalog, settle, store,
};
use crate::store::{SessionId, Store, catalog::Listed};

/// Names that are told when several are meant.
const TOLD_MAX: usize = 3;

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// A session that is there.
    There(SessionId),
    /// A name that a new session can have.
    New(SessionId),
}

/// The session that is meant by its id, by a beginning of it that no other has, or by its
/// title; none when no session is called so. The index is asked for titles alone.
///
/// # Errors
/// When several are meant.
pub fn find(store: &Store, places: &Places, name: &str) -> Result<Option<SessionId>> {
    if let Some(id) = by_id(store, name)? {
        return Ok(Some(id));
    }
    let catalog = catalog(places, Arc::new(|| ()))?;
    let listing = settle(&catalog)?;
    let is_meant = |listed: &&Listed| !listed.deleted && *listed.title == *name;
    let meant = listing.sessions.iter().filter(is_meant).map(|listed| listed.id.clone());
    only(name, meant.collect())
}

/// The session of a name, or a new one: `[a-z0-9-]+`.
///
/// # Errors
/// When several are meant, or a new session cannot have the name.
pub fn named(store: &Store, places: &Places, name: &str) -> Result<Named> {
    if let Some(id) = find(store, places, name)? {
        return Ok(Named::There(id));
    }
    SessionId::new(name).map(Named::New).ok_or_else(|| {
        let words = format!(
            "there is no session {name:?}, and a new one is called by small letters, digits and \
             hyphens"
        );
        Error::usage(words, "--session")
    })
}

/// The log of the session that is meant; none when no session is called so.
///
/// # Errors
/// When several are meant, or sessions cannot be had.
pub fn find_log(places: &Places, name: &str) -> Result<Option<PathBuf>> {
    if !places.data.exists() {
        return Ok(None);
    }
    let store = store(places)?;
    Ok(find(&store, places, name)?.map(|id| store.log_path(&id)))
}

fn by_id(store: &Store, name: &str) -> Result<Option<SessionId>> {
    let Some(id) = SessionId::new(name) else { return Ok(None) };
    if store.contains(&id) {
        return Ok(Some(id));
    }
    let begin_so = store.ids().into_iter().filter(|id| id.as_str().starts_with(name));
    only(name, begin_so.collect())
}

/// The only one, if there is one.
fn only(name: &str, mut meant: Vec<SessionId>) -> Result<Option<SessionId>> {
    if meant.len() < 2 {
        return Ok(meant.pop());
    }
    let mut told: Vec<_> = meant.iter().take(TOLD_MAX).map(|id| id.as_str().to_owned()).collect();
    if meant.len() > TOLD_MAX {
        told.push(format!("{} more", meant.len() - TOLD_MAX));
    }
    Err(Error::usage(format!("{} sessions may be meant: {}", meant.len(), told.join(", ")), name))
}
