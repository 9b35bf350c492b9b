//! Bounded closed-loop MCP tools/call load generator. Loopback only (refuses any other address).
//! mcpload URL [--c N] [--n TOTAL] [--max-s SECS] [--warm N] [--tool NAME] [--args JSON] [--text-bytes N]
//!         [-H 'k: v']... [--pv VERSION] [--shared-session] [--no-init] [--blob BYTES] [--modern] [--leave]
//! --blob asks for a result of so many bytes; --modern speaks 2026-07-28, without a session;
//! --leave does not end the sessions it opened.
//! Each worker = 1 keep-alive HTTP/1.1 connection + 1 MCP session; every reply is checked for the echoed text.
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, client::conn::http1::SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::sync::{
    Arc,
    atomic::{AtomicI64, AtomicU64, Ordering::Relaxed},
};
use std::time::{Duration, Instant};

#[derive(Clone)]
struct Cfg {
    host: String,
    port: u16,
    path: String,
    c: usize,
    n: i64,
    max_s: u64,
    warm: usize,
    tool: String,
    args: Option<String>,
    text: String,
    headers: Vec<(String, String)>,
    pv: String,
    shared: bool,
    init: bool,
    cp: bool,
    blob: Option<usize>,
    modern: bool,
    leave: bool,
}

struct Conn {
    s: SendRequest<Full<Bytes>>,
    cfg: Arc<Cfg>,
    sid: Option<String>,
}
type R<T> = Result<T, String>;

