//! Agents, keys, connections, catalogues, tools, grants: what is stored comes back, versions and names are kept, pages are stable.

use std::sync::Arc;
use std::time::Duration;

use domain::{
    AgentId, Classification, ConnectionId, ConnectionOwner, ConnectionState, DefinitionState, Digest, Effect,
    Endpoint, Grant, GrantSubject, Health, Hints, KeyKind, Label, PageRequest, Permission, Risk, ToolRef,
    Transport,
};
use serde_json::value::RawValue;
use store::{Catalogue, Definition, PinName, StateReport, StoreError, ToolPin};

use crate::harness::{Bench, START, agent, both, change, connection, key};

both!(
    agents_keep_versions_and_handles,
    pages_are_stable_while_inserting,
    keys_are_revoked_for_good,
    connections_round_trip,
    no_url_becomes_a_command,
    labels_and_namespaces_are_unique,
    removing_a_connection_removes_what_is_its,
    catalogues_keep_bytes,
    tools_are_pinned_and_classified,
    grants_are_set_and_taken_back,
    policy_changes_raise_the_epoch,
);

fn raw(text: &str) -> Arc<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap().into()
}

async fn agents_keep_versions_and_handles(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let one = store.create_agent(tenant, &change(), agent("one")).await.unwrap();
    let error = store
        .create_agent(tenant, &change(), agent("one"))
        .await
        .unwrap_err();
    assert!(
        matches!(error, StoreError::Conflict { what: "agent handle" }),
        "{error:?}"
    );
    let two = store.create_agent(tenant, &change(), agent("two")).await.unwrap();
    let mut changed = one.clone();
    changed.description = "other".to_owned();
    changed.enabled = false;
    let changed = store.update_agent(tenant, &change(), changed).await.unwrap();
    assert_eq!((changed.version, changed.enabled), (2, false));
    assert_eq!(store.agent(tenant, one.id).await.unwrap(), Some(changed.clone()));
    // Whoever saw version 1 must look again.
    let error = store
        .update_agent(tenant, &change(), one.clone())
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Version {
                expected: 1,
                current: 2,
                ..
            }
        ),
        "{error:?}"
    );
    let mut renamed = changed.clone();
    renamed.handle = two.handle.clone();
    let error = store.update_agent(tenant, &change(), renamed).await.unwrap_err();
    assert!(matches!(error, StoreError::Conflict { .. }), "{error:?}");
    assert_eq!(
        store.agent_by_handle(tenant, &two.handle).await.unwrap(),
        Some(two.clone())
    );

    let bound = key(KeyKind::Agent(one.id));
    store.insert_key(tenant, &change(), bound.clone()).await.unwrap();
    let mut own = connection("own");
    own.owner = ConnectionOwner::Agent(one.id);
    store
        .create_connection(tenant, &change(), own.clone())
        .await
        .unwrap();
    store.remove_agent(tenant, &change(), one.id).await.unwrap();
    assert_eq!(store.all_agents(tenant).await.unwrap(), [two]);
    assert_eq!(store.connection(tenant, own.id).await.unwrap(), None);
    assert!(
        store
            .key(tenant, bound.id)
            .await
            .unwrap()
            .unwrap()
            .revoked_at
            .is_some()
    );
    let error = store.remove_agent(tenant, &change(), one.id).await.unwrap_err();
    assert!(
        matches!(error, StoreError::NotFound { what: "agent" }),
        "{error:?}"
    );
    store.close().await;
}

async fn pages_are_stable_while_inserting(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    for n in 0..7 {
        store
            .create_agent(tenant, &change(), agent(&format!("a{n}")))
            .await
            .unwrap();
    }
    let mut page = PageRequest {
        cursor: None,
        limit: 3,
    };
    let mut seen = Vec::new();
    loop {
        let got = store.list_agents(tenant, &page).await.unwrap();
        // What comes in meanwhile appears once, at the end, and moves nothing.
        if seen.len() < 9 {
            store
                .create_agent(tenant, &change(), agent(&format!("late{}", seen.len())))
                .await
                .unwrap();
        }
        seen.extend(got.items.into_iter().map(|agent| agent.handle.to_string()));
        let Some(cursor) = got.next_cursor else { break };
        page.cursor = Some(cursor);
    }
    assert_eq!(seen, ["a0", "a1", "a2", "a3", "a4", "a5", "a6", "late0", "late3"]);
    let foreign = store
        .list_agents(
            tenant,
            &PageRequest {
                cursor: None,
                limit: 1,
            },
        )
        .await
        .unwrap()
        .next_cursor;
    for cursor in [Some("nonsense".to_owned()), Some(String::new()), foreign] {
        let error = store
            .list_keys(tenant, &PageRequest { cursor, limit: 3 })
            .await
            .unwrap_err();
        assert!(matches!(error, StoreError::BadCursor), "{error:?}");
    }
    store.close().await;
}

