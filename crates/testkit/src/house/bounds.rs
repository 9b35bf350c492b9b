//! How much a house takes of its clients.

use std::time::Duration;

use server::SessionLimits;

/// Bounds of the HTTP side.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Largest body, in bytes.
    pub body_bytes: usize,
    /// How long a request's head may take.
    pub head_within: Duration,
    /// How long its body may take.
    pub body_within: Duration,
    /// Bounds on sessions.
    pub sessions: SessionLimits,
    /// Requests of one key in a second, once it has used up `burst`.
    pub rate_per_second: u32,
    /// Requests of one key at once.
    pub burst: u32,
}

impl Default for Bounds {
    /// What the configuration has unless it says otherwise, but no rate that a busy test would meet.
    fn default() -> Self {
        Self {
            body_bytes: 4 << 20,
            head_within: Duration::from_secs(15),
            body_within: Duration::from_secs(30),
            sessions: SessionLimits::default(),
            rate_per_second: 10_000,
            burst: 10_000,
        }
    }
}
