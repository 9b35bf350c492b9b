//! Who is on the other side of a request: its era, what it can do, what it wants to hear.

use std::sync::Arc;

use domain::ClientContext;
use serde_json::value::RawValue;

use super::session::Session;
use super::version::{Era, Legacy};
use super::wire::{Members, text_of};

/// Log levels after RFC 5424, most talkative first.
const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

/// Keys of `_meta` that are between a client and us; the rest goes along to the upstream.
const RESERVED: [&str; 5] = [
    "progressToken",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/logLevel",
];

/// What a client can be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Can {
    /// Elicitation by a form.
    pub(super) form: bool,
    /// Elicitation by a URL.
    pub(super) url: bool,
    /// Sampling.
    pub(super) sampling: bool,
    /// Sampling with tools.
    pub(super) tools: bool,
    /// Listing roots.
    pub(super) roots: bool,
}

impl Can {
    /// Reads a capabilities object. `elicitation: {}` means forms only.
    pub(super) fn read(capabilities: Option<&RawValue>, era: Era) -> Self {
        let Some(members) = capabilities.and_then(Members::read) else {
            return Self::default();
        };
        let declared = |key: &str| members.get(key).is_some_and(|value| value.get().starts_with('{'));
        let elicitation = members.get("elicitation").and_then(Members::read);
        let mode = |key: &str| elicitation.as_ref().is_some_and(|modes| modes.get(key).is_some());
        let knows_urls = matches!(era, Era::Modern | Era::Legacy(Legacy::V2025_11_25));
        Self {
            form: elicitation.is_some() && (mode("form") || !mode("url")),
            url: mode("url") && knows_urls,
            sampling: declared("sampling"),
            tools: members
                .get("sampling")
                .and_then(Members::read)
                .is_some_and(|sampling| sampling.get("tools").is_some()),
            roots: declared("roots"),
        }
    }

    /// Whether it can be asked this.
    pub(super) fn admits(self, method: &str, params: Option<&RawValue>) -> bool {
        match method {
            "sampling/createMessage" => {
                let members = params.and_then(Members::read).unwrap_or_default();
                let tools = members.get("tools").or(members.get("toolChoice")).is_some();
                self.sampling && (self.tools || !tools)
            }
            "roots/list" => self.roots,
            "elicitation/create" => {
                let members = params.and_then(Members::read).unwrap_or_default();
                if members.text("mode").as_deref() == Some("url") {
                    self.url
                } else {
                    self.form
                }
            }
            _ => false,
        }
    }
}

/// The other side of one request.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) era: Era,
    /// Its session, where it has one.
    pub(super) session: Option<Arc<Session>>,
    pub(super) can: Can,
    /// What is passed on about it.
    pub(super) context: ClientContext,
    /// The token it wants progress under.
    pub(super) progress: Option<Box<RawValue>>,
}

impl Client {
    /// One that is known by nothing but its request.
    pub(super) fn stateless(version: Legacy) -> Self {
        let era = Era::Legacy(version);
        Self {
            era,
            session: None,
            can: Can::default(),
            context: ClientContext::default(),
            progress: None,
        }
    }

    /// One with a session.
    pub(super) fn of(session: &Arc<Session>) -> Self {
        Self {
            era: Era::Legacy(session.version),
            can: session.can,
            context: ClientContext {
                log_level: session.level(),
                ..session.context.clone()
            },
            session: Some(session.clone()),
            progress: None,
        }
    }

    /// One with a session that can be told and asked nothing before its answer.
    pub(super) fn quiet(session: &Arc<Session>) -> Self {
        let mut client = Self::of(session);
        client.can = Can::default();
        client.context.log_level = None;
        client
    }

    /// Takes in what `_meta` says for a legacy request.
    pub(super) fn hear(&mut self, meta: Option<&RawValue>) {
        let Some(members) = meta.and_then(Members::read) else {
            return;
        };
        self.progress = members
            .get("progressToken")
            .filter(|token| is_token(token))
            .map(ToOwned::to_owned);
        self.context.meta = rest(&members);
    }

    /// Whether it wants a log message of this level.
    pub(super) fn rank(&self) -> Option<usize> {
        self.context.log_level.as_deref().and_then(rank)
    }
}

