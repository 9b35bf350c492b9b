//! The event stream grammar, and that it does not depend on how the stream is cut.

use std::time::Duration;

use bytes::Bytes;
use mcp::sse::{Event, EventTooLarge, Parser};
use proptest::prelude::*;

/// A stream, and its events as `id|event|data|retry`.
const STREAMS: &[(&str, &[&str])] = &[
    ("", &[]),
    ("data: a\n\n", &["|message|a|"]),
    ("data:a\n\n", &["|message|a|"]),
    ("data:  a \n\n", &["|message| a |"]),
    ("data: a\r\n\r\n", &["|message|a|"]),
    ("data: a\r\r", &["|message|a|"]),
    ("data: a\r\n\rdata: b\n\r\n", &["|message|a|", "|message|b|"]),
    ("data: a\n\r\ndata: b\r\r\n\n", &["|message|a|", "|message|b|"]),
    ("\u{feff}data: a\n\n", &["|message|a|"]),
    ("\u{feff}\u{feff}data: a\n\n", &[]),
    ("\u{feff}: note\ndata: a\n\n", &["|message|a|"]),
    ("data: a\n\n\u{feff}data: b\n\n", &["|message|a|"]),
    (": note\n\ndata: a\n: between\ndata: b\n\n", &["|message|a\nb|"]),
    (":\n\n:\r\n\r\n:\r\r", &[]),
    ("data: a\ndata: b\ndata: c\n\n", &["|message|a\nb\nc|"]),
    ("data\n\n", &["|message||"]),
    ("data\ndata\n\n", &["|message|\n|"]),
    ("data:\n\n", &["|message||"]),
    ("data: a", &[]),
    ("data: a\n", &[]),
    ("data: a\n\ndata: b\n", &["|message|a|"]),
    ("event: endpoint\ndata: /m?id=1\n\n", &["|endpoint|/m?id=1|"]),
    ("event: own\ndata: a\n\ndata: b\n\n", &["|own|a|", "|message|b|"]),
    ("event:\ndata: a\n\n", &["|message|a|"]),
    ("event: x\n\ndata: a\n\n", &["|message|a|"]),
    ("event: x\nevent: y\ndata: a\n\n", &["|y|a|"]),
    ("id: 1\ndata: a\n\ndata: b\n\n", &["1|message|a|", "1|message|b|"]),
    ("id: 1\n\ndata: b\n\n", &["1|message|b|"]),
    (
        "id: 1\ndata: a\n\nid\ndata: b\n\n",
        &["1|message|a|", "|message|b|"],
    ),
    ("id: 1\nid: 2\0\ndata: a\n\n", &["1|message|a|"]),
    ("id: 0\nretry: 1500\ndata:\n\n", &["0|message||1500"]),
    ("retry: 1500\n\ndata: a\n\n", &["|message|a|"]),
    (
        "retry: 15s\nretry: -1\nretry:\nretry: 99999999999999999999\ndata: a\n\n",
        &["|message|a|"],
    ),
    ("Data: a\ndata : b\nunknown: c\nfoo\n\n", &[]),
    ("data: {\"a\":\"b: c\"}\n\n", &["|message|{\"a\":\"b: c\"}|"]),
    ("data: ü→🎉\n\n", &["|message|ü→🎉|"]),
    ("data:\ta\n\n", &["|message|\ta|"]),
    (" data: a\n\n", &[]),
];

#[test]
fn streams() {
    for (stream, expected) in STREAMS {
        let events = parse(stream.as_bytes(), &[]).unwrap();
        assert_eq!(
            events.iter().map(show).collect::<Vec<_>>(),
            *expected,
            "{stream:?}"
        );
        for cut in 1..stream.len() {
            assert_eq!(
                parse(stream.as_bytes(), &[cut]).unwrap(),
                events,
                "{stream:?} cut at {cut}"
            );
        }
        let bytewise: Vec<usize> = (1..stream.len()).collect();
        assert_eq!(
            parse(stream.as_bytes(), &bytewise).unwrap(),
            events,
            "{stream:?} byte by byte"
        );
    }
}

