//! Clients: what one says of itself when it registers, and what is known of one that sends a person here.

use domain::{Client, ClientId, Timestamp};
use serde::Deserialize;

use super::{Refusal, redirect};

/// Most addresses of one client.
const MOST_ADDRESSES: usize = 20;
/// Longest name.
const MOST_NAME: usize = 100;

/// A client's metadata (RFC 7591 section 2), as it registers itself or publishes it, as far as it is used. What it asks for beyond what
/// is here it does not get, and the answer says so.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Registration {
    /// Where people may be sent back to.
    #[serde(default)]
    pub redirect_uris: Vec<String>,
    /// What it calls itself.
    pub client_name: Option<String>,
    /// How it would like to authenticate. All clients are public here, whatever they would like.
    pub token_endpoint_auth_method: Option<String>,
    /// What it would exchange for tokens.
    pub grant_types: Option<Vec<String>>,
    /// What it would have answered.
    pub response_types: Option<Vec<String>>,
    /// Its own address, in a metadata document.
    pub client_id: Option<String>,
}

/// A client that sends a person here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenClient {
    /// Its id as it says it.
    pub id: String,
    /// What it calls itself.
    pub name: String,
    /// The host that vouches for it, where its id is the address of its metadata; none where it registered itself, and anybody can.
    pub host: Option<String>,
    pub(super) redirect_uris: Vec<String>,
}

impl Registration {
    /// Checks it, and makes a client of it.
    ///
    /// # Errors
    /// `invalid_redirect_uri`, `invalid_client_metadata` (RFC 7591 section 3.2.2).
    pub(super) fn client(self, now: Timestamp) -> Result<Client, Refusal> {
        let metadata = |detail: &str| Refusal::new("invalid_client_metadata", detail);
        let lacks = |given: &Option<Vec<String>>, word: &str| {
            given
                .as_ref()
                .is_some_and(|given| !given.iter().any(|known| known == word))
        };
        if lacks(&self.grant_types, "authorization_code") {
            return Err(metadata("`grant_types` must hold `authorization_code`"));
        }
        if lacks(&self.response_types, "code") {
            return Err(metadata("`response_types` must hold `code`"));
        }
        let bad = |detail: String| Refusal::new("invalid_redirect_uri", detail);
        if self.redirect_uris.is_empty() || self.redirect_uris.len() > MOST_ADDRESSES {
            return Err(bad("give between 1 and 20 `redirect_uris`".to_owned()));
        }
        for (place, uri) in self.redirect_uris.iter().enumerate() {
            redirect::read(uri).map_err(|why| bad(format!("redirect_uris[{place}] {why}")))?;
        }
        Ok(Client {
            id: ClientId::generate(),
            name: name(self.client_name.as_deref()),
            redirect_uris: self.redirect_uris,
            created_at: now,
        })
    }
}

impl SeenClient {
    pub(super) fn registered(client: Client) -> Self {
        Self {
            id: client.id.to_string(),
            name: client.name,
            host: None,
            redirect_uris: client.redirect_uris,
        }
    }

    /// Whether a person may be sent back there.
    pub(super) fn takes(&self, uri: &str) -> bool {
        redirect::read(uri).is_ok()
            && self
                .redirect_uris
                .iter()
                .any(|known| redirect::covers(known, uri))
    }
}

/// A name as it is shown to people: one line of visible characters. Whatever a stranger calls itself, nothing around it moves.
pub(super) fn name(given: Option<&str>) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
            || matches!(c, '\u{e0000}'..='\u{e007f}')
    };
    let shown: String = given
        .unwrap_or_default()
        .chars()
        .filter(|c| !hidden(*c))
        .take(MOST_NAME)
        .collect();
    let shown = shown.trim();
    if shown.is_empty() {
        return "A client without a name".to_owned();
    }
    shown.to_owned()
}

#[cfg(test)]
mod tests {
    use domain::Timestamp;

    use super::{Registration, name};

    #[test]
    fn registrations() {
        let cases = [
            (r#"{"redirect_uris":["https://c.example/cb"]}"#, None),
            (
                r#"{"redirect_uris":["http://127.0.0.1/cb"],"token_endpoint_auth_method":"client_secret_basic","more":1}"#,
                None,
            ),
            (r#"{"redirect_uris":[]}"#, Some("invalid_redirect_uri")),
            (r#"{}"#, Some("invalid_redirect_uri")),
            (
                r#"{"redirect_uris":["http://c.example/cb"]}"#,
                Some("invalid_redirect_uri"),
            ),
            (
                r#"{"redirect_uris":["https://c.example/cb"],"grant_types":["client_credentials"]}"#,
                Some("invalid_client_metadata"),
            ),
            (
                r#"{"redirect_uris":["https://c.example/cb"],"response_types":["token"]}"#,
                Some("invalid_client_metadata"),
            ),
        ];
        for (text, want) in cases {
            let registration: Registration = serde_json::from_str(text).unwrap();
            let made = registration.client(Timestamp::from_micros(1));
            assert_eq!(made.as_ref().err().map(|refusal| refusal.code), want, "{text}");
        }
    }

    #[test]
    fn names_are_one_visible_line() {
        let cases = [
            (Some("Claude Code"), "Claude Code"),
            (Some(" a\n\u{202e}b\u{200b} "), "ab"),
            (Some("\u{7}"), "A client without a name"),
            (None, "A client without a name"),
        ];
        for (given, shown) in cases {
            assert_eq!(name(given), shown);
        }
        assert_eq!(name(Some(&"x".repeat(300))).len(), 100);
    }
}
