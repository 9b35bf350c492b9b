//! What columns a database has, and so how each is carried over: a column that a later migration adds is copied without a word here.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, DbBackend};

use super::CopyError;
use super::tables::{TABLES, Table};
use crate::sql::{self, get};
use crate::{StoreError, schema};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Uuid,
    Bytes,
    /// On SQLite: one of the two.
    Blob,
    Text,
    Integer,
    Boolean,
}

/// The columns of each table, in order.
pub(super) type Catalogue = BTreeMap<String, Vec<(String, Option<Kind>)>>;

/// How a table is copied.
pub(super) struct Plan {
    pub(super) name: &'static str,
    pub(super) key: &'static [&'static str],
    pub(super) step: u32,
    pub(super) columns: Vec<(String, Kind)>,
}

const POSTGRES: &str = "SELECT table_name::text AS holder, column_name::text AS name, data_type::text AS kind
 FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position";
const SQLITE: &str = "SELECT m.name AS holder, c.name AS name, c.type AS kind FROM sqlite_master m JOIN pragma_table_info(m.name) c
 WHERE m.type = 'table' ORDER BY m.name, c.cid";

/// Reads what there is.
pub(super) async fn read(db: &impl ConnectionTrait) -> Result<Catalogue, StoreError> {
    let text = match db.get_database_backend() {
        DbBackend::Postgres => POSTGRES,
        _ => SQLITE,
    };
    let mut catalogue = Catalogue::new();
    for row in sql::all(db, text, Vec::new()).await? {
        let column = (get(&row, "name")?, kind(&get::<String>(&row, "kind")?));
        catalogue.entry(get(&row, "holder")?).or_default().push(column);
    }
    Ok(catalogue)
}

/// How everything is copied. Both sides must have the tables of this release, with the same columns, and no others.
pub(super) fn plan(from: &Catalogue, to: &Catalogue) -> Result<Vec<Plan>, CopyError> {
    let known = |name: &str| {
        name == schema::TABLE || name.starts_with("sqlite_") || TABLES.iter().any(|table| table.name == name)
    };
    if let Some(table) = from.keys().chain(to.keys()).find(|name| !known(name)) {
        let table = table.clone();
        return Err(CopyError::Unknown { table });
    }
    TABLES
        .iter()
        .map(|table| {
            let unknown = || CopyError::Unknown {
                table: table.name.to_owned(),
            };
            one(table, from, to).ok_or_else(unknown)
        })
        .collect()
}

fn one(table: &Table, from: &Catalogue, to: &Catalogue) -> Option<Plan> {
    let (from, to) = (from.get(table.name)?, to.get(table.name)?);
    if from.len() != to.len() {
        return None;
    }
    let columns = from
        .iter()
        .map(|(name, kind)| {
            let (_, other) = to.iter().find(|(other, _)| other == name)?;
            Some((name.clone(), agreed((*kind)?, (*other)?)?))
        })
        .collect::<Option<_>>()?;
    Some(Plan {
        name: table.name,
        key: table.key,
        step: table.step,
        columns,
    })
}

/// What a column holds, by what both sides say.
fn agreed(one: Kind, other: Kind) -> Option<Kind> {
    match (one, other) {
        (Kind::Blob, Kind::Blob) => Some(Kind::Bytes),
        (Kind::Blob, known @ (Kind::Uuid | Kind::Bytes))
        | (known @ (Kind::Uuid | Kind::Bytes), Kind::Blob) => Some(known),
        (one, other) if one == other => Some(one),
        _ => None,
    }
}

fn kind(word: &str) -> Option<Kind> {
    Some(match word.to_ascii_lowercase().as_str() {
        "uuid" => Kind::Uuid,
        "bytea" => Kind::Bytes,
        "blob" => Kind::Blob,
        "text" => Kind::Text,
        "bigint" => Kind::Integer,
        "boolean" => Kind::Boolean,
        // seaql_migrations has others, and is not copied.
        _ => return None,
    })
}
