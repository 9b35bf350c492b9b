//! Exposed names: legal, unique, deterministic, and the same whatever the order.

use std::collections::HashSet;

use domain::{ConnectionId, Namespace, ToolRef};
use policy::NameLimits;
use policy::names::{Named, assign, expose};
use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};

use crate::world::{id, tool};

// O034: names are namespaced by connection.
#[test]
fn single_names() {
    let long = "a".repeat(60);
    let cut = format!("github__{}_", "a".repeat(29));
    for (namespace, upstream, max, want) in [
        (Some("github"), "create_issue", 46, "github__create_issue"),
        (None, "create_issue", 46, "create_issue"),
        (
            Some("github"),
            "issues.list/all é",
            46,
            "github__issues_list_all__",
        ),
        (Some("github"), "", 46, "github__tool"),
        (Some("github"), long.as_str(), 46, cut.as_str()),
        (
            Some("github"),
            &long[..56],
            64,
            &format!("github__{}", &long[..56]),
        ),
    ] {
        let namespace = namespace.map(|text| Namespace::new(text).unwrap());
        let got = expose(
            namespace.as_ref(),
            upstream,
            id::<ConnectionId>("github"),
            NameLimits::new(max),
        );
        let is_cut = want.len() < got.len();
        assert!(got.starts_with(want) && got.len() <= max, "{upstream:?}: {got}");
        assert_eq!(is_cut, upstream.len() > 56, "{upstream:?}: {got}");
    }
}

#[test]
fn limits_are_held() {
    for (asked, got) in [(46, 46), (64, 64), (65, 64), (usize::MAX, 64), (0, 16)] {
        assert_eq!(NameLimits::new(asked).max(), got);
    }
}

#[test]
fn collisions() {
    let github = Namespace::new("github").unwrap();
    let named = |tools: &[&str]| -> Vec<String> {
        let tools: Vec<ToolRef> = tools.iter().map(|t| tool(t)).collect();
        let named: Vec<Named<'_>> = tools
            .iter()
            .map(|tool| Named {
                tool,
                namespace: tool.connection().map(|_| &github),
            })
            .collect();
        assign(&named, NameLimits::default())
            .iter()
            .map(ToString::to_string)
            .collect()
    };
    let lone = named(&["github/a.b"]);
    assert_eq!(lone, ["github__a_b"]);
    let both = named(&["github/a.b", "github/a_b", "github/A_B", "github/c"]);
    assert_eq!(both.last().unwrap(), "github__c");
    for name in &both[..3] {
        assert!(
            name.to_ascii_lowercase().starts_with("github__a_b_") && name.len() == 20,
            "{name}"
        );
    }
    // A capability keeps its name whatever an upstream calls its tools.
    let contested = named(&["github__a_b", "github/a.b"]);
    assert_eq!(contested[0], "github__a_b");
    assert_ne!(contested[1], "github__a_b");
    // A dot becomes an underscore: `connections.add` is `connections_add`.
    assert_eq!(named(&["connections.add"]), ["connections_add"]);
}

fn tools() -> impl Strategy<Value = Vec<ToolRef>> {
    let upstream = (
        prop::sample::select(&["github", "mail"][..]),
        "[aAb._ é-]{0,3}|[a]{40,60}",
    );
    let one = (upstream, any::<bool>()).prop_map(|((connection, name), capability)| {
        if capability {
            tool(&name)
        } else {
            tool(&format!("{connection}/{name}"))
        }
    });
    prop::collection::hash_set(one, 1..40).prop_map(|set| set.into_iter().collect())
}

proptest! {
    #[test]
    fn names_are_legal_unique_and_stable(tools in tools(), bare in any::<bool>(), rotate in any::<usize>()) {
        let namespace = Namespace::new("github").unwrap();
        let named: Vec<Named<'_>> = tools
            .iter()
            .map(|tool| Named { tool, namespace: tool.connection().filter(|_| !bare).map(|_| &namespace) })
            .collect();
        let names = assign(&named, NameLimits::default());
        prop_assert_eq!(names.len(), tools.len());
        let folded: HashSet<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        prop_assert_eq!(folded.len(), names.len());
        for name in &names {
            prop_assert!((1..=46).contains(&name.len()));
            prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'), "{}", name);
        }
        let by = rotate % tools.len();
        let mut turned = named.clone();
        turned.rotate_left(by);
        let mut again = assign(&turned, NameLimits::default());
        again.rotate_right(by);
        prop_assert_eq!(names, again);
    }
}
