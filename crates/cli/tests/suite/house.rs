//! A served Switchboard with a data folder of its own, and its command line.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::people::Person;

/// The binary.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_switchboard");

/// A serving process. Dropping it ends it.
pub(crate) struct House {
    pub(crate) folder: TempDir,
    pub(crate) url: String,
    pub(crate) admin: String,
    pub(crate) agent: String,
    /// Where somebody becomes the first Owner, while there is none.
    pub(crate) owner_link: String,
    /// What the browser of its first Owner keeps, once there is one.
    pub(crate) owner: OnceCell<Person>,
    /// All it printed when it started.
    pub(crate) told: String,
    start: Start,
    child: Child,
    stdout: Option<ChildStdout>,
}

/// How it is started, the first time and again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Start {
    /// Arguments of `serve` beside the address and the data folder.
    pub(crate) options: Vec<String>,
    /// Its environment.
    pub(crate) environment: Vec<(String, String)>,
    /// What runs it: a program and its arguments, to which its own are appended.
    pub(crate) within: Vec<String>,
}

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Start {
    fn launch(&self, folder: &Path) -> (Child, ChildStdout) {
        let mut command = match self.within.split_first() {
            None => program(),
            Some((outer, arguments)) => {
                let mut command = Command::new(outer);
                command
                    .env_clear()
                    .env("PATH", path())
                    .args(arguments)
                    .arg(PROGRAM);
                command
            }
        };
        let log = File::options().create(true).append(true).open(folder.join("log"));
        let mut child = command
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(folder.join("data"))
            .args(&self.options)
            // Tests of it ask for it.
            .env("SWITCHBOARD__PRESETS__PROVIDE_EXA", "false")
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log.unwrap())
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        (child, stdout)
    }
}

