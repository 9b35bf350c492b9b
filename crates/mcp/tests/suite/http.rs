//! The HTTP client against a real, scripted server: statuses, bounds, deadlines, pooling, and what counts as sent.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use mcp::egress::{Egress, EndpointOf, FixedNames, Resolver};
use mcp::http::{
    ConnectStep, Content, HttpClient, HttpError, HttpLimits, HttpOptions, HttpResponse, Part, Phase,
};
use tokio::net::TcpListener;
use tokio::time::Instant;
use url::Url;

use crate::origin::{Origin, Reply, header, response};

#[tokio::test]
async fn statuses_arrive_exactly() {
    for status in [
        200, 202, 204, 400, 401, 403, 404, 405, 406, 409, 415, 422, 429, 500, 502, 503, 504,
    ] {
        let origin = Origin::always(Reply::Keep(response(status, "", ""))).await;
        let got = post(&origin, "{}").await.unwrap();
        assert_eq!(got.status.as_u16(), status);
    }
}

// V126
#[tokio::test]
async fn redirects_are_refused_and_nothing_more_is_sent() {
    for (status, location, named) in [
        (
            301,
            "location: https://elsewhere.example/path?token=1\r\n",
            Some("elsewhere.example"),
        ),
        (302, "location: /other\r\n", Some("127.0.0.1")),
        (303, "location: //third.example/\r\n", Some("third.example")),
        (
            307,
            "location: http://169.254.169.254/latest\r\n",
            Some("169.254.169.254"),
        ),
        (308, "location: javascript:alert(1)\r\n", None),
        (300, "", Some("no header")),
        (304, "", Some("no header")),
    ] {
        let origin = Origin::always(Reply::Keep(response(status, location, ""))).await;
        let error = post(&origin, "{}").await.unwrap_err();
        let HttpError::Redirect {
            status: got,
            location,
        } = &error
        else {
            panic!("{error:?}")
        };
        assert_eq!(got.as_u16(), status);
        assert_eq!(location.as_deref(), named.filter(|named| *named != "no header"));
        assert!(error.sent());
        assert_eq!(origin.seen().len(), 1);
    }
}

#[tokio::test]
async fn requests_carry_what_they_should_and_nothing_else() {
    let origin = Origin::always(Reply::Keep(response(200, "", ""))).await;
    post(&origin, "{\"a\":1}").await.unwrap();
    let text = origin.seen()[0].text.clone();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert_eq!(body, "{\"a\":1}");
    assert!(head.starts_with("POST /mcp HTTP/1.1\r\n"), "{head}");
    assert_eq!(header(head, "host"), Some(origin.address.to_string().as_str()));
    assert_eq!(header(head, "content-length"), Some("7"));
    assert!(
        header(head, "user-agent").unwrap().starts_with("switchboard/"),
        "{head}"
    );
    let mut names: Vec<&str> = head
        .lines()
        .skip(1)
        .filter_map(|line| line.split(':').next())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["content-length", "host", "user-agent"]);

    let own = Request::get(origin.url())
        .header("user-agent", "mine")
        .body(Bytes::new())
        .unwrap();
    client(&origin).send(own, soon()).await.unwrap();
    let text = origin.seen()[1].text.clone();
    assert!(text.starts_with("GET /mcp HTTP/1.1\r\n"));
    assert_eq!(
        (header(&text, "user-agent"), header(&text, "content-length")),
        (Some("mine"), None)
    );
}

#[tokio::test]
async fn exchanges_one_after_another_share_a_connection() {
    let origin = Origin::always(Reply::Keep(response(200, "", "ok"))).await;
    let client = client(&origin);
    for _ in 0..20 {
        let response = client.clone().send(request(&origin, "{}"), soon()).await.unwrap();
        assert_eq!(response.bytes(10, soon()).await.unwrap(), "ok");
    }
    let seen = origin.seen();
    assert_eq!(
        (seen.len(), seen.iter().map(|seen| seen.connection).max()),
        (20, Some(0))
    );
}

#[tokio::test]
async fn an_answer_nobody_reads_does_not_cost_the_connection() {
    let origin = Origin::always(Reply::Keep(response(202, "", ""))).await;
    let client = client(&origin);
    for _ in 0..5 {
        client.send(request(&origin, "{}"), soon()).await.unwrap();
    }
    assert!(origin.seen().iter().all(|seen| seen.connection == 0));
}

