//! Who asks on these routes, and how a capability is asked.

use axum::extract::{FromRequestParts, Query};
use domain::{Principal, Surface};
use gateway::{Failure, Gateway, Operation};
use http::request::Parts;
use http::{HeaderMap, Uri, header};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::error::Refusal;
use crate::auth::authenticate;
use crate::rest;
use crate::state::AppState;

/// A proven caller with what its request says beside path and body.
pub(crate) struct Client {
    gateway: Gateway,
    pub(super) principal: Principal,
    headers: HeaderMap,
    uri: Uri,
}

impl FromRequestParts<AppState> for Client {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Self::Rejection> {
        state.metrics.operation();
        Ok(Self {
            principal: authenticate(state, &parts.headers)?,
            gateway: state.gateway.clone(),
            headers: parts.headers.clone(),
            uri: parts.uri.clone(),
        })
    }
}

/// What is answered to an operation: the status, and the output in the capability's own words.
pub(super) struct Answer<T> {
    pub(super) body: T,
}

impl Client {
    /// Asks a capability.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        id: &str,
        input: Map<String, Value>,
    ) -> Result<Answer<T>, Refusal> {
        self.ask_once(id, input, None).await
    }

    /// Asks a capability, so that the same request with the same key happens once.
    pub(super) async fn ask_once<T: DeserializeOwned>(
        &self,
        id: &str,
        input: Map<String, Value>,
        idempotency_key: Option<String>,
    ) -> Result<Answer<T>, Refusal> {
        let operation = Operation {
            principal: self.principal,
            surface: Surface::Compatible,
            id: id.to_owned(),
            input: Value::Object(input),
            idempotency_key,
        };
        let reply = self.gateway.operate(operation).await?;
        let body = serde_json::from_value(reply.body.unwrap_or_default())
            .map_err(|error| Failure::internal("an answer could not be translated", error))?;
        Ok(Answer { body })
    }

    /// The `Idempotency-Key`, without which nothing is begun here.
    pub(super) fn idempotency_key(&self) -> Result<String, Refusal> {
        let field = "Idempotency-Key";
        let key = self
            .headers
            .get(field)
            .map(|value| value.to_str().map(str::to_owned));
        match key {
            Some(Ok(key)) if (1..=255).contains(&key.len()) => Ok(key),
            Some(_) => Err(Refusal::invalid(
                field,
                "must be 1 to 255 printable ASCII characters",
            )),
            None => Err(Refusal::invalid(field, "this request needs the header")),
        }
    }

    /// The body, an object; nothing where nothing was sent.
    pub(super) fn body(&self, body: &[u8]) -> Result<Map<String, Value>, Refusal> {
        Ok(rest::from_body(&self.headers, body)?)
    }

    /// The query in a type's words.
    pub(super) fn query<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        let read = Query::<T>::try_from_uri(&self.uri);
        read.map(|Query(query)| query)
            .map_err(|error| Refusal::invalid("query", error.body_text()))
    }

    /// What sent the request.
    pub(super) fn agent(&self) -> Option<&str> {
        self.headers.get(header::USER_AGENT)?.to_str().ok()
    }
}

/// The query of routes about one agent.
#[derive(Deserialize)]
pub(super) struct OfAgent {
    pub(super) agent_identity_id: Option<Uuid>,
}

/// An id of a path. What is no id names nothing.
pub(super) fn id(what: &str, text: &str) -> Result<Uuid, Refusal> {
    Uuid::try_parse(text).map_err(|_| Refusal::not_found(what))
}

/// An input of these fields.
pub(super) fn input<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
