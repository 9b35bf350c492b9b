//! What a connection offers besides its tools: read from an input, held to what its server lists, and shown.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use ::connections::skill::Skill;
use api::context::{ConnectionContext, ContextMode, ServerCapabilities};
use domain::{Connection, ContextSelection, Digest, SelectedPrompt, SelectedSkill, Selection};
use gateway::capability::{Context, Failure};
use serde_json::Value;
use serde_json::value::RawValue;
use store::Catalogue;

/// Selections of one kind.
const MOST: usize = 50;
/// Arguments of one prompt.
const ARGUMENTS: usize = 32;
/// Bytes of one argument's value.
const ARGUMENT_BYTES: usize = 8 * 1024;

/// What an input chooses. Held to the catalogue where there is one; what was chosen before may stay although it is not listed now.
/// Before there is a catalogue nothing can be looked up, and nothing is offered that does not turn up in it.
pub(super) fn read(
    input: Option<ConnectionContext>,
    listed: Option<(&Catalogue, &ContextSelection)>,
) -> Result<ContextSelection, Failure> {
    let Some(input) = input else {
        return Ok(ContextSelection::All);
    };
    let chosen = input.prompts.len() + input.resources.len() + input.skills.len();
    match input.mode {
        Some(ContextMode::All) if chosen == 0 => return Ok(ContextSelection::All),
        Some(ContextMode::All) => {
            let detail =
                "mode all offers everything and cannot be combined with prompts, resources or skills";
            return Err(Failure::field("context", detail));
        }
        Some(ContextMode::Selected) | None => {}
    }
    let selection = selection(input)?;
    if let Some((catalogue, before)) = listed {
        let before = before.selection().cloned().unwrap_or_default();
        prompts_are_listed(&selection, catalogue, &before)?;
        resources_are_listed(&selection, catalogue, &before)?;
        skills_are_listed(&selection, catalogue, &before)?;
    }
    Ok(ContextSelection::Selected(Arc::new(selection)))
}

fn selection(input: ConnectionContext) -> Result<Selection, Failure> {
    let skill = |skill: api::context::SelectedSkill| {
        let manifest = skill
            .manifest_digest
            .parse::<Digest>()
            .map_err(|_| Failure::field("context.skills", "a manifest_digest has 64 hexadecimal digits"))?;
        Ok::<_, Failure>(SelectedSkill {
            uri: skill.uri.into(),
            manifest,
        })
    };
    let selection = Selection {
        prompts: input.prompts.into_iter().map(prompt).collect::<Result<_, _>>()?,
        resources: input.resources.into_iter().map(Into::into).collect(),
        skills: input.skills.into_iter().map(skill).collect::<Result<_, _>>()?,
    };
    different("context.prompts", selection.prompts.iter().map(|p| &*p.name))?;
    different("context.resources", selection.resources.iter().map(|uri| &**uri))?;
    different("context.skills", selection.skills.iter().map(|s| &*s.uri))?;
    Ok(selection)
}

fn prompt(prompt: api::context::SelectedPrompt) -> Result<SelectedPrompt, Failure> {
    let long = prompt
        .arguments
        .values()
        .any(|value| value.len() > ARGUMENT_BYTES);
    if prompt.arguments.len() > ARGUMENTS || long {
        let detail =
            format!("a prompt has at most {ARGUMENTS} arguments of at most {ARGUMENT_BYTES} bytes each");
        return Err(Failure::field("context.prompts", detail));
    }
    let arguments = prompt.arguments.into_iter();
    Ok(SelectedPrompt {
        name: prompt.name.into(),
        arguments: arguments
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
    })
}

fn different<'a>(field: &str, names: impl Iterator<Item = &'a str>) -> Result<(), Failure> {
    let names: Vec<&str> = names.collect();
    let mut seen = HashSet::new();
    if names.len() > MOST || names.iter().any(|name| name.is_empty() || !seen.insert(*name)) {
        return Err(Failure::field(
            field,
            format!("must be at most {MOST} different ones, none of them empty"),
        ));
    }
    Ok(())
}

fn unlisted(field: &str, what: &str) -> Failure {
    let detail =
        format!("the server does not list {what:?}; browse the catalogue, or refresh the connection");
    Failure::field(field, detail)
}

