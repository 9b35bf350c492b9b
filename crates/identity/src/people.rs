//! People come: with an invitation the first time, then with their password.

use std::sync::Arc;
use std::time::Duration;

use domain::{
    BrowserSession, Clock, Invitation, InvitationId, Member, MemberId, Role, Scope, Secret, SessionId, Tenant,
};
use store::{Change, NewMember, Store, StoreError};
use subtle::ConstantTimeEq as _;

use crate::opaque::Opaque;
use crate::password::{self, HashError, Weak};
use crate::{Begun, IdentityError, Sessions, Throttle, begin};

/// How long an invitation can be accepted.
const INVITED_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How long the first Owner has.
const FIRST_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// Longest address and name, in characters.
const MOST: usize = 254;

/// Why somebody is not let in, or something about them not changed. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// Address or password are wrong, or the person may not sign in; which of these is nobody's business.
    #[error("the e-mail address or the password is wrong")]
    Wrong,
    /// Too many tries.
    #[error("there were many tries for this address; wait {} seconds", .0.as_secs() + 1)]
    Throttled(Duration),
    /// The password is not taken.
    #[error(transparent)]
    Weak(#[from] Weak),
    /// The name or address is none.
    #[error("{detail}")]
    Invalid {
        /// Which field.
        field: &'static str,
        /// What is wrong with it.
        detail: &'static str,
    },
    /// The invitation was used, taken back, or its time is over.
    #[error(
        "this invitation is not open any more: it was used, taken back, or its time is over; ask for another one"
    )]
    Gone,
    /// Somebody has the address.
    #[error("somebody with this e-mail address is a member already; sign in instead")]
    Taken,
    /// The database failed.
    #[error(transparent)]
    Store(StoreError),
    /// No random numbers.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The password could not be hashed.
    #[error(transparent)]
    Hash(#[from] HashError),
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict { .. } => Self::Taken,
            StoreError::NotFound { .. } => Self::Gone,
            other => Self::Store(other),
        }
    }
}

/// Who accepts an invitation, as they wrote it.
#[derive(Debug)]
pub struct Newcomer {
    /// Their address; not looked at where the invitation says it.
    pub email: String,
    /// Their name.
    pub name: String,
    /// The password they chose.
    pub password: Secret,
    /// What their browser calls itself.
    pub browser: String,
}

/// The people of a workspace, and the door they come through. Cheap to clone.
#[derive(Clone)]
pub struct People {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    clock: Clock,
    tenant: Tenant,
    sessions: Sessions,
    throttle: Throttle,
}

/// A new invitation and the text of its link, which is never shown again; nothing is stored.
///
/// # Errors
/// When the operating system gives no random numbers.
pub fn invite(
    email: Option<String>,
    (role, scope): (Role, Scope),
    now: domain::Timestamp,
) -> Result<(Invitation, Secret, [u8; 32]), IdentityError> {
    let id = InvitationId::generate();
    let (token, hash) = Opaque::generate("invitation", id.uuid()).map_err(|_| IdentityError::NoRandom)?;
    let lasts = if email.is_some() { INVITED_FOR } else { FIRST_FOR };
    let invitation = Invitation {
        id,
        email,
        role,
        scope,
        created_at: now,
        expires_at: now.plus(lasts),
        accepted_at: None,
        revoked_at: None,
    };
    Ok((invitation, token, hash))
}

/// Reads an e-mail address: something, one `@`, a host; no more is known of an address before mail is sent there.
///
/// # Errors
/// What is wrong with it.
pub fn read_email(text: &str) -> Result<String, Refused> {
    let text = text.trim();
    let parts = text.rsplit_once('@');
    let plain = !text.chars().any(|c| c.is_whitespace() || c.is_control()) && text.chars().count() <= MOST;
    if plain && parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !name.contains('@'))
    {
        return Ok(text.to_owned());
    }
    Err(Refused::Invalid {
        field: "email",
        detail: "this is no e-mail address; write it as name@example.com",
    })
}

