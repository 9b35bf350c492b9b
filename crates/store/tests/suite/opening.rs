//! Opening a database: migrations, the lock of the serving process, files, and what is refused.

use std::sync::Arc;

use store::{Backend, Role, RootKey, RootKeys, Store, StoreError, VaultError};

use crate::harness::{Bench, both};

both!(
    first_start_is_told_once,
    newer_schema_is_refused,
    wrong_root_key_is_refused,
    many_open_at_once
);

async fn first_start_is_told_once(bench: Arc<Bench>) {
    let store = bench.open().await;
    let first = store.bootstrap().await.unwrap();
    assert!(first.first_start);
    assert!(store.healthy().await);
    let again = store.bootstrap().await.unwrap();
    assert_eq!((again.tenant, again.first_start), (first.tenant, false));
    store.close().await;
    let store = bench.open().await;
    let later = store.bootstrap().await.unwrap();
    assert_eq!((later.tenant, later.first_start), (first.tenant, false));
    assert_eq!(store.tenants().await.unwrap(), [first.tenant]);
    store.close().await;
}

async fn newer_schema_is_refused(bench: Arc<Bench>) {
    bench.open().await.close().await;
    bench
        .tamper("INSERT INTO seaql_migrations (version, applied_at) VALUES ('9999_future', 0)")
        .await;
    let error = Store::open(bench.options()).await.unwrap_err();
    assert!(
        matches!(&error, StoreError::NewerSchema { found } if found == "9999_future"),
        "{error:?}"
    );
}

async fn wrong_root_key_is_refused(bench: Arc<Bench>) {
    bench.open().await.close().await;
    let mut options = bench.options();
    options.keys = RootKeys::only(RootKey::generate().unwrap());
    let error = Store::open(options.clone()).await.unwrap_err();
    let want = VaultError::WrongKey {
        expected: bench.keys.current.id(),
    };
    assert!(
        matches!(&error, StoreError::Vault(got) if *got == want),
        "{error:?}"
    );
    options.keys.previous.push(bench.keys.current.clone());
    Store::open(options).await.unwrap().close().await;
}

/// Migrations run under a lock: several processes may start at once.
async fn many_open_at_once(bench: Arc<Bench>) {
    let mut options = bench.options();
    options.role = Role::Beside;
    let mut opening = tokio::task::JoinSet::new();
    for _ in 0..4 {
        opening.spawn(Store::open(options.clone()));
    }
    let stores = opening
        .join_all()
        .await
        .into_iter()
        .collect::<Result<Vec<_>, _>>()
        .unwrap();
    let firsts = first_starts(&stores).await;
    assert_eq!(firsts.iter().filter(|first| **first).count(), 1);
    for store in stores {
        store.close().await;
    }
}

async fn first_starts(stores: &[Store]) -> Vec<bool> {
    let mut tasks = tokio::task::JoinSet::new();
    for store in stores {
        let store = store.clone();
        tasks.spawn(async move { store.bootstrap().await.unwrap().first_start });
    }
    tasks.join_all().await
}

#[tokio::test]
async fn one_process_serves_a_file() {
    let bench = Bench::sqlite();
    let store = bench.open().await;
    let error = Store::open(bench.options()).await.unwrap_err();
    assert!(matches!(error, StoreError::InUse { .. }), "{error:?}");
    let mut beside = bench.options();
    beside.role = Role::Beside;
    Store::open(beside).await.unwrap().close().await;
    store.close().await;
    bench.open().await.close().await;
}

#[tokio::test]
async fn files_are_private() {
    use std::os::unix::fs::PermissionsExt as _;

    let bench = Bench::sqlite();
    let (store, _) = bench.start().await;
    let Backend::Sqlite { path } = &bench.backend else {
        unreachable!()
    };
    let mut seen = 0;
    for entry in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(
            entry.metadata().unwrap().permissions().mode() & 0o777,
            0o600,
            "{:?}",
            entry.path()
        );
        seen += 1;
    }
    assert!(seen >= 4, "database, log, index and lock");
    store.close().await;
}
