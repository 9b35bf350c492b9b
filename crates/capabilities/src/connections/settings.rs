//! What add and update share: accounts, headers, names, and where their secrets go.

use std::sync::Arc;

use ::connections::ConnectionError;
use ::connections::headers::{HeaderError, HeaderName, HeaderValue, Headers};
use api::connections::{AuthInput, HeaderInput};
use domain::{Account, AccountKind, ConnectionId, Secret};
use gateway::capability::{Context, Failure, FailureKind};
use store::{SecretOwner, SecretSlot};

use crate::find;

/// An account as it is stored, and its secret.
pub(super) struct Given {
    pub(super) account: Account,
    pub(super) secret: Option<HeaderValue>,
}

pub(super) fn account(input: AuthInput) -> Result<Given, Failure> {
    let none = Account {
        kind: AccountKind::None,
        header_name: None,
        value_prefix: None,
        configured: false,
    };
    match input {
        AuthInput::None => Ok(Given {
            account: none,
            secret: None,
        }),
        AuthInput::Bearer { token } => Ok(Given {
            account: Account {
                kind: AccountKind::Bearer,
                configured: true,
                ..none
            },
            secret: Some(value("auth.token", token)?),
        }),
        AuthInput::Header {
            header_name,
            value_prefix,
            token,
        } => {
            let account = Account {
                kind: AccountKind::Header,
                header_name: Some(name("auth.header_name", &header_name)?.as_arc().clone()),
                value_prefix: value_prefix.map(prefix).transpose()?,
                configured: true,
            };
            Ok(Given {
                account,
                secret: Some(value("auth.token", token)?),
            })
        }
    }
}

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
        AccountKind::Bearer => Some("authorization"),
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
fn prefix(text: String) -> Result<Arc<str>, Failure> {
    if text.is_empty() {
        return Ok(text.into());
    }
    let text = value("auth.value_prefix", text)?;
    Ok(text.secret().expose().into())
}

fn name(field: &'static str, text: &str) -> Result<HeaderName, Failure> {
    HeaderName::new(text).map_err(refused(field))
}

fn value(field: &'static str, text: String) -> Result<HeaderValue, Failure> {
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
    account: Option<Option<&HeaderValue>>,
    headers: Option<(&[Arc<str>], &Headers)>,
) -> Result<(), Failure> {
    let vault = context.store().vault();
    let change = find::change(context, action);
    let slot = |field: String| SecretSlot {
        owner: SecretOwner::Connection(id),
        field,
    };
    match account {
        None => {}
        Some(None) => {
            vault
                .remove(context.tenant(), &change, &slot("credential".to_owned()))
                .await?;
        }
        Some(Some(token)) => {
            vault
                .put(
                    context.tenant(),
                    &change,
                    &slot("credential".to_owned()),
                    token.secret(),
                )
                .await?;
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

/// What went wrong at a connection, as an operator sees it.
pub(super) fn failure(error: &ConnectionError) -> Failure {
    let new = |kind, code| Failure::new(kind, code, error.to_string());
    match error {
        ConnectionError::NotFound => Failure::not_found("connection"),
        ConnectionError::UnknownTool => Failure::not_found("tool").at("tool"),
        ConnectionError::Egress(_) => new(FailureKind::Invalid, "connection.url_refused").at("url"),
        ConnectionError::DefinitionMoved => {
            new(FailureKind::Conflict, "connection.definition_moved").at("digest")
        }
        ConnectionError::Unusable(_) => new(FailureKind::Invalid, "connection.schema_unusable").at("tool"),
        ConnectionError::Settings { .. } => new(FailureKind::Invalid, "connection.settings"),
        ConnectionError::Busy { .. } | ConnectionError::Stopped | ConnectionError::Store(_) => {
            new(FailureKind::Unavailable, "connection.unavailable")
        }
        ConnectionError::NotConfigured { .. }
        | ConnectionError::SecretMissing { .. }
        | ConnectionError::Connect(_)
        | ConnectionError::Discovery(_)
        | ConnectionError::DiscoveryTimeout(_)
        | ConnectionError::Process(_)
        | ConnectionError::Late
        | ConnectionError::Resting { .. } => new(FailureKind::Upstream, "connection.unusable"),
    }
}
