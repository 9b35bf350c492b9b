//! Cutting a catalogue to its bounds: what the connection offers is kept first.

use std::collections::HashSet;
use std::sync::Arc;

use crate::definition::Tool;

/// Room that is left in a catalogue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// Items of one kind.
    pub(super) items: usize,
    /// Bytes of all kinds.
    pub(super) bytes: usize,
}

/// Keeps what there is room for, in the order it came; where it does not all fit, allowed tools go first. The bytes are taken from the
/// room. Says how many were left out.
pub(super) fn tools(all: Vec<Tool>, allowed: Option<&[Arc<str>]>, room: &mut Room) -> (Vec<Tool>, usize) {
    let allowed: Option<HashSet<&str>> = allowed.map(|names| names.iter().map(|name| &**name).collect());
    let offered = |tool: &Tool| allowed.as_ref().is_none_or(|names| names.contains(&*tool.name));
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|at| all.get(*at).is_some_and(|tool| !offered(tool)));
    let mut kept = vec![false; all.len()];
    let mut count = 0;
    for at in order {
        let (Some(tool), Some(mark)) = (all.get(at), kept.get_mut(at)) else {
            continue;
        };
        let size = tool.raw.get().len();
        if count < room.items && size <= room.bytes {
            *mark = true;
            count += 1;
            room.bytes -= size;
        }
    }
    let left_out = all.len() - count;
    (
        all.into_iter()
            .zip(kept)
            .filter_map(|(tool, kept)| kept.then_some(tool))
            .collect(),
        left_out,
    )
}

/// Keeps what there is room for, in the order it came. Says how many were left out.
pub(super) fn items<T>(all: Vec<T>, size: impl Fn(&T) -> usize, room: &mut Room) -> (Vec<T>, usize) {
    let before = all.len();
    let mut kept = Vec::new();
    for item in all {
        let size = size(&item);
        if kept.len() < room.items && size <= room.bytes {
            room.bytes -= size;
            kept.push(item);
        }
    }
    let left_out = before - kept.len();
    (kept, left_out)
}
