//! The first start: an agent, keys, and a sample server, so that the first governed call works at once.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use domain::{
    Agent, AgentId, Classification, Effect, Grant, GrantSubject, Handle, KeyKind, PageRequest, Permission,
    Risk, Role, Scope, Secret, ToolRef,
};
use store::{Change, PinName};

use super::commands;
use super::wire::Parts;
use crate::args::ServeArgs;
use crate::config::{CommandEntry, Config};
use crate::output;

/// The name of the sample connection.
const SAMPLE: &str = "sample";
/// The sample's tool that only reads, and is allowed.
const SAFE_TOOL: &str = "search_notes";
/// The sample's tool that changes something, and asks.
const RISKY_TOOL: &str = "delete_note";
/// How long the first start waits for the sample server.
const SAMPLE_WAIT: Duration = Duration::from_secs(10);

/// Names the first administrator's key, for automation.
const GIVEN_KEY: &str = "SWITCHBOARD_BOOTSTRAP_ADMIN_KEY";

/// What the first start made and shows once.
#[derive(Default)]
pub(super) struct First {
    admin: Option<Secret>,
    agent: Option<Secret>,
    sample: bool,
    given: bool,
    /// Where somebody becomes the first Owner.
    owner: Option<Secret>,
}

/// The key that automation gives the first administrator, read before anything is made.
///
/// # Errors
/// Says that it is not a key, without repeating it.
#[expect(
    clippy::disallowed_methods,
    reason = "this crate is the one that reads the environment"
)]
pub(super) fn given_key() -> Result<Option<Secret>, output::Usage> {
    let Some(text) = std::env::var_os(GIVEN_KEY) else {
        return Ok(None);
    };
    let secret = text.into_string().ok().map(Secret::new);
    secret
        .filter(|secret| {
            secret.expose().starts_with("sb_admin_") && identity::KeyText::parse(secret.expose()).is_ok()
        })
        .map(Some)
        .ok_or_else(|| {
            output::Usage(format!(
                "{GIVEN_KEY} must be a whole administrator's key, sb_admin_<uuid>_<43 characters of base64url>, or not be set; nothing was started"
            ))
        })
}

/// Prepares what is served. As long as there is no administrator's key it is the first start, however often one was begun.
pub(super) async fn bootstrap(
    parts: &Parts,
    config: &Config,
    args: &ServeArgs,
    given: Option<Secret>,
) -> anyhow::Result<First> {
    let mut first = First {
        owner: owner_link(parts, args.owner_link).await?,
        ..First::default()
    };
    let mut entries = config.connections.clone();
    if has_administrator(parts).await? {
        start(parts, config, &entries).await?;
        return Ok(first);
    }
    let agent = make_agent(parts).await?;
    make_keys(parts, agent, given, &mut first).await?;
    first.sample = !args.no_sample && !entries.iter().any(|entry| entry.name == SAMPLE);
    if first.sample {
        remember_sample(&args.place.data)?;
    }
    entries.extend(first.sample.then(sample_entry).transpose()?);
    start(parts, config, &entries).await?;
    if first.sample
        && let Err(error) = prepare_sample(parts, agent).await
    {
        tracing::warn!(%error, "the sample server could not be prepared; everything else works");
        first.sample = false;
    }
    Ok(first)
}

/// As long as nobody is an Owner, or where the operator asks for it, a start makes a link for one; those made before are worth nothing then.
async fn owner_link(parts: &Parts, asked: bool) -> anyhow::Result<Option<Secret>> {
    let looked = parts.store.has_owner(parts.tenant).await;
    if looked.context("the members cannot be read")? && !asked {
        return Ok(None);
    }
    let now = parts.gateway.clock().now();
    let (invitation, token, hash) = identity::invite(None, (Role::Owner, Scope::Organization), now)?;
    let change = Change::by_system("bootstrap");
    parts
        .store
        .insert_invitation(parts.tenant, &change, &invitation, hash)
        .await
        .context("the first Owner's invitation")?;
    let url = parts.gateway.public_url();
    Ok(Some(Secret::new(format!("{url}/invitations/{}", token.expose()))))
}

