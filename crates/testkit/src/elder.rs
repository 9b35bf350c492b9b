//! A server that knows no revision with `server/discover`: passes everything else on to one that does.

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::{BodyExt as _, Either, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

use crate::loopback::Loopback;

/// An elder face of a Streamable HTTP server. Dropping it closes its port.
#[derive(Debug)]
pub struct Elder {
    /// The MCP endpoint.
    pub url: String,
    _loopback: Loopback,
}

impl Elder {
    /// Puts one in front of the server at `url`.
    ///
    /// # Errors
    ///
    /// If no port can be had.
    pub async fn of(url: &str) -> std::io::Result<Self> {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client: Forward = Client::builder(TokioExecutor::new()).build(connector);
        let target: Uri = url.parse().map_err(std::io::Error::other)?;
        let path = target.path().to_owned();
        let loopback =
            Loopback::start(0, move |request| answer(request, client.clone(), target.clone())).await?;
        let url = format!("http://{}{path}", loopback.address());
        Ok(Self {
            url,
            _loopback: loopback,
        })
    }
}

type Forward = Client<HttpConnector, Incoming>;
type Body = Either<Incoming, Full<Bytes>>;

async fn answer(
    mut request: Request<Incoming>,
    client: Forward,
    target: Uri,
) -> Result<Response<Body>, hyper_util::client::legacy::Error> {
    let version = request.headers().get("mcp-protocol-version");
    if version.is_some_and(|version| version == "2026-07-28") {
        return Ok(unknown(request).await);
    }
    *request.uri_mut() = target;
    client
        .request(request)
        .await
        .map(|response| response.map(Either::Left))
}

/// As published servers of before answer what they do not know.
async fn unknown(request: Request<Incoming>) -> Response<Body> {
    let body = request.into_body().collect().await;
    let body = body.map(|body| body.to_bytes()).unwrap_or_default();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let error = json!({ "code": -32601, "message": "Method not found" });
    let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
    let mut response = Response::new(Either::Right(Full::new(Bytes::from(answer.to_string()))));
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(http::header::CONTENT_TYPE, json);
    response
}
