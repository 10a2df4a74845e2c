//! A disk in memory that writes down what it was asked, and can be found again as it may be
//! after a crash at any of the calls.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    fmt,
    fs::TryLockError,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use letterpress::store::{
    Disk, DiskFile,
    disk::{Listing, Opening},
};
use parking_lot::Mutex;

/// All that is on a disk.
#[derive(Clone, Debug, Default)]
pub(super) struct Image {
    pub(super) folders: BTreeSet<PathBuf>,
    pub(super) names: BTreeMap<PathBuf, usize>,
    pub(super) files: Vec<Arc<Vec<u8>>>,
}

impl Image {
    pub(super) fn bytes(&self, path: &str) -> Option<&[u8]> {
        let inode = self.names.get(Path::new(path))?;
        self.files.get(*inode).map(|bytes| bytes.as_slice())
    }

    pub(super) fn hash(&self) -> u64 {
        let mut hash = 0;
        let mut add = |bytes: &[u8]| {
            let sum = u64::from(crc32c::crc32c(bytes)) << 32 | bytes.len() as u64;
            hash = (hash ^ sum).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        };
        self.folders.iter().for_each(|path| add(path.as_os_str().as_encoded_bytes()));
        for (path, inode) in &self.names {
            add(path.as_os_str().as_encoded_bytes());
            add(&self.files[*inode]);
        }
        hash
    }
}

/// Something that was done to the disk, or said about it.
#[derive(Clone, Debug)]
pub(super) enum Op {
    MakeFolder(PathBuf),
    Create(PathBuf, usize),
    Write(usize, Arc<[u8]>),
    Sync(usize),
    Truncate(usize, u64),
    Rename(PathBuf, PathBuf),
    SyncFolder(PathBuf),
    Remove(PathBuf),
    /// The record of this number was said to be on the disk.
    Ack(u64),
}

impl Op {
    pub(super) fn short(&self) -> String {
        match self {
            Self::Write(inode, bytes) => format!("Write({inode}, {} bytes)", bytes.len()),
            other => format!("{other:?}"),
        }
    }
}

/// A call that is about to be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) what: What,
    pub(super) path: &'a Path,
    pub(super) bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    MakeFolder,
    Open,
    Write,
    Sync,
    Truncate,
    Rename,
    SyncFolder,
    Remove,
    Lock,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verdict {
    Go,
    Fail(io::ErrorKind),
    /// So many bytes are taken.
    Short(usize),
    /// It says that it was done.
    Lie,
}

pub(super) type Hook = Box<dyn FnMut(Call<'_>) -> Verdict + Send>;

#[derive(Clone)]
pub(super) struct SimDisk(Arc<Mutex<State>>);

struct State {
    now: Image,
    base: Image,
    locked: BTreeSet<usize>,
    ops: Vec<Op>,
    hook: Option<Hook>,
}

impl fmt::Debug for SimDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SimDisk")
    }
}

impl SimDisk {
    pub(super) fn new() -> Self {
        Self::of(Image { folders: BTreeSet::from([PathBuf::from("/")]), ..Image::default() })
    }

    pub(super) fn of(base: Image) -> Self {
        let (now, locked, ops) = (base.clone(), BTreeSet::new(), Vec::new());
        Self(Arc::new(Mutex::new(State { now, base, locked, ops, hook: None })))
    }

    pub(super) fn hook(&self, hook: impl FnMut(Call<'_>) -> Verdict + Send + 'static) {
        self.0.lock().hook = Some(Box::new(hook));
    }

    pub(super) fn unhook(&self) {
        self.0.lock().hook = None;
    }

    pub(super) fn ack(&self, n: u64) {
        self.0.lock().ops.push(Op::Ack(n));
    }

    /// What there was at first, and what was done since.
    pub(super) fn history(&self) -> (Image, Vec<Op>) {
        let state = self.0.lock();
        (state.base.clone(), state.ops.clone())
    }

    /// As it is for those who do not crash.
    pub(super) fn image(&self) -> Image {
        self.0.lock().now.clone()
    }

    fn ask(&self, what: What, path: &Path, bytes: usize) -> io::Result<Verdict> {
        let mut state = self.0.lock();
        match state.hook.as_mut().map_or(Verdict::Go, |hook| hook(Call { what, path, bytes })) {
            Verdict::Fail(kind) => Err(kind.into()),
            verdict => Ok(verdict),
        }
    }

    fn record(&self, op: Op) -> io::Result<()> {
        let mut state = self.0.lock();
        state.now.apply(&op)?;
        state.ops.push(op);
        Ok(())
    }
}

impl Image {
    fn apply(&mut self, op: &Op) -> io::Result<()> {
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        match op {
            Op::MakeFolder(path) => {
                if !self.folders.contains(path.parent().unwrap()) {
                    return Err(gone());
                }
                if !self.folders.insert(path.clone()) {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
            }
            Op::Create(path, inode) => {
                if !self.folders.contains(path.parent().unwrap()) {
                    return Err(gone());
                }
                self.files.resize_with(self.files.len().max(inode + 1), Arc::default);
                match self.names.entry(path.clone()) {
                    Entry::Occupied(_) => return Err(io::ErrorKind::AlreadyExists.into()),
                    Entry::Vacant(place) => place.insert(*inode),
                };
            }
            Op::Write(inode, bytes) => {
                Arc::make_mut(&mut self.files[*inode]).extend_from_slice(bytes);
            }
            Op::Truncate(inode, len) => {
                Arc::make_mut(&mut self.files[*inode]).truncate(*len as usize);
            }
            Op::Rename(from, to) => {
                let inode = self.names.remove(from).ok_or_else(gone)?;
                self.names.insert(to.clone(), inode);
            }
            Op::Remove(path) => {
                self.names.remove(path).ok_or_else(gone)?;
            }
            Op::Sync(_) | Op::SyncFolder(_) | Op::Ack(_) => {}
        }
        Ok(())
    }
}

impl Disk for SimDisk {
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.ask(What::MakeFolder, path, 0)?;
        self.record(Op::MakeFolder(path.to_owned()))
    }

