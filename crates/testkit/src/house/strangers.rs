//! Somebody of another workspace.

use domain::{Agent, AgentId, Clock, Handle, KeyKind, Tenant};
use store::Change;

use super::House;

/// Keys of another workspace in the same house.
#[derive(Debug, Clone)]
pub struct Stranger {
    /// Of its administrator.
    pub admin: String,
    /// Of its agent `stranger`.
    pub agent_key: String,
}

impl House {
    /// Makes another workspace with an administrator and an agent.
    ///
    /// # Panics
    ///
    /// If it cannot be stored.
    #[expect(
        clippy::unwrap_used,
        reason = "a test that cannot furnish its house has failed"
    )]
    pub async fn make_stranger(&self) -> Stranger {
        let tenant: Tenant = self.store.create_organization("strangers").await.unwrap();
        let change = || Change::by_system("test");
        let agent = Agent {
            id: AgentId::generate(),
            handle: Handle::new("stranger").unwrap(),
            description: String::new(),
            enabled: true,
            claimed: true,
            version: 1,
            created_at: Clock::System.now(),
            updated_at: Clock::System.now(),
        };
        let agent = self.store.create_agent(tenant, &change(), agent).await.unwrap();
        let mut keys = Vec::new();
        for kind in [KeyKind::Admin, KeyKind::Agent(agent.id)] {
            let key = identity::new_key(kind, "test", Clock::System.now()).unwrap();
            self.store
                .insert_key(tenant, &change(), key.record)
                .await
                .unwrap();
            keys.push(key.secret.expose().to_owned());
        }
        self.keys.refresh().await.unwrap();
        self.gateway.refresh(tenant).await.unwrap();
        let agent_key = keys.pop().unwrap_or_default();
        Stranger {
            admin: keys.pop().unwrap_or_default(),
            agent_key,
        }
    }
}
