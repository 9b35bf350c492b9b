//! Who may do what on which operator's surface: the whole table, and other organizations' facts.

use domain::{ApprovalId, Principal, Surface};
use gateway::FailureKind;
use serde_json::{Value, json};

use super::both;
use super::house::{Bench, House, asked, in_person};
use super::upstream::{Upstream, tool};

both!(
    the_table_of_who_may_do_what,
    another_organizations_administrator_finds_nothing,
    an_agents_own_key_acts_for_that_agent_alone,
    every_operation_leaves_its_trace,
);

/// Each capability with what an administrator's key, an agent's key and an Owner may do on api, mcp, cli, pages and the compatible routes: `y` may, `n` may not, `-` where it
/// does not exist. On the agent's surface nothing is an operation.
const TABLE: &str = "\
activity.list                    yyy-- nnn-- yyy--
agents.create                    yyy-y nnn-n yyy-y
agents.list                      yyy-y nnn-y yyy-y
agents.remove                    yyy-- nnn-- yyy--
agents.show                      yyy-y nnn-y yyy-y
agents.update                    yyy-- nnn-- yyy--
approvals.show                   yyyy- nnnn- yyyy-
audit.list                       yyy-- nnn-- yyy--
audit.verify                     yyy-- nnn-- yyy--
authorize_mcp_server             ---n- ---n- ---y-
clients.allow                    ---n- ---n- ---y-
clients.list                     yyy-- nnn-- yyy--
clients.revoke                   yyy-- nnn-- yyy--
config.reload                    yyy-- nnn-- yyy--
connections.accept               yyy-- nnn-- yyy--
connections.add                  yyy-y nnn-y yyy-y
connections.authorization        yyy-y nnn-y yyy-y
connections.cancel_authorization yyy-y nnn-y yyy-y
connections.catalogue            yyy-y nnn-y yyy-y
connections.changes              yyy-- nnn-- yyy--
connections.disconnect           yyy-y nnn-y yyy-y
connections.list                 yyy-y nnn-y yyy-y
connections.presets              yyy-- nnn-- yyy--
connections.queue_refresh        yyy-y nnn-y yyy-y
connections.refresh              yyy-y nnn-y yyy-y
connections.remove               yyy-y nnn-y yyy-y
connections.show                 yyy-y nnn-y yyy-y
connections.status               yyy-- nnn-- yyy--
connections.test                 yyy-y nnn-y yyy-y
connections.update               yyy-y nnn-y yyy-y
connections.verify               yyy-- nnn-- yyy--
current_time                     yyy-- yyy-- yyy--
grants.list                      yyy-- nnn-- yyy--
grants.remove                    yyy-- nnn-- yyy--
grants.set                       yyy-- nnn-- yyy--
invitations.list                 yyyy- nnnn- yyyy-
invitations.revoke               yyyy- nnnn- yyyy-
keys.create                      y-y-y n-n-n y-y-y
keys.list                        yyy-- nnn-- yyy--
keys.revoke                      yyy-- nnn-- yyy--
list_approvals                   yyyy- nnnn- yyyy-
members.invite                   y-yy- n-nn- y-yy-
members.list                     yyyy- nnnn- yyyy-
members.remove                   yyyy- nnnn- yyyy-
members.show                     yyyy- nnnn- yyyy-
members.update                   yyyy- nnnn- yyyy-
phone.activity                   yyy-y nnn-y yyy-y
phone.call                       yyy-y nnn-y yyy-y
phone.calls                      yyy-y nnn-y yyy-y
phone.transcript                 yyy-y nnn-y yyy-y
resolve_approval                 yyyy- nnnn- yyyy-
search_mcp_registry              yyy-- nnn-- yyy--
skills.add                       yyy-- nnn-- yyy--
skills.archive                   yyy-- nnn-- yyy--
skills.install                   yyy-- nnn-- yyy--
skills.list                      yyy-- nnn-- yyy--
skills.show                      yyy-- nnn-- yyy--
skills.update                    yyy-- nnn-- yyy--
start_mcp_authorization          yyy-y nnn-y yyy-y
tools.call                       yyy-- yyy-- yyy--
tools.classify                   yyy-- nnn-- yyy--
tools.explain                    yyy-- yyy-- yyy--
tools.list                       yyy-- nnn-- yyy--
voice.set                        yyy-y nnn-y yyy-y
voice.set_authority              yyy-y nnn-n yyy-y
voice.show                       yyy-y nnn-y yyy-y
voices.list                      yyy-y nnn-y yyy-y
whoami                           yyy-y yyy-y yyy-y
";

