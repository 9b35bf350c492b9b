//! What a person says about an imported tool.

use api::tools::{ClassifyTool, Tool};
use domain::{Classification, Effect, Risk, Surface, ToolRef};
use gateway::capability::{Action, Capability, Context, Declaration, Failure, Method};
use store::PinName;

use crate::{convert, find};

const CLASSIFY: Declaration = Declaration {
    id: "tools.classify",
    title: "Classify a tool",
    description: "Says how risky an imported tool is and whether it changes anything. Until then it is high and mutating. The \
                  server's own annotations are hints and change nothing by themselves.",
    method: Method::Put,
    path: "/connections/{connection}/tools/{tool}/classification",
    success: 200,
    paged: false,
    idempotent: false,
    risk: Risk::High,
    effect: Effect::Mutating,
    surfaces: &[Surface::Api, Surface::Mcp, Surface::Cli],
    action: Action::Administer,
    command: None,
};

pub(super) fn capability() -> Capability {
    Capability::new(CLASSIFY, classify)
}

async fn classify(context: Context, input: ClassifyTool) -> Result<Tool, Failure> {
    let connection = find::connection(&context, &input.connection)?;
    let pin = PinName {
        connection: connection.id,
        name: find::workspace(&context)?
            .present_name(&connection, &input.tool)
            .into(),
    };
    let said = Classification {
        risk: convert::to_risk(input.risk),
        effect: convert::to_effect(input.effect),
        at: context.now,
    };
    let change = find::change(&context, CLASSIFY.id);
    context
        .store()
        .classify(context.tenant(), &change, &pin, Some(said))
        .await?;
    context.gateway.refresh(context.tenant()).await?;
    let workspace = find::workspace(&context)?;
    let tool = ToolRef::Upstream {
        connection: connection.id,
        name: pin.name,
    };
    super::list::shown(&workspace, &tool).ok_or_else(|| Failure::not_found("tool").at("tool"))
}
