//! Domain values in the API's words.

use api::words;
use chrono::{DateTime, Utc};
use domain::Timestamp;

/// A time as the API writes it.
pub(crate) fn time(at: Timestamp) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(at.micros()).unwrap_or(DateTime::UNIX_EPOCH)
}

macro_rules! same {
    ($($name:ident: $domain:ty => $api:ty { $($variant:ident),* })*) => {$(
        pub(crate) const fn $name(value: $domain) -> $api {
            match value { $(<$domain>::$variant => <$api>::$variant),* }
        }
    )*};
}

same! {
    risk: domain::Risk => words::Risk { Low, Medium, High }
    effect: domain::Effect => words::Effect { ReadOnly, Mutating }
    permission: domain::Permission => words::Permission { Deny, Ask, Allow, Unattended }
    transport: domain::Transport => words::Transport { Stdio, StreamableHttp, Sse, Auto }
    sharing: domain::Sharing => words::Sharing { Shared, PerSession, PerCall }
    light: domain::Light => words::Light { Green, Yellow, Red }
    preparation: domain::ConnectionState => words::Preparation { Pending, Ready, Error }
    proof: domain::Proof => words::Proof { Proven, Unproven, Rejected }
    definition: domain::DefinitionState => words::DefinitionState { Pinned, Quarantined, Gone, Unusable }
    approval_state: domain::ApprovalState => words::ApprovalState { Pending, Approved, Denied, Spent, Expired }
    status: domain::Status => words::Status { Succeeded, Failed, Denied, Expired, Unknown, Waiting }

    call_status: domain::CallStatus => words::Status {
        Started, Waiting, Approved, Succeeded, Failed, Denied, Expired, Unknown
    }

    to_call_status: words::Status => domain::CallStatus {
        Started, Waiting, Approved, Succeeded, Failed, Denied, Expired, Unknown
    }
    role: domain::Role => words::Role { Owner, Admin, Member, Viewer, Billing }
    to_role: words::Role => domain::Role { Owner, Admin, Member, Viewer, Billing }
    scope: domain::Scope => words::RoleScope { Organization, Workspace }
    to_scope: words::RoleScope => domain::Scope { Organization, Workspace }
    to_risk: words::Risk => domain::Risk { Low, Medium, High }
    to_effect: words::Effect => domain::Effect { ReadOnly, Mutating }
    to_permission: words::Permission => domain::Permission { Deny, Ask, Allow, Unattended }
    to_transport: words::Transport => domain::Transport { Stdio, StreamableHttp, Sse, Auto }
    to_sharing: words::Sharing => domain::Sharing { Shared, PerSession, PerCall }
    to_approval_state: words::ApprovalState => domain::ApprovalState { Pending, Approved, Denied, Spent, Expired }
    to_answer: words::Answer => domain::Answer { Approved, Denied }
}

/// `allow`, `ask` or `deny`.
pub(crate) fn decision(word: &str) -> words::Decision {
    match word {
        "allow" => words::Decision::Allow,
        "ask" => words::Decision::Ask,
        _ => words::Decision::Deny,
    }
}
