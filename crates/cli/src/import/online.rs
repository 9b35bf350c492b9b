//! The import through a running server's API: remote entries only, for no API takes a command.

use anyhow::Context as _;
use api::connections::{AddConnection, AuthInput, HeaderInput};
use connections::import::Import;
use gateway::Registry;
use serde_json::{Map, Value, json};

use super::names::Names;
use super::plan::{Becomes, World, plan};
use super::remote::RemoteDraft;
use super::report::{Report, Way};
use crate::args::{ImportArgs, ServerArgs};
use crate::client::Server;
use crate::output;

pub(super) async fn import(
    args: &ImportArgs,
    url: &str,
    import: Import,
    registry: &Registry,
) -> anyhow::Result<Report> {
    let server = Server::of(&ServerArgs {
        server: url.to_owned(),
        key_file: args.key_file.clone(),
    })?;
    let names = known(&server, registry).await?;
    let mut planned = plan(
        import,
        &mut World {
            names,
            egress: None,
            commands: false,
        },
    );
    if !args.dry_run {
        let bar = output::bar("importing");
        bar.set_length(planned.entries.len().try_into().unwrap_or(u64::MAX));
        for entry in &mut planned.entries {
            if let Becomes::Remote(draft) = &entry.becomes
                && let Some(refusal) = add(&server, registry, draft).await?
            {
                entry.becomes = Becomes::Nothing(refusal);
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
    }
    Ok(Report::new(
        planned,
        Way::Online { url: url.to_owned() },
        args.dry_run,
    ))
}

async fn known(server: &Server, registry: &Registry) -> anyhow::Result<Names> {
    let list = registry
        .get("connections.list")
        .context("connections cannot be listed")?
        .declaration;
    let mut names = Names::default();
    let mut input = Map::new();
    loop {
        let (ok, page) = server.operate(&list, &input, None).await?;
        anyhow::ensure!(ok, "the server refused: {}", text(&page, "detail"));
        for connection in page.get("items").and_then(Value::as_array).into_iter().flatten() {
            let url = connection.get("url").and_then(Value::as_str);
            names.connection(text(connection, "namespace"), text(connection, "label"), url);
        }
        match page.get("next_cursor").and_then(Value::as_str) {
            Some(cursor) => input.insert("cursor".to_owned(), cursor.into()),
            None => return Ok(names),
        };
    }
}

/// Adds a connection; says why the server would not.
async fn add(server: &Server, registry: &Registry, draft: &RemoteDraft) -> anyhow::Result<Option<String>> {
    let add = registry
        .get("connections.add")
        .context("connections cannot be added")?
        .declaration;
    let Value::Object(input) = serde_json::to_value(body(draft))? else {
        anyhow::bail!("no input")
    };
    let (ok, answer) = server.operate(&add, &input, None).await?;
    Ok((!ok).then(|| text(&answer, "detail").to_owned()))
}

fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn body(draft: &RemoteDraft) -> AddConnection {
    AddConnection {
        agent: None,
        context: None,
        label: Some(draft.label.clone()),
        url: Some(draft.url.clone()),
        preset: None,
        variant: None,
        transport: serde_json::from_value(json!(draft.transport.as_str())).ok(),
        namespace: Some(draft.namespace.as_str().to_owned()),
        auth: draft.bearer.as_ref().map(|token| AuthInput::Bearer {
            token: token.secret().expose().to_owned(),
        }),
        headers: draft
            .headers
            .iter()
            .map(|(name, value)| HeaderInput {
                name: name.as_arc().to_string(),
                value: value.secret().expose().to_owned(),
            })
            .collect(),
        sharing: None,
        allowed_tools: draft.allowed_tools.clone(),
        enabled: Some(false),
        trusted: Some(false),
        call_timeout_ms: draft.call_timeout_ms,
    }
}