#[tokio::test]
async fn the_next_address_is_tried() {
    let origin = Origin::always(Reply::Keep(response(200, "", ""))).await;
    let addresses = vec!["127.0.0.2".parse().unwrap(), origin.address.ip()];
    let names = Resolver::Fixed(Arc::new(FixedNames::new([("two.test", vec![addresses])])));
    let authority = format!("two.test:{}", origin.address.port());
    let url = format!("http://{authority}/mcp");
    let egress = Egress::public().with_resolver(names).register(&url).unwrap();
    let client = HttpClient::new(HttpOptions {
        egress: Arc::new(egress),
        ..HttpOptions::default()
    })
    .unwrap();
    client
        .send(Request::post(&url).body(Bytes::new()).unwrap(), soon())
        .await
        .unwrap();
    assert_eq!(header(&origin.seen()[0].text, "host"), Some(authority.as_str()));
}

#[tokio::test]
async fn a_connection_closed_while_idle_is_replaced() {
    let mut origin = Origin::always(Reply::Close(response(200, "", "ok"))).await;
    let client = client(&origin);
    for number in 0..3 {
        let response = client.send(request(&origin, "{}"), soon()).await.unwrap();
        response.bytes(10, soon()).await.unwrap();
        assert_eq!(origin.client_left().await, number);
    }
    assert_eq!(
        origin
            .seen()
            .iter()
            .map(|seen| seen.connection)
            .collect::<Vec<_>>(),
        [0, 1, 2]
    );
}

#[tokio::test]
async fn a_request_that_was_written_is_never_sent_again() {
    let origin = Origin::start(|seen| {
        let second = seen.text.ends_with("second");
        if second {
            Reply::Close(Vec::new())
        } else {
            Reply::Keep(response(200, "", "ok"))
        }
    })
    .await;
    let client = client(&origin);
    client
        .send(request(&origin, "first"), soon())
        .await
        .unwrap()
        .bytes(10, soon())
        .await
        .unwrap();
    let error = client.send(request(&origin, "second"), soon()).await.unwrap_err();
    assert!(matches!(error, HttpError::Broken { sent: true, .. }), "{error:?}");
    assert_eq!(origin.seen().len(), 2);
}

#[tokio::test]
async fn many_at_once_get_their_own_answers() {
    let origin = Origin::start(|seen| {
        let body = seen.text.rsplit("\r\n").next().unwrap_or_default().to_owned();
        Reply::Keep(response(200, "", &body))
    })
    .await;
    let client = client(&origin);
    let calls = (0..64).map(|number| {
        let (client, request) = (client.clone(), request(&origin, &number.to_string()));
        async move {
            let response = client.send(request, soon()).await.unwrap();
            assert_eq!(response.bytes(10, soon()).await.unwrap(), number.to_string());
        }
    });
    futures::future::join_all(calls).await;
    assert_eq!(origin.seen().len(), 64);
}

#[tokio::test]
async fn what_certainly_was_not_sent() {
    let unused = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed = format!("http://{}/mcp", unused.local_addr().unwrap());
    drop(unused);
    let error = send_to(&closed, HttpLimits::default(), soon()).await.unwrap_err();
    assert!(
        matches!(
            &error,
            HttpError::Connect {
                step: ConnectStep::Connect,
                ..
            }
        ),
        "{error:?}"
    );
    assert!(!error.sent());
    assert_eq!(
        error.to_string(),
        "cannot connect to 127.0.0.1: the connection failed"
    );
    assert!(error.source().is_some());

    let error = send_to("https://missing.example/mcp", HttpLimits::default(), soon())
        .await
        .unwrap_err();
    assert!(
        matches!(
            &error,
            HttpError::Connect {
                step: ConnectStep::Resolve,
                ..
            }
        ),
        "{error:?}"
    );
    assert!(!error.sent());

    // A server that speaks no TLS.
    let origin = Origin::always(Reply::Keep(response(200, "", ""))).await;
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let https = format!("https://{}/mcp", silent.local_addr().unwrap());
    let short = HttpLimits {
        connect: Duration::from_millis(50),
        ..HttpLimits::default()
    };
    let error = send_to(&https, short, soon()).await.unwrap_err();
    assert!(
        matches!(
            &error,
            HttpError::Timeout {
                phase: Phase::Connect,
                sent: false
            }
        ),
        "{error:?}"
    );
    let error = send_to(&https, HttpLimits::default(), within(50))
        .await
        .unwrap_err();
    assert!(
        matches!(
            &error,
            HttpError::Timeout {
                phase: Phase::Connect,
                sent: false
            }
        ),
        "{error:?}"
    );

    for uri in ["/relative", "example.com:443"] {
        let request = Request::post(uri).body(Bytes::new()).unwrap();
        let error = client(&origin).send(request, soon()).await.unwrap_err();
        assert!(
            matches!(&error, HttpError::Request(_) | HttpError::Egress(_)),
            "{error:?}"
        );
        assert!(!error.sent());
    }
    assert_eq!(origin.seen().len(), 0);
}

