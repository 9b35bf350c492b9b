//! A session with the suite's server, and the requests the scenarios make of it.

use std::sync::Arc;
use std::time::Duration;

use mcp::discovery::{self, Bounds, Kind};
use mcp::http::{HttpClient, HttpOptions};
use mcp::param_headers::ParamHeaders;
use mcp::wire::{Object, raw};
use mcp::{ClientProfile, HttpTarget, Limits, Request, Target, Transport, Upstream};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::Instant;
use url::Url;

use crate::conformance_client::ConformanceError;
use crate::conformance_client::answers::{Accepting, fulfil};

/// A request may be asked for input so many times before it is given up.
const MAX_ROUNDS: usize = 8;

/// A live session.
pub(super) struct Client {
    upstream: Upstream,
    deadline: Instant,
}

/// One tool the session keeps.
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) input_schema: Box<RawValue>,
    plan: Arc<ParamHeaders>,
}

/// What became of a request.
pub(super) enum Outcome {
    Complete,
    /// The server asks for input: the parameters of the request that brings it.
    InputRequired(Object),
}

impl Client {
    /// Connects as any user of the `mcp` crate does, negotiating from scratch.
    pub(super) async fn connect(url: &str, standing_stream: bool) -> Result<Self, ConformanceError> {
        let egress = mcp::egress::Egress::public().register(url)?;
        let http = HttpClient::new(HttpOptions {
            egress: Arc::new(egress),
            ..HttpOptions::default()
        })?;
        let capabilities = raw(&json!({
            "elicitation": { "form": { "applyDefaults": true } },
            "roots": {},
        }))?;
        let target = Target {
            transport: Transport::StreamableHttp(HttpTarget::new(Url::parse(url)?, http)),
            client: ClientProfile::new("switchboard-conformance-client", "1", capabilities)?,
            limits: Limits {
                standing_stream,
                ..Limits::default()
            },
        };
        let upstream = Upstream::connect(target, None, Arc::new(Accepting)).await?;
        // The suite gives a client 30 s.
        let deadline = Instant::now() + Duration::from_secs(20);
        Ok(Self { upstream, deadline })
    }

    /// Everything the server lists of one kind, as far as the session keeps it.
    pub(super) async fn list(&self, kind: Kind) -> Result<Vec<Box<RawValue>>, ConformanceError> {
        Ok(discovery::list_all(&self.upstream, kind, Bounds::default())
            .await?
            .items)
    }

    /// The tools the session keeps.
    pub(super) async fn tools(&self) -> Result<Vec<Tool>, ConformanceError> {
        self.list(Kind::Tools)
            .await?
            .iter()
            .map(|item| Tool::read(item))
            .collect()
    }

    /// The tool of that name.
    pub(super) async fn tool(&self, name: &str) -> Result<Tool, ConformanceError> {
        let tools = self.tools().await?;
        tools
            .into_iter()
            .find(|tool| tool.name == name)
            .ok_or_else(|| ConformanceError::NotOffered(name.to_owned()))
    }

    /// Calls a tool and gives the server what it asks for until the call is complete.
    pub(super) async fn call(&self, tool: &Tool, arguments: &impl Serialize) -> Result<(), ConformanceError> {
        let mut params = call_params(tool, arguments)?;
        for _ in 0..MAX_ROUNDS {
            match self.ask(tool, params).await? {
                Outcome::Complete => return Ok(()),
                Outcome::InputRequired(again) => params = again,
            }
        }
        Err(ConformanceError::NotOffered(format!("an end of {}", tool.name)))
    }

    /// One round of a tool call.
    pub(super) async fn ask(&self, tool: &Tool, params: Object) -> Result<Outcome, ConformanceError> {
        let request = Request::new("tools/call", params.clone(), self.deadline)
            .with_param_headers(Arc::clone(&tool.plan));
        let result = self.upstream.request(request, Arc::new(Accepting)).await?;
        let result: Value = serde_json::from_str(result.get())?;
        if result["resultType"] != "input_required" {
            return Ok(Outcome::Complete);
        }
        let mut again = params;
        again.set("inputResponses", &fulfil(&result["inputRequests"]))?;
        match result.get("requestState") {
            Some(state) => again.set("requestState", state)?,
            None => drop(again.remove("requestState")),
        }
        Ok(Outcome::InputRequired(again))
    }

    /// Makes any other request.
    pub(super) async fn request(&self, method: &'static str, params: Object) -> Result<(), ConformanceError> {
        let request = Request::new(method, params, self.deadline);
        self.upstream.request(request, Arc::new(Accepting)).await?;
        Ok(())
    }

    /// Ends the session.
    pub(super) async fn close(self) {
        self.upstream.close().await;
    }
}

impl Tool {
    fn read(definition: &RawValue) -> Result<Self, ConformanceError> {
        let name = Object::parse(definition)?.text("name").unwrap_or_default();
        let input_schema = discovery::input_schema(definition)
            .ok_or_else(|| ConformanceError::NotOffered(format!("the schema of {name}")))?;
        let plan = Arc::new(ParamHeaders::from_schema(&input_schema)?);
        Ok(Self {
            name,
            input_schema,
            plan,
        })
    }
}

/// The parameters of a first call.
pub(super) fn call_params(tool: &Tool, arguments: &impl Serialize) -> Result<Object, ConformanceError> {
    Ok(Object::new()
        .with("name", &tool.name)?
        .with("arguments", arguments)?)
}
