//! The client that the official conformance suite drives: one scenario a run, on our own `mcp` crate.

mod answers;
mod client;
mod scenarios;

use crate::conformance_client::client::Client;

/// What the suite asks of one run.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// The scenario's name
    pub scenario: String,
    /// What the scenario gives its client to work with, as JSON; only some give anything
    pub context: Option<String>,
    /// The server's URL, which may be http and on this machine
    pub url: String,
}

/// Why a run did not come to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConformanceError {
    /// The scenario is none this client knows.
    #[error("there is no scenario `{0}` here; add it to testkit::conformance_client")]
    UnknownScenario(String),
    /// The server's URL cannot be used.
    #[error("the server's url is not usable")]
    Url(#[from] url::ParseError),
    /// The server's URL is refused.
    #[error("the server's url is refused")]
    Egress(#[from] mcp::egress::EgressRefusal),
    /// There is no HTTP client.
    #[error("no http client could be made")]
    Http(#[from] mcp::http::HttpError),
    /// There is no session.
    #[error("the server could not be connected to")]
    Connect(#[from] mcp::ConnectError),
    /// A request failed.
    #[error("a request failed")]
    Request(#[from] mcp::RequestError),
    /// A message or the context is not of the expected shape.
    #[error("a message does not have the expected shape")]
    Shape(#[from] serde_json::Error),
    /// A message could not be put together or read.
    #[error("a message could not be read or written")]
    Wire(#[from] mcp::wire::WireError),
    /// The annotations of a tool break the rules.
    #[error("a tool's header annotations are not usable")]
    ParamHeaders(#[from] mcp::param_headers::ParamHeaderError),
    /// The server does not offer what the scenario is about.
    #[error("the server does not offer `{0}`")]
    NotOffered(String),
}

/// Connects, does what the scenario expects of a client, and closes the session.
///
/// # Errors
///
/// If the scenario is unknown or anything in it fails.
pub async fn run(assignment: &Assignment) -> Result<(), ConformanceError> {
    let act = scenarios::named(&assignment.scenario)
        .ok_or_else(|| ConformanceError::UnknownScenario(assignment.scenario.clone()))?;
    let client = Client::connect(&assignment.url, act.opens_standing_stream()).await?;
    let outcome = act.play(&client, assignment.context.as_deref()).await;
    client.close().await;
    outcome
}
