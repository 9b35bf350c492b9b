//! A store that was filled by use, copied to the other database and back, and served from there.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use testkit::database::Database;

use crate::client::{Client, succeeded};
use crate::house::{House, Said, Start, program, said};
use crate::scene::{Head, Kind, Scene};
use crate::sign_in::guarded::Guarded;

/// Where a store is, for the command and for a server.
struct Place {
    named: String,
    environment: Vec<(String, String)>,
    config: String,
    folder: tempfile::TempDir,
    database: Option<Database>,
}

const URL: &str = "COPY_URL";

impl Place {
    async fn new(kind: Kind) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let (mut environment, mut config) = (Vec::new(), String::new());
        let mut named = folder.path().join("data").to_str().unwrap().to_owned();
        let mut database = None;
        if kind == Kind::Postgres {
            let Some(made) = Database::postgres().await.unwrap() else {
                println!("left out: SWITCHBOARD_TEST_POSTGRES names no server");
                return None;
            };
            environment.push((URL.to_owned(), made.url().unwrap()));
            config = format!("[store]\nbackend = \"postgres\"\nurl = {{ env = \"{URL}\" }}\n");
            named = format!("env:{URL}");
            database = Some(made);
        }
        Some(Self {
            named,
            environment,
            config,
            folder,
            database,
        })
    }

    /// Serves from it, with the root key and the internal URLs of where it came from.
    fn serve(self, from: &Scene) -> (House, Option<Database>) {
        let config = self.folder.path().join("config.toml");
        let vault = "[vault]\nkey = { env = \"COPY_KEY\" }\n";
        let url = from.upstream.url();
        let urls = format!("[[internal_urls]]\npurpose = \"mcp\"\nurl = \"{url}\"\n");
        std::fs::write(&config, format!("{}{vault}{urls}", self.config)).unwrap();
        let mut environment = self.environment;
        environment.push(("COPY_KEY".to_owned(), root_key(from)));
        let start = Start {
            options: vec!["--config".to_owned(), config.to_str().unwrap().to_owned()],
            environment,
            within: Vec::new(),
        };
        (from.house.moved(self.folder, start), self.database)
    }
}

fn root_key(scene: &Scene) -> String {
    std::fs::read_to_string(Path::new(&scene.house.data()).join("vault.key")).unwrap()
}

fn copy(from: &str, to: &str, environment: &[(String, String)], more: &[&str]) -> Said {
    let mut command = program();
    command
        .args(["store", "copy", "--from", from, "--to", to])
        .args(more)
        .envs(environment.iter().cloned());
    said(&mut command, "")
}

/// Leaves something in every table.
async fn fill(scene: &Scene, guarded: &Guarded) {
    let bearer = format!("Bearer {}", scene.house.admin);
    let post = async |path: &str, body: Value| {
        let headers = [
            ("authorization", &*bearer),
            ("content-type", "application/json"),
            ("idempotency-key", path),
        ];
        let url = format!("{}/api/v1{path}", scene.house.url);
        let made = testkit::http::send(http::Method::POST, &url, &headers, body.to_string()).await;
        assert_eq!(made.unwrap().status.as_u16(), 201, "{path}");
    };
    let account =
        json!({ "label": "guarded", "url": guarded.url(), "enabled": false, "auth": { "type": "oauth" } });
    post("/connections", account).await;
    post(
        "/connections/guarded/authorizations",
        json!({ "expected_version": 1 }),
    )
    .await;
    post(
        "/agents",
        json!({ "handle": "second", "description": "n\u{e4}me \u{1F600}" }),
    )
    .await;
    scene
        .house
        .json(&["voice", "set", "--agent", "default", "--voice", "nova"]);
    on_the_phone(scene).await;
    a_skill(scene).await;
    a_client(scene).await;
    let bearer = scene.house.file("bearer", "s3cret");
    scene.connect_with("kept", &["--bearer-file", &bearer]).await;
    for tool in ["up__read", "up__write", "kept__write"] {
        scene.call_well(tool).await;
    }
    assert_eq!(scene.upstream.last_credential().as_deref(), Some("Bearer s3cret"));
    let ask = [
        "grants",
        "set",
        "default",
        "--connection",
        "up",
        "--tool",
        "write",
    ];
    scene.house.json(&[&ask[..], &["--permission", "ask"]].concat());
    let asked = Client::begin(&scene.house).await.call("up__write").await.unwrap();
    assert!(!succeeded(asked.as_ref()), "{asked:?}");
    let waiting = scene.house.json(&["approvals", "list"]);
    assert_eq!(waiting["items"].as_array().unwrap().len(), 1, "{waiting}");
    let set = ["vault", "set", "token", "--data", &scene.house.data()];
    assert_eq!(scene.house.run_with(&set, "", "hunter2").code, 0);
}