fn prompts_are_listed(chosen: &Selection, catalogue: &Catalogue, before: &Selection) -> Result<(), Failure> {
    const FIELD: &str = "context.prompts";
    for prompt in chosen
        .prompts
        .iter()
        .filter(|prompt| !before.prompts.contains(prompt))
    {
        let listed =
            find(&catalogue.prompts, "name", &prompt.name).ok_or_else(|| unlisted(FIELD, &prompt.name))?;
        let declared = listed
            .get("arguments")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let named = |argument: &Value| argument.get("name").and_then(Value::as_str).map(str::to_owned);
        let names: BTreeSet<String> = declared.iter().filter_map(named).collect();
        if let Some(other) = prompt.arguments.keys().find(|name| !names.contains(&***name)) {
            let detail = format!("the prompt {:?} has no argument {other:?}", prompt.name);
            return Err(Failure::field(FIELD, detail));
        }
        let required = |argument: &&Value| argument.get("required").and_then(Value::as_bool) == Some(true);
        let mut required = declared.iter().filter(required).filter_map(named);
        if let Some(missing) = required.find(|name| !prompt.arguments.contains_key(&**name)) {
            let detail = format!("the prompt {:?} needs its argument {missing:?}", prompt.name);
            return Err(Failure::field(FIELD, detail));
        }
    }
    Ok(())
}

fn resources_are_listed(
    chosen: &Selection,
    catalogue: &Catalogue,
    before: &Selection,
) -> Result<(), Failure> {
    let new = chosen
        .resources
        .iter()
        .filter(|uri| !before.resources.contains(uri));
    for uri in new {
        find(&catalogue.resources, "uri", uri).ok_or_else(|| unlisted("context.resources", uri))?;
    }
    Ok(())
}

fn skills_are_listed(chosen: &Selection, catalogue: &Catalogue, before: &Selection) -> Result<(), Failure> {
    const FIELD: &str = "context.skills";
    for wanted in chosen
        .skills
        .iter()
        .filter(|skill| !before.skills.contains(skill))
    {
        let read = catalogue
            .skills
            .iter()
            .filter_map(|raw| Skill::read(raw.clone()).ok());
        let skill = read.into_iter().find(|skill| skill.uri == wanted.uri);
        let skill = skill.ok_or_else(|| unlisted(FIELD, &wanted.uri))?;
        if let Some(why) = &skill.unsupported {
            return Err(Failure::field(
                FIELD,
                format!("the skill {:?} is not loaded: {why}", wanted.uri),
            ));
        }
        if skill.manifest != wanted.manifest {
            let detail = format!(
                "the manifest of {:?} is another by now; look at the skill again",
                wanted.uri
            );
            return Err(Failure::field(FIELD, detail));
        }
    }
    Ok(())
}

fn find(items: &[Arc<RawValue>], key: &str, wanted: &str) -> Option<Value> {
    let read = items
        .iter()
        .filter_map(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    read.into_iter()
        .find(|item| item.get(key).and_then(Value::as_str) == Some(wanted))
}

/// What was chosen, as it is shown.
pub(super) fn shown(context: &ContextSelection) -> ConnectionContext {
    let Some(chosen) = context.selection() else {
        return ConnectionContext {
            mode: Some(ContextMode::All),
            ..ConnectionContext::default()
        };
    };
    let prompt = |prompt: &SelectedPrompt| api::context::SelectedPrompt {
        name: prompt.name.to_string(),
        arguments: prompt
            .arguments
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect(),
    };
    let skill = |skill: &SelectedSkill| api::context::SelectedSkill {
        uri: skill.uri.to_string(),
        manifest_digest: skill.manifest.to_string(),
    };
    ConnectionContext {
        mode: Some(ContextMode::Selected),
        prompts: chosen.prompts.iter().map(prompt).collect(),
        resources: chosen.resources.iter().map(ToString::to_string).collect(),
        skills: chosen.skills.iter().map(skill).collect(),
    }
}

/// What its server was last seen to have: what it declares, or lists all the same.
pub(super) fn capabilities(context: &Context, connection: &Connection) -> ServerCapabilities {
    let workspace = context.gateway.workspace(context.tenant()).ok();
    let Some(found) = workspace
        .as_ref()
        .and_then(|workspace| workspace.catalogue(connection.id))
    else {
        return ServerCapabilities::default();
    };
    let declared: Value = found
        .capabilities
        .as_ref()
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    let on =
        |value: Option<&Value>| value.is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)));
    let extension = declared
        .get("extensions")
        .and_then(|all| all.get("io.modelcontextprotocol/skills"));
    ServerCapabilities {
        tools: on(declared.get("tools")) || !found.tools.is_empty(),
        prompts: on(declared.get("prompts")) || !found.prompts.is_empty(),
        resources: on(declared.get("resources"))
            || !found.resources.is_empty()
            || !found.templates.is_empty(),
        skills: on(extension) || !found.skills.is_empty(),
    }
}
