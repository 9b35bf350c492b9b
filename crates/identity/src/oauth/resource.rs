//! The endpoints tokens are for (RFC 8707).

use url::Url;

use super::redirect::is_loopback;

/// This server's addresses.
#[derive(Debug, Clone)]
pub struct Resources {
    public: Url,
}

impl Resources {
    /// Those of a server that people reach here.
    #[must_use]
    pub const fn new(public: Url) -> Self {
        Self { public }
    }

    /// Who we are as an issuer: the origin, without a slash at the end.
    #[must_use]
    pub fn issuer(&self) -> String {
        self.public.origin().ascii_serialization()
    }

    /// The address of something here.
    #[must_use]
    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.issuer())
    }

    /// The address of something here as somebody sees it who came by this host: a machine has several names for itself, and clients
    /// compare what they are told with what they were given. Elsewhere there is one name.
    #[must_use]
    pub fn seen_from(&self, host: Option<&str>, path: &str) -> String {
        let named = host.and_then(|host| Url::parse(&format!("{}://{host}", self.public.scheme())).ok());
        let named = named.filter(|named| {
            named.username().is_empty()
                && named.path() == "/"
                && named.query().is_none()
                && self.is_same(named)
        });
        named.map_or_else(
            || self.at(path),
            |named| format!("{}{path}", named.origin().ascii_serialization()),
        )
    }

    /// The path of the MCP endpoint an address means, if it is one of ours: of an agent or of one of its connections, or the one whose
    /// agent the credential says. Never the operators'.
    #[must_use]
    pub fn path(&self, address: &str) -> Option<String> {
        let url = Url::parse(address).ok()?;
        let plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
        if !plain || !self.is_same(&url) {
            return None;
        }
        endpoint(url.path()).map(str::to_owned)
    }

    fn is_same(&self, other: &Url) -> bool {
        if other.origin() == self.public.origin() {
            return true;
        }
        let port = |url: &Url| url.port_or_known_default();
        other.scheme() == self.public.scheme()
            && port(other) == port(&self.public)
            && is_loopback(other)
            && is_loopback(&self.public)
    }
}

/// The path of an endpoint without a slash at the end; none where it is not one that tokens are for.
pub(super) fn endpoint(path: &str) -> Option<&str> {
    let path = path.strip_suffix('/').unwrap_or(path);
    let rest = path.strip_prefix("/mcp")?;
    if rest.is_empty() {
        return Some(path);
    }
    let mut parts = rest.strip_prefix('/')?.split('/');
    let agent = parts.next()?;
    let plain = |name: &str| !name.is_empty() && name != "-" && !name.contains(['%', '.']);
    let named = plain(agent) && parts.next().is_none_or(plain) && parts.next().is_none();
    named.then_some(path)
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::Resources;

    #[test]
    fn what_tokens_are_for() {
        let local = Resources::new(Url::parse("http://localhost:7100").unwrap());
        let public = Resources::new(Url::parse("https://tools.example.com/").unwrap());
        let cases = [
            (&local, "http://localhost:7100/mcp", Some("/mcp")),
            (&local, "http://localhost:7100/mcp/", Some("/mcp")),
            (&local, "http://127.0.0.1:7100/mcp/default", Some("/mcp/default")),
            (
                &local,
                "http://[::1]:7100/mcp/default/files",
                Some("/mcp/default/files"),
            ),
            (&local, "http://localhost:7101/mcp", None),
            (&local, "https://localhost:7100/mcp", None),
            (&local, "http://evil.example:7100/mcp", None),
            (&local, "http://localhost:7100/mcp/-/operator", None),
            (&local, "http://localhost:7100/mcp/default/../-/operator", None),
            (&local, "http://localhost:7100/mcp/%2d/operator", None),
            (&local, "http://localhost:7100/mcp/a/b/c", None),
            (&local, "http://localhost:7100/api/v1", None),
            (&local, "http://localhost:7100/mcp?x=1", None),
            (&local, "http://localhost:7100/mcp#x", None),
            (&local, "http://me@localhost:7100/mcp", None),
            (&local, "/mcp", None),
            (
                &public,
                "https://tools.example.com/mcp/default",
                Some("/mcp/default"),
            ),
            (&public, "https://tools.example.com:443/mcp", Some("/mcp")),
            (&public, "https://TOOLS.example.com/mcp", Some("/mcp")),
            (&public, "https://127.0.0.1/mcp", None),
            (&public, "http://tools.example.com/mcp", None),
        ];
        for (resources, address, path) in cases {
            assert_eq!(resources.path(address).as_deref(), path, "{address}");
        }
    }

    #[test]
    fn addresses_as_they_are_seen() {
        let local = Resources::new(Url::parse("http://localhost:7100").unwrap());
        let public = Resources::new(Url::parse("https://tools.example.com/").unwrap());
        let cases = [
            (&local, Some("127.0.0.1:7100"), "http://127.0.0.1:7100/mcp"),
            (&local, Some("[::1]:7100"), "http://[::1]:7100/mcp"),
            (&local, Some("127.0.0.1:1"), "http://localhost:7100/mcp"),
            (&local, Some("evil.example:7100"), "http://localhost:7100/mcp"),
            (&local, Some("a@127.0.0.1:7100/x"), "http://localhost:7100/mcp"),
            (&local, None, "http://localhost:7100/mcp"),
            (&public, Some("127.0.0.1:7100"), "https://tools.example.com/mcp"),
            (
                &public,
                Some("tools.example.com"),
                "https://tools.example.com/mcp",
            ),
        ];
        for (resources, host, address) in cases {
            assert_eq!(resources.seen_from(host, "/mcp"), address, "{host:?}");
        }
    }
}