async fn keys_are_revoked_for_good(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let admin = key(KeyKind::Admin);
    store.insert_key(tenant, &change(), admin.clone()).await.unwrap();
    let error = store
        .insert_key(tenant, &change(), key(KeyKind::Agent(AgentId::generate())))
        .await
        .unwrap_err();
    assert!(
        matches!(error, StoreError::NotFound { what: "agent" }),
        "{error:?}"
    );
    assert_eq!(store.active_keys().await.unwrap(), [(tenant, admin.clone())]);
    let later = START.plus(Duration::from_secs(60));
    store
        .touch_keys(&[(tenant, admin.id, later), (tenant, admin.id, START)])
        .await
        .unwrap();
    assert_eq!(
        store.key(tenant, admin.id).await.unwrap().unwrap().last_used_at,
        Some(later)
    );
    let revoked = store.revoke_key(tenant, &change(), admin.id).await.unwrap();
    bench.clock.advance(Duration::from_secs(5));
    let again = store.revoke_key(tenant, &change(), admin.id).await.unwrap();
    assert_eq!((revoked.revoked_at, again.revoked_at), (Some(START), Some(START)));
    assert_eq!(store.active_keys().await.unwrap(), []);
    assert_eq!(
        store
            .list_keys(tenant, &PageRequest::first())
            .await
            .unwrap()
            .items,
        [again]
    );
    store.close().await;
}

async fn connections_round_trip(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let web = store
        .create_connection(tenant, &change(), connection("Mail"))
        .await
        .unwrap();
    let mut command = connection("Files");
    command.endpoint = Endpoint::Command {
        configured: "files".into(),
    };
    command.allowed_tools = None;
    command.call_timeout_ms = None;
    let command = store.create_connection(tenant, &change(), command).await.unwrap();
    assert_eq!(
        store.all_connections(tenant).await.unwrap(),
        [web.clone(), command.clone()]
    );
    assert_eq!(
        store
            .connection_by_namespace(tenant, &web.namespace)
            .await
            .unwrap(),
        Some(web.clone())
    );

    let report = StateReport {
        state: ConnectionState::Ready,
        health: Health::Degraded,
        detail: Some("2 tools are malformed".to_owned()),
        checked_at: START,
    };
    store.set_connection_state(tenant, web.id, report).await.unwrap();
    store
        .set_negotiated(tenant, web.id, Some("2025-11-25".into()))
        .await
        .unwrap();
    let mut wanted = web.clone();
    wanted.label = Label::new("Mail (work)").unwrap();
    wanted.endpoint = Endpoint::Url {
        url: "https://mcp.example.com/v2".into(),
        transport: Transport::Sse,
    };
    wanted.trusted = true;
    let stored = store
        .update_connection(tenant, &change(), wanted.clone())
        .await
        .unwrap();
    // What was found out is not the caller's to overwrite with what they read earlier.
    wanted.version = 2;
    wanted.state = ConnectionState::Ready;
    wanted.health = Health::Degraded;
    wanted.health_detail = Some("2 tools are malformed".to_owned());
    wanted.checked_at = Some(START);
    wanted.negotiated = Some("2025-11-25".into());
    assert_eq!(stored, wanted);
    let error = store.update_connection(tenant, &change(), web).await.unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Version {
                expected: 1,
                current: 2,
                ..
            }
        ),
        "{error:?}"
    );
    store.close().await;
}

