//! Secrets that were replaced: by whoever looks after the vault beside us, or through another replica.

use std::collections::HashMap;
use std::sync::Arc;

use domain::{AccountKind, Connection, ConnectionId, SecretId, Tenant};
use store::{SecretOwner, SecretSlot, StoreError};

use super::settings::CREDENTIAL;
use super::{Line, Settings};
use crate::account::{CLIENT_SECRET, PRIVATE_KEY};
use crate::commands::{SecretSource, StdioSpec};
use crate::connections::Inner;
use crate::{ConnectionError, Connections};

/// Which secrets settings are made with. A secret that is replaced gets another id; tokens are renewed all the time, so that for them the
/// number of sign-ins counts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sealed {
    slots: Vec<(SecretSlot, Option<SecretId>)>,
    account: Option<(ConnectionId, u64)>,
}

impl Sealed {
    /// Looks up the ids. To be called before the secrets are read: one replaced in between is then seen later.
    pub(super) async fn of(
        inner: &Inner,
        tenant: Tenant,
        (slots, with_tokens): (Vec<SecretSlot>, Option<ConnectionId>),
    ) -> Result<Self, StoreError> {
        let account = match with_tokens {
            Some(id) => {
                let state = inner.store.account(tenant, id).await?;
                Some((id, state.map_or(0, |state| state.sign_ins)))
            }
            None => None,
        };
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
        let slots = slots
            .into_iter()
            .map(|slot| (id(&slot), slot))
            .map(|(id, slot)| (slot, id))
            .collect();
        Ok(Self { slots, account })
    }

    /// How many sign-ins there were, for an account with tokens.
    pub(super) fn sign_ins(&self) -> Option<u64> {
        self.account.map(|(_, sign_ins)| sign_ins)
    }

    async fn holds(&self, inner: &Inner, tenant: Tenant) -> Result<bool, StoreError> {
        if self.slots.is_empty() && self.account.is_none() {
            return Ok(true);
        }
        let slots = self.slots.iter().map(|(slot, _)| slot.clone()).collect();
        let with_tokens = self.account.map(|(id, _)| id);
        Ok(Self::of(inner, tenant, (slots, with_tokens)).await? == *self)
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
    let own: &[&str] = match connection.account.kind {
        AccountKind::None => &[],
        AccountKind::Bearer | AccountKind::Header => &[CREDENTIAL],
        AccountKind::Oauth | AccountKind::ClientCredentials | AccountKind::PrivateKeyJwt => {
            &[CLIENT_SECRET, PRIVATE_KEY]
        }
    };
    let headers = connection
        .header_names
        .iter()
        .map(|name| format!("header:{name}"));
    own.iter()
        .map(|&field| field.to_owned())
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
        self: &Arc<Self>,
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
