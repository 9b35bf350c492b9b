//! Signing in and out.

use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use domain::Secret;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use identity::oauth::Parameters;

use super::html::{Field, escaped, page, trouble};
use super::{browser, enter, return_to, told};
use crate::problem::Problem;
use crate::state::AppState;

pub(super) async fn form(
    State(state): State<AppState>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let parameters = Parameters::read(query.unwrap_or_default().as_bytes());
    let to = return_to::read(parameters.one("return_to").ok().flatten());
    if browser::signed_in(&state, &headers).await.is_some() {
        return Redirect::to(&to).into_response();
    }
    shown(StatusCode::OK, &to, "", None)
}

pub(super) async fn sign_in(
    State(state): State<AppState>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    browser::own_form(&state, &headers)?;
    let parameters = Parameters::read(&body);
    let field = |name: &str| parameters.one(name).ok().flatten().unwrap_or_default().to_owned();
    let to = return_to::read(Some(&field("return_to")));
    let (email, password) = (field("email"), Secret::new(field("password")));
    let begun = state
        .people
        .sign_in(&email, password, &browser::agent(&headers))
        .await;
    match begun {
        Ok(begun) => Ok(enter(&state, &begun, &to)),
        Err(refused) => {
            let (status, _, text, wait) = told(refused)?;
            let mut response = shown(status, &to, &email, Some(&text));
            if let Some(wait) = wait {
                response
                    .headers_mut()
                    .insert(header::RETRY_AFTER, HeaderValue::from(wait));
            }
            Ok(response)
        }
    }
}

pub(super) async fn sign_out(State(state): State<AppState>, headers: HeaderMap) -> Result<Response, Problem> {
    browser::own_form(&state, &headers)?;
    if let Some(who) = browser::signed_in(&state, &headers).await
        && let Err(refused) = state.people.sign_out(who.member, who.session).await
    {
        told(refused)?;
    }
    let mut response = Redirect::to("/sign-in").into_response();
    browser::forget(&state, &mut response);
    Ok(response)
}

fn shown(status: StatusCode, to: &str, email: &str, wrong: Option<&str>) -> Response {
    let fields = [
        Field {
            name: "email",
            label: "E-mail address",
            kind: "email",
            autocomplete: "username",
            value: email,
            hint: None,
            wrong: wrong.is_some(),
            first: email.is_empty(),
        },
        Field {
            name: "password",
            label: "Password",
            kind: "password",
            autocomplete: "current-password",
            value: "",
            hint: None,
            wrong: wrong.is_some(),
            first: !email.is_empty(),
        },
    ];
    let fields: String = fields.iter().map(Field::html).collect();
    let body = format!(
        "<section class=\"card\">{}<form method=\"post\" action=\"/sign-in\">{fields}\
         <input type=\"hidden\" name=\"return_to\" value=\"{}\">\
         <div class=\"row\"><button type=\"submit\">Sign in</button></div></form></section>\
         <p class=\"hint\">No account yet? An Owner or Admin sends you a link. The password forgotten? They remove you and send you \
         another one; for the only Owner, whoever runs the server starts it with <code>--owner-link</code>.</p>",
        trouble(wrong),
        escaped(to)
    );
    page(status, "Sign in", &body)
}
