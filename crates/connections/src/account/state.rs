//! The state that goes through the browser: which sign-in it belongs to, signed, so that any replica knows it for ours.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::{AuthorizationId, OrganizationId, Secret, Tenant, WorkspaceId};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use uuid::Uuid;

const IDS: usize = 48;
const MAC: usize = 32;
/// What is signed besides the ids: the key may be used for other things too.
const PURPOSE: &[u8] = b"switchboard sign-in state 1";

/// The state of a sign-in.
pub(super) fn write(key: &Secret, tenant: Tenant, id: AuthorizationId) -> String {
    let mut bytes = Vec::with_capacity(IDS + MAC);
    for id in [tenant.organization.uuid(), tenant.workspace.uuid(), id.uuid()] {
        bytes.extend_from_slice(id.as_bytes());
    }
    let mac = mac(key, &bytes).map(|mac| mac.finalize().into_bytes());
    bytes.extend_from_slice(&mac.unwrap_or_default());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The sign-in of a state, if we signed it.
pub(super) fn read(key: &Secret, state: &str) -> Option<(Tenant, AuthorizationId)> {
    let bytes = URL_SAFE_NO_PAD.decode(state).ok()?;
    let (ids, signature) = bytes.split_at_checked(IDS)?;
    mac(key, ids)?.verify_slice(signature).ok()?;
    let mut ids = ids.chunks(16).filter_map(|id| Uuid::from_slice(id).ok());
    let tenant = Tenant {
        organization: OrganizationId::from_uuid(ids.next()?),
        workspace: WorkspaceId::from_uuid(ids.next()?),
    };
    Some((tenant, AuthorizationId::from_uuid(ids.next()?)))
}

fn mac(key: &Secret, ids: &[u8]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.expose().as_bytes()).ok()?;
    mac.update(PURPOSE);
    mac.update(ids);
    Some(mac)
}

#[cfg(test)]
mod tests {
    use domain::{AuthorizationId, OrganizationId, Secret, Tenant, WorkspaceId};

    use super::{read, write};

    /// Requirement V128: what one replica signs another verifies, and nobody else's is taken.
    #[test]
    fn states() {
        let key = Secret::new("the same for all replicas");
        let tenant = Tenant {
            organization: OrganizationId::generate(),
            workspace: WorkspaceId::generate(),
        };
        let id = AuthorizationId::generate();
        let state = write(&key, tenant, id);
        assert_eq!(read(&key, &state), Some((tenant, id)));
        assert_eq!(read(&Secret::new("another"), &state), None);
        let other = write(&key, tenant, AuthorizationId::generate());
        let (ids, signature) = state.split_at(64);
        let mixed = format!("{}{signature}", other.split_at(64).0);
        for forged in [
            "",
            "AAAA",
            ids,
            &mixed,
            &format!("{state}AA"),
            &format!("{state}="),
        ] {
            assert_eq!(read(&key, forged), None, "{forged}");
        }
    }
}
