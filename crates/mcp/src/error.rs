//! What can go wrong between us and a server, and whether anything may have reached it.

use std::time::Duration;

use serde_json::value::RawValue;

use crate::egress::EgressRefusal;
use crate::target::TokenError;
use crate::wire::codes;

/// Connecting failed; there is no session.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The target itself is wrong: an empty command, a header value HTTP cannot carry, an unusable URL.
    #[error("the target is not usable: {0}")]
    Target(String),
    /// The child process could not be started.
    #[error(
        "`{program}` could not be started: {source}; check that it exists, is executable and that PATH is passed on"
    )]
    Spawn {
        /// The program as configured.
        program: String,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// The server went away before a version was agreed on.
    #[error("the server closed the connection before it was ready: {reason}")]
    Closed {
        /// Why, including the last lines a child wrote.
        reason: String,
    },
    /// The server did not answer in time.
    #[error("the server did not become ready within {0:?}")]
    Timeout(Duration),
    /// The server speaks no revision we know.
    #[error("the server offers protocol versions [{offered}]; this client speaks 2024-11-05 to 2026-07-28")]
    Version {
        /// What the server offered.
        offered: String,
    },
    /// The server refused or failed the opening request.
    #[error("the server refused the opening request: {0}")]
    Refused(#[source] RequestError),
}

impl ConnectError {
    /// The HTTP status the server answered with, if that is what failed.
    pub const fn http_status(&self) -> Option<u16> {
        match self {
            Self::Refused(error) => error.http_status(),
            Self::Target(_)
            | Self::Spawn { .. }
            | Self::Closed { .. }
            | Self::Timeout(_)
            | Self::Version { .. } => None,
        }
    }
}

/// Which part of a request ran out of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Reaching the server.
    Connect,
    /// Handing over the request.
    Send,
    /// Waiting for the answer.
    Answer,
}

/// A request failed.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The server answered with a JSON-RPC error.
    #[error("the server answered with error {code}: {message}")]
    Rpc {
        /// The error code.
        code: i64,
        /// The server's message; untrusted text.
        message: String,
        /// The server's `error.data`, untouched.
        data: Option<Box<RawValue>>,
        /// The HTTP status it came with, if it came over HTTP.
        http_status: Option<u16>,
    },
    /// The server answered with an HTTP error.
    #[error("the server answered with HTTP status {status}")]
    Http {
        /// The exact status.
        status: u16,
        /// What `Retry-After` asks for.
        retry_after: Option<Duration>,
        /// `WWW-Authenticate` as it came.
        challenge: Option<String>,
        /// The beginning of the body, at most 4 KiB; untrusted text.
        body: String,
    },
    /// The server redirected; redirects are never followed.
    #[error(
        "the server redirected to {location} with HTTP status {status}; register that address if it is meant"
    )]
    Redirect {
        /// The exact status.
        status: u16,
        /// The host it pointed to.
        location: String,
    },
    /// Time ran out.
    #[error("no answer in time ({phase:?})")]
    Timeout {
        /// What ran out.
        phase: Phase,
        /// Whether the request may have reached the server.
        sent: bool,
    },
    /// The session is over, or the stream broke before the answer came.
    #[error("the connection is closed: {reason}")]
    Closed {
        /// Why.
        reason: String,
        /// Whether the request may have reached the server.
        sent: bool,
    },
    /// The server no longer knows our session (HTTP 404); it did not run the request. Connect again.
    #[error("the server ended the session; connect again")]
    SessionExpired,
    /// The answer is larger than the limit.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The answer is not what the protocol allows.
    #[error("the answer is malformed: {0}")]
    Malformed(String),
    /// The request cannot be expressed, for example a header value HTTP cannot carry. Nothing was sent.
    #[error("the request cannot be sent: {0}")]
    Unsendable(String),
    /// There is no access token to send. Nothing was sent.
    #[error(transparent)]
    NoToken(TokenError),
    /// The server could not be reached. Nothing was sent.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// The egress guard refused the address. Nothing was sent.
    #[error(transparent)]
    Egress(EgressRefusal),
}

impl RequestError {
    /// Whether the request may have reached the server. `false` only when that is certain: the caller may then
    /// connect again and send once more.
    pub const fn sent(&self) -> bool {
        match self {
            Self::Timeout { sent, .. } | Self::Closed { sent, .. } => *sent,
            Self::Rpc { .. }
            | Self::Http { .. }
            | Self::Redirect { .. }
            | Self::SessionExpired
            | Self::TooLarge { .. }
            | Self::Malformed(_) => true,
            Self::Unsendable(_) | Self::NoToken(_) | Self::Unreachable(_) | Self::Egress(_) => false,
        }
    }

    /// Whether the server may have run the request. Beyond what was never sent, a server does not run what it refuses
    /// for its session, its version, its headers or its credential.
    pub const fn may_have_run(&self) -> bool {
        match self {
            Self::SessionExpired | Self::Redirect { .. } => false,
            Self::Http { status, .. } => !matches!(*status, 401 | 405 | 406 | 415 | 429),
            Self::Rpc { code, .. } => !codes::is_modern(*code) && *code != codes::METHOD_NOT_FOUND,
            Self::Timeout { .. }
            | Self::Closed { .. }
            | Self::TooLarge { .. }
            | Self::Malformed(_)
            | Self::Unsendable(_)
            | Self::NoToken(_)
            | Self::Unreachable(_)
            | Self::Egress(_) => self.sent(),
        }
    }

    /// The HTTP status the answer came with.
    pub const fn http_status(&self) -> Option<u16> {
        match self {
            Self::Rpc { http_status, .. } => *http_status,
            Self::Http { status, .. } | Self::Redirect { status, .. } => Some(*status),
            Self::SessionExpired => Some(404),
            Self::Timeout { .. }
            | Self::Closed { .. }
            | Self::TooLarge { .. }
            | Self::Malformed(_)
            | Self::Unsendable(_)
            | Self::NoToken(_)
            | Self::Unreachable(_)
            | Self::Egress(_) => None,
        }
    }

    /// Whether the server refused the credential of the request (401), so that it was not looked at.
    pub const fn is_unauthorized(&self) -> bool {
        matches!(self, Self::Http { status: 401, .. })
    }

    /// Whether the server said the method does not exist.
    pub const fn is_method_not_found(&self) -> bool {
        matches!(
            self,
            Self::Rpc {
                code: codes::METHOD_NOT_FOUND,
                ..
            }
        )
    }

    /// Whether the server refused our `Mcp-*` headers: the tool's definition may have changed, list the tools again.
    pub const fn is_header_mismatch(&self) -> bool {
        matches!(
            self,
            Self::Rpc {
                code: codes::HEADER_MISMATCH,
                ..
            }
        )
    }
}
