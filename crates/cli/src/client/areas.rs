//! What the areas of commands are about, in the words of their help pages.

/// Area, and what its commands are about.
const AREAS: &[(&str, &str)] = &[
    (
        "activity",
        "What agents did: each call, what was decided and how it ended",
    ),
    ("agents", "Identities that use tools"),
    ("approvals", "Questions to a person about exactly one call"),
    (
        "audit",
        "The record, for auditors: facts in order, chained by hashes",
    ),
    ("clients", "MCP clients that people let in"),
    ("config", "The operator's configuration"),
    ("connections", "MCP servers whose tools agents can be given"),
    ("grants", "What each agent was given"),
    ("registry", "Servers that could be connected"),
    ("invitations", "People who are asked to come"),
    ("members", "People, and what each may do"),
    ("keys", "API keys: administrators' and agents'"),
    ("phone", "Telephone calls, and what agents used on them"),
    ("skills", "What to do with certain tools, written down"),
    ("tools", "Tools: which there are, who may use them and why not"),
    ("voice", "How agents speak on calls"),
    ("voices", "The voices there are"),
];

/// What an area is about.
pub(super) fn about(area: &str) -> String {
    let known = AREAS.iter().find(|(name, _)| *name == area);
    known.map_or_else(
        || format!("Commands about {area}"),
        |(_, about)| (*about).to_owned(),
    )
}

/// Examples below the help of a command.
pub(super) fn examples(id: &str) -> Option<&'static str> {
    Some(match id {
        "connections.add" => {
            "Examples:\n  switchboard connections add --label Mail --url https://mcp.example.com/mcp --bearer-file token\n  \
             pass show mail | switchboard connections add --label Mail --url https://a.example --bearer-file -"
        }
        "connections.update" => {
            "Examples:\n  switchboard connections update search --expected-version 1 --enabled true --trusted true\n\
             \n`switchboard connections show search` says which version it has."
        }
        "tools.call" => {
            "Examples:\n  switchboard tools call sample__search_notes --agent default --arguments '{\"query\": \"grant\"}'\n  \
             switchboard tools call files__write_file --agent default --input call.json"
        }
        "tools.explain" => "Examples:\n  switchboard tools explain sample__delete_note --agent default",
        "tools.classify" => {
            "Examples:\n  switchboard tools classify sample search_notes --risk low --effect read_only"
        }
        "grants.set" => {
            "Examples:\n  switchboard grants set default --connection sample --tool search_notes --permission allow\n  \
             switchboard grants set default --tool current_time --permission deny"
        }
        "resolve_approval" => {
            "Examples:\n  switchboard approvals list\n  switchboard approvals resolve 0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b approved"
        }
        "keys.create" => "Examples:\n  switchboard keys create laptop --kind agent --agent default",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use domain::Surface;

    use super::{AREAS, examples};

    #[test]
    fn every_area_is_explained_and_every_example_has_its_command() {
        let registry = capabilities::registry().unwrap();
        let words: Vec<Vec<&str>> = registry
            .on(Surface::Cli)
            .map(|c| c.declaration.command_words())
            .collect();
        for words in words.iter().filter(|words| words.len() > 1) {
            assert!(AREAS.iter().any(|(area, _)| *area == words[0]), "{words:?}");
        }
        for capability in registry.on(Surface::Cli) {
            let command = capability.declaration.command_words().join(" ");
            if let Some(text) = examples(capability.declaration.id) {
                assert!(text.contains(&format!("switchboard {command} ")), "{command}");
            }
        }
    }
}
