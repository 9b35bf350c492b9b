//! One exchange: check the URL, take the road, wait for the head.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, LOCATION, USER_AGENT};
use http::{HeaderMap, HeaderValue, Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::connector::{ConnectFailure, Connector};
use super::dial::KEEP_ALIVE;
use super::outgoing::{Begun, Outgoing};
use super::tls::client_config;
use super::{ConnectStep, HttpError, HttpLimits, HttpOptions, HttpResponse, Leftovers, Part, Phase};
use crate::egress::{Egress, EndpointOf, Road};

/// A pooled client for one egress policy. Cheap to clone; clones share the pool.
#[derive(Clone)]
pub struct HttpClient {
    inner: Arc<Inner>,
}

struct Inner {
    limits: HttpLimits,
    egress: Arc<Egress>,
    /// Two pools, so that a public URL never rides on a connection to an operator's internal address.
    public: Pool,
    registered: Pool,
    leftovers: Leftovers,
}

type Pool = Client<Connector, Outgoing>;

impl HttpClient {
    /// Builds the client. Nothing is connected yet.
    ///
    /// # Errors
    /// An extra root is not a certificate.
    pub fn new(options: HttpOptions) -> Result<Self, HttpError> {
        let HttpOptions {
            limits,
            egress,
            extra_roots,
        } = options;
        let tls = client_config(&extra_roots)?;
        let pool_of = |road| {
            pool(&limits).build(Connector::new(
                road,
                Arc::clone(&egress),
                tls.clone(),
                limits.connect,
            ))
        };
        let (public, registered) = (pool_of(Road::Public), pool_of(Road::Registered));
        Ok(Self {
            inner: Arc::new(Inner {
                limits,
                egress,
                public,
                registered,
                leftovers: Leftovers::default(),
            }),
        })
    }

    /// The egress rules of this client.
    #[must_use]
    pub fn egress(&self) -> &Egress {
        &self.inner.egress
    }

    /// The limits of this client.
    #[must_use]
    pub fn limits(&self) -> &HttpLimits {
        &self.inner.limits
    }

    /// Sends a request to its absolute URI and returns once the response head is there, whatever its status, except
    /// that redirects are errors. A pooled connection found closed before the request was written is replaced.
    /// Dropping the future abandons the exchange.
    ///
    /// An [`EndpointOf`] extension marks an endpoint named by a server for itself.
    ///
    /// # Errors
    /// As [`HttpError`] lists; [`HttpError::sent`] says whether the server can have seen the request.
    pub async fn send(&self, request: Request<Bytes>, deadline: Instant) -> Result<HttpResponse, HttpError> {
        let mut request = request;
        let road = self.inner.check(&mut request)?;
        self.exchange(road, request, deadline).await
    }

    /// Reads a JSON document at an address of the server at `of`, and takes its road: an address that differs from a registered one only
    /// in path and query is reached like that one. `most` bounds its size in bytes.
    ///
    /// # Errors
    /// As [`HttpClient::send`], or the document is too large or breaks off. Any status is an answer.
    pub async fn document(
        &self,
        url: &Url,
        of: &Url,
        (most, deadline): (usize, Instant),
    ) -> Result<(u16, Vec<u8>), HttpError> {
        let uri =
            Uri::try_from(url.as_str()).map_err(|_| HttpError::Request("its address cannot be requested"))?;
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = uri;
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(ACCEPT, json);
        request.extensions_mut().insert(EndpointOf(of.clone()));
        let response = self.send(request, deadline).await?;
        let status = response.status.as_u16();
        Ok((status, response.bytes(most, deadline).await?.to_vec()))
    }

    /// The same for a request whose URI was made from this URL, which then need not be read again.
    ///
    /// # Errors
    /// As [`HttpClient::send`].
    pub(crate) async fn send_to(
        &self,
        url: &Url,
        request: Request<Bytes>,
        deadline: Instant,
    ) -> Result<HttpResponse, HttpError> {
        let road = self.inner.judge(url, &request)?;
        self.exchange(road, request, deadline).await
    }

    async fn exchange(
        &self,
        road: Road,
        request: Request<Bytes>,
        deadline: Instant,
    ) -> Result<HttpResponse, HttpError> {
        let inner = &*self.inner;
        let mut request = request;
        let pool = match road {
            Road::Public => &inner.public,
            Road::Registered => &inner.registered,
        };
        request.headers_mut().entry(USER_AGENT).or_insert(AGENT);
        let uri = request.uri().clone();
        let host = uri.host().unwrap_or_default();
        let begun = Begun::default();
        let request = request.map(|data| Outgoing::new(data, begun.clone()));
        let deadline = deadline.min(Instant::now() + inner.limits.head);
        let response = match timeout_at(deadline, pool.request(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(inner.failure(error, host, &begun)),
            Err(_) if begun.get() => {
                return Err(HttpError::Timeout {
                    phase: Phase::Head,
                    sent: true,
                });
            }
            Err(_) => {
                return Err(HttpError::Timeout {
                    phase: Phase::Connect,
                    sent: false,
                });
            }
        };
        // The connection's own bound is one of buffers and lets somewhat more pass.
        if head_size(response.headers()) > inner.limits.max_header_bytes {
            return Err(inner.head_too_large());
        }
        if response.status().is_redirection() {
            let location = response
                .headers()
                .get(LOCATION)
                .and_then(|value| value.to_str().ok());
            return Err(HttpError::Redirect {
                status: response.status(),
                location: location.and_then(|location| host_of(location, &uri)),
            });
        }
        Ok(HttpResponse::new(response, inner.limits, inner.leftovers.clone()))
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient")
            .field("egress", &self.inner.egress)
            .finish_non_exhaustive()
    }
}

const AGENT: HeaderValue = HeaderValue::from_static(concat!("switchboard/", env!("CARGO_PKG_VERSION")));

impl Inner {
    /// Judges the URI by its parsed form, and sends it in that form, so that no second parser reads it differently.
    fn check(&self, request: &mut Request<Bytes>) -> Result<Road, HttpError> {
        let text = request.uri().to_string();
        let url = Url::parse(&text).map_err(|_| HttpError::Request("its URI is not an absolute URL"))?;
        let road = self.judge(&url, request)?;
        if url.as_str() != text {
            *request.uri_mut() =
                Uri::try_from(url.as_str()).map_err(|_| HttpError::Request("its URI is not a valid URI"))?;
        }
        Ok(road)
    }

    fn judge(&self, url: &Url, request: &Request<Bytes>) -> Result<Road, HttpError> {
        Ok(match request.extensions().get::<EndpointOf>() {
            Some(EndpointOf(server)) => self.egress.check_endpoint(server, url)?,
            None => self.egress.check_url(url)?,
        })
    }

    fn failure(&self, error: hyper_util::client::legacy::Error, host: &str, begun: &Begun) -> HttpError {
        let source = error.source();
        if let Some(failure) = source.and_then(|source| source.downcast_ref::<ConnectFailure>()) {
            return failure.clone().into_error(host);
        }
        let cause = source.and_then(|source| source.downcast_ref::<hyper::Error>());
        if cause.is_some_and(hyper::Error::is_parse_too_large) {
            return self.head_too_large();
        }
        if error.is_connect() && !begun.get() {
            return HttpError::Connect {
                step: ConnectStep::Handshake,
                host: host.to_owned(),
                source: Arc::new(error),
            };
        }
        HttpError::Broken {
            sent: begun.get(),
            source: Box::new(error),
        }
    }

    fn head_too_large(&self) -> HttpError {
        HttpError::TooLarge {
            part: Part::Head,
            limit: self.limits.max_header_bytes,
        }
    }
}

fn pool(limits: &HttpLimits) -> hyper_util::client::legacy::Builder {
    let mut builder = Client::builder(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(limits.pool_idle)
        .pool_max_idle_per_host(limits.max_idle_per_host)
        // Finds out that a silent peer is gone while exchanges wait on it.
        .http2_keep_alive_interval(KEEP_ALIVE)
        // hyper panics below 8 KiB.
        .http1_max_buf_size(limits.max_header_bytes.max(8 * 1024))
        .http2_max_header_list_size(u32::try_from(limits.max_header_bytes).unwrap_or(u32::MAX));
    builder
}

/// Names and values, each line with its colon, space and end.
fn head_size(headers: &HeaderMap) -> usize {
    headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4)
        .sum()
}

/// The host a `Location` names, which may be relative.
fn host_of(location: &str, base: &Uri) -> Option<String> {
    let base = Url::parse(&base.to_string()).ok()?;
    base.join(location).ok()?.host_str().map(str::to_owned)
}
