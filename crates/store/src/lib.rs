//! SQLite and PostgreSQL behind one interface: the only home of SQL.
//!
//! Everything is asked for by tenant first. Administrative writes take a [`Change`] and leave a fact in the record in their own
//! transaction; what can alter a decision also raises the policy epoch there. Calls are recorded through one writer, which shares
//! commits between them.

mod accounts;
mod activity;
mod agents;
mod approvals;
mod audit;
mod catalogue;
mod change;
mod clients;
mod connections;
mod copy;
mod core;
mod database;
mod epoch;
mod error;
mod grants;
mod idempotency;
mod journal;
mod keys;
mod lease;
mod members;
mod options;
mod others;
mod paging;
mod phone;
mod pins;
mod provided;
mod schema;
mod selection;
mod skills;
mod snapshots;
mod sql;
mod store;
mod tenants;
mod vault;

pub use accounts::{AuthorizationSecrets, HeldTokens, NewTokens, TakenAuthorization};
pub use activity::{ActivityFilter, ActivityItem};
pub use approvals::{Answered, ApprovalFilter, ApprovalMatch};
pub use audit::{AuditEntry, AuditFilter, Bad, Expected, Head, Link, Progress, Verification};
pub use catalogue::Catalogue;
pub use change::Change;
pub use clients::{AccessToken, Exchanged, HeldToken, NewCode, NewToken};
pub use connections::StateReport;
pub use copy::{Copied, CopiedRecord, CopyError, CopyProgress, copy};
pub use error::{IntentError, StoreError, VaultError};
pub use idempotency::{Idempotency, IdempotentRequest};
pub use journal::{Intent, Recorded, WriterCounts};
pub use keys::KeyRecord;
pub use members::{Credential, LiveSession, MemberChange, NewMember, NewSession};
pub use options::{Backend, Durability, JournalLimits, Options, Role};
pub use phone::PhoneCallFilter;
pub use pins::{Definition, PinName, ToolPin};
pub use provided::Provided;
pub use store::Store;
pub use tenants::Bootstrap;
pub use vault::{RootKey, RootKeys, Rotation, SecretOwner, SecretRef, SecretSlot, Vault};
