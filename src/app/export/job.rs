//! An export beside the UI.

use std::{io, path::PathBuf};

use super::{Order, Subject, Summary, output::Output, sheet, subject::Matter};
use crate::{
    app::{
        error::{Error, Result},
        work::{self, Handle, Look},
    },
    engine::reader::Waker,
};

/// An export to be carried out.
#[derive(Clone, Debug)]
pub struct Job {
    /// What is exported.
    pub subject: Subject,
    /// The id of the leaf whose branch is written instead of the active one.
    pub branch: Option<String>,
    /// How.
    pub order: Order,
    /// Where it goes.
    pub destination: Destination,
}

/// Where an export goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A file, which appears whole or not at all.
    File(PathBuf),
    /// Back to whoever asked, as text.
    Text,
}

/// What came of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// What was written.
    pub summary: Summary,
    /// The text, where it was wanted as such.
    pub text: Option<String>,
}

/// Texts of more bytes do not go to the clipboard.
const TEXT_MAX: usize = 64 * 1024 * 1024;

/// Starts an export. `waker` is called from time to time, and at its end.
///
/// # Errors
/// When the system gives no further thread.
pub fn start(job: Job, waker: Waker) -> io::Result<Handle<Done>> {
    work::start("letterpress-export", waker, move |look| carry_out(job, look))
}

fn carry_out(job: Job, look: &mut Look) -> Result<Done> {
    let Job { subject, branch, order, destination } = job;
    let file = match &subject {
        Subject::File(path) => Some(path.clone()),
        Subject::Held(_) => None,
    };
    let matter = Matter::open(subject, branch.as_deref(), look)?;
    match destination {
        Destination::File(target) => {
            let mut out = Output::create(Some(&target), file.as_deref())?;
            let written = sheet::write(&matter, &order, out.writer(), look);
            let summary = written.map_err(|error| look.failed(|| out.failed(&error)))?;
            out.finish().map(|()| Done { summary, text: None })
        }
        Destination::Text => {
            let mut bounded = Bounded::default();
            let written = sheet::write(&matter, &order, &mut bounded, look);
            let too_long = || Error::failed("it is too long for the clipboard", "");
            let summary = written.map_err(|_only_that| look.failed(too_long))?;
            let text = String::from_utf8_lossy(&bounded.0).into_owned();
            Ok(Done { summary, text: Some(text) })
        }
    }
}

/// A text of bounded length.
#[derive(Default)]
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > TEXT_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
