use std::sync::Arc;
use std::time::Duration;

use domain::{Classification, ConnectionId, DefinitionState, Effect, Hints, Risk, Timestamp};
use serde_json::json;
use serde_json::value::RawValue;
use store::ToolPin;

use super::Pace;
use super::bound::{self, Room};
use super::reconcile::{Reconciled, Seen, reconcile};
use crate::Limits;
use crate::definition::Tool;

fn tool(name: &str, description: &str) -> Tool {
    let text = json!({ "name": name, "description": description, "inputSchema": {}, "annotations": { "readOnlyHint": description == "reads" } });
    Tool::read(Arc::from(RawValue::from_string(text.to_string()).unwrap())).unwrap()
}

fn seen(name: &str, description: &str) -> Seen {
    Seen {
        tool: tool(name, description),
        unusable: None,
    }
}

// V051
#[test]
fn allowed_tools_are_kept_first() {
    let all: Vec<Tool> = ["a", "b", "c", "d", "e"]
        .iter()
        .map(|name| tool(name, "x"))
        .collect();
    let check = |allowed: Option<&[&str]>, items: usize, bytes: usize, want: &str| {
        let allowed: Option<Vec<Arc<str>>> =
            allowed.map(|names| names.iter().map(|name| Arc::from(*name)).collect());
        let (kept, left_out) = bound::tools(all.clone(), allowed.as_deref(), &mut Room { items, bytes });
        let names: String = kept.iter().map(|tool| &*tool.name).collect();
        assert_eq!((names.as_str(), left_out), (want, 5 - want.len()));
    };
    let size = tool("a", "x").raw.get().len();
    check(None, 9, 99_999, "abcde");
    check(None, 2, 99_999, "ab");
    check(Some(&["e", "c"]), 2, 99_999, "ce");
    check(Some(&["e"]), 3, 99_999, "abe");
    check(Some(&["d"]), 9, 2 * size, "ad");
    check(None, 9, 0, "");
}

#[test]
fn items_are_cut_to_the_room() {
    let mut room = Room { items: 3, bytes: 10 };
    assert_eq!(
        bound::items(vec!["aaaa", "bbbb", "cccc", "d"], |s| s.len(), &mut room),
        (vec!["aaaa", "bbbb", "d"], 1)
    );
    assert_eq!(room.bytes, 1);
}

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

fn run(known: Vec<ToolPin>, seen: &[Seen], complete: bool, now: i64) -> Reconciled {
    let id: ConnectionId = "00000000-0000-7000-8000-000000000001".parse().unwrap();
    reconcile((id, None), known, (seen, complete), at(now))
}

#[test]
fn pins_keep_what_a_person_said() {
    let first = run(Vec::new(), &[seen("a", "reads")], true, 1);
    let mut pin = first.pins.into_iter().next().unwrap();
    assert_eq!(
        (pin.state, pin.hints.read_only),
        (DefinitionState::Pinned, Some(true))
    );
    let said = Classification {
        risk: Risk::Low,
        effect: Effect::ReadOnly,
        at: at(2),
    };
    pin.classification = Some(said);

    // The same: nothing to store.
    assert!(
        run(vec![pin.clone()], &[seen("a", "reads")], true, 3)
            .pins
            .is_empty()
    );

    // Changed: what decides about calls stays what was accepted, its hints included.
    let changed = run(vec![pin.clone()], &[seen("a", "writes")], true, 4)
        .pins
        .remove(0);
    assert_eq!(changed.state, DefinitionState::Quarantined);
    assert_eq!(
        changed.hints,
        Hints {
            read_only: Some(true),
            ..Hints::default()
        }
    );
    assert_eq!(
        (changed.classification, changed.first_seen, changed.changed_at),
        (Some(said), at(1), at(4))
    );
    assert_eq!(
        changed.accepted.as_ref().unwrap().digest,
        pin.accepted.as_ref().unwrap().digest
    );

    // Changed again: still quarantined, by the newest definition.
    let twice = run(vec![changed.clone()], &[seen("a", "writes more")], true, 5)
        .pins
        .remove(0);
    assert_ne!(
        twice.seen.as_ref().unwrap().digest,
        changed.seen.as_ref().unwrap().digest
    );
    assert_eq!(twice.changed_at, at(5));

    // Gone, and nothing said about it in an incomplete list.
    assert!(run(vec![pin.clone()], &[], false, 6).pins.is_empty());
    let gone = run(vec![pin.clone()], &[], true, 6).pins.remove(0);
    assert_eq!(
        (gone.state, gone.classification),
        (DefinitionState::Gone, Some(said))
    );
    assert!(gone.seen.is_none() && gone.accepted.is_some());
    assert!(run(vec![gone.clone()], &[], true, 7).pins.is_empty());
    assert_eq!(
        run(vec![gone], &[seen("a", "reads")], true, 8)
            .pins
            .remove(0)
            .state,
        DefinitionState::Pinned
    );
}

#[test]
fn news_without_news_is_acted_on_more_and_more_slowly() {
    let limits = Limits::default();
    let mut pace = Pace::default();
    let mut waits = Vec::new();
    for found in [false, false, false, true, false] {
        waits.push(pace.news(&limits).unwrap().as_millis());
        assert_eq!(pace.news(&limits), None, "one reading for all news");
        pace.reading();
        pace.read(found);
    }
    assert_eq!(waits, [300, 600, 1_200, 2_400, 300]);
    for _ in 0..40 {
        pace.read(false);
    }
    assert_eq!(pace.news(&limits), Some(Duration::from_secs(300)));
}
