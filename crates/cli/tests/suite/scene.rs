//! A served Switchboard on one of the two databases, with a server outside whose tools the agent may use.

use serde_json::Value;
use store::RootKey;
use testkit::database::{Database, Held};

use crate::client::{Client, succeeded};
use crate::house::{House, Start};
use crate::relay::Relay;
use crate::upstream::Upstream;

/// Which database it is served from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

/// The whole of it.
pub(crate) struct Scene {
    pub(crate) house: House,
    pub(crate) upstream: Upstream,
    pub(crate) kind: Kind,
    pub(crate) database: Database,
    /// What the server reaches its database through.
    pub(crate) relay: Option<Relay>,
}

/// A call as the record shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) call: String,
    pub(crate) status: String,
    pub(crate) code: Option<String>,
}

impl Scene {
    /// Starts it with more lines of configuration; none where there is no server for the database.
    pub(crate) async fn start(kind: Kind, more: &str) -> Option<Self> {
        Self::build(kind, more, Start::default(), false).await
    }

    /// The same on SQLite, run by another program, which finds the data folder in `TEST_DISK`.
    pub(crate) async fn start_within(within: &[&str]) -> Self {
        let within = within.iter().map(|&word| word.to_owned()).collect();
        let start = Start {
            within,
            ..Start::default()
        };
        Self::build(Kind::Sqlite, "", start, false).await.unwrap()
    }

    /// The same on PostgreSQL, which is reached through a relay.
    pub(crate) async fn start_relayed() -> Option<Self> {
        Self::build(Kind::Postgres, "", Start::default(), true).await
    }

    /// The same on SQLite, with this in the server's environment.
    pub(crate) async fn start_in_environment(environment: Vec<(String, String)>) -> Self {
        let start = Start {
            environment,
            ..Start::default()
        };
        Self::build(Kind::Sqlite, "", start, false).await.unwrap()
    }

    async fn build(kind: Kind, more: &str, mut start: Start, relayed: bool) -> Option<Self> {
        let upstream = Upstream::start().await;
        let folder = tempfile::tempdir().unwrap();
        let mut config = format!(
            "{more}\n[[internal_urls]]\npurpose = \"mcp\"\nurl = \"{}\"\n",
            upstream.url()
        );
        let mut relay = None;
        let database = match kind {
            Kind::Sqlite => Database::sqlite(&folder.path().join("data/switchboard.db")),
            Kind::Postgres => {
                let Some(database) = Database::postgres().await.unwrap() else {
                    println!("left out: SWITCHBOARD_TEST_POSTGRES names no server");
                    return None;
                };
                config.push_str("[store]\nbackend = \"postgres\"\nurl = { env = \"TEST_DATABASE\" }\n");
                config.push_str("[vault]\nkey = { env = \"TEST_VAULT_KEY\" }\n");
                let key = RootKey::generate().unwrap().to_base64();
                let mut url = database.url().unwrap();
                if relayed {
                    let (between, at) = Relay::before(&url).await;
                    (relay, url) = (Some(between), at);
                }
                start.environment = vec![
                    ("TEST_DATABASE".to_owned(), url),
                    ("TEST_VAULT_KEY".to_owned(), key.expose().to_owned()),
                ];
                database
            }
        };
        if !start.within.is_empty() {
            let data = folder.path().join("data");
            std::fs::create_dir(&data).unwrap();
            let disk = data.to_str().unwrap().to_owned();
            start.environment.push(("TEST_DISK".to_owned(), disk));
        }
        let path = folder.path().join("config.toml");
        std::fs::write(&path, config).unwrap();
        start.options = ["--no-sample", "--config", path.to_str().unwrap()]
            .map(str::to_owned)
            .to_vec();
        let house = House::start_as(folder, start);
        let scene = Self {
            house,
            upstream,
            kind,
            database,
            relay,
        };
        scene.connect("up", "shared").await;
        Some(scene)
    }

    /// Connects the server outside under a name, and gives its tools to the agent.
    pub(crate) async fn connect(&self, name: &str, sharing: &str) {
        self.connect_with(name, &["--sharing", sharing]).await;
    }

    /// The same, with more arguments.
    pub(crate) async fn connect_with(&self, name: &str, more: &[&str]) {
        let lists = self.upstream.heard("tools/list");
        let url = self.upstream.url();
        let add = ["connections", "add", "--label", name, "--url", url, "--trusted"];
        self.house.json(&[&add[..], more].concat());
        self.upstream.until_heard("tools/list", lists + 1).await;
        self.until("its tools are known", || {
            let tools = self.house.json(&["tools", "list", "--connection", name]);
            (tools["items"].as_array().unwrap().len() == 2).then_some(())
        })
        .await;
        let classify = [
            "tools",
            "classify",
            name,
            "read",
            "--risk",
            "low",
            "--effect",
            "read_only",
        ];
        self.house.json(&classify);
        for tool in ["read", "write"] {
            let set = ["grants", "set", "default", "--connection", name, "--tool", tool];
            self.house
                .json(&[&set[..], &["--permission", "unattended"]].concat());
        }
    }

