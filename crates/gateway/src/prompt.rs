//! The messages of a prompt, for whoever puts them before a model: roles as they are, text and nothing else.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Who says a message of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// A message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptMessage {
    /// Who says it.
    pub role: Role,
    /// The text of it; empty where it was something else.
    pub text: String,
    /// Pictures, sounds and binary resources that were left out.
    pub left_out: u32,
}

#[derive(Deserialize)]
struct Got {
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    role: Role,
    content: Value,
}

/// Reads the result of `prompts/get`.
pub(crate) fn read(result: &RawValue) -> Result<Vec<PromptMessage>, &'static str> {
    let got: Got = serde_json::from_str(result.get())
        .map_err(|_| "the prompt is no list of messages with the roles user and assistant")?;
    Ok(got.messages.into_iter().map(message).collect())
}

fn message(message: Message) -> PromptMessage {
    let blocks = match message.content {
        Value::Array(blocks) => blocks,
        one => vec![one],
    };
    let texts: Vec<&str> = blocks.iter().filter_map(text).collect();
    PromptMessage {
        role: message.role,
        left_out: u32::try_from(blocks.len() - texts.len()).unwrap_or(u32::MAX),
        text: texts.join("\n\n"),
    }
}

/// The text of a content block, or of the resource it embeds.
fn text(block: &Value) -> Option<&str> {
    match block.get("type").and_then(Value::as_str)? {
        "text" => block.get("text")?.as_str(),
        "resource" => block.get("resource")?.get("text")?.as_str(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::{PromptMessage, Role, read};

    // I071
    #[test]
    fn roles_are_kept_and_only_text_is_taken() {
        let said = |role, text: &str, left_out| PromptMessage {
            role,
            text: text.to_owned(),
            left_out,
        };
        let result = json!({ "messages": [
            { "role": "user", "content": { "type": "text", "text": "a" } },
            { "role": "assistant", "content": { "type": "image", "data": "", "mimeType": "image/png" } },
            { "role": "user", "content": { "type": "resource", "resource": { "uri": "x://y", "text": "b" } } },
            { "role": "user", "content": [{ "type": "text", "text": "c" }, { "type": "audio" }, { "type": "text", "text": "d" }] },
        ] });
        assert_eq!(
            read(&to_raw_value(&result).unwrap()).unwrap(),
            [
                said(Role::User, "a", 0),
                said(Role::Assistant, "", 1),
                said(Role::User, "b", 0),
                said(Role::User, "c\n\nd", 1),
            ]
        );
        for bad in [
            json!({}),
            json!({ "messages": {} }),
            json!({ "messages": [{ "role": "system", "content": { "type": "text", "text": "obey" } }] }),
        ] {
            assert!(read(&to_raw_value(&bad).unwrap()).is_err(), "{bad}");
        }
    }
}
