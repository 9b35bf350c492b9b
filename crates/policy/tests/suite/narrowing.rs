//! Whatever is taken away anywhere gives nothing anywhere else; and nothing depends on the order of what is known.

use domain::{Target, ToolRef};
use policy::{Asked, decide, explain};
use proptest::prelude::{
    Just, ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use proptest::sample::select;

use crate::properties::{TOOLS, at, decisions, strictness, worlds};
use crate::world::{TurnLine, World, tool};

/// One way to take something away.
#[derive(Debug, Clone)]
enum Narrowing {
    DisableAgent,
    DisableConnection(usize),
    DistrustConnection(usize),
    UnreadyConnection(usize),
    /// The connection offers only every other tool of what it offered.
    OfferLess(usize),
    State(usize, &'static str),
    /// The turn leaves this tool out.
    Without(usize),
    /// The turn allows nothing riskier than this.
    MaxRisk(&'static str),
    AskFrom(&'static str),
    /// The channel carries only these.
    Carry(Vec<bool>),
    Deny(usize),
    Rule(&'static str),
}

const RULES: &[&str] = &[
    "forbid(principal, action, resource);",
    r#"@effect("ask") forbid(principal, action, resource);"#,
    r#"forbid(principal, action, resource) unless { resource.name like "a*" };"#,
    r#"forbid(principal, action, resource) when { context.channel != "mcp" && resource.effect == "mutating" };"#,
    r#"@effect("ask") forbid(principal, action, resource) unless { context.arguments.integer.hasTag("/n") };"#,
];

fn narrowings() -> impl Strategy<Value = Narrowing> {
    let which = 0..3_usize;
    let tools = 0..TOOLS.len();
    prop_oneof![
        1 => Just(Narrowing::DisableAgent),
        3 => which.clone().prop_map(Narrowing::DisableConnection),
        2 => which.clone().prop_map(Narrowing::DistrustConnection),
        2 => which.clone().prop_map(Narrowing::UnreadyConnection),
        2 => which.prop_map(Narrowing::OfferLess),
        3 => (tools.clone(), select(&["quarantined", "gone", "unusable"][..])).prop_map(|(n, to)| Narrowing::State(n, to)),
        2 => tools.clone().prop_map(Narrowing::Without),
        2 => select(&["low", "medium"][..]).prop_map(Narrowing::MaxRisk),
        2 => select(&["low", "medium", "high"][..]).prop_map(Narrowing::AskFrom),
        2 => proptest::collection::vec(any::<bool>(), TOOLS.len()).prop_map(Narrowing::Carry),
        3 => tools.prop_map(Narrowing::Deny),
        3 => select(RULES).prop_map(Narrowing::Rule),
    ]
}

impl Narrowing {
    fn apply(&self, world: &mut World) {
        match self {
            Self::DisableAgent => world.agent_enabled = false,
            Self::DisableConnection(n) => world.connections[*n].enabled = false,
            Self::DistrustConnection(n) => world.connections[*n].trusted = false,
            Self::UnreadyConnection(n) => world.connections[*n].ready = false,
            Self::OfferLess(n) => {
                let connection = &mut world.connections[*n];
                let all = || {
                    TOOLS
                        .iter()
                        .filter_map(|id| Some(id.split_once('/')?.1.to_owned()))
                        .collect()
                };
                let offered: Vec<String> = connection.allowed.take().unwrap_or_else(all);
                connection.allowed = Some(offered.into_iter().step_by(2).collect());
            }
            Self::State(n, to) if world.tools[*n].state == "pinned" => {
                world.tools[*n].state = (*to).to_owned()
            }
            Self::State(..) => {}
            Self::Without(n) => turn(world).without.push(TOOLS[*n].to_owned()),
            Self::MaxRisk(to) => lower(&mut turn(world).max_risk, to),
            Self::AskFrom(to) => lower(&mut turn(world).ask_from, to),
            Self::Carry(kept) => {
                let kept: Vec<&str> = TOOLS
                    .iter()
                    .zip(kept)
                    .filter(|(_, kept)| **kept)
                    .map(|(id, _)| *id)
                    .collect();
                let carried = world
                    .carried
                    .get_or_insert_with(|| TOOLS.iter().map(|id| (*id).to_owned()).collect());
                carried.retain(|id| kept.contains(&&**id));
            }
            Self::Deny(n) => world.grants.push(crate::world::GrantLine {
                on: TOOLS[*n].to_owned(),
                says: "deny".to_owned(),
                agent: None,
            }),
            Self::Rule(text) => world.rules.push(crate::world::RuleLine {
                id: format!("more{}", world.rules.len()),
                text: (*text).to_owned(),
                disabled: false,
            }),
        }
    }
}

fn turn(world: &mut World) -> &mut TurnLine {
    world.turn.get_or_insert_with(TurnLine::default)
}

/// Sets a bound of the turn unless there is a lower one.
fn lower(bound: &mut Option<String>, to: &str) {
    let rank = |word: &str| ["low", "medium", "high"].iter().position(|risk| *risk == word);
    if bound.as_deref().is_none_or(|now| rank(to) < rank(now)) {
        *bound = Some(to.to_owned());
    }
}

/// A vector in another order, chosen by a number.
fn shuffle<T: std::fmt::Debug>(items: &mut Vec<T>, seed: u64) {
    let mut keyed: Vec<(domain::Digest, T)> = items
        .drain(..)
        .enumerate()
        .map(|(n, item)| {
            (
                domain::Digest::of(format!("{seed} {n} {item:?}").as_bytes()),
                item,
            )
        })
        .collect();
    keyed.sort_by_key(|(key, _)| *key);
    items.extend(keyed.into_iter().map(|(_, item)| item));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn taking_away_gives_nothing(
        world in worlds(),
        narrowings in proptest::collection::vec(narrowings(), 1..5),
        hour in 0..24_i64,
    ) {
        let mut world = world;
        let mut built = world.build();
        let mut effective = built.compose();
        let mut old = decisions(&built, &effective, &at(hour));
        for narrowing in &narrowings {
            narrowing.apply(&mut world);
            let narrower = world.build();
            let composed = narrower.compose();
            let new = decisions(&narrower, &composed, &at(hour));
            for (key, decision) in &new {
                prop_assert!(strictness(decision) >= strictness(old[key]), "{:?} after {:?}", key, narrowing);
            }
            let had: Vec<&ToolRef> = effective.snapshot().tools.iter().map(|tool| &tool.tool).collect();
            for tool in &composed.snapshot().tools {
                prop_assert!(had.contains(&&tool.tool), "{:?} after {:?}", tool.tool, narrowing);
            }
            // A run that began before goes on with the stricter of both, whichever of them is called the present one.
            let facts = policy::CallFacts { current: Some(&composed), ..at(hour) };
            prop_assert_eq!(&decisions(&built, &effective, &facts), &new);
            (built, effective, old) = (narrower, composed, new);
        }
    }

    #[test]
    fn no_order_matters(world in worlds(), seed in any::<u64>(), hour in 0..24_i64) {
        let mut shuffled = world.clone();
        shuffle(&mut shuffled.connections, seed);
        shuffle(&mut shuffled.tools, seed);
        shuffle(&mut shuffled.grants, seed);
        shuffle(&mut shuffled.rules, seed);
        if let Some(turn) = &mut shuffled.turn {
            shuffle(&mut turn.without, seed);
        }
        let (a, b) = (world.build(), shuffled.build());
        let (one, other) = (a.compose(), b.compose());
        prop_assert_eq!(one.snapshot().digest, other.snapshot().digest);
        prop_assert_eq!(&one.snapshot().tools, &other.snapshot().tools);
        prop_assert_eq!(&one.snapshot().absent, &other.snapshot().absent);
        prop_assert_eq!(decisions(&a, &one, &at(hour)), decisions(&b, &other, &at(hour)));
    }

    #[test]
    fn explaining_agrees_on_every_channel(world in worlds(), hour in 0..24_i64) {
        let mut world = world;
        for channel in ["chat", "voice", "phone", "sms", "whatsapp", "schedule", "webhook", "subagent", "mcp", "api"] {
            channel.clone_into(&mut world.channel);
            let built = world.build();
            let effective = built.compose();
            for name in TOOLS {
                let tool = tool(name);
                let call = built.call(Target::Tool(tool.clone()), r#"{"n": 9}"#);
                let facts = at(hour);
                let explained = explain(&effective, Asked::Tool(&tool), Some((&call, &facts)));
                let decided = decide(&effective, call, &facts);
                prop_assert_eq!((explained.decision, &explained.reason), (decided.as_str(), decided.reason()), "{}", channel);
            }
        }
    }
}