/// A telephone call with a word said on it, as whoever serves voices writes it.
async fn on_the_phone(scene: &Scene) {
    let shown = scene.house.json(&["agents", "show", "default"]);
    let agent = shown["id"].as_str().unwrap().replace('-', "");
    let id = "0193a1b2c3d47e5f8a9b0c1d2e3f4a5b";
    let database = Database::sqlite(&Path::new(&scene.house.data()).join("switchboard.db"));
    let call = format!(
        "INSERT INTO phone_calls SELECT organization_id, workspace_id, x'{id}', 1, agent_id, x'{id}', NULL, '+15550002222', 'inbound',
         'completed', FALSE, NULL, NULL, 'contact_scoped', 1, 2, 1, 2 FROM agents WHERE agent_id = x'{agent}'"
    );
    database.run(&call).await.unwrap();
    let turn = "INSERT INTO phone_turns SELECT organization_id, workspace_id, phone_call_id, 0, 5, 'remote', 'Hello?', 1 FROM phone_calls";
    database.run(turn).await.unwrap();
    database.close().await;
}

/// A person, and a client they let in.
async fn a_client(scene: &Scene) {
    crate::people::owner(&scene.house).await;
    let database = Database::sqlite(&Path::new(&scene.house.data()).join("switchboard.db"));
    let id = "0193a1b2c3d47e5f8a9b0c1d2e3f4a5d";
    let statements = [
        format!("INSERT INTO clients SELECT organization_id, x'{id}', 'c', '[\"https://c.example/cb\"]', 1, NULL FROM organizations"),
        format!(
            "INSERT INTO consents SELECT organization_id, workspace_id, x'{id}', 1, NULL, agent_id, 'c', 'c', '/mcp', 1, NULL, NULL, NULL
             FROM agents WHERE handle = 'default'"
        ),
        format!(
            "INSERT INTO tokens SELECT organization_id, workspace_id, x'{id}', consent_id, 'refresh', zeroblob(32), NULL, NULL, 1,
             9000000000000000, NULL FROM consents"
        ),
    ];
    for statement in statements {
        database.run(&statement).await.unwrap();
    }
    database.close().await;
}

/// A skill of the workspace.
async fn a_skill(scene: &Scene) {
    let id = "0193a1b2c3d47e5f8a9b0c1d2e3f4a5c";
    let database = Database::sqlite(&Path::new(&scene.house.data()).join("switchboard.db"));
    let skill = format!(
        "INSERT INTO skills (organization_id, workspace_id, skill_id, seq, slug, title, description, body, requires, archived, version,
         created_at, updated_at)
         SELECT organization_id, workspace_id, x'{id}', 1, 'greet', 'Greet', 'Greets', 'Say hello.', '[]', FALSE, 1, 1, 1 FROM workspaces"
    );
    database.run(&skill).await.unwrap();
    database.close().await;
}

/// Every row of a SQLite file, by table.
async fn rows(path: &Path) -> BTreeMap<String, Vec<Vec<Option<String>>>> {
    let database = Database::sqlite(path);
    let columns = "SELECT m.name, group_concat('quote(' || c.name || ')', ', ')
        FROM sqlite_master m JOIN pragma_table_info(m.name) c
        WHERE m.type = 'table' AND m.name NOT LIKE 'seaql%' AND m.name NOT LIKE 'sqlite%' GROUP BY m.name";
    let mut found = BTreeMap::new();
    for row in database.texts(columns).await.unwrap() {
        let (table, columns) = (row[0].clone().unwrap(), row[1].clone().unwrap());
        let all = format!("SELECT {columns} FROM {table} ORDER BY {columns}");
        found.insert(table, database.texts(&all).await.unwrap());
    }
    database.close().await;
    found
}

/// A server on the copy: its record goes on, its secrets open, its agents' calls go through, its question can be answered.
async fn check_served(mut house: House, scene: &Scene, head: &Head) -> House {
    let place = head.0.to_string();
    let verify = |house: &House| {
        let line = [
            "audit",
            "verify",
            "--expected-seq",
            &place,
            "--expected-hash",
            &head.1,
        ];
        let found = house.json(&line);
        assert_eq!(found["intact"], true, "{found}");
    };
    verify(&house);
    let calls = scene.upstream.calls();
    let client = Client::begin(&house).await;
    let answer = client.call("kept__write").await.unwrap();
    assert!(succeeded(answer.as_ref()), "{answer:?}\n{}", house.log());
    assert_eq!(scene.upstream.last_credential().as_deref(), Some("Bearer s3cret"));
    let waiting = house.json(&["approvals", "list"]);
    let approval = waiting["items"][0]["id"].as_str().unwrap();
    house.json(&["approvals", "resolve", approval, "approved"]);
    let answer = client.call("up__write").await.unwrap();
    assert!(succeeded(answer.as_ref()), "{answer:?}");
    assert_eq!(scene.upstream.calls(), calls + 2);
    assert!(house.stop().success());
    house.again();
    verify(&house);
    house
}

