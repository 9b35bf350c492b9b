//! Accepting a changed definition.

use std::sync::Arc;

use domain::{ConnectionId, Digest, Tenant};
use store::{Change, PinName, StoreError, ToolPin};

use crate::definition::Tool;
use crate::{ConnectionError, Connections};

impl Connections {
    /// Pins exactly the definition a person looked at.
    ///
    /// # Errors
    /// The server never listed the tool, says something else by now, or its schema cannot be compiled.
    pub async fn accept(
        &self,
        (tenant, change): (Tenant, &Change),
        id: ConnectionId,
        tool: &str,
        looked_at: Digest,
    ) -> Result<ToolPin, ConnectionError> {
        let store = &self.inner.store;
        let pin = PinName {
            connection: id,
            name: Arc::from(tool),
        };
        let known = store
            .pin(tenant, &pin)
            .await?
            .ok_or(ConnectionError::UnknownTool)?;
        let seen = known
            .seen
            .filter(|seen| seen.digest == looked_at)
            .ok_or(ConnectionError::DefinitionMoved)?;
        let read = Tool::read(seen.raw).map_err(|malformed| ConnectionError::Settings {
            reason: malformed.to_string(),
        })?;
        self.inner.schemas.get(read.digest, read.input_schema())?;
        match store.accept(tenant, change, &pin, looked_at).await {
            Ok(pin) => Ok(pin),
            Err(StoreError::Conflict { .. }) => Err(ConnectionError::DefinitionMoved),
            Err(error) => Err(error.into()),
        }
    }
}
