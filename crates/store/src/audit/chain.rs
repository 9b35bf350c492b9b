//! Making the chain: after the entries are in, by whoever holds the workspace's lease.

use std::sync::Arc;
use std::time::Duration;

use domain::{Digest, Tenant};
use sea_orm::{ConnectionTrait, DbBackend, Value};
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::core::Core;
use crate::database::Sync;
use crate::lease::Lease;
use crate::sql::{self, Query, digest, get, values};
use crate::{StoreError, tenants};

/// Links of one commit: others write in between.
const STEP: i64 = 256;
/// Rows of one statement, so that few texts need preparing.
const SIZES: [usize; 4] = [64, 16, 4, 1];
/// How long a lease holds without being renewed.
const LEASE: Duration = Duration::from_secs(10);

/// What stands before the first link.
pub(super) const ORIGIN: Digest = Digest::from_bytes([0; 32]);

/// One link, with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Made {
    pub(super) seq: i64,
    pub(super) entry: Digest,
    pub(super) previous: Digest,
    pub(super) link: Digest,
}

/// Makes links until told to stop.
pub(crate) async fn chain_forever(core: Arc<Core>, holder: Uuid, stop: CancellationToken) {
    let within = core.options.journal.chain_within;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(within) => {}
        }
        if let Err(error) = chain_once(&core, holder).await {
            tracing::warn!(%error, "the record could not be chained; trying again");
        }
    }
}

/// Makes the links that are missing.
pub(super) async fn chain_once(core: &Core, holder: Uuid) -> Result<u64, StoreError> {
    let mut made = 0;
    for tenant in tenants::all(core).await? {
        loop {
            let step = chain_step(core, holder, tenant).await?;
            made += step;
            if step < STEP.unsigned_abs() {
                break;
            }
        }
    }
    Ok(made)
}

/// The digest of an entry: what it says, and where it stands.
pub(super) fn entry_hash(tenant: Tenant, seq: i64, body: &str) -> Digest {
    let (organization, workspace) = sql::of(tenant);
    hash(&[
        b"switchboard entry v1",
        organization.as_bytes(),
        workspace.as_bytes(),
        &seq.to_be_bytes(),
        body.as_bytes(),
    ])
}

/// The digest that ties an entry to the link before.
pub(super) fn link_hash(previous: Digest, entry: Digest) -> Digest {
    hash(&[b"switchboard link v1", previous.bytes(), entry.bytes()])
}

/// Each field with its length before it, so that no two lists of fields are the same bytes.
fn hash(fields: &[&[u8]]) -> Digest {
    let mut hasher = Sha256::new();
    for field in fields {
        hasher.update((field.len() as u64).to_be_bytes());
        hasher.update(field);
    }
    Digest::from_bytes(hasher.finalize().into())
}

