//! The command line of each capability.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, Args as _, Command, value_parser};
use domain::Surface;
use gateway::capability::Declaration;
use gateway::{Capability, Registry};

use super::areas;
use super::fields::{Field, Kind, fields};
use super::hosted_agent::HostedAgentArgs;
use crate::args::{ImportArgs, ServerArgs};

/// The one command among them that is not a capability: no API takes a file of commands.
pub(super) const IMPORT: [&str; 2] = ["connections", "import"];

/// The verbs of another product's command line, which are over the routes of its API.
pub(super) const HOSTED_AGENT: [&str; 2] = ["phone", "hosted-agent"];

/// Adds the commands of all capabilities.
pub(crate) fn commands(root: Command, registry: &Registry) -> Command {
    let mut named: BTreeMap<&str, Vec<Command>> = BTreeMap::new();
    let mut root = root;
    for capability in registry.on(Surface::Cli) {
        match capability.declaration.command_words().as_slice() {
            [word] => root = root.subcommand(leaf(word, capability)),
            [area, word, ..] => named.entry(area).or_default().push(leaf(word, capability)),
            [] => {}
        }
    }
    let [area, word] = IMPORT;
    named.entry(area).or_default().push(import(word));
    let [area, word] = HOSTED_AGENT;
    let hosted = HostedAgentArgs::augment_args(Command::new(word))
        .about("What an agent that speaks on the telephone uses")
        .subcommand_required(true)
        .arg_required_else_help(true);
    named.entry(area).or_default().push(hosted);
    for (area, leaves) in named {
        let command = Command::new(area)
            .about(areas::about(area))
            .subcommand_required(true)
            .arg_required_else_help(true);
        root = root.subcommand(command.subcommands(leaves));
    }
    root
}

fn import(word: &'static str) -> Command {
    let clients = crate::import::dialects().collect::<Vec<_>>().join(", ");
    // The type of the arguments has words of its own, which would replace these were they set first.
    ImportArgs::augment_args(Command::new(word))
        .about("Take over the servers of another MCP client's configuration")
        .long_about(
            "Takes over the servers in another MCP client's configuration file. Nothing is run and nothing is guessed: what could \
             not be taken is listed. Everything lands disabled. It works beside the server, on its data folder: remote entries \
             become connections, commands are appended to connections.d/imported.toml there, secrets go into the vault. With \
             --url it goes through a server's API, which takes remote entries only.",
        )
        .after_long_help(format!("Clients: {clients}"))
}

fn leaf(word: &'static str, capability: &Capability) -> Command {
    let d = capability.declaration;
    let fields = fields(capability);
    let mut command = Command::new(word).override_usage(usage(&d, &fields));
    let mut place = 1;
    for field in &fields {
        match field.kind {
            Kind::Auth => command = command.args(auth()),
            Kind::Headers => command = command.arg(headers()),
            Kind::Text | Kind::Number | Kind::Switch | Kind::Texts | Kind::Json => {
                let mut arg = Arg::new(field.name.clone())
                    .help(field.help.clone())
                    .value_name(value_name(field));
                if field.positional {
                    arg = arg.index(place);
                    place += 1;
                } else {
                    arg = arg.long(field.name.replace('_', "-"));
                }
                command = command.arg(shaped(arg, field));
            }
        }
    }
    let command = ServerArgs::augment_args(command.args(general(&d)))
        .about(d.title)
        .long_about(d.description);
    match areas::examples(d.id) {
        Some(examples) => command.after_help(examples),
        None => command,
    }
}

/// What must be given, unless it comes with `--input`: the parser cannot say that by itself.
fn usage(d: &Declaration, fields: &[Field]) -> String {
    let mut line = format!("switchboard {} [OPTIONS]", d.command_words().join(" "));
    let required = fields.iter().filter(|field| field.required || field.positional);
    for field in required {
        let value = value_name(field);
        line.push_str(&match field.positional {
            true => format!(" <{value}>"),
            false => format!(" --{} <{value}>", field.name.replace('_', "-")),
        });
    }
    line
}

fn value_name(field: &Field) -> String {
    match field.kind {
        Kind::Number => "NUMBER".to_owned(),
        Kind::Switch => "BOOL".to_owned(),
        Kind::Json => "JSON".to_owned(),
        Kind::Text | Kind::Texts | Kind::Auth | Kind::Headers => field.name.to_uppercase(),
    }
}

