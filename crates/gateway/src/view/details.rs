//! What surfaces ask of a view besides its lists: a definition, the arguments that headers repeat, whether lists changed.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use domain::SnapshotTool;
use serde_json::Value;
use serde_json::value::RawValue;

use super::View;
use crate::facts::KnownTool;

/// An argument that HTTP requests of revision 2026-07-28 repeat in a header (`x-mcp-header`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirrored {
    /// The header's name, in lower case.
    pub header: String,
    /// Where the argument stands.
    pub path: Vec<String>,
}

impl View {
    /// The definition of a tool that is there, under its own name.
    #[must_use]
    pub fn definition(&self, exposed: &str) -> Option<&RawValue> {
        self.snapshot()
            .by_name(exposed)
            .and_then(|tool| self.raw_definition(tool))
    }

    /// The arguments of a tool that headers repeat. Read anew each time; few tools have any.
    #[must_use]
    pub fn mirrored(&self, exposed: &str) -> Vec<Mirrored> {
        let mut found = Vec::new();
        if let Some(raw) = self.definition(exposed)
            && raw.get().contains("x-mcp-header")
            && let Ok(definition) = serde_json::from_str::<Value>(raw.get())
            && let Some(schema) = definition.get("inputSchema")
        {
            collect(schema, &mut Vec::new(), &mut found);
        }
        found
    }

    /// A number each for the tools, prompts and resources (with templates and skills) that are there: another number means another list.
    #[must_use]
    pub fn marks(&self) -> [u64; 3] {
        let mut tools = DefaultHasher::new();
        for tool in &self.snapshot().tools {
            tool.exposed.hash(&mut tools);
            tool.definition.bytes().hash(&mut tools);
        }
        let mut prompts = DefaultHasher::new();
        self.prompts()
            .iter()
            .for_each(|prompt| prompt.definition.get().hash(&mut prompts));
        let mut resources = DefaultHasher::new();
        for item in self.resources().iter().chain(self.templates()) {
            item.definition.get().hash(&mut resources);
        }
        for offered in self.skills().iter().filter(|offered| offered.served) {
            offered.skill.raw.get().hash(&mut resources);
        }
        [tools.finish(), prompts.finish(), resources.finish()]
    }

    fn raw_definition(&self, tool: &SnapshotTool) -> Option<&RawValue> {
        Some(match self.known(tool)? {
            KnownTool::Capability { definition, .. } => definition,
            KnownTool::Imported(imported) => &imported.definition,
        })
    }
}

/// Only a chain of `properties` gives an argument a fixed place.
fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Mirrored>) {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return;
    };
    for (name, property) in properties {
        path.push(name.clone());
        if let Some(Value::String(header)) = property.get("x-mcp-header") {
            let header = format!("mcp-param-{}", header.to_ascii_lowercase());
            found.push(Mirrored {
                header,
                path: path.clone(),
            });
        }
        collect(property, path, found);
        path.pop();
    }
}
