//! Whether the place of the sessions is one where they are safe.

use std::{path::Path, sync::Arc};

use super::Store;

impl Store {
    /// Why sessions are less safe here than they could be, in one sentence; none when all is
    /// well. Asks the system, so not for the UI thread.
    #[must_use]
    pub fn exposure(&self) -> Option<Arc<str>> {
        let root = self.root();
        let shown = root.display();
        // A folder above that others may write lets them put another in its place.
        if [root, super::disk::folder_of(root)].into_iter().any(others_write) {
            return Some(format!("Others may change your sessions: {shown}").into());
        }
        is_remote(root).then(|| {
            format!("Your sessions are on a network disk, which may lose or mix them: {shown}")
                .into()
        })
    }
}

/// May others put files into a folder, and take those of the user away?
#[cfg(unix)]
fn others_write(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    const OTHERS: u32 = 0o022;
    const STICKY: u32 = 0o1000;
    path.metadata().is_ok_and(|metadata| {
        let mode = metadata.permissions().mode();
        mode & OTHERS != 0 && mode & STICKY == 0
    })
}

#[cfg(not(unix))]
fn others_write(_path: &Path) -> bool {
    false
}

/// Is it on a disk that other computers have too?
#[cfg(target_os = "linux")]
fn is_remote(path: &Path) -> bool {
    /// NFS, SMB 1, CIFS, SMB 2 and 3, 9P, Ceph, AFS, Coda.
    const REMOTE: [i64; 8] = [
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x0102_1997,
        0x00c3_6400,
        0x5346_414f,
        0x7375_7245,
    ];
    rustix::fs::statfs(path).is_ok_and(|found| REMOTE.contains(&(found.f_type & 0xffff_ffff)))
}

#[cfg(not(target_os = "linux"))]
fn is_remote(_path: &Path) -> bool {
    false
}