/// Metadata of a modern request (2026-07-28, basic `_meta`).
pub(super) struct Introduced<'a> {
    pub(super) version: Option<std::borrow::Cow<'a, str>>,
    pub(super) client: Option<Client>,
}

/// Reads what a modern request says about its sender. No client when the capabilities are missing.
pub(super) fn introduced<'a>(meta: &Members<'a>) -> Introduced<'a> {
    let version = meta.text("io.modelcontextprotocol/protocolVersion");
    let capabilities = meta
        .get("io.modelcontextprotocol/clientCapabilities")
        .filter(|raw| raw.get().starts_with('{'));
    let info = meta
        .get("io.modelcontextprotocol/clientInfo")
        .filter(|raw| raw.get().starts_with('{'));
    let level = meta
        .text("io.modelcontextprotocol/logLevel")
        .filter(|level| rank(level).is_some());
    let client = capabilities.map(|capabilities| Client {
        era: Era::Modern,
        session: None,
        can: Can::read(Some(capabilities), Era::Modern),
        context: ClientContext {
            capabilities: Some(shared(capabilities)),
            info: info.map(shared),
            log_level: level.map(Arc::from),
            meta: rest(meta),
        },
        progress: meta
            .get("progressToken")
            .filter(|token| is_token(token))
            .map(ToOwned::to_owned),
    });
    Introduced { version, client }
}

pub(super) fn shared(raw: &RawValue) -> Arc<RawValue> {
    Arc::from(raw.to_owned())
}

/// Where a level stands; none for a word that is no level.
pub(super) fn rank(level: &str) -> Option<usize> {
    LEVELS.iter().position(|known| *known == level)
}

fn is_token(raw: &RawValue) -> bool {
    text_of(raw).is_some() || raw.get().starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

fn rest(meta: &Members<'_>) -> Option<Arc<RawValue>> {
    let others = meta.iter().any(|(name, _)| !RESERVED.contains(&name));
    others.then(|| Arc::from(meta.filtered(|name| !RESERVED.contains(&name))))
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::Can;
    use crate::mcp::version::{Era, Legacy};

    #[test]
    fn capabilities() {
        let check = |text: &str, era: Era, want: (bool, bool, bool, bool)| {
            let raw = RawValue::from_string(text.to_owned()).unwrap();
            let can = Can::read(Some(&raw), era);
            assert_eq!((can.form, can.url, can.sampling, can.roots), want, "{text}");
        };
        let newest = Era::Legacy(Legacy::NEWEST);
        check("{}", newest, (false, false, false, false));
        check(
            r#"{"elicitation":{},"sampling":{},"roots":{}}"#,
            newest,
            (true, false, true, true),
        );
        check(
            r#"{"elicitation":{"url":{}}}"#,
            newest,
            (false, true, false, false),
        );
        check(
            r#"{"elicitation":{"form":{},"url":{}}}"#,
            Era::Modern,
            (true, true, false, false),
        );
        check(
            r#"{"elicitation":{"form":{},"url":{}}}"#,
            Era::Legacy(Legacy::V2025_06_18),
            (true, false, false, false),
        );
        check(r#"{"sampling":true}"#, newest, (false, false, false, false));
    }

    #[test]
    fn sampling_with_tools_is_for_those_who_say_so() {
        let plain = r#"{"messages":[]}"#;
        let tools = r#"{"messages":[],"tools":[]}"#;
        let choice = r#"{"messages":[],"toolChoice":{"mode":"auto"}}"#;
        for (declared, params, admitted) in [
            (r#"{"sampling":{}}"#, plain, true),
            (r#"{"sampling":{}}"#, tools, false),
            (r#"{"sampling":{}}"#, choice, false),
            (r#"{"sampling":{"tools":{}}}"#, tools, true),
            (r#"{}"#, plain, false),
        ] {
            let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
            let can = Can::read(Some(&raw(declared)), Era::Modern);
            let admits = can.admits("sampling/createMessage", Some(&raw(params)));
            assert_eq!(admits, admitted, "{declared} {params}");
        }
    }
}
