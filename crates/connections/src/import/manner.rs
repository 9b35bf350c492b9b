//! What differs between the clients that write an object per server: units, transports, notations, names of fields.

use super::dialect::Dialect;
use super::fields::Aliases;
use super::launch::Transport;
use super::syntax::Syntax;

/// One client's manner.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    pub(super) syntax: Syntax,
    pub(super) timeout: TimeoutUnit,
    /// What a stated `http` means to this client.
    pub(super) http: Transport,
    /// Fields that hold the address, the strongest first, and what they mean without a stated transport.
    pub(super) urls: &'static [(&'static str, Untyped)],
    /// An address beside a command: the address wins.
    pub(super) url_wins: bool,
    /// Command and arguments are one list.
    pub(super) command_list: bool,
    pub(super) aliases: Aliases,
}

/// Unit of `timeout`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeoutUnit {
    Milliseconds,
    /// Milliseconds; less than 1000 is ignored by the client.
    MillisecondsFrom1000,
    Seconds,
    /// Not documented: reported, not guessed.
    Unknown,
}

/// What an address means where no transport is stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Untyped {
    Is(Transport),
    /// Streamable HTTP, with a fall back where the address looks like an SSE endpoint.
    BySuffix,
    /// As `Auto`, and said so, because the client is not known.
    Inferred,
    /// The client skips such an entry; Streamable HTTP is offered, and said so.
    Skipped,
}

const HTTP: Untyped = Untyped::Is(Transport::StreamableHttp);
const SSE: Untyped = Untyped::Is(Transport::Sse);
const AUTO: Untyped = Untyped::Is(Transport::Auto);

const PLAIN: Manner = Manner {
    syntax: Syntax::ANY_BRACE,
    timeout: TimeoutUnit::Unknown,
    http: Transport::StreamableHttp,
    urls: &[
        ("httpUrl", HTTP),
        ("serverUrl", Untyped::Inferred),
        ("url", Untyped::Inferred),
    ],
    url_wins: false,
    command_list: false,
    aliases: &[],
};

const CLAUDE_DESKTOP: Manner = Manner {
    syntax: Syntax::NONE,
    urls: &[("url", Untyped::Skipped)],
    ..PLAIN
};

const CLAUDE_CODE: Manner = Manner {
    syntax: Syntax::BRACE,
    timeout: TimeoutUnit::MillisecondsFrom1000,
    urls: &[("url", Untyped::Skipped)],
    ..PLAIN
};

const CURSOR: Manner = Manner {
    syntax: Syntax::PREFIXED,
    urls: &[("url", Untyped::BySuffix)],
    ..PLAIN
};

const VS_CODE: Manner = Manner {
    syntax: Syntax::PREFIXED,
    http: Transport::Auto,
    urls: &[("url", AUTO)],
    ..PLAIN
};

const COPILOT: Manner = Manner {
    syntax: Syntax::BRACE,
    urls: &[("url", HTTP)],
    ..PLAIN
};

const WINDSURF: Manner = Manner {
    syntax: Syntax::PREFIXED,
    urls: &[("serverUrl", AUTO)],
    ..PLAIN
};

const ANTIGRAVITY: Manner = Manner {
    urls: &[("serverUrl", HTTP)],
    ..WINDSURF
};

const ZED: Manner = Manner {
    syntax: Syntax::NONE,
    urls: &[("url", HTTP)],
    ..PLAIN
};

const CLINE: Manner = Manner {
    syntax: Syntax::PREFIXED,
    timeout: TimeoutUnit::Seconds,
    urls: &[("url", SSE)],
    ..PLAIN
};

const ROO: Manner = Manner {
    urls: &[("url", Untyped::Inferred)],
    ..CLINE
};

const CONTINUE: Manner = Manner {
    syntax: Syntax::DOUBLE_BRACE,
    urls: &[("url", Untyped::Inferred)],
    ..PLAIN
};

const GOOSE: Manner = Manner {
    syntax: Syntax::SHELL,
    timeout: TimeoutUnit::Seconds,
    urls: &[("url", HTTP)],
    aliases: &[("command", "cmd"), ("env", "envs"), ("url", "uri")],
    ..PLAIN
};

const CODEX: Manner = Manner {
    syntax: Syntax::NONE,
    urls: &[("url", HTTP)],
    aliases: &[("headers", "http_headers")],
    ..PLAIN
};

const GEMINI: Manner = Manner {
    syntax: Syntax::SHELL,
    timeout: TimeoutUnit::Milliseconds,
    urls: &[("httpUrl", HTTP), ("url", SSE)],
    url_wins: true,
    ..PLAIN
};

const OPENCODE_V1: Manner = Manner {
    syntax: Syntax::CURLY,
    timeout: TimeoutUnit::Milliseconds,
    http: Transport::Auto,
    urls: &[("url", AUTO)],
    command_list: true,
    aliases: &[("env", "environment")],
    ..PLAIN
};

/// The first version falls back to SSE, the second no longer does.
const OPENCODE_V2: Manner = Manner {
    http: Transport::StreamableHttp,
    ..OPENCODE_V1
};

const JETBRAINS: Manner = Manner {
    urls: &[("url", HTTP)],
    ..PLAIN
};

const LM_STUDIO: Manner = Manner {
    syntax: Syntax::PREFIXED,
    timeout: TimeoutUnit::Milliseconds,
    urls: &[("url", AUTO)],
    ..PLAIN
};

/// The manner of a dialect.
pub(super) fn of(dialect: Dialect) -> Manner {
    match dialect {
        Dialect::ClaudeDesktop => CLAUDE_DESKTOP,
        Dialect::ClaudeCode | Dialect::ClaudeCodeUser | Dialect::ClaudeCodePlugin => CLAUDE_CODE,
        Dialect::Cursor => CURSOR,
        Dialect::VsCode | Dialect::VsCodeSettings => VS_CODE,
        Dialect::CopilotCli => COPILOT,
        Dialect::Windsurf => WINDSURF,
        Dialect::Antigravity => ANTIGRAVITY,
        Dialect::Zed => ZED,
        Dialect::Cline => CLINE,
        Dialect::Roo => ROO,
        Dialect::Continue => CONTINUE,
        Dialect::Goose => GOOSE,
        Dialect::Codex => CODEX,
        Dialect::Gemini => GEMINI,
        Dialect::OpenCodeV1 => OPENCODE_V1,
        Dialect::OpenCodeV2 => OPENCODE_V2,
        Dialect::Junie | Dialect::JetBrains => JETBRAINS,
        Dialect::LmStudio => LM_STUDIO,
        Dialect::InstallLink | Dialect::Generic => PLAIN,
    }
}
