//! What signing in needs to know of this server.

use std::sync::Arc;

use domain::Secret;
use mcp::egress::Egress;
use url::Url;

/// What signing in needs to know of this server.
#[derive(Clone)]
pub struct SignInOptions {
    /// Which addresses may be asked: public `https`, and the exact URLs the operator registered for signing in.
    pub egress: Arc<Egress>,
    /// Where people reach this server.
    pub public_url: Url,
    /// Signs what comes back with the browser; the same for all replicas. Without it nobody can sign in.
    pub state_key: Option<Secret>,
}

impl Default for SignInOptions {
    /// A server on this machine at the usual port, at which nobody can sign in.
    fn default() -> Self {
        #[expect(clippy::expect_used, reason = "it is a constant that a test reads")]
        let public_url = Url::parse("http://localhost:7100").expect("a URL");
        Self {
            egress: Arc::new(Egress::public()),
            public_url,
            state_key: None,
        }
    }
}

impl SignInOptions {
    /// Where authorization servers send people back to.
    #[must_use]
    pub fn callback(&self) -> Url {
        self.place("api/mcp/auth/callback")
    }

    /// Our client's metadata, which is also its ID where an authorization server can fetch it.
    #[must_use]
    pub fn document(&self) -> Url {
        self.place("oauth/client.json")
    }

    /// The page on which a person goes through a sign-in.
    pub(super) fn page(&self, id: domain::AuthorizationId) -> Url {
        self.place(&format!("connect/{id}"))
    }

    /// Whether others can fetch our client's metadata: an ID of this machine alone is none.
    pub(super) fn has_document(&self) -> bool {
        self.public_url.scheme() == "https"
    }

    fn place(&self, path: &str) -> Url {
        let mut url = self.public_url.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}/{path}"));
        url.set_query(None);
        url.set_fragment(None);
        url
    }
}