/// What an input names.
struct Named {
    agent: String,
    connection: String,
    approval: ApprovalId,
    key: Value,
}

/// A legal input of each capability. A new capability needs one here.
fn input(id: &str, named: &Named) -> Value {
    let Named {
        agent,
        connection,
        approval,
        key,
    } = named;
    match id {
        "activity.list" | "grants.list" => json!({ "agent": agent }),
        "agents.list"
        | "audit.list"
        | "audit.verify"
        | "config.reload"
        | "connections.list"
        | "connections.presets"
        | "search_mcp_registry"
        | "current_time"
        | "keys.list"
        | "phone.calls"
        | "skills.list"
        | "voices.list"
        | "whoami" => json!({}),
        "agents.create" => json!({ "handle": "third" }),
        "agents.show" | "agents.remove" | "list_approvals" => json!({ "agent": agent }),
        "agents.update" => json!({ "agent": agent, "expected_version": 1, "enabled": false }),
        "approvals.show" => json!({ "approval": approval.uuid() }),
        "resolve_approval" => json!({ "approval": approval.uuid(), "decision": "approved" }),
        "connections.add" => json!({ "label": "x", "url": "http://127.0.0.1:1/mcp" }),
        "connections.accept" => json!({ "connection": connection, "tool": "look", "digest": "0".repeat(64) }),
        "connections.catalogue"
        | "connections.changes"
        | "connections.queue_refresh"
        | "connections.refresh"
        | "connections.remove"
        | "connections.show"
        | "connections.status"
        | "connections.test"
        | "connections.verify" => json!({ "connection": connection }),
        "start_mcp_authorization" | "connections.disconnect" => {
            json!({ "connection": connection, "expected_version": 1 })
        }
        "connections.authorization" | "connections.cancel_authorization" => {
            json!({ "connection": connection, "authorization": approval.uuid() })
        }
        "clients.allow" => {
            json!({ "client_id": "c", "client_name": "c", "redirect_uri": "https://c.example/cb",
            "challenge": "c", "resource": "/mcp", "agent": agent })
        }
        "members.list" | "invitations.list" | "clients.list" => json!({}),
        "members.show" | "members.remove" => json!({ "member": approval.uuid() }),
        "members.update" => json!({ "member": approval.uuid(), "expected_version": 1, "role": "viewer" }),
        "members.invite" => json!({ "email": "new@example.com", "role": "viewer" }),
        "invitations.revoke" => json!({ "invitation": approval.uuid() }),
        "clients.revoke" => json!({ "client": approval.uuid() }),
        "authorize_mcp_server" => json!({ "authorization": approval.uuid() }),
        "connections.update" => json!({ "connection": connection, "expected_version": 1, "enabled": false }),
        "grants.set" => {
            json!({ "agent": agent, "connection": connection, "tool": "look", "permission": "unattended" })
        }
        "grants.remove" => json!({ "agent": agent, "connection": connection, "tool": "look" }),
        "phone.activity" | "phone.call" | "phone.transcript" => json!({ "phone_call": approval.uuid() }),
        "voice.show" | "voice.set" => json!({ "agent": agent }),
        "voice.set_authority" => json!({ "agent": agent, "authority_mode": "yolo" }),
        "skills.add" => json!({ "slug": "greet", "description": "Greets", "instructions": "Say hello." }),
        "skills.archive" | "skills.update" => json!({ "skill": "none", "expected_version": 1 }),
        "skills.install" => {
            let skill = json!({ "slug": "thank", "description": "Thanks", "instructions": "Say thanks." });
            json!({ "skills": [skill] })
        }
        "skills.show" => json!({ "skill": "none" }),
        "keys.create" => json!({ "name": "k", "kind": "agent", "agent": agent }),
        "keys.revoke" => json!({ "key": key }),
        "tools.call" | "tools.explain" => json!({ "agent": agent, "name": "files__look" }),
        "tools.classify" => {
            json!({ "connection": connection, "tool": "look", "risk": "low", "effect": "read_only" })
        }
        "tools.list" => json!({ "agent": agent, "connection": connection }),
        other => panic!("say here what a legal input of {other} is"),
    }
}

