//! A person in the house.

use domain::{Consent, ConsentId, Role, Scope, Secret};
use identity::Newcomer;
use store::{Change, NewCode};

use super::House;

impl House {
    /// Makes the first Owner, and gives the cookie of the browser they are signed in with.
    ///
    /// # Panics
    ///
    /// When there is one already.
    pub async fn owner(&self) -> String {
        self.person("owner@example.com", Role::Owner).await
    }

    /// Makes somebody a member, an Owner of the organization and others of the workspace, and gives the cookie of the browser they are signed in with.
    ///
    /// # Panics
    ///
    /// When there is somebody with that address.
    #[expect(
        clippy::unwrap_used,
        reason = "a test that cannot furnish its house has failed"
    )]
    pub async fn person(&self, email: &str, role: Role) -> String {
        let token = self.invite(email, role).await;
        let who = Newcomer {
            email: String::new(),
            name: "Olive Example".to_owned(),
            password: Secret::new("four words nobody joins".to_owned()),
            browser: "a test".to_owned(),
        };
        let begun = self.people.accept(token.expose(), who).await.unwrap();
        format!("switchboard_session={}", begun.token.expose())
    }

    /// Asks somebody to come: the token of the link.
    ///
    /// # Panics
    ///
    /// When there is somebody with that address.
    #[expect(
        clippy::unwrap_used,
        reason = "a test that cannot furnish its house has failed"
    )]
    pub async fn invite(&self, email: &str, role: Role) -> Secret {
        let now = self.gateway.clock().now();
        let place = match role {
            Role::Owner => (role, Scope::Organization),
            _ => (role, Scope::Workspace),
        };
        let (invitation, token, hash) = identity::invite(Some(email.to_owned()), place, now).unwrap();
        let change = Change::by_system("bootstrap");
        self.store
            .insert_invitation(self.tenant, &change, &invitation, hash)
            .await
            .unwrap();
        token
    }

    /// Lets a client act as the agent `default`, which gets a code.
    ///
    /// # Panics
    ///
    /// If the store fails.
    #[expect(
        clippy::unwrap_used,
        reason = "a test that cannot furnish its house has failed"
    )]
    pub async fn let_in(&self) -> ConsentId {
        let now = self.gateway.clock().now();
        let (_, token) = identity::oauth::new_code(now).unwrap();
        let consent = Consent {
            id: ConsentId::generate(),
            member: None,
            agent: self.agent,
            client: "https://client.example/c".into(),
            client_name: "a client".into(),
            resource: "/mcp/default".into(),
            created_at: now,
            last_used_at: None,
            ended_at: None,
            ended_by: None,
        };
        let code = NewCode {
            token,
            redirect_uri: "https://client.example/cb".to_owned(),
            challenge: String::new(),
        };
        let change = Change::by_system("test");
        let stored = self.store.insert_consent(self.tenant, &change, &consent, &code);
        stored.await.unwrap();
        consent.id
    }
}
