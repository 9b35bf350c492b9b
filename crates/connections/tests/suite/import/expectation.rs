//! Compares an import with an expectation written as JSON, field by field; a field this file does not know fails the test.

use std::collections::{BTreeMap, BTreeSet};

use connections::import::{
    CODES, Command, Entry, Fallback, Import, InputKind, Launch, OAuth, Part, ReferenceKind, Remote, Template,
    Transport,
};
use serde_json::{Map, Value, json};

/// Everything wrong with an import, in words; empty if it is as expected.
pub(super) fn mismatches(import: &Import, expected: &Map<String, Value>) -> Vec<String> {
    let mut wrong = Vec::new();
    let named: Vec<(&String, &Value)> = expected
        .iter()
        .filter(|(name, _)| !name.starts_with('_') || *name == "__proto__")
        .collect();
    if named.len() != import.entries.len() {
        let got: Vec<&str> = import.entries.iter().map(|entry| entry.name.as_str()).collect();
        wrong.push(format!("{} entries expected, got {got:?}", named.len()));
    }
    for (name, wanted) in named {
        match find(import, name) {
            None => wrong.push(format!("{name}: missing")),
            Some(entry) => {
                let whole = wanted.as_object().expect("an expectation is an object");
                for (field, value) in whole {
                    let (want, got) = compare(import, entry, whole, (field, value));
                    if want != got {
                        wrong.push(format!(
                            "{name}.{field}: wanted {want}, got {got}; notices {:?}",
                            codes(entry)
                        ));
                    }
                }
            }
        }
    }
    invariants(import, &mut wrong);
    wrong
}

/// What must hold for every import whatever it says.
pub(super) fn invariants(import: &Import, wrong: &mut Vec<String>) {
    let known: BTreeSet<&str> = CODES.iter().map(|(code, _)| *code).collect();
    let notices = import
        .report
        .iter()
        .chain(import.entries.iter().flat_map(|entry| &entry.notices));
    wrong.extend(
        notices
            .filter(|notice| !known.contains(notice.code))
            .map(|notice| format!("unknown code {}", notice.code)),
    );
    let slugs: BTreeSet<&str> = import.entries.iter().map(|entry| entry.slug.as_str()).collect();
    if slugs.len() != import.entries.len() {
        wrong.push(format!("slugs repeat: {slugs:?}"));
    }
    for slug in slugs {
        let legal = slug
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if !legal || slug.is_empty() || slug.len() > 20 {
            wrong.push(format!("illegal slug {slug:?}"));
        }
    }
    for entry in &import.entries {
        let explained = !matches!(entry.launch, Launch::None) || !entry.notices.is_empty();
        if !explained {
            wrong.push(format!("{}: nothing to launch and no word why", entry.name));
        }
    }
}

pub(super) fn codes(entry: &Entry) -> BTreeSet<&'static str> {
    entry.notices.iter().map(|notice| notice.code).collect()
}

/// `name`, `name (user)`, `name (local)` and `uses NAME` are how expectations call entries.
fn find<'a>(import: &'a Import, name: &str) -> Option<&'a Entry> {
    let by = |name: &str, scope: Option<&str>| {
        import.entries.iter().find(|entry| {
            entry.name == name
                && scope.is_none_or(|s| entry.scope.as_deref().is_some_and(|found| found.starts_with(s)))
        })
    };
    by(name, None)
        .or_else(|| by(name.strip_suffix(" (user)")?, Some("user")))
        .or_else(|| by(name.strip_suffix(" (local)")?, Some("local:")))
        .or_else(|| by(name.strip_prefix("uses ")?, None))
}

