//! The lists a view shows: made when someone first asks.

use std::collections::HashSet;
use std::sync::Arc;

use connections::definition::rename;
use domain::{ConnectionId, ContextAccess};
use policy::names::{self, NameLimits};
use serde::Deserialize;
use serde_json::value::RawValue;
use store::Catalogue;

use super::skills::{offered, serve};
use super::{Catalogued, OfferedSkill, View};
use crate::facts::KnownTool;

/// Rendered lists.
pub(super) struct Lists {
    pub(super) tools: Vec<Box<RawValue>>,
    pub(super) prompts: Vec<Catalogued>,
    pub(super) resources: Vec<Catalogued>,
    pub(super) templates: Vec<Catalogued>,
    pub(super) skills: Vec<OfferedSkill>,
}

impl View {
    /// The prompts that are there.
    #[must_use]
    pub fn prompts(&self) -> &[Catalogued] {
        &self.lists().prompts
    }

    /// The resources that are there. Of two connections that list the same URI the older one has it.
    #[must_use]
    pub fn resources(&self) -> &[Catalogued] {
        &self.lists().resources
    }

    /// The resource templates that are there.
    #[must_use]
    pub fn templates(&self) -> &[Catalogued] {
        &self.lists().templates
    }

    /// What the servers behind this view say about using them, each under its label.
    #[must_use]
    pub fn instructions(&self) -> Option<String> {
        let said: Vec<(&str, &str)> = self
            .shown()
            .filter_map(|(id, catalogue)| {
                let label = self.workspace.connection(id)?.label.as_str();
                catalogue.instructions.as_deref().map(|text| (label, text))
            })
            .collect();
        match (self.connection, said.as_slice()) {
            (_, []) => None,
            (Some(_), [(_, text)]) => Some((*text).to_owned()),
            (_, all) => Some(
                all.iter()
                    .map(|(label, text)| format!("## {label}\n\n{text}"))
                    .collect::<Vec<_>>()
                    .join("\n\n"),
            ),
        }
    }

    /// Connections this view shows anything of, with their catalogues, in order of id (so: of age).
    pub(crate) fn shown(&self) -> impl Iterator<Item = (ConnectionId, &Arc<Catalogue>)> {
        let snapshot = self.snapshot();
        let mut ids: Vec<ConnectionId> = snapshot
            .tools
            .iter()
            .filter_map(|t| t.tool.connection())
            .collect();
        ids.extend(
            snapshot
                .contexts
                .iter()
                .filter(|c| c.prompts || c.resources || c.skills)
                .map(|c| c.connection),
        );
        ids.sort_unstable();
        ids.dedup();
        ids.into_iter()
            .filter_map(|id| self.workspace.catalogue(id).map(|catalogue| (id, catalogue)))
    }

    pub(super) fn lists(&self) -> &Lists {
        self.lists.get_or_init(|| self.render())
    }

    fn render(&self) -> Lists {
        let snapshot = self.snapshot();
        let tools = snapshot
            .tools
            .iter()
            .filter_map(|tool| {
                let definition = match self.known(tool)? {
                    KnownTool::Capability { definition, .. } => definition,
                    KnownTool::Imported(imported) => &imported.definition,
                };
                rename(definition, &tool.exposed)
            })
            .collect();
        let mut lists = Lists {
            tools,
            prompts: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            skills: Vec::new(),
        };
        let mut taken = HashSet::new();
        for (id, catalogue) in self.shown() {
            let Some(access) = snapshot.context(id) else {
                continue;
            };
            if access.prompts {
                lists.prompts.extend(
                    catalogue
                        .prompts
                        .iter()
                        .filter_map(|raw| self.prompt(access, raw, &mut taken)),
                );
            }
            if access.resources {
                let fresh =
                    |item: &Catalogued, taken: &mut HashSet<Arc<str>>| taken.insert(item.exposed.clone());
                let resources = catalogue
                    .resources
                    .iter()
                    .filter_map(|raw| item(id, raw, |i| i.uri));
                let resources = resources.filter(|i| access.reads_resource(&i.name));
                lists.resources.extend(resources.filter(|i| fresh(i, &mut taken)));
                let templates = catalogue
                    .templates
                    .iter()
                    .filter(|_| access.offered.selection().is_none())
                    .filter_map(|raw| item(id, raw, |i| i.uri_template));
                lists.templates.extend(templates.filter(|i| fresh(i, &mut taken)));
            }
            if let (true, Some(connection)) = (access.skills, self.workspace.connection(id)) {
                lists.skills.extend(offered(connection, access, catalogue));
            }
        }
        serve(&mut lists.skills, &lists.resources);
        lists
    }

    fn prompt(
        &self,
        access: &ContextAccess,
        raw: &Arc<RawValue>,
        taken: &mut HashSet<Arc<str>>,
    ) -> Option<Catalogued> {
        let id = access.connection;
        let mut prompt = item(id, raw, |i| i.name).filter(|prompt| access.reads_prompt(&prompt.name))?;
        if self.connection.is_none() {
            let namespace = &self.workspace.connection(id)?.namespace;
            prompt.exposed = names::expose(Some(namespace), &prompt.name, id, NameLimits::default());
            prompt.definition = Arc::from(rename(raw, &prompt.exposed)?);
        }
        taken.insert(prompt.exposed.clone()).then_some(prompt)
    }
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    name: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    uri: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow, rename = "uriTemplate")]
    uri_template: Option<std::borrow::Cow<'a, str>>,
}

fn item<'a>(
    connection: ConnectionId,
    raw: &'a Arc<RawValue>,
    key: impl FnOnce(Named<'a>) -> Option<std::borrow::Cow<'a, str>>,
) -> Option<Catalogued> {
    let named: Named<'a> = serde_json::from_str(raw.get()).ok()?;
    let name: Arc<str> = Arc::from(key(named)?.as_ref());
    Some(Catalogued {
        connection,
        exposed: name.clone(),
        name,
        definition: raw.clone(),
    })
}
