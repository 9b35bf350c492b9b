//! Connections: the MCP servers of a workspace.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::context::{ConnectionContext, ServerCapabilities, SkillStatus};
use crate::words::{Light, Preparation, Proof, Sharing, Transport};

/// How we prove ourselves to a server, when setting it. Secrets are write-only.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum AuthInput {
    /// Not at all.
    None,
    /// `Authorization: Bearer <token>`.
    Bearer {
        /// The token.
        #[schemars(extend("writeOnly" = true))]
        token: String,
    },
    /// A header of the server's choosing.
    Header {
        /// Its name.
        header_name: String,
        /// What stands before the token.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value_prefix: Option<String>,
        /// The token.
        #[schemars(extend("writeOnly" = true))]
        token: String,
    },
    /// An account a person signs in to: OAuth with an authorization code and PKCE. Begin with `start_mcp_authorization`.
    Oauth(OauthInput),
    /// The client's own account, with a client secret.
    ClientCredentials(ClientCredentialsInput),
    /// The client's own account, with a signature (RFC 7523).
    PrivateKeyJwt(PrivateKeyJwtInput),
}

/// How an account is signed in to. All of it can be left out where the server says it and registers clients.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OauthInput {
    /// Which authorization server, where the server offers several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// What the token is to be good for; what the server asks for when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub scopes: Option<Vec<String>>,
    /// The ID of a client registered by hand. To replace a client give the ID and the secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Its secret, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("writeOnly" = true))]
    pub client_secret: Option<String>,
    /// How it authenticates: `none`, `client_secret_basic` or `client_secret_post`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_endpoint_auth_method: Option<String>,
    /// `standard`, or `offline_consent`: asks for consent every time, where a refresh token is only given then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Takes tokens although the authorization server does not say how long they live; false when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreported_lifetime: Option<bool>,
}

/// A client's own account, with a client secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientCredentialsInput {
    /// The client's ID.
    pub client_id: String,
    /// Its secret.
    #[schemars(extend("writeOnly" = true))]
    pub client_secret: String,
    /// `client_secret_basic` or `client_secret_post`; as the authorization server takes it when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_endpoint_auth_method: Option<String>,
    /// Which authorization server, where the server offers several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// What the token is to be good for; what the server asks for when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub scopes: Option<Vec<String>>,
}

/// A client's own account, with a signature.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrivateKeyJwtInput {
    /// The client's ID.
    pub client_id: String,
    /// Its private key, PEM.
    #[schemars(extend("writeOnly" = true))]
    pub private_key: String,
    /// `ES256`, `ES384`, `RS256`, `PS256` or `EdDSA`.
    pub algorithm: String,
    /// The name the authorization server knows the key by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    /// Which authorization server, where the server offers several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// What the token is to be good for; what the server asks for when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub scopes: Option<Vec<String>>,
}

macro_rules! without_secrets {
    ($($name:ident),*) => {$(
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(concat!(stringify!($name), "([secret])"))
            }
        }
    )*};
}

without_secrets!(OauthInput, ClientCredentialsInput, PrivateKeyJwtInput);

impl std::fmt::Debug for AuthInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Bearer { .. } => "Bearer([secret])",
            Self::Header { .. } => "Header([secret])",
            Self::Oauth(_) => "Oauth([secret])",
            Self::ClientCredentials(_) => "ClientCredentials([secret])",
            Self::PrivateKeyJwt(_) => "PrivateKeyJwt([secret])",
        })
    }
}

/// How we prove ourselves to a server, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Auth {
    /// `none`, `bearer`, `header`, `oauth`, `client_credentials` or `private_key_jwt`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether a secret is stored; for `oauth`, whether an account was connected, which does not say that it is still good.
    pub configured: bool,
    /// For a header: its name.
    pub header_name: Option<String>,
    /// For a header: what stands before the token.
    pub value_prefix: Option<String>,
    /// For an account with tokens: how it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<Account>,
}

