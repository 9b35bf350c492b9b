//! A plain HTTP client for our own server.

use std::time::Duration;

use anyhow::{Context as _, bail};
use bytes::Bytes;
use domain::Secret;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use url::Url;

/// A client with a key.
pub(crate) struct Http {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    key: Option<Secret>,
}

/// What is sent.
pub(crate) struct Payload {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Http {
    pub(crate) fn new(key: Option<Secret>) -> anyhow::Result<Self> {
        let provider = rustls::crypto::ring::default_provider();
        let tls = rustls::ClientConfig::builder_with_provider(provider.into())
            .with_safe_default_protocol_versions()
            .context("TLS is not available")?
            .with_webpki_roots()
            .with_no_client_auth();
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(Duration::from_secs(10)));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        Ok(Self {
            client: Client::builder(TokioExecutor::new()).build(connector),
            key,
        })
    }

    /// Sends and returns the response's head with its body still to be read.
    pub(crate) async fn send(&self, payload: Payload) -> anyhow::Result<Response<Incoming>> {
        let mut request = Request::builder()
            .method(payload.method)
            .uri(payload.url.as_str());
        if let Some(headers) = request.headers_mut() {
            *headers = payload.headers;
            if let Some(key) = &self.key {
                let mut value = header::HeaderValue::try_from(format!("Bearer {}", key.expose()))
                    .context("the key holds characters a header cannot carry")?;
                value.set_sensitive(true);
                headers.insert(header::AUTHORIZATION, value);
            }
        }
        let request = request
            .body(Full::new(payload.body))
            .context("the request cannot be built")?;
        let shown = payload.url.origin().ascii_serialization();
        self.client
            .request(request)
            .await
            .with_context(|| format!("cannot reach {shown}; is the server running?"))
    }

    /// Sends JSON and reads JSON.
    pub(crate) async fn json(&self, payload: Payload) -> anyhow::Result<(StatusCode, serde_json::Value)> {
        let response = self.send(payload).await?;
        let status = response.status();
        let body = response
            .into_body()
            .collect()
            .await
            .context("the answer broke off")?
            .to_bytes();
        if body.is_empty() {
            return Ok((status, serde_json::Value::Null));
        }
        match serde_json::from_slice(&body) {
            Ok(value) => Ok((status, value)),
            Err(_) => {
                bail!("the server answered {status} with something that is not JSON; is it Switchboard?")
            }
        }
    }
}
