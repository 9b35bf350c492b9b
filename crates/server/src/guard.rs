//! Which hosts requests may name and which web pages may send them: against DNS rebinding, on loopback too.

use std::collections::HashSet;
use std::net::IpAddr;

use gateway::{Failure, FailureKind};
use http::{HeaderMap, Uri, header};
use url::Url;

use crate::state::Options;

/// The allowed hosts and origins.
pub(crate) struct Guard {
    hosts: HashSet<String>,
    origins: HashSet<String>,
}

impl Guard {
    pub(crate) fn new(options: &Options) -> Self {
        let public = Url::parse(&options.public_url).ok();
        let mut hosts: HashSet<String> = options.allowed_hosts.iter().map(|host| bare(host)).collect();
        hosts.extend(public.as_ref().and_then(|url| url.host_str()).map(bare));
        let mut origins: HashSet<String> = options
            .allowed_origins
            .iter()
            .map(|o| o.trim_end_matches('/').to_ascii_lowercase())
            .collect();
        origins.extend(public.map(|url| url.origin().ascii_serialization()));
        Self { hosts, origins }
    }

    /// Loopback by name or address, the public URL's host, and what the operator allows; any port.
    fn allows_host(&self, authority: &str) -> bool {
        let host = host_of(authority);
        let loopback = host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        loopback || host.eq_ignore_ascii_case("localhost") || self.hosts.contains(&bare(host))
    }

    /// A page of our own host, of loopback, or one the operator allows. `null` is nobody's.
    fn allows_origin(&self, origin: &str) -> bool {
        if self.origins.contains(&origin.to_ascii_lowercase()) {
            return true;
        }
        let Ok(url) = Url::parse(origin) else { return false };
        let http = matches!(url.scheme(), "http" | "https");
        let loopback = match url.host() {
            Some(url::Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
            Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
            Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
            None => false,
        };
        http && loopback
    }

    /// Refuses what may not call.
    pub(crate) fn check(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), Failure> {
        let named = headers.get(header::HOST).and_then(|value| value.to_str().ok());
        let authority = named
            .or_else(|| uri.authority().map(http::uri::Authority::as_str))
            .unwrap_or_default();
        // A request line that names a host itself says the same as the header, or two readers would see two hosts.
        let line = uri.authority().map_or(authority, http::uri::Authority::as_str);
        if headers.get_all(header::HOST).iter().nth(1).is_some()
            || !self.allows_host(authority)
            || !line.eq_ignore_ascii_case(authority)
        {
            let detail =
                "the Host header names a host this server does not answer to; add it to server.allowed_hosts";
            return Err(Failure::new(
                FailureKind::Forbidden,
                "request.host_refused",
                detail,
            ));
        }
        for origin in headers.get_all(header::ORIGIN) {
            if !origin.to_str().is_ok_and(|origin| self.allows_origin(origin)) {
                let detail =
                    "web pages of this origin may not call this server; add it to server.allowed_origins";
                return Err(Failure::new(
                    FailureKind::Forbidden,
                    "request.origin_refused",
                    detail,
                ));
            }
        }
        Ok(())
    }
}

/// A host as it is compared: in lower case, an address of version 6 without its brackets.
fn bare(host: &str) -> String {
    let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inner.unwrap_or(host).to_ascii_lowercase()
}

/// The host of `host`, `host:port`, `[v6]` or `[v6]:port`; nothing where it is none of these.
fn host_of(authority: &str) -> &str {
    let (host, port) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((v6, port)) => (v6, port),
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let plain = port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    if plain { host } else { "" }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::Guard;

    #[test]
    fn hosts_and_origins() {
        let guard = Guard {
            hosts: HashSet::from(["tools.example.com".to_owned(), super::bare("[2001:DB8::1]")]),
            origins: HashSet::from(["https://tools.example.com".to_owned()]),
        };
        let hosts = [
            ("localhost:7100", true),
            ("127.0.0.1", true),
            ("127.8.9.1:1", true),
            ("[::1]:7100", true),
            ("TOOLS.example.com", true),
            ("evil.example.com:7100", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.nip.example", false),
            ("192.168.0.1", false),
            ("[2001:db8::1]:7100", true),
            ("[2001:db8::2]", false),
            ("localhost:", true),
            ("localhost:80@evil.example", false),
            ("user@localhost", false),
            ("[::1]evil.example", false),
            ("[localhost", false),
            ("localhost.", false),
            ("0.0.0.0:7100", false),
            ("", false),
        ];
        for (host, allowed) in hosts {
            assert_eq!(guard.allows_host(host), allowed, "host {host:?}");
        }
        let origins = [
            ("http://localhost:3000", true),
            ("http://127.0.0.1:7100", true),
            ("https://tools.example.com", true),
            ("https://evil.example.com", false),
            ("null", false),
            ("file://localhost", false),
            ("http://localhost.evil.example", false),
        ];
        for (origin, allowed) in origins {
            assert_eq!(guard.allows_origin(origin), allowed, "origin {origin:?}");
        }
    }
}
