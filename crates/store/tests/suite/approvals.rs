//! Questions: answered once, matched exactly, spent once, gone when they lapse.

use std::sync::Arc;
use std::time::Duration;

use domain::{
    AgentId, Answer, Approval, ApprovalId, ApprovalState, CallId, CallStatus, ConnectionId, Digest, Effect,
    Fact, Identity, KeyId, KeyKind, MemberId, Outcome, OutcomeCode, PageRequest, Principal, Reason,
    ReasonCode, Role, RunId, Status, Target, Tenant, Timestamp, ToolRef,
};
use store::{
    ActivityFilter, Answered, ApprovalFilter, ApprovalMatch, AuditFilter, IntentError, Store, StoreError,
};

use crate::harness::{Bench, START, both, decided, ended, write};

both!(
    round_trip_and_matching,
    answered_exactly_once,
    spent_exactly_once,
    lapsed_questions_expire,
    listed_by_expiry,
    shown_is_sealed,
    a_call_that_asked_stands_as_its_question,
    calls_of_an_earlier_release_stand_so_too,
);

/// A question that lapses at this time.
pub(crate) fn question(tenant: Tenant, agent: AgentId, expires_at: Timestamp) -> Approval {
    let identity = Identity::Key {
        id: KeyId::generate(),
        kind: KeyKind::Agent(agent),
    };
    Approval {
        id: ApprovalId::generate(),
        call: CallId::generate(),
        principal: Principal { tenant, identity },
        agent,
        run: Some(RunId::generate()),
        target: Target::Tool(ToolRef::Upstream {
            connection: ConnectionId::generate(),
            name: "send".into(),
        }),
        exposed: "mail__send".into(),
        definition: Digest::of(b"definition"),
        arguments: Digest::of(b"arguments"),
        shown: "{\"to\":\"someone private\"}".into(),
        reason: Reason::by_rule(ReasonCode::RuleAsks, "ask-mail"),
        state: ApprovalState::Pending,
        answered_by: None,
        note: None,
        created_at: START,
        expires_at,
        answered_at: None,
    }
}

/// What a repeat of the question's call looks like.
pub(crate) fn matching(approval: &Approval) -> ApprovalMatch {
    ApprovalMatch {
        agent: approval.agent,
        identity: approval.principal.identity,
        target: approval.target.clone(),
        definition: approval.definition,
        arguments: approval.arguments,
    }
}

fn says(tenant: Tenant, answer: Answer) -> Answered {
    let by = Principal {
        tenant,
        identity: Identity::Member {
            id: MemberId::generate(),
            role: Role::Viewer,
        },
    };
    Answered {
        call: CallId::generate(),
        answer,
        by,
        note: Some("looks fine".to_owned()),
    }
}

fn minute() -> Timestamp {
    START.plus(Duration::from_secs(60))
}

async fn approved(store: &Store, tenant: Tenant) -> Approval {
    let parked = question(tenant, AgentId::generate(), minute());
    store.park_approval(tenant, &parked).await.unwrap();
    store
        .answer_approval(tenant, parked.id, says(tenant, Answer::Approved))
        .await
        .unwrap()
}

async fn round_trip_and_matching(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let parked = question(tenant, AgentId::generate(), minute());
    store.park_approval(tenant, &parked).await.unwrap();
    let got = store.approval(tenant, parked.id).await.unwrap().unwrap();
    assert_eq!(format!("{got:?}"), format!("{parked:?}"));
    let found = |call: ApprovalMatch, state| {
        let store = store.clone();
        async move {
            store
                .find_approval(tenant, &call, state)
                .await
                .unwrap()
                .map(|approval| approval.id)
        }
    };
    assert_eq!(
        found(matching(&parked), ApprovalState::Pending).await,
        Some(parked.id)
    );
    assert_eq!(found(matching(&parked), ApprovalState::Approved).await, None);
    let base = matching(&parked);
    let tool = |name: &str| {
        Target::Tool(ToolRef::Upstream {
            connection: parked.target.connection().unwrap(),
            name: name.into(),
        })
    };
    let misses = [
        ApprovalMatch {
            agent: AgentId::generate(),
            ..base.clone()
        },
        ApprovalMatch {
            identity: Identity::Key {
                id: KeyId::generate(),
                kind: KeyKind::Admin,
            },
            ..base.clone()
        },
        ApprovalMatch {
            identity: Identity::System,
            ..base.clone()
        },
        ApprovalMatch {
            target: tool("other"),
            ..base.clone()
        },
        ApprovalMatch {
            target: Target::Tool(ToolRef::Capability("send".into())),
            ..base.clone()
        },
        ApprovalMatch {
            definition: Digest::of(b"other"),
            ..base.clone()
        },
        ApprovalMatch {
            arguments: Digest::of(b"other"),
            ..base.clone()
        },
    ];
    for miss in misses {
        assert_eq!(
            found(miss.clone(), ApprovalState::Pending).await,
            None,
            "{miss:?}"
        );
    }
    bench.clock.advance(Duration::from_secs(60));
    assert_eq!(found(base, ApprovalState::Pending).await, None);
    store.close().await;
}

