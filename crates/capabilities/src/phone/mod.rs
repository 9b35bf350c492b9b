//! Telephone calls, their tool calls, and how agents speak on them.

mod activity;
mod calls;
mod settings;
mod voices;

use domain::{Effect, Risk, Surface};
use gateway::capability::{Action, Capability, Declaration, Method};

/// What the reading ones share.
const READ: Declaration = Declaration {
    id: "phone.calls",
    title: "List telephone calls",
    description: "Lists telephone calls, newest first: who with, when, and how they went.",
    method: Method::Get,
    path: "/phone-calls",
    success: 200,
    paged: true,
    idempotent: false,
    risk: Risk::Low,
    effect: Effect::ReadOnly,
    surfaces: &[Surface::Api, Surface::Mcp, Surface::Cli, Surface::Compatible],
    action: Action::Own,
    command: None,
};

pub(crate) fn capabilities() -> Vec<Capability> {
    let mut all = calls::capabilities();
    all.extend(activity::capabilities());
    all.extend(settings::capabilities());
    all.extend(voices::capabilities());
    all
}
