//! The proof that a call was decided and stands in the record: the only key to a server.

use domain::{Call, Effect};
use policy::Permit;
use store::{Intent, Recorded};

/// A call that was allowed and recorded. Cannot be copied or stored; dispatching takes it by value.
#[derive(Debug)]
#[must_use = "a cleared call that is not dispatched stands in the record as unknown"]
pub struct Cleared {
    permit: Permit,
}

/// Why a call is not cleared. Nothing may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotCleared {
    /// It may change something, or spends an approval, and its intent was not stored.
    #[error("the call needs a stored intent and has none; store it before the call is sent")]
    IntentMissing,
    /// The record is about another call.
    #[error("the record is about another call than the permit")]
    OtherCall,
}

impl Cleared {
    /// Clears a call whose intent is durable.
    ///
    /// # Errors
    /// The intent is another call's.
    pub fn with_intent(permit: Permit, intent: Intent) -> Result<Self, NotCleared> {
        // The intent is taken and ends here: it is for one act.
        if intent.call() == permit.call().id {
            Ok(Self { permit })
        } else {
            Err(NotCleared::OtherCall)
        }
    }

    /// Clears a call that only reads, whose decision is on its way into the record. The result must not leave before
    /// [`Recorded::written`] says that it is there.
    ///
    /// # Errors
    /// The call needs an intent.
    pub fn recorded(permit: Permit, _record: &Recorded) -> Result<Self, NotCleared> {
        if permit.needs_intent() || permit.approval().is_some() {
            return Err(NotCleared::IntentMissing);
        }
        Ok(Self { permit })
    }

    /// What may run.
    #[must_use]
    pub const fn call(&self) -> &Call {
        self.permit.call()
    }

    /// Whether it may change something.
    #[must_use]
    pub const fn effect(&self) -> Effect {
        self.permit.effect()
    }

    /// Spends the proof, for an act inside this process.
    #[must_use]
    pub fn into_call(self) -> Call {
        self.permit.into_call()
    }
}
