//! Fast Streamable-HTTP MCP echo server on 127.0.0.1:PORT (arg 1, default 9801), any path.
//! Answers POST with application/json; GET with 405 (no server-initiated stream); DELETE with 200.
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request, Response, StatusCode, body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};

static N: AtomicU64 = AtomicU64::new(1);

async fn handle(req: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let method = req.method().clone();
    if method == Method::DELETE {
        return Ok(Response::new(Full::default()));
    }
    if method != Method::POST {
        let mut r = Response::new(Full::default());
        *r.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        return Ok(r);
    }
    let body = req
        .into_body()
        .collect()
        .await
        .map(|b| b.to_bytes())
        .unwrap_or_default();
    let Ok(msg) = serde_json::from_slice::<serde_json::Value>(&body) else {
        let mut r = Response::new(Full::default());
        *r.status_mut() = StatusCode::BAD_REQUEST;
        return Ok(r);
    };
    let mut b = Response::builder();
    if msg["method"] == "initialize" {
        b = b.header(
            "mcp-session-id",
            format!("echo-{}", N.fetch_add(1, Ordering::Relaxed)),
        );
    }
    Ok(match mcpbench::answer(&msg) {
        Some(v) => b
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(serde_json::to_vec(&v).unwrap())))
            .unwrap(),
        None => b.status(202).body(Full::default()).unwrap(),
    })
}

#[tokio::main]
async fn main() {
    let port: u16 = std::env::args()
        .nth(1)
        .and_then(|p| p.parse().ok())
        .unwrap_or(9801);
    let l = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    eprintln!("echo-http on 127.0.0.1:{port}");
    loop {
        let Ok((s, _)) = l.accept().await else { continue };
        let _ = s.set_nodelay(true);
        tokio::spawn(async move {
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(s), service_fn(handle))
                .await;
        });
    }
}