async fn no_url_becomes_a_command(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let url = |text: &str, transport| Endpoint::Url {
        url: text.into(),
        transport,
    };
    let command = |text: &str| Endpoint::Command {
        configured: text.into(),
    };
    let stored = store
        .create_connection(tenant, &change(), connection("Mail"))
        .await
        .unwrap();
    let unsound = [
        url("https://mcp.example.com/mcp", Transport::Stdio),
        url("files", Transport::Stdio),
        url("files", Transport::Auto),
        command("https://mcp.example.com/mcp"),
    ];
    for endpoint in unsound {
        let mut wanted = connection("Files");
        wanted.endpoint = endpoint.clone();
        let error = store
            .create_connection(tenant, &change(), wanted)
            .await
            .unwrap_err();
        assert!(
            matches!(error, StoreError::Unsound { .. }),
            "{endpoint:?}: {error:?}"
        );
        let mut wanted = stored.clone();
        wanted.endpoint = endpoint.clone();
        let error = store
            .update_connection(tenant, &change(), wanted)
            .await
            .unwrap_err();
        assert!(
            matches!(error, StoreError::Unsound { .. }),
            "{endpoint:?}: {error:?}"
        );
    }
    assert_eq!(
        store.all_connections(tenant).await.unwrap(),
        std::slice::from_ref(&stored)
    );
    // A row that says so all the same, whoever wrote it, is read as what it is.
    bench.tamper("UPDATE connections SET transport = 'stdio'").await;
    let read = store.connection(tenant, stored.id).await.unwrap().unwrap();
    assert_eq!(
        read.endpoint,
        url("https://mcp.example.com/mcp", Transport::Stdio)
    );
    // And it can be put right.
    let right = store
        .update_connection(tenant, &change(), stored.clone())
        .await
        .unwrap();
    assert_eq!(right.endpoint, stored.endpoint);
    store.close().await;
}

async fn labels_and_namespaces_are_unique(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let web = store
        .create_connection(tenant, &change(), connection("Mail"))
        .await
        .unwrap();
    let mut same_namespace = connection("mail!");
    same_namespace.namespace = web.namespace.clone();
    for (other, what) in [
        (connection("Mail"), "connection label"),
        (same_namespace, "connection namespace"),
    ] {
        let error = store
            .create_connection(tenant, &change(), other)
            .await
            .unwrap_err();
        assert!(
            matches!(error, StoreError::Conflict { what: got } if got == what),
            "{error:?}"
        );
    }

    store.close().await;
}

fn pin(connection: ConnectionId, name: &str) -> ToolPin {
    // Spaces and escapes as a server might send them.
    let text = format!("{{\"name\": \"{name}\",  \"description\":\"\\u0000x\"}}");
    let definition = Definition {
        digest: Digest::of(text.as_bytes()),
        raw: raw(&text),
    };
    ToolPin {
        connection,
        name: name.into(),
        accepted: Some(definition.clone()),
        seen: Some(definition),
        state: DefinitionState::Pinned,
        unusable: None,
        hints: Hints {
            read_only: Some(true),
            destructive: None,
            idempotent: Some(false),
            open_world: None,
        },
        classification: None,
        first_seen: START,
        changed_at: START,
    }
}

fn grant(agent: AgentId, subject: GrantSubject) -> Grant {
    Grant {
        agent,
        subject,
        permission: Permission::Allow,
        at: START,
    }
}

async fn removing_a_connection_removes_what_is_its(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let who = store.create_agent(tenant, &change(), agent("one")).await.unwrap();
    let what = store
        .create_connection(tenant, &change(), connection("Mail"))
        .await
        .unwrap();
    store
        .upsert_pins(tenant, &change(), vec![pin(what.id, "send")])
        .await
        .unwrap();
    store
        .set_grants(
            tenant,
            &change(),
            &[grant(who.id, GrantSubject::Prompts(what.id))],
        )
        .await
        .unwrap();
    let slot = store::SecretSlot {
        owner: store::SecretOwner::Connection(what.id),
        field: "credential".to_owned(),
    };
    store
        .vault()
        .put(tenant, &change(), &slot, &domain::Secret::new("hunter2"))
        .await
        .unwrap();
    store.remove_connection(tenant, &change(), what.id).await.unwrap();
    assert!(store.list_pins(tenant, None).await.unwrap().is_empty());
    assert_eq!(store.all_grants(tenant, None).await.unwrap(), []);
    assert!(store.vault().get(tenant, &slot).await.unwrap().is_none());
    let error = store
        .remove_connection(tenant, &change(), what.id)
        .await
        .unwrap_err();
    assert!(
        matches!(error, StoreError::NotFound { what: "connection" }),
        "{error:?}"
    );
    store.close().await;
}

