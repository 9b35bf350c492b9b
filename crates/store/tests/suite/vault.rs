//! Secrets: bound to where they lie, listed without values, sealed again under a new root key.

use std::sync::Arc;

use domain::{ConnectionId, Secret};
use store::{RootKey, RootKeys, Rotation, SecretOwner, SecretSlot, Store, StoreError, VaultError};

use crate::harness::{Bench, both, change};

both!(
    secrets_are_replaced_listed_and_removed,
    a_moved_record_does_not_open,
    rotation_can_be_stopped_and_resumed
);

fn slot(owner: SecretOwner, field: &str) -> SecretSlot {
    SecretSlot {
        owner,
        field: field.to_owned(),
    }
}

async fn secrets_are_replaced_listed_and_removed(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let vault = store.vault();
    let owner = SecretOwner::Connection(ConnectionId::generate());
    let (credential, header) = (slot(owner, "credential"), slot(owner, "header:X-Team"));
    let named = slot(SecretOwner::Workspace, "smtp");
    let first = vault
        .put(tenant, &change(), &credential, &Secret::new("one"))
        .await
        .unwrap();
    let second = vault
        .put(tenant, &change(), &credential, &Secret::new("two"))
        .await
        .unwrap();
    assert_ne!(first.id, second.id);
    let third = vault
        .put(tenant, &change(), &header, &Secret::new(""))
        .await
        .unwrap();
    vault
        .put(tenant, &change(), &named, &Secret::new("é\u{0}"))
        .await
        .unwrap();
    assert_eq!(
        vault.get(tenant, &credential).await.unwrap().unwrap().expose(),
        "two"
    );
    assert_eq!(vault.get(tenant, &header).await.unwrap().unwrap().expose(), "");
    assert_eq!(
        vault.get(tenant, &named).await.unwrap().unwrap().expose(),
        "é\u{0}"
    );
    assert_eq!(vault.list(tenant, owner).await.unwrap(), [second, third]);
    assert!(vault.remove(tenant, &change(), &credential).await.unwrap());
    assert!(!vault.remove(tenant, &change(), &credential).await.unwrap());
    assert_eq!(vault.remove_all(tenant, &change(), owner).await.unwrap(), 1);
    assert!(vault.get(tenant, &header).await.unwrap().is_none());
    assert!(vault.get(tenant, &named).await.unwrap().is_some());
    store.close().await;
}

/// Whoever can write to the database cannot make one secret pass for another.
async fn a_moved_record_does_not_open(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let vault = store.vault();
    let (a, b) = (
        slot(SecretOwner::Workspace, "a"),
        slot(SecretOwner::Workspace, "b"),
    );
    let cases = [
        // Swapped fields.
        "UPDATE secrets SET field = 'x' WHERE field = 'a'; UPDATE secrets SET field = 'a' WHERE field = 'b';
         UPDATE secrets SET field = 'b' WHERE field = 'x'",
        // One record's content under another's data key.
        "UPDATE secrets SET ciphertext = (SELECT s.ciphertext FROM secrets s WHERE s.field = 'b'),
         nonce = (SELECT s.nonce FROM secrets s WHERE s.field = 'b') WHERE field = 'a'",
        // One whole record in place of another.
        "UPDATE secrets SET ciphertext = (SELECT s.ciphertext FROM secrets s WHERE s.field = 'b'),
         nonce = (SELECT s.nonce FROM secrets s WHERE s.field = 'b'),
         wrapped_key = (SELECT s.wrapped_key FROM secrets s WHERE s.field = 'b') WHERE field = 'a'",
        // Another version of the format.
        "UPDATE secrets SET version = 2 WHERE field = 'a'",
    ];
    for sql in cases {
        vault
            .put(tenant, &change(), &a, &Secret::new("secret a"))
            .await
            .unwrap();
        vault
            .put(tenant, &change(), &b, &Secret::new("secret b"))
            .await
            .unwrap();
        bench.tamper(sql).await;
        let error = vault.get(tenant, &a).await.unwrap_err();
        assert!(
            matches!(error, StoreError::Vault(VaultError::Sealed)),
            "{sql}: {error:?}"
        );
    }
    store.close().await;
}

async fn rotation_can_be_stopped_and_resumed(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let slots: Vec<SecretSlot> = (0..250)
        .map(|n| slot(SecretOwner::Workspace, &format!("s{n}")))
        .collect();
    for slot in &slots {
        store
            .vault()
            .put(tenant, &change(), slot, &Secret::new(&*slot.field))
            .await
            .unwrap();
    }
    store.close().await;
    let mut options = bench.options();
    options.keys = RootKeys {
        current: RootKey::generate().unwrap(),
        previous: vec![bench.keys.current.clone()],
    };
    let store = Store::open(options.clone()).await.unwrap();
    let vault = store.vault();
    // Before, during and after, every secret opens.
    assert_eq!(
        vault.get(tenant, &slots[7]).await.unwrap().unwrap().expose(),
        "s7"
    );
    let (told, mut steps) = tokio::sync::mpsc::unbounded_channel();
    let running = {
        let vault = vault.clone();
        tokio::spawn(async move { vault.rotate(|step| told.send(step).unwrap()).await })
    };
    let first = steps.recv().await.unwrap();
    running.abort();
    assert_eq!((first.done, first.total), (100, 250));
    assert!(running.await.is_err() || steps.recv().await.is_none());
    for slot in &slots {
        assert_eq!(
            vault.get(tenant, slot).await.unwrap().unwrap().expose(),
            slot.field
        );
    }
    assert_eq!(
        vault.rotate(|_| {}).await.unwrap(),
        Rotation {
            done: 250,
            total: 250
        }
    );
    store.close().await;
    // The old key is not needed any more.
    options.keys.previous.clear();
    let store = Store::open(options).await.unwrap();
    assert_eq!(
        store
            .vault()
            .get(tenant, &slots[249])
            .await
            .unwrap()
            .unwrap()
            .expose(),
        "s249"
    );
    store.close().await;
    let error = Store::open(bench.options()).await.unwrap_err();
    assert!(
        matches!(error, StoreError::Vault(VaultError::WrongKey { .. })),
        "{error:?}"
    );
}

#[test]
fn root_keys_round_trip_and_do_not_print() {
    let key = RootKey::generate().unwrap();
    let again = RootKey::from_base64(&Secret::new(format!(" {}\n", key.to_base64().expose()))).unwrap();
    assert_eq!(key.id(), again.id());
    assert!(!format!("{key:?}").contains(key.to_base64().expose()));
    for text in ["", "short", "not base64 at all!", "AAAA"] {
        assert_eq!(
            RootKey::from_base64(&Secret::new(text)).unwrap_err(),
            VaultError::BadKey,
            "{text:?}"
        );
    }
}