/// The entries after one, as one row: a row for each would wake two threads in turn for every few of them. Each stands as its number,
/// the bytes of its body and its body, `7:2:{}`.
async fn entries(core: &Core, tenant: Tenant, after: i64) -> Result<Option<String>, StoreError> {
    let mut query = Query::of(
        tenant,
        "SELECT string_agg(concat(n.seq, ':', octet_length(n.body), ':', n.body), '') AS entries FROM
         (SELECT seq, body FROM journal WHERE organization_id = $1 AND workspace_id = $2",
    );
    query.push(" AND seq > {}", after);
    query.push(" ORDER BY seq LIMIT {}) n", STEP);
    let row = sql::one(&core.db.read, &query.sql, query.values).await?;
    Ok(row.map(|row| get(&row, "entries")).transpose()?.flatten())
}

/// Takes them apart, in order: a database may put them together in another.
fn split(mut text: &str) -> Result<Vec<(i64, &str)>, StoreError> {
    let mut found = Vec::new();
    while !text.is_empty() {
        let (seq, length, rest) =
            head(text).ok_or_else(|| sql::corrupt("entries", "they do not come apart"))?;
        let (body, others) = rest
            .split_at_checked(length)
            .ok_or_else(|| sql::corrupt("entries", "one is cut off"))?;
        found.push((seq, body));
        text = others;
    }
    found.sort_unstable_by_key(|(seq, _)| *seq);
    Ok(found)
}

fn head(text: &str) -> Option<(i64, usize, &str)> {
    let (seq, rest) = text.split_once(':')?;
    let (length, rest) = rest.split_once(':')?;
    Some((seq.parse().ok()?, length.parse().ok()?, rest))
}

async fn chain_step(core: &Core, holder: Uuid, tenant: Tenant) -> Result<u64, StoreError> {
    let (after, mut previous) = last(&core.db.read, tenant).await?;
    let Some(text) = entries(core, tenant, after).await? else {
        return Ok(0);
    };
    let mut links = Vec::new();
    for (seq, body) in split(&text)? {
        let entry = entry_hash(tenant, seq, body);
        let link = link_hash(previous, entry);
        links.push(Made {
            seq,
            entry,
            previous,
            link,
        });
        previous = link;
    }
    // A lost link is made again, so its commit need not wait for the disk.
    let transaction = core.db.begin(Sync::Normal).await?;
    let lease = Lease {
        tenant,
        name: &format!("chain:{}", tenant.workspace.uuid()),
        holder,
        longest: LEASE,
    };
    let held = lease.hold(&transaction.tx).await?;
    if !held || last(&transaction.tx, tenant).await?.0 != after {
        // Somebody else makes them.
        return Ok(0);
    }
    insert(&transaction.tx, tenant, &links).await?;
    transaction.commit().await?;
    Ok(links.len() as u64)
}

/// Where the chain ends.
pub(crate) async fn last(db: &impl ConnectionTrait, tenant: Tenant) -> Result<(i64, Digest), StoreError> {
    let mut query = Query::of(
        tenant,
        "SELECT seq, link_hash FROM links WHERE organization_id = $1 AND workspace_id = $2",
    );
    query.sql.push_str(" ORDER BY seq DESC LIMIT 1");
    match sql::one(db, &query.sql, query.values).await? {
        Some(row) => Ok((get(&row, "seq")?, digest(&row, "link_hash")?)),
        None => Ok((0, ORIGIN)),
    }
}

async fn insert(db: &impl ConnectionTrait, tenant: Tenant, links: &[Made]) -> Result<(), StoreError> {
    let (organization, workspace) = sql::of(tenant);
    let numbered = db.get_database_backend() == DbBackend::Postgres;
    let mut left = links;
    while let Some((chunk, rest)) = SIZES.iter().find_map(|size| left.split_at_checked(*size)) {
        left = rest;
        let mut text = String::from(
            "INSERT INTO links (organization_id, workspace_id, seq, entry_hash, prev_hash, link_hash) VALUES ",
        );
        let mut values: Vec<Value> = Vec::with_capacity(chunk.len() * 6);
        for (row, made) in chunk.iter().enumerate() {
            text.push_str(if row == 0 { "(" } else { ", (" });
            let n = row * 6;
            // SQLite finds parameters by position much faster than by name.
            text.push_str(&if numbered {
                format!(
                    "${}, ${}, ${}, ${}, ${}, ${})",
                    n + 1,
                    n + 2,
                    n + 3,
                    n + 4,
                    n + 5,
                    n + 6
                )
            } else {
                "?, ?, ?, ?, ?, ?)".to_owned()
            });
            let bytes = |digest: Digest| digest.bytes().to_vec();
            values.extend(values![
                organization,
                workspace,
                made.seq,
                bytes(made.entry),
                bytes(made.previous),
                bytes(made.link)
            ]);
        }
        sql::run(db, &text, values).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::split;

    type Entries<'a> = Option<&'a [(i64, &'a str)]>;

    #[test]
    fn entries_come_apart() {
        let cases: [(&str, Entries<'_>); 8] = [
            ("", Some(&[])),
            ("7:2:{}", Some(&[(7, "{}")])),
            ("8:4:{:5}7:3:é9", Some(&[(7, "é9"), (8, "{:5}")])),
            ("7:0:8:0:", Some(&[(7, ""), (8, "")])),
            ("7:3:{}", None),
            ("7:1:é", None),
            ("7:x:{}", None),
            ("{}", None),
        ];
        for (text, expected) in cases {
            assert_eq!(split(text).ok().as_deref(), expected, "{text}");
        }
    }
}