impl House {
    /// Serves for the first time, on a port the system chooses.
    pub(crate) fn start(options: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), options, &[])
    }

    /// The same with its data in this folder and this in its environment.
    pub(crate) fn start_in(folder: TempDir, options: &[&str], environment: &[(&str, &str)]) -> Self {
        let environment = environment
            .iter()
            .map(|&(name, value)| (name.to_owned(), value.to_owned()));
        let start = Start {
            options: options.iter().map(|&option| option.to_owned()).collect(),
            environment: environment.collect(),
            within: Vec::new(),
        };
        Self::start_as(folder, start)
    }

    /// Serves for the first time, in this way.
    pub(crate) fn start_as(folder: TempDir, start: Start) -> Self {
        let (child, stdout) = start.launch(folder.path());
        let (url, admin, agent, owner_link, told) = Default::default();
        let mut house = Self {
            folder,
            url,
            admin,
            agent,
            owner_link,
            owner: OnceCell::new(),
            told,
            start,
            child,
            stdout: Some(stdout),
        };
        house.wait_until_it_serves();
        house
    }

    /// Serves from a store that was filled elsewhere, whose keys are known.
    pub(crate) fn moved(&self, folder: TempDir, start: Start) -> Self {
        let (child, stdout) = start.launch(folder.path());
        let mut house = Self {
            folder,
            url: String::new(),
            admin: self.admin.clone(),
            agent: self.agent.clone(),
            owner_link: String::new(),
            owner: OnceCell::new(),
            told: String::new(),
            start,
            child,
            stdout: Some(stdout),
        };
        house.wait_until_it_serves();
        house
    }

    /// Serves again after it was stopped or killed.
    pub(crate) fn again(&mut self) {
        self.begin_again();
        self.wait_until_it_serves();
    }

    /// Starts again and does not wait until it serves.
    pub(crate) fn begin_again(&mut self) {
        let (child, stdout) = self.start.launch(self.folder.path());
        (self.child, self.stdout) = (child, Some(stdout));
        self.told.clear();
    }

    /// How it is started.
    pub(crate) const fn started(&self) -> &Start {
        &self.start
    }

    /// Reads what it tells when it starts.
    pub(crate) fn wait_until_it_serves(&mut self) {
        let stdout = self.stdout.take().unwrap();
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if self.read(&line) {
                return;
            }
        }
        panic!("it did not start: {}\n{}", self.told, self.log());
    }

    /// What it logged so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Takes a line of what the first start tells; true at its end.
    fn read(&mut self, line: &str) -> bool {
        self.told.push_str(line);
        self.told.push('\n');
        if let Some((_, token)) = line.split_once("/invitations/") {
            token.trim().clone_into(&mut self.owner_link);
        } else if let Some(rest) = line.strip_prefix("Switchboard serves on ") {
            rest.split(' ').next().unwrap().clone_into(&mut self.url);
            // Only the first start has more to say.
            return !self.admin.is_empty();
        } else if let Some(key) = line.trim().strip_prefix("administrator: ") {
            key.clone_into(&mut self.admin);
        } else if let Some(key) = line.trim().strip_prefix("agent default: ") {
            key.clone_into(&mut self.agent);
        }
        line.starts_with("Point an MCP client") || line.starts_with("Next:")
    }

    pub(crate) fn data(&self) -> String {
        self.folder.path().join("data").to_str().unwrap().to_owned()
    }

    /// Writes a file beside the data folder and returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Runs a command as the administrator.
    pub(crate) fn run(&self, line: &[&str]) -> Said {
        self.run_with(line, &self.admin, "")
    }

    /// Runs a command with this key and this on standard input.
    pub(crate) fn run_with(&self, line: &[&str], key: &str, input: &str) -> Said {
        let mut command = program();
        command
            .args(line)
            .env("SWITCHBOARD_URL", &self.url)
            .env("SWITCHBOARD_API_KEY", key);
        said(command.current_dir(self.folder.path()), input)
    }

    /// Runs a command that must succeed and returns its JSON.
    pub(crate) fn json(&self, line: &[&str]) -> Value {
        let line: Vec<&str> = line.iter().copied().chain(["--json"]).collect();
        let said = self.run(&line);
        assert_eq!(said.code, 0, "{line:?}: {said:?}");
        serde_json::from_str(&said.out).unwrap()
    }

    /// Its child processes, and theirs.
    pub(crate) fn descendants(&self) -> Vec<u32> {
        let mut found = vec![self.child.id()];
        let mut at = 0;
        while let Some(parent) = found.get(at).copied() {
            found.extend(
                processes()
                    .into_iter()
                    .filter(|(_, of)| *of == parent)
                    .map(|(id, _)| id),
            );
            at += 1;
        }
        found.split_off(1)
    }

    /// The id of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it (SIGKILL) and waits for its end.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends SIGTERM and waits for its end.
    pub(crate) fn stop(&mut self) -> ExitStatus {
        self.ask_to_stop();
        self.child.wait().unwrap()
    }

    /// Sends SIGTERM.
    pub(crate) fn ask_to_stop(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Waits for something that is sure to come, on however slow a machine.
pub(crate) fn until<T>(what: &str, mut happened: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = happened() {
            return found;
        }
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{what}: not within a minute"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The same where somebody has to be asked.
pub(crate) async fn until_told<T>(
    house: &House,
    what: &str,
    mut happened: impl AsyncFnMut() -> Option<T>,
) -> T {
    let waiting = async {
        loop {
            if let Some(found) = happened().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(60), waiting).await;
    found.unwrap_or_else(|_| panic!("{what}: not within a minute\n{}", house.log()))
}

/// Whether a process is there and has not ended.
pub(crate) fn is_alive(id: u32) -> bool {
    let stat =
        std::fs::read_to_string(Path::new("/proc").join(id.to_string()).join("stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// The binary in an environment without settings of ours.
pub(crate) fn program() -> Command {
    let mut command = Command::new(PROGRAM);
    command.env_clear().env("PATH", path());
    command
}

/// Runs a command to its end.
pub(crate) fn said(command: &mut Command, input: &str) -> Said {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that reads nothing may have ended by now.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said {
        code: output.status.code().unwrap_or(-1),
        out: text(&output.stdout),
        err: text(&output.stderr),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "programs are found where the test's own are"
)]
fn path() -> std::ffi::OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

/// Processes and their parents.
fn processes() -> Vec<(u32, u32)> {
    let folders = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let read = |entry: std::fs::DirEntry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
        Some((id, parent))
    };
    folders.filter_map(read).collect()
}
