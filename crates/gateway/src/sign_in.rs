//! The end of a sign-in at a server, what its authorization server may know of us, and what the page of a consent shows.

use domain::{ConnectionId, Principal};
use serde_json::{Value, json};

use crate::{Failure, Gateway};

impl Gateway {
    /// Finishes a sign-in with what came back: the query, and what the browser kept. Who begins and opens one was decided; this has no
    /// caller, and goes by what shows that the answer belongs to that sign-in and that browser.
    ///
    /// # Errors
    /// Why there is no account now.
    pub async fn finish_sign_in(&self, query: &str, browser: Option<&str>) -> Result<ConnectionId, Failure> {
        let done = self.connections().finish_sign_in(query, browser).await?;
        self.refresh(done.tenant).await?;
        Ok(done.connection)
    }

    /// Where authorization servers send people back to, to the letter.
    #[must_use]
    pub fn callback(&self) -> String {
        self.connections().sign_in().callback().into()
    }

    /// The metadata of the client that we are to authorization servers; its address is the client's ID (OAuth Client ID Metadata Document).
    #[must_use]
    pub fn client_metadata(&self) -> Value {
        let sign_in = self.connections().sign_in();
        json!({
            "client_id": sign_in.document().as_str(),
            "client_name": "Switchboard",
            "redirect_uris": [sign_in.callback().as_str()],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "application_type": "web",
        })
    }

    /// The agents somebody can let a client act as: handle and id, by handle.
    ///
    /// # Errors
    /// When the person's workspace is gone.
    pub fn agents_of(&self, principal: &Principal) -> Result<Vec<(String, String)>, Failure> {
        let workspace = self.workspace(principal.tenant)?;
        let mut agents: Vec<_> = workspace
            .agents
            .values()
            .map(|agent| (agent.handle.to_string(), agent.id.to_string()))
            .collect();
        agents.sort_unstable();
        Ok(agents)
    }
}