/// The wanted and the found value of one field, in one form.
fn compare(
    import: &Import,
    entry: &Entry,
    whole: &Map<String, Value>,
    (field, wanted): (&str, &Value),
) -> (Value, Value) {
    let want = wanted.clone();
    if field == "headers" {
        return compare_headers(entry, whole);
    }
    if let Some(pair) = compare_launch(import, entry, field, wanted) {
        return pair;
    }
    let got = match field {
        "unwrapped" => return compare_unwrapped(import, entry, wanted),
        "timeoutMs" => json!(entry.timeouts.call_ms),
        "startTimeoutMs" | "connectTimeoutMs" => json!(entry.timeouts.connect_ms),
        "allowTools" => json!(entry.tools.allow),
        "denyTools" => json!(entry.tools.deny),
        "effectiveTools" => json!(entry.tools.effective()),
        "enabled" => json!(entry.enabled),
        "scope" => json!(entry.scope),
        "slug" => json!(entry.slug.as_str()),
        "autoApprove" => json!(entry.auto_approve.tools),
        "trust" => json!(entry.auto_approve.everything),
        "profileTools" => json!(entry.tools.profiles),
        "approval" => approval(entry),
        "codes" => return (sorted(wanted), json!(codes(entry))),
        // Words of the case files: each stands for a code of ours.
        "report" => {
            let wanted: Vec<&str> = strings(wanted).into_iter().map(code_of).collect();
            let missing: Vec<&str> = wanted
                .into_iter()
                .filter(|code| !codes(entry).contains(code))
                .collect();
            return (json!([]), json!(missing));
        }
        "note" => return note(entry, wanted.as_str().expect("a note is a text")),
        other => panic!("the expectation has a field this test does not compare: {other}"),
    };
    (want, got)
}

fn compare_launch(import: &Import, entry: &Entry, field: &str, wanted: &Value) -> Option<(Value, Value)> {
    let none = Command::default();
    let (command, remote) = match &entry.launch {
        Launch::Command(command) => (command, None),
        Launch::Remote(remote) => (&none, Some(remote)),
        Launch::None => (&none, None),
    };
    let headers = remote.map(|remote| &remote.headers);
    let want = wanted.clone();
    let got = match field {
        "transport" => {
            let word = want.as_str().expect("a transport is a text");
            return Some((json!(word.split(' ').next()), json!(transport(&entry.launch))));
        }
        "url" => json!(remote.map(|remote| clear(&remote.url))),
        "command" => json!(clear(&command.command)),
        "args" => json!(command.args.iter().map(clear).collect::<Vec<_>>()),
        "secretArgs" => json!(positions(&command.args, Template::is_secret)),
        "env" => return Some((sorted(wanted), json!(command.env.keys().collect::<Vec<_>>()))),
        "secretEnv" => return Some((sorted(wanted), json!(secret_names(&command.env)))),
        "envFromParent" => json!(from_variables(&command.env)),
        "literalEnv" => {
            let literal = strings_of_keys(wanted)
                .into_iter()
                .map(|name| (name, command.env.get(name).and_then(Template::plain)));
            json!(literal.collect::<BTreeMap<_, _>>())
        }
        "passEnv" => json!(command.pass_env),
        "cwd" => json!(command.cwd.as_ref().map(clear)),
        "envFile" => json!(command.env_file.as_ref().map(clear)),
        "secretHeaders" => return Some((sorted(wanted), json!(headers.map(secret_names)))),
        "headersFromVars" => json!(headers.map(from_variables)),
        "bearerVar" => {
            let parts = headers
                .and_then(|headers| headers.get("Authorization"))
                .map(Template::parts);
            json!(match parts {
                Some([Part::Text(scheme), Part::Reference(variable)]) if scheme == "Bearer " =>
                    Some(&variable.name),
                _ => None,
            })
        }
        "oauth" => json!(remote.and_then(oauth)),
        "vars" => json!(variables(entry)),
        "secrets" => {
            let secrets = entry
                .variables
                .iter()
                .filter(|variable| variable.kind == ReferenceKind::Secret);
            json!(secrets.map(|variable| &variable.name).collect::<Vec<_>>())
        }
        "inputs" => json!(inputs(import, entry)),
        _ => return None,
    };
    Some((want, got))
}

