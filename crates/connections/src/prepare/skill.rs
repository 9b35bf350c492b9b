//! Asking a server for one skill (SEP-2640, `skills/get`): listings may leave some out. Metadata, like all discovery; no file is read.

use std::sync::Arc;

use domain::{ConnectionId, Tenant};
use mcp::discovery::Kind;
use mcp::wire::Object;
use mcp::{Request, RequestError, Silent, Upstream};
use tokio::time::{Duration, Instant};

use crate::depth::too_deep;
use crate::skill::Skill;
use crate::{ConnectionError, Connections};

impl Connections {
    /// The skill whose `SKILL.md` has this URI, as its server describes it now.
    ///
    /// # Errors
    /// `UnknownSkill` where it has none, or none that is well-formed; else why it cannot be asked.
    pub async fn skill(&self, tenant: Tenant, id: ConnectionId, uri: &str) -> Result<Skill, ConnectionError> {
        let line = self.inner.line(tenant, id)?;
        let settings = line.settings(&self.inner).await?;
        if !settings.connection.enabled {
            return Err(ConnectionError::UnknownSkill);
        }
        let (live, kept) = self.inner.session(&line, &settings).await?;
        let asked = ask(&live.upstream, uri, self.inner.limits.discovery).await;
        if !kept {
            live.close().await;
        }
        asked
    }
}

async fn ask(upstream: &Upstream, uri: &str, within: Duration) -> Result<Skill, ConnectionError> {
    if !Kind::Skills.announced_by(upstream.server()) {
        return Err(ConnectionError::UnknownSkill);
    }
    let unsendable = |error: mcp::wire::WireError| {
        ConnectionError::Discovery(Arc::new(RequestError::Unsendable(error.to_string())))
    };
    let params = Object::new().with("uri", uri).map_err(unsendable)?;
    let request = Request::new("skills/get", params, Instant::now() + within);
    let answer = match upstream.request(request, Arc::new(Silent)).await {
        Ok(answer) => answer,
        Err(RequestError::Rpc { .. }) => return Err(ConnectionError::UnknownSkill),
        Err(error) => return Err(ConnectionError::Discovery(Arc::new(error))),
    };
    let entry = Object::parse(&answer)
        .ok()
        .and_then(|mut answer| answer.remove("skill"));
    let entry = entry.filter(|entry| !too_deep(entry.get()));
    let skill = entry.and_then(|entry| Skill::read(Arc::from(entry)).ok());
    skill
        .filter(|skill| &*skill.uri == uri)
        .ok_or(ConnectionError::UnknownSkill)
}
