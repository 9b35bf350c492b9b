//! What every client does, and what it must see.

use domain::Permission;
use serde_json::{Value, json};
use testkit::program::program;
use testkit::tools::Tools;

use super::driver::{Driver, Era, Profile, Sdk, Target};
use super::world::World;

/// How the client reaches Switchboard.
#[derive(Debug, Clone, Copy)]
pub(super) enum Way {
    /// Streamable HTTP.
    Http,
    /// Standard input and output, through `switchboard mcp`.
    Bridge,
}

pub(super) async fn check(tools: &Tools, sdk: Sdk, era: Era, way: Way) {
    let world = World::make().await;
    // The Python client that answers questions at all says that it shows pages too.
    let profile = Profile { sdk, era, modes: "" };
    let (mut client, connected) = Driver::start(tools, profile, target(&world, way)).await;
    assert_eq!(connected["protocol"], era.revision(), "{connected}");
    assert_eq!(connected["server"]["name"], "switchboard", "{connected}");
    assert_eq!(
        names(&client.result(json!({ "do": "tools" })).await),
        world.names()
    );

    for (connection, _) in world.connections {
        allowed_and_denied(&mut client, connection).await;
        risky(&mut client, &world, connection).await;
        progress(&mut client, connection).await;
        context(&mut client, connection).await;
    }
    cancelled(&mut client, &world).await;
    changed(&mut client, &world).await;

    let profile = Profile {
        modes: "form,url",
        ..profile
    };
    let (mut client, _) = Driver::start(tools, profile, target(&world, way)).await;
    for (connection, _) in world.connections {
        elicitation(&mut client, connection).await;
    }
    risky_with_urls(&mut client, &world, era).await;
}

/// Where the world's agent is served.
fn target(world: &World, way: Way) -> Target {
    let key = ("SWITCHBOARD_API_KEY", world.house.agent_key.clone());
    match way {
        Way::Http => Target {
            words: vec![format!("{}/mcp", world.house.url).into()],
            variables: vec![key],
        },
        Way::Bridge => Target {
            words: vec![program("switchboard").unwrap().into(), "mcp".into()],
            variables: vec![key, ("SWITCHBOARD_URL", world.house.url.clone())],
        },
    }
}