    fn open(&self, path: &Path, opening: Opening) -> io::Result<Box<dyn DiskFile>> {
        if opening != Opening::Read {
            self.ask(What::Open, path, 0)?;
        }
        let (found, next) = {
            let state = self.0.lock();
            (state.now.names.get(path).copied(), state.now.files.len())
        };
        let inode = match (found, opening) {
            (Some(_), Opening::New) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Some(inode), _) => inode,
            (None, Opening::Read | Opening::Append) => return Err(io::ErrorKind::NotFound.into()),
            (None, Opening::New | Opening::Lock) => {
                self.record(Op::Create(path.to_owned(), next))?;
                next
            }
        };
        let has_lock = Mutex::new(false);
        Ok(Box::new(SimFile { disk: self.clone(), inode, path: path.to_owned(), has_lock }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.ask(What::Rename, to, 0)?;
        self.record(Op::Rename(from.to_owned(), to.to_owned()))
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        match self.ask(What::SyncFolder, path, 0)? {
            Verdict::Lie => Ok(()),
            Verdict::Go | Verdict::Fail(_) | Verdict::Short(_) => {
                self.record(Op::SyncFolder(path.to_owned()))
            }
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.ask(What::Remove, path, 0)?;
        self.record(Op::Remove(path.to_owned()))
    }

    fn remove_folder(&self, _path: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Listing>> {
        let state = self.0.lock();
        let listing = |inside: &PathBuf, is_folder, bytes| {
            (inside.parent() == Some(path)).then(|| Listing {
                name: inside.file_name().unwrap().to_string_lossy().into_owned(),
                is_folder,
                bytes,
                modified_ms: 0,
            })
        };
        let folders = state.now.folders.iter().filter_map(|inside| listing(inside, true, 0));
        let files = state.now.names.iter().filter_map(|(inside, inode)| {
            listing(inside, false, state.now.files[*inode].len() as u64)
        });
        Ok(folders.chain(files).collect())
    }

    fn exists(&self, path: &Path) -> bool {
        let state = self.0.lock();
        state.now.folders.contains(path) || state.now.names.contains_key(path)
    }
}

#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    inode: usize,
    path: PathBuf,
    has_lock: Mutex<bool>,
}

impl DiskFile for SimFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = match self.disk.ask(What::Write, &self.path, bytes.len())? {
            Verdict::Short(taken) => taken.min(bytes.len()),
            Verdict::Go | Verdict::Fail(_) | Verdict::Lie => bytes.len(),
        };
        self.disk.record(Op::Write(self.inode, bytes[..taken].into()))?;
        Ok(taken)
    }

    fn sync(&mut self) -> io::Result<()> {
        match self.disk.ask(What::Sync, &self.path, 0)? {
            Verdict::Lie => Ok(()),
            Verdict::Go | Verdict::Fail(_) | Verdict::Short(_) => {
                self.disk.record(Op::Sync(self.inode))
            }
        }
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.disk.ask(What::Truncate, &self.path, 0)?;
        self.disk.record(Op::Truncate(self.inode, len))
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        let state = self.disk.0.lock();
        let rest = state.now.files[self.inode].get(at as usize..).unwrap_or_default();
        let len = rest.len().min(into.len());
        into[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.disk.0.lock().now.files[self.inode].len() as u64)
    }

    fn try_lock(&self) -> Result<(), TryLockError> {
        self.disk.ask(What::Lock, &self.path, 0).map_err(TryLockError::Error)?;
        let mut state = self.disk.0.lock();
        match state.locked.insert(self.inode) {
            true => {
                *self.has_lock.lock() = true;
                Ok(())
            }
            false => Err(TryLockError::WouldBlock),
        }
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        if *self.has_lock.get_mut() {
            self.disk.0.lock().locked.remove(&self.inode);
        }
    }
}

/// What is certain, and what a crash may or may not leave of the rest.
pub(super) struct Crasher {
    /// All calls so far.
    kept: Image,
    /// What is on the disk of each file.
    durable: Vec<Arc<Vec<u8>>>,
    /// What may be: `(file, op)`, in the order of the calls.
    pending: Vec<(usize, Op)>,
    /// Names that are on the disk, and those of folders.
    names: BTreeMap<PathBuf, usize>,
    folders: BTreeSet<PathBuf>,
    /// Folders whose names changed since they were synced.
    loose: BTreeSet<PathBuf>,
}

impl Crasher {
    pub(super) fn new(base: &Image) -> Self {
        Self {
            kept: base.clone(),
            durable: base.files.clone(),
            pending: Vec::new(),
            names: base.names.clone(),
            folders: base.folders.clone(),
            loose: BTreeSet::new(),
        }
    }

