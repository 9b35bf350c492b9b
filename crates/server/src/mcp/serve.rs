//! One request, once it is known who asks, where and in which era.

use std::sync::Arc;

use axum::response::{IntoResponse as _, Response};
use domain::Principal;
use gateway::{Failure, View, ViewKey};
use serde_json::json;
use serde_json::value::RawValue;

use super::answer::{Answer, Hints, RpcError, json_response};
use super::client::{Client, rank};
use super::conclude::Resumed;
use super::flight::{Ask, Extras};
use super::listen::listen;
use super::lists::List;
use super::operator;
use super::place::Place;
use super::talk::Talk;
use super::version::Era;
use super::welcome;
use super::wire::Members;
use crate::problem::Problem;
use crate::state::AppState;

/// How long a client may keep a list, in milliseconds. Short: what a view shows changes with every grant.
const LIST_TTL: u32 = 1_000;

/// A request.
pub(super) struct Request<'a> {
    pub(super) state: &'a AppState,
    pub(super) operator: &'a operator::Catalogue,
    pub(super) principal: Principal,
    pub(super) place: &'a Place,
    pub(super) client: Client,
    /// The view, where it was looked up already.
    pub(super) view: Option<Arc<View>>,
    pub(super) id: &'a RawValue,
    pub(super) method: &'a str,
    pub(super) params: Option<&'a RawValue>,
}

/// What a request comes to.
enum Served {
    Answer(Answer, Hints),
    Response(Response),
}

impl<'a> Request<'a> {
    /// Answers it.
    pub(super) async fn serve(self) -> Response {
        let (id, era) = (self.id, self.client.era);
        let served = match self.place {
            Place::Operator => self.operator_answer().await,
            Place::Agent(..) => match self.open().await {
                Ok(view) => self.agent_answer(view).await,
                Err(failure) => return Problem(failure).into_response(),
            },
        };
        match served {
            Ok(Served::Response(response)) => response,
            Ok(Served::Answer(answer, hints)) => {
                json_response(answer.status(era), answer.write(id, era, hints))
            }
            Err(error) => json_response(error.status(era), error.write(Some(id))),
        }
    }

    /// The view its endpoint shows to its principal.
    pub(super) fn view_key(&self) -> Option<ViewKey> {
        self.place.view_key(self.principal)
    }

    async fn open(&self) -> Result<Arc<View>, Failure> {
        if let Some(view) = self
            .view
            .as_ref()
            .filter(|view| !view.workspace().is_incomplete())
        {
            return Ok(view.clone());
        }
        let key = self.view_key().ok_or_else(|| Failure::not_found("agent"))?;
        self.state.gateway.open(&key).await
    }

    async fn operator_answer(&self) -> Result<Served, RpcError> {
        match (self.method, self.client.era) {
            ("tools/list", _) => {
                let page = self
                    .operator
                    .page(&self.state.gateway, self.cursor()?.as_deref())?;
                Ok(Served::Answer(Answer::Result(page), Hints::Cache(LIST_TTL)))
            }
            ("tools/call", _) => Ok(plain(operator::call(self).await?)),
            ("server/discover", Era::Modern) => Ok(discovered(None)),
            ("ping", Era::Legacy(_)) => Ok(plain(Answer::of(&json!({})))),
            (method, _) => Err(RpcError::no_method(method)),
        }
    }

    async fn agent_answer(self, view: Arc<View>) -> Result<Served, RpcError> {
        if let Some(list) = List::of(self.method) {
            let page = list.page(&view, self.client.era, self.cursor()?.as_deref())?;
            if let Some(session) = &self.client.session {
                session.saw_list(list.mark(), view.marks());
            }
            return Ok(Served::Answer(Answer::Result(page), Hints::Cache(LIST_TTL)));
        }
        match (self.method, self.client.era) {
            ("tools/call", _) => self.talk(view, tool).await,
            ("prompts/get", _) => self.talk(view, prompt).await,
            ("resources/read", _) => self.talk(view, |params| resource("resources/read", params)).await,
            ("completion/complete", _) => self.talk(view, completion).await,
            ("skills/get", _) => self.skill(&view),
            ("server/discover", Era::Modern) => Ok(discovered(Some(&view))),
            ("subscriptions/listen", Era::Modern) => Ok(Served::Response(listen(&self, view).await?)),
            ("ping", Era::Legacy(_)) => Ok(plain(Answer::of(&json!({})))),
            ("logging/setLevel", Era::Legacy(_)) => self.set_level(),
            ("resources/subscribe", Era::Legacy(_)) => self.subscribe(view).await,
            ("resources/unsubscribe", Era::Legacy(_)) => {
                let params = self.members()?;
                if let (Some(session), Some(uri)) = (&self.client.session, params.text("uri")) {
                    session.unsubscribe(&uri);
                }
                self.talk(view, |params| resource("resources/unsubscribe", params))
                    .await
            }
            (method, _) => Err(RpcError::no_method(method)),
        }
    }

