//! Servers reached by HTTP.

use url::Url;

use super::compose::Composer;
use super::draft::Draft;
use super::fields::Fields;
use super::launch::{Launch, Remote, Transport};
use super::manner::{Manner, Untyped};
use super::notice::Path;
use super::oauth;
use super::secrets::Place;
use super::server::Wire;
use super::template::{Part, Template};

/// The address of an entry.
pub(super) struct Address<'a> {
    text: &'a str,
    path: Path,
    untyped: Untyped,
    http: Transport,
}

/// Finds the address under the client's own fields, then under those of other clients.
pub(super) fn address<'a>(
    fields: &mut Fields<'a>,
    manner: &Manner,
    draft: &mut Draft,
) -> Option<Address<'a>> {
    let foreign = [
        ("serverUrl", Untyped::Is(Transport::Auto)),
        ("httpUrl", Untyped::Is(Transport::StreamableHttp)),
        ("url", Untyped::Is(Transport::Auto)),
    ];
    let mut found: Option<Address<'a>> = None;
    for (own, (key, untyped)) in manner
        .urls
        .iter()
        .map(|u| (true, *u))
        .chain(foreign.into_iter().map(|u| (false, u)))
    {
        if !own && manner.urls.iter().any(|(known, _)| *known == key) {
            continue;
        }
        let Some((value, path)) = fields.take(key) else {
            continue;
        };
        let Some(text) = value.as_str() else {
            draft.notices.add(
                "field.wrong-type",
                &path,
                "the address must be a text; not taken over",
            );
            continue;
        };
        if found.is_some() {
            draft.notices.add(
                "url.several",
                &path,
                format!("{key} stands beside a stronger address and was not taken"),
            );
            continue;
        }
        if !own {
            let text = format!(
                "{key} is another client's key for the address; this client may not read it, the import did"
            );
            draft.notices.add("url.foreign-key", &path, text);
        }
        found = Some(Address {
            text,
            path,
            untyped,
            http: manner.http,
        });
    }
    found
}

/// Reads a remote entry.
pub(super) fn read(
    fields: &mut Fields<'_>,
    composer: Composer<'_>,
    (address, wire): (Address<'_>, Option<Wire>),
    draft: &mut Draft,
) {
    let transport = transport(&address, wire, draft);
    let url = composer.template(address.text, Place::Plain);
    let headers = fields
        .object("headers", &mut draft.notices)
        .map(|(map, path)| composer.headers(map, &path, &mut draft.notices))
        .unwrap_or_default();
    let oauth = oauth::read(fields, composer, draft);
    launch(
        Remote {
            transport,
            url,
            headers,
            oauth,
        },
        &address.path,
        draft,
    );
}

/// Takes a remote server, if its address is one.
pub(super) fn launch(remote: Remote, path: &Path, draft: &mut Draft) {
    if let Err((code, text)) = check(&remote.url) {
        draft.notices.add(code, path, text);
    } else {
        draft.launch = Launch::Remote(remote);
    }
}

fn transport(address: &Address<'_>, wire: Option<Wire>, draft: &mut Draft) -> Transport {
    match (wire, address.untyped) {
        (Some(Wire::Http), _) => address.http,
        (Some(Wire::Sse), _) => Transport::Sse,
        (None, Untyped::Is(transport)) => transport,
        (None, Untyped::BySuffix) if is_sse_endpoint(address.text) => Transport::Auto,
        (None, Untyped::BySuffix) => Transport::StreamableHttp,
        (None, Untyped::Inferred) => {
            let text = "no transport is stated; Streamable HTTP is tried first, then SSE";
            draft.notices.add("transport.inferred", &address.path, text);
            Transport::Auto
        }
        (None, Untyped::Skipped) => {
            let text =
                "a url without type: the client itself skips this entry; Streamable HTTP is offered here";
            draft.notices.add("url.untyped", &address.path, text);
            Transport::StreamableHttp
        }
    }
}

fn is_sse_endpoint(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    path.trim_end_matches('/').ends_with("/sse")
}

fn check(url: &Template) -> Result<(), (&'static str, &'static str)> {
    let sample: String = url
        .parts()
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.as_str(),
            Part::Secret(secret) => secret.expose(),
            Part::Reference(_) => "x",
        })
        .collect();
    let starts_open = matches!(url.parts().first(), Some(Part::Reference(_)));
    let scheme = sample
        .split_once(':')
        .map(|(scheme, _)| scheme.to_ascii_lowercase())
        .unwrap_or_default();
    match scheme.as_str() {
        "unix" | "pipe" => Err((
            "url.socket",
            "the url names a socket or pipe of the local machine; only http and https are reached",
        )),
        "ws" | "wss" => Err((
            "transport.websocket",
            "WebSocket is no transport of MCP; give the server's http address",
        )),
        // The variable may hold scheme and host.
        _ if starts_open => Ok(()),
        "http" | "https" if Url::parse(&sample).is_ok_and(|parsed| parsed.has_host()) => Ok(()),
        _ => Err((
            "url.invalid",
            "this is no usable http or https url; correct it and import again",
        )),
    }
}
