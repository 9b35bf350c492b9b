//! The whole table of who may use what on an operator's surface, as one reviewed file.

use std::fmt::Write as _;

use domain::{AgentId, Channel, Effect, Epoch, Risk, Surface, Target, ToolRef};
use policy::{Access, CapabilityFact, Decision, OperatorFacts, decide_operator};

use crate::world::{World, id, principal};

const SURFACES: [Surface; 6] = [
    Surface::Api,
    Surface::Mcp,
    Surface::Cli,
    Surface::Agent,
    Surface::Page,
    Surface::Compatible,
];

const UNCLAIMED: &str = "agent key, unclaimed";

// O025: no agent answers an approval, on any surface.
#[test]
fn role_table() {
    let mut table = String::new();
    for (access, declared) in [
        (Access::Read, &[Surface::Api, Surface::Mcp][..]),
        (Access::Admin, &[Surface::Api, Surface::Cli][..]),
        (Access::Agent, &[Surface::Api, Surface::Mcp, Surface::Agent][..]),
        (Access::Own, &[Surface::Api, Surface::Compatible][..]),
        (Access::OwnRead, &[Surface::Api, Surface::Compatible][..]),
        (Access::Person, &[Surface::Page][..]),
        (Access::Consent, &[Surface::Page][..]),
        (Access::Approval, &[Surface::Api, Surface::Mcp, Surface::Cli][..]),
        (Access::Approval, &SURFACES[..]),
    ] {
        let names: Vec<&str> = declared.iter().map(|surface| surface.as_str()).collect();
        writeln!(table, "{access:?}, declared for {}", names.join(" ")).unwrap();
        for (who, kind, agent) in [
            ("owner", "owner", None),
            ("admin", "admin", None),
            ("member", "member", None),
            ("viewer", "viewer", None),
            ("billing", "billing", None),
            ("system", "system", None),
            ("admin key", "admin_key", None),
            ("admin key for an agent", "admin_key", Some("helper")),
            ("agent key", "agent_key", None),
            ("agent key, own agent", "agent_key", Some("helper")),
            ("agent key, other agent", "agent_key", Some("other")),
            (UNCLAIMED, "agent_key", Some("helper")),
            ("mcp client, own agent", "mcp_client", Some("helper")),
            ("mcp client, other agent", "mcp_client", Some("other")),
        ] {
            let cells: Vec<String> = SURFACES
                .iter()
                .map(|on| cell(access, declared, *on, (who, kind, agent)))
                .collect();
            writeln!(table, "  {who:<24}{}", cells.join("  ").trim_end()).unwrap();
        }
    }
    insta::assert_snapshot!(table);
}

fn cell(access: Access, declared: &[Surface], surface: Surface, who: (&str, &str, Option<&str>)) -> String {
    let built = World::default().build();
    let mut call = built.call(Target::Tool(ToolRef::Capability("some.capability".into())), "{}");
    call.principal = principal(who.1, id::<AgentId>("helper"));
    call.agent = who.2.map(id);
    call.channel = Channel::Api;
    let capability = CapabilityFact {
        surfaces: declared,
        access,
        risk: Risk::High,
        effect: Effect::Mutating,
    };
    let decision = decide_operator(
        call,
        &OperatorFacts {
            capability,
            surface,
            claimed: who.0 != UNCLAIMED,
            epoch: Epoch(1),
        },
    );
    match &decision {
        Decision::Allow(permit) => assert!(permit.needs_intent() && permit.snapshot().is_none()),
        Decision::Ask(_) => panic!("operators are not asked to approve their own calls"),
        Decision::Deny(_) => {}
    }
    format!(
        "{:<24}",
        format!("{}: {} {}", surface, decision.as_str(), decision.reason().code)
    )
}
