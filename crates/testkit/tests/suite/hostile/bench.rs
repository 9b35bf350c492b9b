//! A house full of hostile servers and one healthy one, a client, and the check every case goes through.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use connections::{CommandTable, Limits, SecretSource, StdioSpec};
use domain::{
    ConnectionId, ConnectionOwner, Effect, Endpoint, Health, OutcomeCode, PageRequest, Risk, Secret, Sharing,
    Status, Transport,
};
use futures::StreamExt as _;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client as Http;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use store::{ActivityFilter, Change, PinName};
use testkit::hostile::{Hostile, Plan, Way};
use testkit::house::{House, Wanted};
use testkit::program::program;

/// How a call ends, for the record and for the client.
pub(super) type End = (Status, Option<OutcomeCode>);

pub(super) const FINE: End = (Status::Succeeded, None);
pub(super) const UNKNOWN: End = (Status::Unknown, Some(OutcomeCode::Unknown));

pub(super) const fn failed(code: OutcomeCode) -> End {
    (Status::Failed, Some(code))
}

/// What becomes of a call that may change something, and of one that only reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) act: End,
    pub(super) look: End,
}

impl Ends {
    pub(super) const fn both(end: End) -> Self {
        Self { act: end, look: end }
    }
}

/// The answer came.
pub(super) const ANSWERED: Ends = Ends::both(FINE);
/// No answer came in time.
pub(super) const SILENT: Ends = Ends {
    act: UNKNOWN,
    look: failed(OutcomeCode::Timeout),
};
/// The line broke before the answer.
pub(super) const LOST: Ends = Ends {
    act: UNKNOWN,
    look: failed(OutcomeCode::UpstreamError),
};
pub(super) const INVALID: Ends = Ends::both(failed(OutcomeCode::UpstreamInvalid));
pub(super) const TOO_LARGE: Ends = Ends::both(failed(OutcomeCode::TooLarge));
pub(super) const REFUSED: Ends = Ends::both(failed(OutcomeCode::UpstreamError));
/// Nothing was sent.
pub(super) const UNREACHED: Ends = Ends::both(failed(OutcomeCode::Unreachable));

/// How long a call may take that is expected to get no answer.
pub(super) const IMPATIENT: u32 = 400;
/// Longer than anything takes that is expected to be answered.
pub(super) const PATIENT: u32 = 25_000;

pub(super) const ALL: &[Way] = &[Way::Stdio, Way::Sse, Way::Events, Way::Json, Way::Modern];
pub(super) const HTTP: &[Way] = &[Way::Sse, Way::Events, Way::Json, Way::Modern];

/// One behaviour, and what comes of it.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) ways: &'static [Way],
    pub(super) plan: Plan,
    /// Arguments of the child besides its script.
    pub(super) flags: Vec<String>,
    pub(super) ends: Ends,
    /// Where it ends otherwise.
    pub(super) except: Vec<(Way, Ends)>,
    /// What the client's answer says.
    pub(super) says: &'static str,
    /// Whether it concerns the opening of a session.
    pub(super) opens: bool,
    /// What a test of the connection finds meanwhile, where that is of interest.
    pub(super) health: Option<Health>,
    pub(super) timeout_ms: u32,
}

impl Case {
    pub(super) fn new(name: impl Into<String>, plan: Plan, ends: Ends) -> Self {
        Self {
            name: name.into(),
            ways: ALL,
            plan,
            flags: Vec::new(),
            ends,
            except: Vec::new(),
            says: "",
            opens: false,
            health: None,
            timeout_ms: if ends == SILENT { IMPATIENT } else { PATIENT },
        }
    }

    pub(super) const fn over(mut self, ways: &'static [Way]) -> Self {
        self.ways = ways;
        self
    }

    pub(super) fn but(mut self, ways: &[Way], ends: Ends) -> Self {
        self.except.extend(ways.iter().map(|way| (*way, ends)));
        if ends == SILENT {
            self.timeout_ms = IMPATIENT;
        }
        self
    }

    pub(super) const fn saying(mut self, text: &'static str) -> Self {
        self.says = text;
        self
    }

    pub(super) const fn opening(mut self) -> Self {
        self.opens = true;
        self
    }

    pub(super) fn flags(mut self, flags: &[&str]) -> Self {
        self.flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        self
    }

    fn ends(&self, way: Way) -> Ends {
        let other = self.except.iter().find(|(except, _)| *except == way);
        other.map_or(self.ends, |(_, ends)| *ends)
    }
}

