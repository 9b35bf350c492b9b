//! From the command line to the flat input of a capability.

use std::fs;
use std::io::Read as _;

use anyhow::Context as _;
use clap::ArgMatches;
use gateway::Capability;
use serde_json::{Map, Value, json};

use super::fields::{Field, Kind, fields};
use crate::output::Usage;

/// The input: what `--input` gives, and over it what the arguments say.
pub(super) fn input(capability: &Capability, matches: &ArgMatches) -> anyhow::Result<Map<String, Value>> {
    let mut input = match matches.get_one::<String>("input") {
        Some(path) => from_file(path)?,
        None => Map::new(),
    };
    for field in fields(capability) {
        if let Some(value) = value(&field, matches)? {
            input.insert(field.name, value);
        }
    }
    Ok(input)
}

fn value(field: &Field, matches: &ArgMatches) -> anyhow::Result<Option<Value>> {
    let name = field.name.as_str();
    Ok(match field.kind {
        Kind::Text => matches.get_one::<String>(name).map(|text| json!(text)),
        Kind::Number => matches.get_one::<i64>(name).map(|number| json!(number)),
        Kind::Switch => matches.get_one::<bool>(name).map(|switch| json!(switch)),
        Kind::Texts => {
            let given: Vec<&String> = matches.get_many::<String>(name).into_iter().flatten().collect();
            (!given.is_empty()).then(|| json!(given))
        }
        Kind::Json => match matches.get_one::<String>(name) {
            Some(text) => {
                let wrong = |error| Usage(format!("--{} is not JSON: {error}", name.replace('_', "-")));
                Some(serde_json::from_str(text).map_err(wrong)?)
            }
            None => None,
        },
        Kind::Auth => auth(matches)?,
        Kind::Headers => headers(matches)?,
    })
}

fn auth(matches: &ArgMatches) -> anyhow::Result<Option<Value>> {
    if let Some(path) = matches.get_one::<String>("bearer-file") {
        return Ok(Some(json!({ "type": "bearer", "token": secret(path)? })));
    }
    if let (Some(name), Some(path)) = (
        matches.get_one::<String>("auth-header"),
        matches.get_one::<String>("token-file"),
    ) {
        let prefix = matches.get_one::<String>("auth-prefix");
        let auth =
            json!({ "type": "header", "header_name": name, "value_prefix": prefix, "token": secret(path)? });
        return Ok(Some(auth));
    }
    if matches.get_flag("oauth") {
        return oauth(matches).map(Some);
    }
    Ok(matches.get_flag("no-auth").then(|| json!({ "type": "none" })))
}

fn oauth(matches: &ArgMatches) -> anyhow::Result<Value> {
    let text = |name: &str| matches.get_one::<String>(name);
    let scopes: Vec<&String> = matches
        .get_many::<String>("scope")
        .into_iter()
        .flatten()
        .collect();
    let secret = text("client-secret-file").map(|path| secret(path)).transpose()?;
    let given = [
        ("type", Some(json!("oauth"))),
        ("scopes", (!scopes.is_empty()).then(|| json!(scopes))),
        ("issuer", text("issuer").map(|text| json!(text))),
        ("client_id", text("client-id").map(|text| json!(text))),
        ("client_secret", secret.map(Value::from)),
        (
            "profile",
            matches
                .get_flag("offline-consent")
                .then(|| json!("offline_consent")),
        ),
    ];
    let given = given
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Ok(Value::Object(given.collect()))
}

fn headers(matches: &ArgMatches) -> anyhow::Result<Option<Value>> {
    let mut headers = Vec::new();
    for given in matches.get_many::<String>("header-file").into_iter().flatten() {
        let (name, path) = given
            .split_once('=')
            .ok_or_else(|| Usage("--header-file takes NAME=FILE".to_owned()))?;
        headers.push(json!({ "name": name, "value": secret(path)? }));
    }
    Ok((!headers.is_empty()).then_some(Value::Array(headers)))
}

/// Reads a secret from a file or from standard input.
pub(crate) fn secret(path: &str) -> anyhow::Result<String> {
    let text = read(path)?;
    let text = text.trim_end_matches(['\r', '\n']);
    if text.is_empty() {
        let what = if path == "-" {
            "standard input (one secret at most can come from there)"
        } else {
            path
        };
        return Err(Usage(format!("there is no secret in {what}")).into());
    }
    Ok(text.to_owned())
}

fn from_file(path: &str) -> anyhow::Result<Map<String, Value>> {
    let text = read(path)?;
    let wrong = |error| Usage(format!("--input {path} does not hold a JSON object: {error}"));
    Ok(serde_json::from_str(&text).map_err(wrong)?)
}

fn read(path: &str) -> anyhow::Result<String> {
    if path == "-" {
        let mut text = String::new();
        std::io::stdin()
            .lock()
            .read_to_string(&mut text)
            .context("cannot read standard input")?;
        return Ok(text);
    }
    fs::read_to_string(path).with_context(|| format!("cannot read {path}"))
}
