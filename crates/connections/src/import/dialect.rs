//! The dialects by name.

use std::fmt;
use std::str::FromStr;

/// A client's way to write its servers down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    /// Claude Desktop, `claude_desktop_config.json`.
    ClaudeDesktop,
    /// Claude Code, a project's `.mcp.json`.
    ClaudeCode,
    /// Claude Code, `~/.claude.json` with user and local scopes.
    ClaudeCodeUser,
    /// Claude Code, a plugin's `.mcp.json` without a root key.
    ClaudeCodePlugin,
    /// Cursor, `mcp.json`.
    Cursor,
    /// VS Code, `mcp.json` with `servers` and `inputs`.
    VsCode,
    /// VS Code, the older form under `mcp` in `settings.json`.
    VsCodeSettings,
    /// GitHub Copilot CLI, `mcp-config.json`.
    CopilotCli,
    /// Windsurf, `mcp_config.json`.
    Windsurf,
    /// Antigravity, `mcp_config.json`.
    Antigravity,
    /// Zed, `context_servers` in `settings.json`.
    Zed,
    /// Cline, `cline_mcp_settings.json`.
    Cline,
    /// Roo Code and Kilo Code, `mcp_settings.json`.
    Roo,
    /// Continue, `config.yaml` and files in `mcpServers/`.
    Continue,
    /// goose, `extensions` in `config.yaml`.
    Goose,
    /// Codex, `mcp_servers` in `config.toml`.
    Codex,
    /// Gemini CLI, `settings.json`.
    Gemini,
    /// opencode, servers right under `mcp`.
    OpenCodeV1,
    /// opencode, servers under `mcp.servers`.
    OpenCodeV2,
    /// Junie, `mcp.json`.
    Junie,
    /// JSON pasted into the JetBrains AI Assistant.
    JetBrains,
    /// LM Studio, `mcp.json`.
    LmStudio,
    /// Install links, one a line.
    InstallLink,
    /// `mcpServers` or a bare map by an unknown client.
    Generic,
}

/// The name is not a dialect's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown dialect; known are {}", names())]
pub struct UnknownDialect;

impl Dialect {
    /// All dialects.
    pub const ALL: &[Self] = &[
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::ClaudeCodeUser,
        Self::ClaudeCodePlugin,
        Self::Cursor,
        Self::VsCode,
        Self::VsCodeSettings,
        Self::CopilotCli,
        Self::Windsurf,
        Self::Antigravity,
        Self::Zed,
        Self::Cline,
        Self::Roo,
        Self::Continue,
        Self::Goose,
        Self::Codex,
        Self::Gemini,
        Self::OpenCodeV1,
        Self::OpenCodeV2,
        Self::Junie,
        Self::JetBrains,
        Self::LmStudio,
        Self::InstallLink,
        Self::Generic,
    ];

    /// Stable name, as an option of a command would take it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::ClaudeCodeUser => "claude-code-user",
            Self::ClaudeCodePlugin => "claude-code-plugin",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::VsCodeSettings => "vscode-settings",
            Self::CopilotCli => "copilot-cli",
            Self::Windsurf => "windsurf",
            Self::Antigravity => "antigravity",
            Self::Zed => "zed",
            Self::Cline => "cline",
            Self::Roo => "roo",
            Self::Continue => "continue",
            Self::Goose => "goose",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::OpenCodeV1 => "opencode-v1",
            Self::OpenCodeV2 => "opencode-v2",
            Self::Junie => "junie",
            Self::JetBrains => "jetbrains",
            Self::LmStudio => "lm-studio",
            Self::InstallLink => "install-link",
            Self::Generic => "generic",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .copied()
            .find(|dialect| dialect.name() == name)
            .ok_or(UnknownDialect)
    }
}

fn names() -> String {
    Dialect::ALL
        .iter()
        .map(|dialect| dialect.name())
        .collect::<Vec<_>>()
        .join(", ")
}
