//! Copying a store: every row arrives as it is, and what must not be copied is refused.

use std::sync::Arc;

use domain::{CallStatus, Effect, KeyKind, Outcome, Secret};
use store::{Backend, CopyError, SecretOwner, SecretSlot, Store, StoreError, copy};

use crate::harness::{Bench, agent, both, change, connection, decided, ended, key, on_postgres, write};

both!(
    what_is_served_is_not_copied,
    what_is_full_takes_no_copy,
    what_is_not_ours_is_not_copied,
    a_damaged_record_is_not_copied
);

/// A store with something of most kinds, closed; what was put into the vault.
async fn filled(bench: &Bench) -> SecretSlot {
    let (store, tenant) = bench.start().await;
    let agent = store
        .create_agent(tenant, &change(), agent("copied"))
        .await
        .unwrap();
    store
        .create_connection(tenant, &change(), connection("Server"))
        .await
        .unwrap();
    store
        .insert_key(tenant, &change(), key(KeyKind::Agent(agent.id)))
        .await
        .unwrap();
    let slot = SecretSlot {
        owner: SecretOwner::Workspace,
        field: "token".to_owned(),
    };
    store
        .vault()
        .put(tenant, &change(), &slot, &Secret::new("hunter2"))
        .await
        .unwrap();
    // More than one step reads.
    for _ in 0..450 {
        let call = decided("read", "allow", Effect::ReadOnly);
        let id = call.call;
        drop(store.record(tenant, call).unwrap());
        drop(store.record(tenant, ended(id, Outcome::SUCCEEDED)).unwrap());
    }
    store.chain_once().await.unwrap();
    write(&store, tenant, &decided("tail", "allow", Effect::ReadOnly)).await;
    store.close().await;
    slot
}

/// One that is open when the process ends.
async fn with_an_open_intent(bench: &Bench) -> domain::CallId {
    let (store, tenant) = bench.start().await;
    let epoch = store.epoch(tenant).await.unwrap();
    let entry = decided("write", "allow", Effect::Mutating);
    let call = entry.call;
    store.begin_intent(tenant, entry, epoch, None).await.unwrap();
    store.close().await;
    call
}

/// A database for the copy, with the keys of the source.
fn beside(from: &Bench, mut to: Bench) -> Bench {
    to.keys = from.keys.clone();
    to
}

async fn check_copy(from: &Bench, to: &Bench) {
    let slot = filled(from).await;
    let call = with_an_open_intent(from).await;
    let mut seen = Vec::new();
    let copied = copy(&from.backend, &to.backend, |at| seen.push((at.done, at.total)))
        .await
        .unwrap();
    let rows: u64 = copied.tables.iter().map(|(_, rows)| rows).sum();
    assert!(rows > 1_000, "{copied:?}");
    assert_eq!(seen.last(), Some(&(rows, rows)));
    assert_eq!(copied.root_key, Some(from.keys.current.id()));

    let (store, tenant) = to.start().await;
    assert_eq!(copied.records[0].tenant, tenant);
    let secret = store.vault().get(tenant, &slot).await.unwrap().unwrap();
    assert_eq!(secret.expose(), "hunter2");
    let item = store.activity(tenant, call).await.unwrap().unwrap();
    assert_eq!(item.status, CallStatus::Unknown, "what was open is looked after");
    write(&store, tenant, &decided("later", "allow", Effect::ReadOnly)).await;
    store.close().await;
    to.tamper("UPDATE leases SET expires_at = 0").await;
    let store = to.open().await;
    store.chain_once().await.unwrap();
    let found = store
        .verify(tenant, copied.records[0].head, |_| {})
        .await
        .unwrap();
    assert_eq!((found.first_bad, found.unchained_tail), (None, 0));
    store.close().await;
}

#[tokio::test]
async fn sqlite_to_sqlite() {
    let from = Bench::sqlite();
    let to = beside(&from, Bench::sqlite());
    check_copy(&from, &to).await;
}

mod across {
    mod postgres {
        use crate::copy::{Arc, Bench, beside, check_copy, on_postgres};

        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn from_sqlite() {
            on_postgres(|to: Arc<Bench>| async move {
                let from = Bench::sqlite();
                let to = beside(&from, Arc::into_inner(to).unwrap());
                check_copy(&from, &to).await;
            })
            .await;
        }

        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn to_sqlite() {
            on_postgres(|from: Arc<Bench>| async move {
                let to = beside(&from, Bench::sqlite());
                check_copy(&from, &to).await;
            })
            .await;
        }
    }
}

async fn refused(from: &Backend, to: &Backend) -> CopyError {
    copy(from, to, |_| {}).await.unwrap_err()
}

async fn what_is_served_is_not_copied(bench: Arc<Bench>) {
    let other = Bench::sqlite();
    let (served, _) = bench.start().await;
    let error = refused(&bench.backend, &other.backend).await;
    assert!(
        matches!(error, CopyError::Store(StoreError::InUse { .. })),
        "{error:?}"
    );
    served.close().await;
    copy(&bench.backend, &other.backend, |_| {}).await.unwrap();
}

async fn what_is_full_takes_no_copy(bench: Arc<Bench>) {
    let other = Bench::sqlite();
    let (store, _) = other.start().await;
    store.close().await;
    let (store, _) = bench.start().await;
    store.close().await;
    let error = refused(&other.backend, &bench.backend).await;
    assert!(
        matches!(
            error,
            CopyError::NotEmpty {
                table: "organizations"
            }
        ),
        "{error:?}"
    );
    // It goes on as it was.
    let (store, tenant) = bench.start().await;
    write(&store, tenant, &decided("read", "allow", Effect::ReadOnly)).await;
    store.close().await;
}

async fn what_is_not_ours_is_not_copied(bench: Arc<Bench>) {
    let to = Bench::sqlite();
    let missing = Bench::sqlite();
    let error = refused(&missing.backend, &to.backend).await;
    assert!(
        matches!(error, CopyError::Store(StoreError::File { .. })),
        "{error:?}"
    );
    bench.open().await.close().await;
    bench
        .tamper("CREATE TABLE extra (id BIGINT NOT NULL PRIMARY KEY)")
        .await;
    let error = refused(&bench.backend, &to.backend).await;
    assert!(
        matches!(&error, CopyError::Unknown { table } if table == "extra"),
        "{error:?}"
    );
    bench.tamper("DROP TABLE extra").await;
    bench
        .tamper("DELETE FROM seaql_migrations WHERE version = '0002_asked'")
        .await;
    let error = refused(&bench.backend, &to.backend).await;
    assert!(
        matches!(&error, CopyError::OlderSchema { missing } if missing == "0002_asked"),
        "{error:?}"
    );
    bench.tamper("DROP TABLE seaql_migrations").await;
    let error = refused(&bench.backend, &to.backend).await;
    assert!(matches!(error, CopyError::NoStore), "{error:?}");
}

async fn a_damaged_record_is_not_copied(bench: Arc<Bench>) {
    filled(&bench).await;
    bench
        .tamper("UPDATE journal SET word = 'failed' WHERE seq = (SELECT MIN(seq) FROM journal WHERE kind = 'ended')")
        .await;
    let to = Bench::sqlite();
    let error = refused(&bench.backend, &to.backend).await;
    assert!(matches!(error, CopyError::Record { .. }), "{error:?}");
    // Nothing of it arrived.
    let store: Store = to.open().await;
    assert_eq!(store.tenants().await.unwrap(), []);
    store.close().await;
}
