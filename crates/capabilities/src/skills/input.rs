//! What an input says of a skill, held to the limits of a skill.

use std::collections::HashSet;
use std::sync::Arc;

use ::connections::preset;
use api::skills::AddSkill;
use domain::{MemberId, Skill, SkillId, SkillNeed};
use gateway::capability::{Context, Failure};

/// Reads a skill that is to be stored. Presets get the id they have today; a member must be of this workspace.
pub(super) async fn read(context: &Context, input: AddSkill) -> Result<Skill, Failure> {
    if !Skill::is_name(&input.slug) {
        let detail = "a slug has 1 to 64 of a-z, 0-9 and single hyphens in between";
        return Err(Failure::field("slug", detail));
    }
    let owner = match input.owner.map(MemberId::from_uuid) {
        Some(id) => Some(member(context, id).await?),
        None => None,
    };
    Ok(Skill {
        id: SkillId::generate(),
        title: title(input.title.as_deref().unwrap_or(&input.slug))?,
        slug: input.slug.into(),
        description: description(&input.description)?,
        body: instructions(input.instructions)?,
        requires: needs(input.requires)?,
        owner,
        archived: false,
        version: 1,
        created_at: context.now,
        updated_at: context.now,
    })
}

async fn member(context: &Context, id: MemberId) -> Result<MemberId, Failure> {
    let found = context.store().member(context.tenant(), id).await?;
    found
        .filter(|member| member.role().is_some())
        .map(|member| member.id)
        .ok_or_else(|| Failure::not_found("member").at("owner"))
}

pub(super) fn title(text: &str) -> Result<String, Failure> {
    short("title", text, Skill::MAX_TITLE)
}

pub(super) fn description(text: &str) -> Result<String, Failure> {
    short("description", text, Skill::MAX_DESCRIPTION)
}

pub(super) fn instructions(text: String) -> Result<String, Failure> {
    if text.trim().is_empty() || text.len() > Skill::MAX_BODY {
        let detail = format!("must hold text, of at most {} bytes", Skill::MAX_BODY);
        return Err(Failure::field("instructions", detail));
    }
    Ok(text)
}

fn short(field: &str, text: &str, most: usize) -> Result<String, Failure> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > most || text.chars().any(char::is_control) {
        let detail = format!("must be one line of at most {most} characters");
        return Err(Failure::field(field, detail));
    }
    Ok(text.to_owned())
}

fn needs(given: Vec<api::skills::SkillNeed>) -> Result<Vec<SkillNeed>, Failure> {
    if given.len() > Skill::MAX_NEEDS {
        let detail = format!("a skill needs at most {} servers", Skill::MAX_NEEDS);
        return Err(Failure::field("requires", detail));
    }
    given.into_iter().map(need).collect()
}

fn need(given: api::skills::SkillNeed) -> Result<SkillNeed, Failure> {
    let wrong = |detail: String| Failure::field("requires", detail);
    let known =
        preset::find(&given.preset).ok_or_else(|| wrong(format!("there is no preset {:?}", given.preset)))?;
    if let Some(variant) = &given.variant
        && known.variant(variant).is_none()
    {
        return Err(wrong(format!(
            "the preset {} has no variant {variant:?}",
            known.id
        )));
    }
    let mut seen = HashSet::new();
    let different = given
        .tools
        .iter()
        .all(|tool| !tool.is_empty() && seen.insert(tool.as_str()));
    if given.tools.is_empty() || given.tools.len() > Skill::MAX_TOOLS || !different {
        let most = Skill::MAX_TOOLS;
        return Err(wrong(format!(
            "of {} between 1 and {most} different tools must be named",
            known.id
        )));
    }
    Ok(SkillNeed {
        preset: known.id.as_str().into(),
        variant: given.variant.map(Arc::from),
        tools: given.tools.into_iter().map(Arc::from).collect(),
    })
}