/// One behaviour on one transport, connected.
pub(super) struct Subject<'a> {
    pub(super) case: &'a Case,
    pub(super) hostile: Hostile,
    pub(super) id: ConnectionId,
    pub(super) namespace: String,
}

/// The house, its servers and a client.
pub(super) struct Bench<'a> {
    pub(super) house: House,
    pub(super) subjects: Vec<Subject<'a>>,
    pub(super) client: Client,
    healthy: Hostile,
    pub(super) folder: tempfile::TempDir,
    /// Calls of the healthy connection that went through.
    pub(super) unharmed: AtomicUsize,
    /// How often servers were connected.
    rounds: usize,
}

/// Bounds under which no test waits long.
pub(super) fn limits() -> Limits {
    let mut limits = Limits {
        connect: Duration::from_secs(6),
        discovery: Duration::from_secs(10),
        probe: Duration::from_millis(300),
        grace: Duration::from_millis(200),
        backoff: Duration::from_millis(10),
        backoff_max: Duration::from_millis(50),
        ..Limits::default()
    };
    limits.http.pool_idle = Duration::from_millis(200);
    limits
}

pub(super) fn command(arguments: Vec<String>) -> StdioSpec {
    let program = program("scripted-child").unwrap().to_string_lossy().into_owned();
    let argv = std::iter::once(program).chain(arguments);
    StdioSpec {
        argv: argv.map(|text| SecretSource::Known(Secret::new(text))).collect(),
        env: Vec::new(),
        inherited: Vec::new(),
        cwd: None,
    }
}

impl<'a> Bench<'a> {
    /// A house with the healthy server only.
    pub(super) async fn empty(limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let healthy = Hostile::start(Way::Json, Plan::default(), folder.path().join("healthy"))
            .await
            .unwrap();
        let house = House::build(testkit::house::Plan {
            reachable: healthy.url().into_iter().map(str::to_owned).collect(),
            limits,
            ..testkit::house::Plan::default()
        })
        .await;
        let client = Client::new(&house);
        let id = add(&house, &healthy, ("healthy", ""), PATIENT).await;
        house.discover(id).await;
        house.grant_all(house.agent, &[id]).await;
        Self {
            house,
            subjects: Vec::new(),
            client,
            healthy,
            folder,
            unharmed: AtomicUsize::new(0),
            rounds: 0,
        }
    }

    /// A house with every case connected on every transport it is about, while all still behave.
    pub(super) async fn start(cases: &'a [Case]) -> Self {
        let mut bench = Self::empty(limits()).await;
        bench.connect(cases).await;
        let ids: Vec<_> = bench.subjects.iter().map(|subject| subject.id).collect();
        assert_eq!(bench.house.prepare_all(&ids).await, []);
        bench.open_to_all().await;
        bench
    }

    /// Starts the servers of these cases and adds them.
    pub(super) async fn connect(&mut self, cases: &'a [Case]) {
        let mut servers = Vec::new();
        for case in cases {
            for way in case.ways {
                let file = self
                    .folder
                    .path()
                    .join(format!("script-{}-{}", self.rounds, servers.len()));
                let hostile = Hostile::start(*way, case.plan.clone(), file).await.unwrap();
                servers.push((case, hostile));
            }
        }
        let folder = self.folder.path().to_string_lossy().into_owned();
        let commands: CommandTable = servers
            .iter()
            .enumerate()
            .map(|(at, (case, server))| {
                let mut arguments = server.arguments();
                arguments.extend(case.flags.iter().map(|flag| flag.replace("$folder", &folder)));
                (format!("c{at}"), command(arguments))
            })
            .collect();
        let urls = servers.iter().filter_map(|(_, server)| server.url());
        let urls: Vec<String> = urls.chain(self.healthy.url()).map(str::to_owned).collect();
        self.house.connections.reload_urls(&urls).await.unwrap();
        self.house.connections.reload(commands).await;
        for (at, (case, hostile)) in servers.into_iter().enumerate() {
            let namespace = match self.rounds {
                0 => format!("c{at}"),
                round => format!("r{round}c{at}"),
            };
            let id = add(
                &self.house,
                &hostile,
                (&namespace, &format!("c{at}")),
                case.timeout_ms,
            )
            .await;
            self.subjects.push(Subject {
                case,
                hostile,
                id,
                namespace,
            });
        }
        self.rounds += 1;
    }