/// Whether anybody was ever given an administrator's key; one that was revoked counts.
async fn has_administrator(parts: &Parts) -> anyhow::Result<bool> {
    let mut page = PageRequest::first();
    loop {
        let found = parts
            .store
            .list_keys(parts.tenant, &page)
            .await
            .context("the keys cannot be read")?;
        if found.items.iter().any(|key| key.kind == KeyKind::Admin) {
            return Ok(true);
        }
        if found.next_cursor.is_none() {
            return Ok(false);
        }
        page.cursor = found.next_cursor;
    }
}

async fn start(parts: &Parts, config: &Config, entries: &[CommandEntry]) -> anyhow::Result<()> {
    let rules = crate::config::rules(&config.rules).map_err(output::problems)?;
    parts
        .gateway
        .set_rules(parts.tenant, rules)
        .await
        .context("the rules cannot be put in force")?;
    let adopted = commands::adopt(parts, parts.tenant, entries).await?;
    adopted
        .problems
        .iter()
        .for_each(|problem| tracing::warn!("{problem}"));
    for connection in parts.store.all_connections(parts.tenant).await? {
        let remote = connection.endpoint.transport() != domain::Transport::Stdio;
        // What the platform gave is known from what is shipped; it is asked when somebody uses or tests it.
        if connection.enabled && remote && !connections::preset::qualifies(&connection) {
            parts.connections.schedule(parts.tenant, connection.id);
        }
    }
    Ok(())
}

async fn make_agent(parts: &Parts) -> anyhow::Result<AgentId> {
    let change = Change::by_system("bootstrap");
    let handle = Handle::new("default")?;
    let id = match parts.store.agent_by_handle(parts.tenant, &handle).await? {
        Some(begun) => begun.id,
        None => {
            let agent = Agent {
                id: AgentId::generate(),
                handle,
                description: "The agent of the first start.".to_owned(),
                enabled: true,
                claimed: true,
                version: 1,
                created_at: parts.gateway.clock().now(),
                updated_at: parts.gateway.clock().now(),
            };
            let made = parts.store.create_agent(parts.tenant, &change, agent).await;
            made.context("the first agent")?.id
        }
    };
    let grant = Grant {
        agent: id,
        subject: GrantSubject::Tool(ToolRef::Capability("current_time".into())),
        permission: Permission::Allow,
        at: parts.gateway.clock().now(),
    };
    parts
        .store
        .set_grants(parts.tenant, &change, &[grant])
        .await
        .context("the first grant")?;
    Ok(id)
}

/// The administrator's key comes last: a first start that ends before it begins again.
async fn make_keys(
    parts: &Parts,
    agent: AgentId,
    given: Option<Secret>,
    first: &mut First,
) -> anyhow::Result<()> {
    let now = parts.gateway.clock().now();
    first.given = given.is_some();
    let name = "first administrator";
    let admin = match given {
        Some(secret) => identity::given_key(KeyKind::Admin, name, now, secret)?,
        None => identity::new_key(KeyKind::Admin, name, now)?,
    };
    let bound = identity::new_key(KeyKind::Agent(agent), "default", now)?;
    let change = Change::by_system("bootstrap");
    for key in [&bound, &admin] {
        parts
            .store
            .insert_key(parts.tenant, &change, key.record.clone())
            .await
            .context("the first keys")?;
    }
    parts.credentials.keys.refresh().await?;
    first.admin = Some(admin.secret);
    first.agent = Some(bound.secret);
    Ok(())
}

/// The sample is our own program with another argument.
fn sample_entry() -> anyhow::Result<CommandEntry> {
    let program = std::env::current_exe().context("where this program lies is not known")?;
    let text = format!(
        "name = {SAMPLE:?}\nlabel = \"Sample notebook\"\ncommand = [{:?}, \"sample-server\"]\n",
        program.display().to_string()
    );
    toml::from_str(&text).context("the sample server's entry")
}

