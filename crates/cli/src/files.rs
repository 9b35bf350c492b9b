//! Files only we may read.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use anyhow::Context as _;
use domain::Secret;

/// Makes the data folder (0700) where it is missing.
pub(crate) fn private_folder(path: &Path) -> anyhow::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .with_context(|| format!("cannot make the folder {}", path.display()))
}

/// Writes a new file that only we can read (0600), whole or not at all. An existing one is left as it is: `AlreadyExists`.
pub(crate) fn new_private(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Replaces a private file in one step: a reader sees the old or the new one.
pub(crate) fn replace_private(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let temporary = Path::new(&name);
    // Left over from a crash.
    drop(fs::remove_file(temporary));
    new_private(temporary, text).with_context(|| format!("cannot write {}", temporary.display()))?;
    fs::rename(temporary, path).with_context(|| format!("cannot replace {}", path.display()))
}

/// Reads a private file; refuses one that others can read.
pub(crate) fn read_private(path: &Path) -> anyhow::Result<Secret> {
    let mode = fs::metadata(path)
        .with_context(|| format!("cannot read {}", path.display()))?
        .permissions()
        .mode();
    anyhow::ensure!(
        mode & 0o077 == 0,
        "{} can be read by others (mode {:03o}); run chmod 600 on it",
        path.display(),
        mode & 0o777
    );
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Secret::new(text.trim_end()))
}
