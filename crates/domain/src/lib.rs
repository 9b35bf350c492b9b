//! The words of Switchboard as types: who acts, on what, under which policy, and what came of it.
//!
//! This crate does no I/O (but for reading the one clock), knows no wire format and no async. Shapes that leave the process live
//! in `api`, in `store`, or in a protocol crate.

mod account;
mod approval;
mod call;
mod client;
mod clock;
mod connection;
mod context;
mod digest;
mod entry;
mod exchange;
mod grant;
mod id;
mod member;
mod name;
mod page;
mod phone;
mod principal;
mod reason;
mod risk;
mod secret;
mod skill;
mod snapshot;
mod strict;
mod tenant;
mod tool;

pub use account::{
    Account, AccountKind, AccountState, AccountStatus, Authorization, AuthorizationStatus, ClientMethod,
    OauthSettings, Party, SignInProfile,
};
pub use approval::{Answer, Approval, ApprovalState};
pub use call::{Arguments, Call, CallStatus, Channel, Outcome, OutcomeCode, Status, Surface};
pub use client::{Client, Consent, TokenKind};
pub use clock::{Clock, Timestamp};
pub use connection::{
    Connection, ConnectionOwner, ConnectionState, Endpoint, Health, Light, PresetRef, Proof, Sharing,
    Transport, Verified,
};
pub use context::{ContextSelection, SelectedPrompt, SelectedSkill, Selection};
pub use digest::{Digest, ParseDigestError, canonical_json};
pub use entry::{Actor, ChangeKind, Entry, Fact};
pub use exchange::{CallEvents, ClientContext, NoEvents, PeerError, PeerResponder};
pub use grant::{Grant, GrantSubject, Permission};
pub use id::{
    AgentId, ApprovalId, AuthorizationId, CallId, ClientId, ConnectionId, ConsentId, InvitationId, KeyId,
    MemberId, OrganizationId, ParseIdError, PhoneCallId, RunId, SecretId, SessionId, SkillId, TokenId,
    WorkspaceId,
};
pub use member::{BrowserSession, Invitation, Member, Role, Scope};
pub use name::{Handle, Label, NameError, Namespace};
pub use page::{Page, PageRequest};
pub use phone::{
    AuthorityMode, Direction, Party as PhoneParty, PhoneCall, PhoneStatus, PhoneTurn, VoiceSettings,
};
pub use principal::{Identity, KeyKind, Principal};
pub use reason::{Reason, ReasonCode};
pub use risk::{Effect, Risk};
pub use secret::Secret;
pub use skill::{Skill, SkillNeed};
pub use snapshot::{Absent, ContextAccess, Epoch, Snapshot, SnapshotParts, SnapshotTool, Verdict};
pub use strict::parse_unique;
pub use tenant::{Agent, Tenant};
pub use tool::{Classification, DefinitionState, Hints, Target, ToolRef};
