//! `switchboard example-skills`: skills in a folder, listed and loaded through a running server's API.

mod folder;

use std::process::ExitCode;

use anyhow::Context as _;
use api::skills::{AddSkill, InstallSkills};
use gateway::Registry;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::args::{ExampleSkillsArgs, ExampleSkillsCommand, ServerArgs};
use crate::client::Server;
use crate::{output, serve};

/// Skills of one request.
const AT_ONCE: usize = 50;

pub(crate) fn run(args: &ExampleSkillsArgs, registry: &Registry) -> anyhow::Result<ExitCode> {
    match &args.command {
        ExampleSkillsCommand::List { folder, json } => {
            let found = folder::read(&folder.from, folder.mcp.as_deref())?;
            list(&found, *json)?;
            Ok(ExitCode::SUCCESS)
        }
        ExampleSkillsCommand::Load {
            folder,
            user,
            dry_run,
            json,
            server,
        } => {
            let mut found = folder::read(&folder.from, folder.mcp.as_deref())?;
            for skill in &mut found {
                skill.owner = *user;
            }
            let loading = load(found, *dry_run, server, registry);
            let told = serve::small_runtime()?.block_on(loading)?;
            Ok(show(&told, *json))
        }
    }
}

fn list(found: &[AddSkill], json: bool) -> anyhow::Result<()> {
    if json {
        output::json(&json!({ "skills": serde_json::to_value(found)? }));
        return Ok(());
    }
    for skill in found {
        output::say(&format!("{}: {}", skill.slug, skill.description));
        for need in &skill.requires {
            let variant = need.variant.as_deref().map(|variant| format!("/{variant}"));
            output::say(&format!(
                "  needs {}{}: {}",
                need.preset,
                variant.unwrap_or_default(),
                need.tools.join(", ")
            ));
        }
    }
    Ok(())
}

async fn load(
    found: Vec<AddSkill>,
    dry_run: bool,
    server: &ServerArgs,
    registry: &Registry,
) -> anyhow::Result<Vec<Value>> {
    let install = registry
        .get("skills.install")
        .context("skills cannot be installed")?
        .declaration;
    let server = Server::of(server)?;
    let mut told = Vec::new();
    for skills in found.chunks(AT_ONCE) {
        let wanted = InstallSkills {
            skills: skills.to_vec(),
            dry_run,
        };
        let Value::Object(input) = serde_json::to_value(wanted)? else {
            anyhow::bail!("no input")
        };
        // Each request is another one, so none may answer for another: a key of its own.
        let key = Uuid::now_v7().to_string();
        let spinner = output::spinner("loading skills");
        let answer = server.operate(&install, &input, Some(&key)).await;
        spinner.finish_and_clear();
        let (ok, mut answer) = answer?;
        anyhow::ensure!(ok, "the server refused: {}", text(&answer, "detail"));
        if let Some(Value::Array(skills)) = answer.get_mut("skills").map(Value::take) {
            told.extend(skills);
        }
    }
    Ok(told)
}

/// Says what became of each. That some are blocked is no failure: the others are there.
fn show(told: &[Value], json: bool) -> ExitCode {
    if json {
        output::json(&json!({ "skills": told }));
        return ExitCode::SUCCESS;
    }
    for skill in told {
        let line = format!(
            "{}: {} ({})",
            text(skill, "slug"),
            text(skill, "outcome"),
            text(skill, "readiness")
        );
        output::say(&line);
        for dependency in items(skill, "dependencies") {
            for reason in items(dependency, "reasons") {
                let tool = reason.get("tool").and_then(Value::as_str);
                output::say(&format!(
                    "  {}{}: {}; {}",
                    text(dependency, "preset"),
                    tool.map(|tool| format!(" {tool}")).unwrap_or_default(),
                    text(reason, "reason"),
                    text(reason, "detail")
                ));
            }
        }
    }
    ExitCode::SUCCESS
}

fn items<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
