//! Built-in and imported tools on the same road, with the same record, in which there is never a secret, argument or result.

use domain::{CallStatus, Channel, Effect, Entry, Fact, Outcome, Risk};
use serde_json::json;
use testkit::scripted::Reply;

use super::both;
use super::house::{Bench, Decided, House, asked, result};
use super::upstream::{Upstream, tool};

both!(
    both_leave_the_same_record,
    the_record_holds_no_secret_argument_or_result
);

// O005, O031, O032, V001, V187, C02
async fn both_leave_the_same_record(bench: Bench) {
    let upstream = Upstream::echoing(vec![tool("look")]).await;
    let house = House::with(bench, &[&upstream]).await;
    house.connect("files", &upstream).await;
    house.reading("files/look").await;
    house.grant("current_time", "allow").await;
    assert_eq!(house.names(), ["current_time", "files__look"]);
    let built_in = house
        .call("current_time", json!({ "time_zone": "Europe/Brussels" }))
        .await;
    assert_eq!(
        result(&built_in)["structuredContent"]["local"],
        "2027-01-15T09:00:00+01:00"
    );
    let imported = house.call("files__look", json!({ "a": 1 })).await;
    let entries = house.entries().await;
    for reply in [&built_in, &imported] {
        let facts: Vec<&Entry> = entries.iter().filter(|entry| entry.call == reply.call).collect();
        let kinds: Vec<&str> = facts.iter().map(|entry| entry.fact.kind()).collect();
        assert_eq!(kinds, ["decided", "ended"]);
        let item = house.item(reply.call).await;
        let decided = Decided::of(&item);
        assert_eq!(
            (&*decided.decision, decided.reason.code.as_str()),
            ("allow", "grant_allows")
        );
        assert_eq!(
            (decided.reason.rule, decided.risk, decided.effect),
            (None, Risk::Low, Effect::ReadOnly)
        );
        assert_eq!(
            (decided.channel, item.status),
            (Channel::Mcp, CallStatus::Succeeded)
        );
        let Fact::Decided { snapshot, run, .. } = &item.decided.fact else {
            panic!()
        };
        let Fact::Ended { outcome, result, .. } = &item.ended.unwrap().fact else {
            panic!()
        };
        assert_eq!(
            (*outcome, result.is_some(), *run),
            (Outcome::SUCCEEDED, true, None)
        );
        // The snapshot it was decided in is kept.
        let kept = house
            .store
            .snapshot(house.tenant, snapshot.unwrap())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(kept.tools.len(), 2);
        let shown = house
            .admin("activity.list", json!({ "call": reply.call.uuid() }))
            .await;
        let shown = &shown["items"][0];
        assert_eq!(
            (&shown["decision"], &shown["risk"]),
            (&json!("allow"), &json!("low"))
        );
        assert_eq!(
            (&shown["channel"], &shown["status"]),
            (&json!("mcp"), &json!("succeeded"))
        );
        assert_eq!(shown["actor_kind"], "agent_key");
    }
    house.verify().await;
}

// C02, O033
async fn the_record_holds_no_secret_argument_or_result(bench: Bench) {
    const CREDENTIAL: &str = "s3cret-credential";
    const ARGUMENT: &str = "s3cret-argument";
    const RESULT: &str = "s3cret-result";
    let upstream = Upstream::answering(vec![tool("look"), tool("fail"), tool("ask")], |request| {
        // A server that repeats whatever it is told.
        let seen = request.header("authorization").unwrap_or_default().to_owned();
        match request.json()["params"]["name"].as_str() {
            Some("fail") => Reply::bytes(500, format!("refused {seen}: {RESULT}")),
            _ => Reply::result(
                request,
                json!({ "content": [{ "type": "text", "text": RESULT }] }),
            ),
        }
    })
    .await;
    let house = House::with(bench, &[&upstream]).await;
    let account = json!({ "auth": { "type": "bearer", "token": CREDENTIAL } });
    house.connect_to("files", upstream.server.url(), account).await;
    house.reading("files/look").await;
    house.changing("files/fail").await;
    house.grant("files/ask", "allow").await;
    let mut said = Vec::new();
    for name in ["files__look", "files__fail"] {
        said.push(house.call(name, json!({ "text": ARGUMENT, ARGUMENT: 1 })).await);
    }
    let waiting = house.call("files__ask", json!({ "text": ARGUMENT })).await;
    let sent = upstream.server.received_of("tools/call");
    assert_eq!(sent.len(), 2);
    assert!(
        sent.iter()
            .all(|call| call.header("authorization") == Some(&format!("Bearer {CREDENTIAL}")))
    );
    // The agent never sees the credential, not even in what the server says.
    for reply in &said {
        assert!(!format!("{reply:?}").contains(CREDENTIAL), "{reply:?}");
    }
    let audit = house
        .admin("audit.list", json!({ "limit": 100 }))
        .await
        .to_string();
    let activity = house
        .admin("activity.list", json!({ "limit": 100 }))
        .await
        .to_string();
    let connection = house
        .admin("connections.show", json!({ "connection": "files" }))
        .await
        .to_string();
    let raw = format!("{:?}", house.entries().await);
    for secret in [CREDENTIAL, ARGUMENT, RESULT] {
        for (place, text) in [
            ("audit", &audit),
            ("activity", &activity),
            ("connection", &connection),
            ("raw", &raw),
        ] {
            assert!(!text.contains(secret), "{secret} in {place}: {text}");
        }
    }
    // The person who is asked sees what would be sent; on disk it is sealed.
    let question = house
        .admin("approvals.show", json!({ "approval": asked(&waiting).uuid() }))
        .await;
    assert_eq!(question["arguments"], json!({ "text": ARGUMENT }));
    house.verify().await;
    if let Some(folder) = &house.bench.folder {
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            for secret in [CREDENTIAL, ARGUMENT, RESULT] {
                let found = bytes
                    .windows(secret.len())
                    .any(|window| window == secret.as_bytes());
                assert!(!found, "{secret} lies in the database");
            }
        }
    }
}
