//! Failures of an exchange, each of which knows whether anything can have reached the server.

use std::error::Error;
use std::sync::Arc;

use http::StatusCode;

use crate::egress::EgressRefusal;

/// A failed exchange. Messages name at most a host, never a path, a query or a header.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The client cannot be built.
    #[error("cannot set up the HTTP client: {0}")]
    Setup(String),
    /// The request itself is unusable.
    #[error("the request is not usable: {0}")]
    Request(&'static str),
    /// The egress guard refused, by the URL or at connect.
    #[error(transparent)]
    Egress(#[from] EgressRefusal),
    /// No connection came about.
    #[error("cannot connect to {host}: {step} failed")]
    Connect {
        /// How far it came.
        step: ConnectStep,
        /// The host asked for.
        host: String,
        /// What went wrong.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// A limit of time or the caller's deadline passed.
    #[error("{phase} took too long")]
    Timeout {
        /// What was being waited for.
        phase: Phase,
        /// Whether the request can have reached the server.
        sent: bool,
    },
    /// The connection broke, or the server does not speak HTTP.
    #[error("the exchange broke off")]
    Broken {
        /// Whether the request can have reached the server.
        sent: bool,
        /// What went wrong.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The server answered with a redirect, which is never followed.
    #[error("the server redirects ({status}) to {}; redirects are refused, configure the final URL",
        location.as_deref().unwrap_or("an unnamed place"))]
    Redirect {
        /// The exact status.
        status: StatusCode,
        /// The host of `Location`, when it names one.
        location: Option<String>,
    },
    /// The server sent more than may be held.
    #[error("the {part} is larger than {limit} bytes")]
    TooLarge {
        /// What was too large.
        part: Part,
        /// The bound, in bytes.
        limit: usize,
    },
    /// The body has a content encoding that nobody asked for.
    #[error("the response is compressed although the request did not allow it")]
    Encoded,
}

/// How far a connection came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectStep {
    /// The name did not resolve.
    Resolve,
    /// No address accepted.
    Connect,
    /// TLS failed: certificate, name or protocol.
    Tls,
    /// The connection was lost before it could carry the request.
    Handshake,
}

/// What was being waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// A connection.
    Connect,
    /// The response head.
    Head,
    /// The rest of the body.
    Body,
    /// The next event.
    Event,
}

/// A part of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Status line and headers.
    Head,
    /// The body.
    Body,
    /// One server-sent event.
    Event,
}

impl HttpError {
    /// Whether anything of the request can have reached the server. `false` only when it is certain that nothing did.
    #[must_use]
    pub fn sent(&self) -> bool {
        match self {
            Self::Setup(_) | Self::Request(_) | Self::Egress(_) | Self::Connect { .. } => false,
            Self::Timeout { sent, .. } | Self::Broken { sent, .. } => *sent,
            Self::Redirect { .. } | Self::TooLarge { .. } | Self::Encoded => true,
        }
    }

    /// A stable code for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Setup(_) => "http.setup",
            Self::Request(_) => "http.request",
            Self::Egress(refusal) => refusal.code(),
            Self::Connect {
                step: ConnectStep::Resolve,
                ..
            } => "http.resolve",
            Self::Connect {
                step: ConnectStep::Connect | ConnectStep::Handshake,
                ..
            } => "http.connect",
            Self::Connect {
                step: ConnectStep::Tls,
                ..
            } => "http.tls",
            Self::Timeout { .. } => "http.timeout",
            Self::Broken { .. } => "http.broken",
            Self::Redirect { .. } => "http.redirect",
            Self::TooLarge { .. } => "http.too_large",
            Self::Encoded => "http.encoded",
        }
    }

    /// A break while the response was read.
    pub(crate) fn broken(source: hyper::Error) -> Self {
        Self::Broken {
            sent: true,
            source: Box::new(source),
        }
    }
}

impl std::fmt::Display for ConnectStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Resolve => "resolving the name",
            Self::Connect => "the connection",
            Self::Tls => "TLS",
            Self::Handshake => "the HTTP handshake",
        })
    }
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connect => "connecting",
            Self::Head => "the response",
            Self::Body => "the response body",
            Self::Event => "the next event",
        })
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Head => "response head",
            Self::Body => "response body",
            Self::Event => "event",
        })
    }
}
