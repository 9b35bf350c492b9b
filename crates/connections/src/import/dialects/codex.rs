//! Codex: TOML, credentials as names of variables, seconds.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::import::compose::{Composer, is_header_name, put_header};
use crate::import::dialect::Dialect;
use crate::import::draft::{Draft, Drafts};
use crate::import::fields::Fields;
use crate::import::launch::{Launch, OAuth, OAuthClient};
use crate::import::manner::{self, TimeoutUnit};
use crate::import::servers;
use crate::import::settings;
use crate::import::syntax::is_name;
use crate::import::template::{Part, Reference, ReferenceKind, Template};

pub(super) fn read(root: &Map<String, Value>, drafts: &mut Drafts) {
    let manner = manner::of(Dialect::Codex);
    let composer = Composer {
        syntax: manner.syntax,
        keyring: &[],
    };
    super::found(Dialect::Codex, root, drafts, &[], |map, draft| {
        let mut own = Own::default();
        servers::read_with(map, &manner, composer, draft, |fields, draft| {
            own = Own::take(fields, draft)
        });
        own.apply(draft);
    });
}

/// What only Codex writes.
#[derive(Default)]
struct Own {
    pass_env: Vec<String>,
    bearer_variable: Option<String>,
    /// Header and name of the variable that holds its value.
    header_variables: BTreeMap<String, String>,
    scopes: Vec<String>,
}

impl Own {
    fn take(fields: &mut Fields<'_>, draft: &mut Draft) -> Self {
        times(fields, draft);
        approval(fields, draft);
        if fields.take("bearer_token").is_some() {
            let at = fields.path().child("bearer_token");
            let text = "an inline bearer_token: the client refuses it; not taken over, give the token when you review the entry";
            draft.notices.add("auth.refused", &at, text);
        }
        let mut own = Self {
            pass_env: pass_env(fields, draft),
            bearer_variable: fields
                .text("bearer_token_env_var", &mut draft.notices)
                .map(str::to_owned),
            header_variables: BTreeMap::new(),
            scopes: fields.texts("scopes", &mut draft.notices).unwrap_or_default(),
        };
        if let Some((map, path)) = fields.object("env_http_headers", &mut draft.notices) {
            for (header, variable) in map {
                match variable.as_str() {
                    Some(variable) if is_name(variable) && is_header_name(header) => {
                        own.header_variables.insert(header.clone(), variable.to_owned());
                    }
                    _ => {
                        let text = "the value must be the name of a variable; left out";
                        draft.notices.add("header.dropped", &path.child(header), text);
                    }
                }
            }
        }
        own
    }

    fn apply(self, draft: &mut Draft) {
        let path = draft.path.clone();
        match &mut draft.launch {
            Launch::Command(command) => command.pass_env = self.pass_env,
            Launch::Remote(remote) => {
                for (header, variable) in self.header_variables {
                    let value = Template::from_parts(vec![variable_part(&variable)]);
                    put_header(
                        &mut remote.headers,
                        &header,
                        value,
                        &path.child("env_http_headers"),
                        &mut draft.notices,
                    );
                }
                if let Some(variable) = self.bearer_variable {
                    let parts = vec![Part::Text("Bearer ".to_owned()), variable_part(&variable)];
                    let value = Template::from_parts(parts);
                    let at = path.child("bearer_token_env_var");
                    put_header(
                        &mut remote.headers,
                        "Authorization",
                        value,
                        &at,
                        &mut draft.notices,
                    );
                }
                if !self.scopes.is_empty() && remote.oauth.is_none() {
                    let client = OAuthClient {
                        scopes: self.scopes,
                        ..OAuthClient::default()
                    };
                    remote.oauth = Some(OAuth::Client(Box::new(client)));
                }
            }
            Launch::None => {}
        }
    }
}

fn variable_part(name: &str) -> Part {
    let written = Some(format!("${{{name}}}"));
    Part::Reference(Reference {
        kind: ReferenceKind::Environment,
        name: name.to_owned(),
        default: None,
        written,
    })
}

fn times(fields: &mut Fields<'_>, draft: &mut Draft) {
    if let Some((value, path)) = fields.take("tool_timeout_sec") {
        draft.timeouts.call_ms = settings::timeout(value, TimeoutUnit::Seconds, &path, &mut draft.notices);
    }
    if let Some((value, path)) = fields.take("startup_timeout_ms") {
        draft.timeouts.connect_ms =
            settings::timeout(value, TimeoutUnit::Milliseconds, &path, &mut draft.notices);
    }
    if let Some((value, path)) = fields.take("startup_timeout_sec") {
        draft.timeouts.connect_ms = settings::timeout(value, TimeoutUnit::Seconds, &path, &mut draft.notices);
    }
}

fn approval(fields: &mut Fields<'_>, draft: &mut Draft) {
    let mode = fields
        .text("default_tools_approval_mode", &mut draft.notices)
        .map(str::to_owned);
    draft.auto_approve.default_mode = mode;
    let Some((tools, path)) = fields.object("tools", &mut draft.notices) else {
        return;
    };
    for (tool, settings) in tools {
        let Some(settings) = settings.as_object() else {
            draft.notices.add(
                "field.wrong-type",
                &path.child(tool),
                "a table is wanted here; not taken over",
            );
            continue;
        };
        let mut inner = Fields::new(settings, &[], path.child(tool));
        if let Some(mode) = inner.text("approval_mode", &mut draft.notices) {
            draft.auto_approve.modes.insert(tool.clone(), mode.to_owned());
        }
        for (key, _) in inner.rest() {
            draft.notices.add(
                "field.unknown",
                &inner.path().child(key),
                "this setting of a tool is not known; not taken over",
            );
        }
    }
}

/// Names, or objects with a `name`; the parent's environment is not inherited otherwise.
fn pass_env(fields: &mut Fields<'_>, draft: &mut Draft) -> Vec<String> {
    let Some((value, path)) = fields.take("env_vars") else {
        return Vec::new();
    };
    let mut names = Vec::new();
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        let name = item.as_str().or_else(|| item.get("name").and_then(Value::as_str));
        match name.filter(|name| is_name(name)) {
            Some(name) => names.push(name.to_owned()),
            None => draft.notices.add(
                "env.dropped",
                &path.item(index),
                "this is no name of a variable; left out",
            ),
        }
    }
    if !value.is_array() {
        draft.notices.add(
            "field.wrong-type",
            &path,
            "a list of names is wanted here; not taken over",
        );
    }
    names
}
