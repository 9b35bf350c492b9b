//! Skills of a workspace: what is stored comes back, slugs are used once, versions are kept.

use std::sync::Arc;

use domain::{MemberId, PageRequest, Skill, SkillId, SkillNeed};
use store::StoreError;

use crate::harness::{Bench, START, both, change};

both!(
    skills_round_trip,
    a_slug_is_used_once,
    updates_name_the_version_they_saw
);

fn skill(slug: &str) -> Skill {
    let need = |preset: &str, variant: Option<&str>, tools: &[&str]| SkillNeed {
        preset: preset.into(),
        variant: variant.map(Into::into),
        tools: tools.iter().map(|&tool| tool.into()).collect(),
    };
    Skill {
        id: SkillId::generate(),
        slug: slug.into(),
        title: "A title".to_owned(),
        description: "When to use it".to_owned(),
        body: "# Do\n\n1. This.".to_owned(),
        requires: vec![
            need("github", None, &["issue_read"]),
            need(
                "google-workspace",
                Some("gmail"),
                &["search_threads", "get_thread"],
            ),
        ],
        owner: Some(MemberId::generate()),
        archived: false,
        version: 1,
        created_at: START,
        updated_at: START,
    }
}

async fn skills_round_trip(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let plain = Skill {
        requires: Vec::new(),
        owner: None,
        ..skill("plain")
    };
    let wanted = vec![skill("triage"), plain];
    let stored = store
        .install_skills(tenant, &change(), wanted.clone())
        .await
        .unwrap();
    assert_eq!(stored, wanted);
    let page = PageRequest {
        cursor: None,
        limit: 10,
    };
    assert_eq!(store.list_skills(tenant, &page).await.unwrap().items, wanted);
    for skill in &wanted {
        let by_slug = store.skill_by_slug(tenant, &skill.slug).await.unwrap();
        assert_eq!(by_slug.as_ref(), Some(skill));
        assert_eq!(store.skill(tenant, skill.id).await.unwrap().as_ref(), Some(skill));
    }
    store.close().await;
}

// V153
async fn a_slug_is_used_once(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let first = store
        .install_skills(tenant, &change(), vec![skill("triage")])
        .await
        .unwrap();
    let archived = Skill {
        body: "Edited.".to_owned(),
        archived: true,
        ..first[0].clone()
    };
    let archived = store.update_skill(tenant, &change(), archived).await.unwrap();
    let second = vec![skill("triage"), skill("brief")];
    let stored = store.install_skills(tenant, &change(), second).await.unwrap();
    assert_eq!(
        stored.iter().map(|skill| &*skill.slug).collect::<Vec<_>>(),
        ["brief"]
    );
    assert_eq!(
        store.skill_by_slug(tenant, "triage").await.unwrap(),
        Some(archived)
    );
    store.close().await;
}

async fn updates_name_the_version_they_saw(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let stored = store
        .install_skills(tenant, &change(), vec![skill("triage")])
        .await
        .unwrap();
    let mut changed = stored[0].clone();
    changed.title = "Another".to_owned();
    let changed = store.update_skill(tenant, &change(), changed).await.unwrap();
    assert_eq!((changed.version, &*changed.title), (2, "Another"));
    let late = store.update_skill(tenant, &change(), stored[0].clone()).await;
    assert!(
        matches!(
            late,
            Err(StoreError::Version {
                what: "skill",
                expected: 1,
                current: 2
            })
        ),
        "{late:?}"
    );
    store.close().await;
}
