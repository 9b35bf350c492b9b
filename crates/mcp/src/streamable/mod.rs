//! The Streamable HTTP transport of both eras: every request is a POST of its own, its answer JSON or a stream.

mod exchange;
mod standing;

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::header::{HeaderMap, HeaderValue};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub(crate) use exchange::Exchange;
pub(crate) use standing::{listen, settled};

use crate::endpoint::{self, Endpoint, METHOD, NAME, SESSION, VERSION};
use crate::error::{ConnectError, RequestError};
use crate::param_headers;
use crate::peer::Request;
use crate::target::HttpTarget;
use crate::version::{Era, ProtocolVersion};

/// The way to a Streamable HTTP server.
pub(crate) struct Streamable {
    endpoint: Endpoint,
    /// Given by legacy servers with the answer to `initialize`.
    session_id: OnceLock<HeaderValue>,
    /// Whether the standing GET stream is open, on which a legacy server may answer too.
    standing: AtomicBool,
    /// Cancelled once the standing stream was opened, declined or missed for the first time.
    settled: CancellationToken,
}

impl Streamable {
    pub(crate) fn new(target: HttpTarget) -> Result<Self, ConnectError> {
        Ok(Self {
            endpoint: Endpoint::new(target)?,
            session_id: OnceLock::new(),
            standing: AtomicBool::new(false),
            settled: CancellationToken::new(),
        })
    }

    /// Posts a notification or an answer; the server only acknowledges.
    pub(crate) async fn post(
        &self,
        method: Option<&str>,
        body: Bytes,
        version: ProtocolVersion,
        deadline: Instant,
    ) -> Result<(), RequestError> {
        let headers = |headers: &mut HeaderMap| {
            self.session_headers(headers, version);
            if let (Era::Modern, Some(method)) = (version.era(), method) {
                headers.insert(METHOD, param_headers::encode(method));
            }
            Ok(())
        };
        let response = self.endpoint.post(headers, body, deadline).await?;
        if response.status.is_success() {
            Ok(())
        } else {
            Err(self.refused(response, deadline).await)
        }
    }

    /// Tells a legacy server that its session is no longer needed. It may refuse; that is fine.
    pub(crate) async fn forget(&self, version: ProtocolVersion, deadline: Instant) {
        if self.session_id.get().is_none() {
            return;
        }
        let headers = |headers: &mut HeaderMap| {
            self.session_headers(headers, version);
            Ok(())
        };
        if let Err(error) = self.endpoint.delete(headers, deadline).await {
            tracing::debug!(%error, "an mcp session could not be deleted");
        }
    }

    fn session_headers(&self, headers: &mut HeaderMap, version: ProtocolVersion) {
        if version.has_version_header() {
            headers.insert(VERSION, HeaderValue::from_static(version.as_str()));
        }
        if let Some(id) = self.session_id.get().filter(|_| version.era() == Era::Legacy) {
            headers.insert(SESSION, id.clone());
        }
    }

    fn request_headers(
        &self,
        headers: &mut HeaderMap,
        request: &Request,
        version: ProtocolVersion,
    ) -> Result<(), RequestError> {
        if version.era() == Era::Legacy {
            // Before the answer to `initialize` there is neither an agreed version nor a session.
            if request.method != "initialize" {
                self.session_headers(headers, version);
            }
            return Ok(());
        }
        self.session_headers(headers, version);
        headers.insert(METHOD, param_headers::encode(&request.method));
        let named = match &*request.method {
            "tools/call" | "prompts/get" => request.params.text("name"),
            "resources/read" => request.params.text("uri"),
            _ => None,
        };
        if let Some(name) = named {
            headers.insert(NAME, param_headers::encode(&name));
        }
        if let (Some(plan), Some(arguments)) = (&request.param_headers, request.params.get("arguments")) {
            for (name, value) in plan
                .values(arguments)
                .map_err(|e| RequestError::Unsendable(e.to_string()))?
            {
                headers.insert(name, value);
            }
        }
        Ok(())
    }

    /// A 404 to a request that named a session means that the session is gone (2025-11-25, "Session Management"); some servers say 410.
    async fn refused(&self, response: crate::http::HttpResponse, deadline: Instant) -> RequestError {
        let named = self.session_id.get().is_some();
        if named && matches!(response.status.as_u16(), 404 | 410) {
            return RequestError::SessionExpired;
        }
        match endpoint::refusal(response, deadline).await {
            error if named && forgot_session(&error) => RequestError::SessionExpired,
            error => error,
        }
    }

    fn standing_open(&self) -> bool {
        self.standing.load(Ordering::Relaxed)
    }
}

/// Published servers that were started anew say with 400 that they do not know a session.
fn forgot_session(error: &RequestError) -> bool {
    let RequestError::Rpc {
        code: -32_000,
        message,
        http_status: Some(400),
        ..
    } = error
    else {
        return false;
    };
    let message = message.to_ascii_lowercase();
    message.starts_with("bad request")
        && (message.contains("session id") || message.contains("not initialized"))
}

/// Keeps the standing stream's state honest however its task ends.
struct Standing<'a>(&'a Streamable);

impl<'a> Standing<'a> {
    fn open(http: &'a Streamable) -> Self {
        http.standing.store(true, Ordering::Relaxed);
        Self(http)
    }
}

impl Drop for Standing<'_> {
    fn drop(&mut self) {
        self.0.standing.store(false, Ordering::Relaxed);
    }
}

/// The session's Streamable HTTP channel, if that is what it has.
fn channel(session: &Arc<crate::peer::Session>) -> Option<&Streamable> {
    match &session.channel {
        crate::peer::Channel::Streamable(http) => Some(http),
        crate::peer::Channel::Pipe(_) | crate::peer::Channel::Sse(_) => None,
    }
}
