//! Accounts with tokens and the sign-ins that get them: for ten minutes, once, in one browser, while the connection stays as it was; and
//! tokens that only whoever saw the last ones replaces.

use std::sync::Arc;
use std::time::Duration;

use domain::{
    Account, AccountKind, AccountStatus, Authorization, AuthorizationId, AuthorizationStatus, ClientMethod,
    Connection, Digest, OauthSettings, Party, Secret, SignInProfile, Tenant,
};
use store::{AuthorizationSecrets, NewTokens, SecretOwner, Store, StoreError};

use crate::harness::{Bench, START, both, change, connection};

both!(
    a_sign_in_is_taken_once,
    a_sign_in_lapses,
    an_edit_calls_it_off,
    tokens_are_replaced_by_who_saw_the_last,
    a_name_is_held_by_one,
    others_are_told,
);

const INTENT: Duration = Duration::from_secs(600);

fn party() -> Party {
    Party {
        resource: "https://mcp.example/mcp".to_owned(),
        server: r#"{"issuer":"https://as.example"}"#.into(),
        issuer: "https://as.example".to_owned(),
        client_id: "client".to_owned(),
        method: ClientMethod::SecretPost,
    }
}

fn tokens(access: &str) -> NewTokens {
    NewTokens {
        access: Secret::new(access),
        refresh: Some(Secret::new("quote \" and \\")),
        client_secret: Some(Secret::new("registered")),
        expires_at: Some(START.plus(Duration::from_secs(3600))),
        granted: vec!["a".to_owned()],
    }
}

