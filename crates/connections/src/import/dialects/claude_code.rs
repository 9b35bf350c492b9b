//! Claude Code's own file: a user scope at the root, a local scope per project, switches for the servers of project files.

use serde_json::{Map, Value};

use crate::import::compose::Composer;
use crate::import::dialect::Dialect;
use crate::import::draft::Drafts;
use crate::import::fields::Fields;
use crate::import::manner;
use crate::import::model::ProjectServers;
use crate::import::notice::{Path, printable};
use crate::import::servers;

pub(super) fn read_user(root: &Map<String, Value>, drafts: &mut Drafts) {
    scope("user", root, &Path::default(), drafts);
    let projects = root.get("projects").and_then(Value::as_object);
    for (project, settings) in projects.into_iter().flatten() {
        let Some(settings) = settings.as_object() else {
            continue;
        };
        let path = Path::default().child("projects").child(project);
        scope(
            &format!("local:{}", printable(project, 1024)),
            settings,
            &path,
            drafts,
        );
        switches(project, settings, &path, drafts);
    }
    shadowed(drafts);
    servers::other_keys(root, &["mcpServers", "projects"], drafts);
}

fn scope(name: &str, holder: &Map<String, Value>, path: &Path, drafts: &mut Drafts) {
    let Some(servers) = holder.get("mcpServers").filter(|value| !value.is_null()) else {
        return;
    };
    let manner = manner::of(Dialect::ClaudeCodeUser);
    let composer = Composer {
        syntax: manner.syntax,
        keyring: &[],
    };
    servers::each(servers, &path.child("mcpServers"), drafts, |map, draft| {
        draft.scope = Some(name.to_owned());
        servers::read_map(map, &manner, composer, draft);
    });
    // Entries that are no objects have a scope, too.
    for draft in drafts.entries.iter_mut().filter(|draft| draft.scope.is_none()) {
        draft.scope = Some(name.to_owned());
    }
}

/// Servers of a project's `.mcp.json` are approved or switched off by name.
fn switches(project: &str, settings: &Map<String, Value>, path: &Path, drafts: &mut Drafts) {
    let mut fields = Fields::new(settings, &[], path.clone());
    let mut list = |key| fields.texts(key, &mut drafts.report).unwrap_or_default();
    let approved = list("enabledMcpjsonServers");
    let switched_off = list("disabledMcpjsonServers");
    if approved.is_empty() && switched_off.is_empty() {
        return;
    }
    let text = format!(
        "of the project file's servers {} are approved, {} switched off; apply this when you import that project's .mcp.json",
        names(&approved),
        names(&switched_off),
    );
    drafts.report.add("project.switches", path, text);
    drafts.project_servers.push(ProjectServers {
        project: printable(project, 1024),
        approved,
        switched_off,
    });
}

fn names(list: &[String]) -> String {
    if list.is_empty() {
        "none".to_owned()
    } else {
        list.join(", ")
    }
}

/// Local wins over project wins over user.
fn shadowed(drafts: &mut Drafts) {
    let local: Vec<(String, String)> = drafts
        .entries
        .iter()
        .filter_map(|draft| {
            let project = draft.scope.as_deref()?.strip_prefix("local:")?;
            Some((draft.name.clone(), project.to_owned()))
        })
        .collect();
    for draft in drafts
        .entries
        .iter_mut()
        .filter(|draft| draft.scope.as_deref() == Some("user"))
    {
        let projects: Vec<&str> = local
            .iter()
            .filter(|(name, _)| *name == draft.name)
            .map(|(_, project)| project.as_str())
            .collect();
        if !projects.is_empty() {
            let text = format!(
                "local wins over project wins over user: in {} the local entry of this name is used instead",
                projects.join(", "),
            );
            draft.note("precedence.shadowed", text);
        }
    }
}
