//! The command line of each capability, from its input schema.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, Args as _, Command, value_parser};
use domain::Surface;
use gateway::{Capability, Registry};
use serde_json::Value;

use crate::args::{ImportArgs, ServerArgs};

/// What a field of the input is on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    Switch,
    Texts,
    /// JSON text.
    Json,
    /// A secret, and so never a plain argument.
    Secret,
}

/// A field of the input.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) required: bool,
    pub(super) help: String,
    pub(super) choices: Vec<String>,
    pub(super) positional: bool,
}

/// Adds the commands of all capabilities.
pub(crate) fn commands(root: Command, registry: &Registry) -> Command {
    let mut areas: BTreeMap<&str, Vec<Command>> = BTreeMap::new();
    let mut root = root;
    for capability in registry.on(Surface::Cli) {
        match capability.declaration.command_words().as_slice() {
            [word] => root = root.subcommand(leaf(word, capability)),
            [area, word, ..] => areas.entry(area).or_default().push(leaf(word, capability)),
            [] => {}
        }
    }
    for (area, mut leaves) in areas {
        if area == "connections" {
            let import = Command::new("import").about("Take over the servers of another MCP client's configuration file");
            leaves.push(ImportArgs::augment_args(import));
        }
        let about = format!("Commands about {area}");
        root = root.subcommand(Command::new(area.to_owned()).about(about).arg_required_else_help(true).subcommands(leaves));
    }
    root
}

fn leaf(word: &str, capability: &Capability) -> Command {
    let d = capability.declaration;
    let mut command = Command::new(word.to_owned()).about(d.title).long_about(d.description);
    let mut place = 1;
    for field in fields(capability) {
        if field.kind == Kind::Secret {
            command = secret_args(command, &field);
            continue;
        }
        let mut arg = Arg::new(field.name.clone()).help(field.help.clone());
        if field.positional {
            arg = arg.index(place);
            place += 1;
        } else {
            arg = arg.long(field.name.replace('_', "-"));
        }
        command = command.arg(shaped(arg, &field));
    }
    let input = Arg::new("input").long("input").value_name("FILE");
    command = command.arg(input.help("Take the input from a JSON file; \"-\" is standard input. Arguments win over it"));
    command = command.arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print JSON for programs"));
    if d.paged {
        command = command.arg(Arg::new("all").long("all").action(ArgAction::SetTrue).help("Follow all pages"));
    }
    if d.idempotent {
        let key = Arg::new("idempotency-key").long("idempotency-key").value_name("KEY");
        command = command.arg(key.help("The same key answers again instead of doing it twice; made up when left out"));
    }
    ServerArgs::augment_args(command)
}

fn shaped(arg: Arg, field: &Field) -> Arg {
    // What --input gives need not be given again, so nothing but the path is required here; the server checks the rest.
    let arg = arg.required(field.positional && field.required);
    match field.kind {
        Kind::Text if !field.choices.is_empty() => arg.value_parser(field.choices.clone()),
        Kind::Text => arg,
        Kind::Number => arg.value_parser(value_parser!(i64)).allow_negative_numbers(true),
        Kind::Switch => arg.num_args(0..=1).default_missing_value("true").value_parser(value_parser!(bool)),
        Kind::Texts => arg.action(ArgAction::Append),
        Kind::Json | Kind::Secret => arg.value_name("JSON"),
    }
}

/// `auth` and `headers` hold secrets: files and standard input are the only way in.
fn secret_args(command: Command, field: &Field) -> Command {
    match field.name.as_str() {
        "auth" => command
            .arg(Arg::new("bearer-file").long("bearer-file").value_name("FILE").help("A file with the bearer token; \"-\" is standard input"))
            .arg(Arg::new("auth-header").long("auth-header").value_name("NAME").requires("token-file").help("Send the token in this header instead"))
            .arg(Arg::new("auth-prefix").long("auth-prefix").value_name("TEXT").requires("auth-header").help("What stands before the token"))
            .arg(Arg::new("token-file").long("token-file").value_name("FILE").requires("auth-header").help("A file with the token; \"-\" is standard input"))
            .arg(Arg::new("no-auth").long("no-auth").action(ArgAction::SetTrue).conflicts_with_all(["bearer-file", "auth-header"]).help("Send no credential")),
        _ => command.arg(
            Arg::new("header-file")
                .long("header-file")
                .value_name("NAME=FILE")
                .action(ArgAction::Append)
                .help("Send a header whose value is in a file; \"-\" is standard input"),
        ),
    }
}

/// The fields of a capability's input, those of the path first.
pub(super) fn fields(capability: &Capability) -> Vec<Field> {
    let schema = &capability.input;
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let path = capability.declaration.path;
    let mut fields: Vec<Field> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, property)| Field {
            name: name.clone(),
            kind: kind(schema, name, property),
            required: required.contains(&name.as_str()),
            help: property["description"].as_str().unwrap_or_default().to_owned(),
            choices: choices(schema, property),
            positional: path.contains(&format!("{{{name}}}")),
        })
        .collect();
    // Verbs that act on one thing take it by position although their path does not name it.
    let main = ["name", "handle", "decision"];
    for field in &mut fields {
        field.positional |= field.required && main.contains(&field.name.as_str()) && field.kind == Kind::Text;
    }
    let place = |field: &Field| path.find(&format!("{{{}}}", field.name)).unwrap_or(usize::MAX);
    fields.sort_by_key(|field| (!field.positional, place(field)));
    fields
}

fn kind(schema: &Value, name: &str, property: &Value) -> Kind {
    if matches!(name, "auth" | "headers") {
        return Kind::Secret;
    }
    let plain = resolve(schema, property);
    let types: Vec<&str> = match &plain["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).filter(|t| *t != "null").collect(),
        _ => Vec::new(),
    };
    match types.as_slice() {
        ["string"] => Kind::Text,
        ["integer" | "number"] => Kind::Number,
        ["boolean"] => Kind::Switch,
        ["array"] if resolve(schema, &plain["items"])["type"] == "string" => Kind::Texts,
        _ if plain.get("oneOf").is_some() || plain.get("enum").is_some() => Kind::Text,
        _ => Kind::Json,
    }
}

/// The words of a closed set, however schemars writes it.
fn choices(schema: &Value, property: &Value) -> Vec<String> {
    let plain = resolve(schema, property);
    let listed = plain["enum"].as_array().into_iter().flatten();
    let described = plain["oneOf"].as_array().into_iter().flatten().map(|one| &one["const"]);
    listed.chain(described).filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Follows a local reference, and looks through "this or null".
fn resolve<'a>(schema: &'a Value, property: &'a Value) -> &'a Value {
    if let Some(inner) = property["anyOf"].as_array().and_then(|any| any.iter().find(|one| one["type"] != "null")) {
        return resolve(schema, inner);
    }
    match property["$ref"].as_str().and_then(|reference| schema.pointer(reference.trim_start_matches('#'))) {
        Some(target) => target,
        None => property,
    }
}
