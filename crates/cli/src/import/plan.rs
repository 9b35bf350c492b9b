//! What an import would do: decided before anything is written.

use connections::import::{Entry, Import, Input, Launch, Notice};
use domain::Namespace;
use mcp::egress::Egress;

use super::command::{self, CommandDraft};
use super::names::{Holder, Names, Place};
use super::remote::{self, RemoteDraft};
use super::value::Ask;

/// What an entry is held against.
pub(super) struct World {
    pub(super) names: Names,
    /// Which addresses may be reached; none where the server says so itself.
    pub(super) egress: Option<Egress>,
    /// Whether commands can be taken at all.
    pub(super) commands: bool,
}

/// What becomes of a file.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) dialect: &'static str,
    pub(super) entries: Vec<Planned>,
    pub(super) inputs: Vec<Input>,
    /// What concerns no single entry.
    pub(super) notices: Vec<Notice>,
}

/// What becomes of an entry.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) name: String,
    pub(super) scope: Option<String>,
    pub(super) becomes: Becomes,
    pub(super) asks: Vec<Ask>,
    pub(super) notices: Vec<Notice>,
}

/// What an entry becomes.
#[derive(Debug)]
pub(super) enum Becomes {
    /// A connection.
    Remote(Box<RemoteDraft>),
    /// A command of the configuration.
    Command(Box<CommandDraft>),
    /// It is there already, under this name.
    There(Namespace),
    /// It cannot be taken.
    Nothing(String),
}

/// Decides about every entry of a file.
pub(super) fn plan(import: Import, world: &mut World) -> Plan {
    let entries = import
        .entries
        .into_iter()
        .map(|entry| planned(entry, world))
        .collect();
    Plan {
        dialect: import.dialect.name(),
        entries,
        inputs: import.inputs,
        notices: import.report,
    }
}

fn planned(mut entry: Entry, world: &mut World) -> Planned {
    let (mut asks, mut notices) = (Vec::new(), std::mem::take(&mut entry.notices));
    if entry.enabled == Some(false) {
        let text = "switched off in the file".to_owned();
        notices.push(Notice {
            code: "import.was-off",
            path: String::new(),
            text,
        });
    }
    let becomes = match &entry.launch {
        Launch::None => Becomes::Nothing(nothing(&notices)),
        Launch::Command(_) if !world.commands => Becomes::Nothing(
            "commands are taken on the server's own machine only: run the import there, with --data"
                .to_owned(),
        ),
        Launch::Command(launch) => {
            let command = |name: &Namespace| command::draft(&entry, launch, name);
            let same = |name: &Namespace, holder: &Holder| matches!(holder, Holder::Command(argv) if *argv == command(name).entry.command);
            match world.names.place(&entry.slug, same) {
                Place::There(name) => Becomes::There(name),
                Place::Free(name) => {
                    let mut draft = command(&name);
                    let holder = Holder::Command(draft.entry.command.clone());
                    draft.entry.label = Some(world.names.take(&name, holder, &entry.name));
                    asks.append(&mut draft.asks);
                    notices.append(&mut draft.notices);
                    Becomes::Command(Box::new(draft))
                }
            }
        }
        Launch::Remote(launch) => match remote::address(launch, world.egress.as_ref()) {
            Err(why) => Becomes::Nothing(why),
            Ok(url) => {
                let same =
                    |_: &Namespace, holder: &Holder| matches!(holder, Holder::Remote(known) if *known == url);
                match world.names.place(&entry.slug, same) {
                    Place::There(name) => Becomes::There(name),
                    Place::Free(namespace) => {
                        let label = world
                            .names
                            .take(&namespace, Holder::Remote(url.clone()), &entry.name);
                        let (bearer, headers) = remote::headers(launch, &namespace, &mut asks);
                        Becomes::Remote(Box::new(RemoteDraft {
                            label,
                            namespace,
                            url,
                            transport: remote::transport(launch),
                            bearer,
                            headers,
                            allowed_tools: remote::allowed(&entry, &mut notices),
                            call_timeout_ms: remote::call_ms(&entry, &mut notices),
                        }))
                    }
                }
            }
        },
    };
    Planned {
        name: entry.name,
        scope: entry.scope,
        becomes,
        asks,
        notices,
    }
}

/// Why an entry has nothing to launch: the notice that says so.
fn nothing(notices: &[Notice]) -> String {
    let telling = ["launch.", "url.", "entry.", "transport.", "command."];
    let found = notices
        .iter()
        .find(|notice| telling.iter().any(|area| notice.code.starts_with(area)));
    found.map_or_else(
        || "there is nothing to launch".to_owned(),
        |notice| notice.text.clone(),
    )
}
