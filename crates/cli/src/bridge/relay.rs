//! Lines in, requests out; answers and events back as lines.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use url::Url;

use super::MAX_MESSAGE;
use super::exchange::Bridge;
use super::lines::{self, Line};
use super::message::{Kind, Message};
use crate::client::Http;

/// Lines waiting to be written.
const WAITING: usize = 256;
/// How long answers are waited for after the input has ended.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// How long the end of the session may take.
const GOODBYE: Duration = Duration::from_secs(2);

/// Passes messages on until the input ends, or nobody reads the output; then ends the session.
pub(super) async fn relay(
    http: Http,
    endpoint: Url,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> anyhow::Result<()> {
    let (out, written) = mpsc::channel(WAITING);
    let writer = tokio::spawn(write(written, output));
    let mut work = Work {
        bridge: Bridge::new(http, endpoint, out.clone()),
        requests: JoinSet::new(),
        standing: JoinSet::new(),
        modern: HashMap::new(),
    };
    let mut input = BufReader::new(input);
    loop {
        let line = tokio::select! {
            biased;
            () = out.closed() => break,
            line = lines::next(&mut input, MAX_MESSAGE) => line.context("cannot read standard input")?,
        };
        match line {
            Line::End => break,
            Line::TooLong => {
                work.bridge
                    .refuse(
                        "null",
                        -32600,
                        &format!("a message is longer than {MAX_MESSAGE} bytes"),
                    )
                    .await;
            }
            Line::Whole(line) => {
                let text = line.trim_ascii();
                if !text.is_empty() {
                    work.take(Message::read(Bytes::copy_from_slice(text))).await;
                }
            }
        }
    }
    work.finish().await;
    drop(out);
    writer
        .await
        .context("cannot write standard output")?
        .context("cannot write standard output")
}

async fn write(mut lines: mpsc::Receiver<Bytes>, mut output: impl AsyncWrite + Unpin) -> std::io::Result<()> {
    while let Some(line) = lines.recv().await {
        output.write_all(&line).await?;
        output.write_all(b"\n").await?;
        output.flush().await?;
    }
    Ok(())
}

/// Everything under way.
struct Work {
    bridge: Bridge,
    requests: JoinSet<()>,
    /// Streams that last as long as the client.
    standing: JoinSet<()>,
    /// Modern requests by id: closing their exchange is how they are called off.
    modern: HashMap<String, AbortHandle>,
}

impl Work {
    async fn take(&mut self, message: Message) {
        while self.requests.try_join_next().is_some() {}
        self.modern.retain(|_, handle| !handle.is_finished());
        let bridge = self.bridge.clone();
        let modern = message.version.is_some();
        match &message.kind {
            Kind::Request { method, .. } if method == "initialize" => {
                // Nothing else goes out before the session is known.
                bridge.pass(message).await;
                self.standing.abort_all();
                self.standing.spawn(async move { bridge.listen().await });
            }
            Kind::Request { id, method, .. } => {
                let id = id.clone();
                let tasks = if method == "subscriptions/listen" {
                    &mut self.standing
                } else {
                    &mut self.requests
                };
                let handle = tasks.spawn(async move { bridge.pass(message).await });
                if modern {
                    self.modern.insert(id, handle);
                }
            }
            Kind::Cancellation { id } if self.modern.contains_key(id) => {
                if let Some(handle) = self.modern.remove(id) {
                    handle.abort();
                }
            }
            // One after the other: a client may rely on the order of what it says.
            Kind::Cancellation { .. } | Kind::Other => bridge.pass(message).await,
        }
    }

    /// Takes itself with it: the output ends when nobody can write to it any more.
    async fn finish(mut self) {
        let answered = async { while self.requests.join_next().await.is_some() {} };
        // What takes longer is not waited for: nobody may be reading any more.
        drop(tokio::time::timeout(LAST_ANSWERS, answered).await);
        self.requests.shutdown().await;
        self.standing.shutdown().await;
        drop(tokio::time::timeout(GOODBYE, self.bridge.end()).await);
    }
}
