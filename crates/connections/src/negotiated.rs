//! What was agreed on with a server, as it is remembered: `2025-11-25 streamable_http`.

use mcp::{Negotiated, TransportKind};

/// Writes it.
pub(crate) fn write(negotiated: Negotiated) -> String {
    let transport = match negotiated.transport {
        TransportKind::Stdio => "stdio",
        TransportKind::StreamableHttp => "streamable_http",
        TransportKind::Sse => "sse",
    };
    format!("{} {transport}", negotiated.version)
}

/// Reads it; nothing where it says nothing this release knows.
pub(crate) fn read(text: &str) -> Option<Negotiated> {
    let (version, transport) = text.split_once(' ')?;
    let transport = match transport {
        "stdio" => TransportKind::Stdio,
        "streamable_http" => TransportKind::StreamableHttp,
        "sse" => TransportKind::Sse,
        _ => return None,
    };
    Some(Negotiated {
        version: version.parse().ok()?,
        transport,
    })
}

#[cfg(test)]
mod tests {
    use super::{read, write};

    #[test]
    fn round_trips() {
        for text in ["2025-11-25 streamable_http", "2024-11-05 sse", "2026-07-28 stdio"] {
            assert_eq!(read(text).map(write).as_deref(), Some(text));
        }
        for text in ["", "2025-11-25", "2099-01-01 stdio", "2025-11-25 pigeon"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