/// How an account with tokens stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Account {
    /// `setup_pending`, `client_configuration_required`, `not_connected`, `connected`, `expired`, `reauthorization_required` or
    /// `error`.
    pub status: String,
    /// When the access token lapses.
    pub expires_at: Option<DateTime<Utc>>,
    /// Whether it is renewed without a person.
    pub refresh_supported: bool,
    /// The scopes that were asked for.
    pub requested_scopes: Vec<String>,
    /// The scopes that were given.
    pub granted_scopes: Vec<String>,
    /// Why it does not work: a code of a closed list.
    pub error_code: Option<String>,
    /// The same in a sentence.
    pub error_detail: Option<String>,
    /// The authorization server: the one in use, else the one that was chosen.
    pub issuer: Option<String>,
    /// The client in use, else the one that was given.
    pub client_id: Option<String>,
    /// Where authorization servers send people back to: to be registered there to the letter.
    pub callback_uri: String,
}

/// Begins a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartAuthorization {
    /// The connection's namespace or id.
    pub connection: String,
    /// The version last read.
    pub expected_version: u32,
}

/// Names a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuthorizationQuery {
    /// The connection's namespace or id.
    pub connection: String,
    /// The sign-in's id.
    pub authorization: Uuid,
}

/// Names a sign-in that a person goes through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenAuthorization {
    /// The sign-in's id.
    pub authorization: Uuid,
    /// What the browser has kept from another sign-in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<String>,
}

/// Where a person's browser goes, and what it keeps.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenedAuthorization {
    /// The authorization server.
    pub url: String,
    /// Comes back with the browser.
    pub browser: String,
}

without_secrets!(OpenedAuthorization);

/// A sign-in that was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Authorization {
    /// Its id.
    pub id: Uuid,
    /// The connection's id.
    pub connection_id: Uuid,
    /// `pending`, `completed`, `denied`, `failed`, `cancelled` or `expired`.
    pub status: String,
    /// When its time is over.
    pub expires_at: DateTime<Utc>,
    /// The page on which a person goes through it; null once it is over.
    pub connect_url: Option<String>,
    /// The scopes that are asked for.
    pub requested_scopes: Vec<String>,
    /// The authorization server.
    pub issuer: String,
    /// Why it did not succeed: a code of a closed list.
    pub error_code: Option<String>,
    /// The same in a sentence.
    pub error_detail: Option<String>,
    /// The connection's version, once it is completed.
    pub version: Option<u32>,
}

/// Signs an account out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disconnect {
    /// The connection's namespace or id.
    pub connection: String,
    /// The version last read.
    pub expected_version: u32,
}

/// One configured MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Connection {
    /// Its id.
    pub id: Uuid,
    /// What people call it.
    pub label: String,
    /// The prefix of its tools' names.
    pub namespace: String,
    /// The agent it belongs to; null for a connection of the workspace.
    pub agent_id: Option<Uuid>,
    /// How it is reached.
    pub transport: Transport,
    /// Its URL; null for a command of the operator's configuration.
    pub url: Option<String>,
    /// The name of the command in the operator's configuration; null for a URL.
    pub command: Option<String>,
    /// How we prove ourselves.
    pub auth: Auth,
    /// Names of further headers sent with every request; their values are write-only.
    pub headers: Vec<String>,
    /// How live upstream sessions are shared.
    pub sharing: Sharing,
    /// Which tools it offers; null = all.
    pub allowed_tools: Option<Vec<String>>,
    /// Which prompts, resources and skills it offers.
    pub context: ConnectionContext,
    /// Off: nothing of it can be used.
    pub enabled: bool,
    /// A person's statement that it may reach agents.
    pub trusted: bool,
    /// Longest wait for the answer of a call, in milliseconds; null = the server's default.
    pub call_timeout_ms: Option<u32>,
    /// The preset it was made from; null for a server of nobody's catalogue.
    pub preset: Option<ConnectionPreset>,
    /// What verifying it found; null while nobody did, and after its account changed.
    pub verified: Option<Verified>,
    /// Where discovery stands.
    pub preparation_status: Preparation,
    /// What the last check said: a code of a closed list.
    pub health_code: String,
    /// The same in a sentence.
    pub health_detail: Option<String>,
    /// The same at a glance.
    pub light: Light,
    /// When it was last checked.
    pub checked_at: Option<DateTime<Utc>>,
    /// The protocol version it speaks, once negotiated.
    pub protocol: Option<String>,
    /// What its server was last seen to have.
    pub capabilities: ServerCapabilities,
    /// The number of the stored catalogue; 0 = none.
    pub catalog_version: u32,
    /// When that catalogue was fetched.
    pub catalog_fetched_at: Option<DateTime<Utc>>,
    /// Pass it as `expected_version` when updating.
    pub version: u32,
    /// When it was made.
    pub created_at: DateTime<Utc>,
}

