//! Copies a store into another one: `switchboard store copy`.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use domain::Secret;
use serde_json::json;
use store::{Backend, Copied};

use crate::args::{CopyArgs, StoreArgs, StoreCommand};
use crate::config::SecretSource;
use crate::output::{self, Usage};
use crate::{files, serve};

/// The database's file in a data folder.
const FILE: &str = "switchboard.db";
/// Connections a copy needs.
const CONNECTIONS: u32 = 2;

pub(crate) fn run(args: StoreArgs) -> anyhow::Result<()> {
    let StoreCommand::Copy(args) = args.command;
    let (from, to) = (backend(&args.from)?, backend(&args.to)?);
    if args.from == args.to {
        return Err(Usage("--from and --to are the same".to_owned()).into());
    }
    if let Backend::Sqlite { path } = &to
        && let Some(folder) = path.parent()
    {
        files::private_folder(folder)?;
    }
    let copied = serve::small_runtime()?.block_on(copy(&from, &to, &args))?;
    tell(&copied, &args, &to);
    Ok(())
}

async fn copy(from: &Backend, to: &Backend, args: &CopyArgs) -> anyhow::Result<Copied> {
    let bar = output::bar("copying");
    let copied = store::copy(from, to, |at| {
        bar.set_length(at.total);
        bar.set_position(at.done);
        bar.set_message(at.table);
    })
    .await;
    bar.finish_and_clear();
    copied.with_context(|| format!("nothing was copied from {} to {}", args.from, args.to))
}

/// The store that an argument names. URLs hold passwords, so they are named and not written out, as in the configuration.
fn backend(named: &str) -> anyhow::Result<Backend> {
    let source = match named.split_once(':') {
        Some(("env", name)) => SecretSource::Env(name.to_owned()),
        Some(("file", path)) => SecretSource::File(PathBuf::from(path)),
        Some(("postgres" | "postgresql", _)) => {
            let mistake = "the URL of a database is not written on the command line, where others can read it: name it with env:NAME or file:PATH";
            return Err(Usage(mistake.to_owned()).into());
        }
        _ => {
            let path = Path::new(named).join(FILE);
            return Ok(Backend::Sqlite { path });
        }
    };
    let url = source.read().map_err(Usage)?;
    if !is_postgres(&url) {
        let mistake = format!("{named} does not hold a URL like postgres://user:password@host:5432/database");
        return Err(Usage(mistake).into());
    }
    Ok(Backend::Postgres {
        url,
        max_connections: CONNECTIONS,
    })
}

fn is_postgres(url: &Secret) -> bool {
    ["postgres://", "postgresql://"]
        .iter()
        .any(|scheme| url.expose().starts_with(scheme))
}

fn tell(copied: &Copied, args: &CopyArgs, to: &Backend) {
    let rows: u64 = copied.tables.iter().map(|(_, rows)| rows).sum();
    if args.json {
        let tables: serde_json::Map<_, _> = copied
            .tables
            .iter()
            .map(|(table, rows)| ((*table).to_owned(), json!(rows)))
            .collect();
        let records: Vec<_> = copied
            .records
            .iter()
            .map(|record| {
                json!({
                    "organization_id": record.tenant.organization.uuid(),
                    "workspace_id": record.tenant.workspace.uuid(),
                    "entries": record.entries,
                    "head_seq": record.head.map(|head| head.seq),
                    "head_hash": record.head.map(|head| head.link.to_string()),
                })
            })
            .collect();
        output::json(
            &json!({ "rows": rows, "tables": tables, "records": records, "root_key": copied.root_key }),
        );
        return;
    }
    let mut table = output::Table::new(["table", "rows"]);
    for (name, rows) in &copied.tables {
        table.row([(*name).to_owned(), rows.to_string()]);
    }
    output::say(&table.fitted());
    output::say(&format!("{rows} rows were copied and counted on both sides"));
    for record in &copied.records {
        output::say(&match record.head {
            Some(head) => format!(
                "the record verifies: {} entries, up to {} with hash {}, as on the source",
                record.entries, head.seq, head.link
            ),
            None => format!(
                "the record verifies: {} entries, none of them linked yet",
                record.entries
            ),
        });
    }
    if let Some(key) = &copied.root_key {
        let how = match to {
            Backend::Sqlite { .. } => "vault.key in the folder, or vault.key of the configuration",
            Backend::Postgres { .. } => "vault.key of the configuration",
        };
        output::note(&format!(
            "secrets stay sealed with root key {key}: serve from the copy with the same key ({how})"
        ));
    }
}
