//! Secrets that were replaced: by whoever looks after the vault beside us, or through another replica.

use std::collections::HashMap;
use std::sync::Arc;

use domain::{AccountKind, Connection, SecretId, Tenant};
use store::{SecretOwner, SecretSlot, StoreError};

use super::settings::CREDENTIAL;
use super::{Line, Settings};
use crate::commands::{SecretSource, StdioSpec};
use crate::connections::Inner;
use crate::{ConnectionError, Connections};

/// Which secrets settings are made with. A secret that is replaced gets another id.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sealed(Vec<(SecretSlot, Option<SecretId>)>);

impl Sealed {
    /// Looks up the ids. To be called before the secrets are read: one replaced in between is then seen later.
    pub(super) async fn of(
        inner: &Inner,
        tenant: Tenant,
        slots: Vec<SecretSlot>,
    ) -> Result<Self, StoreError> {
        let mut known = HashMap::new();
        for slot in &slots {
            if let std::collections::hash_map::Entry::Vacant(place) = known.entry(slot.owner) {
                place.insert(inner.store.vault().list(tenant, slot.owner).await?);
            }
        }
        let id = |slot: &SecretSlot| {
            Some(
                known
                    .get(&slot.owner)?
                    .iter()
                    .find(|found| found.slot == *slot)?
                    .id,
            )
        };
        Ok(Self(
            slots
                .into_iter()
                .map(|slot| (id(&slot), slot))
                .map(|(id, slot)| (slot, id))
                .collect(),
        ))
    }

    async fn holds(&self, inner: &Inner, tenant: Tenant) -> Result<bool, StoreError> {
        if self.0.is_empty() {
            return Ok(true);
        }
        let slots = self.0.iter().map(|(slot, _)| slot.clone()).collect();
        Ok(Self::of(inner, tenant, slots).await? == *self)
    }
}

/// The secrets of a command: those of the workspace that it names.
pub(super) fn of_command(spec: &StdioSpec) -> Vec<SecretSlot> {
    let sources = spec.argv.iter().chain(spec.env.iter().map(|(_, source)| source));
    sources
        .filter_map(|source| match source {
            SecretSource::Vault(name) => Some(SecretSlot {
                owner: SecretOwner::Workspace,
                field: name.to_string(),
            }),
            SecretSource::Known(_) => None,
        })
        .collect()
}

/// The secrets of an address: the connection's own.
pub(super) fn of_address(connection: &Connection) -> Vec<SecretSlot> {
    let credential = (connection.account.kind != AccountKind::None).then(|| CREDENTIAL.to_owned());
    let headers = connection
        .header_names
        .iter()
        .map(|name| format!("header:{name}"));
    credential
        .into_iter()
        .chain(headers)
        .map(|field| SecretSlot {
            owner: SecretOwner::Connection(connection.id),
            field,
        })
        .collect()
}

impl Inner {
    /// The settings made anew, where a secret they were made with was replaced; sessions that use the old one end after their calls.
    pub(super) async fn renewed(
        &self,
        line: &Line,
        settings: &Settings,
    ) -> Result<Option<Arc<Settings>>, ConnectionError> {
        if settings.sealed.holds(self, line.tenant).await? {
            return Ok(None);
        }
        self.end_gently(line.outgrow(settings.generation));
        line.settings(self).await.map(Some)
    }

    /// Takes up replaced secrets of a connection that is in use, and has it prepared again.
    pub(crate) async fn take_up_secrets(self: &Arc<Self>, line: &Line) {
        let Some(settings) = line.settings_now() else {
            return;
        };
        match self.renewed(line, &settings).await {
            Ok(None) => {}
            Ok(Some(settings)) if !settings.connection.enabled => {}
            Ok(Some(_)) | Err(ConnectionError::SecretMissing { .. }) => {
                let inner = self.clone();
                Connections { inner }.schedule(line.tenant, line.id);
            }
            Err(error) => tracing::warn!(%error, connection = %line.id, "its secrets could not be looked at"),
        }
    }
}
