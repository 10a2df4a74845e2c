//! Where an export goes: stdout, or a file that appears whole or not at all.

use std::{
    fs::{self, File},
    io::{self, BufWriter, StdoutLock, Write},
    path::{Path, PathBuf},
};

use crate::app::error::{Error, Result};

/// An open output.
pub(super) enum Output {
    Stdout(BufWriter<StdoutLock<'static>>),
    /// A device or a pipe, which cannot be replaced by another file.
    Stream(BufWriter<File>, PathBuf),
    File(Draft),
}

/// A file under another name, until it is whole.
pub(super) struct Draft {
    writer: BufWriter<File>,
    draft: PathBuf,
    target: PathBuf,
}

const BUFFER_BYTES: usize = 256 * 1024;

impl Output {
    /// Opens the file that is named, which must not be the source; else stdout.
    pub(super) fn create(target: Option<&Path>, source: Option<&Path>) -> Result<Self> {
        let Some(target) = target else {
            let stdout = io::stdout().lock();
            return Ok(Self::Stdout(BufWriter::with_capacity(BUFFER_BYTES, stdout)));
        };
        if source.is_some_and(|source| is_same_file(target, source)) {
            let place = target.display().to_string();
            return Err(Error::failed("the output is the transcript itself", place));
        }
        let kind = fs::metadata(target).map(|found| found.file_type());
        match kind {
            Ok(kind) if kind.is_dir() => {
                Err(Error::failed("cannot write: it is a folder", target.display().to_string()))
            }
            Ok(kind) if !kind.is_file() => {
                let file = File::options().write(true).open(target);
                let file = file.map_err(|error| Error::io("cannot write", &error, target))?;
                let writer = BufWriter::with_capacity(BUFFER_BYTES, file);
                Ok(Self::Stream(writer, target.to_owned()))
            }
            Ok(_) | Err(_) => Draft::create(target).map(Self::File),
        }
    }

    pub(super) fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Stdout(writer) => writer,
            Self::Stream(writer, _) => writer,
            Self::File(draft) => &mut draft.writer,
        }
    }

    /// Puts a whole file in its place. What the writer held was flushed before.
    pub(super) fn finish(self) -> Result<()> {
        match self {
            Self::Stdout(_) | Self::Stream(..) => Ok(()),
            Self::File(draft) => draft.finish(),
        }
    }

    /// The error for a write that failed. A draft is removed when it is dropped.
    pub(super) fn failed(&self, error: &io::Error) -> Error {
        let path = match self {
            Self::Stdout(_) => Path::new("stdout"),
            Self::Stream(_, path) => path,
            Self::File(draft) => &draft.target,
        };
        Error::io("cannot write", error, path)
    }
}

impl Draft {
    fn create(target: &Path) -> Result<Self> {
        let failed = |error: &io::Error| Error::io("cannot write", error, target);
        // A link stays a link: what it leads to is replaced.
        let target = &fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        let Some(name) = target.file_name() else {
            return Err(failed(&io::ErrorKind::IsADirectory.into()));
        };
        let mut draft_name = std::ffi::OsString::from(".");
        draft_name.push(name);
        draft_name.push(format!(".{}.tmp", std::process::id()));
        let draft = target.with_file_name(draft_name);
        let file = File::create(&draft).map_err(|error| failed(&error))?;
        let writer = BufWriter::with_capacity(BUFFER_BYTES, file);
        Ok(Self { writer, draft, target: target.to_owned() })
    }

    fn finish(self) -> Result<()> {
        let synced = self.writer.get_ref().sync_all();
        let placed = synced.and_then(|()| fs::rename(&self.draft, &self.target));
        placed.map_err(|error| Error::io("cannot write", &error, &self.target))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After a rename there is nothing to remove, which is the usual case.
        if let Err(error) = fs::remove_file(&self.draft)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, path = %self.draft.display(), "a draft was left behind");
        }
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}
