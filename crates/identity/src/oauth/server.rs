//! The authorization server: who may ask, and what is asked.

use std::sync::Arc;
use std::time::Duration;

use domain::{Client, ClientId, Clock, OrganizationId, Timestamp};
use store::Store;
use url::Url;

use super::document::{ClientDocuments, Documents};
use super::{
    AuthorizationRequest, Parameters, Refusal, Registration, Resources, SeenClient, Tokens, Unredirected,
};

/// How long tokens are good.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lifetimes {
    pub(super) access: Duration,
    /// From one exchange to the next.
    pub(super) refresh: Duration,
}

/// An hour, and thirty days: who uses a client every month does not sign in again.
const LIFETIMES: Lifetimes = Lifetimes {
    access: Duration::from_secs(60 * 60),
    refresh: Duration::from_secs(30 * 24 * 60 * 60),
};

/// The authorization server. Cheap to clone.
#[derive(Clone)]
pub struct AuthorizationServer {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    clock: Clock,
    organization: OrganizationId,
    resources: Resources,
    documents: Documents,
    tokens: Tokens,
}

impl AuthorizationServer {
    /// One for the clients of this organization, at the address where people reach it.
    #[must_use]
    pub fn new(
        (store, clock): (Store, Clock),
        organization: OrganizationId,
        public: Url,
        documents: Arc<dyn ClientDocuments>,
        tokens: Tokens,
    ) -> Self {
        let inner = Inner {
            store,
            clock,
            organization,
            resources: Resources::new(public),
            documents: Documents::new(documents),
            tokens,
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// This server's addresses.
    #[must_use]
    pub fn resources(&self) -> &Resources {
        &self.inner.resources
    }

    /// The valid tokens.
    #[must_use]
    pub fn tokens(&self) -> &Tokens {
        &self.inner.tokens
    }

    pub(super) fn store(&self) -> &Store {
        &self.inner.store
    }

    pub(super) fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    #[expect(clippy::unused_self, reason = "settings of the server, one day")]
    pub(super) fn lifetimes(&self) -> Lifetimes {
        LIFETIMES
    }

    /// Takes in a client that registers itself (RFC 7591).
    ///
    /// # Errors
    /// In the words of RFC 7591 section 3.2.2.
    pub async fn register(&self, registration: Registration) -> Result<Client, Refusal> {
        let client = registration.client(self.now())?;
        self.store()
            .insert_client(self.inner.organization, &client)
            .await?;
        Ok(client)
    }

    /// Reads the request a person comes with.
    ///
    /// # Errors
    /// What they are shown, or where they are sent back to.
    pub async fn read(&self, parameters: &Parameters) -> Result<AuthorizationRequest, Unredirected> {
        let id = parameters.needed("client_id").map_err(Unredirected::Shown)?;
        let client = self.client(id).await.map_err(Unredirected::Shown)?;
        AuthorizationRequest::read(client, parameters, self.resources())
    }

    async fn client(&self, id: &str) -> Result<SeenClient, Refusal> {
        let Ok(registered) = id.parse::<ClientId>() else {
            return self.inner.documents.client(id).await;
        };
        let found = self.store().client(self.inner.organization, registered).await?;
        found.map(SeenClient::registered).ok_or_else(|| {
            Refusal::client("no client with this `client_id` is registered here; register again (a registration nobody uses is dropped)")
        })
    }
}
