//! Calls the REST operation of a capability.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use bytes::Bytes;
use clap::{ArgMatches, FromArgMatches as _};
use domain::Secret;
use gateway::Capability;
use http::{HeaderMap, HeaderValue, Method, header};
use serde_json::{Map, Value};
use url::Url;
use uuid::Uuid;

use super::http::{Http, Payload};
use super::{body, show};
use crate::args::ServerArgs;
use crate::output;

/// A server and how to reach it.
pub(crate) struct Server {
    pub(crate) http: Http,
    pub(crate) base: Url,
}

impl Server {
    pub(crate) fn of(args: &ServerArgs) -> anyhow::Result<Self> {
        let mut base = Url::parse(&args.url).with_context(|| format!("{} is not a URL", args.url))?;
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        Ok(Self { http: Http::new(key(args.key_file.as_ref())?)?, base })
    }
}

#[expect(clippy::disallowed_methods, reason = "this crate is the one that reads the environment")]
fn key(file: Option<&PathBuf>) -> anyhow::Result<Option<Secret>> {
    match file {
        Some(path) => Ok(Some(Secret::new(body::secret(&path.to_string_lossy())?))),
        None => Ok(std::env::var("SWITCHBOARD_API_KEY").ok().filter(|key| !key.is_empty()).map(Secret::new)),
    }
}

pub(super) async fn call(capability: &Capability, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let server = Server::of(&ServerArgs::from_arg_matches(matches)?)?;
    let mut input = body::input(capability, matches)?;
    let json = matches.get_flag("json");
    let all = capability.declaration.paged && matches.get_flag("all");
    let mut items = Vec::new();
    loop {
        let spinner = output::spinner(capability.declaration.title);
        let answer = once(&server, capability, matches, &input).await;
        spinner.finish_and_clear();
        let (ok, mut answer) = answer?;
        if !ok {
            return Ok(show::problem(&answer, json));
        }
        if all {
            if let Some(Value::Array(page)) = answer.get_mut("items").map(Value::take) {
                items.extend(page);
            }
            if let Some(cursor) = answer["next_cursor"].as_str() {
                input.insert("cursor".to_owned(), cursor.into());
                continue;
            }
            answer = serde_json::json!({ "items": items, "next_cursor": null });
        }
        return Ok(show::answer(capability, &answer, json));
    }
}

async fn once(
    server: &Server,
    capability: &Capability,
    matches: &ArgMatches,
    input: &Map<String, Value>,
) -> anyhow::Result<(bool, Value)> {
    let d = capability.declaration;
    let (url, rest) = place(&server.base, d.path, input)?;
    let mut url = url;
    let mut headers = HeaderMap::new();
    let mut bytes = Bytes::new();
    if d.method.input_in_query() {
        for (name, value) in &rest {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            url.query_pairs_mut().append_pair(name, &text);
        }
    } else {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        bytes = Bytes::from(serde_json::to_vec(&rest)?);
    }
    if d.idempotent {
        let given = matches.get_one::<String>("idempotency-key").cloned();
        let key = given.unwrap_or_else(|| Uuid::now_v7().to_string());
        headers.insert("idempotency-key", HeaderValue::try_from(key).context("--idempotency-key must be ASCII")?);
    }
    let method = Method::from_bytes(d.method.as_str().as_bytes())?;
    let (status, answer) = server.http.json(Payload { method, url, headers, body: bytes }).await?;
    Ok((status.is_success(), answer))
}

/// Puts path parameters in their places; what is left travels in query or body.
fn place(base: &Url, path: &str, input: &Map<String, Value>) -> anyhow::Result<(Url, Map<String, Value>)> {
    let mut rest = input.clone();
    let mut url = base.join("api/v1").context("the server's address cannot have a path")?;
    {
        let mut segments = url.path_segments_mut().map_err(|()| anyhow::anyhow!("the server's address is no base"))?;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            match part.strip_prefix('{').and_then(|p| p.strip_suffix('}')) {
                Some(name) => {
                    let value = rest.remove(name).with_context(|| format!("{name} is missing"))?;
                    segments.push(value.as_str().unwrap_or(&value.to_string()));
                }
                None => {
                    segments.push(part);
                }
            }
        }
    }
    Ok((url, rest))
}
