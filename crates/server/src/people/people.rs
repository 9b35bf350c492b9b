//! The people of the workspace, for those who administer it: who there is, who is asked to come, and what each may do.

use api::members::{CreatedInvitation, Member};
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use domain::{Role, Surface};
use gateway::{Failure, Operation};
use http::{HeaderMap, StatusCode};
use identity::SignedIn;
use identity::oauth::Parameters;
use serde_json::{Value, json};

use super::browser;
use super::html::{Field, escaped, page, trouble};
use crate::problem::{Problem, status};
use crate::state::AppState;

const HERE: &str = "/people";
/// Roles as they are offered.
const ROLES: [Role; 5] = [
    Role::Viewer,
    Role::Member,
    Role::Admin,
    Role::Owner,
    Role::Billing,
];

pub(super) async fn show(State(state): State<AppState>, headers: HeaderMap) -> Response {
    match browser::wanted(&state, &headers, HERE).await {
        Ok(who) => shown(&state, &who, (StatusCode::OK, None), "").await,
        Err(way) => way,
    }
}

/// Asks somebody to come; the page that follows shows the link, once.
pub(super) async fn invite(
    State(state): State<AppState>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    browser::own_form(&state, &headers)?;
    let who = match browser::wanted(&state, &headers, HERE).await {
        Ok(who) => who,
        Err(way) => return Ok(way),
    };
    let form = Parameters::read(&body);
    let field = |name: &str| form.one(name).ok().flatten().unwrap_or_default();
    let input = json!({ "email": field("email"), "role": field("role"), "scope": field("scope") });
    match operate(&state, &who, "members.invite", input).await {
        Ok(made) => {
            let made: CreatedInvitation = serde_json::from_value(made)
                .map_err(|error| Failure::internal("an invitation was made and cannot be shown", error))?;
            let link = format!(
                "<section class=\"card\" role=\"status\"><p>Send this link to {}. It is shown this once, and is good for seven days:</p>\
                 <p><code>{}</code></p></section>",
                escaped(made.invitation.email.as_deref().unwrap_or_default()),
                escaped(&made.url)
            );
            Ok(shown(&state, &who, (StatusCode::OK, None), &link).await)
        }
        Err(failure) => Ok(refused(&state, &who, &failure).await),
    }
}

/// Changes a member, or removes them.
pub(super) async fn change(
    State(state): State<AppState>,
    Path(member): Path<uuid::Uuid>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    browser::own_form(&state, &headers)?;
    let who = match browser::wanted(&state, &headers, HERE).await {
        Ok(who) => who,
        Err(way) => return Ok(way),
    };
    let form = Parameters::read(&body);
    let field = |name: &str| form.one(name).ok().flatten();
    let version: u32 = field("version")
        .and_then(|text| text.parse().ok())
        .unwrap_or_default();
    let done = match field("act").unwrap_or_default() {
        "remove" => operate(&state, &who, "members.remove", json!({ "member": member })).await,
        act => {
            let mut input = json!({ "member": member, "expected_version": version });
            let set = match act {
                "enable" => Some(("enabled", json!(true))),
                "disable" => Some(("enabled", json!(false))),
                _ => field("role").map(|role| ("role", json!(role))),
            };
            if let (Some((name, value)), Some(fields)) = (set, input.as_object_mut()) {
                fields.insert(name.to_owned(), value);
                fields.extend(field("scope").map(|scope| ("scope".to_owned(), json!(scope))));
            }
            operate(&state, &who, "members.update", input).await
        }
    };
    match done {
        Ok(_) => Ok(Redirect::to(HERE).into_response()),
        Err(failure) => Ok(refused(&state, &who, &failure).await),
    }
}

async fn operate(state: &AppState, who: &SignedIn, id: &str, input: Value) -> Result<Value, Failure> {
    let operation = Operation {
        principal: who.principal,
        surface: Surface::Page,
        id: id.to_owned(),
        input,
        idempotency_key: None,
    };
    Ok(state.gateway.operate(operation).await?.body.unwrap_or_default())
}

async fn refused(state: &AppState, who: &SignedIn, failure: &Failure) -> Response {
    let wrong = (status(failure.kind), Some(failure.detail.as_str()));
    shown(state, who, wrong, "").await
}

