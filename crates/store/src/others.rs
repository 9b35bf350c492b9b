//! What other processes change in the same database: PostgreSQL tells them apart by LISTEN and NOTIFY. SQLite has one process that serves.

use std::sync::Arc;
use std::time::Duration;

use sea_orm::sqlx::postgres::{PgListener, PgPool};
use sea_orm::{ConnectionTrait, DbBackend};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::StoreError;
use crate::core::Core;
use crate::sql::{self, values};

const CHANNEL: &str = "switchboard_policy";
/// Pause before listening again where that failed.
const PAUSE: Duration = Duration::from_secs(1);

/// Says to other processes, once this transaction is committed, that what decides calls has changed.
pub(crate) async fn tell(db: &impl ConnectionTrait, process: Uuid) -> Result<(), StoreError> {
    if db.get_database_backend() == DbBackend::Postgres {
        let text = "SELECT pg_notify($1, $2)";
        sql::one(db, text, values![CHANNEL, process.to_string()]).await?;
    }
    Ok(())
}

/// Listens until told to stop. Whenever it may have missed something, it counts as a change.
pub(crate) async fn listen_forever(core: Arc<Core>, pool: PgPool, stop: CancellationToken) {
    let listening = async {
        loop {
            if let Err(error) = listen(&core, &pool).await {
                tracing::warn!(%error, "what other processes change is not heard of; trying again");
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    stop.run_until_cancelled(listening).await;
}

async fn listen(core: &Core, pool: &PgPool) -> Result<(), sea_orm::sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    let own = core.process.to_string();
    core.others.send_modify(|count| *count = count.wrapping_add(1));
    loop {
        // None: the connection was lost and is there again.
        let said = listener.try_recv().await?;
        if said.is_none_or(|said| said.payload() != own) {
            core.others.send_modify(|count| *count = count.wrapping_add(1));
        }
    }
}