/// Where a capability is asked for.
fn surface(id: &str) -> Surface {
    if matches!(id, "authorize_mcp_server" | "clients.allow") {
        Surface::Page
    } else {
        Surface::Api
    }
}

/// Who administers, as they come to where a capability is asked for: to a page in person, as no key can.
fn as_comes(id: &str, principal: Principal) -> Principal {
    if surface(id) == Surface::Page && principal.is_admin() {
        return in_person(principal.tenant);
    }
    principal
}

fn nobody() -> Named {
    Named {
        agent: "nobody".to_owned(),
        connection: "nowhere".to_owned(),
        approval: ApprovalId::generate(),
        key: json!(ApprovalId::generate().uuid()),
    }
}

fn ids(house: &House) -> Vec<&'static str> {
    house
        .gateway
        .registry()
        .iter()
        .map(|capability| capability.declaration.id)
        .collect()
}

async fn the_table_of_who_may_do_what(bench: Bench) {
    let house = House::with(bench, &[]).await;
    let may = async |principal: Principal, on: Surface, id: &str| {
        let answer = house.ask_as(principal, on, (id, input(id, &nobody()))).await;
        match answer.map_err(|failure| failure.code) {
            Err("access.forbidden") => 'n',
            Err("operation.not_found") => '-',
            Ok(_) | Err(_) => 'y',
        }
    };
    let mut table = String::new();
    for id in ids(&house) {
        table.push_str(&format!("{id:<32}"));
        for principal in [house.admin, house.caller, in_person(house.tenant)] {
            table.push(' ');
            for surface in [
                Surface::Api,
                Surface::Mcp,
                Surface::Cli,
                Surface::Page,
                Surface::Compatible,
            ] {
                table.push(may(principal, surface, id).await);
            }
            assert_eq!(
                may(principal, Surface::Agent, id).await,
                if id == "current_time" { 'n' } else { '-' },
                "{id}"
            );
        }
        table.push('\n');
    }
    assert!(
        table == TABLE,
        "the table of who may do what changed; if that is meant, put it into TABLE:\n{table}"
    );
    house.verify().await;
}

