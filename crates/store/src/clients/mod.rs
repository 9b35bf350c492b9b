//! MCP clients that people let in: registrations, consents, and the hashes of tokens. No token is stored.

mod consents;
mod row;
mod tokens;

use domain::{Client, ClientId, OrganizationId};
use sea_orm::ConnectionTrait;

use crate::sql::{self, get, values};
use crate::{Store, StoreError};

pub use tokens::{AccessToken, Exchanged, HeldToken, NewCode, NewToken};

/// Registrations of an organization. Anybody may register, so there is an end to it.
const MOST: i64 = 10_000;
/// How many go to make room, those first that nobody has used for longest.
const ROOM: i64 = 1_000;
/// A registration nobody has used is kept so long at least, in microseconds: as long as a person may take to sign in.
const UNUSED: i64 = 10 * 60 * 1_000_000;

impl Store {
    /// Stores a client that registers itself. Where there are 10,000, the oldest ones that nobody has used make room.
    ///
    /// # Errors
    /// `Full` where all of them are used, or younger than ten minutes.
    pub async fn insert_client(
        &self,
        organization: OrganizationId,
        client: &Client,
    ) -> Result<(), StoreError> {
        let writing = self.core().writing().await?;
        let count = count(writing.db(), organization).await?;
        let removed = if count < MOST {
            0
        } else {
            make_room(writing.db(), organization, self.now().micros() - UNUSED).await?
        };
        if count >= MOST && removed == 0 {
            return Err(StoreError::Full {
                what: "registered clients",
                max: u32::try_from(MOST).unwrap_or(u32::MAX),
            });
        }
        sql::run(
            writing.db(),
            "INSERT INTO clients (organization_id, client_id, name, redirect_uris, created_at) VALUES ($1, $2, $3, $4, $5)",
            values![
                organization.uuid(),
                client.id.uuid(),
                client.name.as_str(),
                row::written(&client.redirect_uris)?,
                client.created_at.micros()
            ],
        )
        .await?;
        writing.commit().await
    }

    /// The client with this id.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn client(
        &self,
        organization: OrganizationId,
        id: ClientId,
    ) -> Result<Option<Client>, StoreError> {
        let row = sql::one(
            &self.core().db.read,
            "SELECT * FROM clients WHERE organization_id = $1 AND client_id = $2",
            values![organization.uuid(), id.uuid()],
        )
        .await?;
        row.as_ref().map(row::client).transpose()
    }
}

async fn count(db: &impl ConnectionTrait, organization: OrganizationId) -> Result<i64, StoreError> {
    let sql = "SELECT COUNT(*) AS count FROM clients WHERE organization_id = $1";
    let row = sql::one(db, sql, values![organization.uuid()]).await?;
    Ok(row.map_or(Ok(0), |row| get(&row, "count"))?)
}

async fn make_room(
    db: &impl ConnectionTrait,
    organization: OrganizationId,
    before: i64,
) -> Result<u64, StoreError> {
    let removed = sql::run(
        db,
        "DELETE FROM clients WHERE organization_id = $1 AND client_id IN (SELECT client_id FROM clients
         WHERE organization_id = $1 AND used_at IS NULL AND created_at < $2 ORDER BY created_at LIMIT $3)",
        values![organization.uuid(), before, ROOM],
    )
    .await?;
    Ok(removed)
}

/// Notes that somebody let a client in: it stays.
async fn used(
    db: &impl ConnectionTrait,
    organization: OrganizationId,
    client: &str,
    now: i64,
) -> Result<(), StoreError> {
    if let Ok(id) = client.parse::<ClientId>() {
        sql::run(
            db,
            "UPDATE clients SET used_at = $3 WHERE organization_id = $1 AND client_id = $2",
            values![organization.uuid(), id.uuid(), now],
        )
        .await?;
    }
    Ok(())
}
