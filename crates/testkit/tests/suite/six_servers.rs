//! The reference servers and one made with FastMCP, all behind one serving process, used by one client; and nothing of them left when it
//! was stopped.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use http::Method;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::http::send;
use testkit::program::program;
use testkit::scripted::{Reply, Scripted};
use testkit::tools::Tools;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::clients::driver::{Driver, Era, Profile, Sdk, Target};

const SMALL: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/suite/peers/upstreams/fastmcp_server.py"
);

/// A serving process with everything it needs.
struct Serving {
    child: Child,
    url: String,
    admin: String,
    agent: String,
    folder: TempDir,
    site: Scripted,
}

/// A tool of one of the servers, how it is called, and what its answer says.
struct Use {
    tool: &'static str,
    arguments: Value,
    says: &'static str,
}

/// The `[[connections]]` of a configuration.
fn configuration(tools: &Tools, folder: &Path) -> String {
    let node = |program: &str| vec![tools.npm(program).into_os_string()];
    let python = |program: &str| vec![tools.python(program).into_os_string()];
    let with = |mut command: Vec<OsString>, more: &[&str]| {
        command.extend(more.iter().map(Into::into));
        command
    };
    let here = folder.to_str().unwrap();
    let commands = [
        ("everything", with(node("mcp-server-everything"), &["stdio"])),
        ("filesystem", with(node("mcp-server-filesystem"), &[here])),
        ("memory", node("mcp-server-memory")),
        (
            "time",
            with(python("mcp-server-time"), &["--local-timezone", "Etc/UTC"]),
        ),
        ("git", with(python("mcp-server-git"), &["--repository", here])),
        (
            "fetch",
            with(python("mcp-server-fetch"), &["--allow-private-ips"]),
        ),
        ("small", with(python("python"), &[SMALL, "stdio"])),
    ];
    let mut text = String::new();
    for (name, command) in commands {
        let path = tools.path();
        let memory = folder.join("memory.jsonl");
        writeln!(text, "[[connections]]\nname = {name:?}\ncommand = {command:?}").unwrap();
        writeln!(
            text,
            "env = {{ PATH = {path:?}, MEMORY_FILE_PATH = {memory:?} }}\n"
        )
        .unwrap();
    }
    text
}

async fn serve(tools: &Tools) -> Serving {
    let site =
        Scripted::start(|_| Reply::bytes(200, "a page for a test").header("content-type", "text/plain"))
            .await
            .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("note.txt"), "written by a test\n").unwrap();
    repository(&root).await;
    let file = root.join("switchboard.toml");
    std::fs::write(&file, configuration(tools, &root)).unwrap();
    let mut child = Command::new(program("switchboard").unwrap())
        .args(["serve", "--no-sample", "--listen", "127.0.0.1:0", "--config"])
        .arg(&file)
        .arg("--data")
        .arg(root.join("data"))
        .env_clear()
        .env("PATH", tools.path())
        .env("SWITCHBOARD__PRESETS__PROVIDE_EXA", "false")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut after = async |text: &str| loop {
        let line = lines.next_line().await.unwrap().expect("it goes on serving");
        if let Some((_, rest)) = line.split_once(text) {
            break rest.split_whitespace().next().unwrap().to_owned();
        }
    };
    let url = after("serves on ").await;
    let admin = after("administrator: ").await;
    let agent = after("agent default: ").await;
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    Serving {
        child,
        url,
        admin,
        agent,
        folder,
        site,
    }
}

async fn repository(folder: &Path) {
    let commands: [&[&str]; 2] = [
        &["init", "--quiet"],
        &[
            "commit",
            "--quiet",
            "--allow-empty",
            "--message",
            "the first commit",
        ],
    ];
    for arguments in commands {
        let who = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
        let mut git = Command::new("git");
        git.current_dir(folder).args(who).args(arguments);
        assert!(git.status().await.unwrap().success(), "{arguments:?}");
    }
}

impl Serving {
    async fn rest(&self, method: Method, path: &str, body: Value) -> Value {
        let key = format!("Bearer {}", self.admin);
        let headers = [("authorization", &*key), ("content-type", "application/json")];
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let answer = send(method, &format!("{}/api/v1{path}", self.url), &headers, body)
            .await
            .unwrap();
        assert!(answer.status.is_success(), "{path}: {answer:?}");
        answer.json()
    }

    /// Every tool of every connection, once all servers were listed.
    async fn tools(&self) -> Vec<Value> {
        for connection in self.rest(Method::GET, "/connections", Value::Null).await["items"]
            .as_array()
            .unwrap()
        {
            // Waits for what is under way.
            let path = format!(
                "/connections/{}/refresh",
                connection["namespace"].as_str().unwrap()
            );
            self.rest(Method::POST, &path, json!({})).await;
        }
        let mut tools = Vec::new();
        let mut cursor = String::new();
        loop {
            let mut page = self
                .rest(Method::GET, &format!("/tools?limit=100{cursor}"), Value::Null)
                .await;
            tools.append(page["items"].as_array_mut().unwrap());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break tools,
            }
        }
    }

    /// Every process that descends from it.
    fn descendants(&self) -> BTreeSet<u32> {
        let parents: Vec<(u32, u32)> = processes().collect();
        let mut found = BTreeSet::from([self.child.id().unwrap()]);
        loop {
            let more = parents.iter().filter(|(_, parent)| found.contains(parent));
            let more: BTreeSet<u32> = more.map(|(id, _)| *id).collect();
            if more.is_subset(&found) {
                return found;
            }
            found.extend(more);
        }
    }
}