/// A house with something of everything, and what its facts are called.
async fn furnished(bench: Bench) -> (House, Upstream, Named) {
    let upstream = Upstream::echoing(vec![tool("look"), tool("ask")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.reading("files/look").await;
    house.grant("files/ask", "allow").await;
    let approval = asked(&house.call("files__ask", json!({})).await);
    let key = house
        .admin(
            "keys.create",
            json!({ "name": "k", "kind": "agent", "agent": "default" }),
        )
        .await;
    let connection = house
        .gateway
        .workspace(house.tenant)
        .unwrap()
        .find_connection("files")
        .unwrap()
        .id;
    let named = Named {
        agent: house.agent.id.to_string(),
        connection: connection.to_string(),
        approval,
        key: key["id"].clone(),
    };
    (house, upstream, named)
}

/// Everything an administrator can read of the workspace, but for the time and the record itself.
async fn all_facts(house: &House) -> Vec<Value> {
    let mut facts = Vec::new();
    for id in [
        "agents.list",
        "connections.list",
        "grants.list",
        "keys.list",
        "list_approvals",
        "tools.list",
    ] {
        facts.push(house.admin(id, json!({})).await);
    }
    facts
}

// I036, V016
async fn another_organizations_administrator_finds_nothing(bench: Bench) {
    let (house, upstream, named) = furnished(bench).await;
    let by_name = Named {
        agent: "default".to_owned(),
        connection: "files".to_owned(),
        ..nobody()
    };
    let before = all_facts(&house).await;
    let (epoch, sent) = (
        house.store.epoch(house.tenant).await.unwrap(),
        upstream.server.received().len(),
    );
    let marks = [
        named.agent.clone(),
        named.connection.clone(),
        named.approval.to_string(),
        "files".to_owned(),
    ];
    for id in ids(&house) {
        for named in [&named, &by_name] {
            let input = input(id, named);
            match house
                .ask_as(as_comes(id, house.stranger), surface(id), (id, input.clone()))
                .await
            {
                // The same for everybody, and long.
                Ok(_) if matches!(id, "connections.presets" | "search_mcp_registry") => {}
                Ok(reply) => {
                    let text = reply.body.unwrap_or_default().to_string();
                    assert!(
                        !marks.iter().any(|mark| text.contains(&**mark)),
                        "{id} {input}: {text}"
                    );
                }
                Err(failure) => {
                    let known = [FailureKind::NotFound, FailureKind::Invalid, FailureKind::Conflict]
                        .contains(&failure.kind);
                    assert!(
                        known && !failure.detail.contains("default"),
                        "{id} {input}: {failure:?}"
                    );
                    // A thing of others is told from no thing at all in nothing.
                    let none = house
                        .ask_as(
                            as_comes(id, house.stranger),
                            surface(id),
                            (id, self::input(id, &nobody())),
                        )
                        .await;
                    assert_eq!(none.unwrap_err(), failure, "{id} {input}");
                }
            }
        }
    }
    assert_eq!(all_facts(&house).await, before);
    assert_eq!(house.store.epoch(house.tenant).await.unwrap(), epoch);
    assert_eq!(upstream.server.received().len(), sent);
    house.verify().await;
}

async fn an_agents_own_key_acts_for_that_agent_alone(bench: Bench) {
    let (house, upstream, _) = furnished(bench).await;
    let second = house.admin("agents.create", json!({ "handle": "second" })).await;
    let call = |more: Value| {
        let mut input = json!({ "name": "files__look", "arguments": { "a": 1 } });
        for (name, value) in more.as_object().unwrap() {
            input[name] = value.clone();
        }
        input
    };
    // Its own tools, named or not.
    for own in [
        json!({}),
        json!({ "agent": "default" }),
        json!({ "agent": house.agent.id.to_string() }),
    ] {
        let reply = house
            .ask_as(house.caller, Surface::Api, ("tools.call", call(own)))
            .await
            .unwrap();
        let body = reply.body.unwrap();
        assert_eq!(
            (&body["status"], &body["result"]["structuredContent"]["echo"]),
            (&json!("succeeded"), &json!({ "a": 1 }))
        );
    }
    assert_eq!(upstream.calls().len(), 3);
    // No other's: one that exists is told from one that does not in nothing.
    let mut refusals = Vec::new();
    for other in ["second", second["id"].as_str().unwrap(), "nobody"] {
        for id in ["tools.call", "tools.explain"] {
            let input = call(json!({ "agent": other }));
            let refused = house
                .ask_as(house.caller, Surface::Api, (id, input))
                .await
                .unwrap_err();
            assert_eq!(refused.kind, FailureKind::NotFound);
            refusals.push(refused);
        }
    }
    refusals.dedup();
    assert_eq!(refusals.len(), 1, "{refusals:#?}");
    // An administrator has to say for whom.
    let missing = house.ask("tools.call", call(json!({}))).await.unwrap_err();
    assert_eq!(missing.field.as_deref(), Some("agent"));
    // The explanation is that of the call, and the call is recorded as the agent's own.
    let input = json!({ "name": "files__ask", "channel": "mcp", "arguments": {} });
    let explained = house
        .ask_as(house.caller, Surface::Api, ("tools.explain", input))
        .await
        .unwrap()
        .body
        .unwrap();
    assert_eq!(
        (&explained["decision"], &explained["reason"]),
        (&json!("ask"), &json!("high_risk"))
    );
    let recorded = house.calls_of("files__look").await;
    assert!(
        recorded
            .iter()
            .all(|item| item.decided.actor.agent == Some(house.agent.id))
    );
    house.verify().await;
}

// V063 O009
async fn every_operation_leaves_its_trace(bench: Bench) {
    let house = House::with(bench, &[]).await;
    for id in ids(&house) {
        for (principal, refused) in [(as_comes(id, house.admin), false), (house.caller, true)] {
            let before = house.calls_of(id).await.len();
            let answer = house
                .ask_as(principal, surface(id), (id, input(id, &nobody())))
                .await;
            let items = house.calls_of(id).await;
            // Settling is itself a call of current_time.
            let expected = if id == "current_time" { 2 } else { 1 };
            assert_eq!(items.len() - before, expected, "{id}");
            let item = &items[before];
            let decided = super::house::Decided::of(item);
            let forbidden = answer
                .as_ref()
                .is_err_and(|failure| failure.code == "access.forbidden");
            assert_eq!(
                &*decided.decision,
                if forbidden { "deny" } else { "allow" },
                "{id}"
            );
            assert!(!forbidden || refused);
            assert_eq!(
                (&*item.decided.actor.kind, item.ended.is_some()),
                (principal.kind(), true),
                "{id}"
            );
        }
    }
    house.verify().await;
}
