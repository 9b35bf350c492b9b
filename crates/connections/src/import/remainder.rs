//! Fields nobody took: known ones with their reason, unknown ones by name.

use serde_json::Value;

use super::draft::Draft;
use super::fields::Fields;
use super::notice::printable;

/// Reports what is left of an entry. Where nothing can be launched its launch fields are not worth a word each.
pub(super) fn report(fields: &Fields<'_>, no_launch: bool, draft: &mut Draft) {
    for (key, value) in fields.rest() {
        if is_void(value) {
            continue;
        }
        let at = fields.path().child(key);
        if is_launch_field(key) {
            if !no_launch {
                let text = format!("{key} has no meaning for this kind of server; not taken over");
                draft.notices.add("field.not-applicable", &at, text);
            }
            continue;
        }
        let (code, reason) = known(key).unwrap_or(("field.unknown", "is not known; not taken over"));
        draft
            .notices
            .add(code, &at, format!("{} {reason}", printable(key, 80)));
    }
}

/// Nothing is lost with an empty value.
fn is_void(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn is_launch_field(key: &str) -> bool {
    matches!(
        key,
        "command"
            | "cmd"
            | "args"
            | "env"
            | "envs"
            | "environment"
            | "cwd"
            | "envFile"
            | "headers"
            | "http_headers"
            | "oauth"
            | "auth"
            | "url"
            | "uri"
    )
}

fn known(key: &str) -> Option<(&'static str, &'static str)> {
    let not_carried = "field.not-carried";
    Some(match key {
        "headersHelper" => (
            "command.not-run",
            "is a command that prints headers: not run, not taken over; set the headers",
        ),
        "sandbox" | "sandboxEnabled" | "dev" => (not_carried, "is known to VS Code only; not taken over"),
        "authProviderType" => (
            "auth.unsupported",
            "names a way to authenticate that only this client has; choose one when you review the entry",
        ),
        "targetAudience" | "targetServiceAccount" => (
            "auth.unsupported",
            "belongs to a way to authenticate that only this client has; not taken over",
        ),
        "watchPaths" => (
            not_carried,
            "restarts the server when files change, in the client only; not taken over",
        ),
        "settings" => (not_carried, "goes to the editor's extension; not taken over"),
        "name" | "display_name" | "displayName" | "description" | "title" | "icon" | "iconUrl"
        | "gallery" | "version" | "bundled" | "id" | "registry" | "provider" | "providerUrl" => {
            (not_carried, "only describes the server; not taken over")
        }
        "required"
        | "startup_timeout_ms"
        | "supports_parallel_tool_calls"
        | "initTimeout"
        | "alwaysLoad"
        | "source" => (not_carried, "has no counterpart here; not taken over"),
        "with" => (not_carried, "gives values to a block of the hub; not taken over"),
        _ => return None,
    })
}
