//! One HTTP endpoint: prepared headers, the current token, and failures in this crate's words.

use bytes::Bytes;
use http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE,
};
use http::{Method, Request, Uri};
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::egress::EndpointOf;
use crate::error::{ConnectError, Phase, RequestError};
use crate::http::{Content, HttpError, HttpResponse};
use crate::target::HttpTarget;
use crate::wire::{self, Incoming};

/// `MCP-Protocol-Version`.
pub(crate) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// `Mcp-Session-Id`.
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// `Last-Event-ID`.
pub(crate) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// `Mcp-Method`.
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// `Mcp-Name`.
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");

const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// How much of an error body is reported.
const EXCERPT: usize = 4096;

/// An address with what every request to it carries.
pub(crate) struct Endpoint {
    target: HttpTarget,
    /// The address requests go to, which is `target.url` unless the server named this one itself.
    address: Url,
    /// The same, made from it.
    uri: Uri,
    base: HeaderMap,
    /// Set where the server named this address itself (legacy SSE).
    named_by: Option<EndpointOf>,
}

impl Endpoint {
    /// Prepares the configured address.
    pub(crate) fn new(target: HttpTarget) -> Result<Self, ConnectError> {
        let mut base = HeaderMap::with_capacity(target.headers.len() + 8);
        for (name, value) in &target.headers {
            let mut value = HeaderValue::from_str(value.expose())
                .map_err(|_| ConnectError::Target(format!("the value of header {name} is not sendable")))?;
            value.set_sensitive(true);
            base.append(name.clone(), value);
        }
        let uri = uri(&target.url).map_err(ConnectError::Target)?;
        Ok(Self {
            address: target.url.clone(),
            target,
            uri,
            base,
            named_by: None,
        })
    }

    /// The same server under an address it named itself.
    pub(crate) fn named(&self, url: &Url) -> Result<Self, ConnectError> {
        Ok(Self {
            target: self.target.clone(),
            address: url.clone(),
            uri: uri(url).map_err(ConnectError::Target)?,
            base: self.base.clone(),
            named_by: Some(EndpointOf(self.target.url.clone())),
        })
    }

    /// The configured address.
    pub(crate) const fn url(&self) -> &Url {
        &self.target.url
    }

    /// Sends a message; JSON or a stream may come back.
    pub(crate) async fn post(
        &self,
        extra: impl FnOnce(&mut HeaderMap) -> Result<(), RequestError>,
        body: Bytes,
        deadline: Instant,
    ) -> Result<HttpResponse, RequestError> {
        let mut headers = self.headers(deadline).await?;
        headers.insert(ACCEPT, BOTH);
        headers.insert(CONTENT_TYPE, JSON);
        extra(&mut headers)?;
        self.send(Method::POST, headers, body, deadline).await
    }

    /// Opens a stream.
    pub(crate) async fn get(
        &self,
        extra: impl FnOnce(&mut HeaderMap) -> Result<(), RequestError>,
        deadline: Instant,
    ) -> Result<HttpResponse, RequestError> {
        let mut headers = self.headers(deadline).await?;
        headers.insert(ACCEPT, EVENTS);
        extra(&mut headers)?;
        self.send(Method::GET, headers, Bytes::new(), deadline).await
    }

    /// Asks the server to forget something.
    pub(crate) async fn delete(
        &self,
        extra: impl FnOnce(&mut HeaderMap) -> Result<(), RequestError>,
        deadline: Instant,
    ) -> Result<HttpResponse, RequestError> {
        let mut headers = self.headers(deadline).await?;
        extra(&mut headers)?;
        self.send(Method::DELETE, headers, Bytes::new(), deadline).await
    }

    async fn headers(&self, deadline: Instant) -> Result<HeaderMap, RequestError> {
        let mut headers = self.base.clone();
        if let Some(source) = &self.target.auth {
            let token = timeout_at(deadline, source.token())
                .await
                .map_err(|_| RequestError::Timeout {
                    phase: Phase::Connect,
                    sent: false,
                })?
                .map_err(RequestError::NoToken)?;
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose()))
                .map_err(|_| RequestError::Unsendable("the access token is not a header value".to_owned()))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(headers)
    }

    async fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
        deadline: Instant,
    ) -> Result<HttpResponse, RequestError> {
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = headers;
        if let Some(server) = &self.named_by {
            request.extensions_mut().insert(server.clone());
        }
        let sent = self.target.http.send_to(&self.address, request, deadline);
        sent.await.map_err(failure)
    }
}

fn uri(url: &Url) -> Result<Uri, String> {
    Uri::try_from(url.as_str()).map_err(|_| "the url cannot be requested".to_owned())
}

/// An HTTP failure as a request's failure.
pub(crate) fn failure(error: HttpError) -> RequestError {
    use crate::http::Phase as HttpPhase;
    match error {
        HttpError::Setup(_) | HttpError::Request(_) => RequestError::Unsendable(error.to_string()),
        HttpError::Egress(refusal) => RequestError::Egress(refusal),
        HttpError::Connect { ref source, .. } => RequestError::Unreachable(format!("{error}: {source}")),
        HttpError::Timeout { phase, sent } => {
            let phase = match phase {
                HttpPhase::Connect => Phase::Connect,
                HttpPhase::Head | HttpPhase::Body | HttpPhase::Event => Phase::Answer,
            };
            RequestError::Timeout { phase, sent }
        }
        HttpError::Broken { sent, ref source } => RequestError::Closed {
            reason: format!("{error}: {source}"),
            sent,
        },
        HttpError::Redirect { status, location } => RequestError::Redirect {
            status: status.as_u16(),
            location: location.unwrap_or_else(|| "an unnamed place".to_owned()),
        },
        HttpError::TooLarge { limit, .. } => RequestError::TooLarge { limit },
        HttpError::Encoded => RequestError::Malformed(error.to_string()),
    }
}

/// What an answer with an error status says: a JSON-RPC error where the body is one, else the status itself. A
/// challenge, a limit or a failure of the server stays a matter of HTTP.
pub(crate) async fn refusal(response: HttpResponse, deadline: Instant) -> RequestError {
    let status = response.status.as_u16();
    let retry_after = response.retry_after();
    let challenge = response
        .headers
        .get(WWW_AUTHENTICATE)
        .and_then(|v| v.to_str().ok())
        .map(str::to_owned);
    let speaks_rpc = challenge.is_none() && !matches!(status, 401 | 407 | 429 | 502..);
    let events = response.content() == Content::Events;
    let body = if events {
        Bytes::new()
    } else {
        response.excerpt(deadline).await
    };
    if speaks_rpc && let Some(error) = rpc_error(&body) {
        return RequestError::Rpc {
            code: error.code,
            message: error.message,
            data: error.data,
            http_status: Some(status),
        };
    }
    let text = body.get(..EXCERPT).unwrap_or(&body);
    RequestError::Http {
        status,
        retry_after,
        challenge,
        body: String::from_utf8_lossy(text).into_owned(),
    }
}

fn rpc_error(body: &[u8]) -> Option<wire::RpcError> {
    let mut found = None;
    wire::each(body, |message| {
        if let Ok(Incoming::Response {
            outcome: Err(error), ..
        }) = message
        {
            found = Some(error);
        }
    })
    .ok()?;
    // `{"error":"not found"}` of a web framework is no JSON-RPC error; those have numbers.
    found.filter(|error| error.code != 0)
}
