//! Voices, and how an agent speaks.

use api::Page;
use api::phone::{Voice, VoiceSettings};
use axum::Json;
use axum::body::Bytes;
use serde_json::{Map, Value, json};

use super::client::{Client, OfAgent, input};
use super::error::Refusal;

pub(crate) async fn voices(client: Client) -> Result<Json<Value>, Refusal> {
    let mut voices: Vec<Voice> = Vec::new();
    let mut wanted = input([("limit", json!(100))]);
    loop {
        let page = client
            .ask::<Page<Voice>>("voices.list", wanted.clone())
            .await?
            .body;
        voices.extend(page.items);
        match page.next_cursor {
            Some(cursor) => wanted.insert("cursor".to_owned(), json!(cursor)),
            None => break,
        };
    }
    let default = voices
        .iter()
        .find(|voice| voice.default)
        .map(|voice| voice.id.clone());
    let shown: Vec<_> = voices
        .iter()
        .map(|voice| {
            json!({
                "id": voice.id,
                "name": voice.name,
                "description": voice.description,
                "available": voice.available,
                "preview_url": null,
                "mcp_supported": voice.mcp_supported,
            })
        })
        .collect();
    Ok(Json(
        json!({ "voices": shown, "default_voice": default.unwrap_or_default() }),
    ))
}

pub(crate) async fn config(client: Client) -> Result<Json<Value>, Refusal> {
    let OfAgent { agent_identity_id } = client.query()?;
    let agent = agent_identity_id.map(|agent| ("agent".to_owned(), json!(agent)));
    let found = client
        .ask::<VoiceSettings>("voice.show", agent.into_iter().collect())
        .await?;
    Ok(Json(told(&found.body)))
}

pub(crate) async fn replace(client: Client, body: Bytes) -> Result<Json<Value>, Refusal> {
    let given = client.body(&body)?;
    let mut wanted = Map::new();
    for (field, value) in given {
        let ours = match field.as_str() {
            "agent_identity_id" => "agent",
            "voice" | "instructions" => field.as_str(),
            // The model is chosen here; older clients still name one.
            "model" => continue,
            other => {
                let detail = "is not a field of the settings; there are voice and instructions";
                return Err(Refusal::invalid(
                    &other.chars().take(64).collect::<String>(),
                    detail,
                ));
            }
        };
        if !value.is_null() {
            wanted.insert(ours.to_owned(), value);
        }
    }
    let set = client.ask::<VoiceSettings>("voice.set", wanted).await?;
    Ok(Json(told(&set.body)))
}

pub(crate) async fn authority(client: Client, body: Bytes) -> Result<Json<Value>, Refusal> {
    let mut wanted = client.body(&body)?;
    if let Some(agent) = wanted.remove("agent_identity_id") {
        wanted.insert("agent".to_owned(), agent);
    }
    let set = client.ask::<VoiceSettings>("voice.set_authority", wanted).await?;
    Ok(Json(told(&set.body)))
}

fn told(settings: &VoiceSettings) -> Value {
    json!({
        "agent_identity_id": settings.agent_id,
        "voice": settings.voice,
        "model": null,
        "effective_voice": settings.effective_voice,
        "effective_model": "default",
        "instructions": settings.instructions,
        "authority_mode": settings.authority_mode,
    })
}
