//! The notebook: a handful of notes in memory, gone when the process ends.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schemars::JsonSchema;
use serde::Serialize;

/// One note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Note {
    /// The note's identifier: lower case letters, digits and hyphens
    pub(crate) id: String,
    /// Its title
    pub(crate) title: String,
    /// Its text, Markdown
    pub(crate) body: String,
}

/// A shared notebook. Clones see the same notes.
#[derive(Debug, Clone)]
pub(crate) struct Notebook(Arc<Mutex<BTreeMap<String, Note>>>);

impl Notebook {
    /// A notebook holding the first-steps notes.
    pub(crate) fn seeded() -> Self {
        let notes = SEED.iter().map(|(id, title, body)| Note {
            id: (*id).to_owned(),
            title: (*title).to_owned(),
            body: (*body).to_owned(),
        });
        Self(Arc::new(Mutex::new(
            notes.map(|note| (note.id.clone(), note)).collect(),
        )))
    }

    /// Every note, by identifier.
    pub(crate) fn all(&self) -> Vec<Note> {
        self.notes().values().cloned().collect()
    }

    /// Notes in whose title or body every word of `query` occurs, case aside; an empty query finds all.
    pub(crate) fn search(&self, query: &str) -> Vec<Note> {
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        self.notes()
            .values()
            .filter(|note| {
                let text = format!("{}\n{}", note.title, note.body).to_lowercase();
                words.iter().all(|word| text.contains(word.as_str()))
            })
            .cloned()
            .collect()
    }

    /// The note called `id`.
    pub(crate) fn read(&self, id: &str) -> Option<Note> {
        self.notes().get(id).cloned()
    }

    /// Adds a note under an identifier made of its title; a taken identifier gets a number.
    pub(crate) fn add(&self, title: &str, body: &str) -> Note {
        let mut notes = self.notes();
        let base = slug(title);
        let id = std::iter::once(base.clone())
            .chain((2_u32..).map(|number| format!("{base}-{number}")))
            .find(|id| !notes.contains_key(id))
            .unwrap_or(base);
        let note = Note {
            id: id.clone(),
            title: title.to_owned(),
            body: body.to_owned(),
        };
        notes.insert(id, note.clone());
        note
    }

    /// Removes a note for good and returns what it was.
    pub(crate) fn delete(&self, id: &str) -> Option<Note> {
        self.notes().remove(id)
    }

    fn notes(&self) -> MutexGuard<'_, BTreeMap<String, Note>> {
        // A panic while holding the lock leaves whole notes behind: each change is one insert or one remove.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn slug(title: &str) -> String {
    let dashed: String = title
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let words: Vec<&str> = dashed
        .split('-')
        .filter(|word| !word.is_empty())
        .take(8)
        .collect();
    if words.is_empty() {
        "note".to_owned()
    } else {
        words.join("-")
    }
}

const SEED: &[(&str, &str, &str)] = &[
    (
        "welcome",
        "Welcome",
        "You are reading this through Switchboard. The agent asked for a tool, Switchboard found a grant that allows \
         it, checked the arguments against the tool's schema, passed the call on to this notebook and wrote down what \
         happened.\n\nThe notebook is a sample: it lives in memory and starts anew with the server.",
    ),
    (
        "asking-first",
        "Calls that ask first",
        "`delete_note` cannot be undone, so the sample setup asks a person before it runs. Call it: instead of a \
         deletion you get an approval to resolve. List what is waiting with `switchboard approvals list`, answer with \
         `switchboard approvals resolve`, and repeat the very same call. An approval is bound to that agent, that tool \
         and those arguments, and is spent once.",
    ),
    (
        "why-not",
        "Why can't my agent use a tool?",
        "Without a grant nothing is allowed. `switchboard tools list` shows what an agent may use and, for everything \
         else, the reason why not. `switchboard tools explain` answers for one tool, naming the grant or the rule that \
         decided.",
    ),
    (
        "your-own-tools",
        "Connecting your own tools",
        "Remote servers are added with `switchboard connections add`; servers started as a command are named in the \
         configuration file, never through an API. `switchboard connections import FILE` takes over the file another \
         MCP client already uses. Imported tools start unclassified and on no grant: look at each, classify it, then \
         grant it.",
    ),
    (
        "the-record",
        "The record",
        "Every call, allowed or denied, is one entry in the audit log. Entries are chained by digest, so a changed or \
         missing one shows: `switchboard audit verify` checks the chain. Arguments and results are not in it, only \
         their digests.",
    ),
];

#[cfg(test)]
mod tests {
    use super::{Notebook, slug};

    #[test]
    fn titles_become_identifiers() {
        let cases = [
            ("Shopping list", "shopping-list"),
            ("  Überraschung!  ", "berraschung"),
            ("日本", "note"),
            ("a b c d e f g h i j", "a-b-c-d-e-f-g-h"),
        ];
        for (title, id) in cases {
            assert_eq!(slug(title), id, "{title}");
        }
    }

    #[test]
    fn a_taken_identifier_gets_a_number() {
        let notebook = Notebook::seeded();
        let ids: Vec<String> = (0..3).map(|_| notebook.add("Welcome", "again").id).collect();
        assert_eq!(ids, ["welcome-2", "welcome-3", "welcome-4"]);
    }

    #[test]
    fn a_search_wants_every_word() {
        let notebook = Notebook::seeded();
        let cases: [(&str, &[&str]); 4] = [
            ("audit chain", &["the-record"]),
            ("APPROVAL", &["asking-first"]),
            ("audit bananas", &[]),
            (
                "",
                &[
                    "asking-first",
                    "the-record",
                    "welcome",
                    "why-not",
                    "your-own-tools",
                ],
            ),
        ];
        for (query, expected) in cases {
            let found: Vec<String> = notebook.search(query).into_iter().map(|note| note.id).collect();
            assert_eq!(found, expected, "{query}");
        }
    }
}
