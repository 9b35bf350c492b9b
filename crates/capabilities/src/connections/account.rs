//! Accounts as people give them: checked, taken apart into what is a setting and what is a secret.

use std::collections::HashSet;
use std::str::FromStr;
use std::sync::Arc;

use api::connections::{AuthInput, ClientCredentialsInput, OauthInput, PrivateKeyJwtInput};
use domain::{Account, AccountKind, ClientMethod, OauthSettings, Secret, SignInProfile};
use gateway::capability::Failure;
use url::Url;

use super::settings::{name, prefix, value};

/// The fields of the vault that an account's secrets lie in.
pub(super) const FIELDS: [&str; 3] = ["credential", "oauth:client_secret", "oauth:private_key"];

/// An account as it is stored, and its secrets by field. Fields not named hold none from then on, unless they are kept.
pub(super) struct Given {
    pub(super) account: Account,
    pub(super) secrets: Vec<(&'static str, Secret)>,
    /// Fields whose secrets stay.
    pub(super) kept: &'static [&'static str],
}

/// Reads an account; `before` is the one it replaces.
pub(super) fn read(input: AuthInput, before: Option<&Account>) -> Result<Given, Failure> {
    match input {
        AuthInput::None => Ok(Given {
            account: Account::NONE,
            secrets: Vec::new(),
            kept: &[],
        }),
        AuthInput::Bearer { token } => {
            let account = Account {
                kind: AccountKind::Bearer,
                configured: true,
                ..Account::NONE
            };
            header(account, token)
        }
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
                ..Account::NONE
            };
            header(account, token)
        }
        AuthInput::Oauth(input) => oauth(input, before),
        AuthInput::ClientCredentials(input) => client_credentials(input),
        AuthInput::PrivateKeyJwt(input) => private_key_jwt(input),
    }
}

fn header(account: Account, token: String) -> Result<Given, Failure> {
    let token = value("auth.token", token)?;
    Ok(Given {
        account,
        secrets: vec![("credential", token.secret().clone())],
        kept: &[],
    })
}

fn oauth(input: OauthInput, before: Option<&Account>) -> Result<Given, Failure> {
    let before = before.filter(|before| before.kind == AccountKind::Oauth);
    let known = before.and_then(|before| before.oauth.as_deref());
    let method = input
        .token_endpoint_auth_method
        .as_deref()
        .map(|text| method(text, true))
        .transpose()?;
    let profile = input
        .profile
        .as_deref()
        .map(|text| word::<SignInProfile>("auth.profile", text, "standard, offline_consent"))
        .transpose()?;
    let needs_secret = matches!(method, Some(ClientMethod::SecretBasic | ClientMethod::SecretPost));
    let had_secret =
        known.is_some_and(|known| known.client_id.is_some() && known.method != ClientMethod::None);
    let (client_id, method, secrets, kept): (_, _, Vec<_>, &[_]) =
        match (input.client_id, input.client_secret) {
            (Some(id), Some(secret)) => {
                let secret = text("auth.client_secret", secret)?;
                let method = match method {
                    Some(ClientMethod::None) => {
                        let detail =
                            "a client with a secret does not authenticate with `none`; leave one of them out";
                        return Err(Failure::field("auth.token_endpoint_auth_method", detail));
                    }
                    method => method.unwrap_or(ClientMethod::None),
                };
                let id = text("auth.client_id", id)?.expose().into();
                (Some(id), method, vec![("oauth:client_secret", secret)], &[])
            }
            (None, Some(_)) => {
                let detail = "a client secret belongs to a client ID; give both, or neither";
                return Err(Failure::field("auth.client_id", detail));
            }
            (Some(_), None) if needs_secret || (had_secret && method.is_none()) => {
                let detail = "give the client ID and its secret, or neither to keep the client there is";
                return Err(Failure::field("auth.client_secret", detail));
            }
            (Some(id), None) => (
                Some(text("auth.client_id", id)?.expose().into()),
                ClientMethod::None,
                Vec::new(),
                &[],
            ),
            // The client there is stays.
            (None, None) => (
                known.and_then(|known| known.client_id.clone()),
                known.map_or(ClientMethod::None, |known| known.method),
                Vec::new(),
                &["oauth:client_secret"],
            ),
        };
    Ok(Given {
        account: Account {
            kind: AccountKind::Oauth,
            oauth: Some(Arc::new(OauthSettings {
                issuer: input.issuer.map(issuer).transpose()?,
                scopes: scopes(input.scopes)?,
                client_id,
                method,
                profile: profile.unwrap_or(SignInProfile::Standard),
                signing: None,
                unreported_lifetime: input.unreported_lifetime.unwrap_or(false),
            })),
            ..Account::NONE
        },
        secrets,
        kept,
    })
}