// V126, V174
#[tokio::test]
async fn every_wait_ends() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nabc".to_vec();
    let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    let idle = HttpLimits {
        idle_read: Duration::from_millis(50),
        ..HttpLimits::default()
    };
    let early = HttpLimits {
        head: Duration::from_millis(50),
        ..HttpLimits::default()
    };
    for (reply, limits, deadline, expected) in [
        (Reply::Hang(Vec::new()), HttpLimits::default(), 50, Phase::Head),
        (Reply::Hang(Vec::new()), early, 60_000, Phase::Head),
        (
            Reply::Hang(b"HTTP/1.1 200 OK\r\n".to_vec()),
            HttpLimits::default(),
            50,
            Phase::Head,
        ),
        (
            Reply::Forever(b"HTTP/1.1 200 OK\r\n".to_vec(), b"x: y\r\n".to_vec()),
            HttpLimits::default(),
            50,
            Phase::Head,
        ),
        (Reply::Hang(head.clone()), HttpLimits::default(), 50, Phase::Body),
        (Reply::Hang(head), idle, 60_000, Phase::Body),
        (
            Reply::Forever(chunked, b"1\r\nx\r\n".to_vec()),
            HttpLimits::default(),
            100,
            Phase::Body,
        ),
    ] {
        let mut origin = Origin::always(reply).await;
        let deadline = within(deadline);
        let outcome = match send_to(&origin.url(), limits, deadline).await {
            Ok(response) => response.bytes(usize::MAX, deadline).await,
            Err(error) => Err(error),
        };
        let error = outcome.unwrap_err();
        assert!(
            matches!(error, HttpError::Timeout { phase, sent: true } if phase == expected),
            "{error:?}"
        );
        origin.client_left().await;
    }
}