fn browser(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

async fn with_account(store: &Store, tenant: Tenant) -> Connection {
    let mut wanted = connection("Guarded");
    wanted.header_names = Vec::new();
    wanted.account = Account {
        kind: AccountKind::Oauth,
        oauth: Some(Arc::new(OauthSettings {
            issuer: Some("https://as.example".into()),
            scopes: Some(vec!["a".into()]),
            client_id: None,
            method: ClientMethod::None,
            profile: SignInProfile::OfflineConsent,
            signing: Some(("ES256".into(), None)),
            unreported_lifetime: true,
        })),
        ..Account::NONE
    };
    let stored = store
        .create_connection(tenant, &change(), wanted.clone())
        .await
        .unwrap();
    assert_eq!(stored.account, wanted.account);
    let read = store.connection(tenant, stored.id).await.unwrap().unwrap();
    assert_eq!(read.account, wanted.account);
    read
}

/// Begins a sign-in that this browser goes through.
async fn begin(store: &Store, tenant: Tenant, connection: &Connection) -> Authorization {
    let authorization = Authorization {
        id: AuthorizationId::generate(),
        connection: connection.id,
        status: AuthorizationStatus::Pending,
        version: connection.version,
        expires_at: START.plus(INTENT),
        requested: vec!["a".to_owned(), "b".to_owned()],
        error_code: None,
        error_detail: None,
        party: party(),
        created_at: START,
    };
    let secrets = AuthorizationSecrets {
        verifier: Secret::new("verifier"),
        client_secret: Some(Secret::new("registered")),
    };
    store
        .begin_authorization(tenant, &change(), &authorization, &secrets)
        .await
        .unwrap();
    authorization
}

async fn status(store: &Store, tenant: Tenant, connection: &Connection) -> AccountStatus {
    let state = store.account(tenant, connection.id).await.unwrap();
    state.unwrap().status
}

async fn a_sign_in_is_taken_once(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let connection = with_account(&store, tenant).await;
    let begun = begin(&store, tenant, &connection).await;
    assert_eq!(
        store.authorization(tenant, begun.id).await.unwrap(),
        Some(begun.clone())
    );
    assert_eq!(
        status(&store, tenant, &connection).await,
        AccountStatus::SetupPending
    );
    let take = async |text: &str| store.take_authorization(tenant, begun.id, browser(text)).await;
    // Not before somebody has gone, and then only with that browser.
    assert!(matches!(take("b").await, Err(StoreError::NotFound { .. })));
    store
        .open_authorization(tenant, &change(), begun.id, browser("b"))
        .await
        .unwrap();
    assert!(matches!(take("c").await, Err(StoreError::NotFound { .. })));
    let other = store.create_organization("other").await.unwrap();
    let elsewhere = store.take_authorization(other, begun.id, browser("b")).await;
    assert!(matches!(elsewhere, Err(StoreError::NotFound { .. })));
    let taken = take("b").await.unwrap();
    assert_eq!(taken.secrets.verifier.expose(), "verifier");
    assert_eq!(taken.secrets.client_secret.unwrap().expose(), "registered");
    assert_eq!(&*taken.opened_by.kind, "system");
    assert!(matches!(take("b").await, Err(StoreError::NotFound { .. })));
    // Whoever dies now leaves one that failed.
    let interrupted = store.authorization(tenant, begun.id).await.unwrap().unwrap();
    assert_eq!(
        (interrupted.status, interrupted.error_code.as_deref()),
        (AuthorizationStatus::Failed, Some("interrupted"))
    );
    let version = store
        .complete_authorization(tenant, &change(), &taken.authorization, &tokens("first"))
        .await
        .unwrap();
    assert_eq!(version, connection.version);
    let state = store.account(tenant, connection.id).await.unwrap().unwrap();
    assert_eq!(
        (state.status, state.generation, state.sign_ins, state.refreshable),
        (AccountStatus::Connected, 1, 1, true)
    );
    assert_eq!(
        (state.requested, state.granted),
        (begun.requested.clone(), vec!["a".to_owned()])
    );
    assert_eq!(state.party, Some(party()));
    let held = store.held_tokens(tenant, connection.id).await.unwrap().unwrap();
    assert_eq!(
        (
            held.generation,
            held.access.expose(),
            held.refresh.unwrap().expose()
        ),
        (1, "first", "quote \" and \\")
    );
    let connected = store.connection(tenant, connection.id).await.unwrap().unwrap();
    assert!(connected.account.configured);
    assert_eq!(connected.version, connection.version, "it is no edit");
    let ended = store.authorization(tenant, begun.id).await.unwrap().unwrap();
    assert_eq!(
        (ended.status, ended.error_code),
        (AuthorizationStatus::Completed, None)
    );
    store.close().await;
}

async fn a_sign_in_lapses(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let connection = with_account(&store, tenant).await;
    let begun = begin(&store, tenant, &connection).await;
    store
        .open_authorization(tenant, &change(), begun.id, browser("b"))
        .await
        .unwrap();
    bench.clock.advance(INTENT - Duration::from_micros(1));
    assert!(
        store
            .waiting_authorization(tenant, begun.id)
            .await
            .unwrap()
            .is_some()
    );
    bench.clock.advance(Duration::from_micros(1));
    let lapsed = store.authorization(tenant, begun.id).await.unwrap().unwrap();
    assert_eq!(lapsed.status, AuthorizationStatus::Expired);
    assert!(
        store
            .waiting_authorization(tenant, begun.id)
            .await
            .unwrap()
            .is_none()
    );
    let gone = |outcome: Result<(), StoreError>| matches!(outcome, Err(StoreError::NotFound { .. }));
    assert!(gone(
        store
            .take_authorization(tenant, begun.id, browser("b"))
            .await
            .map(|_| ())
    ));
    assert!(gone(
        store
            .open_authorization(tenant, &change(), begun.id, browser("b"))
            .await
    ));
    let cancelled = (AuthorizationStatus::Cancelled, None);
    assert!(gone(
        store
            .end_authorization(tenant, &change(), begun.id, cancelled)
            .await
    ));
    store.close().await;
}

async fn an_edit_calls_it_off(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let mut connection = with_account(&store, tenant).await;
    // Another one takes its place.
    let first = begin(&store, tenant, &connection).await;
    let second = begin(&store, tenant, &connection).await;
    let read = async |id| store.authorization(tenant, id).await.unwrap().unwrap();
    assert_eq!(read(first.id).await.status, AuthorizationStatus::Cancelled);
    assert_eq!(read(second.id).await.status, AuthorizationStatus::Pending);
    store
        .open_authorization(tenant, &change(), second.id, browser("b"))
        .await
        .unwrap();
    let taken = store
        .take_authorization(tenant, second.id, browser("b"))
        .await
        .unwrap();
    store
        .complete_authorization(tenant, &change(), &taken.authorization, &tokens("first"))
        .await
        .unwrap();
    // An edit of something else leaves the account, and calls off what is under way.
    let third = begin(&store, tenant, &connection).await;
    connection.sharing = domain::Sharing::PerCall;
    connection = store
        .update_connection(tenant, &change(), connection)
        .await
        .unwrap();
    assert!(connection.account.configured);
    let off = read(third.id).await;
    assert_eq!(
        (off.status, off.error_code.as_deref()),
        (AuthorizationStatus::Cancelled, Some("connection_changed"))
    );
    assert_eq!(
        status(&store, tenant, &connection).await,
        AccountStatus::Connected
    );
    // One that was taken before an edit connects nothing after it.
    let fourth = begin(&store, tenant, &connection).await;
    store
        .open_authorization(tenant, &change(), fourth.id, browser("b"))
        .await
        .unwrap();
    let taken = store
        .take_authorization(tenant, fourth.id, browser("b"))
        .await
        .unwrap();
    let mut settings = OauthSettings::clone(connection.account.oauth.as_deref().unwrap());
    settings.client_id = Some("another".into());
    connection.account.oauth = Some(Arc::new(settings));
    connection = store
        .update_connection(tenant, &change(), connection)
        .await
        .unwrap();
    let late = store
        .complete_authorization(tenant, &change(), &taken.authorization, &tokens("late"))
        .await;
    assert!(matches!(late, Err(StoreError::Version { .. })), "{late:?}");
    // Another account: the tokens went with the old one, and nothing of it is left in the vault.
    assert!(!connection.account.configured);
    assert_eq!(store.account(tenant, connection.id).await.unwrap(), None);
    let left = store
        .vault()
        .list(tenant, SecretOwner::Connection(connection.id))
        .await
        .unwrap();
    assert!(left.is_empty(), "{left:?}");
    store.close().await;
}

async fn tokens_are_replaced_by_who_saw_the_last(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let connection = with_account(&store, tenant).await;
    let scopes = ["a".to_owned()];
    store
        .set_party(tenant, connection.id, &party(), &scopes)
        .await
        .unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..8 {
        let store = store.clone();
        let id = connection.id;
        tasks.spawn(async move {
            let given = tokens(&format!("given to {n}"));
            store.renew_tokens(tenant, id, 0, &given).await.unwrap()
        });
    }
    let mut kept: Vec<Option<u64>> = tasks.join_all().await;
    kept.sort();
    assert_eq!(kept[..7], [None; 7]);
    assert_eq!(kept[7], Some(1));
    let failure = (AccountStatus::ReauthorizationRequired, "grant_gone", "taken back");
    let failed = async |generation| {
        store
            .account_failed(tenant, connection.id, generation, failure)
            .await
            .unwrap()
    };
    assert!(!failed(0).await, "those are not there any more");
    assert_eq!(
        status(&store, tenant, &connection).await,
        AccountStatus::Connected
    );
    assert!(failed(1).await);
    let state = store.account(tenant, connection.id).await.unwrap().unwrap();
    assert_eq!(
        (state.status, state.error_code.as_deref(), state.refreshable),
        (AccountStatus::ReauthorizationRequired, Some("grant_gone"), false)
    );
    // What stands in the way of a sign-in is said only of an account that never worked.
    let other = (AccountStatus::Error, "unreachable", "no answer");
    store
        .account_unprepared(tenant, connection.id, other)
        .await
        .unwrap();
    assert_eq!(
        status(&store, tenant, &connection).await,
        AccountStatus::ReauthorizationRequired
    );
    let stale = store
        .disconnect_account(tenant, &change(), connection.id, 7)
        .await;
    assert!(matches!(stale, Err(StoreError::Version { .. })), "{stale:?}");
    store
        .disconnect_account(tenant, &change(), connection.id, connection.version)
        .await
        .unwrap();
    assert!(store.held_tokens(tenant, connection.id).await.unwrap().is_none());
    let state = store.account(tenant, connection.id).await.unwrap().unwrap();
    assert_eq!(
        (state.status, state.generation, state.party),
        (AccountStatus::NotConnected, 2, None)
    );
    assert_eq!(store.all_accounts(tenant).await.unwrap().len(), 1);
    store
        .remove_connection(tenant, &change(), connection.id)
        .await
        .unwrap();
    assert!(store.all_accounts(tenant).await.unwrap().is_empty());
    store.close().await;
}

async fn a_name_is_held_by_one(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let mut options = bench.options();
    options.role = store::Role::Beside;
    let beside = Store::open(options).await.unwrap();
    let long = Duration::from_secs(60);
    assert!(store.hold(tenant, "name", long).await.unwrap());
    assert!(
        store.hold(tenant, "name", long).await.unwrap(),
        "its own is renewed"
    );
    assert!(!beside.hold(tenant, "name", long).await.unwrap());
    assert!(beside.hold(tenant, "another", long).await.unwrap());
    // Only its holder lets it go.
    beside.let_go(tenant, "name").await.unwrap();
    assert!(!beside.hold(tenant, "name", long).await.unwrap());
    store.let_go(tenant, "name").await.unwrap();
    assert!(beside.hold(tenant, "name", long).await.unwrap());
    // A holder that is gone holds it no longer than it said.
    assert!(
        beside
            .hold(tenant, "short", Duration::from_micros(1))
            .await
            .unwrap()
    );
    let taken = async { while !store.hold(tenant, "short", long).await.unwrap() {} };
    tokio::time::timeout(Duration::from_secs(30), taken)
        .await
        .unwrap();
    beside.close().await;
    store.close().await;
}

/// On PostgreSQL another process hears of what decides calls; of its own changes nobody is told again.
async fn others_are_told(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let postgres = matches!(bench.backend, store::Backend::Postgres { .. });
    if !postgres {
        // One process serves.
        store.close().await;
        return;
    }
    let second = bench.open().await;
    let (mut of_first, mut of_second) = (store.others(), second.others());
    for others in [&mut of_first, &mut of_second] {
        // Whoever begins to listen may have missed something.
        others.wait_for(|count| *count > 0).await.unwrap();
        others.borrow_and_update();
    }
    store.raise_epoch(tenant, &change()).await.unwrap();
    tokio::time::timeout(Duration::from_secs(30), of_second.changed())
        .await
        .unwrap()
        .unwrap();
    assert!(!of_first.has_changed().unwrap());
    second.close().await;
    store.close().await;
}
