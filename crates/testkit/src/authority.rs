//! A real authorization server as a process (`tools/authority.mjs`, npm oidc-provider), and a browser that says yes to everything.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Stdio;

use http::{Method, StatusCode, header};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use url::Url;

use crate::http::{HttpError, send};
use crate::tools::Tools;

/// Most redirects followed.
const HOPS: usize = 20;

/// The running server. Dropping it ends it.
#[derive(Debug)]
pub struct Authority {
    /// Its issuer, on 127.0.0.1.
    pub issuer: String,
    _child: Child,
}

/// Why a sign-in did not come back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrowserError {
    /// A page could not be fetched.
    #[error("a page could not be fetched")]
    Http(#[from] HttpError),
    /// A page that is no redirect, or one that leads nowhere.
    #[error("stopped at {at} with status {status}: {text}")]
    Stopped {
        /// Where.
        at: Url,
        /// Its status.
        status: StatusCode,
        /// What it says.
        text: String,
    },
}

impl Authority {
    /// Starts one with these clients and features (see the script) and waits until it listens.
    ///
    /// # Errors
    /// If Node.js cannot be started or the script says something else than its issuer.
    pub async fn start(tools: &Tools, wishes: &Value) -> io::Result<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/authority.mjs");
        let mut child = Command::new("/usr/bin/env")
            .arg("node")
            .arg(script)
            .arg(tools.packages())
            .arg(wishes.to_string())
            .env_clear()
            .env("PATH", tools.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let line = BufReader::new(stdout)
            .lines()
            .next_line()
            .await?
            .unwrap_or_default();
        let said: Value = serde_json::from_str(&line)?;
        let issuer = said["issuer"]
            .as_str()
            .ok_or(io::ErrorKind::InvalidData)?
            .to_owned();
        Ok(Self {
            issuer,
            _child: child,
        })
    }
}

/// Follows a sign-in as a browser with cookies does, until it is sent to `back`; where exactly.
///
/// # Errors
/// Where it stopped instead.
pub async fn sign_in(start: Url, back: &Url) -> Result<Url, BrowserError> {
    let mut cookies: BTreeMap<String, String> = BTreeMap::new();
    let mut at = start;
    for _ in 0..HOPS {
        let jar: Vec<String> = cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let answer = send(Method::GET, at.as_str(), &[("cookie", &jar.join("; "))], "").await?;
        for cookie in answer.headers.get_all(header::SET_COOKIE) {
            let pair = cookie
                .to_str()
                .unwrap_or_default()
                .split(';')
                .next()
                .unwrap_or_default();
            if let Some((name, value)) = pair.split_once('=') {
                cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let location = answer
            .headers
            .get(header::LOCATION)
            .and_then(|value| value.to_str().ok());
        let Some(next) = location.and_then(|location| at.join(location).ok()) else {
            return Err(BrowserError::Stopped {
                at,
                status: answer.status,
                text: String::from_utf8_lossy(&answer.body).chars().take(500).collect(),
            });
        };
        if next.origin() == back.origin() && next.path() == back.path() {
            return Ok(next);
        }
        at = next;
    }
    Err(BrowserError::Stopped {
        at,
        status: StatusCode::FOUND,
        text: "too many redirects".to_owned(),
    })
}
