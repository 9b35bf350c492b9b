//! Every operation with every kind of key: who may not, is told so, and learns nothing.

use domain::{ConnectionOwner, Permission, Role, Surface};
use gateway::capability::{Action, Declaration, Method};
use http::StatusCode;
use serde_json::{Value, json};
use testkit::fixture::Fixture;
use testkit::house::House;
use testkit::http::{Answer, send};

use crate::mcp::peer::Peer;

/// What inputs name, all of it of the house's own workspace.
struct Named {
    agent: String,
    agent_id: String,
    connection: String,
    approval: String,
    member: String,
    invitation: String,
    client: String,
    key: String,
    call: String,
    phone_call: String,
    skill: String,
}

/// Path, query and body of each operation. A new one needs its line here.
fn input(id: &str, named: &Named) -> Value {
    let Named {
        agent,
        connection,
        approval,
        key,
        ..
    } = named;
    match id {
        "agents.list"
        | "audit.list"
        | "audit.verify"
        | "config.reload"
        | "connections.list"
        | "connections.presets"
        | "search_mcp_registry"
        | "current_time"
        | "keys.list"
        | "list_approvals"
        | "phone.calls"
        | "voices.list"
        | "whoami" => json!({}),
        "activity.list" => json!({ "call": named.call }),
        "grants.list" => json!({ "agent": agent }),
        "agents.create" => json!({ "handle": "third" }),
        "agents.show" | "agents.remove" => json!({ "agent": agent }),
        "agents.update" => json!({ "agent": agent, "expected_version": 1, "description": "x" }),
        "approvals.show" => json!({ "approval": approval }),
        "resolve_approval" => json!({ "approval": approval, "decision": "approved" }),
        // An address needs no name server, and what is switched off is not reached.
        "connections.add" => json!({ "label": "New", "url": "https://8.8.8.8/mcp", "enabled": false }),
        "connections.accept" => {
            json!({ "connection": connection, "tool": "test_echo", "digest": "0".repeat(64) })
        }
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
            json!({ "connection": connection, "authorization": uuid::Uuid::nil() })
        }
        "connections.update" => json!({ "connection": connection, "expected_version": 1, "enabled": false }),
        "grants.set" => {
            json!({ "agent": agent, "connection": connection, "tool": "test_echo", "permission": "unattended" })
        }
        "grants.remove" => json!({ "agent": agent, "connection": connection, "tool": "test_echo" }),
        "phone.activity" | "phone.call" | "phone.transcript" => json!({ "phone_call": named.phone_call }),
        "voice.show" | "voice.set" => json!({ "agent": agent }),
        "voice.set_authority" => json!({ "agent": agent, "authority_mode": "yolo" }),
        "skills.add" => json!({ "slug": "greet", "description": "Greets", "instructions": "Say hello." }),
        "skills.archive" | "skills.update" => json!({ "skill": named.skill, "expected_version": 1 }),
        "skills.install" => {
            let skill = json!({ "slug": "thank", "description": "Thanks", "instructions": "Say thanks." });
            json!({ "skills": [skill] })
        }
        "skills.show" => json!({ "skill": named.skill }),
        "keys.create" => json!({ "name": "k", "kind": "agent", "agent": agent }),
        "keys.revoke" => json!({ "key": key }),
        "tools.call" | "tools.explain" => {
            json!({ "agent": agent, "name": "quarry__test_echo", "arguments": {} })
        }
        "tools.classify" => {
            json!({ "connection": connection, "tool": "test_echo", "risk": "high", "effect": "mutating" })
        }
        "members.list" | "invitations.list" | "clients.list" | "skills.list" => json!({}),
        "members.show" | "members.remove" => json!({ "member": named.member }),
        "members.update" => json!({ "member": named.member, "expected_version": 1, "role": "viewer" }),
        "members.invite" => json!({ "email": "new@example.com", "role": "viewer" }),
        "invitations.revoke" => json!({ "invitation": named.invitation }),
        "clients.revoke" => json!({ "client": named.client }),
        "tools.list" => json!({ "connection": connection }),
        other => unreachable!("say here what a legal input of {other} is"),
    }
}

/// What somebody of another workspace may meet at each operation: that it is not there, or a world of their own without ours in it.
fn is_about_ours(declaration: &Declaration) -> bool {
    !matches!(
        declaration.id,
        "agents.list"
            | "agents.create"
            | "audit.list"
            | "audit.verify"
            | "config.reload"
            | "connections.list"
            | "connections.add"
            | "connections.presets"
            | "search_mcp_registry"
            | "current_time"
            | "keys.list"
            | "list_approvals"
            | "activity.list"
            | "phone.calls"
            | "voices.list"
            | "members.list"
            | "skills.list"
            | "skills.add"
            | "skills.install"
            | "members.invite"
            | "invitations.list"
            | "clients.list"
            | "whoami"
    )
}

