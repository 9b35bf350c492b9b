//! Hears what a server says outside of any call.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use domain::CallEvents;
use mcp::wire::{RpcError, codes};
use mcp::{LogLine, ServerRequest};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::Line;
use super::line::lock;
use super::rest::FAILED;
use super::settings::Hidden;
use crate::SessionKey;
use crate::connections::Inner;
use crate::dispatch::answering;
use crate::event::ConnectionEventKind;

/// Listens to one session.
pub(super) struct Ears {
    /// Whose session it is, where it belongs to one client.
    pub(super) owner: Option<SessionKey>,
    pub(super) inner: Weak<Inner>,
    pub(super) line: Weak<Line>,
    /// What its lines must not show.
    pub(super) hidden: Hidden,
    pub(super) opened: Instant,
    pub(super) process: bool,
    /// Whether all calls share it, so that it is to be there before the next one comes.
    pub(super) kept: bool,
    /// Whether we ended the session ourselves.
    pub(super) expected_end: Arc<AtomicBool>,
}

#[derive(Deserialize)]
struct Updated {
    uri: Arc<str>,
}

impl Ears {
    /// Whoever listens for the client whose session this is.
    fn owner(&self, inner: &Inner) -> Option<Arc<dyn CallEvents>> {
        let key = self.owner.as_ref()?;
        inner.owners.get(key).map(|owner| owner.clone())
    }
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
            _ => match self.owner(&inner) {
                Some(owner) => owner.notification(method, params),
                // Log messages and the like of a session that many share have nobody to go to.
                None => line.unheard(),
            },
        }
    }

    fn request(&self, request: ServerRequest) {
        let owner = self.inner.upgrade().and_then(|inner| self.owner(&inner));
        let Some(owner) = owner else {
            let why = "this request belongs to no call, and so to nobody; ask while a call is under way";
            let error = RpcError::new(codes::METHOD_NOT_FOUND, why);
            return request.responder.answer(Err(error));
        };
        let ServerRequest {
            method,
            params,
            responder,
        } = request;
        owner.request(&method, params.as_deref(), answering(responder));
    }

    fn line(&self, line: &LogLine) {
        if let Some(of) = self.line.upgrade() {
            of.wrote(line, &self.hidden);
        }
    }

    fn closed(&self, reason: &str) {
        let (Some(inner), Some(line)) = (self.inner.upgrade(), self.line.upgrade()) else {
            return;
        };
        if self.expected_end.load(Ordering::Acquire) || line.stop.is_cancelled() || !self.process {
            return;
        }
        line.deaths.fetch_add(1, Ordering::AcqRel);
        let quick = lock(&line.rest).ended(self.opened.elapsed(), &inner.limits);
        tracing::info!(connection = %line.id, quick, reason, "the process of a connection ended");
        if quick >= FAILED {
            inner.failed(&line, quick, reason);
        } else if self.kept {
            inner.died(&line, reason);
        }
    }
}
