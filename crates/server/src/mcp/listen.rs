//! `subscriptions/listen` (2026-07-28): subscribes upstream, acknowledges, and tells of changes.

use std::collections::HashSet;
use std::sync::Arc;

use axum::response::Response;
use domain::Outcome;
use futures::future::join_all;
use gateway::{ContextRequest, Exchange, Gateway, View};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::answer::{RpcError, codes};
use super::ears::notification;
use super::serve::Request;
use super::session::SUBSCRIPTIONS;
use super::sessions::Sessions;
use super::watch::{Leave, Opening, Wants, respond, tagged};
use super::wire::{Members, push_text, text_of};

/// The lists, as the filter names them.
const LISTS: [&str; 3] = ["toolsListChanged", "promptsListChanged", "resourcesListChanged"];

/// Answers with a stream.
pub(super) async fn listen(request: &Request<'_>, view: Arc<View>) -> Result<Response, RpcError> {
    let bad = || RpcError::invalid("params.notifications must say what to listen for");
    let params = Members::of_params(request.params).ok_or_else(bad)?;
    let filter = params
        .get("notifications")
        .and_then(Members::read)
        .ok_or_else(bad)?;
    let lists = LISTS.map(|key| filter.get(key).is_some_and(|raw| raw.get() == "true"));
    let wanted = uris(filter.get("resourceSubscriptions")).ok_or_else(bad)?;
    let key = request.view_key().ok_or_else(bad)?;
    let Some(listening) = request.state.sessions.listen(request.principal) else {
        let what = "too many streams are open with this key; close one";
        return Err(RpcError::new(codes::INTERNAL, what));
    };
    let gateway = &request.state.gateway;
    let changes = gateway.changes();
    let listener = Sessions::new_id()
        .ok_or_else(|| RpcError::new(codes::INTERNAL, "no random numbers from the operating system"))?;
    let leave = leave(gateway, &view, request, &listener);
    let uris = subscribe(gateway, &view, &listener, wanted).await;
    let first = acknowledged(request.id, lists, &uris);
    let wants = Wants::Listed {
        id: request.id.to_owned(),
        lists,
        uris,
    };
    let opening = Opening {
        marks: view.marks(),
        key,
        changes,
        wants,
        held: Box::new((leave, listening)),
        ended: request.state.sessions.inner.closing.child_token(),
        heard: None,
        first: Some(first),
    };
    Ok(respond(request.state, opening))
}

fn uris(raw: Option<&RawValue>) -> Option<Vec<Arc<str>>> {
    let Some(raw) = raw else { return Some(Vec::new()) };
    let items: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
    if items.len() > SUBSCRIPTIONS {
        return None;
    }
    items
        .into_iter()
        .map(|item| text_of(item).map(Arc::from))
        .collect()
}

/// Subscribes at the upstreams; those that took it.
async fn subscribe(
    gateway: &Gateway,
    view: &Arc<View>,
    listener: &Arc<str>,
    uris: Vec<Arc<str>>,
) -> HashSet<Arc<str>> {
    let each = uris.into_iter().map(|uri| async move {
        let mut params = String::from(r#"{"uri":"#);
        push_text(&mut params, &uri);
        params.push('}');
        let request = ContextRequest {
            method: "resources/subscribe".into(),
            subject: uri.clone(),
            params: RawValue::from_string(params).unwrap_or_default(),
            exchange: Exchange {
                session: Some(listener.clone()),
                ..Exchange::default()
            },
        };
        let reply = gateway.context(view, request).await;
        (reply.outcome == Outcome::SUCCEEDED).then_some(uri)
    });
    join_all(each).await.into_iter().flatten().collect()
}

fn acknowledged(id: &RawValue, lists: [bool; 3], uris: &HashSet<Arc<str>>) -> String {
    let mut agreed: serde_json::Map<String, Value> = LISTS
        .into_iter()
        .zip(lists)
        .filter(|(_, on)| *on)
        .map(|(key, on)| (key.to_owned(), on.into()))
        .collect();
    if !uris.is_empty() {
        agreed.insert(
            "resourceSubscriptions".to_owned(),
            json!(uris.iter().map(|uri| &**uri).collect::<Vec<_>>()),
        );
    }
    let params = tagged(id, &format!(r#""notifications":{}"#, Value::Object(agreed)));
    notification("notifications/subscriptions/acknowledged", Some(&params))
}

/// When the stream ends, the upstreams need not tell us any more.
fn leave(gateway: &Gateway, view: &Arc<View>, request: &Request<'_>, listener: &Arc<str>) -> Leave {
    let (gateway, principal, agent) = (gateway.clone(), request.principal, view.agent().id);
    let listener = listener.clone();
    Leave(Some(Box::new(move || {
        gateway.end_session(&listener, &principal, Some(agent))
    })))
}
