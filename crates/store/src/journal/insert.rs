//! The one way rows enter the journal: one statement per batch, of a few fixed sizes, so that it is prepared once.

use std::sync::LazyLock;

use sea_orm::sea_query::ArrayType;
use sea_orm::sqlx::error::BoxDynError;
use sea_orm::sqlx::sqlite::SqliteArguments;
use sea_orm::sqlx::{Arguments as _, Error as SqlxError, query_with};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, RuntimeErr, Value};
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

const COLUMNS: &str = "organization_id, workspace_id, seq, call_id, kind, at, agent_id, connection_id, exposed, tool, actor, word, body, approval_id, run_id";
/// Parameters of a row on SQLite; the first two of a statement are organization and number of rows.
const FIELDS: usize = 13;
/// Rows left empty cost almost what others do, so the sizes lie close to each other.
const SIZES: [usize; 12] = [1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 128, MAX_ROWS];

struct Texts {
    size: usize,
    insert: String,
    alone: String,
    closing: String,
    intents: String,
}

/// SQLite's statements by size. Rows beyond those given are unbound, so NULL, and left out.
static SQLITE: LazyLock<Vec<Texts>> = LazyLock::new(|| SIZES.into_iter().map(sqlite_texts).collect());

const ADVANCE: &str = "UPDATE counters SET seq = seq + $2 WHERE organization_id = $1";
/// The same where the epoch is as expected; then and only then the statements after it do something.
const ADVANCE_AT: &str = "UPDATE counters SET seq = seq + $2 WHERE organization_id = $1 AND epoch = $3";
/// Puts the first of the rows just inserted on the list of open intents.
const OPEN_AT: &str = "INSERT INTO open_intents (organization_id, workspace_id, call_id, agent_id, at)
 SELECT j.organization_id, j.workspace_id, j.call_id, j.agent_id, j.at FROM counters c JOIN journal j
 ON j.organization_id = c.organization_id AND j.seq > c.seq - $2 AND j.seq <= c.seq - $2 + $4
 WHERE c.organization_id = $1 AND c.epoch = $3 ON CONFLICT (organization_id, call_id) DO NOTHING";
/// Takes the calls that ended in the rows just inserted off the open intents.
pub(super) const CLOSE: &str = "DELETE FROM open_intents WHERE organization_id = $1 AND call_id IN (SELECT j.call_id FROM journal j, counters c
 WHERE j.organization_id = $1 AND c.organization_id = $1 AND j.seq > c.seq - $2 AND j.kind = 'ended')";

const UNNEST: &str = "v AS (SELECT * FROM unnest($3::uuid[], $4::uuid[], $5::text[], $6::bigint[], $7::uuid[], $8::uuid[], $9::text[],
 $10::text[], $11::text[], $12::text[], $13::text[], $14::uuid[], $15::uuid[]) WITH ORDINALITY
 AS v (workspace_id, call_id, kind, at, agent_id, connection_id, exposed, tool, actor, word, body, approval_id, run_id, n))";
/// Arrays are bound without NULLs: the nil UUID and the empty text stand for them.
const FROM_UNNEST: &str = "SELECT $1, v.workspace_id, c.seq - $2 + v.n, v.call_id, v.kind, v.at,
 NULLIF(v.agent_id, '00000000-0000-0000-0000-000000000000'::uuid),
 NULLIF(v.connection_id, '00000000-0000-0000-0000-000000000000'::uuid),
 NULLIF(v.exposed, ''), NULLIF(v.tool, ''), v.actor, v.word, v.body,
 NULLIF(v.approval_id, '00000000-0000-0000-0000-000000000000'::uuid),
 NULLIF(v.run_id, '00000000-0000-0000-0000-000000000000'::uuid) FROM v, c ORDER BY v.n";

