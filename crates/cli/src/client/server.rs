//! A server and its REST operations.

use std::path::PathBuf;

use anyhow::Context as _;
use bytes::Bytes;
use domain::Secret;
use gateway::capability::Declaration;
use http::{HeaderMap, HeaderValue, Method, header};
use serde_json::{Map, Value};
use url::Url;
use uuid::Uuid;

use super::body;
use super::http::{Http, Payload};
use crate::args::ServerArgs;
use crate::output::Usage;

/// A server and how to reach it.
pub(crate) struct Server {
    pub(crate) http: Http,
    pub(crate) base: Url,
}

impl Server {
    pub(crate) fn of(args: &ServerArgs) -> anyhow::Result<Self> {
        let wrong = |why: &dyn std::fmt::Display| {
            Usage(format!("{} is not the address of a server: {why}", args.server))
        };
        if !["http://", "https://"]
            .iter()
            .any(|scheme| args.server.starts_with(scheme))
        {
            return Err(wrong(&"it must begin with http:// or https://").into());
        }
        let mut base = Url::parse(&args.server).map_err(|error| wrong(&error))?;
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        Ok(Self {
            http: Http::new(key(args.key_file.as_ref())?)?,
            base,
        })
    }

    /// Calls an operation. True where it succeeded; else the answer is a problem document. An operation that can be repeated
    /// safely is sent with an idempotency key: the given one or a new one.
    pub(crate) async fn operate(
        &self,
        d: &Declaration,
        input: &Map<String, Value>,
        key: Option<&str>,
    ) -> anyhow::Result<(bool, Value)> {
        let (mut url, rest) = place(&self.base, d.path, input)?;
        let mut headers = HeaderMap::new();
        let mut body = Bytes::new();
        if d.method.input_in_query() {
            for (name, value) in &rest {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                url.query_pairs_mut().append_pair(name, &text);
            }
        } else {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            body = Bytes::from(serde_json::to_vec(&rest)?);
        }
        if d.idempotent {
            let key = key.map_or_else(|| Uuid::now_v7().to_string(), str::to_owned);
            let wrong = |_| Usage("--idempotency-key must be visible ASCII".to_owned());
            headers.insert("idempotency-key", HeaderValue::try_from(key).map_err(wrong)?);
        }
        let method = Method::from_bytes(d.method.as_str().as_bytes())?;
        let (status, answer) = self
            .http
            .json(Payload {
                method,
                url,
                headers,
                body,
            })
            .await?;
        Ok((status.is_success(), answer))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this crate is the one that reads the environment"
)]
fn key(file: Option<&PathBuf>) -> anyhow::Result<Option<Secret>> {
    match file {
        Some(path) => Ok(Some(Secret::new(body::secret(&path.to_string_lossy())?))),
        None => Ok(std::env::var("SWITCHBOARD_API_KEY")
            .ok()
            .filter(|key| !key.is_empty())
            .map(Secret::new)),
    }
}

/// Puts path parameters in their places; what is left travels in query or body.
pub(super) fn place(
    base: &Url,
    path: &str,
    input: &Map<String, Value>,
) -> anyhow::Result<(Url, Map<String, Value>)> {
    let mut rest = input.clone();
    let mut url = base
        .join("api/v1")
        .context("the server's address cannot have a path")?;
    {
        let mut segments = url
            .path_segments_mut()
            .map_err(|()| anyhow::anyhow!("the server's address is no base"))?;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            match part.strip_prefix('{').and_then(|p| p.strip_suffix('}')) {
                Some(name) => {
                    let missing =
                        || Usage(format!("{name} is missing: give it as an argument or in --input"));
                    let value = rest.remove(name).ok_or_else(missing)?;
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    // A URL has no way to say these as one segment.
                    if matches!(text.as_str(), "" | "." | "..") {
                        return Err(Usage(format!("{name} cannot be {text:?}")).into());
                    }
                    segments.push(&text);
                }
                None => {
                    segments.push(part);
                }
            }
        }
    }
    Ok((url, rest))
}
