//! What a server lists.

use api::Page;
use api::connections::{CatalogueItem, CatalogueKind};
use axum::Json;
use axum::extract::Path;
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::{Client, input};
use super::connections::one;
use super::error::Refusal;

/// Items of a page, where nothing else is asked for.
const PAGE: u16 = 50;

#[derive(Deserialize)]
struct Wanted {
    limit: Option<u16>,
    cursor: Option<String>,
    skill_uri: Option<String>,
}

pub(crate) async fn page(client: Client, Path(named): Path<String>) -> Result<Json<Value>, Refusal> {
    let wanted: Wanted = client.query()?;
    let connection = one(&client, &named).await?;
    let mut asked = input([
        ("connection", json!(connection.id)),
        ("kind", json!(CatalogueKind::All)),
        ("limit", json!(wanted.limit.unwrap_or(PAGE))),
    ]);
    for (name, value) in [("cursor", wanted.cursor), ("skill_uri", wanted.skill_uri)] {
        if let Some(value) = value {
            asked.insert(name.to_owned(), value.into());
        }
    }
    let page = client
        .ask::<Page<CatalogueItem>>("connections.catalogue", asked)
        .await?
        .body;
    let of = |kind: CatalogueKind| -> Vec<Value> {
        let items = page.items.iter().filter(|item| item.kind == kind);
        items.map(told).collect()
    };
    let version = connection.catalog_version;
    Ok(Json(json!({
        "tools": of(CatalogueKind::Tools),
        "prompts": of(CatalogueKind::Prompts),
        "resources": of(CatalogueKind::Resources),
        "skills": of(CatalogueKind::Skills),
        "next_cursor": page.next_cursor,
        "config_version": connection.version,
        "catalog_version": (version > 0).then(|| version.to_string()),
    })))
}

/// An item as its server lists it; a skill with what it is approved by.
fn told(item: &CatalogueItem) -> Value {
    let mut told = item.definition.clone();
    if let (Some(digest), Some(object)) = (&item.manifest_digest, told.as_object_mut()) {
        object.insert("manifest_digest".to_owned(), json!(digest));
        object.insert("status".to_owned(), json!(item.status));
    }
    told
}
