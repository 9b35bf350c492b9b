//! What add and update share: accounts, headers, names, and where their secrets go.

use std::sync::Arc;

use ::connections::ConnectionError;
use api::connections::{AuthInput, HeaderInput};
use domain::{Account, AccountKind, ConnectionId, Secret};
use gateway::capability::{Context, Failure, FailureKind};
use store::{SecretOwner, SecretSlot};

use crate::find;

/// Most further headers of one connection.
const MAX_HEADERS: usize = 32;
/// Headers that are ours to set.
const OURS: &[&str] = &[
    "host",
    "content-length",
    "content-type",
    "accept",
    "connection",
    "transfer-encoding",
    "te",
    "upgrade",
    "mcp-session-id",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "last-event-id",
];

/// A header and its value.
pub(super) type HeaderSecret = (Arc<str>, Secret);

/// An account as it is stored, and its secret.
pub(super) struct Given {
    pub(super) account: Account,
    pub(super) secret: Option<Secret>,
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
            secret: Some(secret("auth.token", token)?),
        }),
        AuthInput::Header {
            header_name,
            value_prefix,
            token,
        } => {
            let account = Account {
                kind: AccountKind::Header,
                header_name: Some(header_name_of("auth.header_name", &header_name)?),
                value_prefix: value_prefix.map(Arc::from),
                configured: true,
            };
            Ok(Given {
                account,
                secret: Some(secret("auth.token", token)?),
            })
        }
    }
}

pub(super) fn headers(input: Vec<HeaderInput>) -> Result<Vec<HeaderSecret>, Failure> {
    if input.len() > MAX_HEADERS {
        return Err(Failure::field(
            "headers",
            format!("at most {MAX_HEADERS} headers can be sent"),
        ));
    }
    input
        .into_iter()
        .map(|header| {
            Ok((
                header_name_of("headers.name", &header.name)?,
                secret("headers.value", header.value)?,
            ))
        })
        .collect()
}

fn header_name_of(field: &str, name: &str) -> Result<Arc<str>, Failure> {
    let lower = name.to_ascii_lowercase();
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if lower.is_empty() || lower.len() > 128 || !lower.bytes().all(token) {
        return Err(Failure::field(
            field,
            "not an HTTP header name (RFC 9110, section 5.1)",
        ));
    }
    if OURS.contains(&&*lower) {
        return Err(Failure::field(field, "this header is set by Switchboard itself"));
    }
    Ok(Arc::from(lower))
}

fn secret(field: &str, text: String) -> Result<Secret, Failure> {
    let text = Secret::new(text);
    let legal = !text.expose().is_empty()
        && text.expose().len() <= 16_384
        && text.expose().chars().all(|c| !c.is_control() && c.is_ascii());
    if legal {
        Ok(text)
    } else {
        Err(Failure::field(
            field,
            "must be 1 to 16,384 visible ASCII characters",
        ))
    }
}

/// Puts a connection's secrets in the vault, in place of all there were of that kind.
pub(super) async fn keep(
    context: &Context,
    id: ConnectionId,
    action: &str,
    account: Option<Option<&Secret>>,
    headers: Option<(&[Arc<str>], &[HeaderSecret])>,
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
        Some(Some(secret)) => {
            vault
                .put(context.tenant(), &change, &slot("credential".to_owned()), secret)
                .await?;
        }
    }
    if let Some((old, new)) = headers {
        for name in old
            .iter()
            .filter(|name| !new.iter().any(|(kept, _)| kept == *name))
        {
            vault
                .remove(context.tenant(), &change, &slot(format!("header:{name}")))
                .await?;
        }
        for (name, value) in new {
            vault
                .put(context.tenant(), &change, &slot(format!("header:{name}")), value)
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
