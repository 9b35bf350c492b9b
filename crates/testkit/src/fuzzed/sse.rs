//! Server-sent events: what is read does not depend on how it is cut, and is what the standard says.

#![expect(clippy::unwrap_used, reason = "what must hold and does not fails the target")]

use bytes::Bytes;
use mcp::sse::{Event, EventTooLarge, Parser};

/// Small enough for inputs to reach it.
const LIMIT: usize = 64;

/// The first byte says how the rest is cut.
pub(super) fn check(input: &[u8]) {
    let Some((seed, stream)) = input.split_first() else {
        return;
    };
    let whole = read(stream, usize::MAX, usize::MAX);
    let cut = usize::from(*seed % 16) + 1;
    assert_eq!(whole, read(stream, cut, usize::MAX), "cut at every {cut}");
    assert_eq!(
        whole.0.as_deref(),
        Ok(&*by_the_standard(stream)),
        "against the standard"
    );
    let (bounded, small) = (read(stream, usize::MAX, LIMIT), read(stream, cut, LIMIT));
    assert_eq!(bounded.0, small.0, "the bound, cut at every {cut}");
    match bounded.0 {
        // A bound changes nothing but whether there is an answer; one event holds no more than it.
        Ok(events) => assert_eq!(Ok(&events), whole.0.as_ref()),
        Err(error) => assert_eq!(error.limit, LIMIT),
    }
}

type Read = (
    Result<Vec<Event>, EventTooLarge>,
    Option<String>,
    Option<std::time::Duration>,
);

fn read(stream: &[u8], cut: usize, limit: usize) -> Read {
    let mut parser = Parser::new(limit);
    let mut events = Vec::new();
    for chunk in stream.chunks(cut.min(stream.len().max(1))) {
        parser.push(Bytes::copy_from_slice(chunk));
        loop {
            match parser.next_event() {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(error) => return (Err(error), None, None),
            }
        }
    }
    for event in events.iter().filter(|_| limit == LIMIT) {
        assert!(
            event.data.len() <= LIMIT && event.event.chars().count() <= LIMIT,
            "{event:?}"
        );
    }
    (
        Ok(events),
        parser.last_event_id().map(str::to_owned),
        parser.retry(),
    )
}

/// The same, the slow and plain way (WHATWG HTML, "Interpreting an event stream").
fn by_the_standard(stream: &[u8]) -> Vec<Event> {
    let stream = stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream);
    let (mut events, mut id) = (Vec::new(), String::new());
    let (mut data, mut kind, mut retry, mut new_id): (Vec<Vec<u8>>, _, _, _) =
        (Vec::new(), String::new(), None, None);
    for line in lines(stream) {
        if line.is_empty() {
            if let Some(new) = new_id.take() {
                id = new;
            }
            let lines = std::mem::take(&mut data);
            let (kind, retry) = (std::mem::take(&mut kind), retry.take());
            if !lines.is_empty() {
                events.push(Event {
                    id: (!id.is_empty()).then(|| id.as_str().into()),
                    event: if kind.is_empty() {
                        "message".into()
                    } else {
                        kind.into()
                    },
                    data: lines.join(&b'\n').into(),
                    retry,
                });
            }
            continue;
        }
        let at = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (name, value) = line.split_at(at);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => data.push(value.to_vec()),
            b"event" => kind = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) => new_id = Some(String::from_utf8_lossy(value).into_owned()),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let number = std::str::from_utf8(value).unwrap().parse().ok();
                retry = number.map(std::time::Duration::from_millis).or(retry);
            }
            _ => {}
        }
    }
    events
}

/// The lines that have an end: CRLF, LF or CR.
fn lines(mut stream: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    while let Some(at) = stream.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
        let (line, rest) = stream.split_at(at);
        lines.push(line);
        stream = rest
            .strip_prefix(b"\r\n")
            .or_else(|| rest.get(1..))
            .unwrap_or_default();
    }
    lines
}
