//! Copies a whole store into an empty one, on whichever databases: row by row as they are, in one transaction, verified before it ends.

mod catalogue;
mod rows;
mod tables;

use domain::{OrganizationId, Tenant, WorkspaceId};
use sea_orm::ConnectionTrait;

use crate::database::{Database, Source, Sync};
use crate::options::Backend;
use crate::sql::{self, get};
use crate::{Durability, Head, Role, StoreError, audit, schema, vault};

use catalogue::Plan;

/// How far a copy has come, in rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyProgress {
    /// The table being copied.
    pub table: &'static str,
    /// Rows of all tables that are copied.
    pub done: u64,
    /// Rows of all tables.
    pub total: u64,
}

/// What was copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// Each table and its rows, counted on both sides.
    pub tables: Vec<(&'static str, u64)>,
    /// Each workspace's record, verified on the target.
    pub records: Vec<CopiedRecord>,
    /// Names the root key that the vault's secrets are sealed with: whoever serves from the target needs the same. None where no
    /// server has run yet.
    pub root_key: Option<String>,
}

/// A workspace's record on the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopiedRecord {
    /// Whose.
    pub tenant: Tenant,
    /// Its entries.
    pub entries: u64,
    /// The end of its chain, the same on both sides.
    pub head: Option<Head>,
}

/// Why a store was not copied. The target is as empty as it was.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The source is some other database.
    #[error("the source holds no store")]
    NoStore,
    /// The source was not brought to the schema of this release.
    #[error(
        "the source was last served by an older release (it lacks migration `{missing}`); serve from it once with this release, then copy"
    )]
    OlderSchema {
        /// The first migration it lacks.
        missing: String,
    },
    /// The target holds something.
    #[error(
        "the target is not empty: it has rows in {table}; copy into a database that nobody has served from yet"
    )]
    NotEmpty {
        /// A table with rows.
        table: &'static str,
    },
    /// One side has a table or columns that this release did not make.
    #[error(
        "the table {table} is not what this release makes; remove what was added to it, or it would be lost"
    )]
    Unknown {
        /// The table.
        table: String,
    },
    /// Fewer or more rows arrived than there are.
    #[error("{table} has {found} rows on the target and {expected} on the source")]
    Count {
        /// The table.
        table: &'static str,
        /// Rows of the target.
        found: u64,
        /// Rows of the source.
        expected: u64,
    },
    /// The record is damaged.
    #[error(
        "the record does not verify at entry {seq}: {what}; look at the source with `switchboard audit verify`"
    )]
    Record {
        /// Where.
        seq: i64,
        /// What is wrong, for people.
        what: String,
    },
    /// One of the databases failed, or is in use.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sea_orm::DbErr> for CopyError {
    fn from(error: sea_orm::DbErr) -> Self {
        Self::Store(error.into())
    }
}

/// Copies everything: the record with its chain, sealed secrets as they are, sequences, what is open. The source is only read, and
/// nobody may serve from it meanwhile. The target is made and migrated where it is missing, and must hold nothing.
///
/// # Errors
/// See [`CopyError`]. Then nothing was copied.
pub async fn copy(
    from: &Backend,
    to: &Backend,
    mut progress: impl FnMut(CopyProgress) + Send,
) -> Result<Copied, CopyError> {
    let source = Source::open(from).await?;
    let read = &source.tx;
    let from_catalogue = catalogue::read(read).await?;
    if !from_catalogue.contains_key(schema::TABLE) {
        return Err(CopyError::NoStore);
    }
    if let Some(missing) = schema::missing(read).await? {
        return Err(CopyError::OlderSchema { missing });
    }
    let target = Database::connect(to, Role::Serve, Durability::PowerCut).await?;
    target.migrate().await?;
    let transaction = target.begin(Sync::Full).await?;
    let write = &transaction.tx;
    alone(write).await?;
    let plans = catalogue::plan(&from_catalogue, &catalogue::read(write).await?)?;
    for plan in &plans {
        if rows::count(write, plan.name).await? > 0 {
            return Err(CopyError::NotEmpty { table: plan.name });
        }
    }
    let tables = copy_tables((read, write), &plans, &mut progress).await?;
    let records = verify((read, write)).await?;
    let root_key = vault::made_with(write).await?;
    transaction.commit().await?;
    target.close().await;
    source.close().await;
    Ok(Copied {
        tables,
        records,
        root_key,
    })
}

/// Keeps a server that starts meanwhile on PostgreSQL waiting until it sees the whole.
async fn alone(db: &impl ConnectionTrait) -> Result<(), StoreError> {
    if db.get_database_backend() == sea_orm::DbBackend::Postgres {
        let lock = "LOCK TABLE organizations IN SHARE ROW EXCLUSIVE MODE";
        sql::run(db, lock, Vec::new()).await?;
    }
    Ok(())
}

async fn copy_tables(
    (read, write): (&impl ConnectionTrait, &impl ConnectionTrait),
    plans: &[Plan],
    progress: &mut (impl FnMut(CopyProgress) + Send),
) -> Result<Vec<(&'static str, u64)>, CopyError> {
    let mut expected = Vec::with_capacity(plans.len());
    for plan in plans {
        expected.push((plan.name, rows::count(read, plan.name).await?));
    }
    let total: u64 = expected.iter().map(|(_, rows)| rows).sum();
    let mut done = 0;
    for (plan, &(table, expected)) in plans.iter().zip(&expected) {
        let mut at = rows::Place::default();
        loop {
            let copied = rows::copy_some((read, write), plan, &mut at).await?;
            done += copied;
            progress(CopyProgress { table, done, total });
            if copied == 0 {
                break;
            }
        }
        let found = rows::count(write, table).await?;
        if found != expected {
            return Err(CopyError::Count {
                table,
                found,
                expected,
            });
        }
    }
    Ok(expected)
}

/// Verifies every record on the target, up to the head it has on the source.
async fn verify(
    (read, write): (&impl ConnectionTrait, &impl ConnectionTrait),
) -> Result<Vec<CopiedRecord>, CopyError> {
    let workspaces =
        "SELECT organization_id, workspace_id FROM workspaces ORDER BY organization_id, workspace_id";
    let mut records = Vec::new();
    for row in sql::all(read, workspaces, Vec::new()).await? {
        let tenant = Tenant {
            organization: OrganizationId::from_uuid(get(&row, "organization_id")?),
            workspace: WorkspaceId::from_uuid(get(&row, "workspace_id")?),
        };
        let (seq, link) = audit::last(read, tenant).await?;
        let head = (seq > 0).then_some(Head { seq, link });
        let found = audit::verify(write, tenant, head, |_| {}).await?;
        if let Some(bad) = found.first_bad {
            let (seq, what) = (bad.seq, bad.what);
            return Err(CopyError::Record { seq, what });
        }
        records.push(CopiedRecord {
            tenant,
            entries: found.entries,
            head: found.head,
        });
    }
    Ok(records)
}