fn names(items: &Value) -> Vec<String> {
    let items = items.as_array().unwrap().iter();
    let mut names: Vec<String> = items
        .map(|item| item["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

// V064 V160 X011
async fn allowed_and_denied(client: &mut Driver, connection: &str) {
    let sunny = client
        .call(
            &format!("{connection}__test_structured_content"),
            json!({ "city": "Bern" }),
        )
        .await;
    assert_eq!(
        sunny["structuredContent"],
        json!({ "city": "Bern", "celsius": 21.5 }),
        "{sunny}"
    );

    let name = format!("{connection}__test_echo");
    let denied = client.call(&name, json!({ "text": "hi" })).await;
    assert_eq!(denied["isError"], true, "{denied}");
    assert_eq!(denied["structuredContent"]["code"], "grant_denies", "{denied}");
    let explained = denied["content"][0]["text"].as_str().unwrap();
    assert!(
        explained.contains("a grant denies this agent this tool"),
        "{explained}"
    );
}

async fn risky(client: &mut Driver, world: &World, connection: &str) {
    let name = format!("{connection}__test_simple_text");
    let asked = client.call(&name, json!({})).await;
    assert_eq!(asked["isError"], true, "{asked}");
    let details = &asked["structuredContent"];
    assert_eq!(details["code"], "approval_required", "{asked}");
    let page = details["url"].as_str().unwrap();
    assert!(page.starts_with(&world.house.url), "{asked}");
    assert!(
        asked["content"][0]["text"].as_str().unwrap().contains(page),
        "{asked}"
    );
    world.approve(details["approval_id"].as_str().unwrap()).await;
    let done = client.call(&name, json!({})).await;
    assert_ne!(done["isError"], true, "{done}");
}

/// A client that can show a page is sent there: in the old era with an error, in the new one within the call.
async fn risky_with_urls(client: &mut Driver, world: &World, era: Era) {
    let order = json!({ "do": "call", "name": "now__test_simple_text", "arguments": {} });
    let call = client.begin(order.clone()).await;
    let (page, done) = match era {
        Era::Modern => {
            let shown = client.event("elicitation").await;
            let page = shown["params"]["url"].clone();
            world.approve_at(&page).await;
            (page, client.reply(call).await)
        }
        Era::Legacy => {
            let refused = client.reply(call).await;
            assert_eq!(refused["error"]["code"], -32042, "{refused}");
            let page = refused["error"]["data"]["elicitations"][0]["url"].clone();
            world.approve_at(&page).await;
            (page, client.ask(order).await)
        }
    };
    assert!(page.as_str().unwrap().starts_with(&world.house.url), "{page}");
    assert_ne!(done["result"]["isError"], true, "{done}");
    assert_eq!(done["result"]["content"][0]["type"], "text", "{done}");
}

async fn progress(client: &mut Driver, connection: &str) {
    let order =
        json!({ "do": "call", "name": format!("{connection}__test_tool_with_progress"), "progress": true });
    client.result(order).await;
    let heard = client.heard("progress");
    let steps: Vec<f64> = heard
        .iter()
        .map(|event| event["progress"].as_f64().unwrap())
        .collect();
    assert_eq!(steps, [0.0, 50.0, 100.0], "{heard:?}");
}

async fn elicitation(client: &mut Driver, connection: &str) {
    let name = format!("{connection}__test_elicitation");
    let done = client.call(&name, json!({ "message": "Who are you?" })).await;
    let text = done["content"][0]["text"].as_str().unwrap();
    assert!(text.contains(r#""username":"ada""#), "{done}");
    let heard = client.heard("elicitation");
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert_eq!(heard[0]["params"]["message"], "Who are you?", "{heard:?}");
    assert!(
        heard[0]["params"]["_meta"]["progressToken"].is_null(),
        "an upstream's token: {heard:?}"
    );
    assert_eq!(
        heard[0]["params"]["requestedSchema"]["required"],
        json!(["username", "email"])
    );
}

/// Prompts, resources, templates and completion.
async fn context(client: &mut Driver, connection: &str) {
    let prefixed = |name: &str| format!("{connection}__{name}");
    let prompts = names(&client.result(json!({ "do": "prompts" })).await);
    assert!(
        prompts.contains(&prefixed("test_prompt_with_arguments")),
        "{prompts:?}"
    );
    let arguments = json!({ "arg1": "one", "arg2": "two" });
    let order =
        json!({ "do": "prompt", "name": prefixed("test_prompt_with_arguments"), "arguments": arguments });
    let prompt = client.result(order).await;
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert_eq!(text, "Prompt with arguments: arg1='one', arg2='two'");
    let argument = json!({ "name": "arg1", "value": "par" });
    let order =
        json!({ "do": "complete", "prompt": prefixed("test_prompt_with_arguments"), "argument": argument });
    let completed = client.result(order).await;
    assert_eq!(
        completed["completion"]["values"],
        json!(["paris", "park", "party"])
    );

    let resources = client.result(json!({ "do": "resources" })).await;
    let text = find(&resources, "uri", "test://static-text");
    let read = client
        .result(json!({ "do": "resource", "uri": text["uri"] }))
        .await;
    assert_eq!(read["contents"][0]["mimeType"], "text/plain", "{read}");
    let templates = client.result(json!({ "do": "templates" })).await;
    assert!(!templates.as_array().unwrap().is_empty());
}

fn find<'a>(items: &'a Value, key: &str, ends: &str) -> &'a Value {
    let mut items = items.as_array().unwrap().iter();
    items
        .find(|item| item[key].as_str().is_some_and(|text| text.ends_with(ends)))
        .unwrap()
}

async fn cancelled(client: &mut Driver, world: &World) {
    for (count, (connection, _)) in (1..).zip(world.connections) {
        let order = json!({ "do": "call", "name": format!("{connection}__test_wait_for_cancel") });
        let call = client.begin(order).await;
        world.fixture.wait_for_waiting_calls(count).await;
        client.cancel(call).await;
        assert_eq!(client.reply(call).await["error"]["cancelled"], true);
        world.fixture.wait_for_cancelled_calls(count).await;
    }
}

/// A grant changes: the client hears of it, and the tool is there.
async fn changed(client: &mut Driver, world: &World) {
    client.result(json!({ "do": "listen" })).await;
    client.heard("tools_changed");
    let (connection, id) = world.connections[0];
    let (house, tool) = (&world.house, "test_image_content");
    house.grant(house.agent, id, tool, Permission::Unattended).await;
    client.event("tools_changed").await;
    let name = format!("{connection}__{tool}");
    let listed = names(&client.result(json!({ "do": "tools" })).await);
    assert!(listed.contains(&name), "{listed:?}");
    let image = client.call(&name, json!({})).await;
    assert_eq!(image["content"][0]["type"], "image", "{image}");
    house.revoke(house.agent, id, tool).await;
    client.event("tools_changed").await;
    let gone = client.call(&name, json!({})).await;
    assert_eq!(gone["structuredContent"]["code"], "no_grant", "{gone}");
}