async fn answered_exactly_once(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let parked = question(tenant, AgentId::generate(), minute());
    store.park_approval(tenant, &parked).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..16 {
        let (store, id) = (store.clone(), parked.id);
        let answer = if n % 2 == 0 {
            Answer::Approved
        } else {
            Answer::Denied
        };
        tasks.spawn(async move { store.answer_approval(tenant, id, says(tenant, answer)).await });
    }
    let results = tasks.join_all().await;
    let winners: Vec<_> = results.iter().filter_map(|result| result.as_ref().ok()).collect();
    assert_eq!(winners.len(), 1);
    assert!(
        results
            .iter()
            .all(|result| matches!(result, Ok(_) | Err(StoreError::NotPending { .. })))
    );
    let got = store.approval(tenant, parked.id).await.unwrap().unwrap();
    assert_eq!(
        (got.state, got.answered_by),
        (winners[0].state, winners[0].answered_by)
    );
    assert_eq!(got.shown.is_empty(), got.state == ApprovalState::Denied);
    let filter = AuditFilter {
        kind: Some("answered".to_owned()),
        actor: None,
    };
    assert_eq!(
        store
            .list_audit(tenant, &filter, &PageRequest::first())
            .await
            .unwrap()
            .items
            .len(),
        1
    );
    store.close().await;
}

async fn spent_exactly_once(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let approval = approved(&store, tenant).await;
    let epoch = store.epoch(tenant).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let (store, id) = (store.clone(), approval.id);
        let entry = decided("send", "allow", Effect::Mutating);
        tasks.spawn(async move { store.begin_intent(tenant, entry, epoch, Some(id)).await });
    }
    let results = tasks.join_all().await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    assert!(
        results
            .iter()
            .all(|result| matches!(result, Ok(_) | Err(IntentError::ApprovalGone)))
    );
    let got = store.approval(tenant, approval.id).await.unwrap().unwrap();
    assert_eq!((got.state, &*got.shown), (ApprovalState::Spent, ""));
    // Only the intent that got it is in the record.
    let filter = AuditFilter {
        kind: Some("decided".to_owned()),
        actor: None,
    };
    assert_eq!(
        store
            .list_audit(tenant, &filter, &PageRequest::first())
            .await
            .unwrap()
            .items
            .len(),
        1
    );
    // A pending, a denied and a lapsed one cannot be spent.
    let pending = question(tenant, AgentId::generate(), minute());
    store.park_approval(tenant, &pending).await.unwrap();
    let lapsed = approved(&store, tenant).await;
    bench.clock.advance(Duration::from_secs(60));
    for id in [pending.id, lapsed.id, ApprovalId::generate()] {
        let result = store
            .begin_intent(
                tenant,
                decided("send", "allow", Effect::Mutating),
                epoch,
                Some(id),
            )
            .await;
        assert!(matches!(result, Err(IntentError::ApprovalGone)), "{result:?}");
    }
    store.close().await;
}

