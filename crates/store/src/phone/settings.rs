//! How agents speak.

use domain::{AgentId, ChangeKind, Tenant, VoiceSettings};

use crate::core::Policy;
use crate::sql::{self, Query, get, values, word};
use crate::{Change, Store, StoreError, agents};

impl Store {
    /// How an agent speaks; the defaults where nobody said.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn voice_settings(&self, tenant: Tenant, agent: AgentId) -> Result<VoiceSettings, StoreError> {
        let mut query = Query::of(
            tenant,
            "SELECT voice, instructions, authority FROM voice_settings WHERE organization_id = $1 AND workspace_id = $2",
        );
        query.push(" AND agent_id = {}", agent.uuid());
        let Some(row) = sql::one(&self.core().db.read, &query.sql, query.values).await? else {
            return Ok(VoiceSettings::default());
        };
        let text = |column| get::<Option<String>>(&row, column).map(|text| text.map(Into::into));
        Ok(VoiceSettings {
            voice: text("voice")?,
            instructions: text("instructions")?,
            authority: word(&row, "authority")?,
        })
    }

    /// Replaces how an agent speaks.
    ///
    /// # Errors
    /// `NotFound` when there is no such agent, or when the database fails.
    pub async fn set_voice_settings(
        &self,
        tenant: Tenant,
        change: &Change,
        agent: AgentId,
        settings: &VoiceSettings,
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        agents::find(writing.db(), tenant, agent)
            .await?
            .ok_or(StoreError::NotFound { what: "agent" })?;
        let (organization, workspace) = sql::of(tenant);
        sql::run(
            writing.db(),
            "INSERT INTO voice_settings (organization_id, workspace_id, agent_id, voice, instructions, authority)
             VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (organization_id, workspace_id, agent_id) DO UPDATE SET voice = excluded.voice,
             instructions = excluded.instructions, authority = excluded.authority",
            values![
                organization,
                workspace,
                agent.uuid(),
                settings.voice.as_deref().map(str::to_owned),
                settings.instructions.as_deref().map(str::to_owned),
                settings.authority.as_str()
            ],
        )
        .await?;
        let facts = vec![(ChangeKind::Updated, format!("voice_settings:{agent}"))];
        writing.finish(tenant, change, facts, Policy::Stays).await
    }
}
