//! Questions to a person, on pages: those that wait, and one with exactly what would be sent.

use api::approvals::Approval;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use domain::Surface;
use gateway::{Failure, Operation};
use http::{HeaderMap, StatusCode};
use identity::SignedIn;
use identity::oauth::Parameters;
use serde_json::{Value, json};

use super::html::{escaped, page, trouble};
use super::{browser, visible};
use crate::page as pages;
use crate::problem::{Problem, status};
use crate::state::AppState;

const HERE: &str = "/approvals";

/// The questions that wait, those that lapse first first.
pub(super) async fn list(State(state): State<AppState>, headers: HeaderMap) -> Response {
    let who = match browser::wanted(&state, &headers, HERE).await {
        Ok(who) => who,
        Err(way) => return way,
    };
    let listed = operate(&state, &who, "list_approvals", json!({ "limit": 100 })).await;
    let items = listed.map(|mut page| page.get_mut("items").map(Value::take).unwrap_or_default());
    let waiting: Vec<Approval> = match items.map(serde_json::from_value) {
        Ok(Ok(waiting)) => waiting,
        Ok(Err(error)) => {
            return Problem(Failure::internal("the questions cannot be shown", error)).into_response();
        }
        Err(failure) => return refused(&failure),
    };
    let items: String = waiting.iter().map(item).collect();
    let body = if items.is_empty() {
        "<section class=\"card\"><p>Nothing waits for you. Calls that ask a person appear here.</p></section>"
            .to_owned()
    } else {
        format!("<section class=\"card\"><ul class=\"list\">{items}</ul></section>")
    };
    page(StatusCode::OK, "What waits for a person", &body)
}

/// One question. Whoever is not signed in may show a key instead.
pub(super) async fn show(
    State(state): State<AppState>,
    Path(id): Path<uuid::Uuid>,
    headers: HeaderMap,
) -> Response {
    let Some(who) = browser::signed_in(&state, &headers).await else {
        let text = include_str!("../assets/approval.html").replace("{id}", &id.to_string());
        return pages::with_status(StatusCode::OK, text);
    };
    shown(&state, &who, id, None).await
}

/// The answer.
pub(super) async fn answer(
    State(state): State<AppState>,
    Path(id): Path<uuid::Uuid>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    browser::own_form(&state, &headers)?;
    let here = format!("{HERE}/{id}");
    let who = match browser::wanted(&state, &headers, &here).await {
        Ok(who) => who,
        Err(way) => return Ok(way),
    };
    let form = Parameters::read(&body);
    let field = |name: &str| form.one(name).ok().flatten();
    let mut input = json!({ "approval": id, "decision": field("decision").unwrap_or_default() });
    if let (Some(note), Some(fields)) = (field("note"), input.as_object_mut()) {
        fields.insert("note".to_owned(), json!(note));
    }
    Ok(match operate(&state, &who, "resolve_approval", input).await {
        Ok(_) => Redirect::to(&here).into_response(),
        Err(failure) => shown(&state, &who, id, Some(&failure)).await,
    })
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

async fn shown(state: &AppState, who: &SignedIn, id: uuid::Uuid, wrong: Option<&Failure>) -> Response {
    let found = operate(state, who, "approvals.show", json!({ "approval": id })).await;
    let approval: Approval = match found.map(serde_json::from_value) {
        Ok(Ok(approval)) => approval,
        Ok(Err(error)) => {
            return Problem(Failure::internal("the question cannot be shown", error)).into_response();
        }
        Err(failure) => return refused(&failure),
    };
    let code = wrong.map_or(StatusCode::OK, |failure| status(failure.kind));
    let open = word(&approval.state) == "pending" && who.principal.is_admin();
    let form = if open { answers(id) } else { String::new() };
    let body = format!(
        "{}<section class=\"card\">{}<h2>Exactly this will be sent</h2><pre tabindex=\"0\">{}</pre>{form}</section>\
         <p><a href=\"{HERE}\">What else waits</a></p>",
        trouble(wrong.map(|failure| failure.detail.as_str())),
        facts(&approval),
        escaped(&sent(&approval))
    );
    let title = format!(
        "{} wants to call {}",
        approval.agent,
        visible::text(&approval.tool)
    );
    page(code, &title, &body)
}

fn facts(approval: &Approval) -> String {
    let time = |at: &chrono::DateTime<chrono::Utc>| at.format("%Y-%m-%d %H:%M:%S UTC").to_string();
    let reason = match &approval.rule {
        Some(rule) => format!("{} (rule {rule})", approval.reason_text),
        None => approval.reason_text.clone(),
    };
    let risk = approval
        .risk
        .as_ref()
        .map_or_else(|| "not known".to_owned(), word);
    let facts = [
        ("Why you are asked", reason),
        ("Risk", risk),
        (
            "Server",
            approval
                .connection
                .clone()
                .unwrap_or_else(|| "built in".to_owned()),
        ),
        ("Asked", time(&approval.created_at)),
        ("Lapses", time(&approval.expires_at)),
        ("State", word(&approval.state)),
        ("Digest of the arguments", approval.arguments_digest.clone()),
    ];
    let rows: String = facts
        .iter()
        .map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>", escaped(&visible::text(value))))
        .collect();
    format!("<dl>{rows}</dl>")
}

/// What would be sent, with what the eye does not see written out.
fn sent(approval: &Approval) -> String {
    let Some(arguments) = &approval.arguments else {
        return "Only the digest is kept once a question is closed.".to_owned();
    };
    visible::text(&serde_json::to_string_pretty(arguments).unwrap_or_default())
}

fn answers(id: uuid::Uuid) -> String {
    format!(
        "<form method=\"post\" action=\"{HERE}/{id}\"><label for=\"note\">Note for the record (optional)</label>\
         <input id=\"note\" name=\"note\" maxlength=\"500\" autocomplete=\"off\"><div class=\"row\">\
         <button class=\"yes\" type=\"submit\" name=\"decision\" value=\"approved\">Approve this call</button>\
         <button class=\"no\" type=\"submit\" name=\"decision\" value=\"denied\">Deny</button></div></form>"
    )
}

fn item(approval: &Approval) -> String {
    format!(
        "<li><span><a href=\"{HERE}/{}\">{}</a><br><span class=\"hint\">{}, lapses {}</span></span><span>{}</span></li>",
        approval.id,
        escaped(&visible::text(&approval.tool)),
        escaped(&approval.agent),
        approval.expires_at.format("%H:%M UTC"),
        approval.risk.as_ref().map_or_else(String::new, word)
    )
}

fn refused(failure: &Failure) -> Response {
    let body = format!(
        "<section class=\"card\"><p>{}</p></section>",
        escaped(&failure.detail)
    );
    page(status(failure.kind), "Not for you", &body)
}

/// A word of a closed set as the API writes it.
fn word(value: &impl serde::Serialize) -> String {
    let word = serde_json::to_value(value).unwrap_or_default();
    word.as_str().unwrap_or_default().to_owned()
}
