//! An entry that is an address, as a connection.

use connections::headers::{HeaderError, HeaderName, HeaderValue, Headers};
use connections::import::{Entry, Notice, OAuth, Remote, Template};
use domain::{Namespace, Secret};
use mcp::egress::Egress;

use super::value::{self, Ask};

/// A connection on its way into the workspace.
#[derive(Debug)]
pub(super) struct RemoteDraft {
    pub(super) label: String,
    pub(super) namespace: Namespace,
    pub(super) url: String,
    pub(super) transport: domain::Transport,
    pub(super) bearer: Option<HeaderValue>,
    pub(super) headers: Headers,
    pub(super) allowed_tools: Option<Vec<String>>,
    pub(super) call_timeout_ms: Option<u32>,
}

/// The address of an entry, or why it cannot be taken.
pub(super) fn address(remote: &Remote, egress: Option<&Egress>) -> Result<String, String> {
    let Some(text) = remote.url.plain() else {
        let shown = remote.url.shown();
        return Err(if remote.url.holds_secret() {
            format!(
                "the url holds a secret ({shown}), and urls are shown; add the connection with the secret in a header"
            )
        } else {
            format!(
                "the url {shown} has parts that only the client knows; add the connection with the whole url"
            )
        });
    };
    match egress.map(|egress| egress.admit(&text)) {
        None | Some(Ok(_)) => Ok(text.trim().to_owned()),
        Some(Err(refusal)) => Err(format!(
            "{refusal}. [[internal_urls]] in the configuration registers an internal url"
        )),
    }
}

/// How it is reached.
pub(super) const fn transport(remote: &Remote) -> domain::Transport {
    match remote.transport {
        connections::import::Transport::StreamableHttp => domain::Transport::StreamableHttp,
        connections::import::Transport::Sse => domain::Transport::Sse,
        connections::import::Transport::Auto => domain::Transport::Auto,
    }
}

/// The secrets of an entry: a bearer token, and further headers. What only a person can give is asked for.
pub(super) fn headers(
    remote: &Remote,
    namespace: &Namespace,
    asks: &mut Vec<Ask>,
) -> (Option<HeaderValue>, Headers) {
    let (mut bearer, mut headers) = (None, Headers::default());
    for (name, template) in &remote.headers {
        let Some(text) = value::whole(template) else {
            asks.push(Ask::Do(missing(name, template, namespace)));
            continue;
        };
        let token = text.expose().strip_prefix("Bearer ").map(str::trim);
        let authorizes = name.eq_ignore_ascii_case("authorization");
        let taken = match token.filter(|_| authorizes) {
            // Names that differ in case only are one name.
            _ if authorizes
                && (bearer.is_some() || headers.names().iter().any(|name| &**name == "authorization")) =>
            {
                Err(HeaderError::Twice)
            }
            Some(token) => HeaderValue::new(Secret::new(token)).map(|token| bearer = Some(token)),
            None => HeaderName::new(name)
                .and_then(|name| HeaderValue::new(text).and_then(|value| headers.add(name, value))),
        };
        if let Err(why) = taken {
            asks.push(Ask::Do(format!("headers/{name} was not taken: {why}")));
        }
    }
    if let Some(OAuth::Client(_)) = &remote.oauth {
        asks.push(Ask::Do(
            "oauth was not taken: connect with a bearer token or a header".to_owned(),
        ));
    }
    (bearer, headers)
}

/// The tools the file lets through, as a connection has them.
pub(super) fn allowed(entry: &Entry, notices: &mut Vec<Notice>) -> Option<Vec<String>> {
    let mut note = |code, text: String| {
        notices.push(Notice {
            code,
            path: String::new(),
            text,
        })
    };
    let deny = &entry.tools.deny;
    if entry.tools.allow.is_none() && !deny.is_empty() {
        note(
            "import.denied-tools",
            format!(
                "the file hides {}; nothing is granted here, so do not grant them",
                deny.join(", ")
            ),
        );
    }
    let mut names: Vec<String> = Vec::new();
    for name in entry.tools.effective()? {
        if name == "*" {
            return None;
        }
        if name.contains('*') {
            note(
                "import.tool-pattern",
                format!("{name} is a pattern; allowed tools are exact names here, so it was left out"),
            );
        } else if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    if names.is_empty() {
        note(
            "import.no-tools",
            "the file lets no tool through that could be named here; nothing is granted until you do"
                .to_owned(),
        );
        return None;
    }
    Some(names)
}

/// Longest wait for an answer, in milliseconds, within what a connection takes.
pub(super) fn call_ms(entry: &Entry, notices: &mut Vec<Notice>) -> Option<u32> {
    if entry.timeouts.connect_ms.is_some() {
        let text =
            "the limit for starting or connecting was not taken: upstream.connect_seconds holds for all"
                .to_owned();
        notices.push(Notice {
            code: "import.connect-limit",
            path: String::new(),
            text,
        });
    }
    let ms = entry.timeouts.call_ms?;
    u32::try_from(ms.clamp(100, 3_600_000)).ok()
}

fn missing(name: &str, template: &Template, namespace: &Namespace) -> String {
    let shown = template.shown();
    let option = if name.eq_ignore_ascii_case("authorization") && shown.starts_with("Bearer ") {
        "--bearer-file FILE".to_owned()
    } else {
        format!("--header-file {name}=FILE")
    };
    format!(
        "headers/{name} is {shown}, which only the client knows: `switchboard connections update {namespace} --expected-version 1 {option}`"
    )
}
