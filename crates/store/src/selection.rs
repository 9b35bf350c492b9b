//! What of a server's context was chosen, as one document: part of a connection's settings and of snapshots.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::{ContextSelection, Digest, SelectedPrompt, SelectedSkill, Selection};
use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::sql::{corrupt, parse};

const VERSION: u32 = 1;

/// The document. That everything is offered is the absence of one.
#[derive(Serialize, Deserialize)]
pub(crate) struct Document {
    v: u32,
    prompts: Vec<Prompt>,
    resources: Vec<Arc<str>>,
    skills: Vec<Skill>,
}

#[derive(Serialize, Deserialize)]
struct Prompt {
    name: Arc<str>,
    arguments: BTreeMap<Arc<str>, Arc<str>>,
}

#[derive(Serialize, Deserialize)]
struct Skill {
    uri: Arc<str>,
    manifest: String,
}

pub(crate) fn document(context: &ContextSelection) -> Option<Document> {
    let chosen = context.selection()?;
    let prompt = |prompt: &SelectedPrompt| Prompt {
        name: prompt.name.clone(),
        arguments: prompt.arguments.clone(),
    };
    let skill = |skill: &SelectedSkill| Skill {
        uri: skill.uri.clone(),
        manifest: skill.manifest.to_string(),
    };
    Some(Document {
        v: VERSION,
        prompts: chosen.prompts.iter().map(prompt).collect(),
        resources: chosen.resources.clone(),
        skills: chosen.skills.iter().map(skill).collect(),
    })
}

pub(crate) fn of(document: Option<Document>) -> Result<ContextSelection, StoreError> {
    let Some(document) = document else {
        return Ok(ContextSelection::All);
    };
    if document.v != VERSION {
        return Err(corrupt(
            "context",
            format!("it has version {}, this release reads {VERSION}", document.v),
        ));
    }
    let prompt = |prompt: Prompt| SelectedPrompt {
        name: prompt.name,
        arguments: prompt.arguments,
    };
    let skill = |skill: Skill| {
        Ok::<_, StoreError>(SelectedSkill {
            uri: skill.uri,
            manifest: parse::<Digest>("context", &skill.manifest)?,
        })
    };
    Ok(ContextSelection::Selected(Arc::new(Selection {
        prompts: document.prompts.into_iter().map(prompt).collect(),
        resources: document.resources,
        skills: document.skills.into_iter().map(skill).collect::<Result<_, _>>()?,
    })))
}

pub(crate) fn write(context: &ContextSelection) -> Result<Option<String>, StoreError> {
    document(context)
        .map(|document| serde_json::to_string(&document))
        .transpose()
        .map_err(|e| corrupt("context", e))
}

pub(crate) fn read(text: Option<&str>) -> Result<ContextSelection, StoreError> {
    of(text
        .map(serde_json::from_str)
        .transpose()
        .map_err(|e| corrupt("context", e))?)
}
