//! `npx mcp-remote URL`: a local process that only forwards to a remote server. The remote server is what is meant.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::command::program_name;
use super::compose::{Composer, is_header_name, put_header};
use super::draft::Draft;
use super::launch::{Remote, Transport};
use super::remote;
use super::secrets::Place;
use super::syntax::Syntax;

/// Longest address or header after its variables were put in; the rest stays a reference.
const MAX_FILLED_BYTES: usize = 65_536;

/// A recognised bridge.
pub(super) struct Bridge<'a> {
    /// What follows the package: the address first.
    args: Vec<&'a str>,
    env: &'a Map<String, Value>,
}

/// Recognises mcp-remote behind `npx`, `bunx`, `pnpm dlx`, `cmd /c npx` or by itself.
pub(super) fn recognise<'a>(
    program: &str,
    args: &'a [Value],
    env: &'a Map<String, Value>,
) -> Option<Bridge<'a>> {
    let mut words: Vec<&str> = args.iter().map(Value::as_str).collect::<Option<_>>()?;
    if !is_package(&program_name(program)) {
        let before = words.iter().position(|word| is_package(word))?;
        let runner = program_name(program);
        let known =
            ["npx", "bunx", "pnpm", "yarn", "npm", "bun", "cmd", "deno", "node"].contains(&runner.as_str());
        let only_runners = words.iter().take(before).all(|word| {
            let step = ["npx", "bunx", "dlx", "exec", "x", "run"].contains(&program_name(word).as_str());
            step || word.starts_with('-') || word.eq_ignore_ascii_case("/c")
        });
        if !known || !only_runners {
            return None;
        }
        words.drain(..=before);
    }
    words
        .first()
        .filter(|address| address.contains("://") || address.starts_with("${"))?;
    Some(Bridge { args: words, env })
}

fn is_package(word: &str) -> bool {
    word == "mcp-remote"
        || word
            .strip_prefix("mcp-remote@")
            .is_some_and(|version| !version.contains('/'))
}

impl Bridge<'_> {
    /// Sets the draft to the remote server.
    pub(super) fn take_remote(self, composer: Composer<'_>, draft: &mut Draft) {
        // mcp-remote expands ${NAME} itself, from its own environment; what the client expands comes through it.
        let composer = Composer {
            syntax: Syntax {
                brace: true,
                ..composer.syntax
            },
            ..composer
        };
        let mut used = BTreeSet::new();
        let mut words = self.args.iter().copied();
        let url = composer.template(
            &self.filled(words.next().unwrap_or_default(), &mut used),
            Place::Plain,
        );
        let mut remote = Remote {
            transport: Transport::Auto,
            url,
            headers: BTreeMap::new(),
            oauth: None,
        };
        while let Some(word) = words.next() {
            match word {
                "--header" => {
                    let line = self.filled(words.next().unwrap_or_default(), &mut used);
                    header(&line, composer, &mut remote, draft);
                }
                "--transport" => remote.transport = transport_of(words.next().unwrap_or_default(), draft),
                "--ignore-tool" => draft.tools.deny.extend(words.next().map(str::to_owned)),
                "--debug" | "--silent" | "--allow-http" => {}
                "--host"
                | "--resource"
                | "--auth-timeout"
                | "--static-oauth-client-metadata"
                | "--static-oauth-client-info" => {
                    words.next();
                    let text = format!(
                        "{word} of mcp-remote was not taken over; set up OAuth when you review the entry"
                    );
                    draft.note("bridge.option", text);
                }
                // The port of its callback.
                _ if !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit()) => {}
                _ => draft.note(
                    "bridge.option",
                    "an option of mcp-remote is not known and was not taken over",
                ),
            }
        }
        for name in self.env.keys().filter(|name| !used.contains(*name)) {
            let at = draft.path.child("env").child(name);
            let text = "a variable for the bridge only; a remote server has no environment";
            draft.notices.add("field.not-applicable", &at, text);
        }
        draft.note(
            "bridge.unwrapped",
            "mcp-remote only forwards; the remote server behind it was taken",
        );
        let path = draft.path.child("args");
        remote::launch(remote, &path, draft);
    }

    /// The text with `${NAME}` replaced by what `env` sets; other variables stay references.
    fn filled(&self, text: &str, used: &mut BTreeSet<String>) -> String {
        let mut filled = String::new();
        let mut at = 0;
        for (span, reference) in Syntax::BRACE.references(text) {
            let Some(value) = self.env.get(&reference.name).and_then(Value::as_str) else {
                continue;
            };
            if filled.len() + value.len() > MAX_FILLED_BYTES {
                break;
            }
            used.insert(reference.name);
            filled.push_str(text.get(at..span.start).unwrap_or_default());
            filled.push_str(value);
            at = span.end;
        }
        filled.push_str(text.get(at..).unwrap_or_default());
        filled
    }
}

/// Sets a header written as `NAME:VALUE`.
fn header(line: &str, composer: Composer<'_>, remote: &mut Remote, draft: &mut Draft) {
    let path = draft.path.child("args");
    match line
        .split_once(':')
        .map(|(name, value)| (name.trim(), value.trim()))
    {
        Some((name, value)) if is_header_name(name) && !value.contains(['\r', '\n', '\0']) => {
            let value = composer.template(value, Place::Header(name));
            put_header(&mut remote.headers, name, value, &path, &mut draft.notices);
        }
        _ => draft.notices.add(
            "header.dropped",
            &path,
            "a --header of mcp-remote is no NAME:VALUE; left out",
        ),
    }
}

fn transport_of(word: &str, draft: &mut Draft) -> Transport {
    match word {
        "sse-only" => Transport::Sse,
        "http-only" => Transport::StreamableHttp,
        "http-first" => Transport::Auto,
        "sse-first" => {
            draft.note(
                "bridge.option",
                "sse-first: here Streamable HTTP is tried first, then SSE",
            );
            Transport::Auto
        }
        _ => {
            draft.note(
                "bridge.option",
                "an unknown --transport of mcp-remote; Streamable HTTP is tried first, then SSE",
            );
            Transport::Auto
        }
    }
}