/// Which preset a connection was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionPreset {
    /// The preset's id.
    pub id: String,
    /// Its variant.
    pub variant: String,
    /// Whether Switchboard itself gave it to the workspace and nobody switched it off since.
    pub provided: bool,
}

/// What verifying a connection found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verified {
    /// `proven`, `unproven` or `rejected`.
    pub proof: Proof,
    /// When.
    pub at: DateTime<Utc>,
}

/// What came of verifying a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// `proven`: the server did what was asked. `rejected`: it refused the credential. `unproven`: neither, and `detail` says why.
    pub proof: Proof,
    /// The same in a sentence.
    pub detail: String,
    /// The tool that was called; null where none is known.
    pub tool: Option<String>,
    /// The call, as it stands in the record; null where none was made.
    pub call_id: Option<Uuid>,
    /// The connection as it now stands.
    pub connection: Connection,
}

/// A header sent with every request.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeaderInput {
    /// Its name.
    pub name: String,
    /// Its value.
    #[schemars(extend("writeOnly" = true))]
    pub value: String,
}

impl std::fmt::Debug for HeaderInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: [secret]", self.name)
    }
}

/// Adds a remote server. Commands come from the operator's configuration only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddConnection {
    /// The agent it is to belong to, by handle or id: what it offers is then granted to that agent and to nobody else, without asking.
    /// A connection of the workspace when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What people call it; unique in the workspace, or among those of its agent. The preset's name when left out; needed without a preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub label: Option<String>,
    /// Its URL: public HTTPS, or exactly one the operator registered. Needed without a preset, and for a deployment of your own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub url: Option<String>,
    /// The preset it is made from, as `connections.presets` lists them: where the server is, how one proves oneself, which tools are
    /// offered at the start and how they are classified. With one, `auth` gives the secret alone: a `bearer` token goes where the preset
    /// says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub preset: Option<String>,
    /// Which variant of the preset; the first that is offered when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub variant: Option<String>,
    /// How it is reached; what the preset says, else `auto`, when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// The prefix of its tools' names; made from the label when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 20), regex(pattern = r"^[a-z0-9][a-z0-9-]*$"))]
    pub namespace: Option<String>,
    /// How we prove ourselves; not at all when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<AuthInput>,
    /// Further headers sent with every request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<HeaderInput>,
    /// How live upstream sessions are shared; `shared` when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
    /// Which tools it offers; when left out all, or with a preset those it starts with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub allowed_tools: Option<Vec<String>>,
    /// Which prompts, resources and skills it offers; all when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<ConnectionContext>,
    /// Whether it may be used; true when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// A person's statement that it may reach agents; false when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
    /// Longest wait for the answer of a call, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100, max = 3_600_000))]
    pub call_timeout_ms: Option<u32>,
}

/// Which connections are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListConnections {
    /// Only those that belong to this agent, by handle or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Where the last page ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// At most this many items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    pub limit: Option<u16>,
}

/// Names a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectionQuery {
    /// The connection's namespace or id.
    pub connection: String,
}

/// Changes a connection. Changing url, transport or the kind of account clears `trusted`, unless it is given again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateConnection {
    /// The connection's namespace or id.
    pub connection: String,
    /// The version last read.
    pub expected_version: u32,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub label: Option<String>,
    /// Another variant of the preset it was made from. Where that one proves itself another way, `auth` gives the secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub variant: Option<String>,
    /// Its URL. Changing it on a connection with an account needs `auth` again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub url: Option<String>,
    /// How it is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// How we prove ourselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<AuthInput>,
    /// Further headers sent with every request, replacing all there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<Vec<HeaderInput>>,
    /// How live upstream sessions are shared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
    /// Which tools it offers; null = all.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    #[schemars(with = "Option<Vec<String>>", length(min = 1))]
    pub allowed_tools: Option<Option<Vec<String>>>,
    /// Which prompts, resources and skills it offers, replacing what was said before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<ConnectionContext>,
    /// Whether it may be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// A person's statement that it may reach agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
    /// Longest wait for the answer of a call, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100, max = 3_600_000))]
    pub call_timeout_ms: Option<u32>,
}

/// Tells "null" from "not given".
fn given<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Option<Vec<String>>>, D::Error> {
    Option::<Vec<String>>::deserialize(deserializer).map(Some)
}

