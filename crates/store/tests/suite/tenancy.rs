//! Another tenant sees nothing and touches nothing, through any function.

use std::sync::Arc;
use std::time::Duration;

use domain::{
    Agent, AgentId, Answer, Approval, ApprovalState, CallId, Connection, ConnectionState, Effect,
    GrantSubject, Health, Identity, KeyKind, Outcome, PageRequest, Permission, Principal, Secret, Tenant,
};
use store::{
    ActivityFilter, Answered, ApprovalFilter, AuditFilter, KeyRecord, PinName, SecretOwner, SecretSlot,
    StateReport, Store, StoreError,
};

use crate::approvals::{matching, question};
use crate::harness::{Bench, START, agent, both, change, connection, decided, ended, key, write};

both!(nothing_is_seen, nothing_is_touched, calls_are_kept_apart);

/// Asserts that each of these says that there is nothing.
macro_rules! nothing {
    ($($call:expr),* $(,)?) => {$(
        assert!($call.await.unwrap().is_none(), stringify!($call));
    )*};
}

/// Asserts that each of these does not find what it is about.
macro_rules! not_found {
    ($($call:expr),* $(,)?) => {$(
        let got = $call.await;
        assert!(matches!(got, Err(StoreError::NotFound { .. })), "{}: {got:?}", stringify!($call));
    )*};
}

/// What our workspace holds.
struct Furnished {
    who: Agent,
    mail: Connection,
    admin: KeyRecord,
    parked: Approval,
    slot: SecretSlot,
}

async fn furnish(store: &Store, ours: Tenant) -> Furnished {
    let who = store.create_agent(ours, &change(), agent("one")).await.unwrap();
    let mail = store
        .create_connection(ours, &change(), connection("Mail"))
        .await
        .unwrap();
    let admin = key(KeyKind::Admin);
    store.insert_key(ours, &change(), admin.clone()).await.unwrap();
    let parked = question(ours, who.id, START.plus(Duration::from_secs(60)));
    store.park_approval(ours, &parked).await.unwrap();
    let slot = SecretSlot {
        owner: SecretOwner::Connection(mail.id),
        field: "credential".to_owned(),
    };
    store
        .vault()
        .put(ours, &change(), &slot, &Secret::new("hunter2"))
        .await
        .unwrap();
    Furnished {
        who,
        mail,
        admin,
        parked,
        slot,
    }
}

async fn nothing_is_seen(bench: Arc<Bench>) {
    let (store, ours) = bench.start().await;
    let other = store.create_organization("other").await.unwrap();
    let Furnished {
        who,
        mail,
        admin,
        parked,
        slot,
    } = furnish(&store, ours).await;
    let entry = decided("read", "allow", Effect::ReadOnly);
    let call = entry.call;
    write(&store, ours, &entry).await;
    store.chain_once().await.unwrap();

    nothing!(
        store.agent(other, who.id),
        store.agent_by_handle(other, &who.handle),
        store.connection(other, mail.id),
        store.connection_by_namespace(other, &mail.namespace),
        store.key(other, admin.id),
        store.approval(other, parked.id),
        store.find_approval(other, &matching(&parked), ApprovalState::Pending),
        store.vault().get(other, &slot),
        store.activity(other, call),
        store.catalogue(other, mail.id),
    );
    let first = PageRequest::first();
    assert_eq!(store.list_agents(other, &first).await.unwrap().items, []);
    assert_eq!(store.all_agents(other).await.unwrap(), []);
    assert_eq!(store.list_connections(other, &first).await.unwrap().items, []);
    assert_eq!(store.all_connections(other).await.unwrap(), []);
    assert_eq!(store.list_keys(other, &first).await.unwrap().items, []);
    assert_eq!(store.all_grants(other, None).await.unwrap(), []);
    assert!(store.list_pins(other, None).await.unwrap().is_empty());
    assert!(
        store
            .list_approvals(other, ApprovalFilter::default(), &first)
            .await
            .unwrap()
            .items
            .is_empty()
    );
    assert_eq!(store.vault().list(other, slot.owner).await.unwrap(), []);
    assert_eq!(
        store
            .list_activity(other, &ActivityFilter::default(), &first)
            .await
            .unwrap()
            .items,
        []
    );
    assert_eq!(
        store
            .list_audit(other, &AuditFilter::default(), &first)
            .await
            .unwrap()
            .items,
        []
    );
    assert_eq!(store.verify(other, None, |_| {}).await.unwrap().entries, 0);
    store.close().await;
}

