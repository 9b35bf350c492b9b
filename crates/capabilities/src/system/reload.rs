//! Reading the operator's configuration again, without a restart.

use api::system::{Empty, Reloaded};
use domain::{Effect, Risk, Surface};
use gateway::capability::{Action, Capability, Context, Declaration, Failure, Method};

const RELOAD: Declaration = Declaration {
    id: "config.reload",
    title: "Read the configuration again",
    description: "Reads the operator's configuration files again: connections run as commands, \
                  internal URLs, and rules. What cannot be taken over is listed and stays as it was.",
    method: Method::Post,
    path: "/config/reload",
    success: 200,
    paged: false,
    idempotent: false,
    risk: Risk::Medium,
    effect: Effect::Mutating,
    surfaces: &[Surface::Api, Surface::Mcp, Surface::Cli],
    action: Action::Administer,
    command: None,
};

pub(super) fn capability() -> Capability {
    Capability::new(RELOAD, reload)
}

async fn reload(context: Context, _input: Empty) -> Result<Reloaded, Failure> {
    let report = context.gateway.reload(context.tenant()).await?;
    Ok(Reloaded {
        connections: report.connections,
        rules: report.rules,
        problems: report.problems,
    })
}
