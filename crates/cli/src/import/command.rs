//! An entry that is a command, as an entry of our configuration.

use std::collections::BTreeMap;
use std::path::PathBuf;

use connections::import::{Command, Entry, Notice, Template, names_secret};
use domain::{Namespace, Secret};

use super::remote;
use super::value::{self, Ask, Value};
use crate::config::{CommandEntry, EnvValue, SecretSource, Sharing};

/// A command on its way into the configuration.
#[derive(Debug)]
pub(super) struct CommandDraft {
    pub(super) entry: CommandEntry,
    /// What goes into the vault, by the names the entry refers to.
    pub(super) secrets: Vec<(String, Secret)>,
    pub(super) asks: Vec<Ask>,
    pub(super) notices: Vec<Notice>,
}

/// Drafts an entry under a name; its label is the caller's to set.
pub(super) fn draft(entry: &Entry, command: &Command, name: &Namespace) -> CommandDraft {
    let mut build = Build {
        name,
        secrets: Vec::new(),
        asks: Vec::new(),
        notices: Vec::new(),
    };
    let mut argv = vec![build.argument(&command.command, "command")];
    argv.extend(
        command
            .args
            .iter()
            .enumerate()
            .map(|(i, arg)| build.argument(arg, &format!("args/{i}"))),
    );
    let env = build.env(command);
    let inherit_env = build.inherited(&command.pass_env);
    let cwd = build.cwd(command.cwd.as_ref());
    if let Some(file) = &command.env_file {
        let text = format!(
            "the client reads further variables from {}; they were not read: put them into env",
            file.shown()
        );
        build.asks.push(Ask::Do(text));
    }
    let allowed_tools = remote::allowed(entry, &mut build.notices);
    CommandDraft {
        entry: CommandEntry {
            name: name.as_str().to_owned(),
            label: None,
            command: argv,
            env,
            inherit_env,
            cwd,
            sharing: Sharing::Shared,
            allowed_tools,
            enabled: false,
            trusted: false,
            call_seconds: remote::call_ms(entry, &mut build.notices).map(|ms| ms.div_ceil(1000)),
        },
        secrets: build.secrets,
        asks: build.asks,
        notices: build.notices,
    }
}

struct Build<'a> {
    name: &'a Namespace,
    secrets: Vec<(String, Secret)>,
    asks: Vec<Ask>,
    notices: Vec<Notice>,
}

impl Build<'_> {
    fn argument(&mut self, template: &Template, place: &str) -> EnvValue {
        let taken = value::take(template, place, self.name);
        self.mention(&taken, place);
        if taken.secret.is_some() {
            let text = format!(
                "{place} holds a secret: while the command runs, whoever is on the machine can see it in the list of processes"
            );
            self.notices.push(Notice {
                code: "import.visible-secret",
                path: String::new(),
                text,
            });
        }
        // Its place must be kept, so what cannot be said stands as the file has it.
        self.settle(taken)
            .unwrap_or_else(|| EnvValue::Plain(template.shown()))
    }

    fn env(&mut self, command: &Command) -> BTreeMap<String, EnvValue> {
        let mut env = BTreeMap::new();
        for (name, template) in &command.env {
            let place = format!("env/{name}");
            let empty = template.plain().is_some_and(|text| text.is_empty());
            let taken = if empty && names_secret(name) {
                value::wanted(
                    format!("{}/{place}", self.name),
                    format!("{place} is empty in the file"),
                )
            } else {
                value::take(template, &place, self.name)
            };
            self.mention(&taken, &place);
            env.extend(self.settle(taken).map(|value| (name.clone(), value)));
        }
        for name in &command.secret_env {
            let asked = value::wanted(
                format!("{}/env/{name}", self.name),
                format!("env/{name} is kept in the client's keyring"),
            );
            env.extend(self.settle(asked).map(|value| (name.clone(), value)));
        }
        env
    }

    fn inherited(&mut self, names: &[String]) -> Vec<String> {
        let (ours, others): (Vec<&String>, Vec<&String>) =
            names.iter().partition(|name| name.starts_with("SWITCHBOARD"));
        for name in ours {
            self.asks.push(Ask::Do(format!(
                "{name} is a setting of Switchboard itself, which is never passed on"
            )));
        }
        others.into_iter().cloned().collect()
    }

    fn cwd(&mut self, template: Option<&Template>) -> Option<PathBuf> {
        let template = template?;
        match template.plain() {
            Some(text) if !text.starts_with('~') => Some(PathBuf::from(text)),
            _ => {
                let text = format!(
                    "cwd: {} cannot be taken as it stands; write the whole path",
                    template.shown()
                );
                self.asks.push(Ask::Do(text));
                None
            }
        }
    }

    /// Says where a variable of the client's environment will come from.
    fn mention(&mut self, taken: &Value, place: &str) {
        if let Some(EnvValue::Secret(SecretSource::Env(name))) = &taken.value {
            let text = format!("{place} is the variable {name}: it must be set where Switchboard is started");
            self.notices.push(Notice {
                code: "import.server-environment",
                path: String::new(),
                text,
            });
        }
    }

    fn settle(&mut self, taken: Value) -> Option<EnvValue> {
        self.secrets.extend(taken.secret);
        self.asks.extend(taken.ask);
        taken.value
    }
}
