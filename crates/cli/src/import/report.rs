//! What was taken, what was not and why, and what to do next: a table for people, JSON for programs.

use std::path::PathBuf;

use connections::import::{InputKind, Notice};
use serde::Serialize;

use super::file;
use super::plan::{Becomes, Plan, Planned};
use super::value::Ask;
use crate::output::{self, Table};

/// How the import went in.
pub(super) enum Way {
    /// Beside the server, over its data folder.
    Beside { data: PathBuf, config: Option<PathBuf> },
    /// Through a server's API.
    Online { url: String },
}

/// The report.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    dialect: &'static str,
    dry_run: bool,
    entries: Vec<Line>,
    /// What the client asks a person for.
    inputs: Vec<Asked>,
    /// What concerns no single entry.
    notices: Vec<Said>,
    next: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    /// Taken, disabled.
    Taken,
    /// Taken, disabled, and something is missing.
    Incomplete,
    AlreadyThere,
    NotTaken,
}

#[derive(Debug, Serialize)]
struct Line {
    name: String,
    scope: Option<String>,
    outcome: Outcome,
    /// `remote` or `command`; null where it is not taken.
    kind: Option<&'static str>,
    /// The name it has here.
    connection: Option<String>,
    /// Why it was not taken.
    reason: Option<String>,
    /// Names of the secrets that went into the vault.
    secrets: Vec<String>,
    /// What only a person can do.
    to_do: Vec<String>,
    notices: Vec<Said>,
}

#[derive(Debug, Serialize)]
struct Asked {
    id: String,
    kind: &'static str,
    description: Option<String>,
}

#[derive(Debug, Serialize)]
struct Said {
    code: &'static str,
    path: String,
    text: String,
}

impl Report {
    /// Says what came of a plan.
    pub(super) fn new(plan: Plan, way: Way, dry_run: bool) -> Self {
        let inputs = plan.inputs.into_iter().map(|input| Asked {
            id: input.id,
            kind: match input.kind {
                InputKind::Text => "text",
                InputKind::Secret => "secret",
                InputKind::Choice(_) => "choice",
                InputKind::Command => "command",
            },
            description: input.description,
        });
        let inputs = inputs.collect();
        let options = way.options();
        let entries: Vec<Line> = plan
            .entries
            .into_iter()
            .map(|entry| line(entry, &options))
            .collect();
        let next = if dry_run { Vec::new() } else { next(&entries, &way) };
        Self {
            dialect: plan.dialect,
            dry_run,
            entries,
            inputs,
            notices: plan.notices.into_iter().map(said).collect(),
            next,
        }
    }

    /// Prints it.
    pub(super) fn print(&self, json: bool) {
        if json {
            return output::json(&serde_json::to_value(self).unwrap_or_default());
        }
        let would = if self.dry_run {
            " (nothing was changed)"
        } else {
            ""
        };
        output::say(&format!(
            "Read as {}: {} entries{would}",
            self.dialect,
            self.entries.len()
        ));
        self.table();
        self.details();
        if !self.next.is_empty() {
            output::say("\nNext:");
            self.next
                .iter()
                .for_each(|step| output::say(&format!("  - {step}")));
        }
    }

    fn table(&self) {
        if self.entries.is_empty() {
            return;
        }
        let mut table = Table::new(["entry", "kind", "connection", "outcome"]);
        for line in &self.entries {
            let scope = line
                .scope
                .as_ref()
                .map(|scope| format!(" ({scope})"))
                .unwrap_or_default();
            let outcome = match (line.outcome, self.dry_run) {
                (Outcome::Taken, false) => "taken, disabled".to_owned(),
                (Outcome::Taken, true) => "would be taken, disabled".to_owned(),
                (Outcome::Incomplete, false) => "taken, disabled; needs you, see below".to_owned(),
                (Outcome::Incomplete, true) => "would be taken, disabled; needs you, see below".to_owned(),
                (Outcome::AlreadyThere, _) => "already there".to_owned(),
                (Outcome::NotTaken, _) => {
                    format!("not taken: {}", line.reason.as_deref().unwrap_or_default())
                }
            };
            let kind = line.kind.unwrap_or_default().to_owned();
            table.row([
                format!("{}{scope}", line.name),
                kind,
                line.connection.clone().unwrap_or_default(),
                outcome,
            ]);
        }
        output::say(&table.fitted());
    }

