//! The protocol revisions this client speaks, and the era each belongs to.

use std::fmt;
use std::str::FromStr;

/// A published revision of the Model Context Protocol. Ordered from oldest to newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProtocolVersion {
    /// `2024-11-05`: stdio and HTTP with SSE.
    V2024_11_05,
    /// `2025-03-26`: Streamable HTTP, batches.
    V2025_03_26,
    /// `2025-06-18`: the version header, structured output, elicitation.
    V2025_06_18,
    /// `2025-11-25`: URL elicitation, resumable polling of streams.
    V2025_11_25,
    /// `2026-07-28`: stateless, `server/discover`, `input_required`.
    V2026_07_28,
}

/// How a revision establishes who is speaking (2026-07-28, basic/versioning).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// A session begun with `initialize`; servers may send requests.
    Legacy,
    /// Every request carries version, identity and capabilities; servers only answer.
    Modern,
}

/// The text is not a revision this client knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("protocol version `{0}` is unknown; this client speaks 2024-11-05 to 2026-07-28")]
pub struct UnknownVersion(pub String);

impl ProtocolVersion {
    /// Every known revision, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];
    /// The newest revision, offered to modern servers.
    pub const NEWEST: Self = Self::V2026_07_28;
    /// The newest revision that begins with `initialize`.
    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;

    /// The date that names the revision on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The era of the revision.
    pub const fn era(self) -> Era {
        match self {
            Self::V2024_11_05 | Self::V2025_03_26 | Self::V2025_06_18 | Self::V2025_11_25 => Era::Legacy,
            Self::V2026_07_28 => Era::Modern,
        }
    }

    /// Whether HTTP requests of this revision carry `MCP-Protocol-Version` (since 2025-06-18).
    pub const fn has_version_header(self) -> bool {
        match self {
            Self::V2024_11_05 | Self::V2025_03_26 => false,
            Self::V2025_06_18 | Self::V2025_11_25 | Self::V2026_07_28 => true,
        }
    }

    /// The newest revision of an era among names a server offered; unknown names are skipped.
    pub fn best<S: AsRef<str>>(offered: &[S], era: Era) -> Option<Self> {
        offered
            .iter()
            .filter_map(|name| name.as_ref().parse::<Self>().ok())
            .filter(|v| v.era() == era)
            .max()
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ProtocolVersion {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|v| v.as_str() == text)
            .ok_or_else(|| UnknownVersion(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Era, ProtocolVersion};

    #[test]
    fn names_round_trip_and_are_ordered() {
        for version in ProtocolVersion::ALL {
            assert_eq!(version.as_str().parse(), Ok(version));
        }
        assert!(ProtocolVersion::ALL.is_sorted());
        assert!("2026-07-29".parse::<ProtocolVersion>().is_err());
    }

    #[test]
    fn best_common_version() {
        let check = |offered: &[&str], era, want: Option<&str>| {
            assert_eq!(
                ProtocolVersion::best(offered, era).map(ProtocolVersion::as_str),
                want,
                "{offered:?}"
            );
        };
        check(&["2026-07-28", "2025-11-25"], Era::Modern, Some("2026-07-28"));
        check(
            &["2026-07-28", "2025-11-25", "2024-11-05"],
            Era::Legacy,
            Some("2025-11-25"),
        );
        check(&["2099-01-01"], Era::Modern, None);
        check(&[], Era::Legacy, None);
    }
}
