//! One PostgreSQL server with its own data folder, from `initdb` to its removal.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::programs;
use crate::workspace::Workspace;
use crate::{process, say};

/// The superuser of a cluster; there is no password on loopback.
const USER: &str = "switchboard";
/// Folders of clusters are called this and the process id of the task that made them.
const PREFIX: &str = "switchboard-postgres-";
const CONNECTIONS: u32 = 200;
const START_LIMIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);

/// A running server. Dropping it without `stop` leaves its folder for the next start to remove.
pub(crate) struct Cluster {
    programs: PathBuf,
    folder: PathBuf,
    server: Child,
    url: String,
}

impl Cluster {
    /// Makes a data folder, starts the server on a free port and waits until it answers.
    ///
    /// # Errors
    /// Says which step failed; the server's own words are in the message.
    pub(super) fn start(workspace: &Workspace) -> anyhow::Result<Self> {
        let start = Instant::now();
        let programs = programs::folder()?;
        let base = std::env::temp_dir();
        remove_abandoned(&base);
        let folder = base.join(format!("{PREFIX}{}", std::process::id()));
        let owner = if programs::is_root() {
            Some(programs::unprivileged()?)
        } else {
            None
        };
        make_folder(&folder, owner)?;
        let run_as = RunAs {
            folder: &folder,
            owner,
        };
        initialize(&programs, &run_as)?;
        let port = free_port()?;
        let server = spawn(&programs, &run_as, port)?;
        let url = format!("postgres://{USER}@127.0.0.1:{port}/postgres");
        let mut cluster = Self {
            programs,
            folder,
            server,
            url,
        };
        cluster.wait_until_ready(workspace, port)?;
        say::step(&format!(
            "PostgreSQL at {} after {} ms",
            cluster.url,
            start.elapsed().as_millis()
        ));
        Ok(cluster)
    }

    /// Where the superuser connects to the database `postgres`.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Waits until the server ends by itself or is told to by the terminal.
    ///
    /// # Errors
    /// Says why it could not be waited for, or that its folder could not be removed.
    pub(super) fn wait(&mut self) -> anyhow::Result<()> {
        self.server.wait().context("waiting for PostgreSQL")?;
        self.remove()
    }

    /// Ends every connection and stops the server, then removes its folder.
    ///
    /// # Errors
    /// Says why it does not stop, or that its folder could not be removed.
    pub(super) fn stop(mut self) -> anyhow::Result<()> {
        let owner = if programs::is_root() {
            Some(programs::unprivileged()?)
        } else {
            None
        };
        let mut stop = RunAs {
            folder: &self.folder,
            owner,
        }
        .command(self.programs.join("pg_ctl"));
        stop.args(["stop", "-s", "-m", "immediate", "-D"])
            .arg(self.folder.join("data"));
        if !process::succeeds(&mut stop) {
            self.server.kill().context("ending PostgreSQL")?;
        }
        self.wait()
    }

    fn remove(&self) -> anyhow::Result<()> {
        fs::remove_dir_all(&self.folder).with_context(|| format!("removing {}", self.folder.display()))
    }

    fn wait_until_ready(&mut self, workspace: &Workspace, port: u16) -> anyhow::Result<()> {
        let start = Instant::now();
        loop {
            let mut ready = Command::new(self.programs.join("pg_isready"));
            ready
                .args(["-q", "-h", "127.0.0.1", "-U", USER, "-p", &port.to_string()])
                .current_dir(workspace.root());
            if process::succeeds(&mut ready) {
                return Ok(());
            }
            let ended = self.server.try_wait().context("asking whether PostgreSQL runs")?;
            if ended.is_some() || start.elapsed() > START_LIMIT {
                let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                let _already_ended = self.server.kill();
                anyhow::bail!("PostgreSQL did not start; it said:\n{log}");
            }
            thread::sleep(POLL);
        }
    }
}

/// Under which user PostgreSQL's programs run, and where.
struct RunAs<'a> {
    folder: &'a Path,
    /// User and group; our own if none.
    owner: Option<(u32, u32)>,
}

impl RunAs<'_> {
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder).env("LC_ALL", "C");
        if let Some((user, group)) = self.owner {
            command.uid(user).gid(group);
        }
        command
    }
}

/// A short path that the server's user can reach; the checkout itself may lie where that user cannot go.
fn make_folder(folder: &Path, owner: Option<(u32, u32)>) -> anyhow::Result<()> {
    let context = || format!("making {} for PostgreSQL", folder.display());
    fs::create_dir(folder).with_context(context)?;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).with_context(context)?;
    if let Some((user, group)) = owner {
        chown(folder, Some(user), Some(group)).with_context(context)?;
    }
    Ok(())
}

fn initialize(programs: &Path, run_as: &RunAs<'_>) -> anyhow::Result<()> {
    let mut initdb = run_as.command(programs.join("initdb"));
    initdb.args([
        "-D",
        "data",
        "-U",
        USER,
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C",
        "--no-sync",
    ]);
    let result = initdb.output().context("starting initdb")?;
    anyhow::ensure!(
        result.status.success(),
        "initdb failed: {}",
        String::from_utf8_lossy(&result.stderr)
    );
    Ok(())
}

fn spawn(programs: &Path, run_as: &RunAs<'_>, port: u16) -> anyhow::Result<Child> {
    let log = fs::File::create(run_as.folder.join("log")).context("creating PostgreSQL's log")?;
    let postgres = programs.join("postgres");
    let mut command = if process::succeeds(Command::new("setpriv").args(["--pdeathsig", "INT", "true"])) {
        let mut command = run_as.command("setpriv");
        command.args(["--pdeathsig", "INT", "--"]).arg(postgres);
        command
    } else {
        run_as.command(postgres)
    };
    command
        .args(["-D", "data", "-h", "127.0.0.1", "-p", &port.to_string(), "-k"])
        .arg(run_as.folder);
    command.args(["-c", "fsync=on", "-c", &format!("max_connections={CONNECTIONS}")]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    command.spawn().context("starting PostgreSQL")
}

/// A port that nobody listened on a moment ago.
fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("looking for a free port")?;
    Ok(listener.local_addr().context("looking for a free port")?.port())
}

/// Removes the folders of tasks that were killed before they could. Best effort: a folder that stays is only in the way.
fn remove_abandoned(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX))
            .and_then(|id| id.parse::<u32>().ok());
        let abandoned = process.is_some_and(|id| !Path::new("/proc").join(id.to_string()).exists());
        if abandoned && fs::remove_dir_all(entry.path()).is_err() {
            say::step(&format!(
                "{} is left over and could not be removed",
                entry.path().display()
            ));
        }
    }
}