async fn ask(house: &House, declaration: &Declaration, input: &Value, key: Option<&str>) -> Answer {
    let mut rest = input.as_object().unwrap().clone();
    let mut path = declaration.path.to_owned();
    rest.retain(|name, value| {
        let slot = format!("{{{name}}}");
        let named = path.contains(&slot);
        path = path.replace(&slot, value.as_str().unwrap_or_default());
        !named
    });
    let mut url = format!("{}/api/v1{path}", house.url);
    let mut body = String::new();
    if declaration.method.input_in_query() {
        let pairs: Vec<String> = rest
            .iter()
            .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()))
            .collect();
        url = format!("{url}?{}", pairs.join("&"));
    } else {
        body = Value::Object(rest).to_string();
    }
    let bearer = format!("Bearer {}", key.unwrap_or_default());
    let mut headers = vec![
        ("accept", "application/json"),
        ("content-type", "application/json"),
    ];
    headers.extend(key.map(|_| ("authorization", &*bearer)));
    if matches!(declaration.method, Method::Get | Method::Delete) {
        headers.remove(1);
    }
    let method = declaration.method.as_str().parse().unwrap();
    send(method, &url, &headers, body).await.unwrap()
}

/// Furnishes a house with one of each.
async fn furnish(house: &House, fixture: &Fixture) -> Named {
    let shared = house
        .connect(ConnectionOwner::Workspace, "quarry", &fixture.url)
        .await;
    house
        .grant(house.agent, shared, "test_echo", Permission::Ask)
        .await;
    let peer = Peer::new(&format!("{}/mcp", house.url), &house.agent_key);
    let asked = peer
        .tool("quarry__test_echo", json!({ "message": "hunter2" }))
        .await
        .json();
    house.owner().await;
    house.person("viewer@example.com", Role::Viewer).await;
    house.invite("asked@example.com", Role::Viewer).await;
    let admin = Peer::new(&house.url, &house.admin);
    let list = async |path: &str| {
        let url = format!("{}/api/v1{path}", house.url);
        let bearer = format!("Bearer {}", admin.key);
        send(http::Method::GET, &url, &[("authorization", &bearer)], "")
            .await
            .unwrap()
            .json()
    };
    let client = house.let_in().await;
    let written = json!({ "slug": "of-ours", "description": "Ours", "instructions": "Say it." });
    let bearer = format!("Bearer {}", admin.key);
    let headers = [("authorization", &*bearer), ("content-type", "application/json")];
    let url = format!("{}/api/v1/skills", house.url);
    let skill = send(http::Method::POST, &url, &headers, written.to_string())
        .await
        .unwrap()
        .json();
    let (members, invitations) = (list("/members").await, list("/invitations").await);
    let (approvals, keys, activity) = (
        list("/approvals").await,
        list("/keys").await,
        list("/activity").await,
    );
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let found = Named {
        agent: "default".to_owned(),
        agent_id: house.agent.to_string(),
        connection: shared.to_string(),
        approval: text(&approvals["items"][0]["id"]),
        member: text(&members["items"][1]["id"]),
        invitation: text(&invitations["items"][2]["id"]),
        client: client.to_string(),
        skill: text(&skill["id"]),
        key: text(
            &keys["items"]
                .as_array()
                .unwrap()
                .iter()
                .find(|key| key["kind"] == "agent")
                .unwrap()["id"],
        ),
        call: text(&activity["items"][0]["call_id"]),
        phone_call: house.make_phone_call("+15550002222", false).await.id.to_string(),
    };
    assert!(
        !found.approval.is_empty() && !found.key.is_empty(),
        "{asked} {approvals} {keys}"
    );
    found
}

/// With which statuses somebody may be answered.
fn statuses(who: &str, declaration: &Declaration) -> &'static [u16] {
    match (who, declaration.action) {
        ("nobody" | "an invented key", _) => &[401],
        ("a stranger", _) if is_about_ours(declaration) => &[404],
        ("a stranger", _) => &[200, 201, 404],
        (_, Action::Administer | Action::Approve | Action::Own | Action::Represent | Action::Consent) => {
            &[403]
        }
        (_, Action::Read | Action::Use) if matches!(declaration.id, "current_time" | "whoami") => &[200],
        (_, Action::Read | Action::Use) => &[403, 404],
    }
}

