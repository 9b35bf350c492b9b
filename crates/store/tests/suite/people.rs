//! People and the clients they let in: what lapses, what happens once, and who is left.

use std::sync::Arc;
use std::time::Duration;

use domain::{
    AgentId, BrowserSession, Consent, ConsentId, Invitation, InvitationId, Member, Role, Scope, SessionId,
    Tenant, TokenId, TokenKind,
};
use store::{Exchanged, MemberChange, NewCode, NewMember, NewSession, NewToken, Store, StoreError};

use crate::harness::{Bench, agent, both, change};

both!(
    an_invitation_is_good_for_a_while_and_once,
    somebody_is_left_who_may_do_everything,
    browsers_are_signed_in_for_a_while,
    tokens_are_exchanged_once,
);

const DAY: Duration = Duration::from_secs(86_400);

async fn invited(
    (store, bench): (&Store, &Bench),
    tenant: Tenant,
    email: &str,
    role: Role,
    scope: Scope,
) -> InvitationId {
    let now = bench.clock.now();
    let invitation = Invitation {
        id: InvitationId::generate(),
        email: Some(email.to_owned()),
        role,
        scope,
        created_at: now,
        expires_at: now.plus(DAY),
        accepted_at: None,
        revoked_at: None,
    };
    let by = change();
    let stored = store.insert_invitation(tenant, &by, &invitation, [7; 32]);
    stored.await.unwrap();
    invitation.id
}

async fn come(store: &Store, tenant: Tenant, id: InvitationId) -> Result<Member, StoreError> {
    let who = NewMember {
        email: "other@example.com".to_owned(),
        name: "N".to_owned(),
        password: "hash".to_owned(),
    };
    store.accept_invitation(tenant, &change(), id, who).await
}

async fn member(
    (store, bench): (&Store, &Bench),
    tenant: Tenant,
    email: &str,
    role: Role,
    scope: Scope,
) -> Member {
    let id = invited((store, bench), tenant, email, role, scope).await;
    come(store, tenant, id).await.unwrap()
}

async fn an_invitation_is_good_for_a_while_and_once(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let id = invited(
        (&store, &bench),
        tenant,
        "Ada@Example.com",
        Role::Member,
        Scope::Workspace,
    )
    .await;
    let made = come(&store, tenant, id).await.unwrap();
    assert_eq!(
        (&*made.email, made.role()),
        ("Ada@Example.com", Some(Role::Member))
    );
    assert!(matches!(
        come(&store, tenant, id).await,
        Err(StoreError::NotFound { .. })
    ));
    let late = invited(
        (&store, &bench),
        tenant,
        "late@example.com",
        Role::Viewer,
        Scope::Workspace,
    )
    .await;
    bench.clock.advance(DAY);
    assert!(store.open_invitation(tenant, late).await.unwrap().is_none());
    assert!(matches!(
        come(&store, tenant, late).await,
        Err(StoreError::NotFound { .. })
    ));
    let found = store
        .credential(tenant, "ADA@example.com")
        .await
        .unwrap()
        .unwrap();
    assert_eq!((found.member.id, &*found.password), (made.id, "hash"));
    let other = store.create_organization("other").await.unwrap();
    assert!(
        store
            .credential(other, "ada@example.com")
            .await
            .unwrap()
            .is_none()
    );
    assert!(store.member(other, made.id).await.unwrap().is_none());
    store.close().await;
}

async fn somebody_is_left_who_may_do_everything(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    // While nobody is an Owner, others come and go.
    let viewer = member(
        (&store, &bench),
        tenant,
        "v@example.com",
        Role::Viewer,
        Scope::Workspace,
    )
    .await;
    store.remove_member(tenant, &change(), viewer.id).await.unwrap();
    let first = member(
        (&store, &bench),
        tenant,
        "a@example.com",
        Role::Owner,
        Scope::Organization,
    )
    .await;
    let lower = |version| MemberChange {
        expected_version: version,
        role: Some((Scope::Organization, Some(Role::Admin))),
        enabled: None,
    };
    let off = MemberChange {
        expected_version: 1,
        role: None,
        enabled: Some(false),
    };
    for wanted in [lower(1), off] {
        let refused = store.update_member(tenant, &change(), first.id, wanted).await;
        assert!(matches!(refused, Err(StoreError::Unsound { .. })), "{refused:?}");
    }
    let refused = store.remove_member(tenant, &change(), first.id).await;
    assert!(matches!(refused, Err(StoreError::Unsound { .. })), "{refused:?}");
    let second = member(
        (&store, &bench),
        tenant,
        "b@example.com",
        Role::Owner,
        Scope::Organization,
    )
    .await;
    let stored = store
        .update_member(tenant, &change(), first.id, lower(1))
        .await
        .unwrap();
    assert_eq!((stored.role(), stored.version), (Some(Role::Admin), 2));
    assert!(store.remove_member(tenant, &change(), second.id).await.is_err());
    store.close().await;
}

