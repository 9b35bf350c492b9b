//! Telephone calls and what was used on them, read by the published clients. I079 to I086.

use domain::{
    Channel, ConnectionOwner, Grant, GrantSubject, Permission, PhoneCallId, PhoneParty, PhoneStatus,
    PhoneTurn, RunId, ToolRef,
};
use gateway::{AgentRef, Exchange, Scope, ToolRequest, ViewKey};
use serde_json::{Value, json};
use store::Change;
use testkit::house::House;
use testkit::inkbox::{Inkbox, Published};
use testkit::scripted::{Reply, Scripted};
use testkit::tools::Tools;

/// A call on which the agent looked at the time, then used a server three times: well, badly, and so that nobody knows.
struct OnThePhone {
    house: House,
    call: PhoneCallId,
    _server: Scripted,
}

async fn server() -> Scripted {
    let server = Scripted::start(|request| {
        let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
        let called = request.json()["params"]["name"].clone();
        match request.rpc_method().as_deref() {
            Some("tools/list") => Reply::result(
                request,
                json!({ "tools": [tool("book"), tool("fail"), tool("lose")] }),
            ),
            Some("tools/call") if called == "lose" => Reply::close(),
            Some("tools/call") => {
                let text = json!({ "type": "text", "text": "a secret result" });
                let failed = called == "fail";
                Reply::result(request, json!({ "content": [text], "isError": failed }))
            }
            _ => Reply::legacy(request),
        }
    });
    server.await.unwrap()
}

impl OnThePhone {
    async fn start() -> Self {
        let server = server().await;
        let house = House::start(&[server.url()]).await;
        let id = house
            .connect(ConnectionOwner::Agent(house.agent), "shop", server.url())
            .await;
        house.discover(id).await;
        let change = Change::by_system("test");
        let grant = Grant {
            agent: house.agent,
            subject: GrantSubject::Tool(ToolRef::Capability("current_time".into())),
            permission: Permission::Allow,
            at: house.gateway.clock().now(),
        };
        house
            .store
            .set_grants(house.tenant, &change, &[grant])
            .await
            .unwrap();
        house.gateway.refresh(house.tenant).await.unwrap();
        let call = house.make_phone_call("+15550002222", false).await;
        let (id, run) = (call.id, call.run);
        let scene = Self {
            house,
            call: id,
            _server: server,
        };
        for name in ["current_time", "shop__book", "shop__fail", "shop__lose"] {
            scene.uses(name, Some(run)).await;
        }
        // Not on the telephone.
        scene.uses("shop__book", None).await;
        scene
    }

    async fn uses(&self, name: &str, run: Option<RunId>) {
        let house = &self.house;
        let key = ViewKey {
            principal: house.keys.check(&house.agent_key).unwrap(),
            agent: AgentRef::Bound,
            scope: Scope::All,
            channel: Channel::Phone,
        };
        let view = house.gateway.view(&key).unwrap();
        let request = ToolRequest {
            name: name.into(),
            arguments: Some(serde_json::value::to_raw_value(&json!({})).unwrap()),
            exchange: Exchange {
                run,
                ..Exchange::default()
            },
        };
        house.gateway.call(&view, request).await;
    }

    fn client(&self, tools: &Tools, published: Published, key: &str) -> Inkbox {
        Inkbox::start(tools, published, &self.house.url, key).unwrap()
    }

    /// Ends the call, with these words said on it.
    async fn ends(&self) {
        let house = &self.house;
        let change = Change::by_system("test");
        for (seq, (party, words)) in [(PhoneParty::Remote, "Hello?"), (PhoneParty::Agent, "Good day.")]
            .into_iter()
            .enumerate()
        {
            let turn = PhoneTurn {
                seq: u32::try_from(seq).unwrap(),
                at_ms: 1_000 * seq as u64,
                party,
                text: words.into(),
                created_at: house.gateway.clock().now(),
            };
            house
                .store
                .add_phone_turn(house.tenant, self.call, &turn)
                .await
                .unwrap();
        }
        let mut call = house
            .store
            .phone_call(house.tenant, self.call)
            .await
            .unwrap()
            .unwrap();
        call.status = PhoneStatus::Completed;
        call.ended_at = Some(house.gateway.clock().now());
        house
            .store
            .update_phone_call(house.tenant, &change, call)
            .await
            .unwrap();
    }
}

