//! Servers that are processes.

use serde_json::{Map, Value};

use super::bridge;
use super::compose::Composer;
use super::draft::Draft;
use super::fields::Fields;
use super::format::kind;
use super::launch::{Command, Launch};
use super::manner::Manner;
use super::notice::Path;
use super::secrets::Place;

/// Reads a command entry; an mcp-remote bridge becomes the remote server behind it.
pub(super) fn read(fields: &mut Fields<'_>, manner: &Manner, composer: Composer<'_>, draft: &mut Draft) {
    let Some(words) = words(fields, manner, draft) else {
        return;
    };
    let no_env = Map::new();
    let (env, env_path) = fields
        .object("env", &mut draft.notices)
        .unwrap_or((&no_env, Path::default()));
    if let Some(bridge) = bridge::recognise(&words.program, &words.args, env) {
        bridge.take_remote(composer, draft);
        return;
    }
    remark_program(&words, draft);
    let command = Command {
        command: composer.template(&words.program, Place::Plain),
        args: composer.args(&words.args, &words.args_path, &mut draft.notices),
        env: composer.env(env, &env_path, &mut draft.notices),
        pass_env: Vec::new(),
        secret_env: Vec::new(),
        cwd: fields
            .text("cwd", &mut draft.notices)
            .map(|text| composer.template(text, Place::Plain)),
        env_file: fields
            .text("envFile", &mut draft.notices)
            .map(|text| composer.template(text, Place::Plain)),
    };
    if command.env_file.is_some() {
        let at = fields.path().child("envFile");
        draft.notices.add(
            "env.file",
            &at,
            "the client reads variables from this file at start; not read here, set them under env",
        );
    }
    draft.launch = Launch::Command(command);
}

/// Program and arguments as they stand.
struct Words {
    program: String,
    args: Vec<Value>,
    args_path: Path,
}

fn words(fields: &mut Fields<'_>, manner: &Manner, draft: &mut Draft) -> Option<Words> {
    let (value, path) = fields.take("command")?;
    let mut args_path = fields.path().child("args");
    let mut args = Vec::new();
    let program = match value {
        Value::String(program) => program.clone(),
        Value::Array(list) => {
            if !manner.command_list {
                draft.notices.add(
                    "command.array",
                    &path,
                    "command is a list; its first item was taken as the program",
                );
            }
            let (first, rest) = list.split_first().unzip();
            args.extend(rest.into_iter().flatten().cloned());
            args_path = path.clone();
            first.and_then(Value::as_str).unwrap_or_default().to_owned()
        }
        other => {
            let text = format!("command must be a text, not {}", kind(other));
            draft.notices.add("field.wrong-type", &path, text);
            String::new()
        }
    };
    if program.trim().is_empty() || program.contains('\0') {
        draft.notices.add(
            "launch.nothing",
            &path,
            "the command is empty or no text: nothing to launch",
        );
        return None;
    }
    match fields.take("args") {
        None => {}
        Some((Value::Array(list), _)) => args.extend(list.iter().cloned()),
        Some((Value::String(text), at)) => {
            draft.notices.add(
                "args.string",
                &at,
                "args is one text; it was kept as one argument, because splitting it would be a guess: write a list",
            );
            args.push(Value::String(text.clone()));
        }
        Some((other, at)) => {
            draft.notices.add(
                "args.dropped",
                &at,
                format!("args must be a list, not {}; left out", kind(other)),
            );
        }
    }
    if args.is_empty() && is_command_line(&program) {
        draft.notices.add(
            "command.line",
            &path,
            "command holds a whole command line; no shell splits it here: put the program into command, the rest into args",
        );
    }
    Some(Words {
        program,
        args,
        args_path,
    })
}

/// A bare program name followed by words, or any path followed by options.
fn is_command_line(program: &str) -> bool {
    let mut words = program.split_whitespace();
    let Some(first) = words.next() else { return false };
    let rest: Vec<&str> = words.collect();
    !rest.is_empty() && (!first.contains(['/', '\\']) || rest.iter().any(|word| word.starts_with('-')))
}

fn remark_program(words: &Words, draft: &mut Draft) {
    let name = program_name(&words.program);
    let first = words.args.first().and_then(Value::as_str).unwrap_or_default();
    match name.as_str() {
        "cmd" if first.eq_ignore_ascii_case("/c") => draft.note(
            "command.windows-wrapper",
            "cmd /c is a wrapper Windows needs; elsewhere drop it and start the program behind it",
        ),
        "sh" | "bash" | "zsh" | "fish" | "dash" | "powershell" | "pwsh" | "cmd" => {
            draft.note(
                "command.shell",
                "the command goes through a shell; prefer the program itself with a list of arguments",
            );
        }
        _ => {}
    }
}

/// Last part of a path, without a Windows ending, in lower case.
pub(super) fn program_name(program: &str) -> String {
    let name = program
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or(program)
        .to_lowercase();
    let bare = name
        .strip_suffix(".exe")
        .or_else(|| name.strip_suffix(".cmd"))
        .map(str::to_owned);
    bare.unwrap_or(name)
}
