//! The one way rows enter the journal: one statement per batch, of a few fixed sizes, so that it is prepared once.

use std::sync::LazyLock;

use sea_orm::sea_query::ArrayType;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, Value};
use uuid::Uuid;

use super::codec::Row;
use crate::sql::{self, values};

/// Most rows of one statement.
pub(crate) const MAX_ROWS: usize = 256;

/// A row and the workspace it belongs to.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) workspace: Uuid,
    pub(crate) row: Row,
}

const COLUMNS: &str = "organization_id, workspace_id, seq, call_id, kind, at, agent_id, connection_id, exposed, tool, actor, word, body, approval_id";
/// Parameters of a row on SQLite; the first two of a statement are organization and number of rows.
const FIELDS: usize = 12;
const SIZES: [usize; 5] = [1, 4, 16, 64, MAX_ROWS];

struct Texts {
    size: usize,
    insert: String,
    alone: String,
    closing: String,
}

/// SQLite's statements by size. Rows beyond those given are unbound, so NULL, and left out.
static SQLITE: LazyLock<Vec<Texts>> = LazyLock::new(|| SIZES.into_iter().map(sqlite_texts).collect());

const ADVANCE: &str = "UPDATE counters SET seq = seq + $2 WHERE organization_id = $1";
/// Takes the calls that ended in the rows just inserted off the open intents.
pub(super) const CLOSE: &str = "DELETE FROM open_intents WHERE organization_id = $1 AND call_id IN (SELECT j.call_id FROM journal j, counters c
 WHERE j.organization_id = $1 AND c.organization_id = $1 AND j.seq > c.seq - $2 AND j.kind = 'ended')";

const UNNEST: &str = "v AS (SELECT * FROM unnest($3::uuid[], $4::uuid[], $5::text[], $6::bigint[], $7::uuid[], $8::uuid[], $9::text[],
 $10::text[], $11::text[], $12::text[], $13::text[], $14::uuid[]) WITH ORDINALITY
 AS v (workspace_id, call_id, kind, at, agent_id, connection_id, exposed, tool, actor, word, body, approval_id, n))";
/// Arrays are bound without NULLs: the nil UUID and the empty text stand for them.
const FROM_UNNEST: &str = "SELECT $1, v.workspace_id, c.seq - $2 + v.n, v.call_id, v.kind, v.at,
 NULLIF(v.agent_id, '00000000-0000-0000-0000-000000000000'::uuid),
 NULLIF(v.connection_id, '00000000-0000-0000-0000-000000000000'::uuid),
 NULLIF(v.exposed, ''), NULLIF(v.tool, ''), v.actor, v.word, v.body,
 NULLIF(v.approval_id, '00000000-0000-0000-0000-000000000000'::uuid) FROM v, c ORDER BY v.n";

/// Numbers and inserts rows in a statement and commit of their own. `closing` takes the calls that ended off the open intents.
/// On SQLite, `db` must be the one writing connection, without a transaction.
pub(crate) async fn alone(
    db: &DatabaseOf<'_>,
    organization: Uuid,
    rows: &[&Placed],
    closing: bool,
) -> Result<(), DbErr> {
    match db {
        DatabaseOf::Sqlite(db) => {
            let Some(texts) = texts(rows.len()) else {
                return Ok(());
            };
            let text = if closing { &texts.closing } else { &texts.alone };
            let done = sql::run(*db, text, sqlite_values(organization, rows)).await;
            if done.is_err() {
                // The statement may have failed before it began a transaction: then there is nothing to undo.
                db.execute_unprepared("ROLLBACK").await.ok();
            }
            done.map(|_| ())
        }
        DatabaseOf::Postgres(db) => {
            let close = if closing {
                ", d AS (DELETE FROM open_intents o USING v WHERE o.organization_id = $1 AND o.call_id = v.call_id AND v.kind = 'ended')"
            } else {
                ""
            };
            let text = format!(
                "WITH c AS ({ADVANCE} RETURNING seq), {UNNEST}{close} INSERT INTO journal ({COLUMNS}) {FROM_UNNEST}"
            );
            sql::run(*db, &text, postgres_values(organization, rows))
                .await
                .map(|_| ())
        }
    }
}

