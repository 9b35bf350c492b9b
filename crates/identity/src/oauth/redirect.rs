//! Where a person may be sent back to.

use url::{Host, Url};

/// Longest address taken.
const MOST: usize = 2_048;
/// Schemes that a browser does something with by itself; as a place to send people to they are attacks.
const NEVER: &[&str] = &[
    "javascript",
    "data",
    "vbscript",
    "file",
    "blob",
    "about",
    "filesystem",
    "ws",
    "wss",
    "ftp",
    "mailto",
    "tel",
    "view-source",
    "chrome",
    "ms-appx",
];

/// Reads an address clients may register: HTTPS, HTTP on this very machine, or a scheme of the client's own (RFC 8252 section 7).
///
/// # Errors
/// What is wrong with it.
pub(super) fn read(text: &str) -> Result<Url, &'static str> {
    if text.len() > MOST {
        return Err("is longer than 2,048 characters");
    }
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err("holds spaces or control characters");
    }
    let url = Url::parse(text).map_err(|_| "is no absolute URL")?;
    if url.fragment().is_some() {
        return Err("has a fragment");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("has a user name");
    }
    match url.scheme() {
        "https" if url.host().is_some() => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        "http" => Err("must use https, or http with 127.0.0.1, [::1] or localhost"),
        scheme if NEVER.contains(&scheme) => Err("has a scheme that nobody can be sent back to"),
        _ => Ok(url),
    }
}

/// Whether a registered address covers the one a request names: to the letter, but on this machine any port will do, since a client takes
/// one that is free (RFC 8252 section 7.3).
pub(super) fn covers(registered: &str, named: &str) -> bool {
    if registered == named {
        return true;
    }
    let (Ok(mut registered), Ok(mut named)) = (read(registered), read(named)) else {
        return false;
    };
    let local = |url: &Url| url.scheme() == "http" && is_loopback(url);
    local(&registered)
        && local(&named)
        && registered.set_port(None).is_ok()
        && named.set_port(None).is_ok()
        && registered == named
}

/// Whether it is an address of this very machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{covers, read};

    #[test]
    fn where_people_may_be_sent() {
        let cases = [
            ("https://client.example/callback", true),
            ("https://client.example/callback?x=1", true),
            ("http://127.0.0.1:3000/callback", true),
            ("http://localhost/callback", true),
            ("http://[::1]:9/cb", true),
            ("cursor://anysphere.cursor-retrieval/oauth/callback", true),
            ("com.example.app:/callback", true),
            ("http://client.example/callback", false),
            ("http://localhost.evil.example/callback", false),
            ("http://127.0.0.1.evil.example/", false),
            ("https://user@client.example/", false),
            ("https://client.example/#part", false),
            ("https://client.example/a b", false),
            ("https://client.example/a\nb", false),
            ("https://", false),
            ("javascript:alert(1)", false),
            ("JavaScript://x/%0aalert(1)", false),
            ("data:text/html,x", false),
            ("file:///etc/passwd", false),
            ("blob:https://client.example/x", false),
            ("/callback", false),
            ("", false),
        ];
        for (text, allowed) in cases {
            assert_eq!(read(text).is_ok(), allowed, "{text}: {:?}", read(text));
        }
        assert!(read(&format!("https://client.example/{}", "x".repeat(2_048))).is_err());
    }

    #[test]
    fn addresses_are_compared_to_the_letter_but_for_ports_of_this_machine() {
        let cases = [
            ("https://c.example/cb", "https://c.example/cb", true),
            ("https://c.example/cb", "https://c.example/cb/", false),
            ("https://c.example/cb", "https://c.example/cb?x=1", false),
            ("https://c.example/cb", "https://c.example:444/cb", false),
            ("https://c.example/cb", "https://C.example/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:50123/cb", true),
            ("http://127.0.0.1:1/cb", "http://127.0.0.1:2/cb", true),
            ("http://localhost:1/cb", "http://localhost:2/cb", true),
            ("http://localhost:1/cb", "http://127.0.0.1:1/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:5/other", false),
            ("http://127.0.0.1/cb", "https://127.0.0.1/cb", false),
            ("https://127.0.0.1/cb", "https://127.0.0.1:4/cb", false),
            ("app:/cb", "app:/cb", true),
            ("app:/cb", "app:/cb2", false),
        ];
        for (registered, named, covered) in cases {
            assert_eq!(covers(registered, named), covered, "{registered} {named}");
        }
    }
}
