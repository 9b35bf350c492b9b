//! Accounts and sign-ins as rows, and tokens as the text that is sealed.

use std::borrow::Cow;
use std::sync::Arc;

use domain::{AccountState, Authorization, AuthorizationId, ConnectionId, Party, Secret};
use sea_orm::QueryResult;
use serde::{Deserialize, Serialize};

use super::{AuthorizationSecrets, HeldTokens, NewTokens};
use crate::StoreError;
use crate::sql::{corrupt, count, get, parse, time, time_or_none, word};

#[derive(Serialize, Deserialize)]
struct PartyDoc {
    resource: String,
    server: Arc<str>,
    issuer: String,
    client_id: String,
    method: String,
}

#[derive(Serialize, Deserialize)]
struct TokensDoc<'a> {
    generation: u64,
    #[serde(borrow)]
    access: Cow<'a, str>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    refresh: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    client_secret: Option<Cow<'a, str>>,
}

#[derive(Serialize, Deserialize)]
struct SecretsDoc<'a> {
    #[serde(borrow)]
    verifier: Cow<'a, str>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    client_secret: Option<Cow<'a, str>>,
}

pub(super) fn state(row: &QueryResult) -> Result<AccountState, StoreError> {
    let party: Option<String> = get(row, "party")?;
    Ok(AccountState {
        connection: ConnectionId::from_uuid(get(row, "connection_id")?),
        status: word(row, "status")?,
        generation: large(row, "generation")?,
        sign_ins: large(row, "sign_ins")?,
        expires_at: time_or_none(row, "expires_at")?,
        refreshable: get(row, "refreshable")?,
        requested: list(&get::<String>(row, "requested")?)?,
        granted: list(&get::<String>(row, "granted")?)?,
        error_code: get(row, "error_code")?,
        error_detail: get(row, "error_detail")?,
        party: party.map(|text| read(&text)).transpose()?,
    })
}

pub(super) fn authorization(row: &QueryResult) -> Result<Authorization, StoreError> {
    Ok(Authorization {
        id: AuthorizationId::from_uuid(get(row, "authorization_id")?),
        connection: ConnectionId::from_uuid(get(row, "connection_id")?),
        status: word(row, "status")?,
        version: count(row, "version")?,
        expires_at: time(row, "expires_at")?,
        requested: list(&get::<String>(row, "requested")?)?,
        error_code: get(row, "error_code")?,
        error_detail: get(row, "error_detail")?,
        party: read(&get::<String>(row, "party")?)?,
        created_at: time(row, "created_at")?,
    })
}

pub(super) fn written(party: &Party) -> Result<String, StoreError> {
    json(&PartyDoc {
        resource: party.resource.clone(),
        server: party.server.clone(),
        issuer: party.issuer.clone(),
        client_id: party.client_id.clone(),
        method: party.method.as_str().to_owned(),
    })
}

fn read(text: &str) -> Result<Party, StoreError> {
    let doc: PartyDoc = serde_json::from_str(text).map_err(|e| corrupt("account", e))?;
    Ok(Party {
        method: parse("account", &doc.method)?,
        resource: doc.resource,
        server: doc.server,
        issuer: doc.issuer,
        client_id: doc.client_id,
    })
}

/// Tokens as one text.
pub(super) fn sealed(generation: u64, tokens: &NewTokens) -> Result<Secret, StoreError> {
    json(&TokensDoc {
        generation,
        access: tokens.access.expose().into(),
        refresh: tokens.refresh.as_ref().map(|secret| secret.expose().into()),
        client_secret: tokens.client_secret.as_ref().map(|secret| secret.expose().into()),
    })
    .map(Secret::new)
}

pub(super) fn held(secret: &Secret) -> Result<HeldTokens, StoreError> {
    // The error's own words could repeat a value.
    let doc: TokensDoc<'_> = serde_json::from_str(secret.expose())
        .map_err(|_| corrupt("account's tokens", "they are not what was put there"))?;
    Ok(HeldTokens {
        generation: doc.generation,
        access: Secret::new(doc.access),
        refresh: doc.refresh.map(Secret::new),
        client_secret: doc.client_secret.map(Secret::new),
    })
}

/// What a sign-in under way keeps to itself, as one text.
pub(super) fn sealed_secrets(secrets: &AuthorizationSecrets) -> Result<Secret, StoreError> {
    json(&SecretsDoc {
        verifier: secrets.verifier.expose().into(),
        client_secret: secrets
            .client_secret
            .as_ref()
            .map(|secret| secret.expose().into()),
    })
    .map(Secret::new)
}

pub(super) fn secrets(secret: &Secret) -> Result<AuthorizationSecrets, StoreError> {
    let doc: SecretsDoc<'_> = serde_json::from_str(secret.expose())
        .map_err(|_| corrupt("sign-in's secrets", "they are not what was put there"))?;
    Ok(AuthorizationSecrets {
        verifier: Secret::new(doc.verifier),
        client_secret: doc.client_secret.map(Secret::new),
    })
}

pub(super) fn words(words: &[String]) -> Result<String, StoreError> {
    json(&words)
}

fn list(text: &str) -> Result<Vec<String>, StoreError> {
    serde_json::from_str(text).map_err(|e| corrupt("list of scopes", e))
}

fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|e| corrupt("account", e))
}

fn large(row: &QueryResult, column: &'static str) -> Result<u64, StoreError> {
    u64::try_from(get::<i64>(row, column)?).map_err(|_| corrupt(column, "it is out of range"))
}