    /// Gives the agent everything that was discovered.
    pub(super) async fn open_to_all(&self) {
        let ids: Vec<_> = self.subjects.iter().map(|subject| subject.id).collect();
        for pin in self.house.store.list_pins(self.house.tenant, None).await.unwrap() {
            if &*pin.name == "look" {
                look_only_reads(&self.house, pin.connection).await;
            }
        }
        self.house.grant_all(self.house.agent, &ids).await;
    }

    /// Puts every case to the test, some at a time; everything that was not as expected is told at once.
    pub(super) async fn check_all(&self) {
        let checks = futures::stream::iter(&self.subjects).map(|subject| self.check(subject));
        let wrong: Vec<Vec<String>> = checks.buffer_unordered(6).collect().await;
        let wrong = wrong.concat();
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
        assert!(self.healthy.server.as_ref().unwrap().abandoned() == 0);
    }

    /// Lets a server misbehave, calls it, and uses it again once it behaves; what was not as expected.
    pub(super) async fn check(&self, subject: &Subject<'_>) -> Vec<String> {
        let Subject {
            case, hostile, id, ..
        } = subject;
        let ends = case.ends(hostile.way);
        let mut wrong = Vec::new();
        hostile.misbehave(true).unwrap();
        if case.opens {
            self.house.connections.changed(*id);
        }
        for (tool, wanted) in [("act", ends.act), ("look", ends.look)] {
            let last = self.last(*id).await.map_or(0, |(seq, ..)| seq);
            let sent = self.sent(subject);
            let answer = self.beside_a_healthy_call(&subject.namespace, tool).await;
            let (_, recorded, text) = self.after(*id, last).await;
            let seen = seen(&answer);
            if recorded != wanted || seen != recorded || !answer.to_string().contains(case.says) {
                wrong.push(format!(
                    "{} over {:?}, {tool}: wanted {wanted:?}, recorded {recorded:?}, seen {seen:?}: {:.400} [{text}]",
                    case.name, hostile.way, answer.to_string()
                ));
            }
            // What was sent is never sent again, unless the server said that the session it named is gone.
            let times = self.sent(subject) - sent;
            let again = ["404 ", "410 "].iter().any(|gone| case.name.starts_with(gone));
            if times > if again { 2 } else { 1 } {
                wrong.push(format!(
                    "{} over {:?}: {tool} was sent {times} times",
                    case.name, hostile.way
                ));
            }
        }
        if let Some(wanted) = case.health {
            let report = self.house.connections.test(self.house.tenant, *id).await.unwrap();
            if report.health != wanted {
                wrong.push(format!(
                    "{} over {:?}: wanted {wanted:?}, found {:?}: {:?}",
                    case.name, hostile.way, report.health, report.failure
                ));
            }
        }
        hostile.misbehave(false).unwrap();
        if let Err(answer) = self.recovers(&subject.namespace).await {
            wrong.push(format!(
                "{} over {:?} stays broken: {answer}",
                case.name, hostile.way
            ));
        }
        wrong
    }

    fn sent(&self, subject: &Subject<'_>) -> usize {
        let server = subject.hostile.server.as_ref();
        server.map_or(0, |server| server.received_of("tools/call").len())
    }

    /// Calls a tool while a call of the healthy connection goes through.
    pub(super) async fn beside_a_healthy_call(&self, namespace: &str, tool: &str) -> Value {
        let name = format!("{namespace}__{tool}");
        let (answer, healthy) = tokio::join!(self.client.call(&name), self.client.call("healthy__act"));
        assert_eq!(seen(&healthy), FINE, "beside {name}: {healthy}");
        self.unharmed.fetch_add(1, Ordering::Relaxed);
        answer
    }

