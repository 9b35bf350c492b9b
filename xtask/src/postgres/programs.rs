//! Finding PostgreSQL's server programs, or installing them where that is possible without asking.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::{process, say};

/// Where Debian keeps one folder per major version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The folder with `initdb`, `postgres` and `pg_ctl`.
///
/// # Errors
/// Says how to install PostgreSQL if it is missing and cannot be installed from here.
pub(super) fn folder() -> anyhow::Result<PathBuf> {
    if let Some(found) = find() {
        return Ok(found);
    }
    let advice = "PostgreSQL is needed (Debian: apt-get install postgresql), or SWITCHBOARD_TEST_POSTGRES with the URL of a server";
    let can_install = is_root() && process::succeeds(Command::new("apt-get").arg("--version"));
    anyhow::ensure!(can_install, advice);
    say::step("installing PostgreSQL from Debian");
    process::run(Command::new("apt-get").args(["update", "-qq"])).context(advice)?;
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-qq", "--no-install-recommends", "postgresql"]);
    process::run(install.env("DEBIAN_FRONTEND", "noninteractive")).context(advice)?;
    find().context(advice)
}

/// Whether this process runs as root, for which `initdb` and `postgres` refuse to work.
pub(super) fn is_root() -> bool {
    user_of(Path::new("/proc/self")).is_some_and(|(user, _)| user == 0)
}

/// User and group that the server runs as when we are root: `postgres` where it exists, else `nobody`.
///
/// # Errors
/// Says that there is neither.
pub(super) fn unprivileged() -> anyhow::Result<(u32, u32)> {
    let users = fs::read_to_string("/etc/passwd").context("reading /etc/passwd")?;
    let find = |name: &str| users.lines().find_map(|line| user_and_group(line, name));
    find("postgres")
        .or_else(|| find("nobody"))
        .context("there is no user `postgres` or `nobody` to run PostgreSQL as")
}

fn user_and_group(line: &str, name: &str) -> Option<(u32, u32)> {
    let mut fields = line.split(':');
    let found = fields.next()? == name;
    let user = fields.nth(1)?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    found.then_some((user, group))
}

fn user_of(path: &Path) -> Option<(u32, u32)> {
    fs::metadata(path)
        .ok()
        .map(|metadata| (metadata.uid(), metadata.gid()))
}

fn find() -> Option<PathBuf> {
    debian()
        .or_else(configured)
        .filter(|folder| folder.join("initdb").exists())
}

/// The newest version that has a server.
fn debian() -> Option<PathBuf> {
    let versions = fs::read_dir(DEBIAN).ok()?.flatten();
    let numbered = versions.filter_map(|entry| {
        let version: u32 = entry.file_name().to_str()?.parse().ok()?;
        let folder = entry.path().join("bin");
        folder.join("initdb").exists().then_some((version, folder))
    });
    numbered.max().map(|(_, folder)| folder)
}

fn configured() -> Option<PathBuf> {
    let folder = Command::new("pg_config").arg("--bindir").output().ok()?.stdout;
    Some(PathBuf::from(String::from_utf8(folder).ok()?.trim()))
}