async fn catalogues_keep_bytes(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let mail = store
        .create_connection(tenant, &change(), connection("Mail"))
        .await
        .unwrap();
    assert!(store.catalogue(tenant, mail.id).await.unwrap().is_none());
    let tools = [
        "{ \"name\" :\"a\", \"n\": 1.0e2 }",
        "{\"name\":\"b\",\"description\":\"\\u00e9\\u0000 é\"}",
    ];
    let catalogue = Catalogue {
        version: 0,
        fetched_at: START,
        server: Some(raw("{\"name\" : \"x\"}")),
        capabilities: None,
        instructions: Some("be kind".to_owned()),
        tools: tools.map(raw).to_vec(),
        prompts: vec![raw("{}")],
        resources: Vec::new(),
        templates: Vec::new(),
        skills: vec![raw("{ \"uri\":\"skill://a/SKILL.md\"}")],
        problems: vec!["tool 3 has no name".to_owned()],
    };
    assert_eq!(store.put_catalogue(tenant, mail.id, &catalogue).await.unwrap(), 1);
    assert_eq!(store.put_catalogue(tenant, mail.id, &catalogue).await.unwrap(), 2);
    let got = store.catalogue(tenant, mail.id).await.unwrap().unwrap();
    assert_eq!((got.version, got.fetched_at), (2, START));
    assert_eq!(got.tools.iter().map(|tool| tool.get()).collect::<Vec<_>>(), tools);
    assert_eq!(got.server.unwrap().get(), "{\"name\" : \"x\"}");
    assert_eq!(got.skills[0].get(), catalogue.skills[0].get());
    assert_eq!(
        (got.instructions, got.problems),
        (catalogue.instructions.clone(), catalogue.problems.clone())
    );
    assert_eq!(
        store
            .connection(tenant, mail.id)
            .await
            .unwrap()
            .unwrap()
            .catalogue_version,
        2
    );
    let error = store
        .put_catalogue(tenant, ConnectionId::generate(), &catalogue)
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
    let mut large = catalogue;
    large.instructions = Some("x".repeat(Catalogue::MAX_BYTES));
    let error = store.put_catalogue(tenant, mail.id, &large).await.unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { .. }), "{error:?}");
    store.close().await;
}

async fn tools_are_pinned_and_classified(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let mail = store
        .create_connection(tenant, &change(), connection("Mail"))
        .await
        .unwrap();
    let send = PinName {
        connection: mail.id,
        name: "send".into(),
    };
    store
        .upsert_pins(
            tenant,
            &change(),
            vec![pin(mail.id, "send"), pin(mail.id, "read")],
        )
        .await
        .unwrap();
    let said = Classification {
        risk: Risk::Low,
        effect: Effect::ReadOnly,
        at: START,
    };
    store
        .classify(tenant, &change(), &send, Some(said))
        .await
        .unwrap();

    // A later discovery changes the definition, not what a person said.
    let mut changed = pin(mail.id, "send");
    let text = "{\"name\":\"send\",\"description\":\"sends more\"}";
    changed.seen = Some(Definition {
        digest: Digest::of(text.as_bytes()),
        raw: raw(text),
    });
    changed.state = DefinitionState::Quarantined;
    changed.first_seen = START.plus(Duration::from_secs(1));
    store.upsert_pins(tenant, &change(), vec![changed]).await.unwrap();
    let got = store.pin(tenant, &send).await.unwrap().unwrap();
    assert_eq!(
        (got.classification, got.state, got.first_seen),
        (Some(said), DefinitionState::Quarantined, START)
    );
    assert_eq!(got.hints, pin(mail.id, "send").hints);

    let error = store
        .accept(tenant, &change(), &send, Digest::of(b"something else"))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Conflict { .. }), "{error:?}");
    let accepted = store
        .accept(tenant, &change(), &send, Digest::of(text.as_bytes()))
        .await
        .unwrap();
    assert_eq!(accepted.state, DefinitionState::Pinned);
    let got = store.pin(tenant, &send).await.unwrap().unwrap();
    assert_eq!(got.accepted.unwrap().raw.get(), text);
    let names: Vec<_> = store
        .list_pins(tenant, Some(mail.id))
        .await
        .unwrap()
        .into_iter()
        .map(|pin| pin.name)
        .collect();
    assert_eq!(names, ["read".into(), "send".into()]);
    let gone = PinName {
        connection: mail.id,
        name: "gone".into(),
    };
    assert!(matches!(
        store.classify(tenant, &change(), &gone, None).await,
        Err(StoreError::NotFound { what: "tool" })
    ));
    store.close().await;
}

