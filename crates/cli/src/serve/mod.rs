//! Serves: opens the store, wires the parts, listens, and stops in order.

mod background;
mod bootstrap;
mod commands;
mod ports;
mod stopping;
mod strangers;
mod wire;

use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use domain::{Clock, Secret};
use gateway::Registry;
use rustix::process::{Resource, Rlimit, setrlimit};
use store::{Backend, Options, Role, RootKey, RootKeys, Store};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

use crate::args::ServeArgs;
use crate::config::{self, Config, Flags, StoreBackend};
use crate::{files, output};

pub(crate) use wire::egress;

/// Names the secret that signs the states of sign-ins.
const STATE_KEY: &str = "MCP_OAUTH_STATE_SIGNING_SECRET";
/// The least it must have.
const STATE_KEY_LENGTH: usize = 32;

/// Serves until told to stop.
pub(crate) fn run(args: ServeArgs, registry: Registry) -> ExitCode {
    let flags = Flags {
        config: args.place.config.clone(),
        data: args.place.data.clone(),
        listen: args.listen,
    };
    let config = match config::load(&flags) {
        Ok(config) => config,
        Err(problems) => return output::wrong_configuration(&problems),
    };
    let given = match bootstrap::given_key() {
        Ok(given) => given,
        Err(mistake) => return output::fail(&mistake.into()),
    };
    log(&config);
    let done = full_runtime().and_then(|runtime| {
        let outcome = runtime.block_on(serve(args, flags, config, given, registry));
        runtime.shutdown_timeout(Duration::from_secs(2));
        outcome
    });
    done.map_or_else(|error| output::fail(&error), |()| ExitCode::SUCCESS)
}

/// The sample server on standard input and output.
pub(crate) fn sample() -> anyhow::Result<()> {
    small_runtime()?
        .block_on(sample_server::run_stdio())
        .context("the sample server failed")
}

/// The process that ends a killed server's children; the server starts it and speaks to it.
pub(crate) fn reap() -> anyhow::Result<()> {
    let input = std::io::stdin();
    if input.is_terminal() {
        return Err(output::Usage("this is not for people: a server starts it by itself".to_owned()).into());
    }
    mcp::reap(input.lock()).context("signals cannot be kept off")
}

/// What is in memory is not written to a file when the process falls: keys and tokens are among it.
fn no_core_dumps() {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    if let Err(error) = setrlimit(Resource::Core, none) {
        tracing::warn!(%error, "core dumps cannot be switched off; one would hold secrets");
    }
}

async fn serve(
    args: ServeArgs,
    flags: Flags,
    config: Config,
    given: Option<Secret>,
    registry: Registry,
) -> anyhow::Result<()> {
    no_core_dumps();
    files::private_folder(&flags.data)?;
    let listener = TcpListener::bind(config.server.listen).await.with_context(|| {
        format!(
            "cannot listen on {}; is another server running?",
            config.server.listen
        )
    })?;
    let ending = server::Ending::default();
    let store = open_store(&config, &flags.data, Role::Serve).await?;
    let parts = wire::wire(&config, &flags, store, registry).await?;
    let first = bootstrap::bootstrap(&parts, &config, &args, given).await?;
    background::start(&parts, ending.stop.clone());
    let address = listener.local_addr()?;
    bootstrap::tell(&first, &config, address);
    stop_on_signal(ending.stop.clone(), parts.clone());
    let serving = server::serve(listener, parts.app(&config), ending.clone());
    let drain = Duration::from_secs(config.server.drain_seconds);
    stopping::serve_and_stop(parts, serving, (ending, drain)).await
}

/// Opens the store the configuration names: to serve from it, or to work beside a server.
pub(crate) async fn open_store(config: &Config, data: &Path, role: Role) -> anyhow::Result<Store> {
    let backend = match config.store.backend {
        StoreBackend::Sqlite => Backend::Sqlite {
            path: data.join("switchboard.db"),
        },
        StoreBackend::Postgres => {
            let url = config.store.url.as_ref().context("store.url is missing")?;
            Backend::Postgres {
                url: url.0.read().map_err(anyhow::Error::msg)?,
                max_connections: config.store.max_connections,
            }
        }
    };
    let options = Options {
        durability: config.store.durability.into(),
        clock: Clock::System,
        connections_per_agent: config.upstream.connections_per_agent,
        role,
        ..Options::new(backend, root_keys(config, data)?)
    };
    Store::open(options).await.context("the store cannot be opened")
}

