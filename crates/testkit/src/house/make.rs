//! What tests put into a house: agents, keys, connections, grants.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot furnish its house has failed"
)]

use std::sync::Arc;

use domain::{
    Account, Agent, AgentId, AuthorityMode, Classification, Clock, Connection, ConnectionId, ConnectionOwner,
    ConnectionState, Direction, Effect, Endpoint, Grant, GrantSubject, Handle, Health, KeyKind, Label,
    Namespace, Permission, PhoneCall, PhoneCallId, PhoneStatus, Risk, RunId, Sharing, ToolRef, Transport,
};
use futures::StreamExt as _;
use store::{Change, PinName};

use super::House;

/// An agent and its key.
#[derive(Debug, Clone)]
pub struct Made {
    /// The agent.
    pub agent: AgentId,
    /// Its key.
    pub key: String,
}

/// A connection a test wants.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    /// Whose it is. What an agent's own connection offers is granted to it.
    pub owner: ConnectionOwner,
    /// Its namespace and label.
    pub namespace: &'a str,
    /// Where its server is.
    pub endpoint: Endpoint,
    /// How upstream sessions are shared.
    pub sharing: Sharing,
    /// The longest a call may take; none = the usual.
    pub call_timeout_ms: Option<u32>,
}

impl House {
    /// Makes a key of an administrator.
    ///
    /// # Panics
    ///
    /// If it cannot be stored; so do all of these.
    pub async fn make_admin(&self) -> String {
        self.make_key(KeyKind::Admin).await
    }

    /// Writes a telephone call of the agent down: one that goes on, or one that was turned away.
    pub async fn make_phone_call(&self, number: &str, blocked: bool) -> PhoneCall {
        let now = self.gateway.clock().now();
        let call = PhoneCall {
            id: PhoneCallId::generate(),
            agent: self.agent,
            run: RunId::generate(),
            local_number: Some("+15550001111".into()),
            remote_number: number.into(),
            direction: Direction::Inbound,
            status: if blocked {
                PhoneStatus::Failed
            } else {
                PhoneStatus::Answered
            },
            blocked,
            reason: None,
            hangup_reason: None,
            authority: AuthorityMode::ContactScoped,
            started_at: Some(now),
            ended_at: None,
            created_at: now,
            updated_at: now,
        };
        let change = change();
        let made = self.store.create_phone_call(self.tenant, &change, call);
        made.await.unwrap()
    }

    /// Makes an agent and its key.
    pub async fn make_agent(&self, handle: &str) -> Made {
        let agent = Agent {
            id: AgentId::generate(),
            handle: Handle::new(handle).unwrap(),
            description: String::new(),
            enabled: true,
            claimed: true,
            version: 1,
            created_at: Clock::System.now(),
            updated_at: Clock::System.now(),
        };
        let agent = self
            .store
            .create_agent(self.tenant, &change(), agent)
            .await
            .unwrap()
            .id;
        let key = self.make_key(KeyKind::Agent(agent)).await;
        self.gateway.refresh(self.tenant).await.unwrap();
        Made { agent, key }
    }

    async fn make_key(&self, kind: KeyKind) -> String {
        let key = identity::new_key(kind, "test", Clock::System.now()).unwrap();
        self.store
            .insert_key(self.tenant, &change(), key.record)
            .await
            .unwrap();
        self.keys.refresh().await.unwrap();
        key.secret.expose().to_owned()
    }

    /// Connects a Streamable HTTP server, trusted, and discovers it. What an agent's own connection offers is granted to it.
    pub async fn connect(&self, owner: ConnectionOwner, namespace: &str, url: &str) -> ConnectionId {
        self.connect_with(owner, namespace, url, Sharing::Shared).await
    }

    /// The same, with upstream sessions shared in this way.
    pub async fn connect_with(
        &self,
        owner: ConnectionOwner,
        namespace: &str,
        url: &str,
        sharing: Sharing,
    ) -> ConnectionId {
        let id = self.create(owner, namespace, url, sharing).await;
        self.connections.prepare(self.tenant, id).await.unwrap();
        self.gateway.refresh(self.tenant).await.unwrap();
        id
    }

    /// Connects many, shared, each by its namespace and URL; nothing is discovered yet.
    pub async fn connect_all(&self, servers: &[(&str, String)]) -> Vec<ConnectionId> {
        let mut ids = Vec::new();
        for (namespace, url) in servers {
            ids.push(
                self.create(ConnectionOwner::Workspace, namespace, url, Sharing::Shared)
                    .await,
            );
        }
        ids
    }

    /// Discovers what connections offer, several at a time; those where that failed, and why.
    pub async fn prepare_all(&self, ids: &[ConnectionId]) -> Vec<(ConnectionId, String)> {
        let each = futures::stream::iter(ids)
            .map(|id| async { (*id, self.connections.prepare(self.tenant, *id).await) });
        let prepared: Vec<_> = each.buffer_unordered(8).collect().await;
        self.gateway.refresh(self.tenant).await.unwrap();
        let failed = prepared
            .into_iter()
            .filter_map(|(id, prepared)| Some((id, prepared.err()?.to_string())));
        failed.collect()
    }