proptest! {
    #[test]
    fn any_cutting_gives_the_same_events(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40),
        cuts in prop::collection::vec(0usize..400, 0..60),
    ) {
        let stream = pieces.concat();
        let whole = parse(&stream, &[]);
        prop_assert_eq!(parse(&stream, &cuts), whole);
    }

    #[test]
    fn any_bytes_are_survived(stream in prop::collection::vec(any::<u8>(), 0..300), limit in 1usize..64) {
        let mut parser = Parser::new(limit);
        parser.push(Bytes::from(stream));
        while let Ok(Some(event)) = parser.next_event() {
            prop_assert!(event.data.len() <= limit);
        }
    }
}

const PIECES: &[&[u8]] = &[
    b"data: x",
    b"data",
    b"event: e",
    b"id: 7",
    b"id",
    b"retry: 10",
    b":",
    b": note",
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\r\r",
    b"\xef\xbb\xbf",
    b"\xef",
    b" ",
    b"\0",
    b"\xff",
    b"\xc3\xa4",
];

#[test]
fn the_bound_holds_for_lines_and_events() {
    let too_large = Err(EventTooLarge { limit: 16 });
    let cases: &[(&str, bool)] = &[
        ("data: 0123456789\n\n", true),
        ("data: 0123456789a\n\n", false),
        ("data: 0123456789a", false),
        ("data: 0\ndata: 1\n\ndata: 0\ndata: 1\n\n", true),
        ("data: 0\ndata: 1\ndata: 2\n\n", false),
        ("event: 0123456789abcdef\n\n", false),
        (
            ": a comment may be as long as it likes\n: and there may be many\ndata: a\n\n",
            true,
        ),
    ];
    for (stream, fits) in cases {
        for cuts in [vec![], (1..stream.len()).collect()] {
            let mut parser = Parser::new(16);
            let outcome = feed(&mut parser, stream.as_bytes(), &cuts);
            if *fits {
                assert!(outcome.is_ok(), "{stream:?}");
            } else {
                assert_eq!(outcome, too_large, "{stream:?}");
            }
        }
    }
}

#[test]
fn an_endless_comment_is_not_held() {
    let mut parser = Parser::new(16);
    parser.push(Bytes::from_static(b":"));
    for _ in 0..1000 {
        parser.push(Bytes::from_static(&[b'x'; 1024]));
        assert_eq!(parser.next_event(), Ok(None));
    }
    parser.push(Bytes::from_static(b"\ndata: a\n\n"));
    assert_eq!(
        parser.next_event().unwrap().map(|event| event.data),
        Some(Bytes::from_static(b"a"))
    );
}

#[test]
fn blocks_without_data_move_id_and_retry() {
    let mut parser = Parser::new(1024);
    assert_eq!(feed(&mut parser, b"id: 5\nretry: 250\n\n", &[]), Ok(vec![]));
    assert_eq!(
        (parser.last_event_id(), parser.retry()),
        (Some("5"), Some(Duration::from_millis(250)))
    );
    // An id counts only when its block is complete.
    assert_eq!(feed(&mut parser, b"id: 6\n", &[]), Ok(vec![]));
    assert_eq!(parser.last_event_id(), Some("5"));
}

fn parse(stream: &[u8], cuts: &[usize]) -> Result<Vec<Event>, EventTooLarge> {
    feed(&mut Parser::new(1 << 20), stream, cuts)
}

fn feed(parser: &mut Parser, stream: &[u8], cuts: &[usize]) -> Result<Vec<Event>, EventTooLarge> {
    let mut cuts: Vec<usize> = cuts.iter().copied().filter(|cut| *cut < stream.len()).collect();
    cuts.sort_unstable();
    cuts.push(stream.len());
    let mut events = Vec::new();
    let (mut rest, mut from) = (stream, 0);
    for cut in cuts {
        let (chunk, after) = rest.split_at(cut - from);
        (rest, from) = (after, cut);
        parser.push(Bytes::copy_from_slice(chunk));
        while let Some(event) = parser.next_event()? {
            events.push(event);
        }
    }
    Ok(events)
}

fn show(event: &Event) -> String {
    let retry = event
        .retry
        .map(|retry| retry.as_millis().to_string())
        .unwrap_or_default();
    let data = String::from_utf8_lossy(&event.data);
    format!(
        "{}|{}|{data}|{retry}",
        event.id.as_deref().unwrap_or_default(),
        event.event
    )
}
