//! Closed sets of words shared by several areas.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! set {
    ($($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$vdoc])* $variant),* }
    )*};
}

set! {
    /// How risky a tool is.
    Risk {
        /// Runs without a person.
        Low,
        /// A tool policy may send it to a person.
        Medium,
        /// Asks a person, unless the grant says unattended.
        High,
    }

    /// Whether a tool may change something.
    Effect {
        /// It only reads.
        ReadOnly,
        /// It may change something.
        Mutating,
    }

    /// What a person may do. Each but `billing` may do what the ones after it may.
    Role {
        /// Everything, and makes and unmakes other Owners.
        Owner,
        /// Administers.
        Admin,
        /// Looks, uses tools, and lets MCP clients act as agents.
        Member,
        /// Looks.
        Viewer,
        /// Sees what it costs, and nothing else.
        Billing,
    }

    /// Whether a skill can be used, the best first.
    Readiness {
        /// It can.
        Ready,
        /// A server it needs must be signed in to, tested or looked at first.
        NeedsAttention,
        /// A server it needs is not there or not open for it.
        Blocked,
    }

    /// Why a server is not ready for a skill.
    SkillReason {
        /// No connection of the workspace was made from this preset and variant.
        Missing,
        /// The connection is switched off.
        Disabled,
        /// Nobody said that its server is trusted.
        Untrusted,
        /// Its server could not be used when it was last checked.
        Failed,
        /// Its server was never asked what it offers.
        Undiscovered,
        /// Its server does not list the tool.
        NotListed,
        /// The connection does not offer the tool.
        NotAllowed,
        /// Its credential is missing or was refused.
        NeedsAuth,
        /// Nothing has proved yet that it works.
        Untested,
        /// The tool's definition changed, or cannot be used as it is.
        ToolChanged,
    }

    /// What became of a skill that was to be installed.
    SkillOutcome {
        /// It was installed.
        Installed,
        /// It would be installed.
        WouldInstall,
        /// The slug is used, by an edited or archived one too; that one stays as it is.
        Exists,
        /// A server it needs is not there or not open for it; nothing was written.
        Blocked,
    }

    /// Where a role holds.
    RoleScope {
        /// In every workspace of the organization.
        Organization,
        /// In this workspace.
        Workspace,
    }

    /// What a grant says.
    Permission {
        /// May not be used.
        Deny,
        /// Every call asks a person.
        Ask,
        /// May be used; a high-risk tool asks.
        Allow,
        /// May be used, and nobody is asked.
        Unattended,
    }

    /// How a server is reached.
    Transport {
        /// A child process; operator configuration only.
        Stdio,
        /// Streamable HTTP.
        StreamableHttp,
        /// The legacy HTTP+SSE transport.
        Sse,
        /// Streamable HTTP, then HTTP+SSE.
        Auto,
    }

    /// How live upstream sessions are shared.
    Sharing {
        /// One for all.
        Shared,
        /// One per client session.
        PerSession,
        /// A fresh one for every call.
        PerCall,
    }

    /// What a harmless call showed of a credential.
    Proof {
        /// The server did what was asked.
        Proven,
        /// It says nothing about the credential.
        Unproven,
        /// The server refused the credential.
        Rejected,
    }

    /// What people see at a glance.
    Light {
        /// Answered the last check.
        Green,
        /// Degraded or unchecked.
        Yellow,
        /// Cannot be used.
        Red,
    }

    /// Where discovery stands.
    Preparation {
        /// Not discovered yet.
        Pending,
        /// Discovered.
        Ready,
        /// Discovery failed; the health code says why.
        Error,
    }

    /// Where a tool's definition stands.
    DefinitionState {
        /// What the server says is what was accepted.
        Pinned,
        /// The server changed it and nobody accepted the change.
        Quarantined,
        /// The server no longer lists it.
        Gone,
        /// Its schema cannot be compiled.
        Unusable,
    }

    /// How a call stands.
    Status {
        /// The tool answered.
        Succeeded,
        /// The tool, its server or the way there failed.
        Failed,
        /// Policy or a person said no.
        Denied,
        /// Nobody answered in time.
        Expired,
        /// It was sent and nobody knows what came of it.
        Unknown,
        /// A person is asked.
        Waiting,
        /// It asked a person, who said yes; the repeat that used the answer is a call of its own.
        Approved,
        /// It has not ended yet.
        Started,
    }

    /// Where a question to a person stands.
    ApprovalState {
        /// Nobody answered yet.
        Pending,
        /// Approved and not yet used.
        Approved,
        /// Refused.
        Denied,
        /// Approved and used.
        Spent,
        /// Nobody answered, or nobody used it, in time.
        Expired,
    }

    /// What a person says to a question.
    Answer {
        /// Yes, to exactly this call.
        Approved,
        /// No.
        Denied,
    }

    /// What a key may be.
    KeyKind {
        /// Administers the workspace.
        Admin,
        /// Acts as one agent.
        Agent,
    }

    /// What composing or deciding came to.
    Decision {
        /// May run.
        Allow,
        /// A person is asked first.
        Ask,
        /// May not run.
        Deny,
    }
}
