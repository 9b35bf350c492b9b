//! A modern upstream's `input_required` for a legacy client: its requests go to the client one by one, its answers back together.

use std::sync::Arc;

use domain::PeerError;
use futures::future::join_all;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::ears::Wish;
use super::flight::Extras;
use super::log::Log;
use super::sessions::Sessions;
use super::talk::Talk;
use super::wire::{Members, push_text};

/// Most requests of one `input_required`.
const REQUESTS: usize = 32;

/// The upstream asks again and again.
pub(super) const TOO_MANY: &str = "the server keeps asking for input; this call gave no usable result";
const UNREADABLE: &str = "the server asked for input in a way that cannot be read";
const CANNOT: &str = "the server asked for input that this client cannot give";
const NO_ANSWER: &str = "the client gave no answer to what the server asked for";

type Waiting = (String, u64, oneshot::Receiver<Result<Box<RawValue>, PeerError>>);

/// Asks the client everything an `input_required` result asks for; what the repeated call must bring.
pub(super) async fn ask(talk: &Talk, required: &RawValue, log: &Log) -> Result<Extras, &'static str> {
    let members = Members::read(required).ok_or(UNREADABLE)?;
    let mut extras: Extras = Vec::new();
    if let Some(requests) = members.get("inputRequests") {
        let requests = Members::read(requests).ok_or(UNREADABLE)?;
        if requests.iter().count() > REQUESTS {
            return Err(TOO_MANY);
        }
        let mut waiting = Vec::new();
        for (key, request) in requests.iter() {
            waiting.push(send(talk, (key, request), log)?);
        }
        let responses = collect(talk, waiting).await?;
        extras.push(("inputResponses".into(), Arc::from(responses)));
    }
    if let Some(state) = members.get("requestState") {
        extras.push(("requestState".into(), Arc::from(state.to_owned())));
    }
    if extras.is_empty() {
        Err(UNREADABLE)
    } else {
        Ok(extras)
    }
}

fn send(talk: &Talk, (key, request): (&str, &RawValue), log: &Log) -> Result<Waiting, &'static str> {
    let request = Members::read(request).ok_or(UNREADABLE)?;
    let method = request.text("method").ok_or(UNREADABLE)?;
    let params = request.get("params");
    if !talk.client.can.admits(&method, params) {
        return Err(CANNOT);
    }
    let (answer, answered) = oneshot::channel();
    // The receiver is gone only when nobody waits any more.
    let responder = Box::new(move |outcome| drop(answer.send(outcome)));
    let params = params.map(|params| with_id(params, &method));
    let wish = Wish {
        method: method.into_owned(),
        params,
        responder,
    };
    let session = talk.client.session.as_ref().ok_or(CANNOT)?;
    let (text, number) = session.ask(wish).ok_or(TOO_MANY)?;
    log.push(&text);
    Ok((key.to_owned(), number, answered))
}

/// In 2025-11-25 a URL elicitation has an id; newer upstreams give none.
fn with_id(params: &RawValue, method: &str) -> Box<RawValue> {
    let members = Members::read(params).unwrap_or_default();
    let by_url = method == "elicitation/create" && members.text("mode").as_deref() == Some("url");
    let id = Sessions::new_id().filter(|_| by_url && members.get("elicitationId").is_none());
    let rest = params
        .get()
        .strip_prefix('{')
        .filter(|_| members.iter().next().is_some());
    match id.zip(rest) {
        Some((id, rest)) => RawValue::from_string(format!(r#"{{"elicitationId":"{id}",{rest}"#))
            .unwrap_or_else(|_| params.to_owned()),
        None => params.to_owned(),
    }
}

async fn collect(talk: &Talk, waiting: Vec<Waiting>) -> Result<Box<RawValue>, &'static str> {
    let numbers: Vec<u64> = waiting.iter().map(|(_, number, _)| *number).collect();
    let all = join_all(
        waiting
            .into_iter()
            .map(|(key, _, answer)| async { (key, answer.await) }),
    );
    let answers = tokio::time::timeout(talk.state.gateway.answer_within(), all).await;
    if let Some(session) = &talk.client.session {
        numbers.into_iter().for_each(|number| session.forget(number));
    }
    let mut out = String::from("{");
    for (key, answer) in answers.map_err(|_| NO_ANSWER)? {
        let Ok(Ok(answer)) = answer else {
            return Err(NO_ANSWER);
        };
        if out.len() > 1 {
            out.push(',');
        }
        push_text(&mut out, &key);
        out.push(':');
        out.push_str(answer.get());
    }
    out.push('}');
    RawValue::from_string(out).map_err(|_| UNREADABLE)
}
