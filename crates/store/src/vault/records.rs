//! Sealed records in the database, and the one that shows whether the root key is the right one.

use domain::{Secret, SecretId, Tenant};
use sea_orm::{ConnectionTrait, QueryResult};
use uuid::Uuid;

use super::seal::{Place, Sealed};
use super::{Rotation, SecretOwner, SecretRef, SecretSlot};
use crate::core::Core;
use crate::sql::{self, Query, get as column, values};
use crate::{StoreError, VaultError};

const SELECT: &str = "SELECT secret_id, field, version, key_id, wrapped_key, nonce, ciphertext FROM secrets
 WHERE organization_id = $1 AND workspace_id = $2";
/// Records of one step of a rotation; between steps others write.
const STEP: i64 = 100;
const CANARY: Place<'static> = Place {
    organization: Uuid::nil(),
    owner_kind: "canary",
    owner: Uuid::nil(),
    field: "canary",
};
const CANARY_NAME: &str = "vault.canary";
const CANARY_TEXT: &[u8] = b"switchboard vault";

/// Seals a secret and stores it in place of an earlier one.
pub(crate) async fn put(
    core: &Core,
    db: &impl ConnectionTrait,
    tenant: Tenant,
    (slot, secret): (&SecretSlot, &Secret),
) -> Result<SecretId, StoreError> {
    let sealed = core
        .seals
        .seal(place(tenant, slot.owner, &slot.field), secret.expose().as_bytes())?;
    let (organization, workspace) = sql::of(tenant);
    let (id, owner) = (SecretId::generate(), slot.owner.id(tenant));
    sql::run(
        db,
        "INSERT INTO secrets (organization_id, workspace_id, secret_id, owner_kind, owner, field, version, key_id, wrapped_key, nonce,
         ciphertext, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
         ON CONFLICT (organization_id, owner_kind, owner, field) DO UPDATE SET secret_id = excluded.secret_id,
         version = excluded.version, key_id = excluded.key_id, wrapped_key = excluded.wrapped_key, nonce = excluded.nonce,
         ciphertext = excluded.ciphertext, created_at = excluded.created_at",
        values![
            organization,
            workspace,
            id.uuid(),
            slot.owner.kind(),
            owner,
            slot.field.as_str(),
            sealed.version,
            sealed.key_id,
            sealed.wrapped_key,
            sealed.nonce,
            sealed.ciphertext,
            core.clock.now().micros()
        ],
    )
    .await?;
    Ok(id)
}

/// The secret that lies there.
pub(crate) async fn get(
    core: &Core,
    db: &impl ConnectionTrait,
    tenant: Tenant,
    slot: &SecretSlot,
) -> Result<Option<Secret>, StoreError> {
    let mut query = of_owner(tenant, slot.owner);
    query.push(" AND field = {}", slot.field.as_str());
    let Some(row) = sql::one(db, &query.sql, query.values).await? else {
        return Ok(None);
    };
    let opened = core
        .seals
        .open(place(tenant, slot.owner, &slot.field), &sealed(&row)?)?;
    let text = std::str::from_utf8(&opened).map_err(|_| VaultError::Sealed)?;
    Ok(Some(Secret::new(text)))
}

/// Removes an owner's secret, or all of them; says how many.
pub(crate) async fn remove(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    owner: SecretOwner,
    field: Option<&str>,
) -> Result<u64, StoreError> {
    let mut query = Query::of(
        tenant,
        "DELETE FROM secrets WHERE organization_id = $1 AND workspace_id = $2",
    );
    query.push(" AND owner_kind = {}", owner.kind());
    query.push(" AND owner = {}", owner.id(tenant));
    if let Some(field) = field {
        query.push(" AND field = {}", field);
    }
    Ok(sql::run(db, &query.sql, query.values).await?)
}

/// What an owner has.
pub(super) async fn list(
    core: &Core,
    tenant: Tenant,
    owner: SecretOwner,
) -> Result<Vec<SecretRef>, StoreError> {
    let mut query = of_owner(tenant, owner);
    query.sql.push_str(" ORDER BY field");
    let rows = sql::all(&core.db.read, &query.sql, query.values).await?;
    rows.iter()
        .map(|row| {
            let slot = SecretSlot {
                owner,
                field: column(row, "field")?,
            };
            Ok(SecretRef {
                id: SecretId::from_uuid(column(row, "secret_id")?),
                slot,
            })
        })
        .collect()
}

/// Compares the root key with the one the vault was made with; a new vault remembers it.
pub(crate) async fn check_key(core: &Core) -> Result<(), StoreError> {
    let writing = core.writing().await?;
    let Some(canary) = canary(writing.db()).await? else {
        store_canary(core, writing.db()).await?;
        return writing.commit().await;
    };
    if !core.seals.knows(&canary.key_id) {
        return Err(VaultError::WrongKey {
            expected: canary.key_id,
        }
        .into());
    }
    core.seals.open(CANARY, &canary)?;
    Ok(())
}

/// The id of the root key the vault is sealed with; none before anybody opened it.
pub(crate) async fn made_with(db: &impl ConnectionTrait) -> Result<Option<String>, StoreError> {
    Ok(canary(db).await?.map(|canary| canary.key_id))
}