    /// The entry of one skill (SEP-2640). Who asks for another learns nothing.
    fn skill(&self, view: &View) -> Result<Served, RpcError> {
        let params = self.members()?;
        let uri = params
            .text("uri")
            .ok_or_else(|| RpcError::invalid("params.uri is missing"))?;
        let mut served = view.skills().iter().filter(|offered| offered.served);
        let found = served.find(|offered| *offered.skill.uri == *uri);
        let found = found.ok_or_else(|| RpcError::invalid("there is no such skill here"))?;
        let text = format!(r#"{{"skill":{}}}"#, found.skill.raw.get());
        let raw =
            RawValue::from_string(text).map_err(|_| RpcError::invalid("there is no such skill here"))?;
        Ok(plain(Answer::Result(raw)))
    }

    async fn talk(
        self,
        view: Arc<View>,
        read: impl FnOnce(&Members<'_>) -> Option<Ask>,
    ) -> Result<Served, RpcError> {
        let params = self.members()?;
        let bad = || {
            RpcError::invalid(format!(
                "the params of {} are not what the protocol says",
                self.method
            ))
        };
        let ask = read(&params).ok_or_else(bad)?;
        let (era, brings) = (
            self.client.era,
            params
                .get("requestState")
                .or(params.get("inputResponses"))
                .is_some(),
        );
        let talk = Talk {
            state: self.state.clone(),
            principal: self.principal,
            place: self.place.clone(),
            view,
            client: self.client,
            id: self.id.to_owned(),
            ask,
        };
        let response = if era == Era::Modern && brings {
            match talk.resume(&params).await {
                Resumed::Flight(flight, at_once) => talk.run(flight, at_once).await,
                Resumed::Answer(answer) => talk.json(&answer),
            }
        } else {
            let flight = talk.start(Extras::new());
            talk.run(flight, false).await
        };
        Ok(Served::Response(response))
    }

    async fn subscribe(self, view: Arc<View>) -> Result<Served, RpcError> {
        let params = self.members()?;
        let uri: Arc<str> = params
            .text("uri")
            .map(Arc::from)
            .ok_or_else(|| RpcError::invalid("params.uri is missing"))?;
        let session = self.client.session.clone();
        let Some(session) = session else {
            return Err(RpcError::invalid(
                "subscribing needs a session: send the Mcp-Session-Id that initialize gave",
            ));
        };
        if !session.subscribe(&uri) {
            return Err(RpcError::invalid("too many subscriptions in one session"));
        }
        self.talk(view, |params| resource("resources/subscribe", params))
            .await
    }

    fn set_level(&self) -> Result<Served, RpcError> {
        let params = self.members()?;
        let level = params.text("level").filter(|level| rank(level).is_some());
        let level = level.ok_or_else(|| RpcError::invalid("params.level is no log level"))?;
        if let Some(session) = &self.client.session {
            session.set_level(&level);
        }
        Ok(plain(Answer::of(&json!({}))))
    }

    fn members(&self) -> Result<Members<'a>, RpcError> {
        Members::of_params(self.params)
            .ok_or_else(|| RpcError::invalid("params must be an object that repeats no key"))
    }

    fn cursor(&self) -> Result<Option<String>, RpcError> {
        let params = self.members()?;
        match (params.get("cursor"), params.text("cursor")) {
            (None, _) => Ok(None),
            (Some(_), Some(cursor)) => Ok(Some(cursor.into_owned())),
            (Some(_), None) => Err(RpcError::invalid("params.cursor must be a string")),
        }
    }
}

fn plain(answer: Answer) -> Served {
    Served::Answer(answer, Hints::Kind)
}

fn discovered(shown: welcome::Shown<'_>) -> Served {
    Served::Answer(Answer::of(&welcome::discover(shown)), Hints::Cache(LIST_TTL))
}

/// Params that are the request's own content.
fn content(params: &Members<'_>) -> Box<RawValue> {
    params.filtered(|name| !matches!(name, "_meta" | "inputResponses" | "requestState"))
}

fn tool(params: &Members<'_>) -> Option<Ask> {
    let name = Arc::from(params.text("name")?);
    Some(Ask::Tool {
        name,
        arguments: params.get("arguments").map(ToOwned::to_owned),
    })
}

fn prompt(params: &Members<'_>) -> Option<Ask> {
    let subject = Arc::from(params.text("name")?);
    Some(Ask::Context {
        method: "prompts/get",
        subject,
        params: content(params),
    })
}

fn resource(method: &'static str, params: &Members<'_>) -> Option<Ask> {
    let subject = Arc::from(params.text("uri")?);
    Some(Ask::Context {
        method,
        subject,
        params: content(params),
    })
}

fn completion(params: &Members<'_>) -> Option<Ask> {
    let reference = Members::read(params.get("ref")?)?;
    let subject = reference.text("name").or_else(|| reference.text("uri"))?;
    Some(Ask::Context {
        method: "completion/complete",
        subject: Arc::from(subject),
        params: content(params),
    })
}