/// Copies there and back; what came back is what went. Returns the end of the chain.
async fn check_copies(scene: &Scene, there: &Place, back: &Place) -> Head {
    let data = scene.house.data();
    let copied = copy(&data, &there.named, &there.environment, &["--json"]);
    assert_eq!(copied.code, 0, "{copied:?}");
    let copied: Value = serde_json::from_str(&copied.out).unwrap();
    for (table, rows) in copied["tables"].as_object().unwrap() {
        assert!(
            table == "open_intents" || rows.as_u64() > Some(0),
            "nothing in {table}"
        );
    }
    let record = &copied["records"][0];
    let head = Head(
        record["head_seq"].as_i64().unwrap(),
        record["head_hash"].as_str().unwrap().to_owned(),
    );
    let refused = copy(&data, &there.named, &there.environment, &[]);
    assert!(
        refused.code == 1 && refused.err.contains("not empty"),
        "{refused:?}"
    );

    let returned = copy(&there.named, &back.named, &there.environment, &[]);
    assert_eq!(returned.code, 0, "{returned:?}");
    assert!(
        returned.out.contains(&head.1) && returned.err.contains("root key"),
        "{returned:?}"
    );
    let first = rows(&Path::new(&data).join("switchboard.db")).await;
    let last = rows(&Path::new(&back.named).join("switchboard.db")).await;
    assert!(first.len() >= 20 && first == last, "{first:#?}\n{last:#?}");
    head
}

async fn there_and_back(kind: Kind) {
    let guarded = Guarded::start(None).await;
    let entry =
        |purpose: &str, url: &str| format!("[[internal_urls]]\npurpose = \"{purpose}\"\nurl = \"{url}\"\n");
    let mut urls = entry("mcp", guarded.url());
    urls.extend(guarded.places().iter().map(|url| entry("oauth", url)));
    let scene = Scene::start(Kind::Sqlite, &urls).await;
    let (Some(there), Some(mut scene)) = (Place::new(kind).await, scene) else {
        return;
    };
    let back = Place::new(Kind::Sqlite).await.unwrap();
    fill(&scene, &guarded).await;
    let data = scene.house.data();
    let refused = copy(&data, &there.named, &there.environment, &[]);
    assert!(
        refused.code == 1 && refused.err.contains("stop it first"),
        "{refused:?}"
    );
    assert!(scene.house.stop().success());
    scene.database.close().await;
    let head = check_copies(&scene, &there, &back).await;

    let (environment, named) = (there.environment.clone(), there.named.clone());
    let (house, _database) = there.serve(&scene);
    let mut house = check_served(house, &scene, &head).await;
    let elsewhere = scene.house.folder.path().join("elsewhere");
    let refused = copy(&named, elsewhere.to_str().unwrap(), &environment, &[]);
    assert!(
        refused.code == 1 && refused.err.contains("stop it first"),
        "{refused:?}"
    );
    assert!(house.stop().success());

    // The root key of the copy that came back lies in a file again, and is replaced.
    let key = Path::new(&back.named).join("vault.key");
    std::fs::copy(Path::new(&data).join("vault.key"), &key).unwrap();
    let rotate = ["vault", "rotate", "--new-key", "--data", &back.named];
    let rotated = scene.house.run_with(&rotate, "", "");
    assert_eq!(rotated.code, 0, "{rotated:?}");
    assert_ne!(std::fs::read_to_string(&key).unwrap(), root_key(&scene));
    let start = scene.house.started().clone();
    let house = scene.house.moved(back.folder, start);
    check_served(house, &scene, &head).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn to_another_file_and_back() {
    there_and_back(Kind::Sqlite).await;
}

mod postgres {
    #[tokio::test(flavor = "multi_thread")]
    async fn to_postgres_and_back() {
        super::there_and_back(super::Kind::Postgres).await;
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let url = "postgres://user:password@127.0.0.1/store";
    let environment = [("NONE".to_owned(), "mysql://127.0.0.1/store".to_owned())];
    for (from, to) in [
        (url, "data"),
        ("data", url),
        ("env:NOT_SET", "data"),
        ("env:NONE", "data"),
        ("data", "file:/does/not/exist"),
        ("data", "data"),
    ] {
        let refused = copy(from, to, &environment, &[]);
        assert_eq!(refused.code, 64, "{from} {to}: {refused:?}");
        assert!(!refused.err.contains("password@127"), "{refused:?}");
    }
    let nothing = tempfile::tempdir().unwrap();
    let (from, to) = (nothing.path().join("from"), nothing.path().join("to"));
    let refused = copy(from.to_str().unwrap(), to.to_str().unwrap(), &[], &[]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(!from.exists(), "what is read is not made");
}
