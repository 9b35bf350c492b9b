//! Example skills, listed and loaded into a server on both databases.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::Method;
use serde_json::{Value, json};
use testkit::scripted::{Reply, Scripted};

use crate::house::{House, said};
use crate::people::owner;
use crate::scene::{Kind, Scene};
use crate::sign_in::rest;

/// What the shortlist of places to stay needs.
const TOOLS: [&str; 5] = [
    "airbnb_search",
    "airbnb_listing",
    "maps_distance_matrix",
    "maps_search_places",
    "maps_place_details",
];
const SLUG: &str = "accommodation-shortlist";

/// The examples of this repository.
fn examples() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/skills");
    path.to_str().unwrap().to_owned()
}

/// A server of stays, and whether it refuses every credential by now.
struct Stays {
    server: Scripted,
    refuses: Arc<AtomicBool>,
}

impl Stays {
    async fn start() -> Self {
        let refuses = Arc::new(AtomicBool::new(false));
        let closed = refuses.clone();
        let server = Scripted::start(move |request| {
            if closed.load(Ordering::SeqCst) {
                return Reply::status(401);
            }
            match &*request.rpc_method().unwrap_or_default() {
                "tools/list" => {
                    let tools =
                        TOOLS.map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }));
                    Reply::result(request, json!({ "tools": tools }))
                }
                _ => Reply::legacy(request),
            }
        });
        Self {
            server: server.await.unwrap(),
            refuses,
        }
    }
}

/// Loads the examples for OpenBnB; the one that is looked at.
fn load(house: &House, more: &[&str]) -> Value {
    let folder = examples();
    let line = ["example-skills", "load", "--mcp", "openbnb", "--from", &folder];
    let told = house.json(&[&line[..], more].concat());
    assert_eq!(told["skills"].as_array().unwrap().len(), 1, "{told}");
    told["skills"][0].clone()
}

fn reasons(skill: &Value) -> Vec<String> {
    let found = skill["dependencies"][0]["reasons"].as_array().unwrap();
    let words = |reason: &Value| match reason["tool"].as_str() {
        Some(tool) => format!("{} {tool}", reason["reason"].as_str().unwrap()),
        None => reason["reason"].as_str().unwrap().to_owned(),
    };
    found.iter().map(words).collect()
}

/// Changes the connection to the server of stays.
fn set(house: &House, more: &[&str]) {
    let version = house.json(&["connections", "show", "stays"])["version"].to_string();
    let line = ["connections", "update", "stays", "--expected-version", &version];
    house.json(&[&line[..], more].concat());
}

// V146, V154
#[test]
fn the_examples_are_listed_without_a_server() {
    let mut program = crate::house::program();
    program.args(["example-skills", "list", "--json", "--from", &examples()]);
    let said = said(&mut program, "");
    assert_eq!(said.code, 0, "{said:?}");
    let listed: Value = serde_json::from_str(&said.out).unwrap();
    let skills = listed["skills"].as_array().unwrap();
    assert!(skills.len() >= 10, "{listed}");
    let shortlist = skills.iter().find(|skill| skill["slug"] == SLUG).unwrap();
    assert_eq!(
        shortlist["requires"],
        json!([{ "preset": "openbnb", "tools": TOOLS }])
    );
    // What they need is what presets name.
    for need in skills
        .iter()
        .flat_map(|skill| skill["requires"].as_array().unwrap())
    {
        let preset = connections::preset::find(need["preset"].as_str().unwrap()).unwrap();
        let named = need["variant"].as_str();
        let variant = match named {
            Some(named) => preset.variant(named).unwrap(),
            None => &preset.variants[0],
        };
        for tool in need["tools"].as_array().unwrap() {
            let tool = tool.as_str().unwrap();
            assert!(preset.tool(variant, tool).is_some(), "{need}: {tool}");
        }
    }
}

mod sqlite {
    use super::{Kind, on};

    // V147, V148, V149, V150, V151, V152, V153, V154
    #[tokio::test(flavor = "multi_thread")]
    async fn examples_are_loaded() {
        on(Kind::Sqlite).await;
    }
}

mod postgres {
    use super::{Kind, on};

    // V147, V148, V149, V150, V151, V152, V153, V154
    #[tokio::test(flavor = "multi_thread")]
    async fn examples_are_loaded() {
        on(Kind::Postgres).await;
    }
}

async fn on(kind: Kind) {
    let stays = Stays::start().await;
    let url = stays.server.url();
    let more = format!("[[internal_urls]]\npurpose = \"mcp\"\nurl = \"{url}\"\n");
    if let Some(scene) = Scene::start(kind, &more).await {
        loaded(&scene, &stays).await;
    }
}