async fn browsers_are_signed_in_for_a_while(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let who = member(
        (&store, &bench),
        tenant,
        "a@example.com",
        Role::Owner,
        Scope::Organization,
    )
    .await;
    let begin = async |hash: u8| {
        let session = BrowserSession {
            id: SessionId::generate(),
            member: who.id,
            browser: "b".to_owned(),
            created_at: bench.clock.now(),
            expires_at: bench.clock.now().plus(DAY),
        };
        let new = NewSession {
            session,
            hash: [hash; 32],
        };
        store.insert_session(tenant, &change(), &new).await.unwrap();
        new.session.id
    };
    let (first, second) = (begin(1).await, begin(2).await);
    let live = store.live_session(first).await.unwrap().unwrap();
    assert_eq!(
        (live.member, live.role, live.hash),
        (who.id, Role::Owner, [1; 32])
    );
    store
        .end_session(tenant, &change(), (who.id, first))
        .await
        .unwrap();
    assert!(store.live_session(first).await.unwrap().is_none());
    let third = begin(3).await;
    let kept = ("another", Some(third));
    store.set_password(tenant, &change(), who.id, kept).await.unwrap();
    assert!(store.live_session(second).await.unwrap().is_none());
    assert_eq!(store.live_sessions().await.unwrap().len(), 1);
    bench.clock.advance(DAY);
    assert!(store.live_sessions().await.unwrap().is_empty());
    store.close().await;
}

fn token(bench: &Bench, hash: u8, lasts: Duration) -> NewToken {
    NewToken {
        id: TokenId::generate(),
        hash: [hash; 32],
        expires_at: bench.clock.now().plus(lasts),
    }
}

/// Lets a client in: its code.
async fn let_in((store, bench): (&Store, &Bench), tenant: Tenant, agent: AgentId) -> TokenId {
    let consent = Consent {
        id: ConsentId::generate(),
        member: None,
        agent,
        client: "c".into(),
        client_name: "c".into(),
        resource: "/mcp".into(),
        created_at: bench.clock.now(),
        last_used_at: None,
        ended_at: None,
        ended_by: None,
    };
    let code = NewCode {
        token: token(bench, 1, DAY),
        redirect_uri: "https://c.example/cb".to_owned(),
        challenge: "x".to_owned(),
    };
    let by = change();
    let stored = store.insert_consent(tenant, &by, &consent, &code);
    stored.await.unwrap();
    code.token.id
}

async fn tokens_are_exchanged_once(bench: Arc<Bench>) {
    let (store, tenant) = bench.start().await;
    let agent = agent("a");
    store
        .create_agent(tenant, &change(), agent.clone())
        .await
        .unwrap();
    let code = let_in((&store, &bench), tenant, agent.id).await;
    let held = store.held_token(code).await.unwrap().unwrap();
    assert_eq!(
        (held.kind, held.challenge.as_deref(), held.spent),
        (TokenKind::Code, Some("x"), false)
    );
    let (access, refresh) = (token(&bench, 2, DAY / 2), token(&bench, 3, DAY));
    let new = [(TokenKind::Access, access), (TokenKind::Refresh, refresh)];
    let done = store.exchange_token(&change(), &held, &new).await.unwrap();
    assert_eq!(done, Exchanged::Done);
    let found = store.access_token(access.id).await.unwrap().unwrap();
    assert_eq!(
        (found.agent, found.hash, &*found.resource),
        (agent.id, [2; 32], "/mcp")
    );
    assert!(
        store.access_token(refresh.id).await.unwrap().is_none(),
        "it is none"
    );
    // Of a code that is exchanged twice nothing is left.
    let again = [(TokenKind::Access, token(&bench, 4, DAY))];
    assert_eq!(
        store.exchange_token(&change(), &held, &again).await.unwrap(),
        Exchanged::Replayed
    );
    assert_eq!(
        store.exchange_token(&change(), &held, &again).await.unwrap(),
        Exchanged::Ended
    );
    assert!(store.access_tokens().await.unwrap().is_empty());
    // Of two that exchange the same one at once, one has it.
    let code = let_in((&store, &bench), tenant, agent.id).await;
    let held = store.held_token(code).await.unwrap().unwrap();
    let (left, right) = (
        [(TokenKind::Access, token(&bench, 5, DAY))],
        [(TokenKind::Access, token(&bench, 6, DAY))],
    );
    let by = change();
    let (one, two) = tokio::join!(
        store.exchange_token(&by, &held, &left),
        store.exchange_token(&by, &held, &right),
    );
    let mut came = [one.unwrap(), two.unwrap()];
    came.sort_by_key(|came| *came != Exchanged::Done);
    assert_eq!(came, [Exchanged::Done, Exchanged::Replayed]);
    // What lapsed goes, and with it what it stood for.
    let code = let_in((&store, &bench), tenant, agent.id).await;
    let held = store.held_token(code).await.unwrap().unwrap();
    bench.clock.advance(DAY);
    assert!(store.purge_tokens().await.unwrap() > 0);
    let ended = store.consent(tenant, held.consent.id).await.unwrap().unwrap();
    assert_eq!(ended.ended_by.as_deref(), Some("lapsed"));
    store.close().await;
}
