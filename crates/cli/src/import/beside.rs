//! The import beside the server: the same database and vault, and the folder of commands.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use connections::import::Import;
use domain::{
    Account, AccountKind, Clock, Connection, ConnectionId, ConnectionOwner, ConnectionState, Endpoint,
    Health, Label, Secret, Sharing, Tenant,
};
use store::{Change, SecretOwner, SecretSlot, Store};

use super::file::{self, Section};
use super::names::Names;
use super::plan::{Becomes, Plan, Planned, World, plan};
use super::remote::RemoteDraft;
use super::report::{Report, Way};
use super::value::Ask;
use crate::args::ImportArgs;
use crate::config::{self, Config, Flags};
use crate::{output, serve};

/// How the change stands in the record.
const ACTION: &str = "connections.import";

pub(super) async fn import(args: &ImportArgs, import: Import) -> anyhow::Result<Report> {
    let flags = Flags {
        config: args.place.config.clone(),
        data: args.place.data.clone(),
        listen: None,
    };
    let config = config::load(&flags).map_err(output::problems)?;
    let store = serve::open_beside(&config, &args.place.data).await?;
    let done = with(args, import, &config, &store).await;
    store.close().await;
    done
}

async fn with(args: &ImportArgs, import: Import, config: &Config, store: &Store) -> anyhow::Result<Report> {
    let tenant = *store
        .tenants()
        .await?
        .first()
        .context("the server has no workspace yet: start it once")?;
    let mut names = Names::default();
    for connection in store.all_connections(tenant).await? {
        let url = match &connection.endpoint {
            Endpoint::Url { url, .. } => Some(&**url),
            Endpoint::Command { .. } => None,
        };
        names.connection(connection.namespace.as_str(), connection.label.as_str(), url);
    }
    config.connections.iter().for_each(|entry| names.command(entry));
    let egress = Some(serve::egress(config, config::Purpose::Mcp)?);
    let planned = plan(
        import,
        &mut World {
            names,
            egress,
            commands: true,
        },
    );
    if !args.dry_run {
        let spinner = output::spinner("importing");
        let done = apply(args, &planned, store, tenant).await;
        spinner.finish_and_clear();
        done?;
    }
    let way = Way::Beside {
        data: args.place.data.clone(),
        config: args.place.config.clone(),
    };
    Ok(Report::new(planned, way, args.dry_run))
}

async fn apply(args: &ImportArgs, plan: &Plan, store: &Store, tenant: Tenant) -> anyhow::Result<()> {
    let change = Change::by_system(ACTION);
    let mut sections = Vec::new();
    for entry in &plan.entries {
        match &entry.becomes {
            Becomes::Command(draft) => {
                // First the secrets: an entry never refers to what is not there.
                for (name, secret) in &draft.secrets {
                    put(store, (tenant, &change), (SecretOwner::Workspace, name), secret).await?;
                }
                sections.push(Section {
                    entry: &draft.entry,
                    remarks: remarks(entry),
                });
            }
            Becomes::Remote(draft) => connect(store, tenant, &change, draft)
                .await
                .with_context(|| entry.name.clone())?,
            Becomes::There(_) | Becomes::Nothing(_) => {}
        }
    }
    if !sections.is_empty() {
        file::append(&args.place.data, &origin(&args.file, plan), &sections)?;
    }
    Ok(())
}

/// Makes a connection that reaches nobody: disabled, untrusted, on no grant.
async fn connect(store: &Store, tenant: Tenant, change: &Change, draft: &RemoteDraft) -> anyhow::Result<()> {
    let made = store
        .create_connection(tenant, change, connection(draft)?)
        .await?;
    let owner = SecretOwner::Connection(made.id);
    let mut secrets: Vec<(String, &Secret)> = Vec::new();
    secrets.extend(
        draft
            .bearer
            .as_ref()
            .map(|token| ("credential".to_owned(), token.secret())),
    );
    secrets.extend(
        draft
            .headers
            .iter()
            .map(|(name, value)| (format!("header:{}", name.as_arc()), value.secret())),
    );
    for (field, secret) in &secrets {
        if let Err(error) = put(store, (tenant, change), (owner, field), secret).await {
            // Without its secrets it would be a connection nobody asked for.
            store.remove_connection(tenant, change, made.id).await?;
            return Err(error);
        }
    }
    Ok(())
}

fn connection(draft: &RemoteDraft) -> anyhow::Result<Connection> {
    let kind = if draft.bearer.is_some() {
        AccountKind::Bearer
    } else {
        AccountKind::None
    };
    Ok(Connection {
        id: ConnectionId::generate(),
        owner: ConnectionOwner::Workspace,
        label: Label::new(&draft.label)?,
        namespace: draft.namespace.clone(),
        endpoint: Endpoint::Url {
            url: draft.url.as_str().into(),
            transport: draft.transport,
        },
        account: Account {
            oauth: None,
            kind,
            header_name: None,
            value_prefix: None,
            configured: draft.bearer.is_some(),
        },
        header_names: draft.headers.names(),
        sharing: Sharing::Shared,
        allowed_tools: draft
            .allowed_tools
            .as_ref()
            .map(|names| names.iter().map(|n| Arc::from(n.as_str())).collect()),
        context: domain::ContextSelection::All,
        enabled: false,
        trusted: false,
        call_timeout_ms: draft.call_timeout_ms,
        preset: None,
        verified: None,
        state: ConnectionState::Pending,
        health: Health::Unchecked,
        health_detail: None,
        checked_at: None,
        negotiated: None,
        catalogue_version: 0,
        catalogue_at: None,
        version: 1,
        created_at: Clock::System.now(),
    })
}

async fn put(
    store: &Store,
    (tenant, change): (Tenant, &Change),
    (owner, field): (SecretOwner, &str),
    secret: &Secret,
) -> anyhow::Result<()> {
    let slot = SecretSlot {
        owner,
        field: field.to_owned(),
    };
    store
        .vault()
        .put(tenant, change, &slot, secret)
        .await
        .context("a secret cannot be put into the vault")?;
    Ok(())
}

fn origin(file: &Path, plan: &Plan) -> String {
    format!("{} ({})", file.display(), plan.dialect)
}

/// What stands above an entry: what is to be done first, then what was said about it.
fn remarks(entry: &Planned) -> Vec<String> {
    let asks = entry.asks.iter().map(|ask| match ask {
        Ask::Do(text) => format!("TO DO: {text}"),
        Ask::Vault { name, what } => {
            format!("TO DO: {what}: put it into the vault with `switchboard vault set {name}`")
        }
    });
    asks.chain(
        entry
            .notices
            .iter()
            .map(|notice| format!("{}: {}", notice.code, notice.text)),
    )
    .collect()
}