    /// Waits for something that is sure to come.
    pub(crate) async fn until<T>(&self, what: &str, mut happened: impl FnMut() -> Option<T>) -> T {
        self.until_told(what, async || happened()).await
    }

    /// The same where somebody has to be asked.
    pub(crate) async fn until_told<T>(&self, what: &str, happened: impl AsyncFnMut() -> Option<T>) -> T {
        crate::house::until_told(&self.house, what, happened).await
    }

    /// Waits until a statement of the server waits for what is held. SQLite does not tell; then until it answered a few requests.
    pub(crate) async fn until_it_waits(&self, held: &Held) {
        match held {
            Held::Postgres(_) => self.until_so_many_wait(1).await,
            Held::Sqlite(_) => {
                for _ in 0..10 {
                    self.ready().await;
                }
            }
        }
    }

    /// Waits until so many statements wait for a lock of PostgreSQL.
    pub(crate) async fn until_so_many_wait(&self, count: i64) {
        let what = format!("{count} statements wait");
        self.until_told(&what, async || {
            (self.database.waiting().await.unwrap() >= Some(count)).then_some(())
        })
        .await;
    }

    /// Whether it says that it can serve.
    pub(crate) async fn ready(&self) -> bool {
        let url = format!("{}/ready", self.house.url);
        let answer = testkit::http::send(http::Method::GET, &url, &[], "").await;
        answer.unwrap().status == http::StatusCode::OK
    }

    /// Calls of the tools outside, newest first.
    pub(crate) fn listed(&self, more: &[&str]) -> Vec<Listed> {
        let mut found = Vec::new();
        for name in ["up", "fresh", "kept"] {
            let line = [&["activity", "list", "--connection", name], more].concat();
            let said = self.house.run(&[&line[..], &["--json"]].concat());
            if said.code == 0 {
                let list: Value = serde_json::from_str(&said.out).unwrap();
                found.extend(list["items"].as_array().unwrap().iter().map(listed));
            }
        }
        found
    }

    /// Waits until a call that was not there before stands so.
    pub(crate) async fn until_listed(&self, before: &[Listed], status: &str) {
        self.until(status, || {
            let mut now = self.listed(&[]).into_iter();
            now.find(|item| item.status == status && before.iter().all(|other| other.call != item.call))
        })
        .await;
    }

    /// Verifies the record, against a head noted before; returns the head it has now.
    pub(crate) fn verify(&self, noted: Option<&Head>) -> Head {
        let expected = noted.map(|head| (head.0.to_string(), head.1.clone()));
        let mut line = vec!["audit", "verify"];
        if let Some((seq, hash)) = &expected {
            line.extend(["--expected-seq", seq, "--expected-hash", hash]);
        }
        // The chain follows the entries within half a second.
        let found = crate::house::until("there is a chain", || {
            let found = self.house.json(&line);
            assert_eq!(found["intact"], true, "{found}");
            found["head_seq"].is_i64().then_some(found)
        });
        Head(
            found["head_seq"].as_i64().unwrap(),
            found["head_hash"].as_str().unwrap().to_owned(),
        )
    }

    /// Calls a tool as a new client; it must go through, and reach the server outside once.
    pub(crate) async fn call_well(&self, tool: &str) {
        let (before, calls) = (self.listed(&[]), self.upstream.calls());
        let client = Client::begin(&self.house).await;
        let answer = client.call(tool).await.unwrap();
        assert!(
            succeeded(answer.as_ref()),
            "{tool}: {answer:?}\n{}",
            self.house.log()
        );
        self.until_listed(&before, "succeeded").await;
        assert_eq!(self.upstream.calls(), calls + 1, "{tool}");
    }

    /// What must hold of the database whatever happened: it is whole, no call ended twice, and nothing but these is open.
    pub(crate) async fn check_database(&self) {
        if self.kind == Kind::Sqlite {
            let said = self.database.texts("PRAGMA integrity_check").await.unwrap();
            assert_eq!(said, [[Some("ok".to_owned())]]);
        }
        for kind in ["decided", "ended"] {
            let twice = format!(
                "SELECT count(*) FROM (SELECT call_id FROM journal WHERE kind = '{kind}' GROUP BY call_id HAVING count(*) > 1) AS twice"
            );
            assert_eq!(self.database.number(&twice).await.unwrap(), 0, "{kind} twice");
        }
        let undecided = "SELECT count(*) FROM journal e WHERE e.kind = 'ended' AND NOT EXISTS
            (SELECT 1 FROM journal d WHERE d.call_id = e.call_id AND d.kind = 'decided')";
        assert_eq!(self.database.number(undecided).await.unwrap(), 0);
    }
}

/// The end of the chain: its place and its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head(pub(crate) i64, pub(crate) String);

fn listed(item: &Value) -> Listed {
    Listed {
        call: item["call_id"].as_str().unwrap().to_owned(),
        status: item["status"].as_str().unwrap().to_owned(),
        code: item["code"].as_str().map(str::to_owned),
    }
}
