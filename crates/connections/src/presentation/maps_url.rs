//! Which links of a place are shown: those that lead to Google Maps and carry nothing else.

use url::Url;

/// Longest link, in bytes.
const LONGEST: usize = 2_048;
/// Hosts that are Maps alone.
const MAPS: [&str; 2] = ["maps.google.com", "maps.app.goo.gl"];
/// Hosts of which only `/maps` is.
const GOOGLE: [&str; 2] = ["www.google.com", "google.com"];
/// Parts of the names of query fields that look like credentials.
const CREDENTIALS: [&str; 12] = [
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "auth",
    "credential",
    "signature",
    "session",
    "jwt",
    "sig",
    "code",
];

/// The link as it came, if it leads to Maps: `https` to a known host at the usual port, without user, fragment and anything that looks
/// like a credential.
pub(super) fn maps_url(text: &str) -> Option<&str> {
    if text.len() > LONGEST
        || text
            .chars()
            .any(|c| c.is_whitespace() || c.is_control() || c == '\\')
    {
        return None;
    }
    let url = Url::parse(text).ok()?;
    let host = url.host_str()?;
    let leads_there = MAPS.contains(&host)
        || (GOOGLE.contains(&host) && (url.path() == "/maps" || url.path().starts_with("/maps/")));
    let bare = url.scheme() == "https"
        && url.port().is_none()
        && url.username().is_empty()
        && url.password().is_none()
        && url.fragment().is_none();
    let credential = |name: &str| {
        let name = name.to_ascii_lowercase();
        CREDENTIALS
            .iter()
            .any(|known| name.split(['_', '-', '.']).any(|part| part == *known))
            || name.ends_with("key")
            || name.ends_with("token")
    };
    let clean = !url.query_pairs().any(|(name, _)| credential(&name));
    (leads_there && bare && clean).then_some(text)
}
