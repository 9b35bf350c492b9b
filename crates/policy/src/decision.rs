//! What deciding says, and the proof of a yes.

use domain::{ApprovalId, Call, Digest, Effect, Epoch, Reason, Risk};

/// The answer to one call.
#[derive(Debug)]
pub enum Decision {
    /// It may run; the permit owns the call.
    Allow(Permit),
    /// A person is asked first.
    Ask(Ask),
    /// It may not run.
    Deny(Denial),
}

impl Decision {
    /// Why.
    #[must_use]
    pub const fn reason(&self) -> &Reason {
        match self {
            Self::Allow(permit) => &permit.reason,
            Self::Ask(ask) => &ask.reason,
            Self::Deny(denial) => &denial.reason,
        }
    }

    /// What was decided about.
    #[must_use]
    pub const fn call(&self) -> &Call {
        match self {
            Self::Allow(permit) => &permit.call,
            Self::Ask(ask) => &ask.call,
            Self::Deny(denial) => &denial.call,
        }
    }

    /// `allow`, `ask` or `deny`, as it is recorded.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Allow(_) => "allow",
            Self::Ask(_) => "ask",
            Self::Deny(_) => "deny",
        }
    }
}

/// Proof that exactly this call was allowed. Only this crate makes one; it cannot be copied or stored, and is spent by dispatch.
#[derive(Debug)]
#[must_use = "a permit that is not dispatched was decided for nothing"]
pub struct Permit {
    pub(crate) call: Call,
    pub(crate) reason: Reason,
    pub(crate) risk: Risk,
    pub(crate) effect: Effect,
    pub(crate) parallel: bool,
    pub(crate) approval: Option<ApprovalId>,
    pub(crate) epoch: Epoch,
    pub(crate) snapshot: Option<Digest>,
}

impl Permit {
    /// What may run.
    #[must_use]
    pub const fn call(&self) -> &Call {
        &self.call
    }

    /// Why.
    #[must_use]
    pub const fn reason(&self) -> &Reason {
        &self.reason
    }

    /// Its risk.
    #[must_use]
    pub const fn risk(&self) -> Risk {
        self.risk
    }

    /// Whether it may change something.
    #[must_use]
    pub const fn effect(&self) -> Effect {
        self.effect
    }

    /// The approval this call spends, if a person was asked.
    #[must_use]
    pub const fn approval(&self) -> Option<ApprovalId> {
        self.approval
    }

    /// Whether an intent must be durable before anything is sent. An upstream's own annotation never lifts this.
    #[must_use]
    pub const fn needs_intent(&self) -> bool {
        match self.effect {
            Effect::ReadOnly => false,
            Effect::Mutating => true,
        }
    }

    /// Whether it may run beside others of the same wave.
    #[must_use]
    pub const fn parallel(&self) -> bool {
        self.parallel
    }

    /// The epoch it was decided under: the intent is stored only if it still holds.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The digest of the snapshot it was decided in; none for an operator's own call.
    #[must_use]
    pub const fn snapshot(&self) -> Option<Digest> {
        self.snapshot
    }

    /// Spends the permit.
    #[must_use]
    pub fn into_call(self) -> Call {
        self.call
    }
}

/// A call that waits for a person.
#[derive(Debug)]
pub struct Ask {
    /// The call.
    pub call: Call,
    /// Why a person is asked.
    pub reason: Reason,
    /// Its risk.
    pub risk: Risk,
    /// Whether it may change something.
    pub effect: Effect,
    /// The epoch this was decided under.
    pub epoch: Epoch,
    /// The snapshot it was decided in.
    pub snapshot: Option<Digest>,
}

/// A call that may not run.
#[derive(Debug)]
pub struct Denial {
    /// The call.
    pub call: Call,
    /// Why not.
    pub reason: Reason,
    /// Its risk; high where nothing is known of it.
    pub risk: Risk,
    /// Whether it may change something; mutating where nothing is known of it.
    pub effect: Effect,
    /// The approval by which a person refused it.
    pub approval: Option<ApprovalId>,
    /// The epoch this was decided under.
    pub epoch: Epoch,
    /// The snapshot it was decided in.
    pub snapshot: Option<Digest>,
}
