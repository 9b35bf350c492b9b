//! Which names are taken, and by what: a second import of the same file finds itself.

use std::collections::{HashMap, HashSet};

use domain::{Label, Namespace};

use crate::config::{CommandEntry, EnvValue};

/// What has a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Holder {
    /// A connection to this URL.
    Remote(String),
    /// A command of the configuration.
    Command(Vec<EnvValue>),
    /// Something that no entry of a file is compared with.
    Other,
}

/// The names of a workspace and its configuration.
#[derive(Debug, Default)]
pub(super) struct Names {
    namespaces: HashMap<String, Holder>,
    labels: HashSet<String>,
}

/// Where an entry goes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Under this free name.
    Free(Namespace),
    /// It is there already.
    There(Namespace),
}

impl Names {
    /// Adds what the workspace has.
    pub(super) fn connection(&mut self, namespace: &str, label: &str, url: Option<&str>) {
        let holder = url.map_or(Holder::Other, |url| Holder::Remote(url.to_owned()));
        self.namespaces.insert(namespace.to_owned(), holder);
        self.labels.insert(label.to_owned());
    }

    /// Adds what the configuration has, whether or not the workspace knows it yet.
    pub(super) fn command(&mut self, entry: &CommandEntry) {
        self.namespaces
            .insert(entry.name.clone(), Holder::Command(entry.command.clone()));
        self.labels
            .insert(entry.label.clone().unwrap_or_else(|| entry.name.clone()));
    }

    /// The first free name of the row `wanted`, `wanted-2`, …, unless one before it holds the same.
    pub(super) fn place(&self, wanted: &Namespace, same: impl Fn(&Namespace, &Holder) -> bool) -> Place {
        let mut candidate = wanted.clone();
        for number in 2_u32.. {
            match self.namespaces.get(candidate.as_str()) {
                None => break,
                Some(holder) if same(&candidate, holder) => return Place::There(candidate),
                Some(_) => candidate = wanted.numbered(number),
            }
        }
        Place::Free(candidate)
    }

    /// Takes a name and makes a free label for it.
    pub(super) fn take(&mut self, namespace: &Namespace, holder: Holder, name: &str) -> String {
        self.namespaces.insert(namespace.as_str().to_owned(), holder);
        let shown: String = name.chars().take(Label::MAX).collect();
        let stem = Label::new(&shown).map_or_else(
            |_| namespace.as_str().to_owned(),
            |label| label.as_str().to_owned(),
        );
        let mut label = stem.clone();
        for number in 2_u32.. {
            if self.labels.insert(label.clone()) {
                break;
            }
            label = numbered(&stem, number);
        }
        label
    }
}

fn numbered(stem: &str, number: u32) -> String {
    let suffix = format!(" ({number})");
    let kept: String = stem
        .chars()
        .take(Label::MAX.saturating_sub(suffix.len()))
        .collect();
    format!("{}{suffix}", kept.trim_end())
}
