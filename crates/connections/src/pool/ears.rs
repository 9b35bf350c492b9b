//! Hears what a server says outside of any call.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use mcp::LogLine;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::Line;
use super::line::lock;
use super::rest::FAILED;
use crate::connections::Inner;
use crate::event::ConnectionEventKind;

/// Listens to one session.
pub(super) struct Ears {
    pub(super) inner: Weak<Inner>,
    pub(super) line: Weak<Line>,
    pub(super) opened: Instant,
    pub(super) process: bool,
    /// Whether we ended the session ourselves.
    pub(super) expected_end: Arc<AtomicBool>,
}

#[derive(Deserialize)]
struct Updated {
    uri: Arc<str>,
}

impl mcp::Listener for Ears {
    fn notification(&self, method: &str, params: Option<&RawValue>) {
        let (Some(inner), Some(line)) = (self.inner.upgrade(), self.line.upgrade()) else {
            return;
        };
        match method {
            "notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed" => inner.lists_changed(&line),
            "notifications/resources/updated" => {
                if let Some(Updated { uri }) = params.and_then(|p| serde_json::from_str(p.get()).ok()) {
                    inner.tell(&line, ConnectionEventKind::ResourceUpdated { uri });
                }
            }
            // Log messages and the like that belong to no call have nobody to go to.
            _ => {}
        }
    }

    fn line(&self, line: &LogLine) {
        if let Some(of) = self.line.upgrade() {
            of.wrote(line);
        }
    }

    fn closed(&self, reason: &str) {
        let (Some(inner), Some(line)) = (self.inner.upgrade(), self.line.upgrade()) else {
            return;
        };
        if self.expected_end.load(Ordering::Acquire) || line.stop.is_cancelled() || !self.process {
            return;
        }
        let quick = lock(&line.rest).ended(self.opened.elapsed(), &inner.limits);
        tracing::info!(connection = %line.id, quick, reason, "the process of a connection ended");
        if quick >= FAILED {
            inner.failed(&line, quick, reason);
        }
    }
}