    pub(super) fn apply(&mut self, op: &Op) {
        self.kept.apply(op).unwrap();
        self.durable.resize_with(self.kept.files.len(), Arc::default);
        let mut touch = |path: &Path| {
            self.loose.insert(path.parent().unwrap().to_owned());
        };
        match op {
            Op::MakeFolder(path) | Op::Create(path, _) | Op::Remove(path) => touch(path),
            Op::Rename(from, to) => {
                touch(from);
                touch(to);
            }
            Op::Write(inode, _) | Op::Truncate(inode, _) => {
                self.pending.push((*inode, op.clone()));
            }
            Op::Sync(inode) => {
                self.durable[*inode] = Arc::clone(&self.kept.files[*inode]);
                self.pending.retain(|(other, _)| other != inode);
            }
            Op::SyncFolder(folder) => self.sync_names(folder),
            Op::Ack(_) => {}
        }
    }

    fn sync_names(&mut self, folder: &Path) {
        let inside = |path: &PathBuf| path.parent() == Some(folder);
        self.names.retain(|path, _| !inside(path));
        let names = self.kept.names.iter().filter(|(path, _)| inside(path));
        self.names.extend(names.map(|(path, inode)| (path.clone(), *inode)));
        self.folders.extend(self.kept.folders.iter().filter(|path| inside(path)).cloned());
        self.loose.remove(folder);
    }

    /// What a crash now may leave: one image after the other.
    pub(super) fn images(
        &self,
        mut random: impl FnMut(usize) -> usize,
        see: &mut dyn FnMut(Image),
    ) {
        let all: Vec<_> = self.loose.iter().cloned().collect();
        let mut name_sets: Vec<Vec<PathBuf>> = vec![Vec::new(), all.clone()];
        if all.len() > 1 {
            name_sets.extend(all.iter().map(|folder| vec![folder.clone()]));
        }
        let mut contents = vec![self.kept.files.clone(), self.durable.clone()];
        self.torn(&mut random, &mut contents);
        for lost in &name_sets {
            let names = self.names_without(lost);
            for files in &contents {
                let (folders, names) = names.clone();
                see(Image { folders, names, files: files.clone() });
            }
        }
    }

    /// The names when some folders are as they were synced last.
    fn names_without(&self, lost: &[PathBuf]) -> (BTreeSet<PathBuf>, BTreeMap<PathBuf, usize>) {
        let is_lost =
            |path: &Path| path.parent().is_some_and(|folder| lost.iter().any(|it| it == folder));
        let kept = self.kept.folders.iter().filter(|path| !is_lost(path));
        let mut folders: BTreeSet<_> =
            kept.chain(self.folders.iter().filter(|path| is_lost(path))).cloned().collect();
        // What is in a folder that is not there is not there.
        let known = folders.clone();
        folders.retain(|path| path.ancestors().all(|above| known.contains(above)));
        let kept = self.kept.names.iter().filter(|(path, _)| !is_lost(path));
        let durable = self.names.iter().filter(|(path, _)| is_lost(path));
        let names = kept.chain(durable).map(|(path, inode)| (path.clone(), *inode));
        let names = names.filter(|(path, _)| folders.contains(path.parent().unwrap()));
        let names = names.collect();
        (folders, names)
    }

    /// The last write in parts, with zeros, and without those before it.
    fn torn(&self, random: &mut impl FnMut(usize) -> usize, contents: &mut Vec<Vec<Arc<Vec<u8>>>>) {
        let Some((inode, Op::Write(_, bytes))) = self.pending.last() else { return };
        let whole = &self.kept.files[*inode];
        let before = whole.len() - bytes.len();
        let mut with = |content: Vec<u8>| {
            let mut files = self.kept.files.clone();
            files[*inode] = Arc::new(content);
            contents.push(files);
        };
        let mut cuts = vec![1, 511, 512, 4096, bytes.len().saturating_sub(1)];
        cuts.extend((0..4).map(|_| random(bytes.len())));
        for cut in cuts.into_iter().filter(|cut| *cut < bytes.len()) {
            with(whole[..before + cut].to_vec());
            let mut zeroed = whole[..before + cut].to_vec();
            zeroed.resize(whole.len(), 0);
            with(zeroed);
        }
        let durable = self.durable[*inode].len();
        if durable < before {
            let mut reordered = whole.to_vec();
            reordered[durable..before].fill(0);
            with(reordered);
            // A sector of what came before is missing.
            let mut hole = whole.to_vec();
            let from = durable + random(before - durable);
            let to = (from + 512).min(before);
            hole[from..to].fill(0);
            with(hole);
        }
    }
}