async fn canary(db: &impl ConnectionTrait) -> Result<Option<Sealed>, StoreError> {
    let row = sql::one(
        db,
        "SELECT value FROM settings WHERE organization_id = $1 AND name = $2",
        values![Uuid::nil(), CANARY_NAME],
    )
    .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(from_text(&column::<String>(&row, "value")?)?))
}

/// Rewraps every data key that lies under another root key, a few at a time.
pub(super) async fn rotate(
    core: &Core,
    mut progress: impl FnMut(Rotation) + Send,
) -> Result<Rotation, StoreError> {
    loop {
        let writing = core.writing().await?;
        let rows = sql::all(
            writing.db(),
            "SELECT organization_id, secret_id, owner_kind, owner, field, version, key_id, wrapped_key, nonce, ciphertext
             FROM secrets WHERE key_id <> $1 ORDER BY organization_id, secret_id LIMIT $2",
            values![core.seals.current(), STEP],
        )
        .await?;
        for row in &rows {
            rewrap(core, writing.db(), row).await?;
        }
        if rows.is_empty() {
            store_canary(core, writing.db()).await?;
        }
        let now = standing(core, writing.db()).await?;
        writing.commit().await?;
        progress(now);
        if rows.is_empty() {
            return Ok(now);
        }
    }
}

async fn rewrap(core: &Core, db: &impl ConnectionTrait, row: &QueryResult) -> Result<(), StoreError> {
    let (kind, field): (String, String) = (column(row, "owner_kind")?, column(row, "field")?);
    let (organization, id): (Uuid, Uuid) = (column(row, "organization_id")?, column(row, "secret_id")?);
    let place = Place {
        organization,
        owner_kind: &kind,
        owner: column(row, "owner")?,
        field: &field,
    };
    let before = sealed(row)?;
    let wrapped = core.seals.rewrap(place, &before)?;
    // Replaced meanwhile, on PostgreSQL: then the id is another one and nothing is touched.
    sql::run(
        db,
        "UPDATE secrets SET key_id = $3, wrapped_key = $4 WHERE organization_id = $1 AND secret_id = $2 AND key_id = $5",
        values![organization, id, core.seals.current(), wrapped, before.key_id],
    )
    .await?;
    Ok(())
}

async fn standing(core: &Core, db: &impl ConnectionTrait) -> Result<Rotation, StoreError> {
    let row = sql::one(
        db,
        "SELECT COUNT(*) AS total, COUNT(CASE WHEN key_id = $1 THEN 1 END) AS done FROM secrets",
        values![core.seals.current()],
    )
    .await?
    .ok_or(StoreError::NotFound { what: "count" })?;
    let number = |name| column::<i64>(&row, name).map(|n| u64::try_from(n).unwrap_or_default());
    Ok(Rotation {
        done: number("done")?,
        total: number("total")?,
    })
}

async fn store_canary(core: &Core, db: &impl ConnectionTrait) -> Result<(), StoreError> {
    let canary = core.seals.seal(CANARY, CANARY_TEXT)?;
    sql::run(
        db,
        "INSERT INTO settings (organization_id, name, value) VALUES ($1, $2, $3)
         ON CONFLICT (organization_id, name) DO UPDATE SET value = excluded.value",
        values![Uuid::nil(), CANARY_NAME, to_text(&canary)],
    )
    .await?;
    Ok(())
}

fn to_text(sealed: &Sealed) -> String {
    let parts = [&sealed.wrapped_key, &sealed.nonce, &sealed.ciphertext].map(hex::encode);
    format!("{}.{}.{}", sealed.version, sealed.key_id, parts.join("."))
}

fn from_text(text: &str) -> Result<Sealed, VaultError> {
    let parts: Vec<&str> = text.split('.').collect();
    let &[version, key_id, wrapped, nonce, ciphertext] = parts.as_slice() else {
        return Err(VaultError::Sealed);
    };
    let bytes = |text: &str| hex::decode(text).map_err(|_| VaultError::Sealed);
    Ok(Sealed {
        version: version.parse().map_err(|_| VaultError::Sealed)?,
        key_id: key_id.to_owned(),
        wrapped_key: bytes(wrapped)?,
        nonce: bytes(nonce)?,
        ciphertext: bytes(ciphertext)?,
    })
}

fn of_owner(tenant: Tenant, owner: SecretOwner) -> Query {
    let mut query = Query::of(tenant, SELECT);
    query.push(" AND owner_kind = {}", owner.kind());
    query.push(" AND owner = {}", owner.id(tenant));
    query
}

fn place(tenant: Tenant, owner: SecretOwner, field: &str) -> Place<'_> {
    Place {
        organization: tenant.organization.uuid(),
        owner_kind: owner.kind(),
        owner: owner.id(tenant),
        field,
    }
}

fn sealed(row: &QueryResult) -> Result<Sealed, StoreError> {
    Ok(Sealed {
        version: column(row, "version")?,
        key_id: column(row, "key_id")?,
        wrapped_key: column(row, "wrapped_key")?,
        nonce: column(row, "nonce")?,
        ciphertext: column(row, "ciphertext")?,
    })
}
