//! The record: intents, group commit, epochs, outcomes, activity, and what a crash leaves.

use std::sync::Arc;
use std::time::Duration;

use domain::{CallId, CallStatus, Effect, Entry, Fact, Outcome, OutcomeCode, PageRequest, Status};
use store::{ActivityFilter, AuditFilter, IntentError, StoreError};

use crate::harness::{Bench, START, agent, both, change, decided, ended, write};

both!(
    intents_share_commits,
    a_moved_epoch_stops_an_intent,
    one_commit_takes_only_intents_of_this_epoch,
    ends_of_reads_wait_for_company,
    entries_come_back_as_they_went_in,
    cut_off_calls_become_unknown_once,
    activity_joins_and_filters,
    activity_pages_and_details,
    a_full_queue_refuses,
    a_bad_entry_does_not_stop_the_others,
    a_failing_database_refuses_and_recovers,
    who_came_before_it_was_known_to_fail_is_told,
    changes_are_recorded,
);

/// More acts than commits, and nothing waits to fill a batch.
async fn intents_share_commits(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let epoch = store.epoch(tenant).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..200 {
        let store = store.clone();
        let entry = decided("write", "allow", Effect::Mutating);
        tasks.spawn(async move {
            store
                .begin_intent(tenant, entry, epoch, None)
                .await
                .unwrap()
                .call()
        });
    }
    let calls = tasks.join_all().await;
    let counts = store.writer_counts();
    assert_eq!((counts.intents, counts.entries, counts.queued), (200, 200, 0));
    assert!(
        counts.commits <= 100,
        "200 intents took {} commits",
        counts.commits
    );
    // One alone is not kept waiting for company.
    let entry = decided("write", "allow", Effect::Mutating);
    store.begin_intent(tenant, entry, epoch, None).await.unwrap();
    assert_eq!(store.writer_counts().commits, counts.commits + 1);
    for call in calls {
        assert_eq!(
            store.activity(tenant, call).await.unwrap().unwrap().status,
            CallStatus::Started
        );
    }
    store.close().await;
}

/// Intents handed over together that do not all expect the same: each has its own answer, and what is recorded beside them is in once.
async fn one_commit_takes_only_intents_of_this_epoch(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let old = store.epoch(tenant).await.unwrap();
    store.create_agent(tenant, &change(), agent("one")).await.unwrap();
    let now = store.epoch(tenant).await.unwrap();
    let before = store.writer_counts();
    let write = |expected| {
        let entry = decided("write", "allow", Effect::Mutating);
        let call = entry.call;
        let store = store.clone();
        async move {
            (
                call,
                store.begin_intent(tenant, entry, expected, None).await.is_ok(),
            )
        }
    };
    for round in 0..20 {
        let read = decided("read", "allow", Effect::ReadOnly);
        let recorded = store.record(tenant, read.clone()).unwrap();
        // All old, all new, or both in one.
        let ((a, first), (b, second)) = match round % 3 {
            0 => tokio::join!(write(now), write(now)),
            1 => tokio::join!(write(now), write(old)),
            _ => tokio::join!(write(old), write(old)),
        };
        recorded.written().await.unwrap();
        assert_eq!((first, second), (round % 3 != 2, round % 3 == 0), "round {round}");
        for (call, stored) in [(a, first), (b, second), (read.call, true)] {
            let found = store.activity(tenant, call).await.unwrap();
            assert_eq!(found.is_some(), stored, "round {round}");
        }
    }
    let after = store.writer_counts();
    assert_eq!(after.entries - before.entries, 20 + 14 + 7, "each is in once");
    assert_eq!(after.intents - before.intents, 14 + 7);
    store.chain_once().await.unwrap();
    store.close().await;
}

