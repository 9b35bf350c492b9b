//! What add and update share: accounts, headers, names, and where their secrets go.

use std::sync::Arc;

use ::connections::headers::{HeaderError, HeaderName, HeaderValue, Headers};
use api::connections::HeaderInput;
use domain::{Account, AccountKind, ConnectionId, Secret};
use gateway::capability::{Context, Failure};
use store::{SecretOwner, SecretSlot};

use super::account::{FIELDS, Given};
use crate::find;

pub(super) fn headers(input: Vec<HeaderInput>) -> Result<Headers, Failure> {
    let mut headers = Headers::default();
    for header in input {
        let name = name("headers.name", &header.name)?;
        let value = value("headers.value", header.value)?;
        headers.add(name, value).map_err(refused("headers"))?;
    }
    Ok(headers)
}

/// A header that carries the account would be sent twice if it were among the further ones.
pub(super) fn apart(account: &Account, header_names: &[Arc<str>]) -> Result<(), Failure> {
    let carried = match account.kind {
        AccountKind::None => None,
        AccountKind::Bearer
        | AccountKind::Oauth
        | AccountKind::ClientCredentials
        | AccountKind::PrivateKeyJwt => Some("authorization"),
        AccountKind::Header => account.header_name.as_deref(),
    };
    match carried.filter(|carried| header_names.iter().any(|name| **name == **carried)) {
        None => Ok(()),
        Some(carried) => Err(Failure::field(
            "headers",
            format!("{carried} carries the account; give it in one place"),
        )),
    }
}

/// What stands before the token in a header; nothing if empty.
pub(super) fn prefix(text: String) -> Result<Arc<str>, Failure> {
    if text.is_empty() {
        return Ok(text.into());
    }
    let text = value("auth.value_prefix", text)?;
    Ok(text.secret().expose().into())
}

pub(super) fn name(field: &'static str, text: &str) -> Result<HeaderName, Failure> {
    HeaderName::new(text).map_err(refused(field))
}

pub(super) fn value(field: &'static str, text: String) -> Result<HeaderValue, Failure> {
    HeaderValue::new(Secret::new(text)).map_err(refused(field))
}

fn refused(field: &'static str) -> impl Fn(HeaderError) -> Failure {
    move |error| Failure::field(field, error.to_string())
}

/// Puts a connection's secrets in the vault, in place of all there were of that kind.
pub(super) async fn keep(
    context: &Context,
    id: ConnectionId,
    action: &str,
    account: Option<&Given>,
    headers: Option<(&[Arc<str>], &Headers)>,
) -> Result<(), Failure> {
    let vault = context.store().vault();
    let change = find::change(context, action);
    let slot = |field: String| SecretSlot {
        owner: SecretOwner::Connection(id),
        field,
    };
    if let Some(given) = account {
        for field in FIELDS {
            let slot = slot(field.to_owned());
            let secret = given.secrets.iter().find(|(named, _)| *named == field);
            if let Some((_, secret)) = secret {
                vault.put(context.tenant(), &change, &slot, secret).await?;
            } else if !given.kept.contains(&field) {
                vault.remove(context.tenant(), &change, &slot).await?;
            }
        }
    }
    if let Some((old, new)) = headers {
        for name in old
            .iter()
            .filter(|name| !new.iter().any(|(kept, _)| kept.as_arc() == *name))
        {
            vault
                .remove(context.tenant(), &change, &slot(format!("header:{name}")))
                .await?;
        }
        for (name, value) in new.iter() {
            let slot = slot(format!("header:{}", name.as_arc()));
            vault
                .put(context.tenant(), &change, &slot, value.secret())
                .await?;
        }
    }
    Ok(())
}
