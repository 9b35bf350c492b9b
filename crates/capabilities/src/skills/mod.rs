//! Skills of the workspace. They hold text; what an agent may do does not depend on them.

mod input;
mod install;
mod readiness;

use api::skills::{AddSkill, ArchiveSkill, Skill, SkillQuery, UpdateSkill};
use api::words::Readiness;
use api::{Page, PageQuery};
use domain::{Effect, Risk, Surface};
use gateway::FailureKind;
use gateway::capability::{Action, Capability, Context, Declaration, Failure, Method};

use self::readiness::Servers;
use crate::{convert, find, paging};

const LIST: Declaration = Declaration {
    id: "skills.list",
    title: "List skills",
    description: "Lists the skills of the workspace with whether each can be used now: ready, needs_attention or blocked, and why.",
    method: Method::Get,
    path: "/skills",
    success: 200,
    paged: true,
    idempotent: false,
    risk: Risk::Low,
    effect: Effect::ReadOnly,
    surfaces: &[Surface::Api, Surface::Mcp, Surface::Cli],
    action: Action::Read,
    command: None,
};

const SHOW: Declaration = Declaration {
    id: "skills.show",
    title: "Show a skill",
    description: "Shows a skill with its instructions, and how the servers it needs stand.",
    path: "/skills/{skill}",
    paged: false,
    ..LIST
};

const ADD: Declaration = Declaration {
    id: "skills.add",
    title: "Write a skill",
    description: "Writes a skill. Every server it needs must be there, enabled and trusted, and list and offer the tools. A slug that \
                  was ever used is refused. Nothing else is changed: no sign-in, test, list of offered tools or grant.",
    method: Method::Post,
    path: "/skills",
    success: 201,
    paged: false,
    idempotent: true,
    risk: Risk::Medium,
    effect: Effect::Mutating,
    action: Action::Administer,
    ..LIST
};

const UPDATE: Declaration = Declaration {
    id: "skills.update",
    title: "Change a skill",
    description: "Changes a skill's title, description or instructions. Its slug and what it needs stay.",
    method: Method::Patch,
    path: "/skills/{skill}",
    success: 200,
    idempotent: false,
    ..ADD
};

const ARCHIVE: Declaration = Declaration {
    id: "skills.archive",
    title: "Archive a skill",
    description: "Puts a skill away, or takes it out again. It is kept with its slug.",
    method: Method::Post,
    path: "/skills/{skill}/archive",
    ..UPDATE
};

pub(crate) fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new(LIST, list),
        Capability::new(SHOW, show),
        Capability::new(ADD, add),
        Capability::new(UPDATE, update),
        Capability::new(ARCHIVE, archive),
        install::capability(),
    ]
}

async fn list(context: Context, query: PageQuery) -> Result<Page<Skill>, Failure> {
    let servers = Servers::of(&context).await?;
    let page = context
        .store()
        .list_skills(context.tenant(), &paging::request(query.cursor, query.limit))
        .await?;
    Ok(paging::page(page, |skill| Skill {
        instructions: None,
        ..shown(&servers, skill)
    }))
}

async fn show(context: Context, query: SkillQuery) -> Result<Skill, Failure> {
    let skill = named(&context, &query.skill).await?;
    Ok(shown(&Servers::of(&context).await?, skill))
}

async fn add(context: Context, input: AddSkill) -> Result<Skill, Failure> {
    let skill = input::read(&context, input).await?;
    let servers = Servers::of(&context).await?;
    let slug = skill.slug.clone();
    if readiness::of_all(&servers.judge(&skill.requires)) == Readiness::Blocked {
        let detail = "a server it needs is not there or not open for it; skills.install with dry_run says what is wrong";
        return Err(Failure::new(FailureKind::Conflict, "skill.blocked", detail).at("requires"));
    }
    let change = find::change(&context, ADD.id);
    let stored = context
        .store()
        .install_skills(context.tenant(), &change, vec![skill])
        .await?;
    let stored = stored.into_iter().next().ok_or_else(|| {
        let detail = format!("there is, or was, a skill {slug:?}; choose another slug");
        Failure::new(FailureKind::Conflict, "skill.slug_taken", detail).at("slug")
    })?;
    Ok(shown(&servers, stored))
}

async fn update(context: Context, input: UpdateSkill) -> Result<Skill, Failure> {
    let mut skill = named(&context, &input.skill).await?;
    skill.version = input.expected_version;
    if let Some(title) = input.title {
        skill.title = input::title(&title)?;
    }
    if let Some(description) = input.description {
        skill.description = input::description(&description)?;
    }
    if let Some(instructions) = input.instructions {
        skill.body = input::instructions(instructions)?;
    }
    store(&context, UPDATE.id, skill).await
}

async fn archive(context: Context, input: ArchiveSkill) -> Result<Skill, Failure> {
    let mut skill = named(&context, &input.skill).await?;
    skill.version = input.expected_version;
    skill.archived = input.archived.unwrap_or(true);
    store(&context, ARCHIVE.id, skill).await
}

async fn store(context: &Context, action: &str, skill: domain::Skill) -> Result<Skill, Failure> {
    let change = find::change(context, action);
    let stored = context
        .store()
        .update_skill(context.tenant(), &change, skill)
        .await?;
    Ok(shown(&Servers::of(context).await?, stored))
}

/// The skill a person means: by slug, or by id.
async fn named(context: &Context, named: &str) -> Result<domain::Skill, Failure> {
    let (store, tenant) = (context.store(), context.tenant());
    let found = match store.skill_by_slug(tenant, named).await? {
        Some(skill) => Some(skill),
        None => match named.parse() {
            Ok(id) => store.skill(tenant, id).await?,
            Err(_) => None,
        },
    };
    found.ok_or_else(|| Failure::not_found("skill").at("skill"))
}

fn shown(servers: &Servers, skill: domain::Skill) -> Skill {
    let dependencies = servers.judge(&skill.requires);
    Skill {
        id: skill.id.uuid(),
        slug: skill.slug.to_string(),
        title: skill.title,
        description: skill.description,
        instructions: Some(skill.body),
        owner_id: skill.owner.map(domain::MemberId::uuid),
        archived: skill.archived,
        readiness: readiness::of_all(&dependencies),
        dependencies,
        version: skill.version,
        created_at: convert::time(skill.created_at),
        updated_at: convert::time(skill.updated_at),
    }
}
