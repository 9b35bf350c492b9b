//! Every capability of the API surface as a REST operation, from its declaration.

use axum::body::Bytes;
use axum::extract::{RawPathParams, RawQuery, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use axum::{Json, Router};
use domain::{Surface, parse_unique};
use gateway::capability::{Declaration, Method};
use gateway::{Capability, Failure, FailureKind, Operation};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::{Map, Value};

use crate::auth::Caller;
use crate::problem::Problem;
use crate::state::AppState;

/// Deepest nesting of a body: what serde_json refuses beyond.
const KEY: &str = "idempotency-key";
const REPLAYED: &str = "idempotent-replayed";

/// The routes under `/api/v1`.
pub(crate) fn router(state: &AppState) -> Router<AppState> {
    state
        .gateway
        .registry()
        .on(Surface::Api)
        .fold(Router::new(), |router, capability| {
            router.route(capability.declaration.path, route(capability))
        })
}

fn route(capability: &Capability) -> MethodRouter<AppState> {
    let declaration = capability.declaration;
    let schema = capability.input.clone();
    let handler = move |State(state): State<AppState>,
                        Caller(principal): Caller,
                        path: RawPathParams,
                        RawQuery(query): RawQuery,
                        headers: HeaderMap,
                        body: Bytes| async move {
        state.metrics.operation();
        let input = input(&declaration, &schema, &path, query.as_deref(), &headers, &body)?;
        let operation = Operation {
            principal,
            surface: Surface::Api,
            id: declaration.id.to_owned(),
            input: Value::Object(input),
            idempotency_key: text(&headers, KEY)?,
        };
        answer(state.gateway.operate(operation).await?)
    };
    on(filter(declaration.method), handler)
}

const fn filter(method: Method) -> MethodFilter {
    match method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Put => MethodFilter::PUT,
        Method::Patch => MethodFilter::PATCH,
        Method::Delete => MethodFilter::DELETE,
    }
}

fn answer(reply: gateway::Reply) -> Result<Response, Problem> {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    let mut response = match reply.body {
        Some(body) => (status, Json(body)).into_response(),
        None => status.into_response(),
    };
    if reply.replayed {
        response
            .headers_mut()
            .insert(REPLAYED, HeaderValue::from_static("true"));
    }
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// The flat input: path parameters, and the query or the body.
#[expect(
    clippy::too_many_arguments,
    reason = "the parts of one request, each read once"
)]
fn input(
    declaration: &Declaration,
    schema: &Value,
    path: &RawPathParams,
    query: Option<&str>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Map<String, Value>, Problem> {
    let mut input = if declaration.method.input_in_query() {
        if !body.is_empty() {
            let detail = "this operation takes its input from path and query, not from a body";
            return Err(malformed("request.unexpected_body", detail));
        }
        from_query(schema, query.unwrap_or_default())?
    } else {
        if query.is_some_and(|query| !query.is_empty()) {
            let detail = "this operation takes its input from path and body, not from the query";
            return Err(malformed("request.unexpected_query", detail));
        }
        from_body(headers, body)?
    };
    for (name, value) in path {
        let value = Value::String(value.to_owned());
        if input.get(name).is_some_and(|given| *given != value) {
            let detail = format!("{name} differs between path and input; give it in the path only");
            return Err(Failure::new(FailureKind::Invalid, "input.contradiction", detail)
                .at(name)
                .into());
        }
        input.insert(name.to_owned(), value);
    }
    Ok(input)
}

pub(crate) fn from_body(headers: &HeaderMap, body: &[u8]) -> Result<Map<String, Value>, Problem> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    let json = text(headers, header::CONTENT_TYPE.as_str())?.is_some_and(|kind| {
        let essence = kind
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        essence == "application/json" || essence.ends_with("+json")
    });
    if !json {
        return Err(malformed(
            "request.media_type",
            "send the body as application/json",
        ));
    }
    let read = std::str::from_utf8(body)
        .map_err(serde::de::Error::custom)
        .and_then(parse_unique);
    match read {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(malformed(
            "request.not_an_object",
            "the body must be a JSON object",
        )),
        Err(error) => {
            let place = format!(
                "the body is not JSON: {:?} error at line {}, column {}",
                error.classify(),
                error.line(),
                error.column()
            );
            Err(malformed("request.bad_json", place))
        }
    }
}

/// Query values are text; the input schema says which are numbers and switches.
fn from_query(schema: &Value, query: &str) -> Result<Map<String, Value>, Problem> {
    let mut input = Map::new();
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let Some(property) = schema["properties"].get(&*name) else {
            let detail = format!(
                "{:?} is not a parameter of this operation",
                name.chars().take(64).collect::<String>()
            );
            return Err(Failure::new(FailureKind::Invalid, "input.unknown_parameter", detail).into());
        };
        let typed = typed(property, &value).ok_or_else(|| {
            Failure::new(
                FailureKind::Invalid,
                "input.invalid",
                format!("{name} has the wrong type"),
            )
            .at(&*name)
        })?;
        if input.insert(name.to_string(), typed).is_some() {
            let failure = Failure::new(
                FailureKind::Invalid,
                "input.repeated_parameter",
                format!("{name} is given twice"),
            );
            return Err(failure.at(&*name).into());
        }
    }
    Ok(input)
}

fn typed(property: &Value, text: &str) -> Option<Value> {
    let is = |wanted: &str| match &property["type"] {
        Value::String(one) => one == wanted,
        Value::Array(several) => several.iter().any(|one| one == wanted),
        _ => false,
    };
    if is("integer") {
        return text.parse::<i64>().ok().map(Value::from);
    }
    if is("boolean") {
        return text.parse::<bool>().ok().map(Value::from);
    }
    Some(Value::from(text))
}

fn text(headers: &HeaderMap, name: &str) -> Result<Option<String>, Problem> {
    match headers.get(name).map(HeaderValue::to_str) {
        None => Ok(None),
        Some(Ok(text)) => Ok(Some(text.to_owned())),
        Some(Err(_)) => Err(malformed(
            "request.bad_header",
            format!("the header {name} must be visible ASCII"),
        )),
    }
}

fn malformed(code: &'static str, detail: impl Into<String>) -> Problem {
    Failure::new(FailureKind::Malformed, code, detail).into()
}
