//! The digest of facts, so that unchanged ones are not composed again.

use std::collections::BTreeSet;

use domain::{ConnectionOwner, Digest, GrantSubject, Selection, ToolRef};

use crate::{AcceptNewTools, ConnectionFact, EndpointScope, Facts, ToolFact, TurnPolicy};

/// Everything but the epoch, each field with its length before it, so that no two facts share an encoding.
pub(crate) fn of(facts: &Facts<'_>) -> Digest {
    let mut out = Bytes(Vec::with_capacity(
        128 * (facts.tools.len() + facts.grants.len() + 8),
    ));
    out.id(&facts.tenant.organization.uuid().into_bytes());
    out.id(&facts.tenant.workspace.uuid().into_bytes());
    out.text(facts.principal.kind());
    out.text(&facts.principal.id_text());
    out.id(&facts.agent.id.uuid().into_bytes());
    out.text(facts.agent.handle.as_str());
    out.flag(facts.agent.enabled);
    out.flag(facts.agent.claimed);
    out.text(facts.channel.as_str());
    match facts.endpoint {
        EndpointScope::All => out.text("all"),
        EndpointScope::Connection(id) => out.id(&id.uuid().into_bytes()),
    }
    out.number(facts.names.max());
    out.id(facts.rules.digest().bytes());
    out.number(facts.connections.len());
    facts
        .connections
        .iter()
        .for_each(|connection| out.connection(connection));
    out.number(facts.tools.len());
    facts.tools.iter().for_each(|tool| out.fact(tool));
    out.number(facts.grants.len());
    for grant in facts.grants {
        out.id(&grant.agent.uuid().into_bytes());
        out.subject(&grant.subject);
        out.text(grant.permission.as_str());
    }
    out.flag(facts.turn.is_some());
    facts.turn.into_iter().for_each(|turn| out.turn(turn));
    out.flag(facts.carried.is_some());
    facts.carried.into_iter().for_each(|carried| out.tools(carried));
    Digest::of(&out.0)
}

struct Bytes(Vec<u8>);

impl Bytes {
    fn id(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn flag(&mut self, flag: bool) {
        self.0.push(u8::from(flag));
    }

    fn number(&mut self, number: usize) {
        self.0.extend_from_slice(&(number as u64).to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn connection(&mut self, connection: &ConnectionFact) {
        self.id(&connection.id.uuid().into_bytes());
        match connection.owner {
            ConnectionOwner::Workspace => self.text("workspace"),
            ConnectionOwner::Agent(agent) => {
                self.text("agent");
                self.id(&agent.uuid().into_bytes());
            }
        }
        self.text(connection.namespace.as_str());
        self.flag(connection.enabled);
        self.flag(connection.trusted);
        self.flag(connection.ready);
        self.text(match connection.accept_new_tools {
            AcceptNewTools::Admit => "admit",
            AcceptNewTools::LowRisk => "low_risk",
            AcceptNewTools::Quarantine => "quarantine",
        });
        self.flag(connection.allowed_tools.is_some());
        let allowed = connection.allowed_tools.as_deref().unwrap_or_default();
        self.number(allowed.len());
        allowed.iter().for_each(|tool| self.text(tool));
        self.number(connection.default_tools.len());
        connection.default_tools.iter().for_each(|tool| self.text(tool));
        let chosen = connection.context.selection();
        self.flag(chosen.is_some());
        chosen.into_iter().for_each(|chosen| self.selection(chosen));
    }

    fn selection(&mut self, chosen: &Selection) {
        self.number(chosen.prompts.len());
        for prompt in &chosen.prompts {
            self.text(&prompt.name);
            self.number(prompt.arguments.len());
            for (name, value) in &prompt.arguments {
                self.text(name);
                self.text(value);
            }
        }
        self.number(chosen.resources.len());
        chosen.resources.iter().for_each(|uri| self.text(uri));
        self.number(chosen.skills.len());
        for skill in &chosen.skills {
            self.text(&skill.uri);
            self.id(skill.manifest.bytes());
        }
    }

    fn fact(&mut self, fact: &ToolFact) {
        self.tool(&fact.tool);
        self.id(fact.definition.bytes());
        self.text(fact.state.as_str());
        self.text(fact.risk.as_str());
        self.text(fact.effect.as_str());
        // The other hints change nothing.
        self.flag(fact.hints.read_only == Some(true));
        self.number(fact.surfaces.len());
        fact.surfaces
            .iter()
            .for_each(|surface| self.text(surface.as_str()));
        self.flag(fact.seen);
    }

    fn tool(&mut self, tool: &ToolRef) {
        match tool {
            ToolRef::Capability(_) => self.flag(false),
            ToolRef::Upstream { connection, .. } => {
                self.flag(true);
                self.id(&connection.uuid().into_bytes());
            }
        }
        self.text(tool.name());
    }

    fn subject(&mut self, subject: &GrantSubject) {
        self.text(subject.kind());
        match subject {
            GrantSubject::Tool(tool) => self.tool(tool),
            GrantSubject::Prompts(connection)
            | GrantSubject::Resources(connection)
            | GrantSubject::Skills(connection) => self.id(&connection.uuid().into_bytes()),
        }
    }

    fn turn(&mut self, turn: &TurnPolicy) {
        self.flag(turn.only.is_some());
        turn.only.iter().for_each(|only| self.tools(only));
        self.tools(&turn.without);
        for risk in [turn.max_risk, turn.ask_from] {
            self.text(risk.map_or("", domain::Risk::as_str));
        }
    }

    fn tools(&mut self, tools: &BTreeSet<ToolRef>) {
        self.number(tools.len());
        tools.iter().for_each(|tool| self.tool(tool));
    }
}
