//! Reading a child: messages from its output, lines from its errors.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdout};
use tokio_util::sync::CancellationToken;

use super::framing::{Framer, Line};
use crate::error::RequestError;
use crate::peer::{LineSource, LogLine, Session};
use crate::wire::{Salvaged, salvage};

const CHUNK: usize = 64 * 1024;
const MAX_ERROR_LINE: usize = 4096;

/// Takes messages until the output ends or the session is over.
pub(crate) async fn messages(output: ChildStdout, session: Arc<Session>, ended: CancellationToken) {
    let limit = session.limits.max_message;
    each_line(output, limit, &session, |line| match line {
        Line::Whole(line) if line.trim_ascii().is_empty() => {}
        Line::Whole(line) => session.receive(line),
        Line::Oversized { head, tail } => oversized(&session, head, tail, limit),
    })
    .await;
    ended.cancel();
}

/// Keeps what a child writes to its standard error.
pub(crate) async fn lines(errors: ChildStderr, session: Arc<Session>) {
    each_line(errors, MAX_ERROR_LINE, &session, |line| {
        let (Line::Whole(text) | Line::Oversized { head: text, .. }) = line;
        session.note(LogLine::cut(LineSource::Stderr, text));
    })
    .await;
}

async fn each_line(
    mut from: impl AsyncRead + Unpin,
    limit: usize,
    session: &Session,
    mut take: impl FnMut(Line<'_>),
) {
    let mut framer = Framer::new(limit);
    let mut buffer = Vec::with_capacity(CHUNK);
    loop {
        buffer.clear();
        let read = tokio::select! {
            read = from.read_buf(&mut buffer) => read,
            () = session.over.cancelled() => return,
        };
        match read {
            Ok(0) | Err(_) => return framer.finish(take),
            Ok(_) => framer.push(&buffer, &mut take),
        }
    }
}

/// An oversized message fails the call it answers, as far as that can be told, and nothing else.
fn oversized(session: &Session, head: &[u8], tail: &[u8], limit: usize) {
    session.remark(&format!("a message of more than {limit} bytes was skipped"));
    let call = match salvage(head, tail) {
        Salvaged::Answer(id) => Some(id),
        Salvaged::Unclear => session.calls.only().map(|(id, _)| id),
        Salvaged::Other => None,
    };
    if let Some(id) = call {
        session.calls.complete(id, Err(RequestError::TooLarge { limit }));
    }
}