async fn loaded(scene: &Scene, stays: &Stays) {
    let house = &scene.house;
    // Nothing was made from this preset.
    let none = load(house, &[]);
    assert_eq!(
        (&none["outcome"], reasons(&none)),
        (&json!("blocked"), vec!["missing".to_owned()])
    );
    // The label says nothing; the preset does.
    let token = house.file("token", "t0ken-of-stays");
    let add = [
        "connections",
        "add",
        "--label",
        "stays",
        "--url",
        stays.server.url(),
    ];
    let made_from = [
        "--preset",
        "openbnb",
        "--variant",
        "deployed",
        "--bearer-file",
        &token,
    ];
    house.json(&[&add[..], &made_from].concat());
    checked(scene).await;
    let tools = house.json(&["tools", "list", "--connection", "stays"]);
    assert_eq!(tools["items"].as_array().unwrap().len(), TOOLS.len(), "{tools}");
    refused_while_closed(house);
    let before = state(house);
    let asked = stays.server.received().len();
    let shown = load(house, &["--dry-run"]);
    assert_eq!(
        (&shown["outcome"], &shown["readiness"]),
        (&json!("would_install"), &json!("ready"))
    );
    assert_eq!(house.json(&["skills", "list"])["items"], json!([]));
    let _browser = owner(house).await;
    let members = rest(house, &house.admin, (Method::GET, "/members"), &Value::Null).await;
    let member = members.json()["items"][0]["id"].as_str().unwrap().to_owned();
    let done = load(house, &["--user", &member]);
    assert_eq!(done["outcome"], "installed", "{done}");
    let skill = house.json(&["skills", "show", SLUG]);
    assert_eq!(
        (&skill["owner_id"], &skill["readiness"]),
        (&json!(member), &json!("ready"))
    );
    // It authenticated nothing, tested nothing, and changed neither what is offered nor a grant.
    assert_eq!(state(house), before);
    assert_eq!(stays.server.received().len(), asked);
    assert!(!house.log().contains("t0ken-of-stays") && !skill.to_string().contains("t0ken-of-stays"));
    never_overwritten(house);
    stays.refuses.store(true, Ordering::SeqCst);
    installed_although_it_needs_attention(house);
}

/// Waits until the server of stays was asked what it offers.
async fn checked(scene: &Scene) {
    scene
        .until("the server of stays is checked", || {
            let shown = scene.house.json(&["connections", "show", "stays"]);
            (!shown["checked_at"].is_null()).then_some(())
        })
        .await;
}

/// Each thing that closes the server to the skill, and that it closes it to no other.
fn refused_while_closed(house: &House) {
    // A new connection is not trusted yet.
    let closed = load(house, &["--dry-run"]);
    assert_eq!(
        (&closed["outcome"], reasons(&closed)),
        (&json!("blocked"), vec!["untrusted".to_owned()])
    );
    set(house, &["--trusted", "true", "--enabled", "false"]);
    assert!(reasons(&load(house, &[])).contains(&"disabled".to_owned()));
    set(house, &["--enabled", "true"]);
    house.run(&["connections", "test", "stays"]);
    for missing in TOOLS {
        let others = TOOLS.iter().filter(|tool| **tool != missing);
        let allowed: Vec<&str> = others.flat_map(|tool| ["--allowed-tools", *tool]).collect();
        set(house, &allowed);
        assert_eq!(reasons(&load(house, &[])), [format!("not_allowed {missing}")]);
    }
    let all: Vec<&str> = TOOLS.iter().flat_map(|tool| ["--allowed-tools", *tool]).collect();
    set(house, &all);
    // Nobody else's skill is kept out by it.
    let two = json!({ "dry_run": true, "skills": [
        { "slug": "open", "description": "d", "instructions": "i" },
        { "slug": "closed", "description": "d", "instructions": "i", "requires": [{ "preset": "linear", "tools": ["get_issue"] }] },
    ] });
    let input = house.file("two.json", &two.to_string());
    let told = house.json(&["skills", "install", "--input", &input]);
    let outcomes = [&told["skills"][0]["outcome"], &told["skills"][1]["outcome"]];
    assert_eq!(outcomes, ["would_install", "blocked"]);
}

/// A slug that is used stays as it is, edited or archived.
fn never_overwritten(house: &House) {
    let edit = [
        "skills",
        "update",
        SLUG,
        "--expected-version",
        "1",
        "--instructions",
        "Mine.",
    ];
    house.json(&edit);
    assert_eq!(load(house, &[])["outcome"], "exists");
    house.json(&["skills", "archive", SLUG, "--expected-version", "2"]);
    assert_eq!(load(house, &[])["outcome"], "exists");
    let kept = house.json(&["skills", "show", SLUG]);
    assert_eq!(
        (&kept["instructions"], &kept["archived"]),
        (&json!("Mine."), &json!(true))
    );
}

/// One whose server must be signed in to is installed, says so, and can be edited.
fn installed_although_it_needs_attention(house: &House) {
    house.run(&["connections", "test", "stays"]);
    let need = json!({ "preset": "openbnb", "variant": "deployed", "tools": ["airbnb_search"] });
    let skill = json!({ "slug": "later", "description": "d", "instructions": "i", "requires": [need] });
    let input = house.file("later.json", &json!({ "skills": [skill] }).to_string());
    let told = house.json(&["skills", "install", "--input", &input]);
    let told = &told["skills"][0];
    assert_eq!(
        (&told["outcome"], &told["readiness"], reasons(told)),
        (
            &json!("installed"),
            &json!("needs_attention"),
            vec!["needs_auth".to_owned()]
        )
    );
    let edit = [
        "skills",
        "update",
        "later",
        "--expected-version",
        "1",
        "--title",
        "Mine",
    ];
    let edited = house.json(&edit);
    assert_eq!(
        (&edited["title"], &edited["readiness"]),
        (&json!("Mine"), &json!("needs_attention"))
    );
}

/// What installing must leave as it is.
fn state(house: &House) -> Value {
    json!({
        "connection": house.json(&["connections", "show", "stays"]),
        "grants": house.json(&["grants", "list", "--all"]),
    })
}
