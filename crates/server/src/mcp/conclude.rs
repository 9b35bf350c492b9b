//! What the kernel's reply to a call becomes for this client.

use domain::{ApprovalId, CallId, Outcome, PeerError, Timestamp};
use gateway::{ApprovalNotice, Notice, ReplyBody, ToolReply};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::answer::{Answer, RpcError, codes};
use super::ears::{Heard, Wish};
use super::elder;
use super::flight::{Ask, Extras, Flight, Start};
use super::parked::Waiting;
use super::seal::{self, Refers};
use super::talk::{React, Talk};
use super::version::Era;
use super::wire::{Members, push_text};

/// How a modern request that brings answers goes on.
pub(super) enum Resumed {
    /// With this call; at once as a stream, where it waits for a person.
    Flight(Flight, bool),
    /// Not at all.
    Answer(Answer),
}

impl Talk {
    pub(super) fn conclude(&self, reply: ToolReply) -> React {
        self.state.metrics.call(reply.outcome.status);
        if let (Ask::Context { method, subject, .. }, Some(session)) = (&self.ask, &self.client.session)
            && *method == "resources/subscribe"
            && reply.outcome != Outcome::SUCCEEDED
        {
            session.unsubscribe(subject);
        }
        React::Ended(match reply.body {
            ReplyBody::Result(raw) => Answer::Result(self.fitting(raw)),
            ReplyBody::InputRequired(raw) => match (self.client.era, &self.client.session) {
                (Era::Modern, _) => Answer::Result(raw),
                (Era::Legacy(_), Some(_)) => return React::Rounds(raw),
                (Era::Legacy(_), None) => self.failed(
                    "input_required",
                    "the server asks for input, for which a client needs a session",
                ),
            },
            ReplyBody::Error(error) => self.error(error),
            ReplyBody::Notice(notice) => self.notice(reply.call, notice),
            ReplyBody::Approval(notice) => self.approval(reply.call, &notice),
        })
    }

    /// A result as this client's revision has it.
    fn fitting(&self, raw: Box<RawValue>) -> Box<RawValue> {
        match (&self.ask, self.client.era) {
            (Ask::Tool { .. }, Era::Legacy(_)) => elder::result(&raw).unwrap_or(raw),
            (Ask::Tool { .. } | Ask::Context { .. }, _) => raw,
        }
    }

    /// The answer to a call that Switchboard itself ends.
    pub(super) fn failed(&self, code: &'static str, text: &str) -> Answer {
        let mut details = Map::new();
        details.insert("code".to_owned(), code.into());
        self.told(text, details)
    }

    /// An upstream's error, untouched but for codes this client's revision does not have.
    fn error(&self, error: PeerError) -> Answer {
        let mut error = RpcError::from(error);
        if matches!(error.code, codes::HEADER_MISMATCH | codes::UNSUPPORTED_VERSION) {
            // About what we sent the server, not about what the client sent us, which would look for its own fault.
            return Answer::Error(RpcError::new(
                codes::INTERNAL,
                format!("the server refused how it was asked: {}", error.message),
            ));
        }
        if self.client.era == Era::Modern {
            match error.code {
                codes::RESOURCE_NOT_FOUND => error.code = codes::INVALID_PARAMS,
                codes::URL_ELICITATION => return self.urls_first(error),
                _ => {}
            }
        }
        Answer::Error(error)
    }

    fn notice(&self, call: CallId, notice: Notice) -> Answer {
        let unknown = notice.code == "unknown_tool";
        match &self.ask {
            Ask::Tool { name, .. } if unknown => {
                let shown: String = name.chars().take(128).collect();
                return Answer::Error(RpcError::invalid(format!("unknown tool: {shown}")));
            }
            Ask::Context { method, subject, .. } if unknown => {
                let is_resource = method.starts_with("resources/");
                let what = if is_resource {
                    "resource"
                } else {
                    "prompt or resource"
                };
                let old = is_resource && self.client.era != Era::Modern;
                let code = if old {
                    codes::RESOURCE_NOT_FOUND
                } else {
                    codes::INVALID_PARAMS
                };
                let error = RpcError::new(code, format!("there is no such {what} here"));
                return Answer::Error(error.with(&json!({ "uri": &**subject })));
            }
            Ask::Tool { .. } | Ask::Context { .. } => {}
        }
        let mut details = match notice.details {
            Value::Object(details) => details,
            _ => Map::new(),
        };
        details.insert("code".to_owned(), notice.code.into());
        details.insert("call_id".to_owned(), call.to_string().into());
        self.told(&notice.text, details)
    }

