//! TLS against a real server with its own authority: ALPN, names, unknown authorities, and the two roads apart.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use mcp::egress::{Egress, FixedNames, Resolver};
use mcp::http::{CertificateDer, ConnectStep, HttpClient, HttpError, HttpOptions};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;

#[tokio::test]
async fn the_protocol_is_negotiated() {
    for (offered, expected) in [
        (&["h2", "http/1.1"][..], "HTTP/2.0"),
        (&["http/1.1"][..], "HTTP/1.1"),
        (&[][..], "HTTP/1.1"),
    ] {
        let server = Server::start(offered).await;
        let client = server.client(&server.url("/mcp"), true);
        for _ in 0..3 {
            let body = get(&client, &server.url("/mcp")).await.unwrap();
            assert_eq!(body, format!("{expected} host.test:{}", server.address.port()));
        }
    }
}

#[tokio::test]
async fn certificates_are_checked() {
    let server = Server::start(&["h2"]).await;
    let other_name = format!("https://other.test:{}/mcp", server.address.port());
    for (url, trusted) in [(server.url("/mcp"), false), (other_name, true)] {
        let error = get(&server.client(&url, trusted), &url).await.unwrap_err();
        assert!(
            matches!(
                &error,
                HttpError::Connect {
                    step: ConnectStep::Tls,
                    ..
                }
            ),
            "{url}: {error:?}"
        );
        assert!(!error.sent());
    }
}

#[tokio::test]
async fn a_public_url_never_rides_on_a_registered_connection() {
    let server = Server::start(&["h2", "http/1.1"]).await;
    let client = server.client(&server.url("/mcp"), true);
    get(&client, &server.url("/mcp")).await.unwrap();
    // Same scheme, host and port, and the pool has an open connection to it.
    let error = get(&client, &server.url("/admin")).await.unwrap_err();
    let HttpError::Egress(refusal) = &error else {
        panic!("{error:?}")
    };
    assert_eq!(refusal.code(), "egress.address");
}

/// Answers with the version and the authority it was asked for.
struct Server {
    address: SocketAddr,
    certificate: CertificateDer<'static>,
    _tasks: JoinSet<()>,
}

impl Server {
    async fn start(alpn: &[&str]) -> Self {
        let made = rcgen::generate_simple_self_signed(["host.test".to_owned()]).unwrap();
        let certificate = made.cert.der().clone();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .unwrap();
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let acceptor = acceptor.clone();
                connections.spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else {
                        return;
                    };
                    let builder = auto::Builder::new(TokioExecutor::new());
                    builder
                        .serve_connection(TokioIo::new(stream), service_fn(answer))
                        .await
                        .ok();
                });
            }
        });
        Self {
            address,
            certificate,
            _tasks: tasks,
        }
    }

    fn url(&self, path: &str) -> String {
        format!("https://host.test:{}{path}", self.address.port())
    }

    fn client(&self, registered: &str, trusted: bool) -> HttpClient {
        let here = || vec![vec![self.address.ip()]];
        let names = FixedNames::new([("host.test", here()), ("other.test", here())]);
        let egress = Egress::public().with_resolver(Resolver::Fixed(Arc::new(names)));
        let egress = Arc::new(egress.register(registered).unwrap());
        let extra_roots = if trusted {
            vec![self.certificate.clone()]
        } else {
            Vec::new()
        };
        HttpClient::new(HttpOptions {
            egress,
            extra_roots,
            ..HttpOptions::default()
        })
        .unwrap()
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let authority = match request.uri().authority() {
        Some(authority) => authority.to_string(),
        None => request.headers()["host"].to_str().unwrap().to_owned(),
    };
    Ok(Response::new(Full::from(format!(
        "{:?} {authority}",
        request.version()
    ))))
}

async fn get(client: &HttpClient, url: &str) -> Result<String, HttpError> {
    let deadline = Instant::now() + Duration::from_secs(20);
    let request = Request::get(url).body(Bytes::new()).unwrap();
    let body = client
        .send(request, deadline)
        .await?
        .bytes(1000, deadline)
        .await?;
    Ok(String::from_utf8(body.to_vec()).unwrap())
}
