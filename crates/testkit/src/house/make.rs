//! What tests put into a house: agents, keys, connections, grants.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot furnish its house has failed"
)]

use std::sync::Arc;

use domain::{
    Account, AccountKind, Agent, AgentId, Classification, Clock, Connection, ConnectionId, ConnectionOwner,
    ConnectionState, Effect, Endpoint, Grant, GrantSubject, Handle, Health, KeyKind, Label, Namespace,
    Permission, Risk, Sharing, ToolRef, Transport,
};
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

impl House {
    /// Makes a key of an administrator.
    ///
    /// # Panics
    ///
    /// If it cannot be stored; so do all of these.
    pub async fn make_admin(&self) -> String {
        self.make_key(KeyKind::Admin).await
    }

    /// Makes an agent and its key.
    pub async fn make_agent(&self, handle: &str) -> Made {
        let agent = Agent {
            id: AgentId::generate(),
            handle: Handle::new(handle).unwrap(),
            description: String::new(),
            enabled: true,
            version: 1,
            created_at: Clock::System.now(),
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
        let id = ConnectionId::generate();
        let connection = Connection {
            id,
            owner,
            label: Label::new(namespace).unwrap(),
            namespace: Namespace::new(namespace).unwrap(),
            endpoint: Endpoint::Url {
                url: url.into(),
                transport: Transport::StreamableHttp,
            },
            account: Account {
                kind: AccountKind::None,
                header_name: None,
                value_prefix: None,
                configured: false,
            },
            header_names: Vec::new(),
            sharing: Sharing::Shared,
            allowed_tools: None,
            enabled: true,
            trusted: true,
            call_timeout_ms: None,
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
        self.connections.prepare(self.tenant, id).await.unwrap();
        self.gateway.refresh(self.tenant).await.unwrap();
        id
    }

    /// Gives an agent a tool.
    pub async fn grant(&self, agent: AgentId, connection: ConnectionId, tool: &str, permission: Permission) {
        let subject = GrantSubject::Tool(ToolRef::Upstream {
            connection,
            name: Arc::from(tool),
        });
        let grant = Grant {
            agent,
            subject,
            permission,
            at: Clock::System.now(),
        };
        self.store
            .set_grants(self.tenant, &change(), &[grant])
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

fn change() -> Change {
    Change::by_system("test")
}
