//! What the kernel asks of the process: reading the configuration again, and the table of keys.

use std::sync::{Arc, OnceLock};

use domain::Tenant;
use gateway::{Failure, KeyTable, Later, Reload, ReloadReport};
use identity::Keys;

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

/// The table of valid keys.
pub(super) struct ValidKeys(pub(super) Keys);

impl KeyTable for ValidKeys {
    fn refresh(&self) -> Later<'_, ()> {
        Box::pin(async move { Ok(self.0.refresh().await?) })
    }
}