async fn shown(
    state: &AppState,
    who: &SignedIn,
    (status, wrong): (StatusCode, Option<&str>),
    told: &str,
) -> Response {
    // A workspace with more people than this is administered through the API.
    let listed = operate(state, who, "members.list", json!({ "limit": 100 })).await;
    let members: Vec<Member> = match listed
        .map(|mut page| serde_json::from_value(page.get_mut("items").map(Value::take).unwrap_or_default()))
    {
        Ok(Ok(members)) => members,
        Ok(Err(error)) => {
            return Problem(Failure::internal("the members cannot be shown", error)).into_response();
        }
        Err(failure) => {
            let body = format!(
                "<section class=\"card\"><p>{}</p></section>",
                escaped(&failure.detail)
            );
            return page(StatusCode::FORBIDDEN, "Not for you", &body);
        }
    };
    let may = who.principal.is_admin();
    let items: String = members.iter().map(|member| item(member, may)).collect();
    let ask = if may { asking() } else { String::new() };
    let body = format!(
        "{}{told}<section class=\"card\"><ul class=\"list people\">{items}</ul></section>{ask}<p><a href=\"/account\">Your account</a></p>",
        trouble(wrong)
    );
    page(status, "People", &body)
}

fn item(member: &Member, may: bool) -> String {
    let word = |role: &api::words::Role| {
        let word = serde_json::to_value(role).unwrap_or_default();
        word.as_str().unwrap_or_default().to_owned()
    };
    let role = member.role.as_ref().map_or_else(String::new, word);
    let (scope, held) = match (&member.organization_role, &member.workspace_role) {
        (Some(role), _) => ("organization", word(role)),
        (None, Some(role)) => ("workspace", word(role)),
        (None, None) => ("workspace", String::new()),
    };
    let off = if member.enabled { "" } else { ", switched off" };
    let about = format!(
        "<span>{} <span class=\"hint\">{}</span><br><span class=\"hint\">{role}{off}</span></span>",
        escaped(&member.name),
        escaped(&member.email)
    );
    if !may {
        return format!("<li>{about}<span></span></li>");
    }
    // Who is to be removed is switched off first: a slip of the finger can be taken back.
    let (toggle, words, remove) = if member.enabled {
        ("disable", "Switch off", "")
    } else {
        let remove = "<button class=\"no\" type=\"submit\" name=\"act\" value=\"remove\">Remove</button>";
        ("enable", "Switch on", remove)
    };
    format!(
        "<li>{about}<form class=\"row\" method=\"post\" action=\"/people/{}\">\
         <input type=\"hidden\" name=\"version\" value=\"{}\"><input type=\"hidden\" name=\"scope\" value=\"{scope}\">\
         {}<button type=\"submit\" name=\"act\" value=\"role\">Change</button>\
         <button type=\"submit\" name=\"act\" value=\"{toggle}\">{words}</button>\
         {remove}</form></li>",
        member.id,
        member.version,
        choice(&format!("Role of {}", member.name), &held)
    )
}

fn choice(label: &str, held: &str) -> String {
    let options: String = ROLES
        .iter()
        .map(|role| {
            let chosen = if role.as_str() == held { " selected" } else { "" };
            format!("<option{chosen}>{role}</option>")
        })
        .collect();
    format!(
        "<select name=\"role\" aria-label=\"{}\">{options}</select>",
        escaped(label)
    )
}

fn asking() -> String {
    let email = Field {
        name: "email",
        label: "E-mail address",
        kind: "email",
        autocomplete: "off",
        value: "",
        hint: None,
        wrong: false,
        first: false,
    };
    format!(
        "<section class=\"card\"><h2>Ask somebody to come</h2><form method=\"post\" action=\"/people\">{}\
         <div class=\"field\"><label for=\"invited\">Role</label>{}</div>\
         <div class=\"field\"><label for=\"scope\">Where</label><select id=\"scope\" name=\"scope\">\
         <option value=\"workspace\">in this workspace</option><option value=\"organization\">in the whole organization</option></select></div>\
         <div class=\"row\"><button type=\"submit\">Make the link</button></div></form></section>",
        email.html(),
        choice("Role", "member").replacen("<select", "<select id=\"invited\"", 1)
    )
}
