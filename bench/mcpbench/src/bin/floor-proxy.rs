//! Floor reference: the least an MCP-aware Rust gateway must do per call — parse the JSON-RPC body, look at
//! method and tool name, re-serialize, forward on a kept-alive upstream connection (one per downstream
//! connection), parse the JSON reply and re-serialize it. No auth, policy, audit or schema validation.
//! floor-proxy LISTEN_PORT UPSTREAM_PORT   (127.0.0.1 only)
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming, client::conn::http1::SendRequest, service::service_fn};
use hyper_util::rt::TokioIo;
use std::{convert::Infallible, sync::Arc};
use tokio::sync::Mutex;

async fn up(port: u16) -> Option<SendRequest<Full<Bytes>>> {
    let s = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    let _ = s.set_nodelay(true);
    let (tx, c) = hyper::client::conn::http1::handshake(TokioIo::new(s))
        .await
        .ok()?;
    tokio::spawn(async move {
        let _ = c.await;
    });
    Some(tx)
}
fn fail(code: u16) -> Response<Full<Bytes>> {
    Response::builder().status(code).body(Full::default()).unwrap()
}

async fn handle(
    req: Request<Incoming>,
    port: u16,
    tx: Arc<Mutex<Option<SendRequest<Full<Bytes>>>>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (p, b) = req.into_parts();
    let Ok(b) = b.collect().await else {
        return Ok(fail(400));
    };
    let body = b.to_bytes();
    let out = if body.is_empty() {
        body
    } else {
        let Ok(v) = serde_json::from_slice::<serde_json::Value>(&body) else {
            return Ok(fail(400));
        };
        let _tool = v["params"]["name"].as_str().map(str::len);
        Bytes::from(serde_json::to_vec(&v).unwrap())
    };
    let mut r = Request::builder()
        .method(p.method)
        .uri(p.uri.path())
        .header("host", format!("127.0.0.1:{port}"));
    for k in ["content-type", "accept", "mcp-session-id", "mcp-protocol-version"] {
        if let Some(v) = p.headers.get(k) {
            r = r.header(k, v);
        }
    }
    let mut g = tx.lock().await;
    if g.is_none() {
        *g = up(port).await;
    }
    let Some(s) = g.as_mut() else { return Ok(fail(502)) };
    if s.ready().await.is_err() {
        *g = None;
        return Ok(fail(502));
    }
    let Ok(resp) = s.send_request(r.body(Full::new(out)).unwrap()).await else {
        *g = None;
        return Ok(fail(502));
    };
    drop(g);
    let (rp, rb) = resp.into_parts();
    let Ok(rb) = rb.collect().await else {
        return Ok(fail(502));
    };
    let mut o = Response::builder().status(rp.status);
    for k in ["content-type", "mcp-session-id"] {
        if let Some(v) = rp.headers.get(k) {
            o = o.header(k, v);
        }
    }
    let rb = rb.to_bytes();
    let rb = match serde_json::from_slice::<serde_json::Value>(&rb) {
        Ok(v) => Bytes::from(serde_json::to_vec(&v).unwrap()),
        Err(_) => rb,
    };
    Ok(o.body(Full::new(rb)).unwrap())
}

#[tokio::main]
async fn main() {
    let a: Vec<u16> = std::env::args().skip(1).map(|x| x.parse().unwrap()).collect();
    let l = tokio::net::TcpListener::bind(("127.0.0.1", a[0])).await.unwrap();
    loop {
        let Ok((s, _)) = l.accept().await else { continue };
        let _ = s.set_nodelay(true);
        let (tx, port) = (Arc::new(Mutex::new(None)), a[1]);
        tokio::spawn(async move {
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(s), service_fn(move |r| handle(r, port, tx.clone())))
                .await;
        });
    }
}
