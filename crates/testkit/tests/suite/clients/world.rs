//! What the clients meet: one Switchboard before the fixture, once as it is and once as an older server.

use domain::{ConnectionId, ConnectionOwner, Effect, Permission, Risk, Sharing};
use http::Method;
use serde_json::{Value, json};
use testkit::elder::Elder;
use testkit::fixture::Fixture;
use testkit::house::House;
use testkit::http::send;

/// A house with two connections, `now` and `elder`, and an agent that was given some of their tools.
pub(crate) struct World {
    pub(crate) house: House,
    pub(crate) fixture: Fixture,
    pub(crate) connections: [(&'static str, ConnectionId); 2],
    _elder: Elder,
}

/// What the agent may use, asks for, and was refused.
const GIVEN: [(&str, Permission); 6] = [
    ("test_structured_content", Permission::Unattended),
    ("test_elicitation", Permission::Unattended),
    ("test_tool_with_progress", Permission::Unattended),
    ("test_wait_for_cancel", Permission::Unattended),
    ("test_simple_text", Permission::Ask),
    ("test_echo", Permission::Deny),
];

impl World {
    pub(crate) async fn make() -> Self {
        let fixture = Fixture::start().await.unwrap();
        let elder = Elder::of(&fixture.url).await.unwrap();
        let house = House::start(&[&fixture.url, &elder.url]).await;
        let mut connections = Vec::new();
        for (name, url) in [("now", &fixture.url), ("elder", &elder.url)] {
            let owner = ConnectionOwner::Workspace;
            let id = house.connect_with(owner, name, url, Sharing::PerSession).await;
            // Only what changes nothing may be called off after it was sent.
            house
                .classify(id, "test_wait_for_cancel", Risk::Low, Effect::ReadOnly)
                .await;
            for (tool, permission) in GIVEN {
                house.grant(house.agent, id, tool, permission).await;
            }
            house.grant_context(house.agent, id).await;
            connections.push((name, id));
        }
        Self {
            house,
            fixture,
            connections: connections.try_into().unwrap(),
            _elder: elder,
        }
    }

    /// The names the agent sees, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let listed = GIVEN
            .iter()
            .filter(|(_, permission)| *permission != Permission::Deny);
        let mut names: Vec<String> = listed
            .flat_map(|(tool, _)| {
                self.connections
                    .map(|(connection, _)| format!("{connection}__{tool}"))
            })
            .collect();
        names.sort();
        names
    }

    /// Says yes to a call over REST.
    pub(crate) async fn approve(&self, approval: &str) {
        let url = format!("{}/api/v1/approvals/{approval}/resolve", self.house.url);
        let key = format!("Bearer {}", self.house.admin);
        let headers = [("authorization", &*key), ("content-type", "application/json")];
        let body = json!({ "decision": "approved" }).to_string();
        let answer = send(Method::POST, &url, &headers, body).await.unwrap();
        assert!(answer.status.is_success(), "{answer:?}");
    }

    /// Says yes to the call that this page shows.
    pub(crate) async fn approve_at(&self, page: &Value) {
        let (_, approval) = page.as_str().unwrap().rsplit_once('/').unwrap();
        self.approve(approval).await;
    }
}
