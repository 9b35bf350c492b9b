//! What bounds an exchange, and what a client is made of.

use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;

use crate::egress::Egress;

/// Limits of time and size. Every read is under at least one of them and under the caller's deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Resolving, connecting and the TLS handshake together.
    pub connect: Duration,
    /// From sending until the response head. A server answering a tool call in JSON sends its head only when the tool
    /// has finished, so this is a backstop behind the deadline of the call.
    pub head: Duration,
    /// Silence inside a body that is read as a whole. Event streams are silent by nature and know only their deadline.
    pub idle_read: Duration,
    /// How long an idle connection stays in the pool.
    pub pool_idle: Duration,
    /// Idle connections kept per scheme, host and port.
    pub max_idle_per_host: usize,
    /// Response head, in bytes; at least 8 KiB.
    pub max_header_bytes: usize,
    /// Body read as a whole, in bytes.
    pub max_body: usize,
    /// One server-sent event, in bytes.
    pub max_event: usize,
    /// What is kept of the body of an error response, in bytes.
    pub max_error_body: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            head: Duration::from_secs(300),
            idle_read: Duration::from_secs(30),
            pool_idle: Duration::from_secs(90),
            max_idle_per_host: 64,
            max_header_bytes: 64 * 1024,
            max_body: 16 * 1024 * 1024,
            max_event: 16 * 1024 * 1024,
            max_error_body: 64 * 1024,
        }
    }
}

/// What a client is made of.
#[derive(Debug, Clone, Default)]
pub struct HttpOptions {
    /// Limits of time and size.
    pub limits: HttpLimits,
    /// The rules for outgoing URLs and addresses.
    pub egress: Arc<Egress>,
    /// Certificate authorities trusted besides the public ones, DER.
    pub extra_roots: Vec<CertificateDer<'static>>,
}
