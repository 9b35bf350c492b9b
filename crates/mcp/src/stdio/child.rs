//! Starting a child, watching it, and winding it down.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::process::{Child, Command};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::exit::Exit;
use super::group::Group;
use crate::error::ConnectError;
use crate::peer::Session;
use crate::target::StdioCommand;

/// After a child has exited, its output is read for this long: a grandchild may hold the pipe open for ever.
const DRAIN: Duration = Duration::from_millis(500);
/// After its output has ended, a child that is exiting usually has exited by then.
const EXIT: Duration = Duration::from_millis(500);

/// A running child and its group.
pub(crate) struct Spawned {
    pub(crate) child: Child,
    exit: Exit,
    pub(crate) group: Arc<Group>,
}

/// Starts the command: no shell, a process group of its own, a clean environment plus what is given.
pub(crate) fn spawn(command: &StdioCommand) -> Result<Spawned, ConnectError> {
    let [program, arguments @ ..] = command.argv.as_slice() else {
        return Err(ConnectError::Target(
            "the command is empty; give a program and its arguments".to_owned(),
        ));
    };
    let failed = |source| ConnectError::Spawn {
        program: program.to_string_lossy().into_owned(),
        source,
    };
    let mut process = Command::new(program);
    process
        .args(arguments)
        .env_clear()
        .envs(
            command
                .inherit
                .iter()
                .chain(&command.env)
                .map(|(name, value)| (name, value.expose())),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    if let Some(directory) = &command.cwd {
        process.current_dir(directory);
    }
    if let Some(reaper) = &command.reaper {
        reaper.ready();
    }
    let child = process.spawn().map_err(failed)?;
    let leader = child
        .id()
        .and_then(|id| i32::try_from(id).ok())
        .and_then(Pid::from_raw)
        .ok_or_else(|| failed(std::io::Error::other("it exited at once")))?;
    Ok(Spawned {
        child,
        exit: Exit::of(leader),
        group: Arc::new(Group::new(leader, command.reaper.clone())),
    })
}

/// Ends the session when the child ends, and the child when the session ends.
pub(crate) async fn watch(spawned: Spawned, session: Arc<Session>, output_ended: CancellationToken) {
    let Spawned {
        mut child,
        exit,
        group,
    } = spawned;
    // If this task itself is dropped, the group goes with it, before the child is collected.
    let guard = KillOnDrop(group);
    tokio::select! {
        () = session.over.cancelled() => {}
        () = output_ended.cancelled() => {}
        () = exit.happened(&mut child) => drop(timeout(DRAIN, output_ended.cancelled()).await),
    }
    if !session.over.is_cancelled() {
        let ended = timeout(EXIT, exit.happened(&mut child)).await.is_ok();
        session.end(match ended.then(|| guard.0.finish()) {
            Some(()) => match child.wait().await {
                Ok(status) => format!("the process ended with {status}"),
                Err(_) => "the process ended".to_owned(),
            },
            None => "the process closed its output".to_owned(),
        });
    }
    wind_down((&mut child, &exit), &guard.0, session.limits.grace).await;
}

/// Input is closed already; wait, ask, insist. The child is collected last.
async fn wind_down((child, exit): (&mut Child, &Exit), group: &Group, grace: Duration) {
    for signal in [Signal::TERM, Signal::KILL] {
        if timeout(grace, exit.happened(child)).await.is_ok() {
            break;
        }
        group.signal(signal);
    }
    exit.happened(child).await;
    group.finish();
    if let Err(error) = child.wait().await {
        tracing::warn!(%error, "a child process could not be reaped");
    }
}

struct KillOnDrop(Arc<Group>);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.finish();
    }
}
