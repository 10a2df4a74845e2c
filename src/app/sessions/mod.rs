//! Your own sessions: where they are, what they are called, and the commands that list and
//! search them.

mod changes;
mod list;
mod lookup;
mod search;
mod table;

use std::{path::PathBuf, sync::Arc};

use super::{
    cli::General,
    error::{Error, Result},
    places::Places,
    progress::Line,
    work::{Stage, Watch as _},
};
use crate::store::{
    Store,
    catalog::{Catalog, Config, Listing},
    disk::RealDisk,
};

pub use changes::{Refused, change, delete, restore};
pub use list::list;
pub use lookup::{Named, find, find_log, named};
pub use search::search;

/// The file of the index, in the folder that all sessions are kept in.
const INDEX: &str = "index.sqlite";

/// Where everything is kept.
///
/// # Errors
/// When nothing says where.
pub fn places(general: &General) -> Result<Places> {
    Places::find(general)
        .ok_or_else(|| Error::failed("nothing says where sessions are kept", "--data-dir"))
}

/// Opens the store of sessions; its folder is made when it is not there.
///
/// # Errors
/// When it cannot be had.
pub fn store(places: &Places) -> Result<Store> {
    Store::open(places.data.clone(), Arc::new(RealDisk))
        .map_err(|error| Error::io("cannot keep sessions", &error, &places.data))
}

/// Opens the catalog of sessions. It needs no store, and makes no folder.
///
/// # Errors
/// When the system gives no thread.
pub fn catalog(places: &Places, waker: Arc<dyn Fn() + Send + Sync>) -> Result<Catalog> {
    let config = Config { data: places.data.clone(), index: index(places), waker };
    Catalog::open(config)
        .map_err(|error| Error::failed(format!("cannot start: {error}"), String::new()))
}

fn index(places: &Places) -> PathBuf {
    places.data.join(INDEX)
}

/// Waits until all sessions are known; says on a terminal how far that is.
fn settle(catalog: &Catalog) -> Result<Listing> {
    let mut listings = catalog.listing();
    let mut line = Line::new();
    loop {
        let listing = listings.borrow_and_update().clone();
        if listing.is_complete {
            line.clear();
            return Ok(listing);
        }
        if let Some(progress) = listing.progress {
            // A terminal never wants it to end early.
            let _goes_on = line.saw(Stage::Listing, progress.done, progress.total);
        }
        pollster::block_on(listings.changed())
            .map_err(|_gone| Error::failed("the index of sessions was lost", ""))?;
    }
}