impl Conn {
    async fn open(cfg: Arc<Cfg>) -> R<Conn> {
        let t = tokio::net::TcpStream::connect((cfg.host.as_str(), cfg.port))
            .await
            .map_err(|e| e.to_string())?;
        let _ = t.set_nodelay(true);
        let (s, c) = hyper::client::conn::http1::handshake(TokioIo::new(t))
            .await
            .map_err(|e| e.to_string())?;
        tokio::spawn(async move {
            let _ = c.await;
        });
        Ok(Conn { s, cfg, sid: None })
    }
    async fn post(&mut self, body: Bytes) -> R<(u16, String, Bytes)> {
        self.s.ready().await.map_err(|e| format!("ready: {e}"))?;
        let mut b = Request::post(&self.cfg.path)
            .header("host", format!("{}:{}", self.cfg.host, self.cfg.port))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", &self.cfg.pv);
        if let Some(s) = &self.sid {
            b = b.header("mcp-session-id", s);
        }
        if self.cfg.modern {
            b = b
                .header("mcp-method", "tools/call")
                .header("mcp-name", &self.cfg.tool);
        }
        for (k, v) in &self.cfg.headers {
            b = b.header(k, v);
        }
        let r = self
            .s
            .send_request(b.body(Full::new(body)).unwrap())
            .await
            .map_err(|e| format!("send: {e}"))?;
        let st = r.status().as_u16();
        if let Some(v) = r.headers().get("mcp-session-id") {
            self.sid = v.to_str().ok().map(Into::into);
        }
        let ct = r
            .headers()
            .get("content-type")
            .and_then(|v| v.to_str().ok())
            .unwrap_or("")
            .to_string();
        let b = r
            .into_body()
            .collect()
            .await
            .map_err(|e| format!("body: {e}"))?
            .to_bytes();
        Ok((st, ct, b))
    }
    /// JSON-RPC request -> response object (from JSON or the SSE event that carries our id)
    async fn rpc(&mut self, v: &Value) -> R<Value> {
        let id = v["id"].clone();
        let (st, ct, b) = self.post(Bytes::from(serde_json::to_vec(v).unwrap())).await?;
        if st != 200 {
            return Err(format!(
                "http {st}: {}",
                String::from_utf8_lossy(&b[..b.len().min(200)])
            ));
        }
        if ct.starts_with("text/event-stream") {
            for l in String::from_utf8_lossy(&b).lines() {
                if let Some(d) = l.strip_prefix("data:") {
                    if let Ok(m) = serde_json::from_str::<Value>(d.trim()) {
                        if m["id"] == id {
                            return Ok(m);
                        }
                    }
                }
            }
            return Err(format!(
                "no event with our id in {}",
                String::from_utf8_lossy(&b[..b.len().min(200)])
            ));
        }
        serde_json::from_slice(&b).map_err(|e| format!("json: {e}"))
    }
    async fn init(&mut self) -> R<()> {
        let v = json!({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":self.cfg.pv,
            "capabilities":{},"clientInfo":{"name":"mcpload","version":"0.1.0"}}});
        let r = self.rpc(&v).await?;
        if r.get("result").is_none() {
            return Err(format!("initialize: {r}"));
        }
        let (st, _, b) = self
            .post(Bytes::from_static(
                br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            ))
            .await?;
        if st / 100 != 2 {
            return Err(format!("initialized: http {st} {}", String::from_utf8_lossy(&b)));
        }
        Ok(())
    }
    /// Ends the session, as a well-behaved client does.
    async fn end(&mut self) {
        let Some(sid) = self.sid.take() else { return };
        if self.s.ready().await.is_err() {
            return;
        }
        let mut b = Request::delete(&self.cfg.path)
            .header("host", format!("{}:{}", self.cfg.host, self.cfg.port))
            .header("mcp-protocol-version", &self.cfg.pv)
            .header("mcp-session-id", sid);
        for (k, v) in &self.cfg.headers {
            b = b.header(k, v);
        }
        if let Ok(r) = self.s.send_request(b.body(Full::default()).unwrap()).await {
            let _ = r.into_body().collect().await;
        }
    }
    async fn call(&mut self, id: i64) -> R<()> {
        let a: Value = match (&self.cfg.args, self.cfg.blob) {
            (Some(a), _) => serde_json::from_str(a).unwrap(),
            (None, Some(bytes)) => json!({"bytes": bytes}),
            (None, None) => json!({"text": self.cfg.text}),
        };
        let mut params = json!({"name":self.cfg.tool,"arguments":a});
        if self.cfg.modern {
            params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": self.cfg.pv,
                "io.modelcontextprotocol/clientInfo": {"name": "mcpload", "version": "0.2.0"},
                "io.modelcontextprotocol/clientCapabilities": {}});
        }
        let r = self
            .rpc(&json!({"jsonrpc":"2.0","id":id,"method":"tools/call","params":params}))
            .await?;
        let t = r["result"]["content"][0]["text"].as_str().unwrap_or("");
        let good = if let Some(bytes) = self.cfg.blob {
            t.len() == bytes
        } else if self.cfg.cp {
            t.contains(&self.cfg.text)
        } else {
            t == self.cfg.text
        };
        if good && r["result"]["isError"] != json!(true) {
            Ok(())
        } else {
            Err(format!(
                "bad reply: {}",
                r.to_string().chars().take(300).collect::<String>()
            ))
        }
    }
}

