//! `DATA/connections.d/imported.toml`: entries are appended, what stood there before is kept as it was.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::config::{self, CommandEntry, EnvValue, SecretSource};
use crate::files;

/// An entry with what a person must know about it.
pub(super) struct Section<'a> {
    pub(super) entry: &'a CommandEntry,
    pub(super) remarks: Vec<String>,
}

const HEAD: &str = "\
# Commands taken over with `switchboard connections import`. Read each, set enabled and trusted to true for those you want, then
# reload: `switchboard config reload`. They run on this machine, without a shell, in a clean environment: PATH, what env sets and
# what inherit_env names.
";

/// Where the entries are.
pub(super) fn path(data: &Path) -> PathBuf {
    data.join("connections.d").join("imported.toml")
}

/// Appends entries, in one step and for our eyes only.
pub(super) fn append(data: &Path, origin: &str, sections: &[Section<'_>]) -> anyhow::Result<PathBuf> {
    let path = path(data);
    let before = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let text = appended(&before, origin, sections)
        .with_context(|| format!("{} was left as it is", path.display()))?;
    files::private_folder(&data.join("connections.d"))?;
    files::replace_private(&path, &text)?;
    Ok(path)
}

/// The file with these entries behind what it held. It is read back the way the server will before it counts.
pub(super) fn appended(before: &str, origin: &str, sections: &[Section<'_>]) -> anyhow::Result<String> {
    let mut text = if before.is_empty() {
        HEAD.to_owned()
    } else {
        before.to_owned()
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    for section in sections {
        text.push_str(&written(origin, section));
    }
    let read =
        config::entries(&text).map_err(|error| anyhow::anyhow!("it would not be readable: {error}"))?;
    let problems = config::check_entries(&read);
    anyhow::ensure!(problems.is_empty(), crate::output::problems(problems));
    Ok(text)
}

fn written(origin: &str, section: &Section<'_>) -> String {
    let entry = section.entry;
    let mut out = format!("\n# From {}\n", comment(origin));
    for remark in &section.remarks {
        line(&mut out, format_args!("# {}", comment(remark)));
    }
    line(&mut out, format_args!("[[connections]]"));
    line(&mut out, format_args!("name = {}", text(&entry.name)));
    if let Some(label) = &entry.label {
        line(&mut out, format_args!("label = {}", text(label)));
    }
    line(
        &mut out,
        format_args!("command = [{}]", list(entry.command.iter().map(value))),
    );
    if !entry.inherit_env.is_empty() {
        line(
            &mut out,
            format_args!(
                "inherit_env = [{}]",
                list(entry.inherit_env.iter().map(|name| text(name)))
            ),
        );
    }
    if let Some(cwd) = &entry.cwd {
        line(&mut out, format_args!("cwd = {}", text(&cwd.to_string_lossy())));
    }
    if let Some(tools) = &entry.allowed_tools {
        line(
            &mut out,
            format_args!("allowed_tools = [{}]", list(tools.iter().map(|name| text(name)))),
        );
    }
    if let Some(seconds) = entry.call_seconds {
        line(&mut out, format_args!("call_seconds = {seconds}"));
    }
    line(&mut out, format_args!("enabled = {}", entry.enabled));
    line(&mut out, format_args!("trusted = {}", entry.trusted));
    if !entry.env.is_empty() {
        line(&mut out, format_args!("[connections.env]"));
        for (name, given) in &entry.env {
            line(&mut out, format_args!("{} = {}", key(name), value(given)));
        }
    }
    out
}

fn line(out: &mut String, line: std::fmt::Arguments<'_>) {
    out.push_str(&line.to_string());
    out.push('\n');
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

fn value(value: &EnvValue) -> String {
    match value {
        EnvValue::Plain(plain) => text(plain),
        EnvValue::Secret(SecretSource::Env(name)) => format!("{{ env = {} }}", text(name)),
        EnvValue::Secret(SecretSource::File(path)) => {
            format!("{{ file = {} }}", text(&path.to_string_lossy()))
        }
        EnvValue::Secret(SecretSource::Vault(name)) => format!("{{ vault = {} }}", text(name)),
    }
}

fn key(name: &str) -> String {
    let bare = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if bare { name.to_owned() } else { text(name) }
}

/// A basic string on one line (TOML 1.0, "String").
fn text(plain: &str) -> String {
    let mut out = String::with_capacity(plain.len() + 2);
    out.push('"');
    for c in plain.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Text that cannot leave its comment.
fn comment(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