/// The sample stays connected at later starts, as an ordinary entry that can be edited or removed.
fn remember_sample(data: &std::path::Path) -> anyhow::Result<()> {
    let folder = data.join("connections.d");
    crate::files::private_folder(&folder)?;
    let program = std::env::current_exe().context("where this program lies is not known")?;
    let text = format!(
        "# Made at the first start. Remove this file, then reload, to be rid of it.\n[[connections]]\nname = {SAMPLE:?}\n\
         label = \"Sample notebook\"\ncommand = [{:?}, \"sample-server\"]\n",
        program.display().to_string()
    );
    match crate::files::new_private(&folder.join("sample.toml"), &text) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(error).context("cannot write sample.toml")
        }
        _ => Ok(()),
    }
}

/// One tool low, read-only and allowed; one left high, allowed, and so asking.
async fn prepare_sample(parts: &Parts, agent: AgentId) -> anyhow::Result<()> {
    let tenant = parts.tenant;
    let named = domain::Namespace::new(SAMPLE)?;
    let found = parts
        .store
        .connection_by_namespace(tenant, &named)
        .await?
        .context("the sample connection is missing")?;
    tokio::time::timeout(SAMPLE_WAIT, parts.connections.prepare(tenant, found.id))
        .await
        .context("the sample server did not answer in time")??;
    let now = parts.gateway.clock().now();
    let change = Change::by_system("bootstrap");
    let safe = PinName {
        connection: found.id,
        name: SAFE_TOOL.into(),
    };
    let said = Classification {
        risk: Risk::Low,
        effect: Effect::ReadOnly,
        at: now,
    };
    parts
        .store
        .classify(tenant, &change, &safe, Some(said))
        .await
        .context("the sample's tool")?;
    let grant = |tool: &str| Grant {
        agent,
        subject: GrantSubject::Tool(ToolRef::Upstream {
            connection: found.id,
            name: Arc::from(tool),
        }),
        permission: Permission::Allow,
        at: now,
    };
    parts
        .store
        .set_grants(tenant, &change, &[grant(SAFE_TOOL), grant(RISKY_TOOL)])
        .await?;
    parts.gateway.refresh(tenant).await?;
    Ok(())
}

/// Says where somebody becomes the first Owner, as long as there is none, and where it serves; after the first start also the keys, this
/// once.
pub(super) fn tell(first: &First, config: &Config, address: SocketAddr) {
    if let Some(link) = &first.owner {
        output::say(&format!(
            "Become an Owner within 24 hours, by this link:\n  {}",
            link.expose()
        ));
    }
    let url = format!("http://{address}");
    output::say(&format!(
        "Switchboard serves on {url} (people reach it at {})",
        config.server.public_url
    ));
    let (Some(admin), Some(agent)) = (&first.admin, &first.agent) else {
        return;
    };
    let admin_line = if first.given {
        "the one you gave".to_owned()
    } else {
        admin.expose().to_owned()
    };
    output::say(&format!(
        "\nFirst start. Keep these keys; they are shown this once.\n  administrator: {admin_line}\n  agent default: {}\n",
        agent.expose()
    ));
    if !first.sample {
        output::say(
            "Next: add a server with `switchboard connections add --help`, or in [[connections]] of a configuration file.",
        );
        return;
    }
    output::say(&format!(
        "A sample server is connected. Try it in another terminal:\n\n  export SWITCHBOARD_URL={url}\n  export SWITCHBOARD_API_KEY={}\n\
         \n  switchboard tools call {SAMPLE}__{SAFE_TOOL} --agent default --arguments '{{\"query\": \"grant\"}}'      # allowed\
         \n  switchboard tools call {SAMPLE}__{RISKY_TOOL} --agent default --arguments '{{\"id\": \"welcome\"}}'       # asks you first\
         \n  switchboard approvals list\n\nPoint an MCP client at {url}/mcp with the agent's key as bearer token.",
        if first.given {
            "<your key>"
        } else {
            "<the administrator's key above>"
        }
    ));
}