async fn lapsed_questions_expire(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let pending = question(tenant, AgentId::generate(), minute());
    store.park_approval(tenant, &pending).await.unwrap();
    let unused = approved(&store, tenant).await;
    let later = question(tenant, AgentId::generate(), START.plus(Duration::from_secs(600)));
    store.park_approval(tenant, &later).await.unwrap();
    assert_eq!(store.expire_approvals().await.unwrap(), []);
    bench.clock.advance(Duration::from_secs(60));
    let error = store
        .answer_approval(tenant, pending.id, says(tenant, Answer::Approved))
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::NotPending {
                state: ApprovalState::Expired
            }
        ),
        "{error:?}"
    );
    let mut expired: Vec<_> = store
        .expire_approvals()
        .await
        .unwrap()
        .into_iter()
        .map(|(_, id)| id)
        .collect();
    expired.sort_unstable();
    let mut want = vec![pending.id, unused.id];
    want.sort_unstable();
    assert_eq!(expired, want);
    assert_eq!(store.expire_approvals().await.unwrap(), []);
    let got = store.approval(tenant, pending.id).await.unwrap().unwrap();
    assert_eq!((got.state, &*got.shown), (ApprovalState::Expired, ""));
    let filter = AuditFilter {
        kind: Some("answered".to_owned()),
        actor: Some(String::new()),
    };
    let facts = store
        .list_audit(tenant, &filter, &PageRequest::first())
        .await
        .unwrap()
        .items;
    assert_eq!(facts.len(), 2);
    assert!(
        facts
            .iter()
            .all(|f| matches!(&f.entry.fact, Fact::Answered { answer, .. } if &**answer == "expired"))
    );
    store.close().await;
}

async fn listed_by_expiry(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let agent = AgentId::generate();
    let mut ids = Vec::new();
    for seconds in [30, 10, 20, 10] {
        let parked = question(tenant, agent, START.plus(Duration::from_secs(seconds)));
        store.park_approval(tenant, &parked).await.unwrap();
        ids.push(parked.id);
    }
    store
        .park_approval(tenant, &question(tenant, AgentId::generate(), minute()))
        .await
        .unwrap();
    let filter = ApprovalFilter {
        state: Some(ApprovalState::Pending),
        agent: Some(agent),
    };
    let mut page = PageRequest {
        cursor: None,
        limit: 3,
    };
    let first = store.list_approvals(tenant, filter, &page).await.unwrap();
    page.cursor = first.next_cursor;
    let second = store.list_approvals(tenant, filter, &page).await.unwrap();
    let got: Vec<_> = first
        .items
        .iter()
        .chain(&second.items)
        .map(|approval| approval.id)
        .collect();
    assert_eq!(
        (got, second.next_cursor),
        (vec![ids[1], ids[3], ids[2], ids[0]], None)
    );
    store.close().await;
}

async fn shown_is_sealed(bench: Arc<Bench>) {
    use sea_orm::{ConnectionTrait as _, Statement};

    let (store, tenant) = bench.start().await;
    store
        .park_approval(tenant, &question(tenant, AgentId::generate(), minute()))
        .await
        .unwrap();
    let raw = bench.raw().await;
    let statement = Statement::from_string(raw.get_database_backend(), "SELECT ciphertext FROM secrets");
    let row = raw.query_one_raw(statement).await.unwrap().unwrap();
    let bytes: Vec<u8> = row.try_get("", "ciphertext").unwrap();
    assert!(!bytes.windows(7).any(|window| window == b"private"));
    store.close().await;
}

/// A call that was parked with this question, as the kernel records it.
async fn parked_call(store: &Store, tenant: Tenant, question: ApprovalId) -> CallId {
    let mut entry = decided("send", "ask", Effect::Mutating);
    let Fact::Decided { approval, .. } = &mut entry.fact else {
        unreachable!()
    };
    *approval = Some(question);
    write(store, tenant, &entry).await;
    let outcome = Outcome::new(Status::Waiting, OutcomeCode::ApprovalRequired);
    write(store, tenant, &ended(entry.call, outcome)).await;
    entry.call
}

/// Holds what is shown of a call, and which filter finds it, to what is wanted.
async fn stands(
    store: &Store,
    tenant: Tenant,
    call: CallId,
    (status, code): (CallStatus, Option<OutcomeCode>),
) {
    const ALL: [CallStatus; 8] = [
        CallStatus::Started,
        CallStatus::Waiting,
        CallStatus::Approved,
        CallStatus::Succeeded,
        CallStatus::Failed,
        CallStatus::Denied,
        CallStatus::Expired,
        CallStatus::Unknown,
    ];
    let item = store.activity(tenant, call).await.unwrap().unwrap();
    assert_eq!((item.status, item.code), (status, code));
    for wanted in ALL {
        let filter = ActivityFilter {
            status: Some(wanted),
            call: Some(call),
            ..ActivityFilter::default()
        };
        let found = store
            .list_activity(tenant, &filter, &PageRequest::first())
            .await
            .unwrap();
        assert_eq!(found.items.len(), usize::from(wanted == status), "{wanted}");
    }
}

