//! Checking the chain: every link against the entry it covers and the link before it.

use std::collections::BTreeMap;

use domain::{Digest, Tenant};
use sea_orm::{ConnectionTrait, QueryResult};
use uuid::Uuid;

use super::chain::{self, Made};
use super::{Bad, Expected, Head, Progress, Verification};
use crate::StoreError;
use crate::journal::codec;
use crate::sql::{self, Query, digest, get};

const STEP: i64 = 500;

/// What has been found so far.
struct Check {
    tenant: Tenant,
    expected: Expected,
    met: bool,
    previous: Digest,
    result: Verification,
}

/// Checks a workspace's record.
pub(crate) async fn verify(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    expected: Expected,
    mut progress: impl FnMut(Progress) + Send,
) -> Result<Verification, StoreError> {
    // Links made while this runs are left for the next time.
    let (end, head) = chain::last(db, tenant).await?;
    let total = count(db, tenant, 0).await?;
    let mut check = Check {
        tenant,
        expected,
        met: false,
        previous: chain::ORIGIN,
        result: Verification {
            entries: 0,
            links: 0,
            unchained_tail: count(db, tenant, end).await?,
            first_bad: None,
            head: (end > 0).then_some(Head { seq: end, link: head }),
        },
    };
    let mut after = 0;
    while after < end {
        let until = step_end(db, tenant, (after, end)).await?;
        let mut links = read_links(db, tenant, (after, until)).await?;
        let entries = read_entries(db, tenant, (after, until)).await?;
        let mut places: Vec<i64> = links.keys().chain(entries.keys()).copied().collect();
        places.sort_unstable();
        places.dedup();
        for seq in places {
            check.place(seq, entries.get(&seq), links.remove(&seq));
        }
        after = until;
        progress(Progress {
            done: check.result.entries,
            total,
        });
    }
    check.result.entries += check.result.unchained_tail;
    progress(Progress {
        done: check.result.entries,
        total,
    });
    check.finish()
}

impl Check {
    fn place(&mut self, seq: i64, entry: Option<&QueryResult>, link: Option<Made>) {
        self.result.entries += u64::from(entry.is_some());
        let Some(link) = link else {
            return self.bad(
                seq,
                "an entry without a link stands among linked ones: it was inserted",
            );
        };
        if self.expected == Some(Head { seq, link: link.link }) {
            self.met = true;
        }
        let what = match entry.map(|row| self.entry(seq, row, link.entry)) {
            None => Some("a link covers an entry that is not there: it was removed".to_owned()),
            Some(Err(error)) => Some(format!("the entry cannot be read: {error}")),
            Some(Ok(Some(what))) => Some(what.to_owned()),
            Some(Ok(None)) if link.previous != self.previous => {
                Some("the link does not follow the one before: links were removed or moved".to_owned())
            }
            Some(Ok(None)) if link.link != chain::link_hash(link.previous, link.entry) => {
                Some("the link was changed".to_owned())
            }
            Some(Ok(None)) => None,
        };
        self.previous = link.link;
        match what {
            Some(what) => self.bad(seq, &what),
            None => self.result.links += 1,
        }
    }

    /// What is wrong with an entry. The columns beside the body are compared with it, because searches believe them.
    fn entry(&self, seq: i64, row: &QueryResult, linked: Digest) -> Result<Option<&'static str>, StoreError> {
        let body: String = get(row, "body")?;
        if chain::entry_hash(self.tenant, seq, &body) != linked {
            return Ok(Some(
                "the entry is not the one that was linked: it was changed or moved",
            ));
        }
        let want = codec::encode(&codec::decode(&body)?)?;
        let same = want.call == get::<Uuid>(row, "call_id")?
            && want.kind == get::<String>(row, "kind")?
            && want.at == get::<i64>(row, "at")?
            && want.agent == get::<Option<Uuid>>(row, "agent_id")?
            && want.connection == get::<Option<Uuid>>(row, "connection_id")?
            && want.exposed.as_deref() == get::<Option<String>>(row, "exposed")?.as_deref()
            && want.tool.as_deref() == get::<Option<String>>(row, "tool")?.as_deref()
            && *want.actor == *get::<String>(row, "actor")?
            && *want.word == *get::<String>(row, "word")?
            && want.approval == get::<Option<Uuid>>(row, "approval_id")?;
        Ok((!same).then_some("the entry's columns do not say what the entry says: they were changed"))
    }

    fn bad(&mut self, seq: i64, what: &str) {
        self.result.first_bad.get_or_insert_with(|| Bad {
            seq,
            what: what.to_owned(),
        });
    }

    fn finish(mut self) -> Result<Verification, StoreError> {
        if let Some(head) = self.expected.filter(|_| !self.met) {
            self.bad(
                head.seq,
                "the noted head is not in the chain: the record was cut off or written anew",
            );
        }
        Ok(self.result)
    }
}

async fn count(db: &impl ConnectionTrait, tenant: Tenant, after: i64) -> Result<u64, StoreError> {
    let mut query = Query::of(
        tenant,
        "SELECT COUNT(*) AS n FROM journal WHERE organization_id = $1 AND workspace_id = $2",
    );
    query.push(" AND seq > {}", after);
    let row = sql::one(db, &query.sql, query.values)
        .await?
        .ok_or(StoreError::NotFound { what: "count" })?;
    Ok(u64::try_from(get::<i64>(&row, "n")?).unwrap_or_default())
}

/// Where the next step ends: so that it has a bounded number of links, and of entries among them.
async fn step_end(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    (after, end): (i64, i64),
) -> Result<i64, StoreError> {
    let mut until = end;
    for table in ["links", "journal"] {
        let mut query = Query::of(
            tenant,
            &format!("SELECT seq FROM {table} WHERE organization_id = $1 AND workspace_id = $2"),
        );
        query.push(" AND seq > {}", after);
        query.push(" ORDER BY seq LIMIT 1 OFFSET {}", STEP);
        if let Some(row) = sql::one(db, &query.sql, query.values).await? {
            until = until.min(get::<i64>(&row, "seq")?);
        }
    }
    Ok(until)
}

async fn read_links(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    (after, until): (i64, i64),
) -> Result<BTreeMap<i64, Made>, StoreError> {
    let mut query = Query::of(
        tenant,
        "SELECT seq, entry_hash, prev_hash, link_hash FROM links WHERE organization_id = $1 AND workspace_id = $2",
    );
    query.push(" AND seq > {}", after);
    query.push(" AND seq <= {}", until);
    let rows = sql::all(db, &query.sql, query.values).await?;
    rows.iter()
        .map(|row| {
            let made = Made {
                seq: get(row, "seq")?,
                entry: digest(row, "entry_hash")?,
                previous: digest(row, "prev_hash")?,
                link: digest(row, "link_hash")?,
            };
            Ok((made.seq, made))
        })
        .collect()
}

async fn read_entries(
    db: &impl ConnectionTrait,
    tenant: Tenant,
    (after, until): (i64, i64),
) -> Result<BTreeMap<i64, QueryResult>, StoreError> {
    let mut query = Query::of(
        tenant,
        "SELECT * FROM journal WHERE organization_id = $1 AND workspace_id = $2",
    );
    query.push(" AND seq > {}", after);
    query.push(" AND seq <= {}", until);
    let rows = sql::all(db, &query.sql, query.values).await?;
    rows.into_iter().map(|row| Ok((get(&row, "seq")?, row))).collect()
}
