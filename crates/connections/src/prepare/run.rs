//! One preparation, from connecting to the stored catalogue.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use domain::{ConnectionId, ConnectionState, Health, Sharing, Tenant};
use mcp::RequestError;
use serde_json::value::RawValue;
use store::{Catalogue, Change};
use tokio::time::Instant;

use super::discover::{self, Discovered};
use super::reconcile::reconcile;
use super::{Preparation, ToolCounts};
use crate::connections::Inner;
use crate::event::ConnectionEventKind;
use crate::pool::{Line, Live, Settings, lock};
use crate::{ConnectionError, Connections};

/// The name under which preparing leaves its facts in the record.
const ACTION: &str = "connections.refresh";

impl Connections {
    /// Connects to a server, lists everything it offers, keeps that, and holds its definitions against what people accepted. One
    /// preparation of a connection is under way at a time; whoever asks meanwhile gets the same answer.
    ///
    /// # Errors
    /// The server cannot be used; state and health say so too.
    pub async fn prepare(&self, tenant: Tenant, id: ConnectionId) -> Result<Preparation, ConnectionError> {
        let line = self.inner.line(tenant, id)?;
        self.inner.preparing(&line).await
    }
}

impl Inner {
    pub(super) async fn prepare(self: &Arc<Self>, line: &Arc<Line>) -> Result<Preparation, ConnectionError> {
        let started = Instant::now();
        let settings = match line.settings(self).await {
            Ok(settings) => settings,
            Err(error) => return Err(self.unprepared(line, None, error).await),
        };
        let prepared = self.prepare_with(line, &settings, started).await;
        if settings.connection.enabled && !settings.is_process() {
            let seed = self.seed(line);
            line.check.looked(seed, self.limits.check, Instant::now());
        }
        match prepared {
            Ok(preparation) => Ok(preparation),
            Err(error) => Err(self.unprepared(line, Some(&settings), error).await),
        }
    }

    async fn prepare_with(
        self: &Arc<Self>,
        line: &Arc<Line>,
        settings: &Arc<Settings>,
        started: Instant,
    ) -> Result<Preparation, ConnectionError> {
        let (mut live, mut kept) = self.session(line, settings).await?;
        let sent_with = settings.tokens.as_ref().map_or(0, |tokens| tokens.generation());
        let mut found = discover::everything(&live.upstream, &settings.connection, &self.limits).await;
        if kept && found.as_ref().is_err_and(gone) {
            // It ended unnoticed while nobody used it.
            self.discard(line, &live);
            (live, kept) = self.session(line, settings).await?;
            found = discover::everything(&live.upstream, &settings.connection, &self.limits).await;
        }
        if let (Some(tokens), Err(ConnectionError::Discovery(error))) = (&settings.tokens, &found)
            && error.is_unauthorized()
            && tokens.replace(sent_with).await.is_ok()
        {
            found = discover::everything(&live.upstream, &settings.connection, &self.limits).await;
        }
        let preparation = match found {
            Ok(found) => self.keep(line, &live, found, started).await,
            Err(error) => Err(error),
        };
        if !kept {
            live.close().await;
        }
        preparation
    }

    /// A session to list on, and whether it stays open. Shared sessions of enabled connections do, so that calls find them warm.
    pub(super) async fn session(
        self: &Arc<Self>,
        line: &Arc<Line>,
        settings: &Arc<Settings>,
    ) -> Result<(Arc<Live>, bool), ConnectionError> {
        if settings.connection.sharing == Sharing::Shared && settings.connection.enabled {
            let deadline = Instant::now() + self.limits.connect + self.limits.connect;
            return Ok((self.shared(line, settings, deadline).await?, true));
        }
        Ok((self.open(line, settings, None).await?, false))
    }

    async fn keep(
        self: &Arc<Self>,
        line: &Arc<Line>,
        live: &Live,
        mut found: Discovered,
        started: Instant,
    ) -> Result<Preparation, ConnectionError> {
        let worse = line.known.worse();
        let schemas = self.schemas.clone();
        let compiling = tokio::task::spawn_blocking(move || {
            discover::compile(&mut found.tools, &schemas);
            found
        });
        let mut found = compiling.await.map_err(|_| ConnectionError::Stopped)?;
        let (counts, pins_changed) = self.pin(line, &found).await?;
        let degraded = !found.problems.is_empty() || counts.unusable > 0;
        found.problems.append(&mut found.oddities);
        let now = self.catalogue(live, &found);
        let before = self.store.catalogue(line.tenant, line.id).await?;
        let news = News::between(before.as_ref(), &now, pins_changed);
        let version = match before {
            Some(before) if !news.any() && before.problems == now.problems => before.version,
            Some(_) | None => self.store.put_catalogue(line.tenant, line.id, &now).await?,
        };
        let health = if degraded { Health::Degraded } else { Health::Ok };
        let detail = degraded.then(|| summary(&found, counts));
        self.note_unless_worse(line, worse, (health, detail)).await;
        if news.any() {
            self.tell(line, news.event());
        }
        lock(&line.pace).read(news.any());
        line.freshness
            .listed(found.ttl, self.limits.relist, Instant::now());
        let server = live.upstream.server();
        Ok(Preparation {
            state: ConnectionState::Ready,
            health,
            negotiated: crate::negotiated::write(live.upstream.negotiated()),
            server: (server.name.clone(), server.version.clone()),
            catalogue: version,
            tools: counts,
            contexts: (found.prompts.len(), found.resources.len(), found.templates.len()),
            skills: found.skills.len(),
            problems: found.problems,
            took: started.elapsed(),
        })
    }