/// Names of all headers; those that come from variables are stated apart.
fn compare_headers(entry: &Entry, whole: &Map<String, Value>) -> (Value, Value) {
    let mut want: BTreeSet<&str> = strings(&whole["headers"]).into_iter().collect();
    want.extend(whole.get("headersFromVars").into_iter().flat_map(strings_of_keys));
    want.extend(whole.get("bearerVar").map(|_| "Authorization"));
    let got = match &entry.launch {
        Launch::Remote(remote) => remote.headers.keys().collect(),
        Launch::Command(_) | Launch::None => Vec::new(),
    };
    (json!(want), json!(got))
}

/// A bridge is stated as what it was unwrapped to.
fn compare_unwrapped(import: &Import, entry: &Entry, wanted: &Value) -> (Value, Value) {
    let wanted = wanted.as_object().expect("an unwrapped server is an object");
    let pairs = wanted
        .iter()
        .map(|(field, value)| (field.clone(), compare(import, entry, wanted, (field, value))));
    let (mut want, mut got) = (Map::new(), Map::new());
    for (field, (w, g)) in pairs {
        want.insert(field.clone(), w);
        got.insert(field, g);
    }
    want.insert("bridge".to_owned(), json!(true));
    got.insert(
        "bridge".to_owned(),
        json!(codes(entry).contains("bridge.unwrapped")),
    );
    (Value::Object(want), Value::Object(got))
}

/// What the sentences under `report` mean in codes.
fn code_of(sentence: &str) -> &'static str {
    let table = [
        ("headersHelper is a command: not run", "command.not-run"),
        (
            "url without type: the client itself skips it; offer http, say so",
            "url.untyped",
        ),
        (
            "timeout 500 is below 1000: the client ignores it",
            "timeout.ignored",
        ),
        (
            "CLAUDE_PLUGIN_ROOT is known only to the client",
            "variable.client-only",
        ),
        ("command holds a whole command line", "command.line"),
        ("input token-cmd is a command: not run", "input.command"),
        ("unix socket url", "url.socket"),
        ("sandbox and dev are VS Code only", "field.not-carried"),
        ("url in place of serverUrl", "url.foreign-key"),
        ("extension server: nothing to launch", "launch.extension"),
        ("hub block: nothing to launch", "launch.hub-block"),
        ("builtin: not MCP", "launch.not-mcp"),
        ("platform: not MCP", "launch.not-mcp"),
        ("inline_python: not MCP", "launch.not-mcp"),
        ("inline bearer_token: the client refuses it", "auth.refused"),
        ("authProviderType google_credentials", "auth.unsupported"),
        ("{file:…} reference: not read on import", "variable.file"),
        (
            "only enabled: overrides an organisation default",
            "entry.switch-only",
        ),
        (
            "duplicate keys: say so; last one wins in most clients",
            "file.duplicate-key",
        ),
        (
            "non-string args and env: convert numbers and booleans, drop or refuse null, say so",
            "args.converted",
        ),
        ("args is a string: do not split silently", "args.string"),
        ("both command and url", "launch.ambiguous"),
        ("nothing to launch", "launch.nothing"),
        ("ws transport unknown", "transport.websocket"),
        ("credentials in url", "url.credentials"),
    ];
    let found = table.iter().find(|(words, _)| *words == sentence);
    found
        .unwrap_or_else(|| panic!("no code is known for the report {sentence:?}"))
        .1
}

fn note(entry: &Entry, words: &str) -> (Value, Value) {
    let codes = codes(entry);
    let holds = match words {
        "mcp-remote wrapper; value of Authorization is env AUTH_HEADER" => codes.contains("bridge.unwrapped"),
        "cmd /c npx is a Windows wrapper of npx" => codes.contains("command.windows-wrapper"),
        "name needs a slug" => entry.slug.as_str() != entry.name,
        "named in mcp.excluded" => codes.contains("server.not-allowed"),
        "not in mcp.allowed; httpUrl wins" => {
            codes.contains("server.not-allowed") && codes.contains("url.several")
        }
        "nested transport object" => codes.contains("transport.nested"),
        "an ordinary key" => codes.is_empty(),
        other => panic!("no meaning is known for the note {other:?}"),
    };
    (json!(true), json!(holds))
}