/// What every command can be told besides its input.
fn general(d: &Declaration) -> Vec<Arg> {
    let input = Arg::new("input").long("input").value_name("FILE");
    let mut args = vec![
        input.help("Take the input from a JSON file; \"-\" is standard input. Arguments win over it"),
        Arg::new("json")
            .long("json")
            .action(ArgAction::SetTrue)
            .help("Print JSON for programs"),
    ];
    if d.paged {
        args.push(
            Arg::new("all")
                .long("all")
                .action(ArgAction::SetTrue)
                .help("Follow all pages"),
        );
    }
    if d.idempotent {
        let key = Arg::new("idempotency-key")
            .long("idempotency-key")
            .value_name("KEY");
        args.push(key.help("The same key answers again instead of doing it twice; made up when left out"));
    }
    args.into_iter().map(|arg| arg.help_heading("General")).collect()
}

fn shaped(arg: Arg, field: &Field) -> Arg {
    // What --input gives need not be given again; the server checks that.
    let arg = if field.required {
        arg.required_unless_present("input")
    } else {
        arg
    };
    match field.kind {
        Kind::Text if !field.choices.is_empty() => arg.value_parser(field.choices.clone()),
        Kind::Number => arg.value_parser(value_parser!(i64)).allow_negative_numbers(true),
        Kind::Switch => arg
            .num_args(0..=1)
            .default_missing_value("true")
            .value_parser(value_parser!(bool)),
        Kind::Texts => arg.action(ArgAction::Append),
        Kind::Text | Kind::Json | Kind::Auth | Kind::Headers => arg,
    }
}

/// How a connection proves itself. Files and standard input are the only way in for a secret.
fn auth() -> Vec<Arg> {
    let file = |name: &'static str| Arg::new(name).long(name).value_name("FILE");
    let args = [
        file("bearer-file").help("A file with the bearer token; \"-\" is standard input"),
        file("token-file")
            .requires("auth-header")
            .help("A file with the token of --auth-header; \"-\" is standard input"),
        Arg::new("auth-header")
            .long("auth-header")
            .value_name("NAME")
            .requires("token-file")
            .conflicts_with("bearer-file")
            .help("Send the token in this header"),
        Arg::new("auth-prefix")
            .long("auth-prefix")
            .value_name("TEXT")
            .requires("auth-header")
            .help("What stands before the token in that header"),
        Arg::new("no-auth")
            .long("no-auth")
            .action(ArgAction::SetTrue)
            .conflicts_with_all(["bearer-file", "auth-header"])
            .help("Send no credential"),
    ];
    let all = args.into_iter().chain(oauth());
    all.map(|arg| arg.help_heading("Credentials")).collect()
}

/// An account that a person signs in to.
fn oauth() -> [Arg; 6] {
    let of_oauth = |name: &'static str| Arg::new(name).long(name).requires("oauth");
    [
        Arg::new("oauth")
            .long("oauth")
            .action(ArgAction::SetTrue)
            .conflicts_with_all(["bearer-file", "auth-header", "no-auth"])
            .help("An account a person signs in to; begin with `connections authorize`"),
        of_oauth("scope")
            .value_name("SCOPE")
            .action(ArgAction::Append)
            .help("Ask for this scope instead of those the server asks for. Can be given several times"),
        of_oauth("issuer")
            .value_name("URL")
            .help("Which authorization server, where the server offers several"),
        of_oauth("client-id")
            .value_name("ID")
            .help("A client registered by hand, where the authorization server registers none"),
        of_oauth("client-secret-file")
            .value_name("FILE")
            .requires("client-id")
            .help("A file with that client's secret; \"-\" is standard input"),
        of_oauth("offline-consent")
            .action(ArgAction::SetTrue)
            .help("Ask for consent every time, where a refresh token is only given then"),
    ]
}

fn headers() -> Arg {
    Arg::new("header-file")
        .long("header-file")
        .value_name("NAME=FILE")
        .action(ArgAction::Append)
        .help("Send a header whose value is in a file; \"-\" is standard input. Can be given several times")
        .help_heading("Credentials")
}