    fn details(&self) {
        for line in self
            .entries
            .iter()
            .filter(|line| line.outcome != Outcome::AlreadyThere)
        {
            let reason = line.reason.as_deref().unwrap_or_default();
            let notices: Vec<&Said> = line
                .notices
                .iter()
                .filter(|notice| notice.text != reason)
                .collect();
            if line.to_do.is_empty() && line.secrets.is_empty() && notices.is_empty() {
                continue;
            }
            output::say(&format!("\n{}:", line.name));
            line.to_do
                .iter()
                .for_each(|text| output::say(&format!("  to do: {text}")));
            if !line.secrets.is_empty() {
                let moved = if self.dry_run {
                    "for the vault"
                } else {
                    "in the vault"
                };
                output::say(&format!("  {moved}: {}", line.secrets.join(", ")));
            }
            notices
                .iter()
                .for_each(|notice| output::say(&format!("  {} [{}]", notice.text, notice.code)));
        }
        if !self.notices.is_empty() {
            output::say("\nThe file:");
            self.notices
                .iter()
                .for_each(|notice| output::say(&format!("  {} [{}]", notice.text, notice.code)));
        }
        if !self.inputs.is_empty() {
            output::say("\nThe client asks a person for:");
            for input in &self.inputs {
                let words = input
                    .description
                    .as_ref()
                    .map(|words| format!(": {words}"))
                    .unwrap_or_default();
                output::say(&format!("  {} ({}){words}", input.id, input.kind));
            }
        }
    }
}

impl Way {
    /// The options that name the same server to other commands.
    fn options(&self) -> String {
        match self {
            Self::Beside { data, config } => {
                let config = config
                    .as_ref()
                    .map(|path| format!(" --config {}", path.display()))
                    .unwrap_or_default();
                let data = if data.as_os_str() == "data" {
                    String::new()
                } else {
                    format!(" --data {}", data.display())
                };
                format!("{config}{data}")
            }
            Self::Online { url } => format!(" --server {url}"),
        }
    }
}

fn line(entry: Planned, options: &str) -> Line {
    let incomplete = !entry.asks.is_empty();
    let taken = if incomplete {
        Outcome::Incomplete
    } else {
        Outcome::Taken
    };
    let (outcome, kind, connection, reason, secrets) = match entry.becomes {
        Becomes::Remote(draft) => {
            let mut secrets: Vec<String> = draft.bearer.iter().map(|_| "bearer token".to_owned()).collect();
            secrets.extend(draft.headers.names().iter().map(|name| format!("header {name}")));
            (
                taken,
                Some("remote"),
                Some(draft.namespace.to_string()),
                None,
                secrets,
            )
        }
        Becomes::Command(draft) => {
            let secrets = draft.secrets.into_iter().map(|(name, _)| name).collect();
            (taken, Some("command"), Some(draft.entry.name), None, secrets)
        }
        Becomes::There(namespace) => (
            Outcome::AlreadyThere,
            None,
            Some(namespace.to_string()),
            None,
            Vec::new(),
        ),
        Becomes::Nothing(why) => (Outcome::NotTaken, None, None, Some(why), Vec::new()),
    };
    let to_do = entry.asks.into_iter().map(|ask| match ask {
        Ask::Do(text) => text,
        Ask::Vault { name, what } => {
            format!("{what}: `switchboard vault set {name}{options}` reads it from standard input")
        }
    });
    Line {
        name: entry.name,
        scope: entry.scope,
        outcome,
        kind,
        connection,
        reason,
        secrets,
        to_do: to_do.collect(),
        notices: entry.notices.into_iter().map(said).collect(),
    }
}

fn said(notice: Notice) -> Said {
    Said {
        code: notice.code,
        path: notice.path,
        text: notice.text,
    }
}

fn next(lines: &[Line], way: &Way) -> Vec<String> {
    let taken = |kind: &str| {
        let wanted = |line: &&Line| line.kind == Some(kind);
        lines
            .iter()
            .filter(wanted)
            .filter_map(|line| line.connection.as_deref())
            .collect::<Vec<_>>()
    };
    let (commands, remotes) = (taken("command"), taken("remote"));
    let mut steps = Vec::new();
    if let Way::Beside { data, .. } = way {
        if !commands.is_empty() {
            let path = file::path(data);
            steps.push(format!(
                "read {} and set enabled and trusted to true for the commands you want",
                path.display()
            ));
        }
        if !commands.is_empty() || !remotes.is_empty() {
            steps.push("tell a running server: `switchboard config reload`".to_owned());
        }
    }
    if let Some(one) = remotes.first() {
        steps.push(format!(
            "look at a connection: `switchboard connections show {one}`"
        ));
        steps.push(format!(
            "switch it on: `switchboard connections update {one} --expected-version 1 --enabled true --trusted true`"
        ));
    }
    if !commands.is_empty() || !remotes.is_empty() {
        steps.push(
            "grant tools: `switchboard tools list --unclassified`, then `switchboard grants set --help`"
                .to_owned(),
        );
    }
    steps
}
