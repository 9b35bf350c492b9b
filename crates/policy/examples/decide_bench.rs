//! Measures composing and deciding: `cargo run --release -p switchboard-policy --example decide_bench`. With `--json` it prints one
//! line for each set of rules, in microseconds, for `bench/run`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a measurement prints, and stops when its set-up is wrong"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::{
    Agent, AgentId, Arguments, Call, CallId, Channel, ConnectionId, ConnectionOwner, DefinitionState, Digest,
    Effect, Epoch, Grant, GrantSubject, Handle, Hints, Identity, KeyId, KeyKind, Namespace, OrganizationId,
    Permission, Principal, Risk, Target, Tenant, Timestamp, ToolRef, WorkspaceId,
};
use policy::{
    AcceptNewTools, CallFacts, ConnectionFact, Decision, EndpointScope, Facts, NameLimits, RuleSet,
    RuleSource, ToolFact, compose, decide,
};

const TOOLS: usize = 1_000;
const ROUNDS: usize = 5_000;

fn main() {
    let json = std::env::args().any(|argument| argument == "--json");
    for (what, reach) in [
        ("at most 5 of 50 can touch the tool", Reach::Few),
        ("all 50 can touch the tool", Reach::All),
    ] {
        let measured = measure(reach);
        if json {
            let mut line = serde_json::json!({ "rules": what });
            for (name, took) in measured {
                line[name] = serde_json::json!(took.as_secs_f64() * 1e6);
            }
            println!("{line}");
        } else {
            println!("{what}");
            for (name, took) in measured {
                println!("  {name:<12} {took:>10.2?}");
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Reach {
    Few,
    All,
}

/// 450 rules that are settled when composing, 50 that read arguments.
fn rules(reach: Reach) -> Vec<RuleSource> {
    let mut rules = Vec::new();
    for n in 0..450 {
        let text = match n % 3 {
            0 => format!("forbid(principal, action, resource) when {{ resource.name == \"forbidden{n}\" }};"),
            1 => format!(
                "forbid(principal == Agent::\"agent{n}\", action, resource) when {{ resource.risk == \"high\" }};"
            ),
            _ => format!(
                "@effect(\"ask\") forbid(principal, action, resource) when {{ resource.name like \"*purge{n}*\" }};"
            ),
        };
        rules.push((format!("settled{n}"), text));
    }
    for n in 0..50 {
        let scope = match reach {
            Reach::Few => format!("resource == Tool::\"server/tool{}\"", n / 5),
            Reach::All => "resource".to_owned(),
        };
        let condition = if n % 2 == 0 {
            format!(
                "context.arguments.number.hasTag(\"/amount\") && context.arguments.number.getTag(\"/amount\").greaterThan(decimal(\"1{n}000.0\"))"
            )
        } else {
            format!(
                "context.arguments.text.hasTag(\"/to\") && context.arguments.text.getTag(\"/to\") like \"*@blocked{n}.example\""
            )
        };
        rules.push((
            format!("reads{n}"),
            format!("forbid(principal, action, {scope}) when {{ {condition} }};"),
        ));
    }
    let source = |(id, text): (String, String)| RuleSource {
        id: id.into(),
        text: text.into(),
        description: String::new(),
        enabled: true,
    };
    rules.into_iter().map(source).collect()
}

/// Reading 500 rules, composing 1,000 tools, seeing that the facts are those of before, and deciding one call: medians.
fn measure(reach: Reach) -> [(&'static str, Duration); 4] {
    let begun = Instant::now();
    let rules = RuleSet::parse(&rules(reach)).unwrap();
    let parsed = begun.elapsed();
    let world = World::new();
    let facts = world.facts(&rules);
    let composed = times(20, || drop(std::hint::black_box(compose(&facts))));
    let unchanged = times(50, || {
        let _ = std::hint::black_box(facts.fingerprint());
    });
    let effective = compose(&facts);
    let call = world.call(r#"{"amount": 12.5, "to": "someone@example.com", "subject": "hello", "body": "a text of some length"}"#);
    let now = CallFacts::at(Timestamp::from_micros(1_796_052_915_000_000));
    let decided = times(ROUNDS, || {
        let Decision::Allow(permit) = decide(&effective, call.clone(), &now) else {
            panic!("every rule is asked and none speaks")
        };
        let _ = std::hint::black_box(permit.into_call());
    });
    [
        ("parse", parsed),
        ("compose", composed),
        ("unchanged", unchanged),
        ("decide", decided),
    ]
}

fn times(rounds: usize, mut run: impl FnMut()) -> Duration {
    let mut all: Vec<Duration> = (0..rounds)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed()
        })
        .collect();
    all.sort_unstable();
    all.get(rounds / 2).copied().unwrap_or_default()
}

struct World {
    agent: Agent,
    principal: Principal,
    connections: Vec<ConnectionFact>,
    tools: Vec<ToolFact>,
    grants: Vec<Grant>,
}

impl World {
    fn new() -> Self {
        let agent = AgentId::generate();
        let tenant = Tenant {
            organization: OrganizationId::generate(),
            workspace: WorkspaceId::generate(),
        };
        let connection = ConnectionId::generate();
        let at = Timestamp::from_micros(0);
        let refs: Vec<ToolRef> = (0..TOOLS)
            .map(|n| ToolRef::Upstream {
                connection,
                name: format!("tool{n}").into(),
            })
            .collect();
        Self {
            agent: Agent {
                id: agent,
                handle: Handle::new("default").unwrap(),
                description: String::new(),
                enabled: true,
                claimed: true,
                version: 1,
                created_at: at,
                updated_at: at,
            },
            principal: Principal {
                tenant,
                identity: Identity::Key {
                    id: KeyId::generate(),
                    kind: KeyKind::Agent(agent),
                },
            },
            connections: vec![ConnectionFact {
                id: connection,
                owner: ConnectionOwner::Workspace,
                namespace: Namespace::new("server").unwrap(),
                enabled: true,
                trusted: true,
                ready: true,
                allowed_tools: None,
                context: domain::ContextSelection::All,
                accept_new_tools: AcceptNewTools::Admit,
                default_tools: Arc::from([]),
            }],
            tools: refs
                .iter()
                .map(|tool| ToolFact {
                    tool: tool.clone(),
                    definition: Digest::of(b"definition"),
                    state: DefinitionState::Pinned,
                    risk: Risk::Low,
                    effect: Effect::ReadOnly,
                    hints: Hints::default(),
                    surfaces: Arc::new([]),
                    seen: true,
                })
                .collect(),
            grants: refs
                .into_iter()
                .map(|tool| Grant {
                    agent,
                    subject: GrantSubject::Tool(tool),
                    permission: Permission::Allow,
                    at,
                })
                .collect(),
        }
    }

    fn facts<'a>(&'a self, rules: &'a RuleSet) -> Facts<'a> {
        Facts {
            tenant: self.principal.tenant,
            principal: self.principal,
            agent: &self.agent,
            channel: Channel::Mcp,
            epoch: Epoch(1),
            endpoint: EndpointScope::All,
            grants: &self.grants,
            connections: &self.connections,
            tools: &self.tools,
            turn: None,
            carried: None,
            rules,
            names: NameLimits::default(),
        }
    }

    fn call(&self, arguments: &str) -> Call {
        let tool = self.tools.get(3).map(|fact| fact.tool.clone()).unwrap();
        Call {
            id: CallId::generate(),
            principal: self.principal,
            agent: Some(self.agent.id),
            channel: Channel::Mcp,
            surface: None,
            run: None,
            target: Target::Tool(tool),
            exposed: "server__tool3".into(),
            definition: Digest::of(b"definition"),
            arguments: Arguments::new(serde_json::value::RawValue::from_string(arguments.into()).unwrap())
                .unwrap(),
        }
    }
}
