//! Replaying over HTTP and over byte streams.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

use crate::catalogue_server::{Catalogue, Replay};
use crate::loopback::Loopback;

/// Many recorded servers behind one listener. Dropping it closes the port.
#[derive(Debug)]
pub struct CatalogueServer {
    loopback: Loopback,
}

impl CatalogueServer {
    /// Serves each catalogue as Streamable HTTP at `/{name}/mcp`.
    ///
    /// # Errors
    ///
    /// If no port can be had.
    pub async fn start(catalogues: impl IntoIterator<Item = (String, Catalogue)>) -> std::io::Result<Self> {
        let catalogues: Arc<BTreeMap<String, Catalogue>> = Arc::new(catalogues.into_iter().collect());
        let loopback = Loopback::start(0, move |request| {
            let catalogues = Arc::clone(&catalogues);
            async move { Ok::<_, Infallible>(answer(&catalogues, request).await) }
        })
        .await?;
        Ok(Self { loopback })
    }

    /// The MCP endpoint of one recorded server.
    #[must_use]
    pub fn url(&self, name: &str) -> String {
        format!("http://{}/{name}/mcp", self.loopback.address())
    }
}

/// Replays one recorded server on any pair of byte streams, one JSON-RPC message a line, until `input` ends.
///
/// # Errors
///
/// If a stream breaks.
pub async fn serve_lines<R, W>(catalogue: &Catalogue, input: R, mut output: W) -> std::io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut lines = BufReader::new(input).lines();
    while let Some(line) = lines.next_line().await? {
        if let Replay::Answer { mut message, .. } = catalogue.answer(&line) {
            message.push('\n');
            output.write_all(message.as_bytes()).await?;
            output.flush().await?;
        }
    }
    Ok(())
}

async fn answer(
    catalogues: &BTreeMap<String, Catalogue>,
    request: Request<Incoming>,
) -> Response<Full<Bytes>> {
    let name = request
        .uri()
        .path()
        .strip_prefix('/')
        .and_then(|path| path.strip_suffix("/mcp"));
    let Some(catalogue) = name.and_then(|name| catalogues.get(name)) else {
        return respond(StatusCode::NOT_FOUND, String::new());
    };
    if request.method() != Method::POST {
        return respond(StatusCode::METHOD_NOT_ALLOWED, String::new());
    }
    let Ok(body) = request.into_body().collect().await else {
        return respond(StatusCode::BAD_REQUEST, String::new());
    };
    match catalogue.answer(&String::from_utf8_lossy(&body.to_bytes())) {
        Replay::Answer { status, message } => respond(
            StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            message,
        ),
        Replay::Nothing => respond(StatusCode::ACCEPTED, String::new()),
        Replay::Silence => pending().await,
    }
}

fn respond(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let json = !body.is_empty();
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    if json {
        response.headers_mut().insert(
            header::CONTENT_TYPE,
            header::HeaderValue::from_static("application/json"),
        );
    }
    response
}