fn rows(page: &Value, fields: &[&str]) -> Vec<String> {
    let row = |item: &Value| {
        let field = |field: &&str| item[*field].as_str().unwrap_or("-").to_owned();
        fields.iter().map(field).collect::<Vec<_>>().join(" ")
    };
    page["items"].as_array().unwrap().iter().map(row).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn both_feeds_as_the_clients_read_them() {
    let Some(tools) = Tools::find() else { return };
    let scene = OnThePhone::start().await;
    let mut client = scene.client(&tools, Published::Rust, &scene.house.agent_key);
    let with =
        |limit: u32, offset: u32| json!({ "call": scene.call.to_string(), "limit": limit, "offset": offset });
    let all = client.good("invocations", with(50, 0)).await.unwrap();
    // I079, I083
    assert_eq!(
        rows(&all, &["source", "tool_name", "status", "connection_label"]),
        [
            "builtin current_time succeeded -",
            "external_mcp book succeeded shop",
            "external_mcp fail failed shop",
            "external_mcp lose unknown shop",
        ]
    );
    assert!(
        all["items"][1]["server_url"].as_str().unwrap().ends_with("/mcp"),
        "{all}"
    );
    // I084
    assert!(!all.to_string().contains("a secret result"), "{all}");
    // I086: it goes on, and nobody knows how one of them ended.
    assert_eq!(all["incomplete"], true);
    // I080 to I082
    let external = client.good("activity", with(2, 0)).await.unwrap();
    assert_eq!(
        external,
        json!({ "items": [["shop", "book", "succeeded", null], ["shop", "fail", "failed", "tool_error"]],
            "limit": 2, "offset": 0, "has_more": true, "incomplete": true })
    );
    let rest = client.good("activity", with(2, 2)).await.unwrap();
    assert_eq!(
        (&rest["items"][0][1], &rest["has_more"]),
        (&"lose".into(), &false.into()),
        "{rest}"
    );
    // I085
    for limit in [0, 201] {
        let refused = client.ask("activity", with(limit, 0)).await.unwrap();
        assert_eq!(refused["status"], 422, "{refused}");
    }
    // What an older client cannot read is left out for it, and it is told that there was more.
    let mut python = scene.client(&tools, Published::Python, &scene.house.agent_key);
    let known = python.good("invocations", with(50, 0)).await.unwrap();
    let seen = known["items"].as_array().or_else(|| known.as_array()).unwrap();
    assert_eq!(seen.len(), 3, "{known}");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_and_whose_they_are() {
    let Some(tools) = Tools::find() else { return };
    let scene = OnThePhone::start().await;
    let house = &scene.house;
    house.make_phone_call("+15550003333", true).await;
    let mut own = scene.client(&tools, Published::Rust, &house.agent_key);
    let mut admin = scene.client(&tools, Published::Rust, &house.admin);
    let named = json!({ "call": scene.call.to_string() });
    let going_on = own.ask("hangup", named.clone()).await.unwrap();
    assert_eq!(going_on["status"], 503, "{going_on}");
    scene.ends().await;
    let ended = own.good("call", named.clone()).await.unwrap();
    assert_eq!(
        (
            &ended["status"],
            &ended["direction"],
            &ended["remote_phone_number"]
        ),
        (&"completed".into(), &"inbound".into(), &"+15550002222".into()),
        "{ended}"
    );
    assert_eq!(
        own.good("hangup", named.clone()).await.unwrap()["status"],
        "completed"
    );
    for published in [Published::Rust, Published::Python] {
        let mut client = scene.client(&tools, published, &house.agent_key);
        let said = client.good("transcripts", named.clone()).await.unwrap();
        let words: Vec<_> = said
            .as_array()
            .unwrap()
            .iter()
            .map(|turn| &turn["text"])
            .collect();
        assert_eq!(words, ["Hello?", "Good day."], "{published:?}");
        // A call that was turned away is not the agent's business.
        let listed = client.good("calls", json!({})).await.unwrap();
        assert_eq!(
            listed.as_array().map(Vec::len),
            Some(1),
            "{published:?}: {listed}"
        );
    }
    let mut count = async |with: Value| admin.good("calls", with).await.unwrap().as_array().unwrap().len();
    assert_eq!(count(json!({})).await, 2);
    assert_eq!(count(json!({ "blocked": true })).await, 1);
    assert_eq!(
        count(json!({ "blocked": false, "agent": house.agent.to_string() })).await,
        1
    );
    let other = house.make_agent("other").await;
    let mut foreign = scene.client(&tools, Published::Rust, &other.key);
    for what in ["call", "transcripts", "hangup"] {
        let refused = foreign.ask(what, named.clone()).await.unwrap();
        assert_eq!(refused["status"], 404, "{what}: {refused}");
    }
    let with = json!({ "call": scene.call.to_string(), "limit": 10, "offset": 0 });
    for what in ["activity", "invocations"] {
        let refused = foreign.ask(what, with.clone()).await.unwrap();
        assert_eq!(refused["status"], 404, "{what}: {refused}");
    }
}
