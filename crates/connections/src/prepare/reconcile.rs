//! Holds what a server says against what people accepted. Pure.

use std::collections::HashMap;
use std::sync::Arc;

use domain::{ConnectionId, DefinitionState, PresetRef, Timestamp};
use store::{Definition, ToolPin};

use super::ToolCounts;
use crate::definition::Tool;
use crate::preset;

/// What a discovery makes of the pins.
#[derive(Debug, Default)]
pub(super) struct Reconciled {
    /// Pins that are new or differ from what is stored.
    pub(super) pins: Vec<ToolPin>,
    /// How the tools stand.
    pub(super) counts: ToolCounts,
}

/// A listed tool and whether its schema can be compiled.
pub(super) struct Seen {
    pub(super) tool: Tool,
    pub(super) unusable: Option<String>,
}

/// Pins new tools at their present definition, quarantines changed ones, and marks those that are gone; with an incomplete list nothing
/// counts as gone. What a person accepted never changes here; what was only shipped gives way to what the server says first. A preset's
/// word classifies a tool when it is first seen.
pub(super) fn reconcile(
    (connection, preset): (ConnectionId, Option<&PresetRef>),
    known: Vec<ToolPin>,
    (seen, complete): (&[Seen], bool),
    now: Timestamp,
) -> Reconciled {
    let mut known: HashMap<Arc<str>, ToolPin> =
        known.into_iter().map(|pin| (pin.name.clone(), pin)).collect();
    let mut done = Reconciled::default();
    done.counts.listed = seen.len();
    for item in seen {
        let before = known.remove(&item.tool.name);
        done.counts.added += usize::from(before.is_none());
        let pin = judge((connection, preset), item, before.as_ref(), now);
        done.counts.changed += usize::from(pin.state == DefinitionState::Quarantined);
        done.counts.unusable += usize::from(pin.state == DefinitionState::Unusable);
        if before.is_none_or(|before| differs(&before, &pin)) {
            done.pins.push(pin);
        }
    }
    for pin in known.into_values() {
        if pin.state == DefinitionState::Gone {
            done.counts.gone += 1;
        } else if complete {
            done.counts.gone += 1;
            done.pins.push(ToolPin {
                state: DefinitionState::Gone,
                seen: None,
                changed_at: now,
                ..pin
            });
        }
    }
    done.pins.sort_by(|a, b| a.name.cmp(&b.name));
    done
}

fn judge(
    (connection, preset): (ConnectionId, Option<&PresetRef>),
    item: &Seen,
    before: Option<&ToolPin>,
    now: Timestamp,
) -> ToolPin {
    let tool = &item.tool;
    let seen = Definition {
        digest: tool.digest,
        raw: tool.raw.clone(),
    };
    let only_shipped = |accepted: &Definition| {
        preset.is_some_and(|preset| preset::shipped(preset, &tool.name, accepted.digest))
    };
    let accepted = before
        .and_then(|pin| pin.accepted.clone())
        .filter(|accepted| !only_shipped(accepted));
    let changed = accepted
        .as_ref()
        .is_some_and(|accepted| accepted.digest != seen.digest);
    let (state, unusable) = match (changed, &item.unusable) {
        (true, _) => (DefinitionState::Quarantined, None),
        (false, None) => (DefinitionState::Pinned, None),
        (false, Some(reason)) => (DefinitionState::Unusable, Some(reason.clone())),
    };
    ToolPin {
        connection,
        name: tool.name.clone(),
        // Of the same digest: what does not count for it (icons, `_meta`) is taken over as the server has it now.
        accepted: if changed { accepted } else { Some(seen.clone()) },
        // What the accepted definition said decides what the tool is eligible for.
        hints: before.filter(|_| changed).map_or(tool.hints, |pin| pin.hints),
        classification: match before {
            Some(pin) => pin.classification,
            None => preset.and_then(|preset| preset::classification(preset, &tool.name, now)),
        },
        first_seen: before.map_or(now, |pin| pin.first_seen),
        changed_at: before
            .filter(|pin| pin.state == state && same(pin.seen.as_ref(), &seen))
            .map_or(now, |pin| pin.changed_at),
        seen: Some(seen),
        state,
        unusable,
    }
}

fn same(before: Option<&Definition>, now: &Definition) -> bool {
    before.is_some_and(|before| before.digest == now.digest)
}

fn differs(before: &ToolPin, after: &ToolPin) -> bool {
    let bytes = |definition: &Option<Definition>| definition.as_ref().map(|d| d.raw.get().to_owned());
    before.state != after.state
        || before.unusable != after.unusable
        || before.hints != after.hints
        || bytes(&before.accepted) != bytes(&after.accepted)
        || bytes(&before.seen) != bytes(&after.seen)
}