/// What nobody waits for shares the commit of what somebody waits for, and whoever looks sees it all the same.
async fn ends_of_reads_wait_for_company(bench: Arc<Bench>) {
    bench.start().await.0.close().await;
    let mut options = bench.options();
    options.journal.linger = Duration::from_secs(3600);
    let store = store::Store::open(options).await.unwrap();
    let tenant = store.bootstrap().await.unwrap().tenant;
    let before = store.writer_counts();
    let mut last = None;
    for _ in 0..20 {
        let read = decided("read", "allow", Effect::ReadOnly);
        store
            .record(tenant, read.clone())
            .unwrap()
            .written()
            .await
            .unwrap();
        store
            .record_later(tenant, &ended(read.call, Outcome::SUCCEEDED))
            .unwrap();
        last = Some(read.call);
    }
    let now = store.writer_counts();
    assert_eq!(
        (now.commits - before.commits, now.entries - before.entries),
        (20, 39)
    );
    let seen = store.activity(tenant, last.unwrap()).await.unwrap().unwrap();
    assert_eq!(seen.status, CallStatus::Succeeded);
    let now = store.writer_counts();
    assert_eq!(
        (now.commits - before.commits, now.entries - before.entries),
        (21, 40)
    );
    // A store that closes keeps nothing back.
    let read = decided("read", "allow", Effect::ReadOnly);
    store.record_later(tenant, &read).unwrap();
    store.close().await;
    let store = bench.open().await;
    assert!(store.activity(tenant, read.call).await.unwrap().is_some());
    store.close().await;
}

// C02: an intent counts only under the policy it was decided under.
async fn a_moved_epoch_stops_an_intent(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let old = store.epoch(tenant).await.unwrap();
    store.create_agent(tenant, &change(), agent("one")).await.unwrap();
    let entry = decided("write", "allow", Effect::Mutating);
    let call = entry.call;
    let result = store.begin_intent(tenant, entry.clone(), old, None).await;
    assert!(
        matches!(result, Err(IntentError::EpochMoved { now }) if now.0 == old.0 + 1),
        "{result:?}"
    );
    assert_eq!(store.activity(tenant, call).await.unwrap(), None);
    let now = store.epoch(tenant).await.unwrap();
    assert_eq!(
        store.begin_intent(tenant, entry, now, None).await.unwrap().call(),
        call
    );

    // Intents and changes race: each intent was decided under the epoch that holds, or is refused.
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..8 {
        let store = store.clone();
        tasks.spawn(async move {
            store
                .create_agent(tenant, &change(), agent(&format!("racer{n}")))
                .await
                .unwrap();
            0_u64
        });
    }
    for _ in 0..64 {
        let store = store.clone();
        tasks.spawn(async move {
            let seen = store.epoch(tenant).await.unwrap();
            let mut entry = decided("write", "allow", Effect::Mutating);
            if let Fact::Decided { epoch, .. } = &mut entry.fact {
                *epoch = seen;
            }
            u64::from(store.begin_intent(tenant, entry, seen, None).await.is_ok())
        });
    }
    let stored: u64 = tasks.join_all().await.into_iter().sum();
    // The order of the record is the order of what happened: between two changes, only intents of that epoch.
    let mut facts = Vec::new();
    let mut page = PageRequest {
        cursor: None,
        limit: 100,
    };
    loop {
        let got = store
            .list_audit(tenant, &AuditFilter::default(), &page)
            .await
            .unwrap();
        facts.extend(got.items);
        let Some(cursor) = got.next_cursor else { break };
        page.cursor = Some(cursor);
    }
    let (mut epoch, mut intents) = (old.0, 0);
    for fact in facts.iter().rev() {
        match &fact.entry.fact {
            Fact::Changed { .. } => epoch += 1,
            Fact::Decided { epoch: seen, .. } if fact.entry.call != call => {
                assert_eq!(seen.0, epoch);
                intents += 1;
            }
            Fact::Decided { .. } | Fact::Ended { .. } | Fact::Answered { .. } => {}
        }
    }
    assert_eq!(intents, stored);
    store.close().await;
}