/// Every process and its parent; those that only wait to be collected are none.
fn processes() -> impl Iterator<Item = (u32, u32)> {
    let entries = std::fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| {
        let path: PathBuf = entry.ok()?.path();
        let id = path.file_name()?.to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(path.join("stat")).ok()?;
        // The name, in parentheses, may contain anything.
        let mut rest = stat.rsplit_once(") ")?.1.split(' ');
        let state = rest.next()?;
        (state != "Z").then_some((id, rest.next()?.parse().ok()?))
    })
}

// X003 X012 X018 C02
#[tokio::test]
async fn one_client_uses_them_all_and_nothing_is_left_behind() {
    let Some(tools) = Tools::find() else { return };
    let mut serving = serve(&tools).await;
    let offered = serving.tools().await;
    let upstream: Vec<&Value> = offered
        .iter()
        .filter(|tool| !tool["connection"].is_null())
        .collect();
    for tool in &upstream {
        let (connection, name) = (&tool["connection"], &tool["tool"]);
        let grant = json!({ "connection": connection, "tool": name, "permission": "unattended" });
        serving.rest(Method::PUT, "/agents/default/grants", grant).await;
    }

    let target = Target {
        words: vec![format!("{}/mcp", serving.url).into()],
        variables: vec![("SWITCHBOARD_API_KEY", serving.agent.clone())],
    };
    let profile = Profile {
        sdk: Sdk::Python,
        era: Era::Modern,
        modes: "",
    };
    let (mut client, _) = Driver::start(&tools, profile, target).await;
    let listed = client.result(json!({ "do": "tools" })).await;
    let listed = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned());
    let mut names: Vec<String> = listed.collect();
    names.sort();
    let mut unique = names.clone();
    unique.dedup();
    assert_eq!(names, unique);
    let exposed: BTreeSet<String> = upstream
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    let missing: Vec<&String> = exposed.iter().filter(|name| !names.contains(name)).collect();
    assert!(
        missing.is_empty(),
        "{missing:?} of {} are not listed",
        exposed.len()
    );

    let uses = uses(&serving);
    for Use {
        tool,
        arguments,
        says,
    } in &uses
    {
        let result = client.call(tool, arguments.clone()).await;
        assert_ne!(result["isError"], true, "{tool}: {result}");
        assert!(result.to_string().contains(says), "{tool}: {result}");
    }
    drop(client);
    recorded(&serving, &uses).await;

    let family = serving.descendants();
    assert!(family.len() > 7, "{family:?}");
    let own = Pid::from_raw(serving.child.id().unwrap().cast_signed()).unwrap();
    kill_process(own, Signal::TERM).unwrap();
    let status = serving.child.wait().await.unwrap();
    assert!(status.success(), "{status}");
    let left: Vec<u32> = processes()
        .map(|(id, _)| id)
        .filter(|id| family.contains(id))
        .collect();
    assert!(left.is_empty(), "{left:?} of {family:?} are left");
    eprintln!("{} tools of 7 servers, {} processes", exposed.len(), family.len());
}

/// One tool of each server.
fn uses(serving: &Serving) -> Vec<Use> {
    let root = serving.folder.path().canonicalize().unwrap();
    let page = serving.site.url().replace("/mcp", "/page.txt");
    let of = |tool, arguments, says| Use {
        tool,
        arguments,
        says,
    };
    let entity = json!({ "name": "Ada", "entityType": "person", "observations": ["writes programs"] });
    let time = json!({ "source_timezone": "Etc/UTC", "time": "12:30", "target_timezone": "Asia/Tokyo" });
    vec![
        of("everything__echo", json!({ "message": "hello" }), "hello"),
        of(
            "filesystem__read_text_file",
            json!({ "path": root.join("note.txt") }),
            "written by a test",
        ),
        of("memory__create_entities", json!({ "entities": [entity] }), "Ada"),
        of("time__convert_time", time, "+9.0h"),
        of("git__git_log", json!({ "repo_path": root }), "the first commit"),
        of("fetch__fetch", json!({ "url": page }), "a page for a test"),
        of("small__add", json!({ "a": 2, "b": 40 }), "42"),
    ]
}

/// Each call has one entry that says what was decided and why, and nothing of what was sent.
async fn recorded(serving: &Serving, uses: &[Use]) {
    let activity = serving
        .rest(Method::GET, "/activity?limit=100", Value::Null)
        .await;
    let calls: Vec<&Value> = activity["items"].as_array().unwrap().iter().collect();
    for Use { tool, .. } in uses {
        let entries: Vec<_> = calls
            .iter()
            .filter(|call| call["exposed_name"] == *tool)
            .collect();
        assert_eq!(entries.len(), 1, "{tool}: {entries:?}");
        let entry = entries[0];
        let said = ["decision", "reason", "risk", "effect", "channel", "status"]
            .map(|key| entry[key].as_str().unwrap());
        assert_eq!(
            said,
            [
                "allow",
                "grant_unattended",
                "high",
                "mutating",
                "mcp",
                "succeeded"
            ],
            "{tool}: {entry}"
        );
    }
    let audit = serving
        .rest(Method::GET, "/audit?limit=100", Value::Null)
        .await
        .to_string();
    for sent in [
        "written by a test",
        "writes programs",
        "Asia/Tokyo",
        "page.txt",
        &serving.agent,
        &serving.admin,
    ] {
        assert!(!audit.contains(sent), "the record holds {sent}");
    }
}
