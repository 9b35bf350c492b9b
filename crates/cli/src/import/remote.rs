//! An entry that is an address, as a connection.

use std::sync::Arc;

use connections::import::{Entry, Notice, OAuth, Remote, Template};
use domain::{Namespace, Secret};
use mcp::egress::Egress;

use super::value::{self, Ask};

/// Most further headers of one connection.
const MAX_HEADERS: usize = 32;
/// Longest value of a header, in bytes.
const MAX_VALUE: usize = 16_384;
/// Headers that are Switchboard's to set.
const OURS: &[&str] = &[
    "host",
    "content-length",
    "content-type",
    "accept",
    "connection",
    "transfer-encoding",
    "te",
    "upgrade",
    "mcp-session-id",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "last-event-id",
];

/// A connection on its way into the workspace.
#[derive(Debug)]
pub(super) struct RemoteDraft {
    pub(super) label: String,
    pub(super) namespace: Namespace,
    pub(super) url: String,
    pub(super) transport: domain::Transport,
    pub(super) bearer: Option<Secret>,
    pub(super) headers: Vec<(Arc<str>, Secret)>,
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
) -> (Option<Secret>, Vec<(Arc<str>, Secret)>) {
    let (mut bearer, mut headers) = (None, Vec::new());
    for (name, template) in &remote.headers {
        let lower = name.to_ascii_lowercase();
        if OURS.contains(&&*lower) {
            asks.push(Ask::Do(format!(
                "headers/{name} was not taken: Switchboard sets this header itself"
            )));
            continue;
        }
        let Some(text) = value::whole(template) else {
            asks.push(Ask::Do(missing(name, template, namespace)));
            continue;
        };
        match text.expose().strip_prefix("Bearer ").filter(|_| lower == "authorization") {
            Some(token) if fits(token.trim()) => bearer = Some(Secret::new(token.trim())),
            None if fits(text.expose()) && headers.len() < MAX_HEADERS => headers.push((Arc::from(lower), text)),
            _ => asks.push(Ask::Do(format!("headers/{name} was not taken: a value has 1 to {MAX_VALUE} visible ASCII characters, and there are at most {MAX_HEADERS}"))),
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

fn fits(value: &str) -> bool {
    !value.is_empty() && value.len() <= MAX_VALUE && value.bytes().all(|b| (0x20..0x7f).contains(&b))
}