fn approved_by(tenant: Tenant) -> Answered {
    let by = Principal {
        tenant,
        identity: Identity::System,
    };
    Answered {
        call: CallId::generate(),
        answer: Answer::Approved,
        by,
        note: None,
    }
}

async fn nothing_is_touched(bench: Arc<Bench>) {
    let (store, ours) = bench.start().await;
    let other = store.create_organization("other").await.unwrap();
    let Furnished {
        who,
        mail,
        admin,
        parked,
        slot,
    } = furnish(&store, ours).await;
    let grant = domain::Grant {
        agent: who.id,
        subject: GrantSubject::Prompts(mail.id),
        permission: Permission::Allow,
        at: START,
    };
    store
        .set_grants(ours, &change(), std::slice::from_ref(&grant))
        .await
        .unwrap();
    let report = StateReport {
        state: ConnectionState::Ready,
        health: Health::Ok,
        detail: None,
        checked_at: START,
    };
    let answered = approved_by(other);
    let pin = PinName {
        connection: mail.id,
        name: "send".into(),
    };

    not_found!(
        store.update_agent(other, &change(), who.clone()),
        store.remove_agent(other, &change(), who.id),
        store.update_connection(other, &change(), mail.clone()),
        store.remove_connection(other, &change(), mail.id),
        store.set_connection_state(other, mail.id, report),
        store.set_negotiated(other, mail.id, None),
        store.revoke_key(other, &change(), admin.id),
        store.insert_key(other, &change(), key(KeyKind::Agent(who.id))),
        store.set_grants(other, &change(), std::slice::from_ref(&grant)),
        store.answer_approval(other, parked.id, answered),
        store.classify(other, &change(), &pin, None),
    );
    assert!(
        !store
            .remove_grant(other, &change(), who.id, &grant.subject)
            .await
            .unwrap()
    );
    assert!(!store.vault().remove(other, &change(), &slot).await.unwrap());
    assert_eq!(
        store
            .vault()
            .remove_all(other, &change(), slot.owner)
            .await
            .unwrap(),
        0
    );
    assert_eq!(store.agent(ours, who.id).await.unwrap(), Some(who));
    assert_eq!(store.connection(ours, mail.id).await.unwrap(), Some(mail));
    assert_eq!(store.key(ours, admin.id).await.unwrap(), Some(admin));
    assert_eq!(store.all_grants(ours, None).await.unwrap(), [grant]);
    assert_eq!(
        store.vault().get(ours, &slot).await.unwrap().unwrap().expose(),
        "hunter2"
    );
    assert_eq!(
        store.approval(ours, parked.id).await.unwrap().unwrap().state,
        ApprovalState::Pending
    );
    store.close().await;
}

async fn calls_are_kept_apart(bench: Arc<Bench>) {
    let (store, ours) = bench.start().await;
    let other = store.create_organization("other").await.unwrap();
    let parked = question(ours, AgentId::generate(), START.plus(Duration::from_secs(60)));
    store.park_approval(ours, &parked).await.unwrap();
    let entry = decided("write", "allow", Effect::Mutating);
    let call = entry.call;
    let epoch = store.epoch(other).await.unwrap();
    let spent = store.begin_intent(other, entry, epoch, Some(parked.id)).await;
    assert!(
        matches!(spent, Err(store::IntentError::ApprovalGone)),
        "{spent:?}"
    );
    // An outcome that another tenant brings for our call is not our outcome.
    let epoch = store.epoch(ours).await.unwrap();
    let mut entry = decided("write", "allow", Effect::Mutating);
    entry.call = call;
    store.begin_intent(ours, entry, epoch, None).await.unwrap();
    write(&store, other, &ended(call, Outcome::SUCCEEDED)).await;
    assert_eq!(store.activity(ours, call).await.unwrap().unwrap().ended, None);

    assert_eq!(
        store.approval(ours, parked.id).await.unwrap().unwrap().state,
        ApprovalState::Pending
    );
    store.close().await;
}
