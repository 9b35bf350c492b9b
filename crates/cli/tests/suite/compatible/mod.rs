//! Published clients of another product, unchanged, against the real binary (`docs/compatible.md`).

mod quick_start;
mod refusals;
mod verbs;

use std::collections::HashMap;

use serde_json::{Value, json};
use testkit::database::Database;
use testkit::inkbox::{Inkbox, Published};
use testkit::tools::Tools;

use crate::house::{House, until_told};
use crate::scene::Kind;
use crate::sign_in::guarded::Guarded;
use crate::sign_in::{Configured, configured};

/// A served Switchboard, and a server behind it that wants a token.
struct Scene {
    house: House,
    guarded: Guarded,
    tools: Tools,
    _database: Database,
}

impl Scene {
    async fn start(kind: Kind) -> Option<Self> {
        let tools = Tools::find()?;
        let guarded = Guarded::start(None).await;
        let Configured {
            database,
            folder,
            start,
        } = configured(kind, &guarded, &[]).await?;
        Some(Self {
            house: House::start_as(folder, start),
            guarded,
            tools,
            _database: database,
        })
    }

    /// The published Rust client with this key.
    fn rust(&self, key: &str) -> Inkbox {
        self.client(Published::Rust, key)
    }

    fn client(&self, published: Published, key: &str) -> Inkbox {
        Inkbox::start(&self.tools, published, &self.house.url, key).unwrap()
    }

    /// Another agent: its id, and a key of it.
    fn agent(&self, handle: &str, claimed: bool) -> (String, String) {
        let claimed = if claimed { "true" } else { "false" };
        let made = self
            .house
            .json(&["agents", "create", handle, "--claimed", claimed]);
        let key = self
            .house
            .json(&["keys", "create", handle, "--kind", "agent", "--agent", handle]);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&made["id"]), text(&key["secret"]))
    }

    /// Waits until a connection stands so.
    async fn until(&self, client: &mut Inkbox, connection: &Value, status: &str) -> Value {
        let what = format!("the connection is {status}");
        until_told(&self.house, &what, async || {
            let shown = client
                .good("get", json!({ "connection": connection }))
                .await
                .unwrap();
            (shown["status"] == status).then_some(shown)
        })
        .await
    }
}

/// The fields of an object that are named here.
fn only(object: &Value, fields: &[&str]) -> Value {
    let picked: HashMap<_, _> = fields
        .iter()
        .map(|field| (*field, object[*field].clone()))
        .collect();
    json!(picked)
}