async fn entries_come_back_as_they_went_in(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let mut odd = decided("odd", "deny", Effect::ReadOnly);
    if let Fact::Decided { exposed, .. } = &mut odd.fact {
        // A name no tool can have, as a caller may send it.
        *exposed = "\u{0}\u{202e}\"'; DROP TABLE journal; --".into();
    }
    let call = odd.call;
    let entries = vec![
        odd,
        ended(call, Outcome::new(Status::Denied, OutcomeCode::Denied)),
    ];
    for entry in &entries {
        write(&store, tenant, entry).await;
    }
    let got = store
        .list_audit(tenant, &AuditFilter::default(), &PageRequest::first())
        .await
        .unwrap()
        .items;
    let got: Vec<Entry> = got.into_iter().rev().map(|item| item.entry).collect();
    assert_eq!(got, entries);
    store.chain_once().await.unwrap();
    assert_eq!(store.verify(tenant, None, |_| {}).await.unwrap().first_bad, None);
    store.close().await;
}

async fn cut_off_calls_become_unknown_once(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let epoch = store.epoch(tenant).await.unwrap();
    let (cut, whole, reading) = (
        decided("cut", "allow", Effect::Mutating),
        decided("whole", "allow", Effect::Mutating),
        decided("reading", "allow", Effect::ReadOnly),
    );
    let calls = [cut.call, whole.call, reading.call];
    store.begin_intent(tenant, cut, epoch, None).await.unwrap();
    store.begin_intent(tenant, whole, epoch, None).await.unwrap();
    write(&store, tenant, &ended(calls[1], Outcome::SUCCEEDED)).await;
    write(&store, tenant, &reading).await;
    store.close().await;

    bench.clock.advance(Duration::from_secs(3));
    for _ in 0..2 {
        let store = bench.open().await;
        let mut statuses = Vec::new();
        for call in calls {
            statuses.push(store.activity(tenant, call).await.unwrap().unwrap().status);
        }
        assert_eq!(
            statuses,
            [CallStatus::Unknown, CallStatus::Succeeded, CallStatus::Unknown]
        );
        let filter = AuditFilter {
            kind: Some("ended".to_owned()),
            actor: None,
        };
        let facts = store
            .list_audit(tenant, &filter, &PageRequest::first())
            .await
            .unwrap()
            .items;
        assert_eq!(
            facts.len(),
            2,
            "unknown is written once, and only for the call that may have changed something"
        );
        let Fact::Ended {
            outcome, duration_us, ..
        } = facts[0].entry.fact
        else {
            unreachable!()
        };
        assert_eq!(
            (outcome.code, duration_us),
            (Some(OutcomeCode::Unknown), 3_000_000)
        );
        let filter = ActivityFilter {
            status: Some(CallStatus::Unknown),
            ..ActivityFilter::default()
        };
        let unknown = store
            .list_activity(tenant, &filter, &PageRequest::first())
            .await
            .unwrap()
            .items;
        assert_eq!(
            unknown
                .into_iter()
                .map(|item| item.decided.call)
                .collect::<Vec<_>>(),
            [calls[2], calls[0]]
        );
        store.close().await;
    }
}

async fn activity_joins_and_filters(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let allowed = decided("read", "allow", Effect::ReadOnly);
    let denied = decided("write", "deny", Effect::Mutating);
    let asked = decided("send", "ask", Effect::Mutating);
    let failed = decided("read", "allow", Effect::ReadOnly);
    let (agent, connection) = match (&allowed.actor.agent, &allowed.fact) {
        (Some(agent), Fact::Decided { target, .. }) => (*agent, target.connection().unwrap()),
        _ => unreachable!(),
    };
    for entry in [&allowed, &denied, &asked, &failed] {
        write(&store, tenant, entry).await;
    }
    let outcome = ended(failed.call, Outcome::failed(OutcomeCode::Timeout));
    write(&store, tenant, &outcome).await;
    let only = |set: &dyn Fn(&mut ActivityFilter)| {
        let mut filter = ActivityFilter::default();
        set(&mut filter);
        filter
    };
    let cases: [(ActivityFilter, Vec<CallId>); 8] = [
        (
            only(&|_| {}),
            vec![failed.call, asked.call, denied.call, allowed.call],
        ),
        (only(&|f| f.agent = Some(agent)), vec![allowed.call]),
        (only(&|f| f.connection = Some(connection)), vec![allowed.call]),
        (
            only(&|f| f.tool = Some("read".into())),
            vec![failed.call, allowed.call],
        ),
        (only(&|f| f.tool = Some("server__send".into())), vec![asked.call]),
        (only(&|f| f.status = Some(CallStatus::Failed)), vec![failed.call]),
        (only(&|f| f.status = Some(CallStatus::Waiting)), vec![asked.call]),
        (only(&|f| f.decision = Some("deny".into())), vec![denied.call]),
    ];
    for (filter, want) in cases {
        let got = store
            .list_activity(tenant, &filter, &PageRequest::first())
            .await
            .unwrap()
            .items;
        assert_eq!(
            got.iter().map(|item| item.decided.call).collect::<Vec<_>>(),
            want,
            "{filter:?}"
        );
    }
    store.close().await;
}

