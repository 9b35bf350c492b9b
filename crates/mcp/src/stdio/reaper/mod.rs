//! Children must not outlive us, however we end: a small process beside ours is told which process groups live, and ends them
//! when our end of its pipe closes, which not even SIGKILL prevents.

mod process;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::Pid;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

pub use process::reap;

/// A reaper that ends sooner than this after its start ended quickly.
const QUICK: Duration = Duration::from_secs(1);
/// After so many quick ends in a row it is left alone.
const TRIES: u32 = 3;

/// The process that ends our children's groups when we are gone; see [`reap`]. It is started with the first child, and again
/// when it ends; without it everything works, but a server that is killed may leave children behind.
///
/// Cheap to clone. Dropping the last clone ends the process, and with it every group that is still listed.
#[derive(Clone)]
pub struct Reaper {
    inner: Arc<Inner>,
}

struct Inner {
    command: Vec<OsString>,
    state: Mutex<State>,
    /// It does not take what it is told, and is replaced.
    stuck: Arc<Notify>,
    /// Whoever looks after the process has left, and the process with it.
    over: CancellationToken,
}

#[derive(Default)]
struct State {
    /// The groups that live, by their numbers.
    groups: BTreeSet<i32>,
    phase: Phase,
}

#[derive(Default)]
enum Phase {
    /// Nobody needed it yet.
    #[default]
    Idle,
    /// Our end of its pipe, which never blocks us.
    Running(OwnedFd),
    /// It ended, and the next one is on its way.
    Replaced,
    /// It cannot be had, or is wanted no more.
    Off,
}

impl Reaper {
    /// A reaper that is this program with these arguments, which must lead to [`reap`]. Nothing is started yet.
    pub fn new<A: Into<OsString>>(command: impl IntoIterator<Item = A>) -> Self {
        Self {
            inner: Arc::new(Inner {
                command: command.into_iter().map(Into::into).collect(),
                state: Mutex::default(),
                stuck: Arc::default(),
                over: CancellationToken::new(),
            }),
        }
    }

    /// Whether its process runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        matches!(self.inner.lock().phase, Phase::Running(_))
    }

    /// Ends it and waits for that, at most so long. Groups that are still listed are ended by it first.
    pub async fn close(&self, within: Duration) {
        let before = std::mem::replace(&mut self.inner.lock().phase, Phase::Off);
        if matches!(before, Phase::Running(_) | Phase::Replaced) {
            // Closes the pipe.
            drop(before);
            // What takes longer is its business: it needs us no more.
            drop(timeout(within, self.inner.over.cancelled()).await);
        }
    }

    /// Makes sure that it runs, so that the next child can be listed the moment it exists.
    pub(super) fn ready(&self) {
        let mut state = self.inner.lock();
        if !matches!(state.phase, Phase::Idle) {
            return;
        }
        let begun = self
            .inner
            .start()
            .and_then(|(child, input)| Ok((child, unblocked(input)?)));
        match begun {
            Ok((child, pipe)) => {
                state.phase = Phase::Running(pipe);
                tokio::spawn(keep(Arc::downgrade(&self.inner), child));
            }
            Err(error) => state.give_up(&error),
        }
    }

    /// Lists a group.
    pub(super) fn add(&self, leader: Pid) {
        let group = leader.as_raw_nonzero().get();
        let mut state = self.inner.lock();
        state.groups.insert(group);
        self.inner.tell(&state, '+', group);
    }

    /// Takes a group off the list. To be called before its leader is collected: its number may be another's afterwards.
    pub(super) fn remove(&self, leader: Pid) {
        let group = leader.as_raw_nonzero().get();
        let mut state = self.inner.lock();
        state.groups.remove(&group);
        self.inner.tell(&state, '-', group);
    }
}

impl State {
    fn give_up(&mut self, why: &dyn std::fmt::Display) {
        self.phase = Phase::Off;
        tracing::warn!(
            reason = %why,
            "there is no reaper: if this process is killed, children that ignore the end of their input stay behind"
        );
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// In a group of its own, so that the keys of a terminal do not reach it; with nothing of ours but the pipe.
    fn start(&self) -> io::Result<(Child, ChildStdin)> {
        let [program, arguments @ ..] = self.command.as_slice() else {
            return Err(io::Error::other("its command is empty"));
        };
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child
            .stdin
            .take()
            .ok_or_else(|| io::Error::other("it has no input"))?;
        Ok((child, input))
    }

    /// Starts the next one and lists every group that lives.
    async fn start_again(&self) -> io::Result<Child> {
        let (child, mut input) = self.start()?;
        let listed = self.lock().groups.clone();
        let lines: String = listed.iter().map(|group| format!("+{group}\n")).collect();
        // If that fails it has ended, which is seen by whoever waits for it.
        drop(input.write_all(lines.as_bytes()).await);
        let pipe = unblocked(input)?;
        let mut state = self.lock();
        if matches!(state.phase, Phase::Replaced) {
            state.phase = Phase::Running(pipe);
            for gone in listed.difference(&state.groups) {
                self.tell(&state, '-', *gone);
            }
            for new in state.groups.difference(&listed) {
                self.tell(&state, '+', *new);
            }
        }
        Ok(child)
    }

    /// A line is shorter than what a pipe takes whole or not at all.
    fn tell(&self, state: &State, sign: char, group: i32) {
        let Phase::Running(pipe) = &state.phase else {
            return;
        };
        let line = format!("{sign}{group}\n");
        loop {
            match rustix::io::write(pipe, line.as_bytes()) {
                Ok(_) => return,
                Err(Errno::INTR) => {}
                // The pipe stays open until its process is gone: closed before, it would end every group.
                Err(_) => return self.stuck.notify_one(),
            }
        }
    }
}

/// Looks after the process: when it ends, the next one is started.
async fn keep(reaper: Weak<Inner>, mut child: Child) {
    let Some((stuck, over)) = reaper
        .upgrade()
        .map(|inner| (inner.stuck.clone(), inner.over.clone()))
    else {
        return;
    };
    let _left = over.drop_guard();
    let mut quick = 0;
    loop {
        let began = Instant::now();
        tokio::select! {
            _ = child.wait() => {}
            () = stuck.notified() => drop(child.kill().await),
        }
        let Some(inner) = reaper.upgrade() else { return };
        {
            let mut state = inner.lock();
            if matches!(state.phase, Phase::Off) {
                return;
            }
            state.phase = Phase::Replaced;
            quick = if began.elapsed() < QUICK { quick + 1 } else { 0 };
            if quick == TRIES {
                return state.give_up(&"it ends as soon as it is started");
            }
        }
        tracing::warn!("the reaper ended and is started again");
        match inner.start_again().await {
            Ok(next) => child = next,
            Err(error) => return inner.lock().give_up(&error),
        }
    }
}

/// The pipe as a descriptor that is written to at once or not at all.
fn unblocked(input: ChildStdin) -> io::Result<OwnedFd> {
    let pipe = input.into_owned_fd()?;
    rustix::io::ioctl_fionbio(&pipe, true)?;
    Ok(pipe)
}
