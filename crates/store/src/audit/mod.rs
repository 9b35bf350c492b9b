//! What happened, for auditors: the whole record, and the chain that shows whether it was altered.

mod chain;
mod verify;

use domain::{Digest, Entry, Page, PageRequest, Tenant};
use sea_orm::QueryResult;
use serde_json::Value;

use crate::journal::codec;
use crate::sql::{self, Query, digest_or_none, get};
use crate::{Store, StoreError, paging};

pub(crate) use chain::{chain_forever, last};
pub(crate) use verify::verify;

/// Which entries a list holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only facts of this kind: `decided`, `ended`, `answered` or `changed`.
    pub kind: Option<String>,
    /// Only by the actor with this id.
    pub actor: Option<String>,
}

/// One entry of the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its place in the record of the organization.
    pub seq: i64,
    /// The entry.
    pub entry: Entry,
    /// Its fact as it is written, which is what the chain covers.
    pub written: Value,
    /// Its link; none within the second it takes to make it.
    pub link: Option<Link>,
}

/// What ties an entry to the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The digest of the entry.
    pub entry: Digest,
    /// The digest of entry and previous link.
    pub link: Digest,
}

/// The end of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The entry's place.
    pub seq: i64,
    /// Its link's digest.
    pub link: Digest,
}

/// A head somebody noted earlier; a record that was cut off does not reach it.
pub type Expected = Option<Head>;

/// How far a verification has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Entries looked at.
    pub done: u64,
    /// Entries there are.
    pub total: u64,
}

/// The first thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bad {
    /// Where.
    pub seq: i64,
    /// What, for people.
    pub what: String,
}

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// Entries there are.
    pub entries: u64,
    /// Links that hold.
    pub links: u64,
    /// Entries at the end that no link covers yet.
    pub unchained_tail: u64,
    /// The first thing that is wrong; none when all is well.
    pub first_bad: Option<Bad>,
    /// The end of the chain.
    pub head: Option<Head>,
}

impl Store {
    /// A page of the record, newest first.
    ///
    /// # Errors
    /// `BadCursor`, or when the database fails.
    pub async fn list_audit(
        &self,
        tenant: Tenant,
        filter: &AuditFilter,
        page: &PageRequest,
    ) -> Result<Page<AuditEntry>, StoreError> {
        self.writer().settle().await;
        let mut query = Query::of(
            tenant,
            "SELECT j.seq, j.body, l.entry_hash, l.link_hash FROM journal j
             LEFT JOIN links l ON l.organization_id = j.organization_id AND l.workspace_id = j.workspace_id AND l.seq = j.seq
             WHERE j.organization_id = $1 AND j.workspace_id = $2",
        );
        if let Some(kind) = &filter.kind {
            query.push(" AND j.kind = {}", kind.as_str());
        }
        if let Some(actor) = &filter.actor {
            query.push(" AND j.actor = {}", actor.as_str());
        }
        if let Some(place) = paging::begin("audit", 1, page)?.and_then(|place| place.first().copied()) {
            query.push(" AND j.seq < {}", place);
        }
        query.push(" ORDER BY j.seq DESC LIMIT {}", paging::limit(page));
        let rows = sql::all(&self.core().db.read, &query.sql, query.values).await?;
        let items = rows
            .iter()
            .map(|row| entry(row).map(|item| (vec![item.seq], item)))
            .collect::<Result<_, StoreError>>()?;
        Ok(paging::end("audit", page, items))
    }

    /// Reads the whole record of a workspace and checks every link. Reports rows that were changed, removed, inserted or moved, and with an
    /// expected head, a record that was cut off.
    ///
    /// # Errors
    /// When the database fails; what is wrong with the record is in the answer.
    pub async fn verify(
        &self,
        tenant: Tenant,
        expected: Expected,
        progress: impl FnMut(Progress) + Send,
    ) -> Result<Verification, StoreError> {
        self.writer().settle().await;
        verify::verify(&self.core().db.read, tenant, expected, progress).await
    }

    /// Makes the links that are missing, in every workspace whose lease is free; says how many. The store does this by itself.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn chain_once(&self) -> Result<u64, StoreError> {
        self.writer().settle().await;
        chain::chain_once(self.core(), self.holder()).await
    }
}

fn entry(row: &QueryResult) -> Result<AuditEntry, StoreError> {
    let link = match (
        digest_or_none(row, "entry_hash")?,
        digest_or_none(row, "link_hash")?,
    ) {
        (Some(entry), Some(link)) => Some(Link { entry, link }),
        _ => None,
    };
    let body: String = get(row, "body")?;
    Ok(AuditEntry {
        seq: get(row, "seq")?,
        entry: codec::decode(&body)?,
        written: codec::written_fact(&body)?,
        link,
    })
}