    async fn create(
        &self,
        owner: ConnectionOwner,
        namespace: &str,
        url: &str,
        sharing: Sharing,
    ) -> ConnectionId {
        let endpoint = Endpoint::Url {
            url: url.into(),
            transport: Transport::StreamableHttp,
        };
        let wanted = Wanted {
            owner,
            namespace,
            endpoint,
            sharing,
            call_timeout_ms: None,
        };
        self.add(wanted).await
    }

    /// Adds a connection, trusted; nothing is discovered yet.
    pub async fn add(&self, wanted: Wanted<'_>) -> ConnectionId {
        let id = ConnectionId::generate();
        let connection = Connection {
            id,
            owner: wanted.owner,
            label: Label::new(wanted.namespace).unwrap(),
            namespace: Namespace::new(wanted.namespace).unwrap(),
            endpoint: wanted.endpoint,
            account: Account::NONE,
            header_names: Vec::new(),
            sharing: wanted.sharing,
            allowed_tools: None,
            context: domain::ContextSelection::All,
            enabled: true,
            trusted: true,
            call_timeout_ms: wanted.call_timeout_ms,
            preset: None,
            verified: None,
            state: ConnectionState::Pending,
            health: Health::Unchecked,
            health_detail: None,
            checked_at: None,
            negotiated: None,
            catalogue_version: 0,
            catalogue_at: None,
            version: 1,
            created_at: Clock::System.now(),
        };
        self.store
            .create_connection(self.tenant, &change(), connection)
            .await
            .unwrap();
        id
    }

    /// Discovers what a connection offers, and shows it to agents.
    pub async fn discover(&self, id: ConnectionId) {
        self.connections.prepare(self.tenant, id).await.unwrap();
        self.gateway.refresh(self.tenant).await.unwrap();
    }

    /// The connection as it is stored, which is what `connections show` says.
    pub async fn shown(&self, id: ConnectionId) -> Connection {
        self.store.connection(self.tenant, id).await.unwrap().unwrap()
    }

    /// Gives an agent a tool.
    pub async fn grant(&self, agent: AgentId, connection: ConnectionId, tool: &str, permission: Permission) {
        let subject = GrantSubject::Tool(ToolRef::Upstream {
            connection,
            name: Arc::from(tool),
        });
        self.set_grants(&[grant(agent, subject, permission)]).await;
    }

    /// Gives an agent everything that connections offer, unattended.
    pub async fn grant_all(&self, agent: AgentId, connections: &[ConnectionId]) {
        let mut grants = Vec::new();
        for pin in self.store.list_pins(self.tenant, None).await.unwrap() {
            if connections.contains(&pin.connection) {
                let tool = ToolRef::Upstream {
                    connection: pin.connection,
                    name: pin.name,
                };
                grants.push(grant(agent, GrantSubject::Tool(tool), Permission::Unattended));
            }
        }
        for connection in connections {
            for subject in [
                GrantSubject::Prompts(*connection),
                GrantSubject::Resources(*connection),
            ] {
                grants.push(grant(agent, subject, Permission::Allow));
            }
        }
        self.set_grants(&grants).await;
    }

    /// Gives an agent the prompts and resources of a connection.
    pub async fn grant_context(&self, agent: AgentId, connection: ConnectionId) {
        let subjects = [
            GrantSubject::Prompts(connection),
            GrantSubject::Resources(connection),
        ];
        self.set_grants(&subjects.map(|subject| grant(agent, subject, Permission::Allow)))
            .await;
    }

    async fn set_grants(&self, grants: &[Grant]) {
        self.store
            .set_grants(self.tenant, &change(), grants)
            .await
            .unwrap();
        self.gateway.refresh(self.tenant).await.unwrap();
    }

    /// Takes a tool from an agent.
    pub async fn revoke(&self, agent: AgentId, connection: ConnectionId, tool: &str) {
        let subject = GrantSubject::Tool(ToolRef::Upstream {
            connection,
            name: Arc::from(tool),
        });
        self.store
            .remove_grant(self.tenant, &change(), agent, &subject)
            .await
            .unwrap();
        self.gateway.refresh(self.tenant).await.unwrap();
    }

    /// Says as a person what a tool is like.
    pub async fn classify(&self, connection: ConnectionId, tool: &str, risk: Risk, effect: Effect) {
        let pin = PinName {
            connection,
            name: Arc::from(tool),
        };
        let said = Classification {
            risk,
            effect,
            at: Clock::System.now(),
        };
        self.store
            .classify(self.tenant, &change(), &pin, Some(said))
            .await
            .unwrap();
        self.gateway.refresh(self.tenant).await.unwrap();
    }
}

fn grant(agent: AgentId, subject: GrantSubject, permission: Permission) -> Grant {
    Grant {
        agent,
        subject,
        permission,
        at: Clock::System.now(),
    }
}

fn change() -> Change {
    Change::by_system("test")
}