/// `CLOSE`, as a part of another statement; does nothing where the counter was not advanced.
const POSTGRES_CLOSE: &str = ", d AS (DELETE FROM open_intents o USING v, c WHERE o.organization_id = $1 AND o.call_id = v.call_id AND v.kind = 'ended')";
/// PostgreSQL's counterpart of the statements that expect an epoch; returns no row where it is another.
static POSTGRES_INTENTS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH c AS (UPDATE counters SET seq = seq + $2 WHERE organization_id = $1 AND epoch = $16 RETURNING seq, epoch), {UNNEST},
 o AS (INSERT INTO open_intents (organization_id, workspace_id, call_id, agent_id, at)
  SELECT $1, v.workspace_id, v.call_id, NULLIF(v.agent_id, '00000000-0000-0000-0000-000000000000'::uuid), v.at FROM v, c WHERE v.n <= $17
  ON CONFLICT (organization_id, call_id) DO NOTHING){POSTGRES_CLOSE},
 j AS (INSERT INTO journal ({COLUMNS}) {FROM_UNNEST}) SELECT epoch FROM c"
    )
});

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
            // Straight to the driver: what is between is for statements that are put together, and copies every value.
            let arguments = sqlite_arguments(organization, rows, None)?;
            let done = query_with(text.as_str(), arguments)
                .execute(db.get_sqlite_connection_pool())
                .await;
            if done.is_err() {
                // The statement may have failed before it began a transaction: then there is nothing to undo.
                db.execute_unprepared("ROLLBACK").await.ok();
            }
            done.map(|_| ()).map_err(failed)
        }
        DatabaseOf::Postgres(db) => {
            let close = if closing { POSTGRES_CLOSE } else { "" };
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
    let fields = ", ?".repeat(FIELDS);
    let rows: Vec<String> = (1..=size).map(|row| format!("({row}{fields})")).collect();
    let rows = rows.join(", ");
    let insert = |given: &str, when: &str| {
        format!(
            "INSERT INTO journal ({COLUMNS}) SELECT p.organization, v.column2, c.seq - p.advanced + v.column1, v.column3, v.column4,
 v.column5, v.column6, v.column7, v.column8, v.column9, v.column10, v.column11, v.column12, v.column13, v.column14
 FROM (SELECT {given}) p, counters c, (VALUES {rows}) v WHERE c.organization_id = p.organization{when} AND v.column2 IS NOT NULL"
        )
    };
    let given = "? AS organization, ? AS advanced";
    let plain = insert(given, "");
    let expecting = insert(
        &format!("{given}, ? AS epoch, ? AS stored"),
        " AND c.epoch = p.epoch",
    );
    Texts {
        size,
        alone: format!("BEGIN IMMEDIATE; {ADVANCE}; {plain}; COMMIT"),
        closing: format!("BEGIN IMMEDIATE; {ADVANCE}; {plain}; {CLOSE}; COMMIT"),
        intents: format!(
            "BEGIN IMMEDIATE; {ADVANCE_AT}; {expecting}; {OPEN_AT}; {CLOSE}; SELECT epoch FROM counters WHERE organization_id = $1 AND epoch = $3; COMMIT"
        ),
        insert: plain,
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
            row.exposed.as_deref(),
            row.tool.as_deref(),
            &*row.actor,
            &*row.word,
            &*row.body,
            row.approval,
            row.run,
        ]);
    }
    values
}

/// Numbers and inserts the rows of intents, and after them others, in a statement and commit of their own, if the epoch is as
/// expected; otherwise does nothing. Says whether it did. `expecting` is the epoch, and how many of the rows are intents. On SQLite,
/// `db` must be the one writing connection, without a transaction.
pub(super) async fn intents(
    db: &DatabaseOf<'_>,
    organization: Uuid,
    expecting: (i64, usize),
    rows: &[&Placed],
) -> Result<bool, DbErr> {
    let db = match db {
        DatabaseOf::Sqlite(db) => db,
        DatabaseOf::Postgres(db) => {
            let mut all = postgres_values(organization, rows);
            all.push(Value::from(expecting.0));
            all.push(Value::from(i64::try_from(expecting.1).unwrap_or(i64::MAX)));
            let found = sql::one(*db, &POSTGRES_INTENTS, all).await?;
            return Ok(found.is_some());
        }
    };
    let texts =
        texts(rows.len()).ok_or_else(|| DbErr::Custom("too many rows for one statement".to_owned()))?;
    let arguments = sqlite_arguments(organization, rows, Some(expecting))?;
    let done = query_with(texts.intents.as_str(), arguments)
        .fetch_all(db.get_sqlite_connection_pool())
        .await;
    match done {
        Ok(found) => Ok(!found.is_empty()),
        Err(error) => {
            // As in `alone`.
            db.execute_unprepared("ROLLBACK").await.ok();
            Err(failed(error))
        }
    }
}

fn failed(error: SqlxError) -> DbErr {
    DbErr::Exec(RuntimeErr::SqlxError(error.into()))
}

/// The same for the driver. Where an epoch is expected it follows, and how many of the rows are intents.
fn sqlite_arguments(
    organization: Uuid,
    rows: &[&Placed],
    expecting: Option<(i64, usize)>,
) -> Result<SqliteArguments, DbErr> {
    let mut all = SqliteArguments::default();
    all.reserve(4 + rows.len() * FIELDS, 0);
    let filled = add_all(&mut all, organization, rows, expecting);
    filled.map_err(|error| failed(SqlxError::Encode(error)))?;
    Ok(all)
}

fn add_all(
    all: &mut SqliteArguments,
    organization: Uuid,
    rows: &[&Placed],
    expecting: Option<(i64, usize)>,
) -> Result<(), BoxDynError> {
    let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    all.add(organization)?;
    all.add(number(rows.len()))?;
    if let Some((expected, stored)) = expecting {
        all.add(expected)?;
        all.add(number(stored))?;
    }
    for Placed { workspace, row } in rows {
        all.add(*workspace)?;
        all.add(row.call)?;
        all.add(row.kind)?;
        all.add(row.at)?;
        all.add(row.agent)?;
        all.add(row.connection)?;
        all.add(row.exposed.clone())?;
        all.add(row.tool.clone())?;
        all.add(row.actor.clone())?;
        all.add(row.word.clone())?;
        all.add(row.body.clone())?;
        all.add(row.approval)?;
        all.add(row.run)?;
    }
    Ok(())
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
            p.row.exposed.as_deref().unwrap_or_default().into()
        }),
        column(ArrayType::String, |p| {
            p.row.tool.as_deref().unwrap_or_default().into()
        }),
        column(ArrayType::String, |p| (&*p.row.actor).into()),
        column(ArrayType::String, |p| (&*p.row.word).into()),
        column(ArrayType::String, |p| (&*p.row.body).into()),
        column(ArrayType::Uuid, |p| p.row.approval.unwrap_or_default().into()),
        column(ArrayType::Uuid, |p| p.row.run.unwrap_or_default().into()),
    ]
}