    /// Says something in place of a result: to models as text, to programs as structured content. Where the tool declares what its
    /// structured content is like, ours would break that promise, so there it is left out.
    fn told(&self, text: &str, details: Map<String, Value>) -> Answer {
        match &self.ask {
            Ask::Tool { name, .. } => {
                let mut result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
                let promised = self
                    .view
                    .definition(name)
                    .is_some_and(|raw| raw.get().contains("\"outputSchema\""));
                if let (Value::Object(result), false) = (&mut result, promised) {
                    result.insert("structuredContent".to_owned(), details.into());
                }
                Answer::of(&result)
            }
            Ask::Context { .. } => {
                let invalid = details
                    .get("code")
                    .is_some_and(|code| code == "invalid_arguments");
                let code = if invalid {
                    codes::INVALID_PARAMS
                } else {
                    codes::INTERNAL
                };
                Answer::Error(RpcError::new(code, text.to_owned()).with(&details.into()))
            }
        }
    }

    /// A person must say yes first: shown by the client where it can show a URL, else told.
    fn approval(&self, call: CallId, notice: &ApprovalNotice) -> Answer {
        let id = notice.approval;
        match (self.client.era, &self.client.session, self.client.can.url) {
            (Era::Modern, _, true) => {
                let params = json!({ "mode": "url", "url": &*notice.url, "message": notice.text });
                let requests = json!({ "approval": { "method": "elicitation/create", "params": params } });
                let refers = Refers::Approval(id.uuid().into_bytes());
                self.input_required(&requests.to_string(), refers, seconds(notice.expires_at))
            }
            (Era::Legacy(_), Some(session), true) => {
                session.await_approval(id);
                let elicitation = json!({
                    "mode": "url", "elicitationId": id.to_string(), "url": &*notice.url, "message": notice.text,
                });
                let error = RpcError::new(codes::URL_ELICITATION, notice.text.clone());
                Answer::Error(error.with(&json!({ "elicitations": [elicitation] })))
            }
            _ => {
                let mut details = Map::new();
                details.insert("code".to_owned(), "approval_required".into());
                details.insert("approval_id".to_owned(), id.to_string().into());
                details.insert("url".to_owned(), (*notice.url).into());
                details.insert("expires_at".to_owned(), rfc3339(notice.expires_at).into());
                details.insert("call_id".to_owned(), call.to_string().into());
                self.told(&notice.text, details)
            }
        }
    }

    /// A legacy upstream wants URLs visited before the call is repeated (2025-11-25); a modern client hears it in its own way.
    fn urls_first(&self, error: RpcError) -> Answer {
        let data = error.data.as_deref().and_then(Members::read).unwrap_or_default();
        let urls: Vec<&RawValue> = data
            .get("elicitations")
            .and_then(|raw| serde_json::from_str(raw.get()).ok())
            .unwrap_or_default();
        if urls.is_empty() || !self.client.can.url {
            return self.failed("input_required", &error.message);
        }
        let mut requests = String::from("{");
        for (number, url) in urls.iter().take(16).enumerate() {
            if number > 0 {
                requests.push(',');
            }
            requests.push_str(&format!(
                r#""url{number}":{{"method":"elicitation/create","params":{}}}"#,
                url.get()
            ));
        }
        requests.push('}');
        self.input_required(&requests, Refers::Again, self.answer_by())
    }

    /// Lets a call wait for what its upstream wants from a modern client.
    pub(super) fn park(&self, flight: Flight, wish: Wish) -> Answer {
        let mut wishes = vec![("r1".to_owned(), wish)];
        while let Some(heard) = flight.said() {
            // A notification cannot be sent with the answer; it is left out.
            let Heard::Wish(wish) = heard else { continue };
            if self.client.can.admits(&wish.method, wish.params.as_deref()) {
                wishes.push((format!("r{}", wishes.len() + 1), wish));
            } else {
                wish.refuse();
            }
        }
        self.wait(Waiting { flight, wishes })
    }

