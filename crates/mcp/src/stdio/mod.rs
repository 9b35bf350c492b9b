//! The stdio transport: a child process in its own group, one JSON message a line, and no orphan afterwards.

mod child;
mod exit;
mod framing;
mod group;
mod pipe;
mod reader;
mod reaper;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

pub(crate) use pipe::{Claim, Pipe};
pub use reaper::{Reaper, reap};

use crate::error::ConnectError;
use crate::peer::{Channel, Listener, Session};
use crate::target::{ClientProfile, Limits, StdioCommand};

/// Starts the command and the tasks that read, write and watch it. Nothing has been said yet.
pub(crate) fn start(
    command: &StdioCommand,
    client: ClientProfile,
    limits: Limits,
    listener: Arc<dyn Listener>,
) -> Result<Arc<Session>, ConnectError> {
    let mut spawned = child::spawn(command)?;
    let over = CancellationToken::new();
    let (pipe, queue) = Pipe::new(over.clone(), Arc::clone(&spawned.group));
    let session = Session::new(Channel::Pipe(pipe), client, limits, listener, over);
    let output_ended = CancellationToken::new();
    if let Some(input) = spawned.child.stdin.take() {
        session.spawn(pipe::write(queue, input, Arc::clone(&session)));
    }
    if let Some(output) = spawned.child.stdout.take() {
        session.spawn(reader::messages(
            output,
            Arc::clone(&session),
            output_ended.clone(),
        ));
    }
    if let Some(errors) = spawned.child.stderr.take() {
        session.spawn(reader::lines(errors, Arc::clone(&session)));
    }
    session.spawn(child::watch(spawned, Arc::clone(&session), output_ended));
    Ok(session)
}