    /// Waits, not for ever, until a call goes through; else the last answer.
    pub(super) async fn recovers(&self, namespace: &str) -> Result<(), Value> {
        let mut last = Value::Null;
        for _ in 0..200 {
            last = self.client.call(&format!("{namespace}__look")).await;
            if seen(&last) == FINE {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        Err(last)
    }

    /// The newest call of a connection in the record.
    async fn last(&self, id: ConnectionId) -> Option<(i64, End, String)> {
        let filter = ActivityFilter {
            connection: Some(id),
            ..ActivityFilter::default()
        };
        let page = PageRequest {
            cursor: None,
            limit: 1,
        };
        let page = self
            .house
            .store
            .list_activity(self.house.tenant, &filter, &page)
            .await
            .unwrap();
        let item = page.items.into_iter().next()?;
        let status = match item.status.as_str() {
            "started" => return None,
            text => text.parse().unwrap(),
        };
        Some((item.seq, (status, item.code), item.seq.to_string()))
    }

    /// The call after this one, once it is recorded whole.
    async fn after(&self, id: ConnectionId, seq: i64) -> (i64, End, String) {
        for _ in 0..500 {
            match self.last(id).await {
                Some(last) if last.0 > seq => return last,
                Some(_) | None => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
        panic!("the end of a call was not recorded");
    }

    /// Ends every hostile server and its connection; the house, its client and the healthy server stay.
    pub(super) async fn clear(&mut self) {
        for subject in std::mem::take(&mut self.subjects) {
            self.house.connections.remove(subject.id).await;
            let change = Change::by_system("test");
            let removed = self
                .house
                .store
                .remove_connection(self.house.tenant, &change, subject.id);
            removed.await.unwrap();
        }
        self.house.gateway.refresh(self.house.tenant).await.unwrap();
    }
}

async fn add(
    house: &House,
    hostile: &Hostile,
    (namespace, command): (&str, &str),
    timeout_ms: u32,
) -> ConnectionId {
    let endpoint = match hostile.url() {
        None => Endpoint::Command {
            configured: command.into(),
        },
        Some(url) => Endpoint::Url {
            url: url.into(),
            transport: match hostile.way {
                Way::Sse => Transport::Sse,
                Way::Stdio | Way::Events | Way::Json | Way::Modern => Transport::StreamableHttp,
            },
        },
    };
    let wanted = Wanted {
        owner: ConnectionOwner::Workspace,
        namespace,
        endpoint,
        sharing: Sharing::Shared,
        call_timeout_ms: Some(timeout_ms),
    };
    house.add(wanted).await
}

pub(super) async fn look_only_reads(house: &House, connection: ConnectionId) {
    let pin = PinName {
        connection,
        name: "look".into(),
    };
    let said = domain::Classification {
        risk: Risk::Low,
        effect: Effect::ReadOnly,
        at: domain::Clock::System.now(),
    };
    house
        .store
        .classify(house.tenant, &Change::by_system("test"), &pin, Some(said))
        .await
        .unwrap();
}

/// How a call ended, as the client sees it.
pub(super) fn seen(answer: &Value) -> End {
    if let Some(code) = answer["error"]["code"].as_i64() {
        let code = match code {
            -32602 => OutcomeCode::ArgumentsRejected,
            _ => OutcomeCode::UpstreamError,
        };
        return failed(code);
    }
    let result = &answer["result"];
    if result["isError"] != true {
        return match result {
            Value::Object(_) => FINE,
            // No answer at all; nothing is recorded so.
            _ => failed(OutcomeCode::Internal),
        };
    }
    match result["structuredContent"]["code"].as_str() {
        Some("unknown") => UNKNOWN,
        Some(code) => match code.parse() {
            Ok(code) => failed(code),
            // Said by policy.
            Err(_) => (Status::Denied, Some(OutcomeCode::Denied)),
        },
        None => failed(OutcomeCode::ToolError),
    }
}

/// A client of the newest revision, with the agent's key.
pub(super) struct Client {
    http: Http<HttpConnector, Full<Bytes>>,
    url: String,
    bearer: String,
}

impl Client {
    pub(super) fn new(house: &House) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let http = Http::builder(TokioExecutor::new())
            .pool_idle_timeout(Duration::from_millis(200))
            .pool_timer(hyper_util::rt::TokioTimer::new())
            .build(connector);
        Self {
            http,
            url: format!("{}/mcp", house.url),
            bearer: format!("Bearer {}", house.agent_key),
        }
    }

    /// Calls a tool; the JSON-RPC answer.
    pub(super) async fn call(&self, tool: &str) -> Value {
        self.ask("tools/call", tool, json!({ "name": tool, "arguments": {} }))
            .await
    }

    /// Sends a request; the JSON-RPC answer.
    pub(super) async fn ask(&self, method: &str, name: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
            "progressToken": 1,
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut request = Request::post(&self.url)
            .header("authorization", &self.bearer)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method);
        if !name.is_empty() {
            request = request.header("mcp-name", name);
        }
        let request = request.body(Full::new(Bytes::from(body.to_string()))).unwrap();
        let response = self.http.request(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let answer = testkit::http::Answer {
            status: head.status,
            headers: head.headers,
            body,
        };
        answer.json()
    }
}
