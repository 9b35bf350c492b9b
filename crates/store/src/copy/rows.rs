//! Rows, read in the order of their key and written as they are.

use sea_orm::{ConnectionTrait, DbErr, QueryResult, Value};
use uuid::Uuid;

use super::catalogue::{Kind, Plan};
use crate::StoreError;
use crate::sql::{self, get, values};

/// Most values of one statement; both databases take more.
const VALUES: usize = 2_000;

/// The key of the last row that was read; nothing before the first.
#[derive(Default)]
pub(super) struct Place(Vec<Value>);

/// How many rows a table has.
pub(super) async fn count(db: &impl ConnectionTrait, table: &'static str) -> Result<u64, StoreError> {
    let row = sql::one(db, &format!("SELECT COUNT(*) AS n FROM {table}"), values![]).await?;
    let row = row.ok_or(StoreError::NotFound { what: "count" })?;
    Ok(u64::try_from(get::<i64>(&row, "n")?).unwrap_or_default())
}

/// Copies the next rows; says how many, none at the end.
pub(super) async fn copy_some(
    (from, to): (&impl ConnectionTrait, &impl ConnectionTrait),
    plan: &Plan,
    after: &mut Place,
) -> Result<u64, StoreError> {
    let rows = sql::all(from, &select(plan, !after.0.is_empty()), after.0.clone()).await?;
    let Some(last) = rows.last() else { return Ok(0) };
    let kinds = plan.key.iter().filter_map(|key| {
        let found = plan.columns.iter().find(|(name, _)| name == key);
        found.map(|(name, kind)| value(last, name, *kind))
    });
    after.0 = kinds.collect::<Result<_, _>>()?;
    let per_statement = (VALUES / plan.columns.len().max(1)).max(1);
    for chunk in rows.chunks(per_statement) {
        let mut values = Vec::with_capacity(chunk.len() * plan.columns.len());
        for row in chunk {
            for (name, kind) in &plan.columns {
                values.push(value(row, name, *kind)?);
            }
        }
        sql::run(to, &insert(plan, chunk.len()), values).await?;
    }
    Ok(rows.len() as u64)
}

fn names(plan: &Plan) -> String {
    let names: Vec<&str> = plan.columns.iter().map(|(name, _)| &**name).collect();
    names.join(", ")
}

fn select(plan: &Plan, after: bool) -> String {
    let key = plan.key.join(", ");
    let after = if after {
        format!(" WHERE ({key}) > ({})", parameters(1, plan.key.len()))
    } else {
        String::new()
    };
    let (columns, table, step) = (names(plan), plan.name, plan.step);
    format!("SELECT {columns} FROM {table}{after} ORDER BY {key} LIMIT {step}")
}

fn insert(plan: &Plan, rows: usize) -> String {
    let width = plan.columns.len();
    let rows: Vec<String> = (0..rows)
        .map(|row| format!("({})", parameters(row * width + 1, width)))
        .collect();
    format!(
        "INSERT INTO {} ({}) VALUES {}",
        plan.name,
        names(plan),
        rows.join(", ")
    )
}

fn parameters(first: usize, count: usize) -> String {
    let each: Vec<String> = (first..first + count).map(|n| format!("${n}")).collect();
    each.join(", ")
}

fn value(row: &QueryResult, name: &str, kind: Kind) -> Result<Value, DbErr> {
    Ok(match kind {
        Kind::Uuid => get::<Option<Uuid>>(row, name)?.into(),
        Kind::Bytes | Kind::Blob => get::<Option<Vec<u8>>>(row, name)?.into(),
        Kind::Text => get::<Option<String>>(row, name)?.into(),
        Kind::Integer => get::<Option<i64>>(row, name)?.into(),
        Kind::Boolean => get::<Option<bool>>(row, name)?.into(),
    })
}
