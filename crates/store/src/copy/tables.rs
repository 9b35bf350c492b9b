//! The tables of a store, in an order in which what is referred to comes first.

/// A table and how it is read.
pub(super) struct Table {
    pub(super) name: &'static str,
    /// The columns of its primary key.
    pub(super) key: &'static [&'static str],
    /// Rows of one step.
    pub(super) step: u32,
}

/// Rows of one step where each is short.
const MANY: u32 = 200;
/// Rows of one step where each may have megabytes.
const FEW: u32 = 4;

const fn table(name: &'static str, key: &'static [&'static str], step: u32) -> Table {
    Table { name, key, step }
}

const SETTINGS: &[&str] = &["organization_id", "name"];

pub(super) const TABLES: [Table; 31] = [
    table("organizations", &["organization_id"], MANY),
    table("workspaces", &["organization_id", "workspace_id"], MANY),
    table("counters", &["organization_id"], MANY),
    table("agents", &["organization_id", "workspace_id", "agent_id"], MANY),
    table("keys", &["organization_id", "workspace_id", "key_id"], MANY),
    table("members", &["organization_id", "member_id"], MANY),
    table("roles", &["organization_id", "member_id", "scope_id"], MANY),
    table(
        "invitations",
        &["organization_id", "workspace_id", "invitation_id"],
        MANY,
    ),
    table("sessions", &["organization_id", "session_id"], MANY),
    table("clients", &["organization_id", "client_id"], MANY),
    table(
        "consents",
        &["organization_id", "workspace_id", "consent_id"],
        MANY,
    ),
    table("tokens", &["organization_id", "workspace_id", "token_id"], MANY),
    table(
        "connections",
        &["organization_id", "workspace_id", "connection_id"],
        MANY,
    ),
    table(
        "accounts",
        &["organization_id", "workspace_id", "connection_id"],
        MANY,
    ),
    table(
        "authorizations",
        &["organization_id", "workspace_id", "authorization_id"],
        MANY,
    ),
    table(
        "catalogues",
        &["organization_id", "workspace_id", "connection_id"],
        FEW,
    ),
    table(
        "pins",
        &["organization_id", "workspace_id", "connection_id", "name"],
        MANY,
    ),
    table("skills", &["organization_id", "workspace_id", "skill_id"], FEW),
    table(
        "grants",
        &["organization_id", "workspace_id", "agent_id", "subject"],
        MANY,
    ),
    table(
        "voice_settings",
        &["organization_id", "workspace_id", "agent_id"],
        MANY,
    ),
    table(
        "phone_calls",
        &["organization_id", "workspace_id", "phone_call_id"],
        MANY,
    ),
    table(
        "phone_turns",
        &["organization_id", "workspace_id", "phone_call_id", "seq"],
        FEW,
    ),
    table("journal", &["organization_id", "seq"], MANY),
    table("open_intents", &["organization_id", "call_id"], MANY),
    table("links", &["organization_id", "workspace_id", "seq"], MANY),
    table("leases", SETTINGS, MANY),
    table(
        "approvals",
        &["organization_id", "workspace_id", "approval_id"],
        MANY,
    ),
    table("snapshots", &["organization_id", "workspace_id", "digest"], FEW),
    table("secrets", &["organization_id", "secret_id"], FEW),
    table(
        "requests",
        &["organization_id", "workspace_id", "principal", "key"],
        FEW,
    ),
    table("settings", SETTINGS, MANY),
];
