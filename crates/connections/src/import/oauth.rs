//! What entries say about OAuth.

use serde_json::Value;

use super::compose::Composer;
use super::draft::Draft;
use super::fields::Fields;
use super::launch::{OAuth, OAuthClient};
use super::secrets::Place;

/// Reads `oauth` or `auth`.
pub(super) fn read(fields: &mut Fields<'_>, composer: Composer<'_>, draft: &mut Draft) -> Option<OAuth> {
    for key in ["oauth", "auth"] {
        match fields.take(key) {
            None => {}
            Some((Value::Bool(false), _)) => return Some(OAuth::Off),
            Some((Value::Bool(true), _)) => return Some(OAuth::Client(Box::default())),
            Some((Value::Object(map), path)) => {
                let mut inner = Fields::new(map, &[], path);
                return Some(client(&mut inner, composer, draft));
            }
            Some((_, path)) => {
                draft.notices.add(
                    "field.wrong-type",
                    &path,
                    "an object or false is wanted here; not taken over",
                );
            }
        }
    }
    None
}

fn client(fields: &mut Fields<'_>, composer: Composer<'_>, draft: &mut Draft) -> OAuth {
    let notices = &mut draft.notices;
    let mut client = OAuthClient::default();
    for key in ["CLIENT_ID", "clientId", "client_id"] {
        if let Some(text) = fields.text(key, notices) {
            client.client_id = Some(composer.template(text, Place::Plain));
        }
    }
    for key in ["CLIENT_SECRET", "clientSecret", "client_secret"] {
        if let Some(text) = fields.text(key, notices) {
            client.client_secret = Some(composer.template(text, Place::Secret));
        }
    }
    if fields.has("scopes") {
        client.scopes = fields.texts("scopes", notices).unwrap_or_default();
    } else if let Some(scope) = fields.text("scope", notices) {
        client.scopes = scope.split_whitespace().map(str::to_owned).collect();
    }
    let enabled = fields.flag("enabled", notices);
    for (key, _) in fields.rest() {
        let at = fields.path().child(key);
        notices.add(
            "oauth.option",
            &at,
            format!("{key} was not taken over; endpoints are discovered from the server"),
        );
    }
    if enabled == Some(false) {
        OAuth::Off
    } else {
        OAuth::Client(Box::new(client))
    }
}
