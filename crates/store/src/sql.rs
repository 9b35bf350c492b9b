//! Statements and rows, the same for both databases: `$1` parameters, UUIDs and bytes bound as what each database makes of them.

use std::str::FromStr;

use domain::{Digest, Tenant, Timestamp};
use sea_orm::{ConnectionTrait, DbErr, QueryResult, Statement, TryGetable, Value};
use uuid::Uuid;

use crate::StoreError;

/// The values of a statement, in order.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$(sea_orm::Value::from($value)),*] };
}
pub(crate) use values;

/// Runs a statement; says how many rows it touched.
pub(crate) async fn run(db: &impl ConnectionTrait, sql: &str, values: Vec<Value>) -> Result<u64, DbErr> {
    Ok(db.execute_raw(statement(db, sql, values)).await?.rows_affected())
}

/// The first row of an answer.
pub(crate) async fn one(
    db: &impl ConnectionTrait,
    sql: &str,
    values: Vec<Value>,
) -> Result<Option<QueryResult>, DbErr> {
    db.query_one_raw(statement(db, sql, values)).await
}

/// All rows of an answer.
pub(crate) async fn all(
    db: &impl ConnectionTrait,
    sql: &str,
    values: Vec<Value>,
) -> Result<Vec<QueryResult>, DbErr> {
    db.query_all_raw(statement(db, sql, values)).await
}

fn statement(db: &impl ConnectionTrait, sql: &str, mut values: Vec<Value>) -> Statement {
    for value in &mut values {
        // Servers choose some of these texts, and PostgreSQL takes no NUL: one such text may not fail a whole write.
        if let Value::String(Some(text)) = value
            && text.as_bytes().contains(&0)
        {
            *text = text.replace('\0', "\u{fffd}");
        }
    }
    Statement::from_sql_and_values(db.get_database_backend(), sql, values)
}

/// Reads a column.
pub(crate) fn get<T: TryGetable>(row: &QueryResult, column: &str) -> Result<T, DbErr> {
    row.try_get("", column)
}

/// Reads a word of one of our closed lists.
pub(crate) fn word<T: FromStr>(row: &QueryResult, column: &'static str) -> Result<T, StoreError> {
    parse(column, &get::<String>(row, column)?)
}

/// Reads a word that may be missing.
pub(crate) fn word_or_none<T: FromStr>(
    row: &QueryResult,
    column: &'static str,
) -> Result<Option<T>, StoreError> {
    get::<Option<String>>(row, column)?
        .map(|text| parse(column, &text))
        .transpose()
}

/// Parses stored text.
pub(crate) fn parse<T: FromStr>(what: &'static str, text: &str) -> Result<T, StoreError> {
    text.parse()
        .map_err(|_| corrupt(what, "it holds a word this release does not know"))
}

/// Reads a digest.
pub(crate) fn digest(row: &QueryResult, column: &'static str) -> Result<Digest, StoreError> {
    digest_of(column, get(row, column)?)
}

/// Reads a digest that may be missing.
pub(crate) fn digest_or_none(row: &QueryResult, column: &'static str) -> Result<Option<Digest>, StoreError> {
    get::<Option<Vec<u8>>>(row, column)?
        .map(|bytes| digest_of(column, bytes))
        .transpose()
}

fn digest_of(what: &'static str, bytes: Vec<u8>) -> Result<Digest, StoreError> {
    let bytes = <[u8; 32]>::try_from(bytes).map_err(|_| corrupt(what, "it is not 32 bytes long"))?;
    Ok(Digest::from_bytes(bytes))
}

/// Reads a time.
pub(crate) fn time(row: &QueryResult, column: &str) -> Result<Timestamp, DbErr> {
    get(row, column).map(Timestamp::from_micros)
}

/// Reads a time that may be missing.
pub(crate) fn time_or_none(row: &QueryResult, column: &str) -> Result<Option<Timestamp>, DbErr> {
    Ok(get::<Option<i64>>(row, column)?.map(Timestamp::from_micros))
}

/// Reads a small count.
pub(crate) fn count(row: &QueryResult, column: &'static str) -> Result<u32, StoreError> {
    u32::try_from(get::<i64>(row, column)?).map_err(|_| corrupt(column, "it is out of range"))
}

/// Something stored that cannot be read.
pub(crate) fn corrupt(what: &'static str, why: impl ToString) -> StoreError {
    StoreError::Corrupt {
        what,
        why: why.to_string(),
    }
}

/// Organization and workspace, as a statement's first two values.
pub(crate) fn of(tenant: Tenant) -> (Uuid, Uuid) {
    (tenant.organization.uuid(), tenant.workspace.uuid())
}

/// A statement that grows: `push` adds text and the value its last parameter stands for.
pub(crate) struct Query {
    pub(crate) sql: String,
    pub(crate) values: Vec<Value>,
}

impl Query {
    /// A statement about one tenant; `sql` uses `$1` and `$2` for it.
    pub(crate) fn of(tenant: Tenant, sql: &str) -> Self {
        let (organization, workspace) = of(tenant);
        Self {
            sql: sql.to_owned(),
            values: values![organization, workspace],
        }
    }

    /// Adds text in which `{}` stands for this value.
    pub(crate) fn push(&mut self, text: &str, value: impl Into<Value>) {
        self.values.push(value.into());
        self.sql
            .push_str(&text.replace("{}", &format!("${}", self.values.len())));
    }
}
