//! What the kernel asks of the process: reading the configuration again, and what proves who somebody is.

use std::sync::{Arc, OnceLock};

use domain::{Clock, Tenant};
use gateway::{Failure, KeyTable, Later, Reload, ReloadReport};
use identity::oauth::Tokens;
use identity::{Keys, Sessions};
use store::{Store, StoreError};

use super::commands;
use super::wire::Parts;
use crate::config::{self, Flags, Purpose};

/// The operator's configuration.
pub(super) struct Configuration {
    pub(super) flags: Flags,
    pub(super) parts: Arc<OnceLock<Parts>>,
}

impl Reload for Configuration {
    fn reload(&self, tenant: Tenant) -> Later<'_, ReloadReport> {
        Box::pin(async move {
            let Some(parts) = self.parts.get() else {
                return Err(Failure::internal("the server is still starting", "not wired"));
            };
            let read = config::load(&self.flags);
            let config = match read {
                Ok(config) => config,
                Err(problems) => {
                    let problems = problems.iter().map(ToString::to_string).collect();
                    return Ok(ReloadReport {
                        problems,
                        ..ReloadReport::default()
                    });
                }
            };
            let mut report = ReloadReport::default();
            match config::rules(&config.rules) {
                Ok(rules) => {
                    parts.gateway.set_rules(tenant, rules).await?;
                    report.rules =
                        u32::try_from(config.rules.iter().filter(|r| r.enabled).count()).unwrap_or(u32::MAX);
                }
                Err(problems) => report.problems.extend(problems.iter().map(ToString::to_string)),
            }
            let urls = |purpose| config.internal(purpose).map(str::to_owned).collect::<Vec<_>>();
            let put = [
                parts.connections.reload_urls(&urls(Purpose::Mcp)).await,
                parts.connections.reload_sign_in_urls(&urls(Purpose::Oauth)),
            ];
            let refused = put.into_iter().filter_map(Result::err);
            report
                .problems
                .extend(refused.map(|(url, refusal)| format!("internal_urls: {url}: {refusal}")));
            let adopted = commands::adopt(parts, tenant, &config.connections).await?;
            report.connections = adopted.known;
            report.problems.extend(adopted.problems);
            Ok(report)
        })
    }
}

/// Everything in memory that proves who somebody is.
#[derive(Clone)]
pub(crate) struct Credentials {
    pub(crate) keys: Keys,
    pub(crate) sessions: Sessions,
    pub(crate) tokens: Tokens,
}

impl Credentials {
    /// Reads it all.
    pub(super) async fn load(store: &Store) -> Result<Self, StoreError> {
        Ok(Self {
            keys: Keys::load(store.clone(), Clock::System).await?,
            sessions: Sessions::load(store.clone(), Clock::System).await?,
            tokens: Tokens::load(store.clone(), Clock::System).await?,
        })
    }

    /// Reads it all again.
    pub(super) async fn reread(&self) -> Result<(), StoreError> {
        self.keys.refresh().await?;
        self.sessions.refresh().await?;
        self.tokens.refresh().await
    }
}

impl KeyTable for Credentials {
    fn refresh(&self) -> Later<'_, ()> {
        Box::pin(async move { Ok(self.reread().await?) })
    }
}