/// Inserts rows in a transaction that has just advanced the counter by `advanced`; the rows get the first numbers of these.
pub(crate) async fn within(
    db: &impl ConnectionTrait,
    organization: Uuid,
    advanced: usize,
    rows: &[&Placed],
) -> Result<(), DbErr> {
    let advanced = i64::try_from(advanced).unwrap_or(i64::MAX);
    match db.get_database_backend() {
        DbBackend::Postgres => {
            let mut values = postgres_values(organization, rows);
            set(&mut values, advanced);
            let text = format!(
                "WITH c AS (SELECT seq FROM counters WHERE organization_id = $1), {UNNEST} INSERT INTO journal ({COLUMNS}) {FROM_UNNEST}"
            );
            sql::run(db, &text, values).await?;
        }
        DbBackend::Sqlite | DbBackend::MySql => {
            let Some(texts) = texts(rows.len()) else {
                return Ok(());
            };
            let mut values = sqlite_values(organization, rows);
            set(&mut values, advanced);
            sql::run(db, &texts.insert, values).await?;
        }
        _ => return Err(DbErr::Custom("a database this release does not know".to_owned())),
    }
    Ok(())
}

/// Where a statement of its own goes.
pub(crate) enum DatabaseOf<'a> {
    /// SQLite's writing connection.
    Sqlite(&'a sea_orm::DatabaseConnection),
    /// A PostgreSQL pool.
    Postgres(&'a sea_orm::DatabaseConnection),
}

fn set(values: &mut [Value], advanced: i64) {
    if let Some(value) = values.get_mut(1) {
        *value = Value::from(advanced);
    }
}

fn texts(rows: usize) -> Option<&'static Texts> {
    SQLITE.iter().find(|texts| rows > 0 && texts.size >= rows)
}

/// Organization and number of rows come first, then the rows, all by position: SQLite looks named parameters up one by one, which
/// for hundreds of them costs more than the insert. The other statements name the first two.
fn sqlite_texts(size: usize) -> Texts {
    let mut insert = format!(
        "INSERT INTO journal ({COLUMNS}) SELECT p.organization, v.column2, c.seq - p.advanced + v.column1, v.column3, v.column4,
 v.column5, v.column6, v.column7, v.column8, v.column9, v.column10, v.column11, v.column12, v.column13
 FROM (SELECT ? AS organization, ? AS advanced) p, counters c, (VALUES "
    );
    let fields = ", ?".repeat(FIELDS);
    for row in 1..=size {
        let separator = if row == 1 { "" } else { ", " };
        insert.push_str(&format!("{separator}({row}{fields})"));
    }
    insert.push_str(") v WHERE c.organization_id = p.organization AND v.column2 IS NOT NULL");
    Texts {
        size,
        alone: format!("BEGIN IMMEDIATE; {ADVANCE}; {insert}; COMMIT"),
        closing: format!("BEGIN IMMEDIATE; {ADVANCE}; {insert}; {CLOSE}; COMMIT"),
        insert,
    }
}

fn sqlite_values(organization: Uuid, rows: &[&Placed]) -> Vec<Value> {
    let mut values = Vec::with_capacity(2 + rows.len() * FIELDS);
    values.push(Value::from(organization));
    values.push(Value::from(i64::try_from(rows.len()).unwrap_or(i64::MAX)));
    for Placed { workspace, row } in rows {
        values.extend(values![
            *workspace,
            row.call,
            row.kind,
            row.at,
            row.agent,
            row.connection,
            row.exposed.clone(),
            row.tool.clone(),
            row.actor.clone(),
            row.word.clone(),
            row.body.clone(),
            row.approval,
        ]);
    }
    values
}

fn postgres_values(organization: Uuid, rows: &[&Placed]) -> Vec<Value> {
    let column = |kind: ArrayType, field: fn(&&Placed) -> Value| {
        Value::Array(kind, Some(Box::new(rows.iter().map(field).collect())))
    };
    vec![
        Value::from(organization),
        Value::from(i64::try_from(rows.len()).unwrap_or(i64::MAX)),
        column(ArrayType::Uuid, |p| p.workspace.into()),
        column(ArrayType::Uuid, |p| p.row.call.into()),
        column(ArrayType::String, |p| p.row.kind.into()),
        column(ArrayType::BigInt, |p| p.row.at.into()),
        column(ArrayType::Uuid, |p| p.row.agent.unwrap_or_default().into()),
        column(ArrayType::Uuid, |p| p.row.connection.unwrap_or_default().into()),
        column(ArrayType::String, |p| {
            p.row.exposed.clone().unwrap_or_default().into()
        }),
        column(ArrayType::String, |p| {
            p.row.tool.clone().unwrap_or_default().into()
        }),
        column(ArrayType::String, |p| p.row.actor.clone().into()),
        column(ArrayType::String, |p| p.row.word.clone().into()),
        column(ArrayType::String, |p| p.row.body.clone().into()),
        column(ArrayType::Uuid, |p| p.row.approval.unwrap_or_default().into()),
    ]
}