async fn grants_are_set_and_taken_back(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let who = store.create_agent(tenant, &change(), agent("one")).await.unwrap();
    let mail = store
        .create_connection(tenant, &change(), connection("Mail"))
        .await
        .unwrap();
    let send = GrantSubject::Tool(ToolRef::Upstream {
        connection: mail.id,
        name: "send".into(),
    });
    let subjects = [
        send.clone(),
        GrantSubject::Tool(ToolRef::Capability("web.search".into())),
        GrantSubject::Prompts(mail.id),
        GrantSubject::Resources(mail.id),
        GrantSubject::Skills(mail.id),
    ];
    let mut wanted: Vec<Grant> = subjects
        .into_iter()
        .map(|subject| grant(who.id, subject))
        .collect();
    store.set_grants(tenant, &change(), &wanted).await.unwrap();
    assert_eq!(store.all_grants(tenant, Some(who.id)).await.unwrap(), wanted);
    wanted[0].permission = Permission::Ask;
    store.set_grants(tenant, &change(), &wanted[..1]).await.unwrap();
    assert_eq!(store.all_grants(tenant, None).await.unwrap(), wanted);
    let page = store
        .list_grants(
            tenant,
            None,
            &PageRequest {
                cursor: None,
                limit: 3,
            },
        )
        .await
        .unwrap();
    assert_eq!(
        (page.items.as_slice(), page.next_cursor.is_some()),
        (&wanted[..3], true)
    );
    assert!(
        store
            .remove_grant(tenant, &change(), who.id, &send)
            .await
            .unwrap()
    );
    assert!(
        !store
            .remove_grant(tenant, &change(), who.id, &send)
            .await
            .unwrap()
    );
    let nobody = grant(AgentId::generate(), GrantSubject::Prompts(mail.id));
    assert!(matches!(
        store.set_grants(tenant, &change(), &[nobody]).await,
        Err(StoreError::NotFound { what: "agent" })
    ));
    store.close().await;
}

async fn policy_changes_raise_the_epoch(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let changes = store.changes();
    let before = store.epoch(tenant).await.unwrap();
    let who = store.create_agent(tenant, &change(), agent("one")).await.unwrap();
    let mail = store
        .create_connection(tenant, &change(), connection("Mail"))
        .await
        .unwrap();
    let admin = key(KeyKind::Admin);
    store.insert_key(tenant, &change(), admin.clone()).await.unwrap();
    store
        .upsert_pins(tenant, &change(), vec![pin(mail.id, "send")])
        .await
        .unwrap();
    store
        .set_grants(
            tenant,
            &change(),
            &[grant(who.id, GrantSubject::Prompts(mail.id))],
        )
        .await
        .unwrap();
    store.revoke_key(tenant, &change(), admin.id).await.unwrap();
    let ready = |state| StateReport {
        state,
        health: Health::Ok,
        detail: None,
        checked_at: START,
    };
    store
        .set_connection_state(tenant, mail.id, ready(ConnectionState::Ready))
        .await
        .unwrap();
    store
        .set_connection_state(tenant, mail.id, ready(ConnectionState::Ready))
        .await
        .unwrap();
    // All but the state that stayed.
    let after = store.epoch(tenant).await.unwrap();
    assert_eq!((after.0 - before.0, *changes.borrow()), (7, 7));
    assert_eq!(store.raise_epoch(tenant, &change()).await.unwrap().0, after.0 + 1);
    store.close().await;
}
