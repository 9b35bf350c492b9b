//! A scripted HTTP/1.1 server on loopback that sends exactly the bytes it is told to, for misbehaviour that no HTTP
//! library would agree to.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// One request as it came in.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// Number of the connection, from 0.
    pub(crate) connection: usize,
    /// Head and body.
    pub(crate) text: String,
}

/// What to do with a request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// Send this and keep the connection.
    Keep(Vec<u8>),
    /// Send this and close our half.
    Close(Vec<u8>),
    /// Send this, then the piece again and again until the client leaves.
    Forever(Vec<u8>, Vec<u8>),
    /// Send this, then after a moment the rest, and keep the connection.
    Late(Vec<u8>, Vec<u8>),
    /// Send this and then nothing until the client leaves.
    Hang(Vec<u8>),
}

/// The running server; stops when dropped.
pub(crate) struct Origin {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<Seen>>>,
    gone: mpsc::UnboundedReceiver<usize>,
    _tasks: JoinSet<()>,
}

impl Origin {
    pub(crate) async fn start(script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (left, gone) = mpsc::unbounded_channel();
        let mut tasks = JoinSet::new();
        let (log, script) = (Arc::clone(&requests), Arc::new(script));
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            for number in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                let (log, script, left) = (Arc::clone(&log), Arc::clone(&script), left.clone());
                connections.spawn(async move {
                    serve(stream, number, &log, &*script).await;
                    left.send(number).ok();
                });
            }
        });
        Self {
            address,
            requests,
            gone,
            _tasks: tasks,
        }
    }

    /// Always the same reply.
    pub(crate) async fn always(reply: Reply) -> Self {
        Self::start(move |_| reply.clone()).await
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits until the client has left a connection.
    pub(crate) async fn client_left(&mut self) -> usize {
        self.gone.recv().await.unwrap()
    }
}

/// A complete response.
pub(crate) fn response(status: u16, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status} Status\r\ncontent-length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
    .into_bytes()
}

async fn serve(
    mut stream: TcpStream,
    connection: usize,
    log: &Mutex<Vec<Seen>>,
    script: &(dyn Fn(&Seen) -> Reply + Send + Sync),
) {
    while let Some(text) = read_request(&mut stream).await {
        let seen = Seen { connection, text };
        log.lock().unwrap().push(seen.clone());
        match script(&seen) {
            Reply::Keep(bytes) => stream.write_all(&bytes).await.unwrap(),
            Reply::Close(bytes) => {
                stream.write_all(&bytes).await.ok();
                stream.shutdown().await.ok();
            }
            Reply::Late(bytes, rest) => {
                stream.write_all(&bytes).await.unwrap();
                tokio::time::sleep(Duration::from_millis(10)).await;
                if stream.write_all(&rest).await.is_err() {
                    return;
                }
            }
            Reply::Hang(bytes) => stream.write_all(&bytes).await.unwrap(),
            Reply::Forever(head, piece) => {
                stream.write_all(&head).await.unwrap();
                let mut pace = tokio::time::interval(Duration::from_millis(2));
                while stream.write_all(&piece).await.is_ok() {
                    pace.tick().await;
                }
                return;
            }
        }
    }
}

/// A whole request; `None` when the client has left.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        stream
            .read_buf(&mut bytes)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = header(head, "content-length").map_or(0, |length| length.parse().unwrap());
        if body.len() >= length {
            return Some(text);
        }
    }
}

/// A header of a request head, by lower-case name.
pub(crate) fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(n, _)| n.eq_ignore_ascii_case(name))
        .map(|(_, v)| v)
}
