//! What the server counts about itself.

use std::sync::atomic::{AtomicU64, Ordering};

use domain::Status;
use gateway::RecordCounts;

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

    /// The Prometheus text format, with what the record's writer counts.
    pub(crate) fn text(&self, record: &RecordCounts) -> String {
        let mut out = String::from(
            "# HELP switchboard_calls_total Tool calls through MCP, by status.\n# TYPE switchboard_calls_total counter\n",
        );
        for (status, counter) in STATUSES.iter().zip(&self.calls) {
            let count = counter.load(Ordering::Relaxed);
            out.push_str(&format!(
                "switchboard_calls_total{{status=\"{status}\"}} {count}\n"
            ));
        }
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let queued = u64::try_from(record.queued).unwrap_or(u64::MAX);
        let more = [
            (
                "operations_total",
                "counter",
                "REST operations.",
                load(&self.rest),
            ),
            (
                "mcp_sessions_total",
                "counter",
                "MCP sessions opened.",
                load(&self.sessions),
            ),
            (
                "record_commits_total",
                "counter",
                "Commits of the record.",
                record.commits,
            ),
            (
                "record_entries_total",
                "counter",
                "Entries of the record written.",
                record.entries,
            ),
            (
                "record_intent_commits_total",
                "counter",
                "Commits of the record that stored intents.",
                record.intent_commits,
            ),
            (
                "record_intents_total",
                "counter",
                "Intents stored before calls were sent.",
                record.intents,
            ),
            (
                "record_queued",
                "gauge",
                "Entries that wait to be written.",
                queued,
            ),
        ];
        for (name, kind, help, count) in more {
            out.push_str(&format!(
                "# HELP switchboard_{name} {help}\n# TYPE switchboard_{name} {kind}\nswitchboard_{name} {count}\n"
            ));
        }
        out
    }
}
