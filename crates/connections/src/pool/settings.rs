//! A connection's settings with its secrets, ready to be connected to. Read once and kept until something changes.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use domain::{AccountKind, Connection, ConnectionId, Endpoint, Secret, Tenant, Transport};
use mcp::{HeaderName, HttpTarget, StdioCommand};
use store::{SecretOwner, SecretSlot};
use url::Url;

use super::Line;
use super::secrets::{Sealed, of_address, of_command};
use crate::ConnectionError;
use crate::account::{Source, Tokens};
use crate::commands::{SecretSource, StdioSpec};
use crate::connections::Inner;

/// The field of a connection's credential in the vault.
pub(super) const CREDENTIAL: &str = "credential";
/// Shorter secrets are not looked for in texts: they would be found everywhere.
const SCRUBBED: usize = 6;

/// A connection, ready to be connected to.
pub(crate) struct Settings {
    pub(crate) connection: Connection,
    /// Of which generation of the connection's settings these are.
    pub(super) generation: u64,
    pub(crate) transport: mcp::Transport,
    /// Which secrets these were made with.
    pub(super) sealed: Sealed,
    pub(super) secrets: Hidden,
    /// Where its access tokens come from, if it has such.
    pub(crate) tokens: Option<Arc<Tokens>>,
}

impl Settings {
    /// Reads a connection and its secrets.
    pub(super) async fn load(inner: &Arc<Inner>, line: &Line) -> Result<Self, ConnectionError> {
        let (tenant, id, generation) = (line.tenant, line.id, line.generation());
        let connection = inner
            .store
            .connection(tenant, id)
            .await?
            .ok_or(ConnectionError::NotFound)?;
        let commands = inner.commands.load_full();
        let slots = match &connection.endpoint {
            Endpoint::Command { configured } => commands
                .get(configured)
                .map(|spec| of_command(spec))
                .unwrap_or_default(),
            Endpoint::Url { .. } => of_address(&connection),
        };
        let with_tokens = connection.account.kind.has_tokens().then_some(id);
        let sealed = Sealed::of(inner, tenant, (slots, with_tokens)).await?;
        let tokens = sealed
            .sign_ins()
            .map(|sign_ins| Tokens::new(Arc::downgrade(inner), tenant, connection.clone(), sign_ins));
        let reader = Reader { inner, tenant, id };
        let mut secrets = Vec::new();
        let transport = match &connection.endpoint {
            Endpoint::Command { configured } => {
                let spec = commands
                    .get(configured)
                    .ok_or_else(|| not_configured(configured))?;
                mcp::Transport::Stdio(reader.command(spec, &mut secrets).await?)
            }
            Endpoint::Url { url, transport } => {
                let mut target = reader.http(&connection, url, &mut secrets).await?;
                target.auth = tokens.clone().map(|tokens| Arc::new(Source(tokens)) as _);
                match transport {
                    Transport::StreamableHttp => mcp::Transport::StreamableHttp(target),
                    Transport::Sse => mcp::Transport::Sse(target),
                    Transport::Auto => mcp::Transport::Auto(target),
                    Transport::Stdio => {
                        let reason =
                            "a URL cannot be reached over stdio; choose another transport".to_owned();
                        return Err(ConnectionError::Settings { reason });
                    }
                }
            }
        };
        Ok(Self {
            connection,
            generation,
            transport,
            sealed,
            secrets: Hidden(secrets.into()),
            tokens,
        })
    }

    /// Whether it is a command.
    pub(crate) const fn is_process(&self) -> bool {
        matches!(self.transport, mcp::Transport::Stdio(_))
    }

    /// The longest wait for the answer of a call.
    pub(crate) fn call_timeout(&self, default: Duration) -> Duration {
        self.connection
            .call_timeout_ms
            .map_or(default, |ms| Duration::from_millis(ms.into()))
    }

    /// A text of the server's without our secrets, on one line and cut short.
    pub(crate) fn scrub(&self, text: &str) -> String {
        shorten(&self.without_secrets(text))
    }

    /// A text of the server's without our secrets.
    pub(crate) fn without_secrets(&self, text: &str) -> String {
        let text = self.secrets.take_from(text);
        match self.tokens.as_ref().and_then(|tokens| tokens.secret()) {
            Some(token) => hide(&text, [&token]),
            None => text,
        }
    }
}

/// Secrets that texts of a server must not show. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Hidden(Arc<[Secret]>);

impl Hidden {
    /// The text without them.
    pub(super) fn take_from(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for secret in &*self.0 {
            if secret.expose().len() >= SCRUBBED {
                out = out.replace(secret.expose(), "[secret]");
            }
        }
        out
    }
}

