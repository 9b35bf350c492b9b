//! Looks after the vault, beside a server that is stopped.

use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;
use domain::Secret;
use store::{Change, Role, RootKey, SecretOwner, SecretSlot};

use crate::args::{Place, VaultArgs, VaultCommand};
use crate::config::{self, Flags};
use crate::{files, output, serve};

pub(crate) fn run(args: VaultArgs) -> anyhow::Result<()> {
    let runtime = serve::small_runtime()?;
    match args.command {
        VaultCommand::Rotate { place, new_key } => runtime.block_on(rotate(place, new_key)),
        VaultCommand::Set { place, name } => runtime.block_on(set(place, name)),
    }
}

async fn rotate(place: Place, new_key: bool) -> anyhow::Result<()> {
    let config = config::load(&Flags {
        config: place.config,
        data: place.data.clone(),
        listen: None,
    })
    .map_err(output::problems)?;
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

async fn set(place: Place, name: String) -> anyhow::Result<()> {
    let config = config::load(&Flags {
        config: place.config,
        data: place.data.clone(),
        listen: None,
    })
    .map_err(output::problems)?;
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .read_to_string(&mut text)
        .context("cannot read standard input")?;
    let secret = Secret::new(text.trim_end_matches(['\r', '\n']));
    anyhow::ensure!(
        !secret.expose().is_empty(),
        "nothing came on standard input; pass the secret there"
    );
    // A server may run: it reads a secret when it first needs it.
    let store = serve::open_store(&config, &place.data, Role::Beside).await?;
    let tenant = *store
        .tenants()
        .await?
        .first()
        .context("the server has no workspace yet: start it once")?;
    let slot = SecretSlot {
        owner: SecretOwner::Workspace,
        field: name,
    };
    store
        .vault()
        .put(tenant, &Change::by_system("vault.set"), &slot, &secret)
        .await?;
    store.close().await;
    output::say("stored");
    Ok(())
}