const WAITING: (CallStatus, Option<OutcomeCode>) = (CallStatus::Waiting, Some(OutcomeCode::ApprovalRequired));
const APPROVED: (CallStatus, Option<OutcomeCode>) = (CallStatus::Approved, None);
const DENIED: (CallStatus, Option<OutcomeCode>) = (CallStatus::Denied, Some(OutcomeCode::Denied));
const EXPIRED: (CallStatus, Option<OutcomeCode>) = (CallStatus::Expired, Some(OutcomeCode::ApprovalExpired));

// O026
async fn a_call_that_asked_stands_as_its_question(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let mut calls = Vec::new();
    for _ in 0..5 {
        let question = question(tenant, AgentId::generate(), minute());
        store.park_approval(tenant, &question).await.unwrap();
        // Repeats while it is open wait on the same question.
        let call = parked_call(&store, tenant, question.id).await;
        let repeat = parked_call(&store, tenant, question.id).await;
        for call in [call, repeat] {
            stands(&store, tenant, call, WAITING).await;
        }
        calls.push((question.id, [call, repeat]));
    }
    let [open, refused, unused, used, late] = calls.as_slice() else {
        unreachable!()
    };
    store
        .answer_approval(tenant, refused.0, says(tenant, Answer::Denied))
        .await
        .unwrap();
    for (id, _) in [unused, used, late] {
        store
            .answer_approval(tenant, *id, says(tenant, Answer::Approved))
            .await
            .unwrap();
    }
    let epoch = store.epoch(tenant).await.unwrap();
    let through = decided("send", "allow", Effect::Mutating);
    store
        .begin_intent(tenant, through.clone(), epoch, Some(used.0))
        .await
        .unwrap();
    let before = [
        (open, WAITING),
        (refused, DENIED),
        (unused, APPROVED),
        (used, APPROVED),
        (late, APPROVED),
    ];
    let after = [
        (open, EXPIRED),
        (refused, DENIED),
        (unused, EXPIRED),
        (used, APPROVED),
        (late, EXPIRED),
    ];
    let check = async |cases: [(&(ApprovalId, [CallId; 2]), _); 5]| {
        for ((_, calls), want) in cases {
            for call in calls {
                stands(&store, tenant, *call, want).await;
            }
        }
    };
    check(before).await;
    stands(&store, tenant, through.call, (CallStatus::Started, None)).await;
    // What has lapsed is expired at once, and stays so when that was written down.
    bench.clock.advance(Duration::from_secs(60));
    check(after).await;
    assert_eq!(store.expire_approvals().await.unwrap().len(), 3);
    check(after).await;
    store.chain_once().await.unwrap();
    assert_eq!(store.verify(tenant, None, |_| {}).await.unwrap().first_bad, None);
    store.close().await;
}

async fn calls_of_an_earlier_release_stand_so_too(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let question = question(tenant, AgentId::generate(), minute());
    store.park_approval(tenant, &question).await.unwrap();
    let call = parked_call(&store, tenant, question.id).await;
    let mut odd = decided("send", "allow", Effect::ReadOnly);
    if let Fact::Decided { exposed, .. } = &mut odd.fact {
        *exposed = "\"approval\":\"no uuid\" \0".into();
    }
    write(&store, tenant, &odd).await;
    store.chain_once().await.unwrap();
    store.close().await;
    bench
        .tamper(
            "ALTER TABLE journal DROP COLUMN approval_id;
             DELETE FROM seaql_migrations WHERE version = '0002_asked'",
        )
        .await;
    let store = bench.open().await;
    stands(&store, tenant, call, WAITING).await;
    store
        .answer_approval(tenant, question.id, says(tenant, Answer::Denied))
        .await
        .unwrap();
    stands(&store, tenant, call, DENIED).await;
    // It was cut off by the store that closed.
    let cut_off = (CallStatus::Unknown, Some(OutcomeCode::Unknown));
    stands(&store, tenant, odd.call, cut_off).await;
    store.chain_once().await.unwrap();
    assert_eq!(store.verify(tenant, None, |_| {}).await.unwrap().first_bad, None);
    store.close().await;
}
