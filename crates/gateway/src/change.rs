//! Notices to whoever keeps a view open: something you saw may have changed.

use std::sync::Arc;

use connections::{ConnectionEvent, ConnectionEventKind, SessionKey};
use domain::{AgentId, ApprovalId, CallEvents, ConnectionId, Principal, Tenant};

use crate::Gateway;

/// A notice. Receivers look again; a notice that is missed costs freshness, never correctness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Whose.
    pub tenant: Tenant,
    /// What.
    pub what: Changed,
}

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changed {
    /// The policy facts: views may hold other tools, prompts or resources now.
    Policy,
    /// The valid keys: one may have been revoked.
    Keys,
    /// A resource of a connection.
    Resource {
        /// Whose.
        connection: ConnectionId,
        /// Its URI.
        uri: Arc<str>,
    },
    /// A question was answered, or lapsed.
    Approval(ApprovalId),
}

impl Gateway {
    /// Says who hears what upstreams say outside of calls, in sessions of theirs that belong to this client's session.
    pub fn attend(&self, session: (&Arc<str>, &Principal, Option<AgentId>), listener: Arc<dyn CallEvents>) {
        self.inner.connections.attend(key_of(session), listener);
    }

    /// Passes a notification without params on to the upstreams that have a session for this client's session.
    pub fn tell_upstreams(&self, session: (&Arc<str>, &Principal, Option<AgentId>), method: &'static str) {
        self.inner.connections.tell(&key_of(session), method);
    }

    /// Lets go of what upstreams keep for a client's session that is over.
    pub fn end_session(&self, session: &Arc<str>, principal: &Principal, agent: Option<AgentId>) {
        self.inner
            .connections
            .end_session(&key_of((session, principal, agent)));
    }

    /// Passes on what happened at a connection. Says whether the policy facts must be read again.
    #[must_use]
    pub fn follow(&self, event: &ConnectionEvent) -> bool {
        match &event.kind {
            ConnectionEventKind::ResourceUpdated { uri } => {
                let what = Changed::Resource {
                    connection: event.id,
                    uri: uri.clone(),
                };
                self.notify(event.tenant, what);
                false
            }
            ConnectionEventKind::CatalogueChanged { .. } | ConnectionEventKind::StateChanged { .. } => true,
        }
    }
}

fn key_of((session, principal, agent): (&Arc<str>, &Principal, Option<AgentId>)) -> SessionKey {
    SessionKey {
        session: Some(session.clone()),
        principal: principal.identity,
        agent,
    }
}