/// What a test or refresh saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionReport {
    /// Whether the connection can be used.
    pub ok: bool,
    /// Why not, where it cannot.
    pub failure: Option<String>,
    /// The connection as it now stands.
    pub connection: Connection,
    /// What the server calls itself, with its version.
    pub server: Option<String>,
    /// How many tools, prompts, resources, resource templates and skills were listed.
    pub counts: CatalogueCounts,
    /// What changed since the last catalogue.
    pub changes: CatalogueChanges,
    /// What could not be taken and why: malformed tools, truncation, requests outside the standard.
    pub problems: Vec<String>,
    /// What the server wrote outside the protocol lately. Untrusted text.
    pub lines: Vec<String>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// How many things a server lists.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CatalogueCounts {
    /// Tools.
    pub tools: u32,
    /// Prompts.
    pub prompts: u32,
    /// Resources.
    pub resources: u32,
    /// Resource templates.
    pub resource_templates: u32,
    /// Skills.
    pub skills: u32,
}

/// What changed between two catalogues: how many tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CatalogueChanges {
    /// New: unclassified, on no grant.
    pub added: u32,
    /// Of another definition than the accepted one: quarantined. `connections changes` shows the differences.
    pub changed: u32,
    /// No longer listed.
    pub gone: u32,
    /// With a schema that cannot be compiled.
    pub unusable: u32,
}

/// What is going on at a connection right now, in the process that answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionStatus {
    /// Open sessions with the server.
    pub sessions: u32,
    /// Of these, child processes.
    pub processes: u32,
    /// Calls under way.
    pub in_flight: u32,
    /// How often a session that had ended was opened again since Switchboard started.
    pub restarts: u32,
    /// Messages the server sent outside of any call that had nobody to go to.
    pub unheard: u64,
    /// What it wrote lately outside the protocol, oldest first, at most 200 lines. Its own words: not to be trusted.
    pub lines: Vec<ServerLine>,
}

/// A line a server wrote outside the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerLine {
    /// Where it came from.
    pub source: ServerLineSource,
    /// The text, at most 4 KiB, without the connection's secrets.
    pub text: String,
}

/// Where a line of a server came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerLineSource {
    /// Standard error.
    Stderr,
    /// Standard output, where it was no protocol message.
    Stdout,
    /// A note of Switchboard's on something the protocol does not allow.
    Note,
}

/// What of a catalogue to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CatalogueKind {
    /// Tools.
    Tools,
    /// Prompts.
    Prompts,
    /// Resources.
    Resources,
    /// Resource templates.
    ResourceTemplates,
    /// Skills.
    Skills,
    /// Tools, then prompts, resources and skills. Only to ask for: no item is of this kind.
    All,
}

/// Which part of a connection's catalogue is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CatalogueQuery {
    /// The connection's namespace or id.
    pub connection: String,
    /// What to show; tools when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<CatalogueKind>,
    /// Only the skill whose `SKILL.md` has this URI. One that its server does not list is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub skill_uri: Option<String>,
    /// Where the last page ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// At most this many items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    pub limit: Option<u16>,
}

/// An item of a catalogue, exactly as the server lists it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CatalogueItem {
    /// What it is.
    pub kind: CatalogueKind,
    /// The definition.
    pub definition: Value,
    /// For a skill: what to approve it by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest_digest: Option<String>,
    /// For a skill: how it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SkillStatus>,
    /// For a skill that is not loaded: why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Asks what changed in quarantined definitions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangesQuery {
    /// The connection's namespace or id.
    pub connection: String,
    /// Where the last page ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// At most this many items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    pub limit: Option<u16>,
}

/// A definition that changed after it was pinned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DefinitionChange {
    /// The tool's own name.
    pub tool: String,
    /// The digest that is pinned.
    pub pinned_digest: String,
    /// The digest of what the server says now: pass it to accept exactly that.
    pub offered_digest: String,
    /// What differs.
    pub differences: Vec<Difference>,
}

/// One place where two definitions differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Where, as a JSON pointer.
    pub path: String,
    /// What is pinned there, as JSON text with invisible characters escaped; null where nothing is.
    pub pinned: Option<String>,
    /// What the server says there now; null where nothing is.
    pub offered: Option<String>,
}

/// Accepts a changed definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptDefinition {
    /// The connection's namespace or id.
    pub connection: String,
    /// The tool's own name.
    pub tool: String,
    /// The digest that was looked at; another one by now is refused.
    pub digest: String,
}