    fn wait(&self, waiting: Waiting) -> Answer {
        let requests = waiting.requests();
        let longest = self.state.gateway.answer_within();
        match self
            .state
            .sessions
            .inner
            .parked
            .put(self.principal, (waiting, longest))
        {
            Ok(id) => self.input_required(&requests, Refers::Parked(id), self.answer_by()),
            // Dropping the call cancels it.
            Err(_given_back) => self.failed(
                "too_many_waiting",
                "too many calls wait for input already; try again later",
            ),
        }
    }

    fn input_required(&self, requests: &str, refers: Refers, expires: u64) -> Answer {
        let Some(state) = self
            .state
            .sessions
            .inner
            .seal
            .seal(refers, expires, &self.bound())
        else {
            return Answer::Error(RpcError::new(
                codes::INTERNAL,
                "no random numbers from the operating system",
            ));
        };
        let mut out =
            format!(r#"{{"resultType":"input_required","inputRequests":{requests},"requestState":"#);
        push_text(&mut out, &state);
        out.push('}');
        Answer::Result(RawValue::from_string(out).unwrap_or_default())
    }

    /// Goes on with what a request brings: answers to our own questions, or to an upstream's.
    pub(super) async fn resume(&self, params: &Members<'_>) -> Resumed {
        let responses = params.get("inputResponses");
        let state = params.text("requestState");
        let Some(ours) = state.filter(|state| seal::is_ours(state)) else {
            let keys = ["inputResponses", "requestState"];
            let extras: Extras = keys
                .into_iter()
                .filter_map(|key| Some((key.into(), super::client::shared(params.get(key)?))))
                .collect();
            return Resumed::Flight(self.start(extras), false);
        };
        let shared = &self.state.sessions.inner;
        match shared.seal.open(&ours, self.now(), &self.bound()) {
            Err(bad) => Resumed::Answer(Answer::Error(RpcError::invalid(bad.to_string()))),
            Ok(Refers::Again) => Resumed::Flight(self.start(Extras::new()), false),
            Ok(Refers::Approval(id)) => {
                let approval = ApprovalId::from_uuid(uuid::Uuid::from_bytes(id));
                let start = Start {
                    ask: self.ask.clone(),
                    extras: Extras::new(),
                    after: accepted(responses).then_some((self.principal, approval)),
                };
                Resumed::Flight(
                    Flight::start(&self.state.gateway, &self.view, &self.client, start),
                    true,
                )
            }
            Ok(Refers::Parked(id)) => {
                let Some(mut waiting) = shared.parked.take(id).await else {
                    return Resumed::Answer(Answer::Error(RpcError::invalid(seal::BadState.to_string())));
                };
                waiting.answer(responses);
                if waiting.wishes.is_empty() {
                    waiting.flight.readdress(&self.client);
                    return Resumed::Flight(waiting.flight, false);
                }
                Resumed::Answer(self.wait(waiting))
            }
        }
    }

    /// What a state of ours is bound to: who, where, and exactly this request.
    fn bound(&self) -> Vec<u8> {
        let mut bound = format!("{:?}|{:?}|", self.principal, self.place).into_bytes();
        bound.extend_from_slice(self.ask.digest().bytes());
        bound
    }

    /// Until when the client may come back with an answer.
    fn answer_by(&self) -> u64 {
        self.now() + self.state.gateway.answer_within().as_secs()
    }

    fn now(&self) -> u64 {
        seconds(self.state.gateway.clock().now())
    }
}

/// Whether the client went to the page; one that declined does not wait for it.
fn accepted(responses: Option<&RawValue>) -> bool {
    let answer = responses
        .and_then(Members::read)
        .and_then(|members| members.get("approval"));
    let action = answer
        .and_then(Members::read)
        .and_then(|members| members.text("action").map(|a| a == "accept"));
    action.unwrap_or(true)
}

fn seconds(at: Timestamp) -> u64 {
    u64::try_from(at.micros() / 1_000_000).unwrap_or(0)
}

fn rfc3339(at: Timestamp) -> String {
    chrono::DateTime::from_timestamp_micros(at.micros())
        .map(|time| time.to_rfc3339_opts(chrono::SecondsFormat::Secs, true))
        .unwrap_or_default()
}
