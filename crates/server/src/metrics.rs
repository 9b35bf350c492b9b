//! What the server counts about itself.

use std::sync::atomic::{AtomicU64, Ordering};

use domain::Status;

/// Counters since the start.
#[derive(Default)]
pub(crate) struct Metrics {
    calls: [AtomicU64; 6],
    rest: AtomicU64,
    sessions: AtomicU64,
}

const STATUSES: [Status; 6] = [
    Status::Succeeded,
    Status::Failed,
    Status::Denied,
    Status::Expired,
    Status::Unknown,
    Status::Waiting,
];

impl Metrics {
    /// Counts a tool call made through MCP.
    pub(crate) fn call(&self, status: Status) {
        if let Some(counter) = STATUSES
            .iter()
            .position(|s| *s == status)
            .and_then(|i| self.calls.get(i))
        {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a REST operation.
    pub(crate) fn operation(&self) {
        self.rest.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a session that was opened.
    pub(crate) fn session(&self) {
        self.sessions.fetch_add(1, Ordering::Relaxed);
    }

    /// The Prometheus text format.
    pub(crate) fn text(&self) -> String {
        let mut out = String::from(
            "# HELP switchboard_calls_total Tool calls through MCP, by status.\n# TYPE switchboard_calls_total counter\n",
        );
        for (status, counter) in STATUSES.iter().zip(&self.calls) {
            let count = counter.load(Ordering::Relaxed);
            out.push_str(&format!(
                "switchboard_calls_total{{status=\"{status}\"}} {count}\n"
            ));
        }
        let more = [
            ("switchboard_operations_total", "REST operations.", &self.rest),
            (
                "switchboard_mcp_sessions_total",
                "MCP sessions opened.",
                &self.sessions,
            ),
        ];
        for (name, help, counter) in more {
            let count = counter.load(Ordering::Relaxed);
            out.push_str(&format!(
                "# HELP {name} {help}\n# TYPE {name} counter\n{name} {count}\n"
            ));
        }
        out
    }
}
