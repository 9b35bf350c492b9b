//! Testing and refreshing a connection: connect and list, run nothing.

use std::time::Duration;

use domain::{ConnectionId, Health, Tenant};
use tokio::time::Instant;

use super::Preparation;
use crate::pool::{Line, ServerLine, shorten};
use crate::{ConnectionError, Connections};

/// Lines of the server that a report carries.
const LINES: usize = 20;

/// What testing a connection saw. No tool was run.
#[derive(Debug, Clone)]
pub struct TestReport {
    /// Whether it can be used.
    pub ok: bool,
    /// The health.
    pub health: Health,
    /// What was seen, where it can be used.
    pub seen: Option<Preparation>,
    /// Why it cannot be used, for people, without secrets.
    pub failure: Option<String>,
    /// What the server wrote outside the protocol lately. Untrusted text.
    pub lines: Vec<ServerLine>,
    /// How long it took.
    pub took: Duration,
}

impl Connections {
    /// Connects to a server and lists what it offers, without running anything; what was seen is kept as after
    /// [`Connections::prepare`]. A command that rests after failures is started at once: a person asks.
    ///
    /// # Errors
    /// There is no such connection, or the database fails. A server that cannot be used is a report, not an error.
    pub async fn test(&self, tenant: Tenant, id: ConnectionId) -> Result<TestReport, ConnectionError> {
        let line = self.inner.line(tenant, id)?;
        line.wake();
        let (inner, of) = (self.inner.clone(), line.clone());
        let preparing = async move {
            match inner.preparing(&of).await {
                // What was under way had found it resting before this person asked.
                Err(ConnectionError::Resting { .. }) => inner.preparing_anew(&of).await,
                outcome => outcome,
            }
        };
        self.report(&line, preparing).await
    }

    /// The same, by lists that were asked for after this was called: what is under way may have listed before the server changed.
    ///
    /// # Errors
    /// As [`Connections::test`].
    pub async fn refresh(&self, tenant: Tenant, id: ConnectionId) -> Result<TestReport, ConnectionError> {
        let line = self.inner.line(tenant, id)?;
        line.wake();
        let preparing = self.inner.preparing_anew(&line);
        self.report(&line, preparing).await
    }

    async fn report(
        &self,
        line: &Line,
        preparing: impl Future<Output = Result<Preparation, ConnectionError>>,
    ) -> Result<TestReport, ConnectionError> {
        let started = Instant::now();
        let outcome = preparing.await;
        let mut lines = line.facts(&self.inner.limits).lines;
        lines.drain(..lines.len().saturating_sub(LINES));
        let (health, seen, failure) = match outcome {
            Ok(seen) => (seen.health, Some(seen), None),
            Err(error) => match error.health() {
                None => return Err(error),
                Some(health) => {
                    let settings = line.settings(&self.inner).await.ok();
                    let words =
                        settings.map_or_else(|| shorten(&error.to_string()), |s| s.scrub(&error.to_string()));
                    (health, None, Some(words))
                }
            },
        };
        Ok(TestReport {
            ok: seen.is_some(),
            health,
            seen,
            failure,
            lines,
            took: started.elapsed(),
        })
    }
}
