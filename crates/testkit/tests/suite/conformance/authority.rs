//! The official conformance suite against our authorization server, with a person who lets its client in.

use std::net::TcpListener;
use std::process::Stdio;

use http::{Method, StatusCode};
use serde_json::{Value, json};
use testkit::house::House;
use testkit::http::{Answer, send};
use testkit::tools::Tools;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

/// Plays both scenarios; every check passes.
pub(super) async fn check() {
    let Some(tools) = Tools::find() else { return };
    let house = House::start(&[]).await;
    let cookie = house.owner().await;
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let callback = format!("http://127.0.0.1:{port}/callback");
    let folder = tempfile::tempdir().unwrap();
    let mut suite = Command::new(tools.npm("conformance"))
        .args([
            "authorization",
            "--url",
            &house.url,
            "--client-id",
            &register(&house, &callback).await,
        ])
        .args([
            "--resource",
            &format!("{}/mcp/default", house.url),
            "-p",
            &port.to_string(),
        ])
        .arg("-o")
        .arg(folder.path())
        .env("PATH", tools.path())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(suite.stdout.take().unwrap()).lines();
    let mut told = String::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.starts_with(&house.url) && line.contains("/oauth/authorize?") {
            let back = allow(&house, &cookie, line.trim()).await;
            let closed = send(Method::GET, &back, &[], "").await.unwrap();
            assert_eq!(closed.status, StatusCode::OK);
        }
        told.push_str(&line);
        told.push('\n');
    }
    assert!(suite.wait().await.unwrap().success(), "{told}");
    let checks = read(folder.path());
    let failed: Vec<_> = checks
        .iter()
        .filter(|check| check["status"] != "SUCCESS")
        .collect();
    assert!(failed.is_empty() && checks.len() >= 3, "{failed:?}\n{told}");
    eprintln!("authorization server: {} checks passed", checks.len());
}

async fn register(house: &House, callback: &str) -> String {
    let body = json!({ "client_name": "conformance", "redirect_uris": [callback] });
    let url = format!("{}/oauth/register", house.url);
    let kind = [("content-type", "application/json")];
    let made = send(Method::POST, &url, &kind, body.to_string()).await.unwrap();
    made.json()["client_id"].as_str().unwrap().to_owned()
}

/// The person says yes; where they are sent.
async fn allow(house: &House, cookie: &str, page: &str) -> String {
    let asked = send(Method::GET, page, &[("cookie", cookie)], "").await.unwrap();
    assert_eq!(asked.status, StatusCode::OK, "{}", text(&asked));
    let (_, query) = page.split_once('?').unwrap();
    let body = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("request", query)
        .append_pair("answer", "allow")
        .finish();
    let headers = [
        ("cookie", cookie),
        ("origin", &*house.url),
        ("content-type", "application/x-www-form-urlencoded"),
    ];
    let to = format!("{}/oauth/authorize", house.url);
    let gone = send(Method::POST, &to, &headers, body).await.unwrap();
    assert_eq!(gone.status, StatusCode::SEE_OTHER, "{}", text(&gone));
    gone.headers["location"].to_str().unwrap().to_owned()
}

fn read(folder: &std::path::Path) -> Vec<Value> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let files = entries.map(|entry| std::fs::read_to_string(entry.path().join("checks.json")).unwrap());
    files
        .flat_map(|file| serde_json::from_str::<Vec<Value>>(&file).unwrap())
        .collect()
}

fn text(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.body).into_owned()
}