/// Opens the store of a server that was started once, to work beside it.
pub(crate) async fn open_beside(config: &Config, data: &Path) -> anyhow::Result<Store> {
    ensure_started(config, data)?;
    open_store(config, data, Role::Beside).await
}

/// Refuses a folder without a database: opening would make one.
pub(crate) fn ensure_started(config: &Config, data: &Path) -> anyhow::Result<()> {
    anyhow::ensure!(
        config.store.backend == StoreBackend::Postgres || data.join("switchboard.db").exists(),
        "there is no server in {data} yet: start it once with `switchboard serve --data {data}`, or name its folder with --data",
        data = data.display()
    );
    Ok(())
}

impl From<config::Durability> for store::Durability {
    fn from(durability: config::Durability) -> Self {
        match durability {
            config::Durability::PowerCut => Self::PowerCut,
            config::Durability::ProcessCrash => Self::ProcessCrash,
        }
    }
}

/// The vault's root keys: from the configuration, else from DATA/vault.key, which is made when there is none.
fn root_keys(config: &Config, data: &Path) -> anyhow::Result<RootKeys> {
    let parse = |text: &domain::Secret| RootKey::from_base64(text).context("the vault's key");
    let mut previous = Vec::new();
    for key in &config.vault.previous_keys {
        previous.push(parse(&key.0.read().map_err(anyhow::Error::msg)?)?);
    }
    let left = data.join("vault.key.previous");
    if left.exists() {
        previous.push(parse(&files::read_private(&left)?)?);
    }
    let current = match &config.vault.key {
        Some(key) => parse(&key.0.read().map_err(anyhow::Error::msg)?)?,
        None => {
            files::private_folder(data)?;
            let path = data.join("vault.key");
            if !path.exists() {
                files::new_private(&path, RootKey::generate()?.to_base64().expose())
                    .with_context(|| format!("cannot write {}", path.display()))?;
            }
            parse(&files::read_private(&path)?)?
        }
    };
    Ok(RootKeys { current, previous })
}

/// What signs the states of sign-ins: from the configuration, else from the environment, else from DATA/oauth-state.key, which is made
/// when there is none. With PostgreSQL there may be other replicas, which must have the same: then it is not made.
#[expect(
    clippy::disallowed_methods,
    reason = "this crate is the one that reads the environment"
)]
fn state_key(config: &Config, data: &Path) -> anyhow::Result<Option<Secret>> {
    let given = match (&config.oauth.state_signing_secret, std::env::var(STATE_KEY)) {
        (Some(secret), _) => Some(secret.0.read().map_err(anyhow::Error::msg)?),
        (None, Ok(text)) => Some(Secret::new(text)),
        (None, Err(_)) => None,
    };
    if let Some(given) = given {
        anyhow::ensure!(
            given.expose().len() >= STATE_KEY_LENGTH,
            "{STATE_KEY} must have at least {STATE_KEY_LENGTH} characters; `openssl rand -base64 32` makes one"
        );
        return Ok(Some(given));
    }
    if config.store.backend == StoreBackend::Postgres {
        return Ok(None);
    }
    files::private_folder(data)?;
    let path = data.join("oauth-state.key");
    if !path.exists() {
        files::new_private(&path, RootKey::generate()?.to_base64().expose())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(Some(files::read_private(&path)?))
}

fn log(config: &Config) {
    let filter = EnvFilter::try_new(&config.log.filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let builder = builder.with_ansi(std::io::stderr().is_terminal());
    match config.log.format {
        config::LogFormat::Text => builder.with_target(false).init(),
        config::LogFormat::Json => builder.json().init(),
    }
}

/// SIGINT and SIGTERM stop; SIGHUP reads the configuration again.
fn stop_on_signal(stop: CancellationToken, parts: wire::Parts) {
    use tokio::signal::unix::{SignalKind, signal};
    let listen = move || -> std::io::Result<_> {
        Ok((
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
            signal(SignalKind::hangup())?,
        ))
    };
    tokio::spawn(async move {
        let Ok((mut interrupt, mut terminate, mut hangup)) = listen() else {
            return;
        };
        loop {
            tokio::select! {
                _ = interrupt.recv() => break,
                _ = terminate.recv() => break,
                _ = hangup.recv() => parts.reload_all().await,
            }
        }
        tracing::info!("stopping");
        stop.cancel();
    });
}

fn full_runtime() -> anyhow::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start")
}

/// A runtime for commands that do one thing.
pub(crate) fn small_runtime() -> anyhow::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start")
}
