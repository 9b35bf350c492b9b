//! What an entry says beside its launch: on or off, tools, approval, time limits.

use std::time::Duration;

use serde_json::Value;

use super::draft::Draft;
use super::fields::Fields;
use super::manner::{Manner, TimeoutUnit};
use super::notice::{Notices, Path};

pub(super) fn read(fields: &mut Fields<'_>, manner: &Manner, draft: &mut Draft) {
    enabled(fields, draft);
    tools(fields, draft);
    approval(fields, draft);
    if let Some((value, path)) = fields.take("timeout") {
        draft.timeouts.call_ms = timeout(value, manner.timeout, &path, &mut draft.notices);
    }
}

/// A time limit in milliseconds, or none and a notice.
pub(super) fn timeout(value: &Value, unit: TimeoutUnit, path: &Path, notices: &mut Notices) -> Option<u64> {
    let Some(milliseconds) = value.as_f64().and_then(|number| milliseconds(number, unit)) else {
        notices.add(
            "timeout.invalid",
            path,
            "a time limit must be a positive number; not taken over",
        );
        return None;
    };
    match unit {
        TimeoutUnit::Unknown => {
            let text =
                "the client does not document the unit of this time limit; not taken over, set it by hand";
            notices.add("timeout.unit-unknown", path, text);
            None
        }
        TimeoutUnit::MillisecondsFrom1000 if milliseconds < 1000 => {
            let text = format!(
                "{milliseconds} ms is below 1000: the client ignores it and uses its default; so does the import"
            );
            notices.add("timeout.ignored", path, text);
            None
        }
        TimeoutUnit::Milliseconds | TimeoutUnit::MillisecondsFrom1000 | TimeoutUnit::Seconds => {
            Some(milliseconds)
        }
    }
}

fn milliseconds(number: f64, unit: TimeoutUnit) -> Option<u64> {
    let seconds = match unit {
        TimeoutUnit::Seconds => number,
        TimeoutUnit::Milliseconds | TimeoutUnit::MillisecondsFrom1000 | TimeoutUnit::Unknown => {
            number / 1000.0
        }
    };
    let duration = Duration::try_from_secs_f64(seconds).ok()?;
    u64::try_from(duration.as_millis()).ok().filter(|ms| *ms > 0)
}

fn enabled(fields: &mut Fields<'_>, draft: &mut Draft) {
    let disabled = fields.flag("disabled", &mut draft.notices);
    let enabled = fields.flag("enabled", &mut draft.notices);
    // Where both stand and disagree, off is the safe reading.
    draft.enabled = match (disabled, enabled) {
        (Some(true), _) | (_, Some(false)) => Some(false),
        (Some(false), _) | (_, Some(true)) => Some(true),
        (None, None) => None,
    };
}

fn tools(fields: &mut Fields<'_>, draft: &mut Draft) {
    for key in [
        "tools",
        "includeTools",
        "enabledTools",
        "enabled_tools",
        "allowedTools",
    ] {
        if let Some(list) = fields.texts(key, &mut draft.notices) {
            let all = list.iter().any(|tool| tool == "*");
            draft.tools.allow = if all { None } else { Some(list) };
        }
    }
    for key in ["disabledTools", "excludeTools", "disabled_tools"] {
        if let Some(list) = fields.texts(key, &mut draft.notices) {
            draft.tools.deny.extend(list.into_iter().map(without_signature));
        }
    }
}

/// Gemini may write `tool(argument)`; the whole tool is denied then.
fn without_signature(tool: String) -> String {
    match tool.split_once('(') {
        Some((name, _)) => name.to_owned(),
        None => tool,
    }
}

fn approval(fields: &mut Fields<'_>, draft: &mut Draft) {
    for key in ["autoApprove", "alwaysAllow"] {
        for tool in fields.texts(key, &mut draft.notices).unwrap_or_default() {
            if !draft.auto_approve.tools.contains(&tool) {
                draft.auto_approve.tools.push(tool);
            }
        }
    }
    draft.auto_approve.everything = fields.flag("trust", &mut draft.notices) == Some(true);
}
