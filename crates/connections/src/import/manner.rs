//! What differs between the clients that write an object per server: units, transports, notations, names of fields.

use super::dialect::Dialect;
use super::fields::Aliases;
use super::model::Transport;
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
    urls: &[("httpUrl", HTTP), ("serverUrl", Untyped::Inferred), ("url", Untyped::Inferred)],
    url_wins: false,
    command_list: false,
    aliases: &[],
};

/// The manner of a dialect.
pub(super) fn of(dialect: Dialect) -> Manner {
    match dialect {
        Dialect::ClaudeDesktop => Manner { syntax: Syntax::NONE, urls: &[("url", Untyped::Skipped)], ..PLAIN },
        Dialect::ClaudeCode | Dialect::ClaudeCodeUser | Dialect::ClaudeCodePlugin => Manner {
            syntax: Syntax::BRACE,
            timeout: TimeoutUnit::MillisecondsFrom1000,
            urls: &[("url", Untyped::Skipped)],
            ..PLAIN
        },
        Dialect::Cursor => Manner { syntax: Syntax::PREFIXED, urls: &[("url", Untyped::BySuffix)], ..PLAIN },
        Dialect::VsCode | Dialect::VsCodeSettings => {
            Manner { syntax: Syntax::PREFIXED, http: Transport::Auto, urls: &[("url", AUTO)], ..PLAIN }
        }
        Dialect::CopilotCli => Manner { syntax: Syntax::BRACE, urls: &[("url", HTTP)], ..PLAIN },
        Dialect::Windsurf => Manner { syntax: Syntax::PREFIXED, urls: &[("serverUrl", AUTO)], ..PLAIN },
        Dialect::Antigravity => Manner { syntax: Syntax::PREFIXED, urls: &[("serverUrl", HTTP)], ..PLAIN },
        Dialect::Zed => Manner { syntax: Syntax::NONE, urls: &[("url", HTTP)], ..PLAIN },
        Dialect::Cline => Manner {
            syntax: Syntax::PREFIXED,
            timeout: TimeoutUnit::Seconds,
            urls: &[("url", SSE)],
            ..PLAIN
        },
        Dialect::Roo => Manner {
            syntax: Syntax::PREFIXED,
            timeout: TimeoutUnit::Seconds,
            urls: &[("url", Untyped::Inferred)],
            ..PLAIN
        },
        Dialect::Continue => Manner {
            syntax: Syntax::DOUBLE_BRACE,
            urls: &[("url", Untyped::Inferred)],
            ..PLAIN
        },
        Dialect::Goose => Manner {
            syntax: Syntax::SHELL,
            timeout: TimeoutUnit::Seconds,
            urls: &[("url", HTTP)],
            aliases: &[("command", "cmd"), ("env", "envs"), ("url", "uri")],
            ..PLAIN
        },
        Dialect::Codex => Manner {
            syntax: Syntax::NONE,
            urls: &[("url", HTTP)],
            aliases: &[("headers", "http_headers")],
            ..PLAIN
        },
        Dialect::Gemini => Manner {
            syntax: Syntax::SHELL,
            timeout: TimeoutUnit::Milliseconds,
            urls: &[("httpUrl", HTTP), ("url", SSE)],
            url_wins: true,
            ..PLAIN
        },
        Dialect::OpenCodeV1 | Dialect::OpenCodeV2 => {
            // The first version falls back to SSE, the second no longer does.
            let http = if dialect == Dialect::OpenCodeV1 { Transport::Auto } else { Transport::StreamableHttp };
            Manner {
                syntax: Syntax::CURLY,
                timeout: TimeoutUnit::Milliseconds,
                http,
                urls: &[("url", AUTO)],
                command_list: true,
                aliases: &[("env", "environment")],
                ..PLAIN
            }
        }
        Dialect::Junie | Dialect::JetBrains => Manner { urls: &[("url", HTTP)], ..PLAIN },
        Dialect::LmStudio => Manner {
            syntax: Syntax::PREFIXED,
            timeout: TimeoutUnit::Milliseconds,
            urls: &[("url", AUTO)],
            ..PLAIN
        },
        Dialect::InstallLink => Manner { urls: &[("url", AUTO)], ..PLAIN },
        Dialect::Generic => PLAIN,
    }
}
