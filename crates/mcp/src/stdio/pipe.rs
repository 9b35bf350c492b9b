//! Writing to a child: a bounded queue whose entries can be withdrawn until they leave.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::group::Group;
use crate::error::{Phase, RequestError};
use crate::peer::{Answer, Call, Session, Ticket};

/// A child that closed its input because it is exiting usually has exited by then.
const EXIT: Duration = Duration::from_secs(1);
/// What may wait for a child that does not read, in KiB.
const ROOM: u32 = 64 * 1024;

/// The way into a child.
pub(crate) struct Pipe {
    queue: mpsc::UnboundedSender<Outgoing>,
    /// Bounds the queue in bytes; a permit is a KiB.
    room: Arc<Semaphore>,
    over: CancellationToken,
    group: Arc<Group>,
}

/// A message in the queue.
pub(crate) struct Outgoing {
    bytes: Vec<u8>,
    claim: Arc<Claim>,
    _room: OwnedSemaphorePermit,
}

/// Who may still decide about a queued message: its sender, until the writer has taken it.
#[derive(Default)]
pub(crate) struct Claim(AtomicU8);

const QUEUED: u8 = 0;
const LEAVING: u8 = 1;
const WITHDRAWN: u8 = 2;

impl Claim {
    /// Withdraws the message; `false` if it is leaving or has left.
    pub(crate) fn withdraw(&self) -> bool {
        self.decide(WITHDRAWN)
    }

    fn leave(&self) -> bool {
        self.decide(LEAVING)
    }

    fn decide(&self, state: u8) -> bool {
        self.0
            .compare_exchange(QUEUED, state, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}

impl Pipe {
    pub(crate) fn new(
        over: CancellationToken,
        group: Arc<Group>,
    ) -> (Self, mpsc::UnboundedReceiver<Outgoing>) {
        let (queue, receiver) = mpsc::unbounded_channel();
        (
            Self {
                queue,
                room: Arc::new(Semaphore::new(ROOM as usize)),
                over,
                group,
            },
            receiver,
        )
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(
        &self,
        body: Vec<u8>,
        waiting: oneshot::Receiver<Answer>,
        deadline: Instant,
        call: &mut Call<'_>,
    ) -> Answer {
        call.ticket = Ticket::Queued(self.push(body, deadline).await?);
        match timeout_at(deadline, waiting).await {
            Ok(Ok(Err(RequestError::Closed { reason, .. }))) => Err(RequestError::Closed {
                reason,
                sent: call.take_back(),
            }),
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(RequestError::Closed {
                reason: "the session is over".to_owned(),
                sent: call.take_back(),
            }),
            Err(_) => {
                let sent = call.take_back();
                Err(RequestError::Timeout {
                    phase: if sent { Phase::Answer } else { Phase::Send },
                    sent,
                })
            }
        }
    }

    /// Sends a notification; queued is sent.
    pub(crate) async fn tell(&self, body: Vec<u8>, deadline: Instant) -> Result<(), RequestError> {
        self.push(body, deadline).await.map(drop)
    }

    /// Sends if there is room: a child that asks without reading answers gets none.
    pub(crate) fn offer(&self, body: Vec<u8>) {
        if let Ok(room) = Arc::clone(&self.room).try_acquire_many_owned(kib(&body)) {
            self.enqueue(body, room);
        }
    }

    /// Kills the child and all it started, at once.
    pub(crate) fn kill(&self) {
        self.group.signal(Signal::KILL);
    }

    async fn push(&self, body: Vec<u8>, deadline: Instant) -> Result<Arc<Claim>, RequestError> {
        let late = RequestError::Timeout {
            phase: Phase::Send,
            sent: false,
        };
        let room = tokio::select! {
            room = timeout_at(deadline, Arc::clone(&self.room).acquire_many_owned(kib(&body))) => room,
            () = self.over.cancelled() => {
                return Err(RequestError::Closed { reason: "the session is over".to_owned(), sent: false });
            }
        };
        match room {
            Ok(Ok(room)) => Ok(self.enqueue(body, room)),
            Ok(Err(_)) | Err(_) => Err(late),
        }
    }

    fn enqueue(&self, mut bytes: Vec<u8>, room: OwnedSemaphorePermit) -> Arc<Claim> {
        // Inside JSON strings line ends are escaped; elsewhere they are insignificant, and here they would end the line.
        for byte in &mut bytes {
            if matches!(*byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        bytes.push(b'\n');
        let claim = Arc::new(Claim::default());
        // A writer that is gone leaves the message queued; the end of the session withdraws it.
        drop(self.queue.send(Outgoing {
            bytes,
            claim: Arc::clone(&claim),
            _room: room,
        }));
        claim
    }
}

fn kib(body: &[u8]) -> u32 {
    u32::try_from(body.len() / 1024 + 1).unwrap_or(ROOM).min(ROOM)
}

/// Writes the queue until the session is over, then closes the child's input by dropping it.
pub(crate) async fn write(
    mut queue: mpsc::UnboundedReceiver<Outgoing>,
    mut input: ChildStdin,
    session: Arc<Session>,
) {
    loop {
        let next = tokio::select! {
            next = queue.recv() => next,
            () = session.over.cancelled() => return,
        };
        let Some(next) = next else { return };
        if !next.claim.leave() {
            continue;
        }
        let written = tokio::select! {
            written = timeout(session.limits.write, input.write_all(&next.bytes)) => written,
            () = session.over.cancelled() => return,
        };
        match written {
            Ok(Ok(())) => {}
            Ok(Err(_)) => {
                // A child that is exiting is noticed by its watcher, who knows more about it.
                tokio::select! {
                    () = tokio::time::sleep(EXIT) => session.end("the process closed its input"),
                    () = session.over.cancelled() => {}
                }
                return;
            }
            Err(_) => return session.end("the process does not read its input"),
        }
    }
}