fn parse() -> Cfg {
    let a: Vec<String> = std::env::args().skip(1).collect();
    let mut c = Cfg {
        host: String::new(),
        port: 0,
        path: String::new(),
        c: 1,
        n: 1000,
        max_s: 30,
        warm: 50,
        tool: "echo".into(),
        args: None,
        text: "x".repeat(64),
        headers: vec![],
        pv: "2025-06-18".into(),
        shared: false,
        init: true,
        cp: false,
        blob: None,
        modern: false,
        leave: false,
    };
    let mut i = 0;
    while i < a.len() {
        let k = a[i].clone();
        let mut val = || {
            i += 1;
            a[i].clone()
        };
        match k.as_str() {
            "--c" => c.c = val().parse().unwrap(),
            "--n" => c.n = val().parse().unwrap(),
            "--max-s" => c.max_s = val().parse().unwrap(),
            "--warm" => c.warm = val().parse().unwrap(),
            "--tool" => c.tool = val(),
            "--args" => c.args = Some(val()),
            "--text-bytes" => c.text = "x".repeat(val().parse().unwrap()),
            "--pv" => c.pv = val(),
            "-H" => {
                let h = val();
                let (k, v) = h.split_once(':').unwrap();
                c.headers.push((k.trim().into(), v.trim().into()));
            }
            "--shared-session" => c.shared = true,
            "--no-init" => c.init = false,
            "--blob" => c.blob = Some(val().parse().unwrap()),
            "--leave" => c.leave = true,
            "--modern" => {
                c.modern = true;
                c.init = false;
                c.pv = "2026-07-28".into();
            }
            "--contains" => c.cp = true,
            u => {
                let r = u.strip_prefix("http://").expect("http:// URL");
                let (hp, p) = r.split_once('/').unwrap_or((r, ""));
                let (h, p2) = hp.rsplit_once(':').expect("host:port");
                assert!(h == "127.0.0.1" || h == "localhost", "loopback only");
                c.host = h.into();
                c.port = p2.parse().unwrap();
                c.path = format!("/{p}");
            }
        }
        i += 1;
    }
    c
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let cfg = Arc::new(parse());
    assert!(cfg.c <= 256 && cfg.n <= 2_000_000 && cfg.max_s <= 300, "bounds");
    let mut conns = vec![];
    let mut sid: Option<String> = None;
    for k in 0..cfg.c {
        let mut c = Conn::open(cfg.clone()).await.unwrap();
        if cfg.shared && k > 0 {
            c.sid = sid.clone();
        } else if cfg.init {
            if let Err(e) = c.init().await {
                eprintln!("init failed: {e}");
                std::process::exit(2);
            }
            sid = c.sid.clone();
        }
        conns.push(c);
    }
    let left = Arc::new(AtomicI64::new(cfg.n));
    let errs = Arc::new(AtomicU64::new(0));
    let gate = Arc::new(tokio::sync::Barrier::new(cfg.c + 1));
    let mut js = vec![];
    for (k, mut c) in conns.into_iter().enumerate() {
        let (left, errs, gate, cfg) = (left.clone(), errs.clone(), gate.clone(), cfg.clone());
        js.push(tokio::spawn(async move {
            for w in 0..cfg.warm.div_ceil(cfg.c) {
                if let Err(e) = c.call(1 + w as i64).await {
                    if w == 0 && k == 0 {
                        eprintln!("warm: {e}");
                    }
                }
            }
            gate.wait().await;
            let end = Instant::now() + Duration::from_secs(cfg.max_s);
            let mut lat: Vec<u32> = vec![];
            while Instant::now() < end {
                let id = left.fetch_sub(1, Relaxed);
                if id <= 0 {
                    break;
                }
                let t = Instant::now();
                match c.call(1_000 + id).await {
                    Ok(()) => lat.push(t.elapsed().as_micros() as u32),
                    Err(e) => {
                        if errs.fetch_add(1, Relaxed) == 0 {
                            eprintln!("first error: {e}");
                        }
                        if e.starts_with("ready") || e.starts_with("send") {
                            // reconnect + new session
                            if let Ok(mut n) = Conn::open(cfg.clone()).await {
                                n.sid = c.sid.clone();
                                c = n;
                            } else {
                                break;
                            }
                        }
                    }
                }
            }
            (lat, c)
        }));
    }
    gate.wait().await;
    let t0 = Instant::now();
    let mut lat = vec![];
    let mut open = vec![];
    for j in js {
        let (taken, conn) = j.await.unwrap();
        lat.extend(taken);
        open.push(conn);
    }
    let el = t0.elapsed().as_secs_f64();
    if !cfg.leave && !cfg.shared {
        for conn in &mut open {
            conn.end().await;
        }
    }
    lat.sort_unstable();
    let p = |q: f64| {
        if lat.is_empty() {
            0.0
        } else {
            lat[((lat.len() - 1) as f64 * q) as usize] as f64 / 1000.0
        }
    };
    let o = json!({"c":cfg.c,"ok":lat.len(),"err":errs.load(Relaxed),"s":(el*1000.0).round()/1000.0,
        "cps":(lat.len() as f64/el*10.0).round()/10.0,"p50_ms":p(0.5),"p90_ms":p(0.9),"p99_ms":p(0.99),"max_ms":p(1.0)});
    println!("{o}");
}
