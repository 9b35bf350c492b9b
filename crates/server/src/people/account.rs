//! A person's own account: who they are, their password, and the browsers they are signed in with.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use chrono::{DateTime, Utc};
use domain::{BrowserSession, Member, Secret, SessionId};
use gateway::Failure;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use identity::oauth::Parameters;
use identity::{Refused, SignedIn};

use super::html::{Field, escaped, page, trouble};
use super::{browser, told};
use crate::problem::Problem;
use crate::state::AppState;

const HERE: &str = "/account";

pub(super) async fn show(State(state): State<AppState>, headers: HeaderMap) -> Result<Response, Problem> {
    match browser::wanted(&state, &headers, HERE).await {
        Ok(who) => shown(&state, who, (StatusCode::OK, None)).await,
        Err(way) => Ok(way),
    }
}

pub(super) async fn password(
    State(state): State<AppState>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    browser::own_form(&state, &headers)?;
    let who = match browser::wanted(&state, &headers, HERE).await {
        Ok(who) => who,
        Err(way) => return Ok(way),
    };
    let parameters = Parameters::read(&body);
    let field = |name: &str| Secret::new(parameters.one(name).ok().flatten().unwrap_or_default().to_owned());
    let passwords = (field("old_password"), field("password"));
    match state
        .people
        .change_password((who.member, who.session), passwords)
        .await
    {
        Ok(()) => Ok(Redirect::to(HERE).into_response()),
        Err(refused) => {
            let field = if matches!(refused, Refused::Weak(_)) {
                "password"
            } else {
                "old_password"
            };
            let (status, _, text, wait) = told(refused)?;
            let mut response = shown(&state, who, (status, Some((field, &text)))).await?;
            if let Some(wait) = wait {
                response
                    .headers_mut()
                    .insert(header::RETRY_AFTER, HeaderValue::from(wait));
            }
            Ok(response)
        }
    }
}

pub(super) async fn end(
    State(state): State<AppState>,
    Path(session): Path<uuid::Uuid>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    browser::own_form(&state, &headers)?;
    let who = match browser::wanted(&state, &headers, HERE).await {
        Ok(who) => who,
        Err(way) => return Ok(way),
    };
    match state
        .people
        .sign_out(who.member, SessionId::from_uuid(session))
        .await
    {
        // Gone already is as good.
        Ok(()) | Err(Refused::Gone) => Ok(Redirect::to(HERE).into_response()),
        Err(refused) => Err(told(refused)
            .err()
            .unwrap_or_else(|| Problem(Failure::not_found("session")))),
    }
}

async fn shown(
    state: &AppState,
    who: SignedIn,
    (status, wrong): (StatusCode, Option<(&str, &str)>),
) -> Result<Response, Problem> {
    let found = state.people.account(who.member).await;
    let (member, sessions) = match found {
        Ok(found) => found,
        Err(refused) => {
            let lost = told(refused).err();
            return Err(lost.unwrap_or_else(|| Problem(Failure::not_found("member"))));
        }
    };
    let body = format!(
        "{}{}{}",
        about(&member),
        change_password(wrong),
        browsers(&sessions, who.session)
    );
    Ok(page(status, "Your account", &body))
}

fn about(member: &Member) -> String {
    let role = member.role().map_or("none", domain::Role::as_str);
    format!(
        "<section class=\"card\"><dl><dt>Name</dt><dd>{}</dd><dt>E-mail</dt><dd>{}</dd><dt>Role</dt><dd>{role}</dd></dl>\
         <p><a href=\"/approvals\">What waits for a person</a> · <a href=\"/people\">People of this workspace</a></p>\
         <form method=\"post\" action=\"/sign-out\"><div class=\"row\"><button type=\"submit\">Sign out</button></div></form></section>",
        escaped(&member.name),
        escaped(&member.email)
    )
}

fn change_password(wrong: Option<(&str, &str)>) -> String {
    let is_wrong = |field: &str| wrong.is_some_and(|(wrong, _)| wrong == field);
    let field = |name: &'static str, label: &'static str, autocomplete: &'static str| {
        let field = Field {
            name,
            label,
            kind: "password",
            autocomplete,
            value: "",
            hint: None,
            wrong: is_wrong(name),
            first: is_wrong(name),
        };
        field.html()
    };
    format!(
        "<section class=\"card\"><h2>Change the password</h2>{}<form method=\"post\" action=\"/account/password\">{}{}\
         <p class=\"hint\">Other browsers are signed out by it.</p>\
         <div class=\"row\"><button type=\"submit\">Change it</button></div></form></section>",
        trouble(wrong.map(|(_, text)| text)),
        field("old_password", "The password you have", "current-password"),
        field("password", "The new one, at least 12 characters", "new-password")
    )
}

fn browsers(sessions: &[BrowserSession], this: SessionId) -> String {
    let item = |session: &BrowserSession| {
        let since = DateTime::<Utc>::from_timestamp_micros(session.created_at.micros()).unwrap_or_default();
        let end = if session.id == this {
            "<span>this one</span>".to_owned()
        } else {
            format!(
                "<form class=\"quiet\" method=\"post\" action=\"/account/sessions/{}/end\"><button type=\"submit\">Sign out</button></form>",
                session.id
            )
        };
        format!(
            "<li><span>{}<br><span class=\"hint\">since {}</span></span>{end}</li>",
            escaped(&session.browser),
            since.format("%Y-%m-%d %H:%M UTC")
        )
    };
    let items: String = sessions.iter().map(item).collect();
    format!("<section class=\"card\"><h2>Signed in with</h2><ul class=\"list\">{items}</ul></section>")
}
