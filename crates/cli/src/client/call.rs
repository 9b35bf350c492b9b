//! Calls the REST operation of a capability and shows what comes back.

use std::process::ExitCode;

use clap::{ArgMatches, FromArgMatches as _};
use gateway::Capability;
use serde_json::{Value, json};

use super::{Server, body, show};
use crate::args::ServerArgs;
use crate::output;

pub(super) async fn call(capability: &Capability, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let d = &capability.declaration;
    let mut input = body::input(capability, matches)?;
    let server = Server::of(&ServerArgs::from_arg_matches(matches)?)?;
    let json = matches.get_flag("json");
    let all = d.paged && matches.get_flag("all");
    let key = d
        .idempotent
        .then(|| matches.get_one::<String>("idempotency-key"))
        .flatten();
    let mut items = Vec::new();
    loop {
        let what = if items.is_empty() {
            d.title.to_owned()
        } else {
            format!("{} ({} so far)", d.title, items.len())
        };
        let spinner = output::spinner(&what);
        let answer = server.operate(d, &input, key.map(String::as_str)).await;
        spinner.finish_and_clear();
        let (ok, mut answer) = answer?;
        if !ok {
            return Ok(show::problem(&answer, json));
        }
        if all {
            if let Some(Value::Array(page)) = answer.get_mut("items").map(Value::take) {
                items.extend(page);
            }
            if let Some(cursor) = answer.get("next_cursor").and_then(Value::as_str) {
                input.insert("cursor".to_owned(), cursor.into());
                continue;
            }
            answer = json!({ "items": items, "next_cursor": null });
        }
        return Ok(show::answer(capability, &answer, json));
    }
}
