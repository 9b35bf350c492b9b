//! Installs skills that were written elsewhere, as the examples of this repository.

use std::collections::HashSet;

use api::skills::{InstallSkills, InstalledSkill, InstalledSkills};
use api::words::{Readiness, SkillOutcome};
use gateway::capability::{Capability, Context, Declaration, Failure};

use super::readiness::Servers;
use super::{ADD, input, readiness};
use crate::find;

const INSTALL: Declaration = Declaration {
    id: "skills.install",
    title: "Install skills",
    description: "Installs skills that were written elsewhere; dry_run only says what would be done. Servers are found by preset and \
                  variant. One whose server is missing, disabled, untrusted, failed or lacks a tool is left out, and only that one. \
                  A slug that was ever used stays as it is. No sign-in, test, list of offered tools or grant is touched.",
    path: "/skills/install",
    success: 200,
    idempotent: true,
    ..ADD
};

pub(super) fn capability() -> Capability {
    Capability::new(INSTALL, install)
}

async fn install(context: Context, input: InstallSkills) -> Result<InstalledSkills, Failure> {
    let mut slugs = HashSet::new();
    if let Some(twice) = input
        .skills
        .iter()
        .find(|skill| !slugs.insert(skill.slug.clone()))
    {
        let detail = format!("the slug {:?} is given twice", twice.slug);
        return Err(Failure::field("skills", detail));
    }
    let servers = Servers::of(&context).await?;
    let (mut told, mut free) = (Vec::new(), Vec::new());
    for given in input.skills {
        let skill = input::read(&context, given).await?;
        let dependencies = servers.judge(&skill.requires);
        let readiness = readiness::of_all(&dependencies);
        let there = context
            .store()
            .skill_by_slug(context.tenant(), &skill.slug)
            .await?;
        let outcome = match (there, readiness) {
            (Some(_), _) => SkillOutcome::Exists,
            (None, Readiness::Blocked) => SkillOutcome::Blocked,
            (None, Readiness::Ready | Readiness::NeedsAttention) => SkillOutcome::WouldInstall,
        };
        told.push(InstalledSkill {
            slug: skill.slug.to_string(),
            outcome,
            readiness,
            dependencies,
        });
        if outcome == SkillOutcome::WouldInstall {
            free.push(skill);
        }
    }
    if !input.dry_run && !free.is_empty() {
        let change = find::change(&context, INSTALL.id);
        let stored = context
            .store()
            .install_skills(context.tenant(), &change, free)
            .await?;
        for one in told
            .iter_mut()
            .filter(|one| one.outcome == SkillOutcome::WouldInstall)
        {
            // Somebody else may have taken the slug since it was looked for.
            let done = stored.iter().any(|skill| *skill.slug == *one.slug);
            one.outcome = match done {
                true => SkillOutcome::Installed,
                false => SkillOutcome::Exists,
            };
        }
    }
    Ok(InstalledSkills { skills: told })
}