impl People {
    /// The people of this workspace.
    #[must_use]
    pub fn new((store, clock): (Store, Clock), tenant: Tenant, sessions: Sessions) -> Self {
        let inner = Inner {
            store,
            clock,
            tenant,
            sessions,
            throttle: Throttle::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// The browsers they are signed in with.
    #[must_use]
    pub fn sessions(&self) -> &Sessions {
        &self.inner.sessions
    }

    /// Forgets who tried to sign in a while ago. Called now and then.
    pub fn tidy(&self) {
        self.inner.throttle.tidy();
    }

    /// Signs somebody in.
    ///
    /// # Errors
    /// See [`Refused`].
    pub async fn sign_in(&self, email: &str, password: Secret, browser: &str) -> Result<Begun, Refused> {
        let email = email.trim();
        // What is no address is nobody's, and is not kept in mind.
        let email = &read_email(email).map_err(|_| Refused::Wrong)?;
        self.inner.throttle.admit(email).map_err(Refused::Throttled)?;
        let found = self.inner.store.credential(self.inner.tenant, email).await?;
        let hash = found.as_ref().map(|found| found.password.clone());
        let same = password::verify(password, hash).await?;
        let member = found
            .map(|found| found.member)
            .filter(|member| same && member.enabled && member.role().is_some());
        let member = member.ok_or(Refused::Wrong)?;
        self.begin(member.id, browser).await
    }

    /// The open invitation of a link.
    ///
    /// # Errors
    /// `Gone`, or when the store fails.
    pub async fn invitation(&self, token: &str) -> Result<Invitation, Refused> {
        let given = Opaque::parse(token)
            .filter(|given| given.kind == "invitation")
            .ok_or(Refused::Gone)?;
        let id = InvitationId::from_uuid(given.id);
        let found = self.inner.store.open_invitation(self.inner.tenant, id).await?;
        let (invitation, hash) = found.ok_or(Refused::Gone)?;
        if bool::from(hash.ct_eq(&given.hash)) {
            return Ok(invitation);
        }
        Err(Refused::Gone)
    }

    /// Makes somebody who was invited a member, and signs them in.
    ///
    /// # Errors
    /// See [`Refused`].
    pub async fn accept(&self, token: &str, who: Newcomer) -> Result<Begun, Refused> {
        let invitation = self.invitation(token).await?;
        let email = match &invitation.email {
            Some(email) => email.clone(),
            None => read_email(&who.email)?,
        };
        let name = who.name.trim();
        if name.is_empty() || name.chars().count() > 100 || name.chars().any(char::is_control) {
            return Err(Refused::Invalid {
                field: "name",
                detail: "write a name of at most 100 characters",
            });
        }
        password::check(&who.password, &email, name)?;
        let new = NewMember {
            email,
            name: name.to_owned(),
            password: password::hash(who.password).await?,
        };
        let change = Change::by_system("invitations.accept");
        let made: Member = self
            .inner
            .store
            .accept_invitation(self.inner.tenant, &change, invitation.id, new)
            .await?;
        self.begin(made.id, &who.browser).await
    }

    /// Puts another password in place of the one a person has; other browsers of theirs are signed out.
    ///
    /// # Errors
    /// See [`Refused`].
    pub async fn change_password(
        &self,
        (member, session): (MemberId, SessionId),
        (old, new): (Secret, Secret),
    ) -> Result<(), Refused> {
        let inner = &self.inner;
        let who = inner
            .store
            .member(inner.tenant, member)
            .await?
            .ok_or(Refused::Wrong)?;
        inner.throttle.admit(&who.email).map_err(Refused::Throttled)?;
        let found = inner.store.credential(inner.tenant, &who.email).await?;
        if !password::verify(old, found.map(|found| found.password)).await? {
            return Err(Refused::Wrong);
        }
        password::check(&new, &who.email, &who.name)?;
        let hash = password::hash(new).await?;
        let change = by(member, "members.change_password");
        let kept = (hash.as_str(), Some(session));
        inner
            .store
            .set_password(inner.tenant, &change, member, kept)
            .await?;
        inner.sessions.refresh().await?;
        Ok(())
    }

    /// A member, and the browsers they are signed in with, the latest first.
    ///
    /// # Errors
    /// `Gone`, or when the store fails.
    pub async fn account(&self, member: MemberId) -> Result<(Member, Vec<BrowserSession>), Refused> {
        let (store, tenant) = (&self.inner.store, self.inner.tenant);
        let who = store.member(tenant, member).await?.ok_or(Refused::Gone)?;
        Ok((who, store.sessions_of(tenant, member).await?))
    }

    /// Signs a browser of a member out.
    ///
    /// # Errors
    /// `Gone` where there is none, or when the store fails.
    pub async fn sign_out(&self, member: MemberId, session: SessionId) -> Result<(), Refused> {
        let change = by(member, "sessions.end");
        let ended = self
            .inner
            .store
            .end_session(self.inner.tenant, &change, (member, session));
        ended.await?;
        self.inner.sessions.refresh().await?;
        Ok(())
    }

    async fn begin(&self, member: MemberId, browser: &str) -> Result<Begun, Refused> {
        let begun = begin(member, browser, self.inner.clock.now())?;
        let change = by(member, "sessions.begin");
        self.inner
            .store
            .insert_session(self.inner.tenant, &change, &begun.new)
            .await?;
        Ok(begun)
    }
}

fn by(member: MemberId, action: &str) -> Change {
    Change {
        actor: domain::Actor {
            kind: "member".into(),
            id: member.to_string().into(),
            agent: None,
        },
        ..Change::by_system(action)
    }
}
