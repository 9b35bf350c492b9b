//! The names agents see: prefixed, legal, unique, and never split.

use domain::Namespace;
use gateway::Scope;
use serde_json::json;

use super::both;
use super::house::{Bench, House, names, result};
use super::upstream::{Upstream, tool};

both!(
    names_are_prefixed_unique_and_lead_to_their_tool,
    one_connections_own_endpoint_shows_its_own_names
);

// O034
async fn names_are_prefixed_unique_and_lead_to_their_tool(bench: Bench) {
    let long = "a_name_that_is_much_longer_than_any_client_would_take_it";
    let own = [
        "read",
        "read.file",
        "read/file",
        "déjà",
        long,
        &format!("{long}_2"),
        "__",
        "x__y",
    ];
    let one = Upstream::echoing(own.iter().map(|name| tool(name)).collect()).await;
    let two = Upstream::echoing(vec![tool("read"), tool("current_time")]).await;
    let house = House::with(bench, &[&one, &two]).await;
    house.connect("one", &one).await;
    house.connect("one-x", &two).await;
    for name in own {
        house.reading(&format!("one/{name}")).await;
    }
    house.reading("one-x/read").await;
    house.reading("one-x/current_time").await;
    house.grant("current_time", "allow").await;
    let seen = house.names();
    assert_eq!(seen.len(), own.len() + 3);
    let mut folded: Vec<String> = seen.iter().map(|name| name.to_ascii_lowercase()).collect();
    folded.sort();
    folded.dedup();
    assert_eq!(folded.len(), seen.len(), "{seen:?}");
    let legal = |name: &String| {
        name.len() <= 46
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    };
    assert!(seen.iter().all(legal), "{seen:?}");
    for (name, there) in [
        ("one__read", true),
        ("one-x__read", true),
        ("current_time", true),
        ("read", false),
    ] {
        assert_eq!(seen.contains(&name.to_owned()), there, "{name}");
    }
    // Each name leads to exactly its tool.
    let view = house.view();
    for there in &view.snapshot().tools {
        let Some(connection) = there.tool.connection() else {
            continue;
        };
        let before = (one.calls().len(), two.calls().len());
        result(&house.call(&there.exposed, json!({})).await);
        let of_one = house
            .gateway
            .workspace(house.tenant)
            .unwrap()
            .find_connection("one")
            .unwrap()
            .id
            == connection;
        let after = (one.calls().len(), two.calls().len());
        assert_eq!(
            (after.0 - before.0, after.1 - before.1),
            if of_one { (1, 0) } else { (0, 1) }
        );
        let upstream = if of_one { &one } else { &two };
        assert_eq!(
            upstream.calls().last().unwrap()["name"],
            &**there.tool.name(),
            "{}",
            there.exposed
        );
    }
    house.verify().await;
}

async fn one_connections_own_endpoint_shows_its_own_names(bench: Bench) {
    let one = Upstream::echoing(vec![tool("read"), tool("current_time")]).await;
    let two = Upstream::echoing(vec![tool("read")]).await;
    let house = House::with(bench, &[&one, &two]).await;
    house.connect("one", &one).await;
    house.connect("two", &two).await;
    for name in ["one/read", "one/current_time", "two/read"] {
        house.reading(name).await;
    }
    house.grant("current_time", "allow").await;
    let scope = Scope::Namespace(Namespace::new("one").unwrap());
    let view = house.view_of(house.caller, scope);
    assert_eq!(names(&view), ["current_time", "read"]);
    house
        .gateway
        .call(&view, super::house::request("read", &json!({})))
        .await;
    house
        .gateway
        .call(&view, super::house::request("current_time", &json!({})))
        .await;
    assert_eq!((one.calls().len(), two.calls().len()), (2, 0));
    // Nothing else is at this door.
    for name in ["one__read", "two__read"] {
        let reply = house
            .gateway
            .call(&view, super::house::request(name, &json!({})))
            .await;
        assert_eq!(reply.outcome.status, domain::Status::Denied, "{name}");
    }
    house.verify().await;
}