fn transport(launch: &Launch) -> &'static str {
    match launch {
        Launch::Command(_) => "stdio",
        Launch::Remote(Remote {
            transport: Transport::StreamableHttp,
            ..
        }) => "http",
        Launch::Remote(Remote {
            transport: Transport::Sse,
            ..
        }) => "sse",
        Launch::Remote(Remote {
            transport: Transport::Auto,
            ..
        }) => "auto",
        Launch::None => "none",
    }
}

/// The text with secrets in clear, which only a test may want.
pub(super) fn clear(template: &Template) -> String {
    template.render(|secret| secret.expose().to_owned())
}

fn positions(args: &[Template], holds: impl Fn(&Template) -> bool) -> Vec<usize> {
    args.iter()
        .enumerate()
        .filter(|(_, arg)| holds(arg))
        .map(|(index, _)| index)
        .collect()
}

fn secret_names(map: &BTreeMap<String, Template>) -> Vec<&String> {
    map.iter()
        .filter(|(_, template)| template.holds_secret())
        .map(|(name, _)| name)
        .collect()
}

fn from_variables(map: &BTreeMap<String, Template>) -> BTreeMap<&String, &String> {
    let whole = |(name, template)| {
        let reference = Template::as_reference(template).filter(|r| r.kind == ReferenceKind::Environment)?;
        Some((name, &reference.name))
    };
    map.iter().filter_map(whole).collect()
}

fn variables(entry: &Entry) -> BTreeMap<&str, Option<&str>> {
    let from_parent = entry
        .variables
        .iter()
        .filter(|variable| variable.kind == ReferenceKind::Environment);
    from_parent
        .map(|variable| (variable.name.as_str(), variable.default.as_deref()))
        .collect()
}

fn oauth(remote: &Remote) -> Option<Value> {
    let client = match remote.oauth.as_ref()? {
        OAuth::Off => return Some(json!(false)),
        OAuth::Client(client) => client,
    };
    let mut shown = Map::new();
    let variable = |template: &Option<Template>| template.as_ref()?.as_reference().map(|r| json!(r.name));
    shown.extend(variable(&client.client_id).map(|name| ("clientIdVar".to_owned(), name)));
    shown.extend(variable(&client.client_secret).map(|name| ("clientSecretVar".to_owned(), name)));
    shown.insert("scopes".to_owned(), json!(client.scopes));
    Some(Value::Object(shown))
}

fn approval(entry: &Entry) -> Value {
    let mut shown: Map<String, Value> = entry
        .auto_approve
        .modes
        .iter()
        .map(|(tool, mode)| (tool.clone(), json!(mode)))
        .collect();
    shown.extend(
        entry
            .auto_approve
            .default_mode
            .iter()
            .map(|mode| ("default".to_owned(), json!(mode))),
    );
    Value::Object(shown)
}

/// The inputs an entry refers to, in the words of the expectations.
fn inputs(import: &Import, entry: &Entry) -> BTreeMap<String, String> {
    let wanted = entry
        .variables
        .iter()
        .filter(|variable| variable.kind == ReferenceKind::Input);
    let declared = wanted.filter_map(|variable| import.inputs.iter().find(|input| input.id == variable.name));
    let shown = declared.map(|input| {
        let kind = match &input.kind {
            InputKind::Text => "plain".to_owned(),
            InputKind::Secret => "secret".to_owned(),
            InputKind::Choice(options) => format!("choice {}", options.join("|")),
            InputKind::Command => "command".to_owned(),
        };
        let default = match &input.default {
            Some(Fallback::Text(text)) => format!(" default {text}"),
            _ => String::new(),
        };
        (input.id.clone(), kind + &default)
    });
    shown.collect()
}

fn sorted(list: &Value) -> Value {
    json!(strings(list).into_iter().collect::<BTreeSet<_>>())
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array()
        .expect("a list")
        .iter()
        .map(|item| item.as_str().expect("a text"))
        .collect()
}

fn strings_of_keys(map: &Value) -> Vec<&str> {
    map.as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect()
}