    async fn pin(&self, line: &Line, found: &Discovered) -> Result<(ToolCounts, bool), ConnectionError> {
        let known = self.store.list_pins(line.tenant, Some(line.id)).await?;
        let whose = (line.id, found.preset.as_ref());
        let done = reconcile(whose, known, (&found.tools, found.complete), self.clock.now());
        let changed = !done.pins.is_empty();
        if changed {
            self.store
                .upsert_pins(line.tenant, &Change::by_system(ACTION), done.pins)
                .await?;
        }
        Ok((done.counts, changed))
    }

    fn catalogue(&self, live: &Live, found: &Discovered) -> Catalogue {
        let server = live.upstream.server();
        Catalogue {
            version: 0,
            fetched_at: self.clock.now(),
            server: Some(Arc::from(server.info.clone())),
            capabilities: Some(Arc::from(server.capabilities.clone())),
            instructions: server.instructions.clone(),
            tools: found.tools.iter().map(|seen| seen.tool.raw.clone()).collect(),
            prompts: found.prompts.clone(),
            resources: found.resources.clone(),
            templates: found.templates.clone(),
            skills: found.skills.clone(),
            problems: found.problems.clone(),
        }
    }

    /// Notes why a connection could not be prepared, where that says something about it.
    async fn unprepared(
        self: &Arc<Self>,
        line: &Arc<Line>,
        settings: Option<&Settings>,
        error: ConnectionError,
    ) -> ConnectionError {
        if let Some(health) = error.health() {
            let detail = Some(self.words(&error, settings));
            self.note(line, ConnectionState::Error, health, detail).await;
        }
        if matches!(error, ConnectionError::NotFound) {
            self.lines
                .remove_if(&line.id, |_, known| Arc::ptr_eq(known, line));
            line.scheduled.store(false, Ordering::Release);
        }
        error
    }
}

/// Whether nothing was listed because the session was over before it was asked.
fn gone(error: &ConnectionError) -> bool {
    match error {
        ConnectionError::Discovery(error) => matches!(
            **error,
            RequestError::SessionExpired | RequestError::Closed { sent: false, .. }
        ),
        _ => false,
    }
}

/// What differs between two catalogues.
struct News {
    tools: bool,
    prompts: bool,
    resources: bool,
    server: bool,
}

impl News {
    fn between(before: Option<&Catalogue>, now: &Catalogue, pins: bool) -> Self {
        let Some(before) = before else {
            return Self {
                tools: true,
                prompts: true,
                resources: true,
                server: true,
            };
        };
        Self {
            tools: pins || !same(&before.tools, &now.tools),
            prompts: !same(&before.prompts, &now.prompts),
            // Skills are resources to clients.
            resources: !same(&before.resources, &now.resources)
                || !same(&before.templates, &now.templates)
                || !same(&before.skills, &now.skills),
            server: !same(before.server.as_slice(), now.server.as_slice())
                || !same(before.capabilities.as_slice(), now.capabilities.as_slice())
                || before.instructions != now.instructions,
        }
    }

    const fn any(&self) -> bool {
        self.tools || self.prompts || self.resources || self.server
    }

    const fn event(&self) -> ConnectionEventKind {
        let Self {
            tools,
            prompts,
            resources,
            ..
        } = *self;
        ConnectionEventKind::CatalogueChanged {
            tools,
            prompts,
            resources,
        }
    }
}

fn same(a: &[Arc<RawValue>], b: &[Arc<RawValue>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.get() == b.get())
}

fn summary(found: &Discovered, counts: ToolCounts) -> String {
    let first = found
        .problems
        .first()
        .map(String::as_str)
        .unwrap_or("a tool's schema cannot be compiled");
    format!(
        "{} problems, {} unusable tools; the first: {first}",
        found.problems.len(),
        counts.unusable
    )
}
