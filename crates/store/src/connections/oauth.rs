//! What a person said about an account with tokens, as one document.

use std::sync::Arc;

use domain::OauthSettings;
use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::sql::{corrupt, parse};

#[derive(Serialize, Deserialize)]
struct Document {
    #[serde(skip_serializing_if = "Option::is_none")]
    issuer: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scopes: Option<Vec<Arc<str>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<Arc<str>>,
    method: String,
    profile: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    signing: Option<(Arc<str>, Option<Arc<str>>)>,
    unreported_lifetime: bool,
}

pub(super) fn write(settings: &OauthSettings) -> Result<String, StoreError> {
    serde_json::to_string(&Document {
        issuer: settings.issuer.clone(),
        scopes: settings.scopes.clone(),
        client_id: settings.client_id.clone(),
        method: settings.method.as_str().to_owned(),
        profile: settings.profile.as_str().to_owned(),
        signing: settings.signing.clone(),
        unreported_lifetime: settings.unreported_lifetime,
    })
    .map_err(|e| corrupt("account", e))
}

pub(super) fn read(text: Option<String>) -> Result<Option<Arc<OauthSettings>>, StoreError> {
    let Some(text) = text else { return Ok(None) };
    let document: Document = serde_json::from_str(&text).map_err(|e| corrupt("account", e))?;
    Ok(Some(Arc::new(OauthSettings {
        method: parse("account", &document.method)?,
        profile: parse("account", &document.profile)?,
        issuer: document.issuer,
        scopes: document.scopes,
        client_id: document.client_id,
        signing: document.signing,
        unreported_lifetime: document.unreported_lifetime,
    })))
}
