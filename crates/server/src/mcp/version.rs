//! The revisions of the protocol this endpoint speaks.

use http::HeaderMap;

/// The header.
pub(super) const HEADER: &str = "mcp-protocol-version";
/// The stateless revision.
pub(super) const MODERN: &str = "2026-07-28";

/// A revision that begins with `initialize`. Ordered from oldest to newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Legacy {
    /// `2024-11-05`.
    V2024_11_05,
    /// `2025-03-26`: the only one with batches.
    V2025_03_26,
    /// `2025-06-18`: the version header.
    V2025_06_18,
    /// `2025-11-25`: URL elicitation, resumable polling.
    V2025_11_25,
}

impl Legacy {
    const ALL: [Self; 4] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
    ];
    /// What is offered to a client that asks for one we do not know.
    pub(super) const NEWEST: Self = Self::V2025_11_25;
    /// What a request without the header speaks (2025-06-18, transports).
    pub(super) const WITHOUT_HEADER: Self = Self::V2025_03_26;

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
        }
    }

    pub(super) fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.as_str() == text)
    }
}

/// What the version header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claimed<'a> {
    /// Nothing.
    Nothing,
    /// A revision with sessions.
    Legacy(Legacy),
    /// The stateless one.
    Modern,
    /// One we do not speak.
    Unknown(&'a str),
}

impl<'a> Claimed<'a> {
    pub(super) fn by(headers: &'a HeaderMap) -> Self {
        let Some(value) = headers.get(HEADER) else {
            return Self::Nothing;
        };
        let text = value.to_str().unwrap_or_default().trim();
        match Legacy::named(text) {
            Some(version) => Self::Legacy(version),
            None if text == MODERN => Self::Modern,
            None => Self::Unknown(text),
        }
    }
}

/// Which way a request is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// Stateless, with metadata in every request.
    Modern,
    /// With `initialize`.
    Legacy(Legacy),
}