/// A text without these secrets.
pub(crate) fn hide<const N: usize>(text: &str, secrets: [&Secret; N]) -> String {
    Hidden(secrets.into_iter().cloned().collect()).take_from(text)
}

/// A text on one line, without control characters, cut at 400.
pub(crate) fn shorten(text: &str) -> String {
    const LONGEST: usize = 400;
    let mut out: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(LONGEST)
        .collect();
    if text.chars().nth(LONGEST).is_some() {
        out.push('…');
    }
    out
}

struct Reader<'a> {
    inner: &'a Inner,
    tenant: Tenant,
    id: ConnectionId,
}

impl Reader<'_> {
    async fn command(
        &self,
        spec: &StdioSpec,
        secrets: &mut Vec<Secret>,
    ) -> Result<StdioCommand, ConnectionError> {
        let mut env = Vec::with_capacity(spec.env.len());
        for (name, source) in &spec.env {
            let value = self.value(source, || format!("the variable {name}")).await?;
            secrets.push(value.clone());
            env.push((name.clone(), value));
        }
        let mut argv = Vec::with_capacity(spec.argv.len());
        for (place, source) in spec.argv.iter().enumerate() {
            let value = self.value(source, || format!("argument {place}")).await?;
            argv.push(OsString::from(value.expose()));
            if matches!(source, SecretSource::Vault(_)) {
                secrets.push(value);
            }
        }
        Ok(StdioCommand {
            argv,
            env,
            inherit: spec.inherited.clone(),
            cwd: spec.cwd.clone(),
            reaper: self.inner.reaper.clone(),
        })
    }

    async fn value(
        &self,
        source: &SecretSource,
        place: impl Fn() -> String,
    ) -> Result<Secret, ConnectionError> {
        match source {
            SecretSource::Known(value) => Ok(value.clone()),
            SecretSource::Vault(named) => {
                let what = format!("workspace secret {named:?} (for {})", place());
                self.secret(SecretOwner::Workspace, named, what).await
            }
        }
    }

    async fn http(
        &self,
        connection: &Connection,
        url: &str,
        secrets: &mut Vec<Secret>,
    ) -> Result<HttpTarget, ConnectionError> {
        let url = Url::parse(url).map_err(|_| settings("the URL cannot be read"))?;
        self.inner.egress.check_url(&url)?;
        let own = SecretOwner::Connection(self.id);
        let mut headers = Vec::new();
        let account = &connection.account;
        match account.kind {
            // Those with tokens ask for one before every request.
            AccountKind::None
            | AccountKind::Oauth
            | AccountKind::ClientCredentials
            | AccountKind::PrivateKeyJwt => {}
            AccountKind::Bearer => {
                let token = self.secret(own, CREDENTIAL, "token".to_owned()).await?;
                headers.push((
                    header("authorization")?,
                    Secret::new(format!("Bearer {}", token.expose())),
                ));
                secrets.push(token);
            }
            AccountKind::Header => {
                let name = account
                    .header_name
                    .as_deref()
                    .ok_or_else(|| settings("the header has no name"))?;
                let token = self.secret(own, CREDENTIAL, "credential".to_owned()).await?;
                let prefix = account.value_prefix.as_deref().unwrap_or_default();
                headers.push((header(name)?, Secret::new(format!("{prefix}{}", token.expose()))));
                secrets.push(token);
            }
        }
        for name in &connection.header_names {
            let what = format!("value of the header {name}");
            let value = self.secret(own, &format!("header:{name}"), what).await?;
            headers.push((header(name)?, value.clone()));
            secrets.push(value);
        }
        Ok(HttpTarget {
            url,
            headers,
            http: self.inner.http.clone(),
            auth: None,
        })
    }

    async fn secret(&self, owner: SecretOwner, field: &str, what: String) -> Result<Secret, ConnectionError> {
        let slot = SecretSlot {
            owner,
            field: field.to_owned(),
        };
        let found = self.inner.store.vault().get(self.tenant, &slot).await?;
        found.ok_or(ConnectionError::SecretMissing { what })
    }
}

fn header(name: &str) -> Result<HeaderName, ConnectionError> {
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| settings("a header's name is not one"))
}

fn settings(reason: &str) -> ConnectionError {
    ConnectionError::Settings {
        reason: reason.to_owned(),
    }
}

fn not_configured(name: &Arc<str>) -> ConnectionError {
    ConnectionError::NotConfigured { name: name.clone() }
}
