//! Accepting an invitation: the first Owner's too.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::Response;
use domain::{Invitation, Secret};
use http::{HeaderMap, StatusCode};
use identity::oauth::Parameters;
use identity::{Newcomer, Refused};

use super::html::{Field, escaped, page, trouble};
use super::{browser, enter, told};
use crate::problem::Problem;
use crate::state::AppState;

pub(super) async fn form(
    State(state): State<AppState>,
    Path(token): Path<String>,
) -> Result<Response, Problem> {
    match state.people.invitation(&token).await {
        Ok(invitation) => Ok(shown(StatusCode::OK, (&invitation, &token), ("", ""), None)),
        Err(refused) => gone(refused),
    }
}

pub(super) async fn accept(
    State(state): State<AppState>,
    Path(token): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    browser::own_form(&state, &headers)?;
    let parameters = Parameters::read(&body);
    let field = |name: &str| parameters.one(name).ok().flatten().unwrap_or_default().to_owned();
    let (email, name) = (field("email"), field("name"));
    let invitation = match state.people.invitation(&token).await {
        Ok(invitation) => invitation,
        Err(refused) => return gone(refused),
    };
    let who = Newcomer {
        email: email.clone(),
        name: name.clone(),
        password: Secret::new(field("password")),
        browser: browser::agent(&headers),
    };
    match state.people.accept(&token, who).await {
        Ok(begun) => Ok(enter(&state, &begun, "/account")),
        Err(Refused::Gone) => gone(Refused::Gone),
        Err(refused) => {
            let (status, field, text, _) = told(refused)?;
            Ok(shown(
                status,
                (&invitation, &token),
                (&email, &name),
                Some((field, &text)),
            ))
        }
    }
}

fn gone(refused: Refused) -> Result<Response, Problem> {
    let (status, _, text, _) = told(refused)?;
    let body = format!("<section class=\"card\"><p>{}</p></section>", escaped(&text));
    Ok(page(status, "This invitation is over", &body))
}

fn shown(
    status: StatusCode,
    (invitation, token): (&Invitation, &str),
    (email, name): (&str, &str),
    wrong: Option<(&str, &str)>,
) -> Response {
    let is_wrong = |field: &str| wrong.is_some_and(|(wrong, _)| wrong == field);
    let mut fields = String::new();
    match &invitation.email {
        Some(email) => {
            // Password managers look for it.
            let known = escaped(email);
            fields.push_str(&format!(
                "<p>The account is for <strong>{known}</strong>.</p>\
                 <input type=\"email\" name=\"email\" value=\"{known}\" autocomplete=\"username\" hidden>"
            ));
        }
        None => {
            let field = Field {
                name: "email",
                label: "Your e-mail address",
                kind: "email",
                autocomplete: "username",
                value: email,
                hint: None,
                wrong: is_wrong("email"),
                first: wrong.is_none() || is_wrong("email"),
            };
            fields.push_str(&field.html());
        }
    }
    let rest = [
        Field {
            name: "name",
            label: "Your name",
            kind: "text",
            autocomplete: "name",
            value: name,
            hint: None,
            wrong: is_wrong("name"),
            first: is_wrong("name") || wrong.is_none() && invitation.email.is_some(),
        },
        Field {
            name: "password",
            label: "A password",
            kind: "password",
            autocomplete: "new-password",
            value: "",
            hint: Some(
                "At least 12 characters. Several words that do not belong together are easy to keep in mind.",
            ),
            wrong: is_wrong("password"),
            first: is_wrong("password"),
        },
    ];
    fields.extend(rest.iter().map(Field::html));
    let title = if invitation.email.is_none() {
        "Become the first Owner"
    } else {
        "Join Switchboard"
    };
    let body = format!(
        "<section class=\"card\">{}<form method=\"post\" action=\"/invitations/{}\">{fields}\
         <div class=\"row\"><button type=\"submit\">Make my account</button></div></form></section>",
        trouble(wrong.map(|(_, text)| text)),
        escaped(token)
    );
    page(status, title, &body)
}