async fn activity_pages_and_details(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let none = ActivityFilter::default;
    let mut decisions = Vec::new();
    for word in ["allow", "deny", "ask"] {
        let entry = decided("read", word, Effect::ReadOnly);
        write(&store, tenant, &entry).await;
        decisions.push(entry);
    }
    let [allowed, _, failed] = decisions.as_slice() else {
        unreachable!()
    };
    let outcome = ended(failed.call, Outcome::failed(OutcomeCode::Timeout));
    write(&store, tenant, &outcome).await;
    let item = store.activity(tenant, failed.call).await.unwrap().unwrap();
    assert_eq!(
        (item.decided, item.ended, item.status),
        (failed.clone(), Some(outcome), CallStatus::Failed)
    );
    let since = ActivityFilter {
        since_seq: Some(item.seq - 1),
        ..none()
    };
    assert_eq!(
        store
            .list_activity(tenant, &since, &PageRequest::first())
            .await
            .unwrap()
            .items
            .len(),
        1
    );
    let page = PageRequest {
        cursor: None,
        limit: 2,
    };
    let first = store.list_activity(tenant, &none(), &page).await.unwrap();
    write(&store, tenant, &decided("late", "allow", Effect::ReadOnly)).await;
    let second = store
        .list_activity(
            tenant,
            &none(),
            &PageRequest {
                cursor: first.next_cursor,
                limit: 2,
            },
        )
        .await
        .unwrap();
    let rest: Vec<_> = second.items.into_iter().map(|item| item.decided.call).collect();
    assert_eq!((rest, second.next_cursor), (vec![allowed.call], None));
    store.close().await;
}

async fn a_full_queue_refuses(bench: Arc<Bench>) {
    bench.start().await.0.close().await;
    let mut options = bench.options();
    options.journal.queue = 4;
    let store = store::Store::open(options).await.unwrap();
    let tenant = store.bootstrap().await.unwrap().tenant;
    // Without an await in between the writer takes at most what it is woken for.
    let results: Vec<_> = (0..2000)
        .map(|_| store.record(tenant, decided("read", "allow", Effect::ReadOnly)))
        .collect();
    let refused = results
        .iter()
        .filter(|result| matches!(result, Err(StoreError::Unavailable { .. })))
        .count();
    assert!(refused > 0, "nothing was refused");
    let mut taken = 0;
    for recorded in results.into_iter().flatten() {
        recorded.written().await.unwrap();
        taken += 1;
    }
    assert_eq!(
        (store.writer_counts().entries, taken + refused),
        (taken as u64, 2000)
    );
    store.close().await;
}

async fn a_bad_entry_does_not_stop_the_others(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let mut stranger = tenant;
    stranger.workspace = domain::WorkspaceId::generate();
    let mut waiting = Vec::new();
    for n in 0..20 {
        let whose = if n == 10 { stranger } else { tenant };
        waiting.push(
            store
                .record(whose, decided("read", "allow", Effect::ReadOnly))
                .unwrap(),
        );
    }
    let mut written = 0;
    for recorded in waiting {
        written += usize::from(recorded.written().await.is_ok());
    }
    assert_eq!(written, 19);
    assert!(store.healthy().await);
    write(&store, tenant, &decided("read", "allow", Effect::ReadOnly)).await;
    store.close().await;
}