#[tokio::test]
async fn every_size_is_bounded() {
    let long = "x".repeat(100);
    let big_head = format!("x-long: {}\r\n", "x".repeat(80_000));
    let endless_head = Reply::Forever(b"HTTP/1.1 200 OK\r\n".to_vec(), big_head.clone().into_bytes());
    let endless = Reply::Forever(
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec(),
        b"a\r\n0123456789\r\n".to_vec(),
    );
    for (reply, max, expected) in [
        (Reply::Keep(response(200, "", &long)), 100, None),
        (Reply::Keep(response(200, "", &long)), 99, Some((Part::Body, 99))),
        (
            Reply::Hang(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n".to_vec()),
            99,
            Some((Part::Body, 99)),
        ),
        (endless, 95, Some((Part::Body, 95))),
        (Reply::Keep(response(200, "", &long)), usize::MAX, None),
        (
            Reply::Hang(response(200, &big_head, "")),
            100,
            Some((Part::Head, 65_536)),
        ),
        (endless_head, 100, Some((Part::Head, 65_536))),
    ] {
        let mut origin = Origin::always(reply).await;
        let outcome = match post(&origin, "{}").await {
            Ok(response) => response.bytes(max, soon()).await,
            Err(error) => Err(error),
        };
        match (outcome, expected) {
            (Ok(body), None) => assert_eq!(body.len(), 100),
            (Err(HttpError::TooLarge { part, limit }), Some(expected)) => {
                assert_eq!((part, limit), expected);
                origin.client_left().await;
            }
            (outcome, expected) => panic!("{outcome:?} instead of {expected:?}"),
        }
    }
}

#[tokio::test]
async fn a_body_in_pieces_is_put_together() {
    let chunks =
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n2\r\nef\r\n0\r\n\r\n"
            .to_vec();
    let origin = Origin::always(Reply::Keep(chunks)).await;
    assert_eq!(
        post(&origin, "{}").await.unwrap().bytes(6, soon()).await.unwrap(),
        "abcdef"
    );
    let cut = Origin::always(Reply::Close(
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc".to_vec(),
    ))
    .await;
    let error = post(&cut, "{}")
        .await
        .unwrap()
        .bytes(9, soon())
        .await
        .unwrap_err();
    assert!(matches!(error, HttpError::Broken { sent: true, .. }), "{error:?}");
}

#[tokio::test]
async fn an_excerpt_never_fails() {
    let limits = HttpLimits {
        max_error_body: 5,
        ..HttpLimits::default()
    };
    for (reply, expected) in [
        (Reply::Keep(response(500, "", "abc")), "abc"),
        (Reply::Keep(response(500, "", "abcdefgh")), "abcde"),
        (Reply::Keep(response(500, "", "")), ""),
        (
            Reply::Close(b"HTTP/1.1 500 No\r\ncontent-length: 9\r\n\r\nabc".to_vec()),
            "abc",
        ),
        (
            Reply::Hang(b"HTTP/1.1 500 No\r\ncontent-length: 9\r\n\r\nabc".to_vec()),
            "abc",
        ),
    ] {
        let origin = Origin::always(reply).await;
        let response = send_to(&origin.url(), limits, soon()).await.unwrap();
        assert_eq!(response.excerpt(within(100)).await, expected);
    }
}

#[tokio::test]
async fn heads_are_read_carefully() {
    let date = "date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    for (headers, content, retry_after) in [
        (
            "content-type: application/json\r\nretry-after: 7\r\n",
            Content::Json,
            Some(7),
        ),
        (
            "Content-Type: Application/JSON; charset=utf-8\r\n",
            Content::Json,
            None,
        ),
        (
            "content-type: application/problem+json\r\nretry-after: soon\r\n",
            Content::Json,
            None,
        ),
        (
            "content-type: text/event-stream;charset=utf-8\r\nretry-after: -1\r\n",
            Content::Events,
            None,
        ),
        (
            "content-type: text/event-streams\r\nretry-after: 0\r\n",
            Content::Other,
            Some(0),
        ),
        (
            "content-type: text/html\r\nretry-after: Sun, 06 Nov 1994 08:50:37 GMT\r\nDATE",
            Content::Other,
            Some(60),
        ),
        (
            "retry-after: Sun, 06 Nov 1994 08:00:00 GMT\r\nDATE",
            Content::Absent,
            Some(0),
        ),
        (
            "retry-after: Sun, 06 Nov 1994 08:50:37 GMT\r\n",
            Content::Absent,
            None,
        ),
    ] {
        let headers = headers.replace("DATE", date);
        let origin = Origin::always(Reply::Keep(response(429, &headers, "{}"))).await;
        let response = post(&origin, "{}").await.unwrap();
        assert_eq!(response.status, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(response.content(), content, "{headers}");
        assert_eq!(
            response.retry_after(),
            retry_after.map(Duration::from_secs),
            "{headers}"
        );
    }
}

#[tokio::test]
async fn compression_nobody_asked_for_is_refused() {
    for (encoding, refused) in [("gzip", true), ("br", true), ("identity", false)] {
        let headers = format!("content-encoding: {encoding}\r\ncontent-type: text/event-stream\r\n");
        let origin = Origin::always(Reply::Keep(response(200, &headers, "x"))).await;
        let outcome = post(&origin, "{}").await.unwrap().bytes(10, soon()).await;
        assert_eq!(matches!(outcome, Err(HttpError::Encoded)), refused, "{encoding}");
        let outcome = post(&origin, "{}").await.unwrap().events(10);
        assert_eq!(matches!(outcome, Err(HttpError::Encoded)), refused, "{encoding}");
    }
}

const EVENTS: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

// V175
#[tokio::test]
async fn keep_alives_extend_no_deadline() {
    for piece in [
        ": ping\n\n",
        "\n",
        ":\r\n\r\n",
        "event: ping\n\n",
        "id: 1\n\n",
        "retry: 1\n\n",
    ] {
        let mut origin = Origin::always(Reply::Forever(EVENTS.to_vec(), piece.into())).await;
        let mut events = post(&origin, "{}").await.unwrap().events(1000).unwrap();
        let error = events.next(within(100)).await.unwrap_err();
        assert!(
            matches!(
                error,
                HttpError::Timeout {
                    phase: Phase::Event,
                    sent: true
                }
            ),
            "{piece:?}: {error:?}"
        );
        drop(events);
        origin.client_left().await;
    }
}

#[tokio::test]
async fn events_arrive_until_the_stream_ends() {
    let stream = [
        EVENTS,
        b"retry: 9\n\n: hello\n\nid: 1\ndata: a\n\ndata: b\n\nid: 2\n\ndata: cut",
    ]
    .concat();
    let origin = Origin::always(Reply::Close(stream)).await;
    let mut events = post(&origin, "{}").await.unwrap().events(1000).unwrap();
    let mut data = Vec::new();
    while let Some(event) = events.next(soon()).await.unwrap() {
        data.push(event.data);
    }
    assert_eq!(data, ["a", "b"]);
    assert_eq!(
        (events.last_event_id(), events.retry()),
        (Some("2"), Some(Duration::from_millis(9)))
    );
    assert!(events.next(soon()).await.unwrap().is_none());
}

#[tokio::test]
async fn a_released_stream_gives_its_connection_back() {
    let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nb\r\ndata: yes\n\n\r\n".to_vec();
    let origin = Origin::always(Reply::Late(head, b"0\r\n\r\n".to_vec())).await;
    let client = client(&origin);
    // The end arrives at its own time, so ask until a connection has come back; dropped streams never would.
    let patience = soon();
    while origin
        .seen()
        .last()
        .is_none_or(|seen| origin.seen().len() - 1 == seen.connection)
    {
        assert!(Instant::now() < patience);
        let mut events = client
            .send(request(&origin, "{}"), soon())
            .await
            .unwrap()
            .events(100)
            .unwrap();
        assert_eq!(events.next(soon()).await.unwrap().unwrap().data, "yes");
        events.release();
    }
}

#[tokio::test]
async fn a_released_stream_that_goes_on_is_closed() {
    for stream in [
        Reply::Hang([EVENTS, b"data: yes\n\n"].concat()),
        Reply::Forever(EVENTS.to_vec(), b"data: yes\n\n".to_vec()),
    ] {
        let mut origin = Origin::always(stream).await;
        let client = client(&origin);
        let mut events = client
            .send(request(&origin, "{}"), soon())
            .await
            .unwrap()
            .events(100)
            .unwrap();
        assert_eq!(events.next(soon()).await.unwrap().unwrap().data, "yes");
        events.release();
        origin.client_left().await;
    }
}

#[tokio::test]
async fn an_event_too_large_ends_the_stream() {
    let endless = Reply::Forever(EVENTS.to_vec(), b"data: 0123456789".to_vec());
    let mut origin = Origin::always(endless).await;
    let mut events = post(&origin, "{}").await.unwrap().events(50).unwrap();
    let error = events.next(soon()).await.unwrap_err();
    assert!(
        matches!(
            error,
            HttpError::TooLarge {
                part: Part::Event,
                limit: 50
            }
        ),
        "{error:?}"
    );
    drop(events);
    origin.client_left().await;
}

#[tokio::test]
async fn abandoning_an_exchange_closes_it() {
    let mut origin = Origin::always(Reply::Hang(Vec::new())).await;
    let client = client(&origin);
    let mut sending = Box::pin(client.send(request(&origin, "{}"), soon()));
    while origin.seen().is_empty() {
        assert!(futures::poll!(&mut sending).is_pending());
        tokio::task::yield_now().await;
    }
    drop(sending);
    assert_eq!(origin.client_left().await, 0);
}

#[tokio::test]
async fn a_name_that_lies_is_refused_at_connect_and_nothing_is_reached() {
    let origin = Origin::always(Reply::Keep(response(200, "", ""))).await;
    let loopback = origin.address.ip();
    let public = "1.1.1.1".parse().unwrap();
    let names = FixedNames::new([
        ("inside.example", vec![vec![loopback]]),
        ("mixed.example", vec![vec![public, loopback]]),
        ("rebinding.example", vec![vec![public], vec![loopback]]),
    ]);
    let egress = Egress::public().with_resolver(Resolver::Fixed(Arc::new(names)));
    let client = HttpClient::new(HttpOptions {
        egress: Arc::new(egress),
        ..HttpOptions::default()
    })
    .unwrap();
    let rebinding = Url::parse("https://rebinding.example/").unwrap();
    client.egress().check_resolved(&rebinding).await.unwrap();
    for host in ["inside.example", "mixed.example", "rebinding.example"] {
        let uri = format!("https://{host}:{}/mcp", origin.address.port());
        let error = client
            .send(Request::post(uri).body(Bytes::new()).unwrap(), soon())
            .await
            .unwrap_err();
        let HttpError::Egress(refusal) = &error else {
            panic!("{host}: {error:?}")
        };
        assert_eq!(
            (refusal.code(), error.sent()),
            ("egress.address", false),
            "{host}"
        );
    }
    assert_eq!(origin.seen().len(), 0);
}

#[tokio::test]
async fn only_the_registered_url_reaches_an_internal_server() {
    let origin = Origin::always(Reply::Keep(response(200, "", ""))).await;
    let client = client(&origin);
    let base = format!("http://{}", origin.address);
    let server = Url::parse(&origin.url()).unwrap();
    for (uri, endpoint_of, refusal) in [
        (format!("{base}/mcp"), None, None),
        (format!("{base}/mcp/"), None, Some("egress.scheme")),
        (format!("{base}/mcp?x=1"), None, Some("egress.scheme")),
        (format!("{base}/messages?id=1"), Some(&server), None),
        (
            format!("{base}0/messages"),
            Some(&server),
            Some("egress.invalid_url"),
        ),
        (
            "http://127.0.0.1:9/messages".to_owned(),
            Some(&server),
            Some("egress.foreign_origin"),
        ),
    ] {
        let mut request = Request::post(&uri).body(Bytes::new()).unwrap_or_default();
        if let Some(server) = endpoint_of {
            request.extensions_mut().insert(EndpointOf(server.clone()));
        }
        let before = origin.seen().len();
        let outcome = client.send(request, soon()).await;
        match (outcome, refusal) {
            (Ok(_), None) => assert_eq!(origin.seen().len(), before + 1, "{uri}"),
            (Err(HttpError::Egress(got)), Some(code)) => assert_eq!(got.code(), code, "{uri}"),
            (Err(HttpError::Request(_)), Some("egress.invalid_url")) => {}
            (outcome, refusal) => panic!("{uri}: {outcome:?} instead of {refusal:?}"),
        }
    }
}

fn client(origin: &Origin) -> HttpClient {
    client_for(&origin.url(), HttpLimits::default())
}

fn client_for(url: &str, limits: HttpLimits) -> HttpClient {
    let names = Resolver::Fixed(Arc::new(FixedNames::default()));
    let egress = Egress::public().with_resolver(names).register(url).unwrap();
    HttpClient::new(HttpOptions {
        limits,
        egress: Arc::new(egress),
        extra_roots: Vec::new(),
    })
    .unwrap()
}

fn request(origin: &Origin, body: &str) -> Request<Bytes> {
    let request = Request::builder().method(Method::POST).uri(origin.url());
    request.body(Bytes::copy_from_slice(body.as_bytes())).unwrap()
}

async fn post(origin: &Origin, body: &str) -> Result<HttpResponse, HttpError> {
    client(origin).send(request(origin, body), soon()).await
}

async fn send_to(url: &str, limits: HttpLimits, deadline: Instant) -> Result<HttpResponse, HttpError> {
    let request = Request::post(url).body(Bytes::from_static(b"{}")).unwrap();
    client_for(url, limits).send(request, deadline).await
}

/// Never reached when things work.
fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

fn within(milliseconds: u64) -> Instant {
    Instant::now() + Duration::from_millis(milliseconds)
}
