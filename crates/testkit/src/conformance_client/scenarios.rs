//! What each scenario expects of a client.

use mcp::discovery::Kind;
use mcp::wire::Object;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::conformance_client::ConformanceError;
use crate::conformance_client::answers::fill;
use crate::conformance_client::client::{Client, Outcome, call_params};

/// What to do in a scenario, once connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// List the tools.
    List,
    /// Call one tool with these arguments.
    Call(&'static str, &'static str),
    /// Call a tool whose answer comes only after its stream was closed and resumed.
    Resume,
    /// Answer requests for input, each at its own call.
    Rounds,
    /// List, read, get and call everything there is.
    Everything,
    /// Make exactly the calls the context names.
    Given,
    /// Call every tool the session keeps.
    CallAll,
    /// Hand a tool's schema back as it came.
    Echo,
}

/// The scenarios by name.
const SCENARIOS: [(&str, Act); 11] = [
    ("initialize", Act::List),
    ("tools_call", Act::Call("add_numbers", r#"{"a":5,"b":3}"#)),
    (
        "elicitation-sep1034-client-defaults",
        Act::Call("test_client_elicitation_defaults", "{}"),
    ),
    ("sse-retry", Act::Resume),
    ("request-metadata", Act::List),
    ("sep-2322-client-request-state", Act::Rounds),
    ("http-standard-headers", Act::Everything),
    ("http-custom-headers", Act::Given),
    ("http-invalid-tool-headers", Act::CallAll),
    ("json-schema-ref-no-deref", Act::List),
    ("json-schema-2020-12-preservation", Act::Echo),
];

/// What to do in the scenario of that name.
pub(super) fn named(scenario: &str) -> Option<Act> {
    SCENARIOS
        .iter()
        .find(|(name, _)| *name == scenario)
        .map(|(_, act)| *act)
}

impl Act {
    /// Whether a legacy session keeps its GET stream open. The one scenario that measures when a client comes back
    /// takes any GET for the return.
    pub(super) fn opens_standing_stream(self) -> bool {
        self != Self::Resume
    }

    pub(super) async fn play(self, client: &Client, context: Option<&str>) -> Result<(), ConformanceError> {
        match self {
            Self::List => client.tools().await.map(drop),
            Self::Call(name, arguments) => {
                let arguments: Box<RawValue> = serde_json::from_str(arguments)?;
                client.call(&client.tool(name).await?, &arguments).await
            }
            Self::Resume => {
                let tool = client.tool("test_reconnection").await?;
                client.call(&tool, &json!({})).await
            }
            Self::Rounds => rounds(client).await,
            Self::Everything => everything(client).await,
            Self::Given => given(client, context.unwrap_or_default()).await,
            Self::CallAll => call_all(client).await,
            Self::Echo => echo(client).await,
        }
    }
}

/// One call stands open for input while another is made: what belongs to the first must not leak into the second.
async fn rounds(client: &Client) -> Result<(), ConformanceError> {
    let (echoed, unrelated) = (
        client.tool("test_mrtr_echo_state").await?,
        client.tool("test_mrtr_unrelated").await?,
    );
    let first = client.ask(&echoed, call_params(&echoed, &json!({}))?).await?;
    client.call(&unrelated, &json!({})).await?;
    if let Outcome::InputRequired(params) = first {
        client.ask(&echoed, params).await?;
    }
    for name in ["test_mrtr_no_state", "test_mrtr_no_result_type"] {
        client.call(&client.tool(name).await?, &json!({})).await?;
    }
    Ok(())
}

async fn everything(client: &Client) -> Result<(), ConformanceError> {
    call_all(client).await?;
    let others = [
        (Kind::Resources, "resources/read", "uri"),
        (Kind::Prompts, "prompts/get", "name"),
    ];
    for (kind, method, key) in others {
        for item in client.list(kind).await? {
            let named = Object::parse(&item)?.text(key).unwrap_or_default();
            client.request(method, Object::new().with(key, &named)?).await?;
        }
    }
    Ok(())
}

async fn call_all(client: &Client) -> Result<(), ConformanceError> {
    for tool in client.tools().await? {
        let arguments = fill(&serde_json::from_str(tool.input_schema.get())?);
        client.call(&tool, &arguments).await?;
    }
    Ok(())
}

async fn given(client: &Client, context: &str) -> Result<(), ConformanceError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Context {
        tool_calls: Vec<ToolCall>,
    }
    #[derive(Deserialize)]
    struct ToolCall {
        name: String,
        arguments: Box<RawValue>,
    }
    let context: Context = serde_json::from_str(context)?;
    for call in context.tool_calls {
        client
            .call(&client.tool(&call.name).await?, &call.arguments)
            .await?;
    }
    Ok(())
}

async fn echo(client: &Client) -> Result<(), ConformanceError> {
    let focal = client.tool("json_schema_2020_12_tool").await?;
    let arguments = Object::new().with("schema", &focal.input_schema)?;
    client
        .call(&client.tool("json_schema_echo").await?, &arguments)
        .await
}
