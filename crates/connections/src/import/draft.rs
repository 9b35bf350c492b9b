//! An entry while it is being read, and the last touches common to all dialects.

use std::collections::{BTreeMap, BTreeSet};

use domain::Namespace;

use super::launch::Launch;
use super::model::{AutoApproval, Entry, Input, ProjectServers, Timeouts, ToolFilter, Variable};
use super::notice::{Notice, Notices, Path, printable};
use super::remarks;
use super::template::{Fallback, ReferenceKind};
use super::{MAX_ENTRIES, MAX_NAME_CHARS};

/// An entry while it is being read.
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) scope: Option<String>,
    pub(super) path: Path,
    pub(super) launch: Launch,
    pub(super) enabled: Option<bool>,
    pub(super) tools: ToolFilter,
    pub(super) auto_approve: AutoApproval,
    pub(super) timeouts: Timeouts,
    pub(super) notices: Notices,
}

/// Everything read so far.
#[derive(Default)]
pub(super) struct Drafts {
    pub(super) entries: Vec<Draft>,
    pub(super) inputs: Vec<Input>,
    pub(super) project_servers: Vec<ProjectServers>,
    pub(super) report: Notices,
    left_out: usize,
}

impl Draft {
    pub(super) fn new(name: &str, path: Path) -> Self {
        Self {
            name: name.to_owned(),
            scope: None,
            path,
            launch: Launch::None,
            enabled: None,
            tools: ToolFilter::default(),
            auto_approve: AutoApproval::default(),
            timeouts: Timeouts::default(),
            notices: Notices::default(),
        }
    }

    pub(super) fn note(&mut self, code: &'static str, text: impl AsRef<str>) {
        self.notices.add(code, &self.path, text);
    }
}

impl Drafts {
    /// Takes an entry, up to the limit.
    pub(super) fn push(&mut self, draft: Draft) {
        if self.entries.len() < MAX_ENTRIES {
            self.entries.push(draft);
        } else {
            self.left_out += 1;
        }
    }

    pub(super) fn note(&mut self, code: &'static str, text: impl AsRef<str>) {
        self.report.add(code, &Path::default(), text);
    }

    /// The finished entries and the report.
    pub(super) fn finish(mut self) -> (Vec<Entry>, Vec<Input>, Vec<ProjectServers>, Vec<Notice>) {
        if self.left_out > 0 {
            let text = format!(
                "{} entries over the limit of {MAX_ENTRIES} were left out; import them separately",
                self.left_out
            );
            self.note("file.too-many-entries", text);
        }
        if self.entries.is_empty() {
            self.note("file.no-servers", "no servers were found in this file");
        }
        let mut taken = BTreeSet::new();
        let mut entries = Vec::new();
        for draft in self.entries {
            entries.push(finish(draft, &self.inputs, &mut taken));
        }
        (
            entries,
            self.inputs,
            self.project_servers,
            self.report.into_list(),
        )
    }
}

fn finish(mut draft: Draft, inputs: &[Input], taken: &mut BTreeSet<Namespace>) -> Entry {
    let slug = slug(&draft.name, taken);
    if !draft.name.chars().any(|c| c.is_ascii_alphanumeric()) {
        draft.note(
            "entry.no-slug",
            format!(
                "the name has no letter or digit for a label; {} is used",
                slug.as_str()
            ),
        );
    }
    let name = printable(&draft.name, MAX_NAME_CHARS);
    if name != draft.name {
        draft.note(
            "name.replaced",
            "the name holds control characters or is too long; they were replaced, it was cut",
        );
    }
    let variables = variables(&draft.launch);
    remarks::references(&mut draft, inputs);
    remarks::secrets(&mut draft);
    if !draft.auto_approve.is_empty() {
        draft.note(
            "approval.not-carried",
            "the client approves tools of this server without asking; that gives no right here, grant what you want",
        );
    }
    Entry {
        name,
        slug,
        scope: draft.scope,
        launch: draft.launch,
        enabled: draft.enabled,
        tools: draft.tools,
        auto_approve: draft.auto_approve,
        timeouts: draft.timeouts,
        variables,
        notices: draft.notices.into_list(),
    }
}

/// A namespace nobody has yet. Of a name that is a path the last part says most.
fn slug(name: &str, taken: &mut BTreeSet<Namespace>) -> Namespace {
    let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
    let telling = last.chars().any(|c| c.is_ascii_alphanumeric()) && !name.contains(char::is_whitespace);
    let wanted = Namespace::suggest(if telling { last } else { name });
    let mut number = 2;
    let mut free = wanted.clone();
    while taken.contains(&free) {
        free = wanted.numbered(number);
        number += 1;
    }
    taken.insert(free.clone());
    free
}

fn variables(launch: &Launch) -> Vec<Variable> {
    let mut variables: Vec<Variable> = Vec::new();
    let mut known: BTreeMap<(ReferenceKind, String), usize> = BTreeMap::new();
    let mut add = |kind, name: &str, default: Option<String>| {
        let index = *known.entry((kind, name.to_owned())).or_insert(variables.len());
        match variables.get_mut(index) {
            Some(variable) => variable.default = variable.default.take().or(default),
            None => variables.push(Variable {
                kind,
                name: name.to_owned(),
                default,
            }),
        }
    };
    for (_, template) in launch.templates() {
        for reference in template.references() {
            let default = match &reference.default {
                Some(Fallback::Text(text)) => Some(text.clone()),
                Some(Fallback::Secret(_) | Fallback::Vault(_)) | None => None,
            };
            add(reference.kind, &reference.name, default);
        }
    }
    if let Launch::Command(command) = launch {
        for name in &command.secret_env {
            add(ReferenceKind::Secret, name, None);
        }
    }
    variables
}