#[tokio::test]
async fn every_operation_with_every_key() {
    let fixture = Fixture::start().await.unwrap();
    let house = House::start(&[&fixture.url]).await;
    let named = furnish(&house, &fixture).await;
    let stranger = house.make_stranger().await;
    let bystander = house.make_agent("bystander").await;
    let secrets = [
        &*named.agent_id,
        &named.connection,
        &named.approval,
        &named.skill,
        &named.key,
        "quarry",
        "hunter2",
        "bystander",
    ];
    let declarations: Vec<Declaration> = house
        .gateway
        .registry()
        .on(Surface::Api)
        .map(|capability| capability.declaration)
        .collect();
    let mut tried = 0;
    for declaration in &declarations {
        let input = input(declaration.id, &named);
        let keys = [
            ("nobody", None),
            (
                "an invented key",
                Some("sb_admin_00000000000000000000000000000000"),
            ),
            ("a stranger", Some(&*stranger.admin)),
            ("a stranger's agent", Some(&*stranger.agent_key)),
            ("another agent", Some(&*bystander.key)),
        ];
        for (who, key) in keys {
            let answer = ask(&house, declaration, &input, key).await;
            let told = String::from_utf8_lossy(&answer.body);
            let wanted = statuses(who, declaration);
            let status = answer.status.as_u16();
            assert!(
                wanted.contains(&status),
                "{who} at {}: {status} {told}",
                declaration.id
            );
            // What they named themselves may be repeated to them, and nothing else.
            for secret in secrets
                .iter()
                .filter(|secret| !input.to_string().contains(**secret))
                // Who asks is what the answer is about.
                .filter(|secret| declaration.id != "whoami" || **secret != "bystander")
            {
                assert!(
                    !told.contains(secret),
                    "{who} at {} learns {secret}: {told}",
                    declaration.id
                );
            }
            if who == "a stranger" && !is_about_ours(declaration) {
                assert!(
                    secrets.iter().all(|secret| !told.contains(secret)),
                    "{}: {told}",
                    declaration.id
                );
            }
            tried += 1;
        }
    }
    println!(
        "{} operations, {tried} requests with a wrong key",
        declarations.len()
    );
    the_right_key(&house, &declarations, &named).await;
}

/// None of that changed anything, and the same requests are good ones: each is understood when the right key sends it.
async fn the_right_key(house: &House, declarations: &[Declaration], named: &Named) {
    // What others are part of is taken away last.
    let rank = |declaration: &&Declaration| match (declaration.id, declaration.method) {
        ("agents.remove", _) => 3,
        ("connections.remove", _) => 2,
        (_, Method::Delete) => 1,
        _ => 0,
    };
    let mut ordered: Vec<&Declaration> = declarations.iter().collect();
    ordered.sort_by_key(rank);
    for declaration in ordered {
        let answer = ask(
            house,
            declaration,
            &input(declaration.id, named),
            Some(&house.admin),
        )
        .await;
        // A version or digest that is not the present one is a conflict: found, and looked at.
        let understood = answer.status.is_success() || answer.status == StatusCode::CONFLICT;
        // Nobody signs in here: the connection is found, the sign-in is not.
        let understood = understood || answer.json()["field"] == "authorization";
        assert!(understood, "{}: {answer:?}", declaration.id);
    }
}

#[tokio::test]
async fn every_character_of_a_key_counts() {
    let house = House::start(&[]).await;
    let key = &house.admin;
    let other = |byte: u8| if byte == b'A' { 'B' } else { 'A' };
    let mut wrong: Vec<String> = (0..key.len())
        .map(|at| {
            let changed = key
                .char_indices()
                .map(|(n, c)| if n == at { other(key.as_bytes()[at]) } else { c });
            changed.collect()
        })
        .collect();
    wrong.extend((0..key.len()).map(|length| key.chars().take(length).collect()));
    wrong.extend([
        format!("{key}A"),
        format!("{key}="),
        key.replacen("admin", "agent", 1),
        format!("{key}{key}"),
    ]);
    for text in &wrong {
        let headers = [("x-api-key", text.as_str())];
        let url = format!("{}/api/v1/agents", house.url);
        let answer = send(http::Method::GET, &url, &headers, "").await.unwrap();
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{text}");
    }
    println!("{} wrong texts of one key", wrong.len());
}

#[tokio::test]
async fn a_strangers_key_at_the_mcp_places() {
    let fixture = Fixture::start().await.unwrap();
    let house = House::start(&[&fixture.url]).await;
    let named = furnish(&house, &fixture).await;
    let stranger = house.make_stranger().await;
    for path in [
        "/mcp/default",
        "/mcp/default/quarry",
        &format!("/mcp/{}", named.agent_id),
    ] {
        for key in [&stranger.admin, &stranger.agent_key] {
            let peer = Peer::new(&format!("{}{path}", house.url), key);
            for method in [
                "initialize",
                "tools/list",
                "tools/call",
                "resources/list",
                "prompts/list",
            ] {
                let params = json!({ "protocolVersion": "2025-11-25", "name": "quarry__test_echo", "capabilities": {} });
                let answer = peer.call(method, params).await;
                assert_eq!(
                    answer.status,
                    StatusCode::NOT_FOUND,
                    "{path} {method}: {answer:?}"
                );
            }
        }
    }
    // The operators' place shows a stranger nothing but their own.
    let operator = Peer::new(&format!("{}/mcp/-/operator", house.url), &stranger.admin);
    for tool in [
        "agents_list",
        "connections_list",
        "list_approvals",
        "keys_list",
        "audit_list",
    ] {
        let answer = operator.tool(tool, json!({})).await;
        let told = String::from_utf8_lossy(&answer.body).into_owned();
        for secret in [&named.agent_id, &named.connection, &named.approval, &named.key] {
            assert!(!told.contains(secret.as_str()), "{tool}: {told}");
        }
    }
}
