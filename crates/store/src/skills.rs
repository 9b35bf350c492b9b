//! Skills of a workspace. What an agent may do does not depend on them: no change here moves the policy.

use std::sync::Arc;

use domain::{ChangeKind, MemberId, Page, PageRequest, Skill, SkillId, SkillNeed, Tenant};
use sea_orm::{ConnectionTrait, QueryResult};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::core::{Policy, Writing};
use crate::sql::{self, Query, corrupt, get, values};
use crate::{Change, Store, StoreError, paging};

const SELECT: &str = "SELECT * FROM skills WHERE organization_id = $1 AND workspace_id = $2";

impl Store {
    /// Stores those of these skills whose slug is free, in order, all or nothing; the version of each becomes 1. What is there already,
    /// edited and archived ones included, stays as it is. The answer holds what was stored.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn install_skills(
        &self,
        tenant: Tenant,
        change: &Change,
        skills: Vec<Skill>,
    ) -> Result<Vec<Skill>, StoreError> {
        let writing = self.core().writing().await?;
        let mut stored = Vec::new();
        let mut facts = Vec::new();
        for mut skill in skills {
            let seq = writing.next_seq(tenant).await?;
            if by_slug(writing.db(), tenant, &skill.slug).await?.is_some() {
                continue;
            }
            skill.version = 1;
            insert(&writing, tenant, &skill, seq).await?;
            facts.push((ChangeKind::Created, object(skill.id)));
            stored.push(skill);
        }
        writing.finish(tenant, change, facts, Policy::Stays).await?;
        Ok(stored)
    }

    /// A page of skills, in the order they were installed.
    ///
    /// # Errors
    /// `BadCursor`, or when the database fails.
    pub async fn list_skills(&self, tenant: Tenant, page: &PageRequest) -> Result<Page<Skill>, StoreError> {
        let mut query = Query::of(tenant, SELECT);
        if let Some(place) = paging::begin("skills", 1, page)?.and_then(|place| place.first().copied()) {
            query.push(" AND seq > {}", place);
        }
        query.push(" ORDER BY seq LIMIT {}", paging::limit(page));
        let rows = sql::all(&self.core().db.read, &query.sql, query.values).await?;
        let rows = rows
            .iter()
            .map(|row| Ok((vec![get(row, "seq")?], read(row)?)))
            .collect::<Result<_, StoreError>>()?;
        Ok(paging::end("skills", page, rows))
    }

    /// The skill with this slug, archived or not.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn skill_by_slug(&self, tenant: Tenant, slug: &str) -> Result<Option<Skill>, StoreError> {
        by_slug(&self.core().db.read, tenant, slug).await
    }

    /// The skill with this id.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn skill(&self, tenant: Tenant, id: SkillId) -> Result<Option<Skill>, StoreError> {
        find(&self.core().db.read, tenant, id).await
    }

    /// Replaces title, description, instructions and whether it is archived. `skill.version` is the version the caller saw; the answer
    /// carries the next one.
    ///
    /// # Errors
    /// `NotFound` or `Version`.
    pub async fn update_skill(
        &self,
        tenant: Tenant,
        change: &Change,
        skill: Skill,
    ) -> Result<Skill, StoreError> {
        let writing = self.core().writing().await?;
        writing.next_seq(tenant).await?;
        let mut now = find(writing.db(), tenant, skill.id).await?.ok_or(NOT_FOUND)?;
        if now.version != skill.version {
            return Err(StoreError::Version {
                what: "skill",
                expected: skill.version,
                current: now.version,
            });
        }
        now.version += 1;
        now.title = skill.title;
        now.description = skill.description;
        now.body = skill.body;
        now.archived = skill.archived;
        now.updated_at = self.now();
        let (organization, workspace) = sql::of(tenant);
        sql::run(
            writing.db(),
            "UPDATE skills SET description = $4, body = $5, archived = $6, version = $7, updated_at = $8, title = $9
             WHERE organization_id = $1 AND workspace_id = $2 AND skill_id = $3",
            values![
                organization,
                workspace,
                now.id.uuid(),
                now.description.as_str(),
                now.body.as_str(),
                now.archived,
                i64::from(now.version),
                now.updated_at.micros(),
                now.title.as_str()
            ],
        )
        .await?;
        let facts = vec![(ChangeKind::Updated, object(now.id))];
        writing.finish(tenant, change, facts, Policy::Stays).await?;
        Ok(now)
    }
}

const NOT_FOUND: StoreError = StoreError::NotFound { what: "skill" };

fn object(id: SkillId) -> String {
    format!("skill:{id}")
}

/// What a skill needs of one server, as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredNeed {
    preset: Arc<str>,
    variant: Option<Arc<str>>,
    tools: Vec<Arc<str>>,
}

async fn insert(writing: &Writing<'_>, tenant: Tenant, skill: &Skill, seq: i64) -> Result<(), StoreError> {
    let (organization, workspace) = sql::of(tenant);
    let needs = skill.requires.iter().cloned().map(|need| StoredNeed {
        preset: need.preset,
        variant: need.variant,
        tools: need.tools,
    });
    let requires = serde_json::to_string(&needs.collect::<Vec<_>>()).map_err(|e| corrupt("skill", e))?;
    sql::run(
        writing.db(),
        "INSERT INTO skills (organization_id, workspace_id, skill_id, seq, slug, title, description, body, requires, owner_id,
         archived, version, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 1, $12, $13)",
        values![
            organization,
            workspace,
            skill.id.uuid(),
            seq,
            skill.slug.to_string(),
            skill.title.as_str(),
            skill.description.as_str(),
            skill.body.as_str(),
            requires,
            skill.owner.map(MemberId::uuid),
            skill.archived,
            skill.created_at.micros(),
            skill.updated_at.micros()
        ],
    )
    .await?;
    Ok(())
}

async fn by_slug(db: &impl ConnectionTrait, tenant: Tenant, slug: &str) -> Result<Option<Skill>, StoreError> {
    let mut query = Query::of(tenant, SELECT);
    query.push(" AND slug = {}", slug);
    sql::one(db, &query.sql, query.values)
        .await?
        .as_ref()
        .map(read)
        .transpose()
}

async fn find(db: &impl ConnectionTrait, tenant: Tenant, id: SkillId) -> Result<Option<Skill>, StoreError> {
    let mut query = Query::of(tenant, SELECT);
    query.push(" AND skill_id = {}", id.uuid());
    sql::one(db, &query.sql, query.values)
        .await?
        .as_ref()
        .map(read)
        .transpose()
}

fn read(row: &QueryResult) -> Result<Skill, StoreError> {
    let needs: Vec<StoredNeed> =
        serde_json::from_str(&get::<String>(row, "requires")?).map_err(|e| corrupt("skill", e))?;
    let needs = needs.into_iter().map(|need| SkillNeed {
        preset: need.preset,
        variant: need.variant,
        tools: need.tools,
    });
    Ok(Skill {
        id: SkillId::from_uuid(get(row, "skill_id")?),
        slug: get::<String>(row, "slug")?.into(),
        title: get(row, "title")?,
        description: get(row, "description")?,
        body: get(row, "body")?,
        requires: needs.collect(),
        owner: get::<Option<Uuid>>(row, "owner_id")?.map(MemberId::from_uuid),
        archived: get(row, "archived")?,
        version: sql::count(row, "version")?,
        created_at: sql::time(row, "created_at")?,
        updated_at: sql::time(row, "updated_at")?,
    })
}
