//! Exposed names: legal, unique in any case, short enough, the same in any order.

#![expect(clippy::unwrap_used, reason = "what must hold and does not fails the target")]

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use domain::{Namespace, ToolRef};
use policy::NameLimits;
use policy::names::{Named, assign, expose};

use super::facts::id;

/// The first byte is the limit, the second says which tools have a prefix; the rest is names, a line each. A line's first byte says
/// whose it is: a capability, or one of two connections.
pub(super) fn check(input: &[u8]) {
    let [limit, prefixed, lines @ ..] = input else {
        return;
    };
    let limits = NameLimits::new(usize::from(*limit));
    let mut tools: BTreeSet<ToolRef> = BTreeSet::new();
    for line in lines.split(|byte| *byte == b'\n').take(200) {
        let (whose, name) = line.split_first().unwrap_or((&0, &[]));
        let name: Arc<str> = String::from_utf8_lossy(name).into();
        tools.insert(match whose % 3 {
            0 => ToolRef::Capability(name),
            n => ToolRef::Upstream {
                connection: id(n),
                name,
            },
        });
    }
    let namespaces = ["mail", "files"].map(|text| Namespace::new(text).unwrap());
    let mut named: Vec<Named<'_>> = tools
        .iter()
        .map(|tool| {
            let first = tool.connection().map(|connection| connection == id(1));
            let namespace = first.map(|first| &namespaces[usize::from(!first)]);
            Named {
                tool,
                namespace: namespace.filter(|_| prefixed & 1 == 0),
            }
        })
        .collect();
    let names = assign(&named, limits);
    assert_eq!(names.len(), named.len());
    let folded: HashSet<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
    assert_eq!(folded.len(), names.len(), "{names:?}");
    for (tool, name) in named.iter().zip(&names) {
        assert!((1..=limits.max()).contains(&name.len()), "{name}");
        assert!(
            name.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'),
            "{name}"
        );
        if let Some(connection) = tool.tool.connection() {
            let alone = expose(tool.namespace, tool.tool.name(), connection, limits);
            let lone = assign(std::slice::from_ref(tool), limits);
            assert_eq!(lone, [alone]);
        }
    }
    let straight: Vec<(&ToolRef, Arc<str>)> = named.iter().map(|tool| tool.tool).zip(names).collect();
    named.reverse();
    let mut turned: Vec<(&ToolRef, Arc<str>)> = named
        .iter()
        .map(|tool| tool.tool)
        .zip(assign(&named, limits))
        .collect();
    turned.reverse();
    assert_eq!(straight, turned);
}
