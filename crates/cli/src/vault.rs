//! Looks after the vault, beside the server.

use std::io::IsTerminal as _;
use std::path::Path;

use anyhow::Context as _;
use domain::{Secret, Tenant};
use store::{Change, Role, RootKey, SecretOwner, SecretSlot, Store};

use crate::args::{Place, VaultArgs, VaultCommand};
use crate::config::{self, Flags};
use crate::{client, files, output, serve};

pub(crate) fn run(args: VaultArgs) -> anyhow::Result<()> {
    let runtime = serve::small_runtime()?;
    match args.command {
        VaultCommand::Rotate { place, new_key } => runtime.block_on(rotate(place, new_key)),
        VaultCommand::Set { place, file, name } => {
            let value = secret(&file, &name)?;
            runtime.block_on(set(place, name, value))
        }
        VaultCommand::List { place, json } => runtime.block_on(list(place, json)),
        VaultCommand::Remove { place, name } => runtime.block_on(remove(place, name)),
    }
}

/// From a file or standard input; from a person, a line that is not shown.
fn secret(file: &str, name: &str) -> anyhow::Result<Secret> {
    let text = if file == "-" && std::io::stdin().is_terminal() {
        output::ask_hidden(&format!("value of {name} (not shown): "))?
    } else {
        client::secret(file)?
    };
    if text.is_empty() {
        return Err(output::Usage("no secret was given".to_owned()).into());
    }
    Ok(Secret::new(text))
}

async fn rotate(place: Place, new_key: bool) -> anyhow::Result<()> {
    let config = config::load(&Flags {
        config: place.config,
        data: place.data.clone(),
        listen: None,
    })
    .map_err(output::problems)?;
    serve::ensure_started(&config, &place.data)?;
    let (current, previous) = (
        place.data.join("vault.key"),
        place.data.join("vault.key.previous"),
    );
    if new_key {
        anyhow::ensure!(
            config.vault.key.is_none(),
            "the root key is given in the configuration; put the new one there"
        );
        begin(&current, &previous)?;
    }
    let store = serve::open_store(&config, &place.data, Role::Serve).await?;
    let bar = output::bar("sealing secrets again");
    let done = store
        .vault()
        .rotate(|at| {
            bar.set_length(at.total);
            bar.set_position(at.done);
        })
        .await?;
    bar.finish_and_clear();
    store.close().await;
    if previous.exists() {
        std::fs::remove_file(&previous).with_context(|| format!("cannot remove {}", previous.display()))?;
    }
    output::say(&format!(
        "{} secrets are sealed with the current root key",
        done.total
    ));
    Ok(())
}

/// Puts a new key in place. The present one is kept beside it first, so that a crash in between loses nothing.
fn begin(current: &Path, previous: &Path) -> anyhow::Result<()> {
    anyhow::ensure!(
        !previous.exists(),
        "an earlier rotation is not done: run `switchboard vault rotate` without --new-key first"
    );
    let present = files::read_private(current)?;
    files::new_private(previous, present.expose())
        .with_context(|| format!("cannot write {}", previous.display()))?;
    files::replace_private(current, RootKey::generate()?.to_base64().expose())
}

async fn set(place: Place, name: String, value: Secret) -> anyhow::Result<()> {
    let (store, tenant) = beside(&place).await?;
    store
        .vault()
        .put(tenant, &Change::by_system("vault.set"), &slot(name), &value)
        .await?;
    store.close().await;
    output::say("stored");
    output::note(
        "a running server uses it for what it opens from now on; `switchboard config reload` also ends what is open",
    );
    Ok(())
}

async fn list(place: Place, json: bool) -> anyhow::Result<()> {
    let (store, tenant) = beside(&place).await?;
    let found = store.vault().list(tenant, SecretOwner::Workspace).await?;
    store.close().await;
    let names: Vec<String> = found.into_iter().map(|found| found.slot.field).collect();
    if json {
        output::json(&serde_json::json!({ "items": names }));
    } else if names.is_empty() {
        output::say("nothing");
    } else {
        names.iter().for_each(|name| output::say(name));
    }
    Ok(())
}

async fn remove(place: Place, name: String) -> anyhow::Result<()> {
    let (store, tenant) = beside(&place).await?;
    let change = Change::by_system("vault.remove");
    let removed = store.vault().remove(tenant, &change, &slot(name.clone())).await?;
    store.close().await;
    anyhow::ensure!(
        removed,
        "the vault has no secret {name:?}; `switchboard vault list` shows those it has"
    );
    output::say("done");
    Ok(())
}

/// The store, opened beside a server that may run.
async fn beside(place: &Place) -> anyhow::Result<(Store, Tenant)> {
    let config = config::load(&Flags {
        config: place.config.clone(),
        data: place.data.clone(),
        listen: None,
    })
    .map_err(output::problems)?;
    let store = serve::open_beside(&config, &place.data).await?;
    let tenants = store.tenants().await?;
    let tenant = tenants
        .first()
        .context("the server has no workspace yet: start it once")?;
    Ok((store, *tenant))
}

const fn slot(field: String) -> SecretSlot {
    SecretSlot {
        owner: SecretOwner::Workspace,
        field,
    }
}
