//! A server wants more scopes than a token has (RFC 6750 section 3.1, `insufficient_scope`): only a person can give them.

use std::sync::Arc;

use domain::{AccountKind, Connection, Tenant};
use mcp::RequestError;
use mcp::oauth::Challenge;
use store::StoreError;

use super::Tokens;
use crate::connections::Inner;

/// The code of an account whose next sign-in asks for more.
const CODE: &str = "insufficient_scope";

/// The scopes a server wants, where it refuses for want of them.
fn wanted(error: &RequestError) -> Option<Vec<String>> {
    let RequestError::Http {
        status: 403,
        challenge: Some(challenge),
        ..
    } = error
    else {
        return None;
    };
    let challenge = Challenge::parse(challenge)?;
    (challenge.error.as_deref() == Some(CODE)).then_some(challenge.scopes)
}

impl Inner {
    /// Notes what a refusal says that the token lacks.
    pub(crate) fn lacks(self: &Arc<Self>, tokens: &Arc<Tokens>, error: &RequestError) {
        let Some(scopes) = wanted(error) else { return };
        let (inner, tokens) = (self.clone(), tokens.clone());
        let task = async move {
            if let Err(error) = inner.note_lack(&tokens, scopes).await {
                tracing::warn!(%error, connection = %tokens.connection.id, "what scopes a server wants could not be stored");
            }
        };
        self.tasks.spawn_on(task, &self.runtime);
    }

    async fn note_lack(&self, tokens: &Tokens, scopes: Vec<String>) -> Result<(), StoreError> {
        let (tenant, id) = (tokens.tenant, tokens.connection.id);
        let Some(state) = self.store.account(tenant, id).await? else {
            return Ok(());
        };
        let more = scopes.join(" ");
        let all = union(state.requested, scopes);
        let detail = format!("the server wants the scopes `{more}` for this; sign in again to give them");
        self.store
            .account_wants(tenant, id, tokens.generation(), (&all, CODE, &detail))
            .await?;
        Ok(())
    }

    /// What the next sign-in asks for because a server wanted more.
    pub(super) async fn more_scopes(
        &self,
        tenant: Tenant,
        connection: &Connection,
        scopes: Vec<String>,
    ) -> Result<Vec<String>, StoreError> {
        if connection.account.kind != AccountKind::Oauth {
            return Ok(scopes);
        }
        let state = self.store.account(tenant, connection.id).await?;
        let noted = state.filter(|state| state.error_code.as_deref() == Some(CODE));
        Ok(union(
            scopes,
            noted.map(|state| state.requested).unwrap_or_default(),
        ))
    }
}

/// The first, and what of the second is not among them.
fn union(mut all: Vec<String>, more: Vec<String>) -> Vec<String> {
    for scope in more {
        if !all.contains(&scope) {
            all.push(scope);
        }
    }
    all
}