// An outcome that cannot be written is kept and written later; meanwhile calls are refused.
async fn a_failing_database_refuses_and_recovers(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let epoch = store.epoch(tenant).await.unwrap();
    let entry = decided("write", "allow", Effect::Mutating);
    let call = entry.call;
    store.begin_intent(tenant, entry, epoch, None).await.unwrap();
    bench.tamper("ALTER TABLE journal RENAME TO journal_away").await;
    let outcome = store.record(tenant, ended(call, Outcome::SUCCEEDED)).unwrap();
    assert!(matches!(
        outcome.written().await,
        Err(StoreError::Unavailable { .. })
    ));
    while store.healthy().await {
        tokio::task::yield_now().await;
    }
    let refused = store
        .begin_intent(tenant, decided("write", "allow", Effect::Mutating), epoch, None)
        .await;
    assert!(matches!(refused, Err(IntentError::Unavailable(_))), "{refused:?}");
    assert!(
        store
            .record(tenant, decided("read", "allow", Effect::ReadOnly))
            .is_err()
    );
    bench.tamper("ALTER TABLE journal_away RENAME TO journal").await;
    while !store.healthy().await {
        tokio::task::yield_now().await;
    }
    let item = store.activity(tenant, call).await.unwrap().unwrap();
    assert_eq!(item.status, CallStatus::Succeeded);
    store
        .begin_intent(tenant, decided("write", "allow", Effect::Mutating), epoch, None)
        .await
        .unwrap();
    store.close().await;
}

/// What was handed over while the writer still tried is not kept until the database is back.
async fn who_came_before_it_was_known_to_fail_is_told(bench: Arc<Bench>) {
    bench.start().await.0.close().await;
    let mut options = bench.options();
    // So that the others still wait when the first fails.
    options.journal.batch = 1;
    let store = store::Store::open(options).await.unwrap();
    let tenant = store.bootstrap().await.unwrap().tenant;
    let epoch = store.epoch(tenant).await.unwrap();
    bench.tamper("ALTER TABLE journal RENAME TO journal_away").await;
    let read = || decided("read", "allow", Effect::ReadOnly);
    let (first, second) = (read(), read());
    let calls = [first.call, second.call];
    let (first, second) = (store.record(tenant, first), store.record(tenant, second));
    let write = decided("write", "allow", Effect::Mutating);
    let lost = write.call;
    let intent = store.begin_intent(tenant, write, epoch, None);
    let (intent, first, second) = tokio::join!(intent, first.unwrap().written(), second.unwrap().written());
    assert!(matches!(intent, Err(IntentError::Unavailable(_))), "{intent:?}");
    assert!(first.is_err() && second.is_err(), "{first:?} {second:?}");
    bench.tamper("ALTER TABLE journal_away RENAME TO journal").await;
    while !store.healthy().await {
        tokio::task::yield_now().await;
    }
    for call in calls {
        assert!(
            store.activity(tenant, call).await.unwrap().is_some(),
            "it is written all the same"
        );
    }
    assert_eq!(store.activity(tenant, lost).await.unwrap(), None);
    store.close().await;
}

// O007: administrative writes leave a trace by construction.
async fn changes_are_recorded(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let change = change();
    let made = store.create_agent(tenant, &change, agent("one")).await.unwrap();
    store.remove_agent(tenant, &change, made.id).await.unwrap();
    let facts = store
        .list_audit(tenant, &AuditFilter::default(), &PageRequest::first())
        .await
        .unwrap()
        .items;
    let told: Vec<String> = facts
        .iter()
        .map(|item| match &item.entry.fact {
            Fact::Changed { action, kind, object } => format!("{action} {kind} {object}"),
            other => format!("{other:?}"),
        })
        .collect();
    let object = format!("agent:{}", made.id);
    assert_eq!(
        told,
        [
            format!("test.change removed {object}"),
            format!("test.change created {object}")
        ]
    );
    assert!(
        facts
            .iter()
            .all(|item| item.entry.call == change.call && item.entry.at == START)
    );
    // What is refused leaves none.
    store.remove_agent(tenant, &change, made.id).await.unwrap_err();
    assert_eq!(
        store
            .list_audit(tenant, &AuditFilter::default(), &PageRequest::first())
            .await
            .unwrap()
            .items
            .len(),
        2
    );
    store.close().await;
}
