//! The page on which a person lets a client in, or does not.

use axum::response::Response;
use http::StatusCode;
use identity::SignedIn;
use identity::oauth::AuthorizationRequest;
use url::Url;

use crate::page;
use crate::people::html::{self, escaped};
use crate::state::AppState;

/// Says who asks, where they are, and what they could do then. Everything a client says of itself is text.
pub(super) async fn page(
    state: &AppState,
    (who, request): (&SignedIn, &AuthorizationRequest),
    query: &str,
) -> Response {
    let agents = match state.gateway.agents_of(&who.principal) {
        Ok(agents) => agents,
        Err(failure) => {
            let body = format!(
                "<section class=\"card\"><p>{}</p></section>",
                escaped(&failure.detail)
            );
            return html::page(StatusCode::FORBIDDEN, "Not for you", &body);
        }
    };
    let may = who.principal.role().is_some_and(domain::Role::uses);
    let agent = match request.agent() {
        Some(named) => agents
            .iter()
            .find(|(handle, id)| handle == named || id == named)
            .map(|(handle, _)| format!("<strong>{}</strong>", escaped(handle))),
        None => choice(&agents),
    };
    let Some(agent) = agent.filter(|_| may) else {
        let why = if may {
            "There is no such agent in your workspace, so there is nothing to let the program act as."
        } else {
            "Your role does not let you use tools, so you cannot let a program use them for you."
        };
        let body = format!("<section class=\"card\"><p>{why}</p></section>");
        return html::page(StatusCode::FORBIDDEN, "Not for you", &body);
    };
    let whole = html::whole("Let this program in?", &question(request, &agent, query));
    page::with_form(StatusCode::OK, whole, &[onward(&request.redirect_uri)])
}

fn question(request: &AuthorizationRequest, agent: &str, query: &str) -> String {
    let client = &request.client;
    let vouched = match &client.host {
        Some(host) => format!(
            "<strong>{}</strong> says that this program is its own",
            escaped(host)
        ),
        None => "nobody: it chose its name itself".to_owned(),
    };
    format!(
        "<section class=\"card\"><p><strong>{}</strong> would like to use tools of this server as one of its agents.</p>\
         <form method=\"post\" action=\"/oauth/authorize\"><dl>\
         <dt>Vouched for by</dt><dd>{vouched}</dd>\
         <dt>You are sent back to</dt><dd><code>{}</code></dd>\
         <dt>At</dt><dd><code>{}</code></dd>\
         <dt>Acts as agent</dt><dd>{agent}</dd></dl>\
         <p>It may then do what that agent may: risky calls still ask, and all are recorded under your consent. \
         You or an administrator can throw it out at any time.</p>\
         <p class=\"hint\">Say yes only if you have just begun to connect this program yourself.</p>\
         <input type=\"hidden\" name=\"request\" value=\"{}\">\
         <div class=\"row\"><button class=\"yes\" type=\"submit\" name=\"answer\" value=\"allow\">Let it in</button>\
         <button class=\"no\" type=\"submit\" name=\"answer\" value=\"deny\">Do not</button></div></form></section>",
        escaped(&client.name),
        escaped(&place(&request.redirect_uri)),
        escaped(&request.resource),
        escaped(query)
    )
}

fn choice(agents: &[(String, String)]) -> Option<String> {
    let options: String = agents
        .iter()
        .map(|(handle, id)| format!("<option value=\"{}\">{}</option>", escaped(id), escaped(handle)))
        .collect();
    (!agents.is_empty())
        .then(|| format!("<select name=\"agent\" aria-label=\"Agent\" required>{options}</select>"))
}

/// Where somebody is sent back to, as far as it tells who is there.
fn place(uri: &str) -> String {
    let Ok(url) = Url::parse(uri) else {
        return String::new();
    };
    match url.host_str() {
        Some(host) => format!("{}://{host}", url.scheme()),
        None => format!("{}:", url.scheme()),
    }
}

/// What the page's policy has to allow, for browsers hold the answer's redirect against it too.
fn onward(uri: &str) -> String {
    let Ok(url) = Url::parse(uri) else {
        return String::new();
    };
    match url.origin() {
        origin if origin.is_tuple() => origin.ascii_serialization(),
        _ => format!("{}:", url.scheme()),
    }
}

#[cfg(test)]
mod tests {
    use super::{onward, place};

    #[test]
    fn places() {
        let cases = [
            (
                "https://c.example/cb?x=1",
                "https://c.example",
                "https://c.example",
            ),
            (
                "http://127.0.0.1:5123/cb",
                "http://127.0.0.1",
                "http://127.0.0.1:5123",
            ),
            ("cursor://anysphere/cb", "cursor://anysphere", "cursor:"),
            ("com.example.app:/cb", "com.example.app:", "com.example.app:"),
        ];
        for (uri, shown, policy) in cases {
            assert_eq!((place(uri), onward(uri)), (shown.to_owned(), policy.to_owned()));
        }
    }
}
