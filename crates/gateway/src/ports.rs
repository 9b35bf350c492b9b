//! What a capability must start but the kernel may not know: implemented elsewhere, wired by the outermost crate.

use std::pin::Pin;
use std::sync::Arc;

use domain::Tenant;

use crate::{Changed, Failure, Gateway};

/// The answer of a port, later.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

/// Reads the operator's configuration again. Only the outermost crate reads files.
pub trait Reload: Send + Sync {
    /// Puts in force what is sound in it.
    fn reload(&self, tenant: Tenant) -> Later<'_, ReloadReport>;
}

/// The table of valid keys, which must follow a change before the change is answered.
pub trait KeyTable: Send + Sync {
    /// Reads the valid keys again.
    fn refresh(&self) -> Later<'_, ()>;
}

/// What reading the configuration again came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReloadReport {
    /// Connections the configuration now names.
    pub connections: u32,
    /// Rules in force.
    pub rules: u32,
    /// What could not be taken over and why.
    pub problems: Vec<String>,
}

/// The ports of one process.
#[derive(Clone)]
pub struct Ports {
    /// Reads the configuration again.
    pub reload: Arc<dyn Reload>,
    /// The valid keys.
    pub keys: Arc<dyn KeyTable>,
}

impl Gateway {
    /// Reads the operator's configuration again.
    ///
    /// # Errors
    /// When it cannot be read at all; what is unsound in it is reported, not an error.
    pub async fn reload(&self, tenant: Tenant) -> Result<ReloadReport, Failure> {
        self.inner.ports.reload.reload(tenant).await
    }

    /// Says that keys were made or revoked. When this returns the change holds, and whoever keeps something open was told.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn keys_changed(&self) -> Result<(), Failure> {
        self.inner.ports.keys.refresh().await?;
        for tenant in self.tenants() {
            self.notify(tenant, Changed::Keys);
        }
        Ok(())
    }
}