fn client_credentials(input: ClientCredentialsInput) -> Result<Given, Failure> {
    let method = input
        .token_endpoint_auth_method
        .as_deref()
        .map(|text| method(text, false))
        .transpose()?;
    let own = OauthSettings {
        issuer: input.issuer.map(issuer).transpose()?,
        scopes: scopes(input.scopes)?,
        client_id: Some(text("auth.client_id", input.client_id)?.expose().into()),
        method: method.unwrap_or(ClientMethod::None),
        profile: SignInProfile::Standard,
        signing: None,
        unreported_lifetime: true,
    };
    let secret = text("auth.client_secret", input.client_secret)?;
    Ok(clients_own(
        AccountKind::ClientCredentials,
        own,
        ("oauth:client_secret", secret),
    ))
}

fn private_key_jwt(input: PrivateKeyJwtInput) -> Result<Given, Failure> {
    let key = Secret::new(input.private_key);
    connections::check_signing_key(&key, &input.algorithm)
        .map_err(|why| Failure::field("auth.private_key", why))?;
    let own = OauthSettings {
        issuer: input.issuer.map(issuer).transpose()?,
        scopes: scopes(input.scopes)?,
        client_id: Some(text("auth.client_id", input.client_id)?.expose().into()),
        method: ClientMethod::PrivateKeyJwt,
        profile: SignInProfile::Standard,
        signing: Some((input.algorithm.into(), input.key_id.map(Into::into))),
        unreported_lifetime: true,
    };
    Ok(clients_own(
        AccountKind::PrivateKeyJwt,
        own,
        ("oauth:private_key", key),
    ))
}

fn clients_own(kind: AccountKind, own: OauthSettings, secret: (&'static str, Secret)) -> Given {
    Given {
        account: Account {
            kind,
            oauth: Some(Arc::new(own)),
            configured: true,
            ..Account::NONE
        },
        secrets: vec![secret],
        kept: &[],
    }
}

fn method(text: &str, public: bool) -> Result<ClientMethod, Failure> {
    let field = "auth.token_endpoint_auth_method";
    match text.parse() {
        Ok(ClientMethod::None) if public => Ok(ClientMethod::None),
        Ok(method @ (ClientMethod::SecretBasic | ClientMethod::SecretPost)) => Ok(method),
        Ok(ClientMethod::None | ClientMethod::PrivateKeyJwt) | Err(_) => {
            let all = if public { "none, " } else { "" };
            let detail = format!("must be one of {all}client_secret_basic, client_secret_post");
            Err(Failure::field(field, detail))
        }
    }
}

fn word<T: FromStr>(field: &str, text: &str, all: &str) -> Result<T, Failure> {
    text.parse()
        .map_err(|_| Failure::field(field, format!("must be one of {all}")))
}

/// An ID or a secret: visible ASCII (RFC 6749 appendix A).
fn text(field: &str, text: String) -> Result<Secret, Failure> {
    let fits = (1..=2048).contains(&text.len()) && text.bytes().all(|byte| matches!(byte, 0x20..=0x7e));
    if fits {
        return Ok(Secret::new(text));
    }
    let detail = "must be 1 to 2048 characters of visible ASCII";
    Err(Failure::field(field, detail))
}

/// Scopes as RFC 6749 section 3.3 writes them, each once.
fn scopes(scopes: Option<Vec<String>>) -> Result<Option<Vec<Arc<str>>>, Failure> {
    let Some(scopes) = scopes.filter(|scopes| !scopes.is_empty()) else {
        return Ok(None);
    };
    let mut seen = HashSet::new();
    let fits = |scope: &String| {
        !scope.is_empty()
            && scope
                .bytes()
                .all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
    };
    if scopes.iter().all(fits) && scopes.iter().all(|scope| seen.insert(scope.as_str())) {
        return Ok(Some(scopes.into_iter().map(Into::into).collect()));
    }
    let detail =
        "must be a list of different scopes, each visible ASCII without blanks, quotes and backslashes";
    Err(Failure::field("auth.scopes", detail))
}

/// An issuer is a URL without a query and a fragment (RFC 8414 section 2).
fn issuer(text: String) -> Result<Arc<str>, Failure> {
    let fits = Url::parse(&text).is_ok_and(|url| {
        matches!(url.scheme(), "https" | "http") && url.query().is_none() && url.fragment().is_none()
    });
    if fits {
        return Ok(text.into());
    }
    let detail = "must be the issuer's URL, without a query and a fragment";
    Err(Failure::field("auth.issuer", detail))
}
